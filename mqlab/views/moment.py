"""The state of a run at a moment, read off a scene's changes: who is up, what lies where, who got how much."""

from __future__ import annotations

from dataclasses import dataclass, field

from mqlab.views.changes import StateChange
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
            found._apply(StateChange(what), a, b, c)
        return found

    def _apply(self, what: StateChange, a: int, b: int, c: int) -> None:
        if what in (StateChange.work, StateChange.sent):
            count = self.received if what == StateChange.work else self.sent
            count[a] = count.get(a, 0) + 1
        elif what == StateChange.before:
            self.received[a] = b
        elif what == StateChange.bridge:
            (self.up.add if b else self.up.discard)(a)
        elif what == StateChange.at:
            self.at[a] = b
        elif what in (
            StateChange.role,
            StateChange.state,
            StateChange.put,
            StateChange.take,
            StateChange.out,
            StateChange.back,
        ):
            self._of_broker(self.brokers.setdefault(a, Broker()), what, b, c)

    def _of_broker(self, broker: Broker, what: StateChange, b: int, c: int) -> None:
        queue = broker.queues.get(b, {})
        if what == StateChange.role:
            broker.role = b
        elif what == StateChange.state:
            broker.condition = DOWN.get(b, "up" if b else "")
            if b in (2, 3):
                broker.role = -1
                broker.queues = {dest: dict.fromkeys(q, False) for dest, q in broker.queues.items()}
        elif what == StateChange.put:
            broker.queues.setdefault(b, {})[c] = False
        elif what == StateChange.take:
            queue.pop(c, None)
        elif c in queue:
            queue[c] = what == StateChange.out
