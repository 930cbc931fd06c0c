"""Options that do not fit to others: what the rows say under `needs` and `least`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from mqlab.spec.options import tables
from mqlab.spec.values import as_text

Get = Callable[[str], object]  # Python name -> what an option is, written or by default

_CONDITION = re.compile(r"(?P<no>not )?(?P<name>\w+)( (?P<sign>!?=) (?P<value>.+))?")


@dataclass(frozen=True, slots=True)
class Idle:
    """An option that is set and does not fit to another: its name in files, why, and what to write.

    `part` is what has it within a broker, as ``("address", "a.#")``.
    """

    guide: str
    why: str
    fix: str
    part: tuple[str, str] | None = None

    @property
    def named(self) -> str:
        """The option, after the part of a broker that has it."""
        return f"{' '.join(self.part)}: {self.guide}" if self.part else self.guide


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be so of one option: to be set, not to be, to have a value or another one than that."""

    name: str
    wanted: str
    other: bool  # than what is wanted

    @staticmethod
    @cache
    def read(text: str) -> Condition:
        """Return the condition that a row writes as ``name``, ``not name``, ``name = x`` or ``name != x``."""
        found = _CONDITION.fullmatch(text)
        assert found is not None, f"needs: {text!r} is not a condition"
        return Condition(found["name"], found["value"] or "", bool(found["no"]) or found["sign"] == "!=")

    def holds(self, get: Get) -> bool:
        """Whether it is so."""
        value = get(self.name)
        return (str(value) == self.wanted if self.wanted else bool(value)) != self.other

    def fix(self, guide: str, get: Get) -> str:
        """Return what makes it so."""
        if self.other:
            if self.wanted:
                return f"set {guide} to another value than {self.wanted}"
            return f"set {guide} to false" if get(self.name) is True else f"remove {guide}"
        return (
            f"set {guide} to {self.wanted or 'true'}"
            if self.wanted or get(self.name) is False
            else f"set {guide}"
        )


def idle(product: str, element: str, given: Mapping[str, object], get: Get) -> Iterator[Idle]:
    """Yield the options *given* of an element, by Python name, that have no effect.

    *get* knows the options of that element, and those beside it that its rows name.

    >>> from mqlab.spec import NetworkConnector
    >>> link = NetworkConnector("ab", "static:(tcp://B:61616)", consumer_priority_base=-7)
    >>> [(one.why, one.fix) for one in idle("activemq", "networkConnector", link.options, link.get)]
    [('has no effect: decreaseNetworkConsumerPriority is false', 'set decreaseNetworkConsumerPriority to true')]
    """
    rows = tables(product)[element]
    for name in given:
        value = given[name]
        if name not in rows or value is False or value in (rows[name].default, None, (), ""):
            continue
        for clause in rows[name].needs:
            conditions = [Condition.read(text) for text in clause.split(" or ")]
            if not any(one.holds(get) for one in conditions):
                guides = {one.name: _guide(product, element, one.name) for one in conditions}
                why = " and ".join(f"{guide} is {_shown(get(name))}" for name, guide in guides.items())
                fix = " or ".join(dict.fromkeys(one.fix(guides[one.name], get) for one in conditions))
                if len(guides) == 1:  # several values of one option
                    fix = fix.replace(f" or set {guides[conditions[0].name]} to ", " or ")
                yield Idle(rows[name].guide, f"has no effect: {why}", fix)
                break
        least = get(rows[name].least) if rows[name].least else None
        if isinstance(least, int) and isinstance(value, int) and least > value >= 0:
            other = _guide(product, element, rows[name].least)
            yield Idle(rows[name].guide, f"is below {other}, {least}", f"set it to {least} or more")


def told(found: Iterator[tuple[str, Idle]]) -> list[dict[str, str]]:
    """Return what a run's header has of such options, each with where it stands."""
    return [{"what": f"{where}, {one.named}", "why": f"{one.why}; {one.fix}"} for where, one in found]


def _guide(product: str, element: str, name: str) -> str:
    """Return the name in files of an option of the element, else of one beside it."""
    sections = tables(product)
    return next(
        (rows[name].guide for rows in (sections[element], *sections.values()) if name in rows),
        name.replace("_", " "),
    )


def _shown(value: object) -> str:
    if value is None or value == "":
        return "not set"
    return "empty" if value in ((), []) else as_text(value)
