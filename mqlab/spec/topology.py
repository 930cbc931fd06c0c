"""The guides' topologies as networks of any size (Fuse 2, "Overview of topologies")."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from math import ceil, sqrt
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, UnknownName
from mqlab.spec import graph
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.foretold import foretold
from mqlab.spec.network import Broker, Network
from mqlab.spec.plural import counted

if TYPE_CHECKING:
    from typing import Unpack

    from mqlab.spec.options.types import NetworkConnectorOptions

Pairs = list[tuple[str, str]]

# Where there are several routes to one consumer, the guides' advice (Fuse 2, "Finding the
# shortest route"): without it every route is a subscription of its own, and routes multiply.
SHORTEST: NetworkConnectorOptions = {
    "decrease_network_consumer_priority": True,
    "suppress_duplicate_queue_subscriptions": True,
}


def hub_and_spokes(size: int) -> tuple[list[str], Pairs]:
    """Return a hub and *size* - 1 spokes."""
    names = ["hub", *(f"S{i}" for i in range(1, size))]
    return names, [(name, "hub") for name in names[1:]]


def chain(size: int) -> tuple[list[str], Pairs]:
    """Return brokers in a row."""
    names = [f"B{i}" for i in range(1, size + 1)]
    return names, list(itertools.pairwise(names))


def tree(size: int) -> tuple[list[str], Pairs]:
    """Return a root with two branches at every broker."""
    names = [f"T{i}" for i in range(1, size + 1)]
    return names, [(names[i], names[(i - 1) // 2]) for i in range(1, size)]


def mesh(size: int) -> tuple[list[str], Pairs]:
    """Return rows of brokers, each joined to its neighbours."""
    across = ceil(sqrt(size))
    names = [f"M{i // across + 1}{i % across + 1}" for i in range(size)]
    if across > 9:
        names = [f"M{i // across + 1}.{i % across + 1}" for i in range(size)]
    right = [(i, i + 1) for i in range(size - 1) if (i + 1) % across]
    down = [(i, i + across) for i in range(size - across)]
    return names, [(names[a], names[b]) for a, b in [*right, *down]]


def complete_graph(size: int) -> tuple[list[str], Pairs]:
    """Return brokers each joined to every other."""
    names = [f"K{i}" for i in range(1, size + 1)]
    return names, [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]


def ring(size: int) -> tuple[list[str], Pairs]:
    """Return brokers in a circle."""
    names = [f"R{i}" for i in range(1, size + 1)]
    return names, [*itertools.pairwise(names), *([(names[-1], names[0])] if size > 2 else [])]


def regions(sizes: Sequence[int]) -> tuple[list[str], Pairs]:
    """Return groups of brokers, each fully connected; the first brokers of all groups are, too."""
    groups = [[f"G{no}.{i}" for i in range(1, size + 1)] for no, size in enumerate(sizes, 1)]
    inside = [pair for group in groups for pair in itertools.combinations(group, 2)]
    return [name for group in groups for name in group], [
        *inside,
        *itertools.combinations([group[0] for group in groups], 2),
    ]


def concentrator(size: int) -> tuple[list[str], Pairs]:
    """Return a wide first layer, each of which is joined to all of a narrow second one."""
    narrow = max(1, size // 3)
    first = [f"P{i}" for i in range(1, size - narrow + 1)]
    second = [f"C{i}" for i in range(1, narrow + 1)]
    return [*first, *second], [(a, b) for a in first for b in second]


TOPOLOGIES: dict[str, Callable[[int], tuple[list[str], Pairs]]] = {
    "hub and spokes": hub_and_spokes,
    "chain": chain,
    "tree": tree,
    "mesh": mesh,
    "complete graph": complete_graph,
    "concentrator": concentrator,
}


def network(topology: str, size: int) -> Network:
    """Return a network of that shape with *size* brokers and a TTL of its diameter.

    Raises `UnknownName` for another topology, `BadValue` for a size below 2.
    """
    if topology not in TOPOLOGIES:
        raise UnknownName.of("topology", topology, TOPOLOGIES)
    if size < 2:
        raise BadValue(f"a {topology} of {size}: write 2 or more brokers")
    names, pairs = TOPOLOGIES[topology](size)
    return connected(names, pairs, duplex=topology != "concentrator")


def connected(names: list[str], pairs: Pairs, **options: Unpack[NetworkConnectorOptions]) -> Network:
    """Return brokers with a connector for each of the *pairs*, by default duplex.

    Unless *options* say otherwise the TTL is the diameter; of several routes the shortest is used.
    """
    cyclic = len(pairs) >= len(names)
    own = not {"message_ttl", "consumer_ttl"}.isdisjoint(options)
    given: NetworkConnectorOptions = {"duplex": True, **(SHORTEST if cyclic else {}), **options}

    def joined(here: str, there: str, options: NetworkConnectorOptions) -> NetworkConnector:
        return NetworkConnector(f"{here}_to_{there}", uri=f"static:(tcp://{there}:61616)", **options)

    hops = most_hops(names, pairs, all(joined(*pair, given).get("duplex") for pair in pairs[:1]))
    ttls: NetworkConnectorOptions = (
        {"message_ttl": hops, "consumer_ttl": hops} if own else {"network_ttl": hops}
    )
    with_ttl: NetworkConnectorOptions = {**ttls, **given}
    found: dict[str, list[NetworkConnector]] = {name: [] for name in names}
    size = f"{counted(len(names), 'broker')} with {counted(len(pairs), 'connector')}"
    for here, there in foretold(pairs, size):
        found[here].append(joined(here, there, with_ttl))
    return Network(*(Broker(name, *connectors) for name, connectors in found.items()))


def most_hops(names: list[str], pairs: Pairs, duplex: bool = True) -> int:
    """Return the most hops that a message takes between two brokers that *pairs* join, 1 at least."""
    onward: dict[str, dict[str, None]] = {name: {} for name in names}
    for here, there in pairs:
        onward[here][there] = None
        if duplex:
            onward[there][here] = None
    return max(1, graph.longest({name: tuple(targets) for name, targets in onward.items()}))
