"""Whom a network's connectors and clients reach: time-to-live, empty addresses, addresses of nobody.

A network is a question of its own: without clients every broker is held to be where one may come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.errors import UriError
from mqlab.spec import Consumer, Network, Producer, Scenario
from mqlab.spec.clients import Client
from mqlab.spec.graph import distances
from mqlab.spec.network import HEARD
from mqlab.spec.problem import Problem
from mqlab.spec.uri import Uri, parse
from mqlab.spec.values import Destination, overlap

TTL = "Fuse 2, Time-to-live"
DISCOVERY, FAILOVER = "Fuse 1, Discovery", "Fuse 4, Example 4.8"


@dataclass(frozen=True, slots=True)
class Place:
    """A consumer or producer, and the broker that it is on."""

    who: Consumer | Producer
    broker: str


def check(scenario: Scenario) -> Iterator[Problem]:
    """Yield the problems of reach, those of addresses first.

    >>> import mqlab as mq
    >>> connector = mq.NetworkConnector.as_written("nobody", "static:()")
    >>> net = mq.Network(mq.Broker("A", connector))
    >>> [problem.rule for problem in check(mq.Scenario(net, ()))]
    ['no-target']
    """
    yield from _connectors(scenario.network)
    yield from _clients(scenario)
    yield from _time_to_live(scenario)


def _connectors(network: Network) -> Iterator[Problem]:
    for broker, connector in network.connectors():
        where = f"{broker.name}/{connector.name}"
        for what, remedy, source in _nowhere(network, connector.uri, broker.name):
            yield Problem("no-target", "error", where, what, remedy, source)


def _clients(scenario: Scenario) -> Iterator[Problem]:
    for no, action in enumerate(scenario.actions, 1):
        if isinstance(action, Client):
            for what, remedy, source in _nowhere(scenario.network, action.uri):
                where = f"step {no}, client {action.name}"
                yield Problem("no-target", "error", where, what, remedy, source)


def _nowhere(network: Network, uri: str, home: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong with an address by which nobody is found, what to write, and the source."""
    try:
        leaves = parse(uri).leaves()
    except UriError:
        return  # whoever opens it says so
    names = [*network.names, *(line for line, _ in network.around.lines)]
    hosts = [leaf for leaf in leaves if leaf.scheme not in HEARD]
    if any(_host(leaf) in names for leaf in hosts) or "updateURIsURL" in uri:
        return
    if len(leaves) > len(hosts):
        told = any(b.transport.get("discovery_uri") for b in network.brokers if b.name != home)
        if not told:
            yield (f"{uri} waits for brokers that announce themselves, and none does: nobody is found",
                   "give the others a TransportConnector(discovery_uri=...)", DISCOVERY)  # fmt: skip
    elif not hosts or not any(map(_host, hosts)):
        yield (f"{uri} names no broker: it never connects",
               f"write for example static:(tcp://{names[-1] if names else 'B'}:61616)", FAILOVER)  # fmt: skip
    else:
        there = ", ".join(dict.fromkeys(map(_host, hosts)))
        yield (f"{uri} leads to {there}, where no broker is: it is tried for ever",
               f"write a broker of the network: {', '.join(names)}", FAILOVER)  # fmt: skip


def _host(leaf: Uri) -> str:
    return leaf.host or leaf.path or ""


def _time_to_live(scenario: Scenario) -> Iterator[Problem]:
    consumers = list(_places(scenario, Consumer))
    producers = list(_places(scenario, Producer))
    for producer in producers:
        yield from _too_far(scenario.network, producer, consumers)
    if producers:
        return
    for name in scenario.network.names:
        away, reach = _around(scenario.network, name)
        ends = [(place.broker, f"consumer {place.who.name}") for place in consumers]
        ends = ends or [(other, "a consumer there") for other in away]
        far = max(ends, key=lambda end: away.get(end[0], 0), default=(name, ""))
        hops = away.get(far[0], 0)
        if 0 < reach < hops:
            yield Problem(
                "ttl-distance", "warning", f"broker {name}",
                f"{far[0]} is {hops} hops away, and the TTL here is {reach}: what is sent here never "
                f"comes to {far[1]}",
                f"set networkTTL to {hops} on every connector of the way", TTL,
            )  # fmt: skip


def _too_far(network: Network, producer: Place, consumers: list[Place]) -> Iterator[Problem]:
    """Yield each consumer of a producer's destination that lies farther than the TTL of the first hop."""
    away, reach = _around(network, producer.broker)
    for consumer in consumers:
        hops = away.get(consumer.broker, 0)
        if hops and 0 <= reach < hops and meet(consumer.who, producer.who):
            yield Problem(
                "ttl-short", "error", f"consumer {consumer.who.name} at {consumer.broker}",
                f"it is {hops} hops from producer {producer.who.name} at {producer.broker}, and the "
                f"TTL there is {reach}: messages strand on the way or never leave",
                f"set networkTTL to {hops} on every connector of the way", TTL,
            )  # fmt: skip


def meet(consumer: Consumer | Producer, producer: Consumer | Producer) -> bool:
    """Whether one reads what the other sends."""
    ends = [who.reads if isinstance(who, Consumer) else who.to for who in (consumer, producer)]
    return overlapping(*ends)


def overlapping(one: Destination, other: Destination) -> bool:
    """Whether some destination is among both."""
    return any(
        a.kind == b.kind and overlap(a.name, b.name)
        for a in one.elements() for b in other.elements()
    )  # fmt: skip


def _around(network: Network, name: str) -> tuple[dict[str, int], int]:
    """Return how far each broker is from one, and the TTL of its first hop (-1: no limit)."""
    ttls = [
        int(connector.get("message_ttl", network.edition)) for broker, connector in network.connectors()
        if broker.name == name
        or (connector.get("duplex", network.edition) and name in connector.targets)
    ]  # fmt: skip
    unlimited = -1 in ttls and network.edition != "5.5"
    return distances(network, name), -1 if unlimited else max(ttls, default=0)


def _places(scenario: Scenario, kind: type[Consumer] | type[Producer]) -> Iterator[Place]:
    """Yield who is where: on a broker, or on a client, which is on the first broker of its address."""
    homes = {name: name for name in scenario.network.names}
    for action in scenario.actions:
        if isinstance(action, Client):
            try:
                hosts = map(_host, parse(action.uri).leaves())
            except UriError:
                continue
            first = next((host for host in hosts if host in scenario.network.names), None)
            if first is not None:
                homes[action.name] = first
        elif isinstance(action, kind) and action.on in homes:
            yield Place(action, homes[action.on])
