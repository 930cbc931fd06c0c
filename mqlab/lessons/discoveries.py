"""Surprising behaviour of real brokers: each shown with its recording, beside the same run in mqlab.

The numbers of a text are never written: ``{C1 received}`` stands for what the recording gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape

from mqlab.conform.recorded import Outcome, Recorded, recorded
from mqlab.errors import BadFile
from mqlab.lessons import data
from mqlab.lessons.data import Discovery, LessonData
from mqlab.spec.json_types import JsonValue

_GAP = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True)
class Discovered:
    """A discovery with its recording: what is asked, and what there is to see."""

    discovery: Discovery
    words: Mapping[str, str]

    @cached_property
    def recorded(self) -> Recorded:
        """The recording; ``mq.view(it.recorded)`` shows mqlab's run of it."""
        return recorded(self.discovery.recorded)

    @cached_property
    def rows(self) -> list[tuple[str, str, str]]:
        """The outcomes as text: that of the real broker and that of mqlab."""
        shows = self.discovery.shows.items()
        real, here = self.recorded.outcomes[0], self.recorded.outcome
        more = [(what, value_at(real, path), value_at(here, path)) for what, path in shows]
        return [*self.recorded.rows(), *more]

    @property
    def told(self) -> str:
        """The explanation, with the numbers of the recording; raises `BadFile` for one that is not there."""
        real = {what: value for what, value, _ in self.rows}

        def number(gap: re.Match[str]) -> str:
            if gap[1] not in real:
                raise BadFile(f"{self.discovery.recorded} has no {gap[1]!r}; it has {', '.join(real)}")
            return real[gap[1]]

        return _GAP.sub(number, self.discovery.told)

    def said(self) -> list[tuple[str, str, str]]:
        """Return the rows whose numbers the explanation tells."""
        gaps = set(_GAP.findall(self.discovery.told))
        return [row for row in self.rows if row[0] in gaps]

    def seen(self) -> str:
        """Say which broker did it how often, and whether mqlab does the same."""
        found = self.recorded
        same = "lab_agrees" if found.agrees else "lab_varies"
        return self.words[same].format(broker=found.broker, runs=found.runs, name=self.discovery.recorded)

    def __repr__(self) -> str:
        source = f" [{self.discovery.source}]"
        return f"{self.discovery.asks}\n  {self.told}{source}\n  {self.seen()}"

    def _repr_html_(self) -> str:
        return (
            f"<details style='margin:.4em 0'><summary style='cursor:pointer'>"
            f"{escape(self.discovery.asks)}</summary><div style='margin:.4em 1.2em'>"
            f"<p>{escape(self.told)} <em>[{escape(self.discovery.source)}]</em></p>"
            f"<p><small>{escape(self.seen())}</small></p></div></details>"
        )


def of(lesson: LessonData) -> Discoveries:
    """Return the discoveries of a lesson, in its language."""
    words = data.texts(lesson.language)["words"]
    return Discoveries(Discovered(found, words) for found in lesson.discoveries)


class Discoveries(tuple[Discovered, ...]):
    """The discoveries of a lesson; in a notebook each opens when it is pressed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        return "".join(found._repr_html_() for found in self)


def value_at(outcome: Outcome, path: str) -> str:
    """Return the value of an outcome at a path such as ``end brokers A role``, as text.

    ``end`` is the last snapshot, ``*`` every entry of a list or object, ``#`` how many there are.

    >>> value_at({"snapshots": {"a": {}, "b": {"n": [{"p": 1}, {"p": 2}]}}}, "end n * p")
    '1, 2'
    """
    return ", ".join(str(value) for value in _values(outcome, path.split()))


def _values(value: JsonValue, path: list[str]) -> Iterator[object]:
    if not path:
        yield value
        return
    part, rest = path[0], path[1:]
    if part == "end":
        shots = list(value.get("snapshots", {}).values())
        yield from _values(shots[-1] if shots else {}, rest)
    elif part == "*":
        for entry in value.values() if isinstance(value, Mapping) else value:
            yield from _values(entry, rest)
    elif part == "#":
        yield len(value)
    elif isinstance(value, list):
        yield from _values(value[int(part)], rest)
    elif part in value:
        yield from _values(value[part], rest)
