"""Messages, queues and journals of Artemis brokers (AMQ Broker 7.1, chapter 21).

A queue is bound to an address: by its own name for anycast, to a topic for multicast. A journal is what
is on the disk, or on a slave's: only persistent messages in durable queues (artemis-observed.md, 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.runtime.artemis.consumers import Consumer


@dataclass(eq=False, slots=True)
class Message:
    """A message. `due` is the time (us) before which it is not delivered."""

    number: int
    dest: Destination
    persistent: bool
    properties: Mapping[str, Any]
    size: int
    sent: int
    due: int = 0
    row: int = -1


@dataclass(eq=False, slots=True)
class Held:
    """A message in one queue. `tries`: how often a consumer of this broker has had it in vain."""

    message: Message
    place: int
    taker: Consumer | None = None
    tries: int = 0
    row: int = -1  # of the trace: what happened to it last here


@dataclass(eq=False, slots=True)
class Queue:
    """One broker's queue: what waits, in order, and what its consumers hold.

    `made` is since when it is there (us); `own`: a plain subscriber's, which ends with it.
    """

    name: str
    topic: str | None = None
    durable: bool = True
    selector: str | None = None
    waiting: list[Held] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    consumers: list[Consumer] = field(default_factory=list)
    enqueued: int = 0
    turn: int = 0
    made: int = 0
    own: bool = False

    def add(self, message: Message) -> Held:
        """Append a message at the tail."""
        self.enqueued += 1
        item = Held(message, self.enqueued)
        self.waiting.append(item)
        return item

    def give_back(self, item: Held, flagged: bool) -> None:
        """Put what a consumer held back to its old place."""
        self.held.remove(item)
        item.taker = None
        item.tries += flagged
        later = (no for no, other in enumerate(self.waiting) if other.place > item.place)
        self.waiting.insert(next(later, len(self.waiting)), item)

    def items(self) -> list[Held]:
        """All messages in the order of their places."""
        return sorted(self.waiting + self.held, key=lambda item: item.place)

    def row(self, now: int) -> dict[str, Any]:
        """Return its counters as the recordings write them."""
        late = sum(item.message.due > now for item in self.waiting)
        found: dict[str, Any] = {
            "depth": len(self.waiting) + len(self.held), "in_flight": len(self.held),
            "consumers": len(self.consumers), "enqueued": self.enqueued,
            "waiting": [i.message.number for i in self.waiting if i.message.due <= now],
        }  # fmt: skip
        if self.held:
            found["delivering"] = sorted(item.message.number for item in self.held)
        if late:
            found["scheduled"] = late
        return found


# What lies in the queues towards brokers that hang: broker -> queue there, message, row.
OnTheWay = dict[str, list[tuple[str, Message, int]]]


@dataclass(slots=True)
class Journal:
    """What is on a disk: queues and their messages in order, and prepared transactions."""

    pair: str
    queues: list[tuple[Queue, list[Held]]] = field(default_factory=list)
    prepared: list[list[Message]] = field(default_factory=list)
    on_the_way: OnTheWay = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        """How much there is to copy."""
        return sum(item.message.size for _, items in self.queues for item in items)


class Live:
    """What a broker has in memory while it is live, since a time (us)."""

    def __init__(
        self, pair: str, rows: Iterable[Mapping[str, Any]], journal: Journal | None, since: int = 0
    ) -> None:
        self.pair, self.since = pair, since
        self.queues = {row["name"]: _queue(row) for row in rows}
        self.prepared: list[list[Message]] = []
        self.positions: dict[str, int] = {}  # whose turn it is, per address
        self.replica: Any = None  # the slave that copies it
        self.on_the_way: OnTheWay = {}
        if journal is not None:
            self._load(journal)

    def _load(self, journal: Journal) -> None:
        for old, items in journal.queues:
            queue = self.queues.setdefault(old.name, Queue(old.name, old.topic, True, old.selector))
            for item in items:
                here = queue.add(item.message)
                here.tries, here.row = item.tries, item.row
        self.prepared = [list(work) for work in journal.prepared]
        self.on_the_way = {to: list(rows) for to, rows in journal.on_the_way.items()}

    def items(self) -> Iterator[tuple[Queue, Held]]:
        """Yield every message that is here, with its queue."""
        for queue in self.queues.values():
            yield from ((queue, item) for item in queue.items())

    def journal(self, orderly: bool = False) -> Journal:
        """Return what outlives it; an orderly end also writes down how often a message was tried."""
        kept = []
        for queue in self.queues.values():
            if queue.durable:
                items = [
                    Held(i.message, i.place, None, int(orderly and (i.tries or i in queue.held)), i.row)
                    for i in queue.items() if i.message.persistent
                ]  # fmt: skip
                kept.append((queue, items))
        way = {to: [row for row in rows if row[1].persistent]
               for to, rows in self.on_the_way.items()}  # fmt: skip
        return Journal(self.pair, kept, [list(work) for work in self.prepared], way)

    def messages(self, now: int) -> set[int]:
        """Return the numbers of all messages that are here and due."""
        found = {i.message.number for _, i in self.items() if i.message.due <= now}
        return found | {m.number for way in self.on_the_way.values() for _, m, _ in way}


def _queue(row: Mapping[str, Any]) -> Queue:
    """Return a configured queue: one of routing multicast belongs to its address, a topic."""
    topic = row.get("address", row["name"]) if row.get("routing") == "multicast" else None
    return Queue(row["name"], topic)
