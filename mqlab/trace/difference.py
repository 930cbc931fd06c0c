"""Two runs side by side."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mqlab.trace.drawn import Plottable
from mqlab.trace.event import Event
from mqlab.trace.labels import labels
from mqlab.trace.ledger import Ledger
from mqlab.trace.trace import Trace

_PLACE = ("row", "cause")  # where an event stands in its own trace is no difference


@dataclass(frozen=True, slots=True)
class Comparison(Plottable):
    """A comparison of two traces, *one* and *other*.

    `received()` gives both counts of each consumer, `first_difference()` the first events
    at which the runs diverge.
    """

    one: Trace
    other: Trace

    def __str__(self) -> str:
        """Return what each consumer received in both runs, and where they part."""
        one, other = labels((self.one, self.other))
        if not self.one.index.count and not self.other.index.count:
            none = "No messages were sent in either run; to compare them, add a producer and a consumer."
            return f"{one} compared with {other}\n{none}"
        counts = [f"  {name}: {left} and {right}" for name, (left, right) in self.received().items()]
        lines = [f"{one} compared with {other}", "received:", *(counts or ["  (no consumers)"])]
        parted = self.first_difference()
        if parted is None:
            return "\n".join([*lines, "The runs are identical."])
        events = (f"  {event}" if event is not None else "  (run ended)" for event in parted)
        return "\n".join([*lines, "The first events that differ:", *events])

    __repr__ = __str__

    def received(self) -> dict[str, tuple[int, int]]:
        """Return consumer -> (count in one, count in the other)."""
        left, right = self.one.received(), self.other.received()
        return {name: (left.get(name, 0), right.get(name, 0)) for name in {**left, **right}}

    def ledger(self) -> Ledger:
        """Return what each of the two runs cost, as a table."""
        return Ledger((self.one, self.other))

    def first_difference(self) -> tuple[Event | None, Event | None] | None:
        """Return the first pair of unlike events; None if the runs are alike.

        One of the pair is None where that run had already ended.
        """
        for row in range(max(len(self.one), len(self.other))):
            left = self.one.event(row) if row < len(self.one) else None
            right = self.other.event(row) if row < len(self.other) else None
            if left is None or right is None or _told(left) != _told(right):
                return left, right
        return None


def _told(event: Event) -> tuple[object, ...]:
    return tuple(getattr(event, f.name) for f in fields(Event) if f.name not in _PLACE)
