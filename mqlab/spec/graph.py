"""A network as a graph: neighbours, distance, diameter (Fuse 2, "Overview of topologies")."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, MissingExtra, UnknownName, shown
from mqlab.spec.calls import fitting
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.json_types import JsonDict
from mqlab.spec.network import Broker, Network
from mqlab.spec.option import DEFAULT_EDITION
from mqlab.spec.options import TITLES
from mqlab.spec.scenario import AnyNetwork

if TYPE_CHECKING:
    import networkx


def neighbours(network: Network) -> dict[str, tuple[str, ...]]:
    """Return broker -> the brokers that messages can go to from it in one hop."""
    found: dict[str, dict[str, None]] = {name: {} for name in network.names}
    for broker, connector in network.connectors():
        for target in (name for name in connector.targets if name in found):
            found[broker.name][target] = None
            if connector.get("duplex", network.edition):
                found[target][broker.name] = None
    return {name: tuple(targets) for name, targets in found.items()}


def distances(network: Network, start: str) -> dict[str, int]:
    """Return the least number of hops from *start* to each broker that can be reached."""
    if start not in network.names:
        raise UnknownName.of("broker", start, network.names)
    return _distances(neighbours(network), start)


def way_round(onward: Mapping[str, tuple[str, ...]], start: str, end: str) -> int:
    """Return the least hops from *start* to its neighbour *end* by other brokers; 0 if no way leads there.

    >>> way_round({"A": ("B", "C"), "B": ("A", "C"), "C": ("A", "B")}, "A", "B")
    2
    """
    others = tuple(there for there in onward[start] if there != end)
    return _distances({**onward, start: others}, start).get(end, 0)


def _distances(onward: Mapping[str, tuple[str, ...]], start: str) -> dict[str, int]:
    found, queue = {start: 0}, deque([start])
    while queue and len(found) < len(onward):  # of a complete graph one broker tells all
        here = queue.popleft()
        for there in onward[here]:
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


def diameter(network: Network) -> int:
    """Return the largest distance between two brokers of which one can reach the other."""
    return longest(neighbours(network))


def longest(onward: Mapping[str, tuple[str, ...]]) -> int:
    """Return the largest distance between two of those that *onward* joins: each with whom it leads to."""
    return max((max(_distances(onward, name).values()) for name in onward), default=0)


@fitting
def to_networkx(network: Network) -> networkx.MultiDiGraph[str]:
    """Return a network as a graph of networkx: brokers are nodes, possible message routes are edges.

    Nodes and edges carry the options that were written; a node its place `at`, if it has one, an edge its
    `connector` (such as ``A/ab``), which a duplex one has in both directions. `from_networkx` leads back.
    Raises `MissingExtra` without networkx, `BadValue` for what is no network of ActiveMQ brokers.
    """
    if not isinstance(network, Network):
        if isinstance(network, AnyNetwork):
            told = f"brokers of {TITLES[network.product]} have no network connectors, each is linked to each"
            raise BadValue(f"to_networkx: {told}; use networkx.complete_graph({[*network.names]})")
        raise BadValue(f"to_networkx takes a network, not {shown(network)}; use e.g. mq.hub(3)")
    with MissingExtra.told("lab"):
        import networkx
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    for broker in network.brokers:
        graph.add_node(broker.name, **broker.options, **({"at": broker.at} if broker.at else {}))
    for broker, connector in network.connectors():
        duplex = connector.get("duplex", network.edition)
        for target in (name for name in connector.targets if name in network.names):
            ways = ((broker.name, target), (target, broker.name))
            for here, there in ways if duplex else ways[:1]:
                graph.add_edge(here, there, connector=f"{broker.name}/{connector.name}", **connector.options)
    return graph


@fitting
def from_networkx(graph: networkx.Graph[str], *, edition: str = DEFAULT_EDITION, **options: object) -> Network:
    """Return the network of a graph of networkx: nodes are brokers, edges network connectors.

    A directed edge leads messages from its first node to its second; an edge without a direction is a duplex
    connector, defined at its first node. Attributes of nodes are options of brokers, those of edges options of
    connectors; *options* are for all connectors that do not say otherwise. What `to_networkx` made comes back.
    Raises `BadValue` or `UnknownName` for what no network can have.

    >>> import networkx
    >>> net = from_networkx(networkx.Graph([("A", "B"), ("B", "C")]), network_ttl=2)
    >>> net.connectors()[1][1]
    NetworkConnector('B-C', uri='static:(tcp://C:61616)', network_ttl=2, duplex=True)
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise BadValue(f"{shown(graph)} is not a graph of networkx; use e.g. networkx.Graph([('A', 'B')])")
    for node in graph.nodes:
        if not isinstance(node, str):
            raise BadValue(f"node {shown(node)} is not a string; use networkx.relabel_nodes(graph, str)")
    found: dict[str, dict[str, _Drawn]] = {node: {} for node in graph.nodes}
    for here, there, attributes in graph.edges(data=True):
        if here == there:
            raise BadValue(
                f"edge {here} - {there}: a broker has no network connector to itself; remove the edge"
            )
        given = {**({} if graph.is_directed() else {"duplex": True}), **options, **attributes}
        home, name = _place(found, here, there, given.pop("connector", None))
        known = found[home].setdefault(name, _Drawn([], given))
        if home != here and not given.get("duplex"):
            raise BadValue(
                f"edge {here} - {there}: {home}/{name} is not duplex and leads the other way; add duplex=True"
            )
        if home == here:
            known.targets.append(there)
    brokers = []
    for node, given in graph.nodes(data=True):
        made = (
            NetworkConnector(
                name, f"static:({','.join(f'tcp://{to}:61616' for to in one.targets)})", **one.options
            )
            for name, one in found[node].items()
        )
        brokers.append(Broker(node, *made, **given))
    return Network(*brokers, edition=edition)


@dataclass(frozen=True, slots=True)
class _Drawn:
    targets: list[str]
    options: JsonDict


def _place(found: Mapping[str, Mapping[str, object]], here: str, there: str, named: object) -> tuple[str, str]:
    """Return whose connector an edge is, and its name: what the edge says, or else one that is free."""
    if named is not None:
        home, slash, name = str(named).partition("/")
        if not slash or home not in (here, there):
            raise BadValue(
                f"edge {here} - {there}: connector is {shown(named)}; expected e.g. '{here}/{here}-{there}'"
            )
        return home, name
    number, name = 1, f"{here}-{there}"
    while name in found[here]:
        number += 1
        name = f"{here}-{there}-{number}"
    return here, name
