"""The guides' topologies as networks of any product: what `mq.hub(4)`, `mq.chain(3)` and the others return.

Sources: Fuse 2, "Overview of topologies"; Technical Overview 4 (an OpenMQ cluster is fully connected);
AMQ Broker 7.1, clusters (static connectors and max-hops).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mqlab.errors import BadValue, UnknownName
from mqlab.spec import artemis, openmq, topology
from mqlab.spec.artemis.broker import Broker as ArtemisBroker
from mqlab.spec.json_types import JsonObject
from mqlab.spec.scenario import AnyNetwork
from mqlab.spec.topology import Pairs

PRODUCTS = ("activemq", "openmq", "artemis")
SHAPES: dict[str, Callable[..., tuple[list[str], Pairs]]] = {
    "hub": lambda spokes: topology.hub_and_spokes(spokes + 1),
    "chain": topology.chain,
    "ring": topology.ring,
    "tree": topology.tree,
    "mesh": topology.mesh,
    "complete": topology.complete_graph,
    "regions": lambda *brokers: topology.regions(brokers),
}


def made(shape: str, sizes: Sequence[int], product: str, options: JsonObject) -> AnyNetwork:
    """Return a network of *product* of one of the `SHAPES`, in which every broker reaches every other.

    *options* are those of each network connector (ActiveMQ) or of the network (OpenMQ, Artemis).
    Raises `UnknownName` for another product, `BadValue` for a shape that an OpenMQ cluster cannot have.
    """
    names, pairs = SHAPES[shape](*sizes)
    if product == "activemq":
        return topology.connected(names, pairs, **options)
    if product == "openmq":
        if len(pairs) < len(names) * (len(names) - 1) // 2:
            raise BadValue(
                f"{shape}: the brokers of an OpenMQ cluster are all connected to each other; "
                f"use mq.complete({len(names)}, product='openmq')"
            )
        model = {} if "model" in options else {"model": "master", "master": names[0]}
        return openmq.Network(*names, **{**model, **options})
    if product == "artemis":
        hops = topology.most_hops(names, pairs)
        joined = {name: sorted({*_others(name, pairs)}, key=names.index) for name in names}
        brokers = (ArtemisBroker(name, to=joined[name]) for name in names)
        return artemis.Network(*brokers, **{"max_hops": hops, **options})
    raise UnknownName.of("product", product, PRODUCTS)


def _others(name: str, pairs: Pairs) -> list[str]:
    return [b if a == name else a for a, b in pairs if name in (a, b)]
