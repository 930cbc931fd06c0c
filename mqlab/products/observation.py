"""A trace of one moment: what stands in a running network, as a picture shows it.

Its events have no story: all are at time 0. Brokers are up, bridges stand, consumers are subscribed, messages
wait. Its counters are those of the brokers themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mqlab.products.subscriptions import remotes
from mqlab.spec.json_types import JsonDict
from mqlab.spec.plural import counted
from mqlab.spec.running import Running, RunningBridge, RunningConsumer, RunningQueue
from mqlab.trace import counters
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import Recorder
from mqlab.trace.trace import Trace

NO_CONSUMER = {"activemq": Reason.no_subscription, "artemis": Reason.nobody_reads}
MOST_DRAWN = 200  # messages of a queue that are drawn; its counters have all
MOST_QUEUES, MOST_CONSUMERS = 300, 300  # that are drawn: those with the most messages, the first


@dataclass(frozen=True, slots=True)
class Scenery:
    """What a product says of a running network for its picture: a lab file of it, and names of its bridges.

    `down` are the names of connectors without a bridge, each with its two ends; `endpoints` are no brokers.
    """

    product: str
    edition: str
    body: JsonDict
    names: tuple[str, ...]
    bridge: Callable[[RunningBridge], str]
    down: tuple[tuple[str, str, str], ...] = ()
    endpoints: tuple[str, ...] = ()


def trace(scenery: Scenery, running: Running, earlier: Running | None = None) -> Trace:
    """Return the trace of what stands in a running network; rates are those since it was read *earlier*."""
    observer = _Observer(scenery, running)
    queues = sorted(running.queues, key=lambda one: -one.depth)[:MOST_QUEUES]
    observer.brokers()
    observer.bridges()
    observer.consumers([one for one in running.consumers if one.active][:MOST_CONSUMERS])
    for queue in queues:
        observer.messages(queue)
    header = {
        "scenario": _body(scenery.body, running, earlier),
        "product": scenery.product,
        "edition": scenery.edition,
        "observed": True,
        "received_before": observer.received,
        "counters": [_counters(one, running, earlier, scenery.product) for one in sorted(queues, key=_place)],
    }
    return observer.recorder.trace(header)


def _place(queue: RunningQueue) -> tuple[str, str]:
    return queue.broker, queue.name


def _body(body: JsonDict, running: Running, earlier: Running | None) -> JsonDict:
    """Return the network as a lab file has it, with what bridges have forwarded beside their options."""
    waits = sum(one.depth for one in running.queues)
    title = f"As it runs, {running.at[11:]}: {counted(waits, 'message')} waiting"
    left_out = list(_left_out(running))
    title += f" (drawn: {', '.join(left_out)})" if left_out else ""
    for row in body.get("connectors", ()):
        for bridge in running.bridges:
            if (bridge.broker, bridge.connector) == (row["from"], row["name"]):
                row["forwarded"] = forwarded(bridge, running, earlier)
    return {**body, "title": title, "actions": []}


def _left_out(running: Running) -> Iterator[str]:
    """Yield what a picture has no room for."""
    if any(one.depth > MOST_DRAWN for one in running.queues):
        yield f"up to {MOST_DRAWN} messages of a queue"
    if len(running.queues) > MOST_QUEUES:
        yield f"{MOST_QUEUES} of {len(running.queues)} queues"
    consumers = sum(one.active for one in running.consumers)
    if consumers > MOST_CONSUMERS:
        yield f"{MOST_CONSUMERS} of {consumers} subscriptions"


def forwarded(bridge: RunningBridge, running: Running, earlier: Running | None) -> str:
    """Return how many messages went over a bridge, both ways, and how many a second since *earlier*."""
    count = (bridge.forwarded or 0) + bridge.received
    before = [
        one
        for one in (earlier.bridges if earlier else ())
        if (one.broker, one.connector, one.remote) == (bridge.broker, bridge.connector, bridge.remote)
    ]
    seconds = running.since(earlier, bridge.broker)
    if not before or not seconds:
        return str(count)
    return f"{count}, {(count - (before[0].forwarded or 0) - before[0].received) / seconds:.1f}/s"


def _counters(queue: RunningQueue, running: Running, earlier: Running | None, product: str) -> list[object]:
    """Return broker, destination (with rates), and the counters by the product's names, in their order."""
    before = [
        one
        for one in (earlier.queues if earlier else ())
        if (one.broker, one.name) == (queue.broker, queue.name)
    ]
    text, seconds = f"queue://{queue.name}", running.since(earlier, queue.broker)
    if before and seconds:
        came, went = queue.enqueued - before[0].enqueued, queue.dequeued - before[0].dequeued
        text += f" ({came / seconds:.1f}/s in, {went / seconds:.1f}/s out)"
    by_kind = {
        counters.ADDED: queue.enqueued,
        counters.REMOVED: queue.dequeued,
        counters.DISPATCHED: queue.dispatched,
        counters.IN_FLIGHT: queue.held,
        counters.FORWARDED: queue.forwarded,
        counters.SIZE: queue.depth,
        counters.CONSUMERS: queue.consumers,
    }
    return [queue.broker, text, [by_kind[kind] for kind in counters.NAMES[product].values()]]


class _Observer:
    """Writes down what is there."""

    def __init__(self, scenery: Scenery, running: Running) -> None:
        self.scenery, self.running, self.recorder = scenery, running, Recorder()
        self.nodes = {name: self.recorder.add_node(name, "broker") for name in scenery.names}
        for name in scenery.endpoints:
            self.nodes[name] = self.recorder.add_node(name, "endpoint")
        self.links: dict[tuple[str, str], int] = {}  # near and far end -> the bridge
        self.holders: dict[tuple[str, str], list[tuple[int, int]]] = {}  # queue -> who holds how many
        self.received: list[tuple[int, int]] = []  # a client's node, and what it has acknowledged
        self.number = 0

    def brokers(self) -> None:
        """Say who is up: who was read, or has a bridge that stands."""
        up = {one.name for one in self.running.brokers} | {one.remote for one in self.running.bridges}
        for name in self.scenery.names:
            kind = Kind.Started if name in up else Kind.Stopped
            self.recorder.add(0, kind, broker=self.nodes[name], frm=self.nodes[name])

    def bridges(self) -> None:
        """Say which bridges stand, and which connectors have none."""
        for one in self.running.bridges:
            self._bridge(self.scenery.bridge(one), one.broker, one.remote, Kind.Connected)
        for name, here, there in self.scenery.down:
            self._bridge(name, here, there, Kind.Disconnected)

    def _bridge(self, name: str, here: str, there: str, kind: Kind) -> None:
        link = self.recorder.name_link(name, here, there)
        self.links[here, there] = link
        self.recorder.add(
            0, kind, broker=self.nodes[here], frm=self.nodes[here], to=self.nodes[there], link=link
        )

    def consumers(self, listed: list[RunningConsumer]) -> None:
        """Say who is subscribed: clients, and bridges on behalf of clients elsewhere."""
        for one in listed:
            dest = self.recorder.name_destination(one.destination)
            sub = self.recorder.name_subscription(f"{one.destination} at {one.broker} by {one.client}")
            home = self.nodes[one.broker]
            if not one.network:
                node = self.recorder.add_node(self._free(one.client), "consumer", one.broker)
                self.recorder.add(0, Kind.Subscribed, broker=home, frm=node, to=home, dest=dest, sub=sub)
                self.received.append((node, one.acknowledged))
                self.holders.setdefault((one.broker, one.destination), []).append((node, one.held))
                continue
            for remote in remotes(self.running, one.broker, one.client):
                link = self.links[one.broker, remote]
                frm = self.nodes[remote]
                self.recorder.add(
                    0, Kind.Subscribed, broker=home, frm=frm, to=home, link=link, dest=dest, sub=sub
                )

    def _free(self, client: str) -> str:
        number, name, taken = 1, client, set(self.recorder.names["node"])
        while name in taken:
            number += 1
            name = f"{client} ({number})"
        return name

    def messages(self, queue: RunningQueue) -> None:
        """Say what waits in a queue: what consumers hold is out to them."""
        dest = self.recorder.name_destination(f"queue://{queue.name}")
        broker = self.nodes[queue.broker]
        held = iter(self._holding(queue))
        for _ in range(min(queue.depth, MOST_DRAWN)):
            self.number += 1
            there = {"msg": self.number, "broker": broker, "dest": dest}
            self.recorder.add(0, Kind.Enqueued, frm=broker, to=broker, **there)
            if (holder := next(held, None)) is not None:
                self.recorder.add(0, Kind.Dispatched, frm=broker, to=holder, **there)
            elif not queue.consumers:
                rule = NO_CONSUMER[self.scenery.product]
                self.recorder.add(0, Kind.Held, frm=broker, rule=rule, **there)

    def _holding(self, queue: RunningQueue) -> Iterator[int]:
        for node, count in self.holders.get((queue.broker, f"queue://{queue.name}"), ()):
            yield from [node] * count
