"""Why not, what an upgrade changes, and what is refused."""

from __future__ import annotations

import pytest

import mqlab as mq
from mqlab.errors import BadValue, SelectorError, UnknownName
from mqlab.trace.fates import Fate
from tests.products.activemq.behaviours import FOO, NEWS, network, reads, send

FAR = network("A>B B>C", "5.17", network_ttl=1)


def why_not(trace: mq.Trace, message: str, consumer: str) -> str:
    return str(mq.explain(trace, message=message, why_not=consumer))


@pytest.mark.parametrize(("trace", "message", "consumer", "reason"), [
    pytest.param(lambda: mq.run("fuse:2.20"), "P-1", "C2", "turn", id="another's turn"),
    pytest.param(lambda: mq.run(FAR, *reads("C1@C"), send(1)), "P-1", "C1", "consumerTTL", id="ttl"),
    pytest.param(lambda: mq.run(network("A>B"), send(1), *reads("C1@A"), *reads("C2@B")),
                 "P-1", "C2", "after the message was sent", id="too late"),
    pytest.param(lambda: mq.run(network("A>B"), *reads("C1@A", mq.Queue("OTHER")), send(1)),
                 "P-1", "C1", "consumes from queue://OTHER", id="another queue"),
    pytest.param(lambda: mq.run(network("A>B"), *reads("C1@A", selector="a = 1"), send(1)),
                 "P-1", "C1", "C1 has the selector a = 1", id="selector"),
    pytest.param(lambda: mq.run(network("A>B"), *reads("C1@A"), mq.Close("C1"), send(1)),
                 "P-1", "C1", "C1 left at", id="left"),
    pytest.param(lambda: mq.run(
        network("A>B", excluded_destinations=["queue://TEST.>"]), *reads("C1@B"), send(1)),
        "P-1", "C1", "filters do not permit this destination", id="excluded"),
    pytest.param(lambda: mq.run("fuse:2.20"), "P-1", "C1", "received message", id="it did"),
])  # fmt: skip
def test_why_not(trace, message, consumer, reason):
    assert reason in why_not(trace(), message, consumer)


def test_why_not_asks_for_a_message_and_a_known_consumer():
    trace = mq.run("fuse:2.20")
    with pytest.raises(BadValue, match="why_not requires message="):
        mq.explain(trace, why_not="C2")
    with pytest.raises(UnknownName, match="did you mean"):
        mq.explain(trace, message="P-1", why_not="C22")


def test_an_upgrade_that_changes_a_default():
    told = mq.upgrade("fuse:2.20", "5.5", "5.18")
    assert "C1 receives 12, was 6." in told.changes
    (cause,) = told.causes
    assert 'decreaseNetworkConsumerPriority="false"' in cause
    assert "restores the old default and the old outcome" in cause
    kept = mq.figure("fuse:2.20").change("A/linkToBrokerB", decrease_network_consumer_priority=False)
    assert mq.run(kept, edition="5.18").received() == told.before.received()


def test_an_upgrade_that_changes_a_rule():
    net = network("A>B B>C B>D", network_ttl=2, decrease_network_consumer_priority=False)
    told = mq.upgrade(net, "5.5", "5.18", *reads("C1@A C2@C C3@D"), send(12))
    assert told.before.received() == {"C1": 6, "C2": 3, "C3": 3}
    assert told.after.received() == {"C1": 4, "C2": 4, "C3": 4}
    assert any("conduitNetworkQueueSubscriptions" in cause for cause in told.causes)
    kept = net.change("*/*", conduit_network_queue_subscriptions=True).under("5.18")
    assert mq.run(kept, *reads("C1@A C2@C C3@D"), send(12)).received()["C1"] == 6


def test_an_upgrade_that_changes_nothing_or_is_refused():
    assert "no change in this run" in str(mq.upgrade("fuse:2.1", "5.17", "5.18"))
    refused = mq.upgrade(network("A>B", prefetch_size=0), "5.5", "5.18", send(1))
    assert "5.18 rejects this configuration" in str(refused)
    assert refused.after is None


def test_two_editions_side_by_side():
    net = mq.figure("fuse:2.20").scenario
    both = mq.compare(mq.run(net, edition="5.5"), mq.run(net, edition="5.18"))
    assert both.received()["C1"] == (6, 12)


@pytest.mark.parametrize(("make", "error", "text"), [
    pytest.param(lambda: mq.Consumer("C", "A", FOO, priority=128), BadValue, "0 to 127", id="high"),
    pytest.param(lambda: mq.Consumer("C", "A", FOO, priority=-1), BadValue, "0 to 127", id="low"),
    pytest.param(lambda: mq.Consumer("C", "A", FOO, prefetch=-1), BadValue, "0 to 1000000000", id="pre"),
    pytest.param(lambda: mq.Consumer("C", "A", FOO, ack_mode="atuo"), UnknownName,
                 "did you mean 'auto'", id="ack"),
    pytest.param(lambda: mq.Consumer("C", "A", FOO, selector="a = AND 3"), SelectorError, "^",
                 id="selector"),
    pytest.param(lambda: mq.Producer("P", "A", 1, mq.Queue("A.>")), BadValue, "wildcard", id=">"),
    pytest.param(lambda: mq.Producer("P", "A", 1, mq.Queue("A,B.*")), BadValue, "wildcard", id="*"),
    pytest.param(lambda: mq.Producer("P", "A", 1, FOO, size=-1), BadValue, "0 to 1000000000", id="size"),
    pytest.param(lambda: mq.Consumer("C", "A", mq.Queue("Q?consumer.prefech=1")), UnknownName,
                 "did you mean 'consumer.prefetchSize'", id="option"),
    pytest.param(lambda: mq.Consumer("C", "A", mq.Queue("Q?consumer.priority=x")), BadValue,
                 "not a number", id="option value"),
    pytest.param(lambda: mq.Consumer("C", "A", FOO, redelivery={"maximun": 1}), UnknownName,
                 "did you mean 'maximum'", id="redelivery"),
    pytest.param(lambda: mq.Broker("A", policies=({"queue": ">", "memoryLimt": 1},)), UnknownName,
                 "broker 'A', policy", id="policy"),
    pytest.param(lambda: mq.Broker("A", policies=({"memory_limit": 1},)), BadValue,
                 "exactly one pattern: 'queue' or 'topic'", id="pattern"),
    pytest.param(lambda: mq.Broker("A", policies=({"topic": ">", "dispatch_policy": "best"},)),
                 UnknownName, "simple", id="choice"),
    pytest.param(lambda: network("A>B", network_ttl=-2), BadValue, "-1 or more", id="ttl"),
])  # fmt: skip
def test_what_is_refused(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_what_is_odd_and_accepted():
    """The real broker takes these, and so does the lab."""
    odd = mq.Consumer("C", "A", mq.Queue("A.>.B"))
    trace = mq.run(network("A>B", network_ttl=0), odd, send(1, to=mq.Queue("A.>.B")))
    assert trace.received() == {"C": 1}


def test_flow_control_lets_the_sender_wait():
    net = mq.Network(mq.Broker("A", policies=({"queue": ">", "memory_limit": 3 * 1024},)))
    held = mq.Consumer("C1", on="A", reads=FOO, receiving=False)
    lab = mq.Lab(net)
    for action in (held, send(10)):
        lab.do(action)
        lab.rest()
    assert len(lab.trace.waiting()["A"][str(FOO)]) == 3
    assert any(e.rule == mq.Reason.memory_full for e in lab.trace.events())
    lab.do(mq.Resume("C1"))
    lab.rest()
    assert lab.trace.received() == {"C1": 10}


def test_dups_ok_acknowledges_late_and_individual_only_what_it_is_told():
    late = mq.Consumer("C1", "A", NEWS, ack_mode="dups_ok", prefetch=10)
    trace = mq.run(mq.Network(mq.Broker("A")), late, send(7, to=NEWS), mq.Snapshot("open"),
                   mq.Close("C1"), mq.Snapshot("closed"))  # fmt: skip
    topics = [trace.header["snapshots"][label]["brokers"]["A"]["topics"]["NEWS"]
              for label in ("open", "closed")]  # fmt: skip
    assert [topic["dequeued"] for topic in topics] == [5, 7]
    alone = mq.Consumer("C1", "A", FOO, ack_mode="individual", acknowledge=False)
    trace = mq.run(mq.Network(mq.Broker("A")), alone, send(3), mq.Acknowledge("C1", 1))
    assert trace.waiting() == {"A": {str(FOO): [1, 2]}}


def test_no_local_keeps_a_connection_from_itself():
    own = mq.Consumer("S1", "A", mq.Topic("T"), no_local=True, connection="X")
    trace = mq.run(mq.Network(mq.Broker("A")), own, *reads("S2@A", mq.Topic("T")),
                   send(2, to=mq.Topic("T"), connection="X"), send(1, to=mq.Topic("T")))  # fmt: skip
    assert trace.received() == {"S1": 1, "S2": 3}


def test_priorities_are_honoured_only_by_policy():
    backlog = send(6, jms_priority=[1, 9, 4])
    for policy, order in (({}, [1, 2, 3, 4, 5, 6]), ({"prioritized_messages": True},
                                                     [2, 5, 3, 6, 1, 4])):  # fmt: skip
        net = mq.Network(mq.Broker("A", policies=({"queue": ">", **policy},)))
        trace = mq.run(net, backlog, *reads("C1@A"))
        got = [e.message for e in trace.events() if e.kind == mq.Kind.Received]
        assert got == order


def test_replay_keeps_to_its_rate():
    policy = {"queue": ">", "replay_when_no_consumers": True, "replay_rate_limit": 2,
              "replay_rate_duration_ms": 1000}  # fmt: skip
    net = network("A=B", "5.17")
    brokers = [mq.Broker(b.name, *b.connectors, policies=(policy,)) for b in net.brokers]
    held = mq.Consumer("C1", on="B", reads=FOO, receiving=False)
    trace = mq.run(mq.Network(*brokers), held, send(6), mq.Close("C1"), *reads("C2@A"))
    assert trace.received()["C2"] == 6
    back = [e.t for e in trace.events() if e.kind == mq.Kind.Forwarded and e.frm == "B"]
    assert [round((t - back[0]) / 1e6) for t in back] == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize(("topic", "policy", "count"), [
    ("Connection", {}, 2), ("Queue", {}, 1), ("Producer.Queue.>", {}, 2),
    ("Consumer.Queue.TEST.FOO", {}, 1), ("MessageDelivered.>", {"advisory_for_delivery": True}, 3),
    ("MessageConsumed.>", {"advisory_for_consumed": True}, 3),
    ("MessageDispatched.>", {"advisory_for_dispatched": True}, 3),
    ("MessageDelivered.>", {}, 0), ("SlowConsumer.>", {"advisory_for_slow_consumers": True}, 1),
    ("FastProducer.>", {"advisory_for_fast_producers": True, "memory_limit": 1024}, 2),
    ("FULL.>", {"advisory_when_full": True, "memory_limit": 1024}, 2),
])  # fmt: skip
def test_advisories(topic, policy, count):
    net = mq.Network(mq.Broker("A", policies=({"queue": ">", **policy},)))
    listener = mq.Consumer("L", "A", mq.Topic(f"ActiveMQ.Advisory.{topic}"))
    slow = mq.Consumer("C1", "A", FOO, prefetch=1, delay="1s")
    trace = mq.run(net, listener, slow, send(3))
    assert trace.received()["C1"] == 3
    assert trace.received()["L"] == count


def test_a_bridge_is_advised_too():
    listener = mq.Consumer("L", "A", mq.Topic("ActiveMQ.Advisory.NetworkBridge"))
    trace = mq.run(network("A>B"), listener, mq.StopConnector("AB0"), mq.StartConnector("AB0"))
    assert trace.received() == {"L": 3}  # that it is up, as it comes, and then what happens


def test_what_expires_in_the_buffer_of_a_topics_consumer_is_told():
    """Its broker only counts it (`TopicSubscription.acknowledge` of 5.17.2), and recorded nothing."""
    topic = mq.Topic("T")
    slow = mq.Consumer("C", on="A", reads=topic, delay="20ms")
    sends = mq.Producer("P", on="A", sends=2, to=topic, time_to_live="5ms")
    trace = mq.run(mq.Network(mq.Broker("A")), slow, sends)
    assert [entry.fate for entry in trace.account().values()] == [Fate.consumed, Fate.expired]
    assert "expired at A" in str(mq.explain(trace, message="P-2", consumer="C"))
