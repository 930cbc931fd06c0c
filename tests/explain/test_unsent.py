"""Why a message was never sent, or its send failed; where one is that its broker kept or moved."""

import pytest

import mqlab as mq
from mqlab import artemis, openmq
from mqlab.errors import BadValue, UnknownName
from mqlab.trace.kinds import Kind

Q = mq.Queue("Q")
A = mq.Network(mq.Broker("A"))
LIMIT = "the destination has reached its memoryLimit: producer flow control blocks the sender"
FULL = {"max_num_msgs": 3, "limit_behavior": "REJECT_NEWEST"}
OF_Q = (artemis.AddressQueue("Q"),)


def sends(count=5, on="A", **more):
    return mq.Producer("P", on=on, sends=count, to=Q, **more)


def title(trace, message, **more):
    return mq.explain(trace, message=message, **more).title


def test_a_full_destination_blocks_its_sender():
    policies = [{"queue": "Q", "memory_limit": "4kb"}]
    trace = mq.run(mq.Network(mq.Broker("A", policies=policies)), sends(30))
    assert title(trace, "P-5") == f"Message P-5: never accepted at A: {LIMIT}."
    assert title(trace, "P-6") == f"Message P-6 was never sent: {LIMIT}."
    assert [str(one) for one in trace.undone] == [f"Producer P: 25 of 30 messages never sent; {LIMIT}"]
    with pytest.raises(UnknownName, match="P-31 was never sent; the last message of P is P-5"):
        mq.explain(trace, message="P-31")


def test_a_failover_timeout_ends_a_send():
    shop = mq.Client("shop", uri="failover:(tcp://A:61616)?timeout=1000")
    sending = sends(3, on="shop", every="1s", at="1s")
    trace = mq.run(A, shop, sending, mq.Crash("A", at="1500ms"), until="60s")
    assert title(trace, "P-2") == (
        "Message P-2: never accepted at A: its send failed: Failover timeout of 1000 ms reached."
    )
    assert title(trace, "P-3") == "Message P-3 was never sent: Failover timeout of 1000 ms reached."


LIMITED = "failover:(tcp://A:61616)?timeout=3000"
BEFORE_CRASH = {
    "in turn": (mq.Client("cl", uri=LIMITED), sends(1, on="cl"), mq.Crash("A"), sends(1, on="cl")),
    "at times": (
        mq.Client("cl", uri=LIMITED, at="0s"), sends(2, on="cl", every="2s", at="500ms"), mq.Crash("A", at="2s")
    ),
    "a send without a receipt": (
        mq.Client("cl", uri=LIMITED), sends(1, on="cl", persistent=False), mq.Crash("A"),
        sends(1, on="cl", persistent=False),
    ),
}  # fmt: skip


@pytest.mark.parametrize("until", [None, "20s"])
@pytest.mark.parametrize("actions", BEFORE_CRASH.values(), ids=list(BEFORE_CRASH))
def test_a_run_waits_for_a_failover_timeout(actions, until):
    trace = mq.run(A, *actions, until=until)
    assert title(trace, "P-2") == (
        "Message P-2: never accepted at A: its send failed: Failover timeout of 3000 ms reached."
    )
    assert trace.end >= trace.column("t")[trace.rows(Kind.Sent)[1]] + 3_000_000


@pytest.mark.parametrize("until", [None, "20s"])
def test_a_producer_that_opens_without_a_broker_waits_without_a_limit(until):
    """As `FailoverTransport.oneway` limits messages only, and a ProducerInfo is none (ActiveMQ rule 11.11)."""
    why = "its producer waits to be opened, which has no limit"
    late = f"{why}: timeout limits sends only [ActiveMQ rule 11.11]"
    opened = mq.Client("cl", uri=LIMITED, at="1s")
    trace = mq.run(A, opened, mq.Crash("A", at="2s"), sends(1, on="cl", at="3s"), until=until)
    assert title(trace, "P-1") == (
        f"Message P-1 was never sent: cl lost its broker at 2 s and has found no other; {late}."
    )
    never = mq.run(A, mq.Crash("A"), mq.Client("cl", uri=LIMITED), sends(1, on="cl"), until=until)
    assert title(never, "P-1") == (
        "Message P-1 was never sent: cl never connected: connection refused: "
        f"nothing is listening at that address; {late}."
    )


def test_a_broker_that_is_down_gets_nothing_and_that_is_told_once():
    trace = mq.run(A, mq.Consumer("C", on="A", reads=Q), sends(every="1s", at="1s"), mq.Crash("A", at="2500ms"))
    assert title(trace, "P-4") == "Message P-4 was never sent: A crashed at 2.5 s."
    assert title(trace, "P-4", why_not="C") == "Message P-4 was never sent: A crashed at 2.5 s."
    assert [str(one) for one in trace.undone] == ["Producer P: 3 of 5 messages never sent; A crashed at 2.5 s"]


def test_who_was_cut_off_by_the_end_of_the_run():
    trace = mq.run(A, sends(every="1s"), until="2500ms")
    assert title(trace, "P-4") == "Message P-4 was never sent: the run ended before."


@pytest.mark.parametrize(("actions", "why"), [
    ((openmq.CreateDestination(Q, "b1", options=FULL), sends(on="b1")),
     "Message P-5: never accepted at b1: the destination has reached its limit at this broker."),
    ((openmq.CreateDestination(Q, "b1", options=FULL | {"limit_behavior": "FLOW_CONTROL"}), sends(on="b1")),
     "Message P-5 was never sent: the destination has reached its limit at this broker: the producer waits for "
     "room (FLOW_CONTROL)."),
    ((sends(on="b1", every="1s", at="20s"), mq.Crash("b1", at="22s")),
     "Message P-5 was never sent: b1 crashed at 22 s."),
], ids=["rejected", "blocked", "crashed"])  # fmt: skip
def test_openmq(actions, why):
    trace = mq.run(openmq.Network("b1", "b2"), *actions)
    assert title(trace, "P-5") == why
    assert "recovered from a store" not in str(mq.explain(trace))
    assert str(mq.explain(trace)).startswith(f"{len(trace.account())} messages were sent.")


def pair(**more):
    return artemis.Network(
        artemis.Broker("B1"), artemis.Broker("B2", scale_down={"connectors": ["to_B1"]}), queues=OF_Q
    )


def test_a_scale_down_tells_where_a_message_went():
    trace = mq.run(pair(), sends(2, on="B2"), mq.Stop("B2"), mq.Crash("B1"))
    story = str(mq.explain(trace, message="P-1"))
    assert "B2 forwarded it to B1 over B2-B1: scale-down: its broker is shutting down" in story
    assert story.endswith("B1 crashed.")
    assert "of Q" not in story


@pytest.mark.parametrize(("faults", "why"), [
    ((mq.Crash("B2"),), "only an orderly stop begins it"),
    ((mq.Crash("B1"), mq.Stop("B2")), "it found no broker to move them to"),
])  # fmt: skip
def test_a_scale_down_that_moved_nothing_says_why(faults, why):
    trace = mq.run(pair(), sends(2, on="B2"), *faults)
    story = mq.explain(trace, message="P-1").lines
    assert story[-2].endswith(f"B2 {'crashed' if len(faults) == 1 else 'stopped'}.")
    assert story[-1] == f"The scale-down of B2 moved no messages: {why} [AMQ Broker 7.1, 21.4]."


def test_the_crash_of_a_colocated_pair_is_part_of_the_story():
    story = mq.explain(mq.run("artemis:21.4.4-shared"), message="sender3-1").lines
    crash = next(no for no, line in enumerate(story) if line.endswith("B crashed."))
    assert "A/colocated_backup_01 recovered it from the store" in story[crash + 1]
    assert "A/colocated_backup_01 forwarded it to A: scale-down" in story[crash + 2]


def test_a_crash_elsewhere_is_no_part_of_a_message():
    net = mq.Network(mq.Broker("A"), mq.Broker("B"))
    trace = mq.run(net, sends(1), mq.Crash("B"), mq.Consumer("C", on="A", reads=Q), mq.Crash("A"))
    assert "crashed" not in str(mq.explain(trace, message="P-1"))


@pytest.mark.parametrize(("name", "begins"), [
    ("A", "Broker A: "), ("C1", "Consumer C1: "), ("P-1", "Message P-1: "), (3, "Message P-3: "),
])  # fmt: skip
def test_a_name_alone_is_enough(name, begins):
    assert mq.explain(mq.run("fuse:2.20"), name).title.startswith(begins)


def test_two_names_are_too_many():
    trace = mq.run("fuse:2.20")
    for names, more in ((("A", "B"), {}), (("A",), {"broker": "B"})):
        with pytest.raises(BadValue, match="'A': name one thing alone, or pass message="):
            mq.explain(trace, *names, **more)


def test_a_scale_down_that_names_no_connectors_says_so():
    net = artemis.Network(artemis.Broker("B1", scale_down={}), artemis.Broker("B2"), queues=OF_Q)
    trace = mq.run(net, mq.Producer("P", on="B1", sends=1, to=Q), mq.Stop("B1"))
    assert "moved no messages: it names no connectors to other brokers" in str(mq.explain(trace, message="P-1"))


def test_of_a_consumer_is_told_what_it_did_not_receive_of_its_queues():
    other = mq.Producer("O", on="A", sends=2, to=mq.Queue("OTHER"))
    trace = mq.run(A, mq.Consumer("C", on="A", reads=Q, selector="x = 1"), other, sends(4))
    *_, last, idle = mq.explain(trace, consumer="C").lines
    assert idle == "Not done: Consumer C: its selector asks for x, and no message has such a property."
    waits = "4 messages of queue://Q are waiting at A (P-1, P-2, P-3, P-4): the selector does not match"
    assert last == f"{waits} [Fuse 2, Figure 2.17]."
    expired = mq.run(A, sends(3, time_to_live="1ms"), mq.Wait("1s"), mq.Consumer("C", on="A", reads=Q), other)
    *_, last = mq.explain(expired, consumer="C").lines
    assert last == "3 dead-lettered: its time-to-live had expired (1-3)."
    reader = mq.Consumer("C", on="A", reads=mq.Queue(">"))
    assert not [
        line for line in mq.explain(mq.run(A, reader, sends()), consumer="C").lines if "waiting" in line
    ]
    topic = mq.run(A, mq.Consumer("C", on="A", reads=mq.Topic("Q")), sends(4))
    subscribed, other = mq.explain(topic, consumer="C").lines
    assert "created subscription topic://Q" in subscribed
    assert other.startswith("Not done: Consumer C: it reads topic://Q, and messages are sent to queue://Q")
