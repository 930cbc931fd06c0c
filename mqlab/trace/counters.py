"""Counters of destinations, as the consoles of the products name them, counted from the events of a run.

ActiveMQ: attributes of the destination MBeans; Artemis: those of `QueueControl`; OpenMQ: the fields of
`imqcmd metrics dst` and `imqcmd query dst`. Counters begin at zero when their broker restarts; what its
store has kept counts in the size alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.errors import UnknownName
from mqlab.spec.values import matches
from mqlab.trace.fates import BURIED, DOWN, LETS_GO, NEVER_HERE, UP
from mqlab.trace.grid import TextTable
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

# What is counted, in this order in every line.
ADDED, REMOVED, DISPATCHED, IN_FLIGHT, FORWARDED, SIZE, CONSUMERS = range(7)
NAMES: dict[str, dict[str, int]] = {
    "activemq": {
        "EnqueueCount": ADDED, "DequeueCount": REMOVED, "DispatchCount": DISPATCHED, "InFlightCount": IN_FLIGHT,
        "ForwardCount": FORWARDED, "QueueSize": SIZE, "ConsumerCount": CONSUMERS,
    },
    "artemis": {
        "MessagesAdded": ADDED, "MessagesAcknowledged": REMOVED, "MessageCount": SIZE,
        "DeliveringCount": IN_FLIGHT, "ConsumerCount": CONSUMERS,
    },
    "openmq": {
        "numMsgsIn": ADDED, "numMsgsOut": REMOVED, "numMsgs": SIZE, "numMsgsPendingAcks": IN_FLIGHT,
        "numConsumers": CONSUMERS,
    },
}  # fmt: skip
HINTS = {
    "EnqueueCount": "messages that the destination has accepted",
    "DequeueCount": "messages that it has let go of: acknowledged, expired, discarded",
    "DispatchCount": "messages dispatched to consumers and bridges; each redelivery counts",
    "InFlightCount": "dispatched and not yet acknowledged",
    "ForwardCount": "acknowledged by bridges to other brokers",
    "QueueSize": "messages that the queue holds, those in flight among them; a topic keeps none",
    "ConsumerCount": "subscriptions at this broker, those of bridges among them",
    "MessagesAdded": "messages that the queue has accepted",
    "MessagesAcknowledged": "messages that consumers and bridges have acknowledged",
    "MessageCount": "messages that the queue holds, those being delivered among them",
    "DeliveringCount": "sent to consumers and not yet acknowledged",
    "numMsgsIn": "messages that came to the destination at this broker",
    "numMsgsOut": "messages that left it",
    "numMsgs": "messages that it holds, remote ones among them",
    "numMsgsPendingAcks": "delivered to consumers and not yet acknowledged",
    "numConsumers": "consumers that the broker knows, those at other brokers of the cluster among them",
}

Place = tuple[int, int]  # broker and destination, by number


class Counting:
    """Counts event by event: `counts` is place -> its seven counters, `down` who is down."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.product = trace, trace.product
        self.counts: dict[Place, list[int]] = {}
        self.down: set[int] = set()
        self.touched: set[Place] = set()  # whose counters may have changed since they were last looked at
        self.out: dict[
            tuple[int, int, int], list[tuple[int, bool]]
        ] = {}  # copies in flight: (sub, to a bridge)
        self.subs: dict[int, tuple[int, int]] = {}  # subscription -> its broker, what it reads
        self.nodes: dict[int, tuple[int, int]] = {}  # consumer -> what it reads, and its subscription
        self.names = trace.names["dest"]
        self.brokers = [no for no, role in enumerate(trace.names["node_role"]) if role == "broker"]
        self.held: dict[tuple[int, int, int], int] = {}  # how many copies of a message lie there
        self.passing: set[tuple[int, int, int]] = set()  # what is in a store-and-forward queue of Artemis
        self.topic = [name.startswith(("topic://", "temp-topic://")) for name in self.names]

    def line(self, broker: int, dest: int) -> list[int]:
        """Return the counters of a place. In a cluster of OpenMQ every broker has every destination."""
        if (broker, dest) not in self.counts:
            for at in self.brokers if self.product == "openmq" else (broker,):
                self.counts[at, dest] = [0] * 7
                self.counts[at, dest][CONSUMERS] = self.consumers(at, dest)
        self.touched.add((broker, dest))
        return self.counts[broker, dest]

    def consumers(self, broker: int, dest: int) -> int:
        """Return how many subscriptions there are; OpenMQ counts those at all brokers of the cluster."""
        if broker in self.down:
            return 0
        everywhere = self.product == "openmq"
        return sum((at == broker or everywhere) and self.reads(read, dest) for at, read in self.subs.values())

    def reads(self, read: int, dest: int) -> bool:
        """Whether a subscription to *read*, which may be a pattern, is one to *dest*."""
        return read == dest or matches(self.names[read], self.names[dest])

    def run(self, until: int | None = None) -> Counting:
        """Count all events, or those up to a time (us)."""
        for _ in self.times(until):
            pass
        return self

    def times(self, until: int | None = None) -> Iterator[int]:
        """Count the events of each time (us), and yield it when they are counted."""
        names = ("t", "kind", "broker", "dest", "msg", "sub", "cause", "frm", "to", "rule")
        kinds, now = self.trace.column("kind"), -1
        for t, *row, cause, frm, to, rule in zip(*map(self.trace.column, names), strict=True):
            if until is not None and t > until:
                break
            if now not in (t, -1):
                yield now
            now = t
            before = Kind(kinds[cause]) if cause >= 0 else None
            if row[0] == Kind.Attached:
                self.attached(frm, to)
            else:
                self.event(Kind(row[0]), *row[1:], before=before, frm=frm, rule=rule)
        if now >= 0:
            yield now

    def event(
        self,
        kind: Kind,
        broker: int,
        dest: int,
        msg: int,
        sub: int,
        *,
        before: Kind | None,
        frm: int,
        rule: int,
    ) -> None:
        """Count one event; *before* is the kind of the event that led to it."""
        if kind in DOWN:
            self.ends(broker)
        elif kind in UP:
            self.begins(broker)
        elif kind in (Kind.Subscribed, Kind.Unsubscribed) and broker >= 0 and dest >= 0:
            if kind == Kind.Subscribed and sub not in self.subs:
                self.nodes[frm] = dest, sub
            self.consumer(kind == Kind.Subscribed, broker, dest, sub)
        elif broker >= 0 and dest >= 0 and msg >= 0:
            self.message(kind, broker, dest, msg, sub, before, frm, rule)

    def attached(self, client: int, broker: int) -> None:
        """A consumer has come to another broker: with OpenMQ its subscription has come with it."""
        if self.product == "openmq" and client in self.nodes and broker in self.brokers:
            self.consumer(True, broker, *self.nodes[client])

    def message(
        self, kind: Kind, broker: int, dest: int, msg: int, sub: int, before: Kind | None, frm: int, rule: int
    ) -> None:
        """Count what happened to a message."""
        if kind == Kind.Enqueued and before != Kind.Returned:
            self.hold(broker, dest, msg, 1)
            self.line(broker, dest)[ADDED] += 1
        elif kind == Kind.TakenOver:
            if frm >= 0:
                self.hold(frm, dest, msg, -1)
            self.hold(broker, dest, msg, 1)
            self.line(broker, dest)[ADDED] += self.product == "artemis"  # a journal is loaded like any message
        elif (
            kind == Kind.Dispatched
            and self.product == "openmq"
            and (sub, False) in self.out.get((broker, dest, msg), ())
        ):
            pass  # a recover or a rollback sends again what is out (OpenMQ rule 5.7)
        elif kind in (Kind.Dispatched, Kind.Forwarded) or (
            kind == Kind.Refused and rule == Reason.not_permitted
        ):
            self.out.setdefault((broker, dest, msg), []).append((sub, kind == Kind.Forwarded))
            counts = self.line(broker, dest)
            counts[DISPATCHED] += 1
            counts[IN_FLIGHT] += 1
            if self.product == "artemis" and kind == Kind.Forwarded and rule == Reason.broker_turn:
                self.passing.add((broker, dest, msg))
                counts[:] = [
                    count - (what in (ADDED, SIZE, IN_FLIGHT, DISPATCHED)) for what, count in enumerate(counts)
                ]
        elif kind in LETS_GO and (broker, dest, msg) in self.passing:
            self.passing.discard((broker, dest, msg))
        elif kind == Kind.Returned:
            self.back(broker, dest, msg, sub)
        elif kind in LETS_GO and not (kind == Kind.Discarded and before in NEVER_HERE):
            self.gone(kind, broker, dest, msg, sub, rule)

    def hold(self, broker: int, dest: int, msg: int, more: int) -> None:
        """A broker holds one copy more of a message, or one less."""
        place = broker, dest, msg
        self.line(broker, dest)[SIZE] += more
        self.held[place] = self.held.get(place, 0) + more
        if not self.held[place]:
            del self.held[place]

    def back(self, broker: int, dest: int, msg: int, sub: int) -> bool:
        """Count a copy in flight no longer; return whether it had gone to a bridge."""
        copies = self.out.get((broker, dest, msg), [])
        found = next(
            (copy for copy in copies if copy[0] == sub), copies[0] if copies and not self.topic[dest] else None
        )
        if found is None:
            return False
        copies.remove(found)
        self.line(broker, dest)[IN_FLIGHT] -= 1
        return found[1]

    def gone(self, kind: int, broker: int, dest: int, msg: int, sub: int, rule: int) -> None:
        """Count a message, or a subscriber's copy, that the destination is done with."""
        crossed = self.back(broker, dest, msg, sub)
        counts = self.line(broker, dest)
        at_subscription = self.topic[dest] and self.product == "activemq"
        if at_subscription and kind != Kind.Acknowledged:
            return
        if not at_subscription:
            if (broker, dest, msg) not in self.held:
                return  # acknowledged as poison before it is told that it is a dead letter
            self.hold(broker, dest, msg, -1)
        if rule == Reason.duplicate:  # known already: never counted
            counts[ADDED] -= 1
            return
        if broker in self.down or (self.product == "artemis" and kind in BURIED):
            return  # Artemis counts these as expired and killed (`AckReason`)
        counts[REMOVED] += 1
        counts[FORWARDED] += crossed and kind == Kind.Acknowledged

    def consumer(self, comes: bool, broker: int, dest: int, sub: int) -> None:
        """Count a subscription that came, or went."""
        if comes == (sub in self.subs):
            return
        if comes:
            self.subs[sub] = broker, dest
            if not any(sign in self.names[dest] for sign in "*>,#"):
                self.line(broker, dest)
        else:
            broker, dest = self.subs.pop(sub)
        for at, there in self.counts:
            if self.reads(dest, there):
                self.line(at, there)[CONSUMERS] = self.consumers(at, there)

    def ends(self, broker: int) -> None:
        """A broker ends: its counters are gone, what its store holds is not."""
        self.down.add(broker)
        self.subs = {sub: of for sub, of in self.subs.items() if of[0] != broker}
        self.out = {key: copies for key, copies in self.out.items() if key[0] != broker}
        for (at, dest), counts in self.counts.items():
            self.touched.add((at, dest))
            if at == broker:
                counts[:] = [count if what == SIZE else 0 for what, count in enumerate(counts)]
            elif self.product == "openmq":
                counts[CONSUMERS] = self.consumers(at, dest)

    def begins(self, broker: int) -> None:
        """A broker begins: it knows the others' consumers; Artemis counts what its journal holds as added."""
        self.down.discard(broker)
        for (at, dest), counts in self.counts.items():
            if at == broker:
                self.touched.add((at, dest))
                counts[CONSUMERS] = self.consumers(at, dest)
                if self.product == "artemis":
                    counts[ADDED] = counts[SIZE]

    def read(self, place: Place) -> list[int | None]:
        """Return the counters of a place by their product's names; None is what it does not have now."""
        broker, dest = place
        if broker in self.down:
            return [None] * len(NAMES[self.product])
        no_size = self.topic[dest] and self.product == "activemq"
        counts = self.counts[place]
        return [None if what == SIZE and no_size else counts[what] for what in NAMES[self.product].values()]


def changes(trace: Trace) -> Iterator[tuple[int, Place, list[int | None]]]:
    """Yield (time in us, place, its counters by their product's names) whenever these are other ones."""
    counting, last = Counting(trace), dict[Place, list[int | None]]()
    for time in counting.times():
        for place in sorted(counting.touched):
            counts = counting.read(place)
            if last.get(place) != counts:
                last[place] = counts
                yield time, place, counts
        counting.touched.clear()


@dataclass(frozen=True, slots=True)
class Counters:
    """The counters of one destination at one broker, under the names that its product gives them.

    ``row["QueueSize"]`` is one of them; None where the broker is down or has no such counter.
    """

    broker: str
    destination: str
    counts: dict[str, int | None]

    def __getitem__(self, name: str) -> int | None:
        """Return a counter by its name; raises `UnknownName` for another."""
        if name not in self.counts:
            raise UnknownName.of("counter", name, self.counts)
        return self.counts[name]


class CounterTable(TextTable, Sequence[Counters]):
    """The counters of all destinations at all brokers, by broker and destination."""

    hints = HINTS

    def __init__(self, names: Sequence[str], rows: Sequence[Counters]) -> None:
        self.names, self.rows = names, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return self.rows[place]

    def of(self, broker: str, destination: str) -> Counters:
        """Return the counters of one destination at one broker; raises `UnknownName` if there are none."""
        known = {(row.broker, row.destination): row for row in self.rows}
        if (broker, destination) not in known:
            place, there = f"{broker} {destination}", [f"{one} {other}" for one, other in known]
            raise UnknownName.of("broker and destination", place, there)
        return known[broker, destination]

    def table(self) -> list[list[str]]:
        """Return a line for each destination at each broker."""
        lines = [
            [
                row.broker,
                row.destination,
                *("-" if count is None else str(count) for count in row.counts.values()),
            ]
            for row in self.rows
        ]
        return [["broker", "destination", *self.names], *lines]


def counters(trace: Trace, at: int | None = None) -> CounterTable:
    """Return the counters at a time (us), or at the end; see `Trace.counters`."""
    counting = Counting(trace).run(at)
    names, nodes, dests = NAMES[counting.product], trace.names["node"], trace.names["dest"]
    rows = [
        Counters(nodes[broker], dests[dest], dict(zip(names, counting.read((broker, dest)), strict=True)))
        for broker, dest in sorted(counting.counts)
    ]
    return CounterTable(list(names), rows)
