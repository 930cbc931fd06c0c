"""Why a message came again, went back to its queue, or is gone; and what never came to be."""

import pytest

import mqlab as mq

Q, T = mq.Queue("ORDERS"), mq.Topic("PRICES")
NETWORKS = {
    "activemq": lambda: mq.Network(mq.Broker("b1")),
    "openmq": lambda: mq.openmq.Network("b1", "b2"),
    "artemis": lambda: mq.artemis.Network(mq.artemis.Broker("b1"), mq.artemis.Broker("b2")),
}
PRODUCTS = pytest.mark.parametrize("product", NETWORKS)


def run(product, *actions, ack_mode="client"):
    return mq.run(
        NETWORKS[product](),
        mq.Consumer("C", on="b1", reads=Q, ack_mode=ack_mode, acknowledge=False),
        mq.Producer("P", on="b1", sends=1, to=Q),
        *actions,
    )


@PRODUCTS
@pytest.mark.parametrize("ack_mode", ["client", "transacted"])
def test_a_session_was_recovered_or_rolled_back(product, ack_mode):
    again = mq.Recover("C") if ack_mode == "client" else mq.Rollback("C")
    more = [mq.Resume("C")] if product == "artemis" else []
    trace = run(product, again, *more, ack_mode=ack_mode)
    assert trace.received() == {"C": 2}
    assert "the session was rolled back or recovered" in str(mq.explain(trace, message="P-1"))


@PRODUCTS
def test_a_consumer_left(product):
    trace = run(product, mq.Close("C"), mq.Consumer("D", on="b1", reads=Q))
    told = str(mq.explain(trace, message="P-1"))
    assert "returned to its queue at b1: the consumer left" in told
    assert "session was rolled back" not in told


def test_what_an_artemis_broker_finds_in_its_journal_is_no_second_copy():
    trace = run("artemis", mq.Crash("b1"), mq.Restart("b1"), mq.Consumer("D", on="b1", reads=Q))
    told = mq.explain(trace, message="P-1")
    assert told.title == "Message P-1: received by C (route b1); received by D (route b1)."
    assert any("returned to its queue at b1: the connection was lost" in line for line in told.lines)


def test_an_administrator_purged_a_queue():
    trace = mq.run(
        NETWORKS["openmq"](),
        mq.Producer("P", on="b1", sends=2, to=Q),
        mq.openmq.PurgeDestination(Q, "b1"),
    )
    assert "2 dropped: its destination was purged or destroyed" in str(mq.explain(trace))


@pytest.mark.parametrize("product", ["openmq", "artemis"])
def test_who_has_no_broker_at_the_end_has_had_none_since(product):
    trace = run(product, mq.Crash("b1"))
    told = str(mq.explain(trace))
    assert "C has had no broker since" in told
    assert "was without a broker for" not in told


def test_a_consumer_that_opens_again_elsewhere_was_without_a_broker_for_a_time():
    om = mq.openmq
    news = {"reads": om.Topic("news"), "durable": True, "client_id": "c"}
    brokers = om.Network(om.Broker("b1"), om.Broker("b2"))
    trace = mq.run(brokers, om.Consumer("D", on="b1", **news), om.Stop("b1"), om.Consumer("D", on="b2", **news))
    assert "D was without a broker for 2 s." in mq.explain(trace).lines
    with pytest.raises(mq.MqlabError, match="two are called 'D'"):
        mq.run(brokers, om.Consumer("D", on="b1", **news), om.Consumer("D", on="b2", **news))


def test_a_client_that_follows_was_without_a_broker_for_a_time():
    trace = run("artemis", mq.Crash("b1"), mq.Restart("b1"))
    assert "C was without a broker for 2 s." in mq.explain(trace).lines


def test_a_consumer_of_activemq_without_a_list_has_lost_its_broker_for_good():
    script = mq.Consumer("C", on="b1", reads=Q), mq.Crash("b1"), mq.Restart("b1")
    trace = mq.run(NETWORKS["activemq"](), *script, mq.Producer("P", on="b1", sends=1, to=Q))
    lost = "C lost its connection with b1"
    assert lost in str(mq.explain(trace, consumer="C"))
    told = mq.explain(trace, message="P-1", why_not="C")
    assert f"{lost} before the message was sent" in str(told)
    assert "without crash b1" in str(told)


def test_a_consumer_that_was_refused_is_explained():
    network = mq.openmq.Network("b1", "b2", model="master", master="b1")
    trace = mq.run(
        network,
        mq.Crash("b1"),
        mq.Consumer("C", on="b2", reads=T, durable=True),
        mq.Producer("P", on="b2", sends=1, to=T),
    )
    for told in (mq.explain(trace, consumer="C"), mq.explain(trace, "C")):
        assert told.title == "Consumer C: never opened."
        assert "its master b1, which notes all changes, was away" in str(told)
    told = str(mq.explain(trace, message="P-1", why_not="C"))
    assert "it was never opened" in told
    assert "without crash b1" in told
    with pytest.raises(mq.errors.UnknownName, match="unknown consumer 'X'"):
        mq.explain(trace, consumer="X")


def test_a_consumer_of_a_broker_that_is_down_is_told_of_once():
    trace = mq.run(NETWORKS["activemq"](), mq.Crash("b1"), mq.Consumer("C", on="b1", reads=Q))
    assert [str(row) for row in trace.undone] == ["Consumer C: never subscribed; broker b1 is not running"]


def test_a_producer_of_artemis_finds_no_queue():
    network = mq.artemis.Network(mq.artemis.Broker("b1"), auto_create_queues=False)
    trace = mq.run(network, mq.Producer("P", on="b1", sends=2, to=Q))
    told = str(mq.explain(trace, message="P-1"))
    assert "was never sent: there is no such queue, and auto-create-queues is false" in told


def test_a_run_of_artemis_goes_on_until_all_is_over():
    network = NETWORKS["artemis"]()
    held = mq.Consumer("C", on="b1", reads=Q, receiving=False)
    trace = mq.run(network, held, mq.Producer("P", on="b2", sends=3, to=Q), mq.Resume("C"))
    assert trace.received() == {"C": 3}
    slow = mq.Producer("P", on="b2", sends=3, to=Q, every="1s", in_background=True)
    trace = mq.run(network, mq.Consumer("C", on="b1", reads=Q), slow)
    assert trace.received() == {"C": 3}
    assert trace.undone == ()


def artemis(*actions, **options):
    return mq.run(mq.artemis.Network(mq.artemis.Broker("b1"), mq.artemis.Broker("b2"), **options), *actions)


def test_a_message_with_a_delay_is_waited_for_and_says_so():
    late = mq.Producer("P", on="b1", sends=1, to=Q, options={"delivery_delay": "5s"})
    trace = artemis(late, mq.Consumer("C", on="b1", reads=Q))
    assert trace.received() == {"C": 1}
    told = str(mq.explain(trace, message="P-1"))
    assert "its time to be delivered has not come" in told
    assert "the queue has no consumers" not in told


def test_the_group_decides_and_not_the_turn():
    reads = (mq.Consumer(name, on="b1", reads=Q) for name in ("C1", "C2"))
    trace = artemis(*reads, mq.Producer("P", on="b1", sends=3, to=Q, properties={"JMSXGroupID": "g"}))
    told = str(mq.explain(trace, message="P-2", why_not="C2"))
    assert "C1, which has owned message group g since" in told
    assert "take turns" not in told


def test_a_line_that_is_down_keeps_it_from_the_consumer_beyond():
    trace = artemis(
        mq.Consumer("C", on="b2", reads=Q), mq.Cut("b1", "b2"), mq.Producer("P", on="b1", sends=1, to=Q)
    )
    for told in (mq.explain(trace, message="P-1"), mq.explain(trace, message="P-1", why_not="C")):
        assert any(line.endswith("bridge b1-b2 is down.") for line in told.lines)


def test_a_copy_of_a_topic_still_waits_though_others_were_received():
    durable = mq.Consumer("D", on="b2", reads=T, durable=True, client_id="x")
    reads = mq.Consumer("C", on="b1", reads=T)
    trace = artemis(reads, durable, mq.Close("D"), mq.Producer("P", on="b1", sends=1, to=T))
    told = mq.explain(trace, message="P-1")
    assert told.title.endswith("received by C (route b1); still waiting at b2 (route so far: b1 > b2).")
    assert "take turns" not in str(told)


@pytest.mark.parametrize("product", ["openmq", "artemis"])
def test_who_waits_beyond_its_time_to_live_says_so(product):
    trace = mq.run(
        NETWORKS[product](),
        mq.Producer("P", on="b1", sends=1, to=Q, time_to_live="1s"),
        mq.Wait("3s"),
        mq.Consumer("C", on="b1", reads=mq.Queue("OTHER")),
    )
    assert trace.waiting() == {"b1": {"queue://ORDERS": [1]}}
    assert any("its time-to-live is over" in line for line in mq.explain(trace, message="P-1").lines)
