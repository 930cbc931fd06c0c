"""Networks with and without parts, and parts changed in more than their options."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName

Q = mq.Queue("Q")
AB = mq.NetworkConnector("ab", "static:(tcp://B:61616)")
PAIR = mq.Network(mq.Broker("A", AB), mq.Broker("B"))
FLOW = mq.Consumer("C", on="B", reads=Q), mq.Producer("P", on="A", sends=4, to=Q)


def test_a_broker_is_added_and_taken_away():
    three = PAIR.with_(mq.Broker("C", mq.NetworkConnector("ca", "static:(tcp://A:61616)")))
    assert three.names == ("A", "B", "C")
    assert three.without("C") == PAIR
    assert PAIR.without("B") == mq.Network(mq.Broker("A"))  # its connector led only there
    assert PAIR.without("A/ab") == mq.Network(mq.Broker("A"), mq.Broker("B"))
    assert mq.openmq.Network("b1", "b2").without("b2").names == ("b1",)
    assert mq.artemis.Network(mq.artemis.Broker("A")).with_(mq.artemis.Broker("B")).names == ("A", "B")


@pytest.mark.parametrize(
    ("path", "error", "told"),
    [
        ("X", UnknownName, "X"),
        ("A/xy", UnknownName, "A/ab"),
        ("B/ab", UnknownName, "B/ab"),
    ],
)
def test_what_is_not_there_cannot_be_taken_away(path, error, told):
    with pytest.raises(error, match=told):
        PAIR.without(path)


def test_one_of_several_addresses_is_told():
    both = mq.NetworkConnector("all", "static:(tcp://B:61616,tcp://C:61616)")
    with pytest.raises(BadValue, match=r"A/all: .* names 'B' and others"):
        mq.Network(mq.Broker("A", both), mq.Broker("B"), mq.Broker("C")).without("B")


def test_a_renamed_broker_is_still_reached():
    net = PAIR.change("B", name="the-office", store="memory")
    assert net.broker("the-office").store == "memory"
    flow = mq.Consumer("C", on="the-office", reads=Q), FLOW[1]
    assert mq.run(net, *flow).received() == {"C": 4}
    failover = mq.NetworkConnector(
        "ab", "static:(failover:(tcp://B:61616?x=1,tcp://BB:1)?maxReconnectAttempts=0)"
    )
    both = mq.Network(mq.Broker("A", failover), mq.Broker("B"), mq.Broker("BB")).change("B", name="C")
    assert both.connectors()[0][1].targets == ("C", "BB")
    with pytest.raises(BadValue, match="two brokers are called 'A'"):
        PAIR.change("B", name="A")
    with pytest.raises(BadValue, match="one broker at a time"):
        PAIR.change("*", name="A")


def test_policies_composites_and_places_change():
    policy = ({"queue": ">", "queue_prefetch": 1},)
    net = PAIR.change("A", policies=policy, at=(0.1, 0.2)).change("A/ab", name="link", network_ttl=2)
    a = net.broker("A")
    assert (a.policies[0]["queue_prefetch"], a.at, a.connectors[0].name) == (1, (0.1, 0.2), "link")
    assert PAIR.change("A", composites=({"name": "ALL", "forward_to": ["queue://Q"]},)).broker("A").composites
    with pytest.raises(BadValue, match="at"):
        PAIR.change("A", at="left")


def test_scenarios_change_in_the_same_way():
    scenario = PAIR.with_actions(mq.Start(), *FLOW)
    assert scenario.with_(mq.Broker("C")).network.names == ("A", "B", "C")
    with pytest.raises(UnknownName, match="B"):
        scenario.without("B")


@pytest.mark.parametrize("name", ["ALL", "queue://ALL"])
def test_a_composite_queue_may_be_named_with_its_scheme(name):
    net = mq.Network(mq.Broker("A", composites=({"name": name, "forward_to": ["queue://X"]},)))
    trace = mq.run(
        net,
        mq.Consumer("C", on="A", reads=mq.Queue("X")),
        mq.Producer("P", on="A", sends=4, to=mq.Queue("ALL")),
    )
    assert trace.received() == {"C": 4}
