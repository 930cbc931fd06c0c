"""One row of a trace with names in place of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened: made when it is read, never stored.

    `t` and `age` are microseconds. `frm` and `to` are brokers or clients, `link` is the
    bridge, `cause` the row of the event that led to this one. What does not apply is None.
    """

    row: int
    t: int
    kind: Kind
    message: int | None
    broker: str | None
    frm: str | None
    to: str | None
    link: str | None
    destination: str | None
    subscription: str | None
    hop: int
    age: int
    rule: Rule
    cause: int | None

    @classmethod
    def of(cls, trace: Trace, row: int) -> Event:
        """Return the event of *row*."""

        def number(column: str) -> int:
            return trace.column(column)[row]

        def name(column: str, table: str) -> str | None:
            index = number(column)
            return trace.names[table][index] if index >= 0 else None

        msg, cause = number("msg"), number("cause")
        return cls(
            row=row, t=number("t"), kind=Kind(number("kind")), message=msg if msg >= 0 else None,
            broker=name("broker", "node"), frm=name("frm", "node"), to=name("to", "node"),
            link=name("link", "link"), destination=name("dest", "dest"),
            subscription=name("sub", "sub"), hop=number("hop"), age=number("age"),
            rule=Rule(number("rule")), cause=cause if cause >= 0 else None,
        )  # fmt: skip
