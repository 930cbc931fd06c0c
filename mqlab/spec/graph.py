"""A network as a graph: neighbours, distance, diameter (Fuse 2, "Overview of topologies")."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqlab.errors import MissingExtra, UnknownName
from mqlab.spec.network import Network

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
    while queue:
        here = queue.popleft()
        for there in onward[here]:
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


def diameter(network: Network) -> int:
    """Return the largest distance between two brokers of which one can reach the other."""
    onward = neighbours(network)
    return max((max(_distances(onward, name).values()) for name in onward), default=0)


def to_networkx(network: Network) -> networkx.MultiDiGraph[str]:
    """Return a network as a graph of networkx: brokers are nodes, possible message routes are edges.

    Nodes and edges carry the options that were written; an edge also its `connector` (such as
    ``A/ab``), which a duplex one has in both directions. Raises `MissingExtra` without networkx.
    """
    try:
        import networkx
    except ImportError:
        raise MissingExtra.of("networkx", "lab") from None
    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    for broker in network.brokers:
        graph.add_node(broker.name, **broker.options)
    for broker, connector in network.connectors():
        duplex = connector.get("duplex", network.edition)
        for target in (name for name in connector.targets if name in network.names):
            ways = ((broker.name, target), (target, broker.name))
            for here, there in ways if duplex else ways[:1]:
                graph.add_edge(here, there, connector=f"{broker.name}/{connector.name}", **connector.options)
    return graph
