"""What is told of a message that went to the expiry-address, and of a consumer that the queue did not take."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.api import artemis

ORDERS, EXPIRED = mq.Queue("ORDERS"), mq.Queue("EXP")
NET = artemis.Network(
    artemis.Broker("X", address_settings={"#": {"expiry_address": "EXP"}}),
    queues=[artemis.AddressQueue("EXP"), artemis.AddressQueue("ORDERS", max_consumers=1)],
)
SCRIPT = (
    artemis.Producer("P", on="X", sends=4, to=ORDERS, time_to_live="2s"), artemis.Wait("3s"),
    *(artemis.Consumer(name, on="X", reads=ORDERS) for name in ("first", "second")),
    artemis.Consumer("late", on="X", reads=EXPIRED),
)  # fmt: skip


@pytest.fixture(scope="module")
def trace():
    return mq.run(NET, *SCRIPT)


def test_an_expired_message_goes_to_its_address_and_is_not_counted_as_acknowledged(trace):
    assert trace.received() == {"first": 0, "second": 0, "late": 4}
    told = str(mq.explain(trace, "P-1"))
    assert "it expired at X" in told
    assert "X enqueued it in queue://EXP" in told
    (orders,) = (row for row in trace.counters().rows if row.destination == "queue://ORDERS")
    assert [*orders.counts.values()][:3] == [4, 0, 0]


def test_who_never_subscribed_is_told_with_the_reason(trace):
    why = "the queue has as many consumers as max-consumers allows"
    (row,) = trace.undone
    assert (row.what, row.why) == ("Consumer second", f"never subscribed; {why}")
    assert f"second never subscribed: {why}." in str(mq.explain(trace, message="P-1", why_not="second"))


def test_a_consumer_is_no_client(trace):
    with pytest.raises(mq.MqlabError, match=r"'second' is a consumer, .* consumer='second'"):
        mq.explain(trace, client="second")
