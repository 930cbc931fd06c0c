"""Networks by their shape: `mq.hub(4)`, `mq.chain(3)`, `mq.regions(3, 2)`, for every product.

Each takes `product` ("activemq", "openmq" or "artemis") and options: of all network connectors for ActiveMQ, of
the network for OpenMQ and Artemis. Connectors are duplex, their TTL is the diameter, and where a network has
several routes the shortest one is used, unless options say otherwise (Fuse 2, "Overview of topologies").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.errors import BadValue
from mqlab.spec.calls import fit
from mqlab.spec.shape import whole

if TYPE_CHECKING:
    from mqlab.spec.scenario import AnyNetwork

MOST_BROKERS = 10_000  # each with its connectors


def _made(
    shape: str, what: str, sizes: tuple[int, ...], product: str, options: dict[str, object], least: int = 1
) -> AnyNetwork:
    """Return a network of a shape; *sizes* are counts of *what* it has, none of them below *least*."""
    from mqlab.products import topologies

    for size in sizes:
        whole(least, MOST_BROKERS).check(size, f"{shape}: {what}")
    return topologies.made(shape, sizes, product, options)


def hub(spokes: int, *, product: str = "activemq", **options: object) -> AnyNetwork:
    """Return a broker called hub, and *spokes* brokers around it: S1, S2 and so on.

    >>> import mqlab as mq
    >>> mq.hub(3).names
    ('hub', 'S1', 'S2', 'S3')
    """
    return _made("hub", "spokes", (spokes,), product, options)


def chain(brokers: int, *, product: str = "activemq", **options: object) -> AnyNetwork:
    """Return brokers in a row: B1, B2 and so on.

    >>> import mqlab as mq
    >>> mq.chain(4).names
    ('B1', 'B2', 'B3', 'B4')
    """
    return _made("chain", "brokers", (brokers,), product, options)


def ring(brokers: int, *, product: str = "activemq", **options: object) -> AnyNetwork:
    """Return brokers in a circle: R1, R2 and so on."""
    return _made("ring", "brokers", (brokers,), product, options, 2)


def tree(brokers: int, *, product: str = "activemq", **options: object) -> AnyNetwork:
    """Return a root T1 with two branches at every broker."""
    return _made("tree", "brokers", (brokers,), product, options)


def mesh(brokers: int, *, product: str = "activemq", **options: object) -> AnyNetwork:
    """Return rows of brokers, each connected to its neighbours: M11, M12 and so on."""
    return _made("mesh", "brokers", (brokers,), product, options)


def complete(brokers: int, *, product: str = "activemq", **options: object) -> AnyNetwork:
    """Return brokers each connected to every other: K1, K2 and so on.

    >>> import mqlab as mq
    >>> mq.complete(3, product="openmq").names
    ('K1', 'K2', 'K3')
    """
    return _made("complete", "brokers", (brokers,), product, options)


def regions(*brokers: int, product: str = "activemq", **options: object) -> AnyNetwork:
    """Return one group of so many *brokers* each, fully connected; their first brokers connect the groups.

    >>> import mqlab as mq
    >>> mq.regions(2, 3).names
    ('G1.1', 'G1.2', 'G2.1', 'G2.2', 'G2.3')
    """
    if not brokers:
        raise BadValue("regions: pass the number of brokers of each region, e.g. mq.regions(3, 2)")
    return _made("regions", "brokers", brokers, product, options)


fit(globals())
