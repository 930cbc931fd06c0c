"""A run whose events go to files keeps what is in the network, not what has been there."""

import gc
import tracemalloc

import pytest

import mqlab as mq
from mqlab import products
from mqlab.products.activemq.broker.message_audit import DEPTH, PRODUCERS, MessageAudit
from mqlab.products.inputs import scenario_of
from mqlab.spec import topology

Q, T = mq.Queue("Q"), mq.Topic("T")
PAIR = topology.network("chain", 2)


def sends(count, on="B1", to=Q, **how):
    return mq.Producer("P", on=on, sends=count, to=to, every="1ms", **how)


def by_clients(count, mode):
    clients = [mq.Client(name, uri=f"failover:(tcp://{at}:61616)") for name, at in (("a", "B1"), ("b", "B2"))]
    return (PAIR, *clients, mq.Consumer("C", on="b", reads=Q, ack_mode=mode), sends(count, on="a"))


RUNS = {
    "queue": lambda n: (PAIR, mq.Consumer("C", on="B2", reads=Q), sends(n)),
    "wildcard": lambda n: (PAIR, mq.Consumer("C", on="B2", reads=mq.Queue(">")), sends(n)),
    "durable topic": lambda n: (
        PAIR, mq.Consumer("C", on="B2", reads=T, durable=True), sends(n, to=T),
    ),
    "audit of networks": lambda n: (
        PAIR.change("*", audit_network_producers=True), mq.Consumer("C", on="B2", reads=Q), sends(n),
    ),
    "clients in time": lambda n: by_clients(n, "auto"),
    "clients in time, one by one": lambda n: by_clients(n, "client"),
    "openmq": lambda n: (
        mq.openmq.Network(mq.openmq.Broker("A"), mq.openmq.Broker("B")),
        mq.Consumer("C", on="B", reads=Q), mq.Producer("P", on="A", sends=n, to=Q),
    ),
    "artemis": lambda n: (
        mq.artemis.Network(mq.artemis.Broker("A"), mq.artemis.Broker("B")),
        mq.Consumer("C", on="B", reads=Q), mq.Producer("P", on="A", sends=n, every="1ms", to=Q),
    ),
}  # fmt: skip


class Nowhere:
    """Who takes the columns of a long run, and lets them go."""

    full = 1 << 13

    def take(self, columns):
        pass


def kept(what):
    """Return how many bytes a lab that has played keeps, its notebook aside."""
    lab = products.lab_of(scenario_of(*what), limit=10**7)
    lab.recorder.taker = Nowhere()
    tracemalloc.start()
    try:
        lab.play()
        gc.collect()
        found = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    runtime = [tracemalloc.Filter(True, f"*/mqlab/{room}/*") for room in ("engine", "products")]
    return sum(line.size for line in found.filter_traces(runtime).statistics("filename"))


@pytest.mark.parametrize("name", RUNS)
def test_memory_does_not_grow_with_messages_that_are_gone(name):
    few, many = 200, 1200
    kept(RUNS[name](few))  # what is made once
    grown = kept(RUNS[name](many)) - kept(RUNS[name](few))
    assert grown < 10 * (many - few)


def test_an_audit_knows_the_last_messages_of_so_many_producers():
    audit = MessageAudit()
    producers = [no * 100 * DEPTH for no in range(PRODUCERS + 1)]
    for first in producers:
        for number in range(first, first + 10):
            assert number not in audit
            audit.add(number)
    assert producers[0] not in audit  # one producer too many: the first is forgotten
    assert all(first + 9 in audit and first + 10 not in audit for first in producers[1:])


def test_what_was_given_back_unread_may_come_again():
    audit = MessageAudit()
    for number in (1, 2, DEPTH):
        audit.add(number)
    audit.discard([2, 3])
    assert [number in audit for number in (1, 2, 3, DEPTH)] == [True, False, False, True]
    audit.clear()
    assert 1 not in audit
