"""What is measured: seven families of runs, and what grows in each."""

from __future__ import annotations

import gc
import heapq
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any

import simpy

import mqlab as mq
from mqlab.spec import topology
from mqlab.trace import Kind
from mqlab.trace.record import Recorder

Q = mq.Queue("Q")
Begin = Callable[[], Any]  # returns a lab that is ready
Routes = list[tuple[int, ...]]  # of producers: the brokers that their messages go through


@dataclass(frozen=True)
class Work:
    """A lab made ready by *begin*, and the actions whose events are counted, done at once."""

    begin: Begin
    actions: tuple[Any, ...] = ()
    until: str | None = None

    def run(self, watch: Callable[[Callable[[], None]], float]) -> tuple[int, float]:
        """Return how many events there were, and what *watch* says of them."""
        lab = self.begin()
        before = lab.recorder.count
        for action in self.actions:
            lab.do(action)
        seen = watch(lab.rest if self.until is None else lambda: lab.until(self.until))
        return lab.recorder.count - before, seen


def seconds(act: Callable[[], None]) -> float:
    """Return how much processor time *act* takes."""
    gc.collect()
    gc.freeze()  # objects of others slow down whoever makes more of his own
    start = process_time()
    act()
    return process_time() - start


def calls(act: Callable[[], None]) -> float:
    """Return how many functions *act* calls, Python's and C's: the same number on every machine."""
    count = 0

    def on(_frame: object, what: str, _argument: object) -> None:
        nonlocal count
        count += what in ("call", "c_call")

    sys.setprofile(on)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def lines(act: Callable[[], None]) -> float:
    """Return how many lines of Python *act* runs: what a loop does without a call is in it, too."""
    count = 0

    def on(_frame: object, what: str, _argument: object) -> Any:
        nonlocal count
        count += what == "line"
        return on

    before = sys.gettrace()
    sys.settrace(on)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def heap_rate() -> float:
    """Return `heapq.heapreplace` calls per second with 1000 pending."""
    heap = [(random.random(), i) for i in range(1000)]
    heapq.heapify(heap)
    steps = [random.random() for _ in range(200_000)]
    start = process_time()
    for i, step in enumerate(steps):
        heapq.heapreplace(heap, (heap[0][0] + step, i))
    return len(steps) / (process_time() - start)


def burst_rate(folder: Path, messages: int) -> float:
    """Return traced events per second of so many messages over three hops, written to a folder."""
    net, queue = topology.network("chain", 4), mq.Queue("Q")
    actions = mq.Consumer("C", on="B4", reads=queue), mq.Producer("P", on="B1", sends=messages, to=queue)
    start = process_time()
    mq.replay.run(net, *actions, out=folder)
    return mq.replay.open(folder).events_count / (process_time() - start)


def simpy_rate(routes: Routes, messages: int, subscribers: int = 1) -> float:
    """Return traced events per second of as many queues made of SimPy stores, a process for each broker.

    Each link takes 1 ms each way as ours does: the message goes, the answer comes back. It writes the same
    events with the same recorder: sent, enqueued, forwarded or dispatched, received, acknowledged. It has no
    prefetch, priorities, hops or selectors.
    """
    env, recorder = simpy.Environment(), Recorder()
    stores = {broker: simpy.Store(env) for route in routes for broker in route}

    def note(kind: Kind, message: int, broker: int) -> None:
        recorder.add(int(env.now), kind, message, broker, broker, broker)

    def produce(route: tuple[int, ...], first: int) -> Any:
        for number in range(first, first + messages // len(routes)):
            note(Kind.Sent, number, route[0])
            yield env.timeout(1)
            note(Kind.Enqueued, number, route[0])
            yield stores[route[0]].put((number, route, 0))
            yield env.timeout(1)

    def serve(broker: int) -> Any:
        while True:
            number, route, place = yield stores[broker].get()
            if place + 1 < len(route):
                note(Kind.Forwarded, number, broker)
                env.process(cross(number, route, place))
            else:
                for _ in range(subscribers):
                    note(Kind.Dispatched, number, broker)
                    env.process(take(number, broker))

    def cross(number: int, route: tuple[int, ...], place: int) -> Any:
        yield env.timeout(1)
        note(Kind.Enqueued, number, route[place + 1])
        yield stores[route[place + 1]].put((number, route, place + 1))
        yield env.timeout(1)
        note(Kind.Acknowledged, number, route[place])

    def take(number: int, broker: int) -> Any:
        yield env.timeout(1)
        note(Kind.Received, number, broker)
        yield env.timeout(1)
        note(Kind.Acknowledged, number, broker)

    for no, route in enumerate(routes):
        env.process(produce(route, no * messages))
    for broker in stores:
        env.process(serve(broker))
    start = process_time()
    env.run()
    return recorder.count / (process_time() - start)


# Networks and what is there before


def ready(network: Any, *actions: Any) -> Begin:
    """Return what makes a lab in which *actions* have happened."""

    def begin() -> Any:
        lab = mq.Lab(network)
        for action in actions:
            lab.do(action)
        lab.rest()
        return lab

    return begin


def connector(to: str, ttl: int = -1) -> mq.NetworkConnector:
    return mq.NetworkConnector(f"to-{to}", uri=f"static:(tcp://{to}:61616)", network_ttl=ttl)


def chain(messages: int, brokers: int = 4) -> Work:
    """Messages go down a chain of brokers."""
    members = [mq.Broker(f"B{i}", connector(f"B{i + 1}")) for i in range(brokers - 1)]
    net = mq.Network(*members, mq.Broker(f"B{brokers - 1}"))
    consumer = mq.Consumer("C", on=f"B{brokers - 1}", reads=Q)
    return Work(ready(net, consumer), (mq.Producer("P", on="B0", sends=messages, to=Q),))


def hub(messages: int, producers: int = 10) -> Work:
    """A hub with 20 spokes: producers at ten of them, in the background, and consumers at the others."""
    net = topology.network("hub and spokes", 21)
    readers = [mq.Consumer(f"C{i}", on=f"S{11 + i % 10}", reads=Q) for i in range(10)]
    each = messages // producers
    senders = [
        mq.Producer(f"P{i}", on=f"S{1 + i % 10}", sends=each, to=Q, in_background=True)
        for i in range(producers)
    ]
    return Work(ready(net, *readers), tuple(senders))


def mesh(messages: int) -> Work:
    """A mesh of 25 brokers with a TTL of 5: from the middle of a side to that of the opposite one."""
    net = topology.network("mesh", 25)
    for name, link in net.connectors():
        net = net.change(f"{name.name}/{link.name}", network_ttl=5)
    consumer = mq.Consumer("C", on="M53", reads=Q)
    return Work(ready(net, consumer), (mq.Producer("P", on="M13", sends=messages, to=Q),))


def topic(messages: int, subscribers: int = 100) -> Work:
    """A topic of one broker with many subscribers."""
    prices = mq.Topic("PRICES")
    readers = [mq.Consumer(f"C{i}", on="B", reads=prices) for i in range(subscribers)]
    producer = mq.Producer("P", on="B", sends=messages, to=prices, persistent=False)
    return Work(ready(mq.Network(mq.Broker("B")), *readers), (producer,))


def failover(messages: int, clients: int = 1) -> Work:
    """A pair on one store, a broker that follows it, a crash, a cut, clients that fail over."""
    link = mq.NetworkConnector(
        "to-a", uri="masterslave:(tcp://A1:61616,tcp://A2:61616)", duplex=True, network_ttl=3
    )
    net = mq.Network(mq.Broker("A1", shared_store="a"), mq.Broker("A2", shared_store="a"), mq.Broker("B", link))
    uri = "failover:(tcp://A1:61616,tcp://A2:61616)?maxReconnectDelay=500"
    shops = [mq.Client(f"shop{i}", uri=uri) for i in range(clients)]
    senders = [
        mq.Producer(f"P{i}", on=f"shop{i}", sends=messages // clients, to=Q, every="20ms")
        for i in range(clients)
    ]
    until = messages // clients * 20 + 30_000
    actions = (
        mq.Consumer("C1", on="B", reads=Q), *shops, *senders[:-1], mq.Crash("A1", at="2s"),
        mq.Cut("A2", "B", at=f"{until - 20_000}ms"), mq.Heal("A2", "B", at=f"{until - 19_000}ms"), senders[-1],
    )  # fmt: skip
    actions = tuple(replace(a, in_background=True) if isinstance(a, mq.Producer) else a for a in actions)
    return Work(lambda: mq.Lab(net), actions, f"{until}ms")


def openmq(messages: int, brokers: int = 3, others: int = 0, waiting: int = 0) -> Work:
    """A cluster without a record: *others* are consumers of other queues, *waiting* what nobody takes."""
    names = [f"b{i}" for i in range(1, brokers + 1)]
    before: list[Any] = [mq.Consumer("C", on="b2", reads=Q)]
    before += [mq.Consumer(f"O{i}", on=names[i % brokers], reads=mq.Queue(f"O{i}")) for i in range(others)]
    if waiting:
        held = mq.Consumer("W", on="b1", reads=Q, selector="kind = 'other'")
        before = [held, mq.Producer("F", on="b1", sends=waiting, to=Q), *before]
    producer = mq.Producer("P", on="b1", sends=messages, to=Q)
    return Work(ready(mq.openmq.Network(*names), *before), (producer,))


def artemis(messages: int, brokers: int = 3) -> Work:
    """A cluster of brokers, from the first to the last."""
    names = [f"b{i}" for i in range(1, brokers + 1)]
    consumer = mq.Consumer("C", on=names[-1], reads=Q)
    producer = mq.Producer("P", on=names[0], sends=messages, to=Q)
    return Work(ready(mq.artemis.Network(*map(mq.artemis.Broker, names)), consumer), (producer,))


# What grows: each with its sizes and what makes a run of one size


def consumers(count: int) -> Work:
    """Consumers of one queue."""
    readers = [mq.Consumer(f"C{i}", on="B", reads=Q) for i in range(count)]
    return Work(ready(mq.Network(mq.Broker("B")), *readers), (mq.Producer("P", on="B", sends=2_000, to=Q),))


def producers(count: int) -> Work:
    """Producers of one queue at once."""
    net, reader = mq.Network(mq.Broker("B")), mq.Consumer("C", on="B", reads=Q)
    senders = [
        mq.Producer(f"P{i}", on="B", sends=max(2_000 // count, 2), to=Q, in_background=True)
        for i in range(count)
    ]
    return Work(ready(net, reader), tuple(senders))


def groups(count: int) -> Work:
    """Message groups of one queue with three consumers."""
    readers = [mq.Consumer(f"C{i}", on="B", reads=Q) for i in range(3)]
    names = {"JMSXGroupID": [f"g{i}" for i in range(count)]}
    producer = mq.Producer("P", on="B", sends=max(2_000, 2 * count), to=Q, properties=names)
    return Work(ready(mq.Network(mq.Broker("B")), *readers), (producer,))


def subscriptions(count: int) -> Work:
    """Subscriptions of other queues, which a message does not concern."""
    work = chain(1_000, 2)
    others = [mq.Consumer(f"O{i}", on="B1", reads=mq.Queue(f"O{i}")) for i in range(count)]

    def begin() -> Any:
        lab = work.begin()
        for other in others:
            lab.do(other)
        lab.rest()
        return lab

    return Work(begin, work.actions)


@dataclass(frozen=True)
class Family:
    """A family of runs: how one is made, of how many messages, by which routes (none: no SimPy model)."""

    make: Callable[[int], Work]
    messages: int
    goal: float
    routes: Routes
    subscribers: int = 1


FAMILIES = {
    "chain of 4": Family(chain, 10_000, 0.35, [(0, 1, 2, 3)]),
    "hub and 20 spokes, 10 producers": Family(hub, 10_000, 0.3, [(1 + i, 0, 11 + i) for i in range(10)]),
    "mesh of 25, TTL 5": Family(mesh, 5_000, 0.33, [(0, 1, 2, 3, 4)]),
    "topic, 100 subscribers": Family(topic, 500, 0.3, [(0,)], 100),
    "failover (masterslave, crash, cut)": Family(failover, 1_000, 0.15, []),
    "OpenMQ, 3 brokers": Family(openmq, 2_000, 0.12, [(0, 1)]),
    "Artemis, 3 brokers": Family(artemis, 2_000, 0.15, [(0, 2)]),
}
GROWTH: dict[str, tuple[Callable[[int], Work], tuple[int, ...]]] = {
    "consumers of one queue": (consumers, (1, 10, 100, 1_000)),
    "producers at once": (producers, (1, 10, 100, 1_000)),
    "message groups": (groups, (10, 100, 1_000, 10_000)),
    "OpenMQ consumers of other queues": (lambda n: openmq(200, others=n), (1, 10, 30, 100)),
    "OpenMQ brokers": (lambda n: openmq(200, brokers=n), (2, 8, 16, 32)),
    "OpenMQ messages waiting": (lambda n: openmq(200, waiting=n), (100, 1_000, 3_000)),
    "Artemis brokers": (lambda n: artemis(200, brokers=n), (2, 8, 16, 32)),
    "failover clients": (lambda n: failover(40 * n, clients=n), (1, 10, 100, 300)),
    "subscriptions not concerned": (subscriptions, (1, 10, 100, 1_000)),
}
