"""Whom a network's connectors and clients reach: time-to-live, empty addresses, addresses of nobody.

A network is a question of its own: without clients every broker is held to be where one may come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.checks.example import Example, mended
from mqlab.checks.rule import Element, Found, rule
from mqlab.files.placeholders import missing
from mqlab.products.activemq.files.addresses import ANYWHERE, HERE
from mqlab.products.activemq.rules.context import CheckContext
from mqlab.products.activemq.rules.examples_at_rest import far, nobody, reads, row, sent
from mqlab.products.activemq.transport.multicast import group_of
from mqlab.spec import Consumer, Network, Producer
from mqlab.spec.clients import Client
from mqlab.spec.connector import HEARD
from mqlab.spec.graph import distances
from mqlab.spec.uri import Uri, parse, read
from mqlab.spec.values import Destination, overlap

TTL = "Fuse 2, Time-to-live"


@dataclass(frozen=True, slots=True)
class Place:
    """A consumer or producer, and the broker that it is on."""

    who: Consumer | Producer
    broker: str


@rule(
    "no-target",
    "error",
    finds="an address that leads to no broker",
    what="{uri} {what}",
    fix="{fix}",
    source="{source}",
    example=lambda: Example(sent(nobody(), reads()), sent(row("AB"), reads())),
)
def _no_target(context: CheckContext) -> Found:
    for link in context.links():
        for facts in _nowhere(context.network, link.connector.uri, link.broker.name):
            yield link.element, {**facts, **_other_port(context, link.connector.uri, link.broker.name)}
    for no, action in enumerate(context.actions, 1):
        if isinstance(action, Client):
            for facts in _nowhere(context.network, action.uri):
                where = Element(f"step {no}, client {action.name}")
                yield where, {**facts, **_other_port(context, action.uri)}


def _nowhere(network: Network, uri: str, home: str = "") -> Iterator[dict[str, str]]:
    """Yield what is wrong with an address that leads to no broker, the fix and the source."""
    if (address := read(uri)) is None:
        return  # whoever opens it says so
    leaves = address.leaves()
    names = [*network.names, *(line for line, _ in network.around.lines)]
    hosts = [leaf for leaf in leaves if leaf.scheme not in HEARD]
    if any(_host(leaf) in names for leaf in hosts) or "updateURIsURL" in uri:
        return
    if any(missing(_host(leaf)) for leaf in leaves):
        return  # the rule no-value says so
    source, files = "Fuse 4, Example 4.8", " of these files" if network.origin is not None else ""
    if len(leaves) > len(hosts):
        others = [b.transport.get("discovery_uri") for b in network.brokers if b.name != home]
        groups = {group_of(other): other for other in others if other}
        if any(group_of(leaf.text) in groups for leaf in leaves if leaf.scheme in HEARD):
            return
        what = f"expects brokers to advertise themselves, but no other{files} does: no broker is found"
        fix = "give the others' files, or give those a TransportConnector(discovery_uri=...)"
        if groups:
            there = " and ".join(groups.values())
            what = f"is another group than {there}, where the others advertise themselves: no broker is found"
            fix = "use one group in all addresses"
        source = "Fuse 1, Discovery"
    elif not any(map(_host, hosts)):
        what = "names no broker: it never connects"
        fix = f"use e.g. {'static' if home else 'failover'}:(tcp://{names[-1] if names else 'B'}:61616)"
    else:
        there = ", ".join(dict.fromkeys(_place(leaf) if network.origin else _host(leaf) for leaf in hosts))
        what = f"points to {there}, where there is no broker{files}: the connector retries forever"
        fix = f"use a broker of the network: {', '.join(names)}"
        if network.origin is not None:
            fix = f"give the file of the broker at {there}, or say who it is: hosts= (--hosts HOST=BROKER)"
    yield {"uri": uri, "what": what, "fix": fix, "source": source}


def _other_port(context: CheckContext, uri: str, home: str = "") -> dict[str, str]:
    """Return what is wrong where a broker of these files listens at just the host, or just on the port."""
    for leaf in parse(uri).leaves():
        there = {at.broker for at in context.book.listeners if at.host in ANYWHERE and at.port == leaf.port}
        there -= {home}  # nobody connects a broker to itself
        if len(there) == 1 and leaf.host:
            hosts = {leaf.host: (broker := there.pop())}
            return {
                "fix": f"if {broker} is at {leaf.host}, load with hosts={hosts} (--hosts {leaf.host}={broker})"
            }
        for at in context.book.listeners:
            if leaf.host not in (None, *HERE) and at.host == leaf.host and at.port is not None:
                what = f"points to {leaf.host}:{leaf.port}, but {at.broker} listens on port {at.port} there: "
                return {"what": what + "the connector retries forever", "fix": f"use port {at.port}"}
    return {}


def _place(leaf: Uri) -> str:
    return _host(leaf) + (f":{leaf.port}" if leaf.port is not None else "")


def _host(leaf: Uri) -> str:
    return leaf.host or leaf.path or ""


@rule(
    "ttl-short",
    "error",
    finds="a consumer farther away than the TTL at its producer",
    what="its distance from producer {producer} at {home} is {hops}, but the TTL there is {reach}: "
    "messages get stuck on the route or never leave",
    fix="set networkTTL to {hops} on every connector along the route",
    source=TTL,
    see="activemq/hops_and_ttl/chain4_default_ttl",
    example=lambda: mended(far(), {"*/*": {"network_ttl": 2}}),
)
def _ttl_short(context: CheckContext) -> Found:
    """Consumers of a producer's destination that lie farther than the TTL of the first hop."""
    consumers = list(_places(context, Consumer))
    for producer in _places(context, Producer):
        away, reach = _around(context.network, producer.broker)
        facts = {"producer": producer.who.name, "home": producer.broker, "reach": reach}
        for consumer in consumers:
            hops = away.get(consumer.broker, 0)
            if hops and 0 <= reach < hops and meet(consumer.who, producer.who):
                who = Element(f"consumer {consumer.who.name} at {consumer.broker}")
                yield who, {**facts, "hops": hops}


@rule(
    "ttl-distance",
    "warning",
    finds="a TTL below the distance of the farthest broker",
    what="the distance to {far} is {hops}, but the TTL here is {reach}: messages sent here never reach {end}",
    fix="set networkTTL to {hops} on every connector along the route",
    source=TTL,
    see="activemq/hops_and_ttl/chain4_default_ttl",
    example=lambda: mended(far(), {"*/*": {"network_ttl": 2}}),
)
def _ttl_distance(context: CheckContext) -> Found:
    if any(_places(context, Producer)):
        return
    consumers = list(_places(context, Consumer))
    for name in context.network.names:
        away, reach = _around(context.network, name)
        ends = [(place.broker, f"consumer {place.who.name}") for place in consumers]
        ends = ends or [(other, "a consumer there") for other in away]
        farthest, end = max(ends, key=lambda one: away.get(one[0], 0), default=(name, ""))
        hops = away.get(farthest, 0)
        if 0 < reach < hops:
            yield context.broker(name), {"far": farthest, "hops": hops, "reach": reach, "end": end}


def meet(consumer: Consumer | Producer, producer: Consumer | Producer) -> bool:
    """Whether one reads what the other sends."""
    ends = [who.reads if isinstance(who, Consumer) else who.to for who in (consumer, producer)]
    return overlapping(*ends)


def overlapping(one: Destination, other: Destination) -> bool:
    """Whether some destination is among both."""
    return any(a.kind == b.kind and overlap(a.name, b.name) for a in one.elements() for b in other.elements())


def _around(network: Network, name: str) -> tuple[dict[str, int], int]:
    """Return how far each broker is from one, and the TTL of its first hop (-1: no limit)."""
    ttls = [
        int(connector.get("message_ttl", network.edition))
        for broker, connector in network.connectors()
        if broker.name == name or (connector.get("duplex", network.edition) and name in connector.targets)
    ]
    unlimited = -1 in ttls and network.edition != "5.5"
    return distances(network, name), -1 if unlimited else max(ttls, default=0)


def _places(context: CheckContext, kind: type[Consumer] | type[Producer]) -> Iterator[Place]:
    """Yield who is where: on a broker, or on a client, which is on the first broker of its address."""
    homes = {name: name for name in context.network.names}
    for action in context.actions:
        if isinstance(action, Client):
            hosts = map(_host, action.address.leaves() if action.address is not None else ())
            first = next((host for host in hosts if host in context.network.names), None)
            if first is not None:
                homes[action.name] = first
        elif isinstance(action, kind) and action.on in homes:
            yield Place(action, homes[action.on])
