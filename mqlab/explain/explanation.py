"""An answer: a title, the sentences under it, and what decided, as data."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from mqlab.errors import Call
from mqlab.explain.sentences import Line, Sentence
from mqlab.spec.change import Change
from mqlab.spec.values import told_time
from mqlab.trace.kinds import Reason


@dataclass(frozen=True, slots=True)
class Cause:
    """What decided: a rule of the product, an option, a selector, a limit, a fault, a turn.

    `told` says it of this message and consumer, `rule` is the general rule (`Reason.none` where no one
    rule stands behind it), `row` the event that decided, -1 for none. `about` are further names of
    options, steps and clients that it hung on. `change` is what takes it away: with that one change the
    run gives the other answer. It is None where nothing takes it away alone, or nobody has tried.
    """

    told: Line
    rule: Reason = Reason.none
    row: int = -1
    about: tuple[str, ...] = ()
    change: Change | None = None

    @property
    def text(self) -> str:
        """What is told, as it is printed."""
        return str(self.told)

    @property
    def grounds(self) -> set[str]:
        """The names of options, steps and clients without which it would not hold."""
        return {*self.rule.depends_on, *self.about}

    @property
    def source(self) -> str:
        """The guide and section of its rule."""
        return self.rule.source

    def __str__(self) -> str:
        return self.text if self.change is None else f"{self.text} (would not apply with: {self.change})"


@dataclass(frozen=True, slots=True)
class Explanation:
    """A title, what is told under it, and the `causes` where the question was why not.

    `calls` are those that it says to write.
    """

    title: str
    told: tuple[Line, ...]
    causes: tuple[Cause, ...] = ()
    calls: tuple[Call, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        """The single changes after which the answer would be another one: `changes[0].apply(net)`."""
        return tuple(cause.change for cause in self.causes if cause.change is not None)

    @property
    def lines(self) -> tuple[str, ...]:
        """What is told, as it is printed."""
        return tuple(map(str, self.told))

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {line}" for line in self.lines)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the sentences as a table: the time, what happened, and why."""
        rows = "".join(
            f'<tr><td style="white-space:nowrap">{time}</td>'
            f'<td style="text-align:left">{escape(what)}</td></tr>'
            for time, what in map(_cells, self.told)
        )
        return f"<p><b>{escape(self.title)}</b></p><table><tbody>{rows}</tbody></table>"


def _cells(line: Line) -> tuple[str, str]:
    """Return a line's time, empty for none, and what is told."""
    if isinstance(line, Sentence) and line.t is not None:
        return told_time(line.t), line.said()
    return "", str(line)
