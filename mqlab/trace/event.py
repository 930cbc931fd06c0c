"""One row of a trace with names in place of numbers."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.spec.values import Duration
from mqlab.trace.kinds import Kind, Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of a trace (created on access, not stored).

    `t` and `age` are a `Duration` each: microseconds that print their unit. `frm` and `to` are brokers or
    clients, `link` is the bridge, `cause` the row of the event that led to this one. What does not apply is
    None.
    """

    row: int
    t: Duration
    kind: Kind
    message: int | None
    broker: str | None
    frm: str | None
    to: str | None
    link: str | None
    destination: str | None
    subscription: str | None
    hop: int
    age: Duration
    rule: Reason
    cause: int | None

    def __str__(self) -> str:
        """Return the event as one reads it: the time, what happened to what, where, and why.

        >>> import mqlab as mq
        >>> print(mq.run("fuse:2.20").event(30))
        8.000 ms  Received message 3 at A, A -> C1: queue://TEST.FOO at A by C1
        """
        return f"{self.t / 1000:.3f} ms  {self.what}"

    @property
    def what(self) -> str:
        """The same without the time."""
        parts = [self.kind.name]
        parts += [f" message {self.message}"] if self.message is not None else []
        parts += [f" at {self.broker}"] if self.broker is not None else []
        if self.frm is not None or self.to is not None:
            way = " -> ".join(end for end in (self.frm, self.to) if end is not None)
            parts.append(f", {way}")
        parts += [f", over {self.link}"] if self.link is not None else []
        what = self.subscription or self.destination
        parts += [f": {what}"] if what is not None else []
        parts += [f" ({self.rule.sentence})"] if self.rule.sentence else []
        return "".join(parts)
