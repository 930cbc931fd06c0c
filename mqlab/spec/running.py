"""What stands in a running network at one moment, as its management tells it: plain values, no secrets.

It lies beside a `Network`, as its files do. Counts are messages; those of a broker begin with its start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter

from mqlab.spec.plural import counted

SLOW = 2.0  # s of reading, from which on a text says how long it took
SHOWN = 12  # queues, or consumers, that a text lists


@dataclass(frozen=True, slots=True)
class RunningBroker:
    """A broker: its version, how long it has been up (ms), its transport connectors, its management."""

    name: str
    version: str
    uptime_ms: int
    persistent: bool
    transports: tuple[tuple[str, str], ...]
    console: str


@dataclass(frozen=True, slots=True)
class RunningConnector:
    """A network connector, with those of its options that management tells, by Python name."""

    broker: str
    name: str
    options: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class RunningBridge:
    """A bridge that stands. `by_duplex`: it is the other end of a duplex connector of `remote`.

    It has been there for `at_most_ms`: as long as the younger of its brokers, as management tells no more.
    `forwarded` and `received` are messages; None where management does not tell.
    """

    broker: str
    connector: str
    remote: str
    address: str
    by_duplex: bool
    forwarded: int | None
    received: int
    at_most_ms: int


@dataclass(frozen=True, slots=True)
class RunningQueue:
    """A queue at a broker: how many messages wait, how many of them consumers hold, and its counters.

    `forwarded` went to other brokers.
    """

    broker: str
    name: str
    depth: int
    held: int
    consumers: int
    enqueued: int
    dequeued: int
    dispatched: int = 0
    forwarded: int = 0
    paused: bool = False


@dataclass(frozen=True, slots=True)
class RunningConsumer:
    """A subscription: of a client, or with `network` of a bridge. `held` is dispatched, not acknowledged."""

    broker: str
    client: str
    destination: str
    selector: str | None = None
    network: bool = False
    prefetch: int = 0
    priority: int = 0
    exclusive: bool = False
    subscription: str | None = None
    active: bool = True
    held: int = 0
    acknowledged: int = 0


@dataclass(frozen=True, slots=True)
class Running:
    """A running network `at` a time (UTC), read in so many `seconds`; `notes` say what could not be read."""

    at: str
    brokers: tuple[RunningBroker, ...]
    connectors: tuple[RunningConnector, ...] = ()
    bridges: tuple[RunningBridge, ...] = ()
    queues: tuple[RunningQueue, ...] = ()
    consumers: tuple[RunningConsumer, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def noted(self, *notes: str) -> Running:
        """Return the same with more notes."""
        return replace(self, notes=(*self.notes, *notes))

    def since(self, earlier: Running | None, broker: str) -> float:
        """Return the seconds since it was read *earlier*, by a broker's own clock; 0 if that restarted."""
        up = {one.name: one.uptime_ms for one in self.brokers}
        before = {one.name: one.uptime_ms for one in earlier.brokers} if earlier else {}
        return max(0, up.get(broker, 0) - before.get(broker, up.get(broker, 0))) / 1000

    def depth(self, queue: str, broker: str) -> int:
        """Return how many messages wait in a queue at a broker; 0 where it does not exist."""
        return sum(one.depth for one in self.queues if (one.name, one.broker) == (queue, broker))

    def __str__(self) -> str:
        brokers = ", ".join(f"{one.name} ({one.version})" for one in self.brokers)
        took = f", read in {self.seconds:.1f} s" if self.seconds >= SLOW else ""
        lines = [f"The network as it ran at {self.at}{took}: {brokers}"]
        lines += [_bridge(one) for one in self.bridges if not one.by_duplex]
        there = {(one.broker, one.connector) for one in self.bridges}
        lines += [
            f"{one.broker}/{one.name}: no bridge stands"
            for one in self.connectors
            if (one.broker, one.name) not in there
        ]
        queues = sorted(self.queues, key=attrgetter("depth"), reverse=True)
        lines += [_queue(one) for one in queues[:SHOWN]]
        lines += [f"... and {counted(len(queues) - SHOWN, 'more queue')}"] if len(queues) > SHOWN else []
        clients = [one for one in self.consumers if not one.network]
        lines += [_consumer(one) for one in clients[:SHOWN]]
        lines += [f"... and {counted(len(clients) - SHOWN, 'more consumer')}"] if len(clients) > SHOWN else []
        return "\n  ".join([*lines, *(f"note: {note}" for note in self.notes)])


def _bridge(one: RunningBridge) -> str:
    forwarded = "" if one.forwarded is None else f"{counted(one.forwarded, 'message')} forwarded, "
    return (
        f"{one.broker}/{one.connector}: a bridge to {one.remote} stands, "
        f"{forwarded}for {one.at_most_ms // 1000} s at most"
    )


def _queue(one: RunningQueue) -> str:
    held = f", {one.held} of them held by consumers" if one.held else ""
    paused = ", paused" if one.paused else ""
    return (
        f"queue {one.name} at {one.broker}: {counted(one.depth, 'message')}{held}; "
        f"{counted(one.consumers, 'subscription')}{paused}"
    )


def _consumer(one: RunningConsumer) -> str:
    selector = f" with selector {one.selector}" if one.selector else ""
    away = "" if one.active else " (not connected)"
    return f"{one.client} at {one.broker}{away} consumes {one.destination}{selector}"
