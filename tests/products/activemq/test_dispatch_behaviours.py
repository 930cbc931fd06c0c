"""What queues and topics do: 34 behaviours of guides and classes (ActiveMQ rules 27).

Where ActiveMQ rules 1 to 6 correct one, the corrected statement is held.
"""

from __future__ import annotations

import itertools

import pytest

import mqlab as mq
from mqlab.spec.values import matches
from tests.products.activemq.behaviours import FOO, NEWS, Behaviours, depth, network, reads, send

behaviour = Behaviours(34)
DLQ = mq.Queue("ActiveMQ.DLQ")


def one(*actions, edition: str = "5.17", **policy) -> mq.Trace:
    """Run *actions* on one broker A, with a policy for every destination."""
    return mq.run(alone(edition, **policy), *actions)


def alone(edition: str = "5.17", **policy) -> mq.Network:
    policies = ({"queue": ">", **policy}, {"topic": ">", **policy}) if policy else ()
    return mq.Network(mq.Broker("A", policies=policies), edition=edition)


def consumer(name: str, dest=FOO, **options) -> mq.Consumer:
    return mq.Consumer(name, on="A", reads=dest, **options)


def numbers(trace: mq.Trace, name: str) -> list[int]:
    """Return the numbers a consumer received, in order."""
    return [
        e.message for e in trace.events() if e.kind == mq.Kind.Received and e.to == name
    ]  # fmt: skip


def dispatched(trace: mq.Trace) -> dict[str, int]:
    """Return consumer -> how many messages it was handed."""
    found: dict[str, int] = {}
    for event in trace.events():
        if event.kind == mq.Kind.Dispatched:
            found[event.to] = found.get(event.to, 0) + 1
    return found


def colours(*names: str) -> mq.Producer:
    return send(len(names), properties={"color": list(names)})


STALLED = {"receiving": False}
BY_HAND = {"ack_mode": "client", "acknowledge": False}
TRANSACTED = {"ack_mode": "transacted", "acknowledge": False}


@behaviour(1)
def _():
    trace = one(*reads("C1@A C2@A C3@A"), send(12))
    assert numbers(trace, "C1") == [1, 4, 7, 10]
    assert trace.received() == {"C1": 4, "C2": 4, "C3": 4}


HIGH_FIRST = (
    consumer("C1", priority=10, prefetch=3, receiving=False),
    consumer("C2", receiving=False),
)


@behaviour(2)
def _():
    assert dispatched(one(*HIGH_FIRST, send(5))) == {"C1": 3, "C2": 2}


@behaviour(3)
def _():
    trace = one(*HIGH_FIRST, send(5), mq.Receive("C1", 1), send(1))
    assert dispatched(trace) == {"C1": 4, "C2": 2}


@behaviour(4)
def _():
    takers = [consumer(n, prefetch=5, receiving=False) for n in ("C1", "C2")]
    assert dispatched(one(*takers, send(8), strict_order_dispatch=True)) == {"C1": 5, "C2": 3}


@behaviour(5)
def _():
    trace = one(consumer("C1", prefetch=1, receiving=False), consumer("C2"), send(10))
    assert dispatched(trace) == {"C1": 1, "C2": 9}


@behaviour(6)
def _():
    assert one(consumer("C1"), send(4), consumer("C2"), send(4)).received() == {"C1": 6, "C2": 2}


@behaviour(7)
def _():
    red = consumer("C1", selector="color = 'red'")
    trace = one(red, consumer("C2"), colours("red", "blue", "red", "blue"))
    assert (numbers(trace, "C1"), numbers(trace, "C2")) == ([1, 3], [2, 4])


@behaviour(8)
def _():
    trace = one(consumer("C1", selector="color = 'red'"), colours("blue", "red"))
    assert numbers(trace, "C1") == [2]
    assert trace.waiting() == {"A": {str(FOO): [1]}}


@behaviour(9)
def _():
    red = consumer("C1", selector="color = 'red'")
    for page, reached in ((199, 1), (200, 0)):
        trace = one(red, colours(*["blue"] * page, "red"), edition="5.5")
        assert trace.received() == {"C1": reached}


@behaviour(10)
def _():
    first = consumer("C1", exclusive=True, prefetch=6, receiving=False)
    trace = one(first, consumer("C2"), send(10), mq.Snapshot("both"), mq.Close("C1"))
    assert trace.header["snapshots"]["both"]["received_so_far"] == {"C1": 0, "C2": 0}
    assert numbers(trace, "C2") == list(range(1, 11))


@behaviour(11)
def _():
    for priority, got in ((5, {"C1": 1, "C2": 3}), (0, {"C1": 4, "C2": 0})):
        later = consumer("C2", exclusive=True, priority=priority)
        trace = one(consumer("C1", exclusive=True), send(1), later, send(3))
        assert trace.received() == got


def grouped(count: int, **more) -> mq.Producer:
    return send(count, properties={"JMSXGroupID": "g", **more})


@behaviour(12)
def _():
    trace = one(*reads("C1@A C2@A"), grouped(5), mq.Close("C1"), grouped(1))
    assert trace.received() == {"C1": 5, "C2": 1}
    lab = mq.Lab(alone())
    for action in (*reads("C1@A C2@A"), grouped(5), mq.Close("C1")):
        lab.do(action)
        lab.rest()
    lab.do(mq.Pause("C2"))
    lab.do(grouped(1))
    lab.rest()
    (waiting,) = lab.brokers["A"].by_name[FOO].messages
    assert waiting.properties["JMSXGroupFirstForConsumer"] is True


@behaviour(13)
def _():
    closing = grouped(1, JMSXGroupSeq=-1)
    trace = one(*reads("C1@A C2@A"), grouped(2), closing, grouped(1))
    assert trace.received() == {"C1": 3, "C2": 1}


def given_back(times: int, maximum: int = 6, **send_options) -> mq.Trace:
    policy = mq.Redelivery(maximum=maximum)
    return one(consumer("C1", redelivery=policy, **TRANSACTED), send(1, **send_options),
               *[mq.Rollback("C1")] * times)  # fmt: skip


@behaviour(14)
def _():
    assert not depth(given_back(6), DLQ)
    trace = given_back(7)
    assert depth(trace, DLQ) == {"A": 1}
    assert trace.received() == {"C1": 7}, "once, and six times more"


@behaviour(15)
def _():
    trace = given_back(1, maximum=0)
    assert depth(trace, DLQ) == {"A": 1}
    assert trace.received() == {"C1": 1}


@behaviour(16)
def _():
    assert not depth(given_back(1, maximum=0, persistent=False), DLQ)


@behaviour(17)
def _():
    policy = mq.Redelivery(exponential=True)
    taker = consumer("C1", redelivery=policy, **TRANSACTED)
    trace = one(taker, send(1), *[mq.Rollback("C1")] * 4)
    times = [e.t for e in trace.events() if e.kind == mq.Kind.Received]
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert [gap // 10_000 * 10 for gap in gaps] == [1000, 5000, 25000, 125000]


@behaviour(18)
def _():
    for persistent, buried in ((True, {"A": 1}), (False, {})):
        lab = mq.Lab(alone())
        lab.do(consumer("LISTENER", mq.Topic("ActiveMQ.Advisory.Expired.Queue.>")))
        lab.rest()
        lab.do(send(1, time_to_live="100ms", persistent=persistent))
        lab.rest()
        assert depth(lab.trace) == {"A": 1}, "nobody has looked"
        lab.until("31s")
        lab.rest()
        assert not depth(lab.trace)
        assert depth(lab.trace, DLQ) == buried
        assert lab.trace.received()["LISTENER"] == 1


@behaviour(19)
def _():
    first = consumer("C1", receiving=False, prefetch=3, **BY_HAND)
    trace = one(first, send(10), mq.Receive("C1", 3), consumer("C2", receiving=False),
                mq.Close("C1"), mq.Resume("C2"))  # fmt: skip
    again = [e.message for e in trace.events() if e.kind == mq.Kind.Redelivered]
    assert sorted(numbers(trace, "C2")) == list(range(1, 11))
    assert again == [1, 2, 3]


@behaviour(20)
def _():
    topic = one(*reads("C1@A C2@A C3@A", NEWS), send(4, to=NEWS))
    queue = one(*reads("C1@A C2@A C3@A"), send(4))
    assert set(topic.received().values()) == {4}
    assert sum(queue.received().values()) == 4


DURABLE = {"durable": True, "client_id": "D", "subscription_name": "d"}


@behaviour(21)
def _():
    lost = one(send(3, to=NEWS), consumer("C1", NEWS))
    kept = one(consumer("D1", NEWS, **DURABLE), mq.Close("D1"), send(3, to=NEWS),
               consumer("D2", NEWS, **DURABLE))  # fmt: skip
    assert lost.received() == {"C1": 0}
    assert kept.received() == {"D1": 0, "D2": 3}


@behaviour(22)
def _():
    trace = one(consumer("D1", NEWS, **DURABLE), consumer("D2", NEWS, **DURABLE), send(2, to=NEWS))
    assert trace.received() == {"D1": 2, "D2": 0}
    assert "in use" in trace.header["problems"][0]


@behaviour(23)
def _():
    trace = one(consumer("D1", NEWS, **DURABLE), mq.Close("D1"), send(3, to=NEWS),
                consumer("D2", NEWS, selector="a = 1", **DURABLE), mq.Close("D2"),
                consumer("D3", NEWS, **DURABLE))  # fmt: skip
    assert sum(trace.received().values()) == 0


@behaviour(24)
def _():
    expected = {
        ("A.>", "A"): True, ("A.*", "A"): False, ("A.*.C", "A.B.C"): True, (">", "A.B"): True,
        ("A.>", "AB"): False, ("A.*.>", "A"): False, ("A.*.>", "A.B"): True,
    }  # fmt: skip
    assert {pair: matches(*pair) for pair in expected} == expected


@behaviour(25)
def _():
    assert not matches("A.B*", "A.BC")
    assert not matches("A.>.B", "A.X.B"), "as the broker's filter, not as the documents"


@behaviour(26)
def _():
    trace = one(consumer("C1", mq.Queue("N.*")), send(2, to=mq.Topic("N.A")))
    assert trace.received() == {"C1": 0}


@behaviour(27)
def _():
    trace = one(consumer("C1", mq.Queue("Q.*")), send(1, to=mq.Queue("Q.A")),
                send(1, to=mq.Queue("Q.B")))  # fmt: skip
    assert trace.received() == {"C1": 2}


@behaviour(28)
def _():
    trace = one(consumer("C1", mq.Queue("A")), consumer("S1", mq.Topic("N")),
                send(1, to=mq.Queue("A,topic://N")))  # fmt: skip
    assert trace.received() == {"C1": 1, "S1": 1}


@behaviour(29)
def _():
    trace = one(send(5), consumer("B1", browser=True), mq.Snapshot("browsed"), consumer("C1"))
    queue = trace.header["snapshots"]["browsed"]["brokers"]["A"]["queues"]["TEST.FOO"]
    assert queue["depth"] == 5
    seen = [e.message for e in trace.events() if e.kind == mq.Kind.Browsed and e.to == "B1"]
    assert seen == [1, 2, 3, 4, 5]
    assert numbers(trace, "C1") == [1, 2, 3, 4, 5]


@behaviour(30)
def _():
    taker = consumer("C1", prefetch=0, receiving=False)
    trace = one(taker, send(3), mq.Snapshot("idle"), mq.Receive("C1", 2))
    queue = trace.header["snapshots"]["idle"]["brokers"]["A"]["queues"]["TEST.FOO"]
    assert queue["in_flight"] == 0
    assert trace.received() == {"C1": 2}


@behaviour(31)
def _():
    trace = one(consumer("C1", prefetch=10, **TRANSACTED), send(25), mq.Snapshot("open"),
                mq.Commit("C1"))  # fmt: skip
    assert trace.header["snapshots"]["open"]["brokers"]["A"]["queues"]["TEST.FOO"]["depth"] == 25
    assert trace.received() == {"C1": 25}
    assert not depth(trace)


@behaviour(32)
def _():
    slow = consumer("C1", NEWS, prefetch=5, receiving=False)
    trace = one(slow, send(10, to=NEWS), mq.Resume("C1"), pending_message_limit=3)
    assert numbers(trace, "C1") == [1, 2, 3, 4, 5, 8, 9, 10]
    gone = [e.message for e in trace.events() if e.rule == mq.Reason.pending_limit]
    assert gone == [6, 7]


@behaviour(33)
def _():
    def triangle(policy: str) -> mq.Trace:
        net = network("A>B A>C C>B", "5.17", network_ttl=2,
                      decrease_network_consumer_priority=True,
                      suppress_duplicate_topic_subscriptions=False)  # fmt: skip
        brokers = [
            mq.Broker(b.name, *b.connectors, policies=({"topic": ">", "dispatch_policy": policy},))
            for b in net.brokers
        ]
        return mq.run(mq.Network(*brokers), *reads("S1@B", NEWS), send(3, to=NEWS))

    assert triangle("simple").received() == {"S1": 6}
    best = triangle("priority_network")
    assert best.received() == {"S1": 3}
    assert best.path(1) == [["A", "B"]]


@behaviour(34)
def _():
    listener = consumer("L1", mq.Topic("ActiveMQ.Advisory.Consumer.Queue.TEST.FOO"))
    late = consumer("L2", mq.Topic("ActiveMQ.Advisory.Consumer.Queue.TEST.FOO"))
    trace = one(*reads("C1@A C2@A"), listener, late)
    assert trace.received() == {"C1": 0, "C2": 0, "L1": 2, "L2": 2}


@pytest.mark.parametrize("check", behaviour.cases())
def test_dispatch_behaviour(check):
    assert check is not None, "no check has this number"
    check()


@pytest.mark.parametrize(
    ("policies", "prefetch"),
    [((), 1000), (({"queue": ">"},), 1000), (({"topic": ">"},), 100),
     (({"topic": ">", "durable_topic_prefetch": 5},), 5)],
)  # fmt: skip
def test_a_matching_policy_replaces_the_prefetch_that_durable_subscribers_ask_for(policies, prefetch):
    """PolicyEntry has 100 (reference: Policies, default numbers); without one the client's 1000 stays."""
    net = mq.Network(mq.Broker("A", policies=policies))
    trace = mq.run(net, consumer("D", NEWS, durable=True, receiving=False), send(1200, to=NEWS))
    dispatched = [e for e in trace.events() if e.kind == mq.Kind.Dispatched and e.to == "D"]
    assert len(dispatched) == prefetch
