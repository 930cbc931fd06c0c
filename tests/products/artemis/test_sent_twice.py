"""A producer that sends twice under one name: it has a connection for each send."""

import pytest

import mqlab as mq
from mqlab import artemis

NET = artemis.Network(artemis.Broker("A"), queues=(artemis.AddressQueue("Q"),))


def twice(*between, **more):
    send = artemis.Producer("p", on="A", sends=3, to=artemis.Queue("Q"), **more)
    reader = artemis.Consumer("c", on="A", reads=artemis.Queue("Q"))
    return mq.run(NET.with_actions(artemis.Start(), reader, send, *between, send, artemis.Settle()))


@pytest.mark.parametrize("between", [(), (artemis.Wait("1s"),)], ids=["at once", "later"])
def test_both_sends_arrive(between):
    assert twice(*between).received() == {"c": 6}


def test_two_sends_at_once_share_the_connection():
    assert twice(in_background=True, every="5ms").received() == {"c": 6}


def test_the_second_one_goes_to_the_broker_that_it_names():
    net = artemis.Network(artemis.Broker("A"), artemis.Broker("B"), queues=(artemis.AddressQueue("Q"),),
                          message_load_balancing="OFF")  # fmt: skip
    sends = [artemis.Producer("p", on=broker, sends=3, to=artemis.Queue("Q")) for broker in "AB"]
    trace = mq.run(net.with_actions(artemis.Start(), *sends, artemis.Settle()))
    assert {broker: sum(map(len, held.values())) for broker, held in trace.waiting().items()} == {
        "A": 3,
        "B": 3,
    }
