"""A rule of `check`: a function that finds what does harm, beside it all that is said of the rule anywhere.

The function yields what a problem is about and the facts that its texts name in braces. A rule is
registered by standing in a module of a product's rules; there is no list of ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from types import ModuleType
from typing import Literal

from mqlab.checks.example import Example
from mqlab.spec.problem import Problem


@dataclass(frozen=True, slots=True)
class Element:
    """What a problem is about: how it is called, and the file and line it was read from, if it was (else 0)."""

    where: str
    file: str = ""
    line: int = 0


Found = Iterator[tuple[Element, Mapping[str, object]]]
Level = Literal["error", "warning"]
Parts = tuple[Callable[..., Iterable[object]], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its id and level, what it finds, the texts of its problems, and what shows the harm.

    `what`, `fix` and `source` name facts in braces. `see` is a recording or figure to look at; `example`
    makes the smallest scenario that has the problem, beside the mended one; `unshown` says why no run shows it.
    """

    id: str
    level: Level
    finds: str
    what: str
    fix: str
    source: str
    see: str
    unshown: str
    example: Callable[[], Example] | None
    of: Parts
    find: Callable[..., Found]

    def problems(self, subject: object) -> Iterator[Problem]:
        """Yield what the rule finds in what it looks at."""
        for element, facts in self.find(subject):
            try:
                what, fix, source = (text.format_map(facts) for text in (self.what, self.fix, self.source))
            except KeyError as error:
                raise KeyError(
                    f"rule {self.id}: its function does not yield {error}, which a text names"
                ) from None
            yield Problem(self.id, self.level, element.where, what, fix, source, element.file, element.line)


def rule(
    id: str,
    level: Level,
    *,
    finds: str,
    what: str,
    fix: str,
    source: str,
    see: str = "",
    unshown: str = "",
    example: Callable[[], Example] | None = None,
    of: Parts = (),
) -> Callable[[Callable[..., Found]], Rule]:
    """Make a rule of the function below, which looks at the whole, or at each of the parts that *of* leads to.

    >>> @rule("short", "warning", finds="short texts", what="{size} letters", fix="write more", source="")
    ... def short(text):
    ...     if len(text) < 3:
    ...         yield Element(text), {"size": len(text)}
    >>> [str(problem) for problem in check([short], "ab")]
    ['warning: ab: 2 letters; write more []']
    """
    return lambda find: Rule(id, level, finds, what, fix, source, see, unshown, example, of, find)


def not_played(id: str, *, finds: str, source: str, of: Parts = ()) -> Callable[[Callable[..., Found]], Rule]:
    """Make a product's rule of what stands in its files and is not played, of the function below.

    It yields the facts that `files.treatment.once` has.
    """
    return rule(
        id,
        "warning",
        finds=finds,
        what="{path} is not played: {differs}{more}",
        fix="keep the difference in mind, or ask the real broker (mqlab real)",
        source=source,
        unshown="mqlab does not model it",
        of=of,
    )


def no_effect(id: str, *, source: str) -> Callable[[Callable[..., Found]], Rule]:
    """Make a product's rule of options that have no effect as another is not set (`spec.needs.Idle`)."""
    return rule(
        id,
        "warning",
        finds="an option that is idle, as another one that it needs is not set, or that is below its minimum",
        what="{idle.named} {idle.why}",
        fix="{idle.fix}",
        source=source,
        unshown="no effect: the option is ignored",
    )


def bad_value(id: str, *, source: str, of: Parts = ()) -> Callable[[Callable[..., Found]], Rule]:
    """Make a product's rule of values in its files that its schema refuses (`files.schema.Wrong`)."""
    return rule(
        id,
        "error",
        finds="a value that is not of its type: the broker does not start",
        what="{wrong.name} is {wrong.value!r}: the broker does not start",
        fix="write {wrong.expected}",
        source=source,
        unshown="the broker does not start",
        of=of,
    )


def collected(*modules: ModuleType) -> tuple[Rule, ...]:
    """Return the rules of modules, in the order in which they stand there."""
    return tuple(
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Rule) and value.find.__module__ == module.__name__
    )


def check(rules: Iterable[Rule], subject: object) -> list[Problem]:
    """Return the problems of what rules look at, errors first, else in the order of the rules."""
    return sorted(_found(rules, subject), key=lambda problem: problem.level)


def _found(rules: Iterable[Rule], subject: object, depth: int = 0) -> Iterator[Problem]:
    """Yield problems; neighbours that look at the same parts are asked together, part by part."""
    for of, group in groupby(rules, lambda rule: rule.of[depth : depth + 1]):
        together = list(group)
        if of:
            for part in of[0](subject):
                yield from _found(together, part, depth + 1)
        else:
            for rule in together:
                yield from rule.problems(subject)
