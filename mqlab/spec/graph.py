"""A network as a graph: neighbours, distance, diameter (Fuse 2, "Overview of topologies")."""

from __future__ import annotations

from collections import deque

from mqlab.errors import UnknownName
from mqlab.spec.network import Network


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
    onward, found, queue = neighbours(network), {start: 0}, deque([start])
    while queue:
        here = queue.popleft()
        for there in onward[here]:
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


def diameter(network: Network) -> int:
    """Return the largest distance between two brokers of which one can reach the other."""
    return max((max(distances(network, name).values()) for name in network.names), default=0)
