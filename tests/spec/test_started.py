"""A cluster is started first, whatever happens to its brokers later on."""

import pytest

import mqlab as mq
from mqlab.api import artemis, openmq

Q = mq.Queue("Q")
CLUSTERS = {
    "openmq": openmq.Network(openmq.Broker("A"), openmq.Broker("B")),
    "artemis": artemis.Network(artemis.Broker("A"), artemis.Broker("B")),
}


@pytest.mark.parametrize("family", CLUSTERS)
@pytest.mark.parametrize("ends", [mq.Crash, mq.Stop])
def test_a_restart_later_on_does_not_leave_the_cluster_unstarted(family, ends):
    run = mq.run(
        CLUSTERS[family], mq.Consumer("C", on="A", reads=Q), mq.Producer("P", on="B", sends=6, to=Q),
        ends("A"), mq.Restart("A"),
    )  # fmt: skip
    assert run.received() == {"C": 6}


@pytest.mark.parametrize("family", CLUSTERS)
def test_who_begins_with_a_start_says_what_is_started(family):
    run = mq.run(CLUSTERS[family], mq.Restart("B"), mq.Producer("P", on="B", sends=1, to=Q))
    assert {event.broker for event in run.events() if event.kind == mq.Kind.Started} == {"B"}


def test_a_consumer_of_artemis_is_on_a_client_as_everywhere():
    pair = artemis.Network(
        artemis.Broker("L", "replication", "master"), artemis.Broker("B", "replication", "slave")
    )
    run = mq.run(
        pair, mq.Client("shop", uri="(tcp://L:61616,tcp://B:61616)?ha=true&reconnectAttempts=-1"),
        mq.Consumer("C", on="shop", reads=Q), mq.Producer("P", on="L", sends=3, to=Q),
        mq.Crash("L"), mq.Producer("P2", on="B", sends=2, to=Q),
    )  # fmt: skip
    assert run.received() == {"C": 5}


@pytest.mark.parametrize("family", CLUSTERS)
def test_a_cluster_prints_as_it_is_written(family):
    assert repr(CLUSTERS[family]).startswith("Network(Broker('A'), Broker('B')")


def test_a_broker_of_another_product_is_told_where_it_belongs():
    with pytest.raises(
        mq.errors.BadValue, match=r"Broker\('A'\) is not an ActiveMQ broker; .*mq.openmq.Network"
    ):
        mq.Network(openmq.Broker("A"))
