"""The state of a run at a moment, read off a scene's changes: who is up, what lies where, who got how much."""

from __future__ import annotations

from dataclasses import dataclass, field

from mqlab.views.changes import What
from mqlab.views.still import Columns

DOWN = {2: "crashed", 3: "stopped", 4: "suspended"}


@dataclass(slots=True)
class Broker:
    """A broker: its condition (empty while it is not there), its role's number, and its queues.

    A queue is message -> whether it is dispatched, by destination.
    """

    condition: str = ""
    role: int = -1
    queues: dict[int, dict[int, bool]] = field(default_factory=dict)


@dataclass(slots=True)
class Moment:
    """The state after all changes up to a moment. Keys are numbers of nodes, and of bridges."""

    brokers: dict[int, Broker] = field(default_factory=dict)
    at: dict[int, int] = field(default_factory=dict)  # client -> its broker, or -1
    sent: dict[int, int] = field(default_factory=dict)
    received: dict[int, int] = field(default_factory=dict)
    up: set[int] = field(default_factory=set)  # bridges

    @classmethod
    def of(cls, columns: Columns, seconds: float) -> Moment:
        """Return the state of a scene at a time of playing (s)."""
        found = cls()
        changes = columns["changes"]
        rows = (changes[name] for name in ("t", "what", "a", "b", "c"))
        for t, what, a, b, c in zip(*rows, strict=True):
            if t > seconds:
                break
            found._apply(What(what), a, b, c)
        return found

    def _apply(self, what: What, a: int, b: int, c: int) -> None:
        if what in (What.work, What.sent):
            count = self.received if what == What.work else self.sent
            count[a] = count.get(a, 0) + 1
        elif what == What.bridge:
            (self.up.add if b else self.up.discard)(a)
        elif what == What.at:
            self.at[a] = b
        elif what in (What.role, What.state, What.put, What.take, What.out, What.back):
            self._of_broker(self.brokers.setdefault(a, Broker()), what, b, c)

    def _of_broker(self, broker: Broker, what: What, b: int, c: int) -> None:
        queue = broker.queues.get(b, {})
        if what == What.role:
            broker.role = b
        elif what == What.state:
            broker.condition = DOWN.get(b, "up" if b else "")
            if b in (2, 3):
                broker.role = -1
                broker.queues = {dest: dict.fromkeys(q, False) for dest, q in broker.queues.items()}
        elif what == What.put:
            broker.queues.setdefault(b, {})[c] = False
        elif what == What.take:
            queue.pop(c, None)
        elif c in queue:
            queue[c] = what == What.out
