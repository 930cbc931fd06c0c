"""Bytes that crossed lines between brokers: the size that a step says, for each message on each line."""

import pytest

import mqlab as mq
from mqlab.experiments.plan import measures
from mqlab.spec import topology

Q, T = mq.Queue("Q"), mq.Topic("T")
CHAIN = topology.network("chain", 3)


def sends(name="P", on="B1", count=4, to=Q, **how):
    return mq.Producer(name, on=on, sends=count, to=to, **how)


RUNS = {
    "two lines each": ((mq.Consumer("C", on="B3", reads=Q), sends(size=5000)), 2 * 4 * 5000),
    "a size that nobody says": ((mq.Consumer("C", on="B2", reads=Q), sends()), 4 * 1024),
    "nobody there": ((sends(size=5000),), 0),
    "a copy for each subscriber's broker": (
        (mq.Consumer("C", on="B1", reads=T), mq.Consumer("D", on="B3", reads=T), sends(on="B2", to=T, size=10)),
        2 * 4 * 10,
    ),
    "two producers": (
        (mq.Consumer("C", on="B2", reads=Q), sends(size=10), sends("R", count=3, size=100)), 4 * 10 + 3 * 100,
    ),
    "a client's": (
        (mq.Client("k", uri="tcp://B1:61616"), mq.Consumer("C", on="B2", reads=Q), sends(on="k", size=7)),
        4 * 7,
    ),
    "one producer, several sizes": (
        (mq.Consumer("C", on="B2", reads=Q), sends(size=10), sends(size=100)), None,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_bytes_are_counted_on_each_line(name):
    actions, wanted = RUNS[name]
    assert measures(mq.run(CHAIN, *actions))["bytes"] == wanted


@pytest.mark.parametrize("product", [mq.openmq, mq.artemis])
def test_other_products_say_sizes_too(product):
    network = product.Network(product.Broker("A"), product.Broker("B"))
    actions = mq.Consumer("C", on="B", reads=Q), mq.Producer("P", on="A", sends=3, to=Q, size=50)
    assert measures(mq.run(network, *actions))["bytes"] == 3 * 50
