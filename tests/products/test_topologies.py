"""Networks by their shape, of every product: each is connected, and a message reaches the farthest broker."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName

Q = mq.Queue("Q")
SHAPES = {
    "hub": (mq.hub, (3,), 4),
    "chain": (mq.chain, (4,), 4),
    "ring": (mq.ring, (5,), 5),
    "tree": (mq.tree, (6,), 6),
    "mesh": (mq.mesh, (6,), 6),
    "complete": (mq.complete, (4,), 4),
    "regions": (mq.regions, (2, 3, 1), 6),
}


@pytest.mark.parametrize("product", ["activemq", "artemis"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_message_crosses_the_whole_network(shape, product):
    make, sizes, count = SHAPES[shape]
    net = make(*sizes, product=product)
    assert len(net.names) == count
    first, last = net.names[0], net.names[-1]
    actions = mq.Consumer("C", on=last, reads=Q), mq.Producer("P", on=first, sends=5, to=Q)
    assert mq.run(net, *actions).received() == {"C": 5}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_openmq_cluster_is_complete(shape):
    make, sizes, count = SHAPES[shape]
    if shape == "complete":
        net = make(*sizes, product="openmq", model="enhanced")
        assert net.model == "enhanced"
        actions = mq.Consumer("C", on="K4", reads=Q), mq.Producer("P", on="K1", sends=5, to=Q)
        assert mq.run(net, *actions).received() == {"C": 5}
    else:
        with pytest.raises(BadValue, match=rf"use mq\.complete\({count}, product='openmq'\)"):
            make(*sizes, product="openmq")


def test_options_are_those_of_every_connector():
    net = mq.hub(2, conduit_subscriptions=False, network_ttl=1, duplex=False)
    for _, connector in net.connectors():
        assert (connector.conduit_subscriptions, connector.network_ttl, connector.duplex) == (False, 1, False)
    assert mq.ring(4).connectors()[0][1].suppress_duplicate_queue_subscriptions
    with pytest.raises(UnknownName, match="conduit"):
        mq.chain(2, conduits=False)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: mq.hub(0), "hub: spokes is 0; expected a whole number, 1 to 10000"),
        (lambda: mq.chain("3"), "chain: brokers is '3'; expected a whole number"),
        (lambda: mq.ring(1), "ring: brokers is 1; expected a whole number, 2 to 10000"),
        (lambda: mq.regions(), "pass the number of brokers of each region"),
        (lambda: mq.regions(2, True), "regions: brokers is True"),
    ],
)
def test_sizes_that_cannot_be(make, told):
    with pytest.raises(BadValue, match=told.replace("(", r"\(")):
        make()


def test_another_product_is_an_error():
    with pytest.raises(UnknownName, match="activemq"):
        mq.hub(2, product="activmq")
