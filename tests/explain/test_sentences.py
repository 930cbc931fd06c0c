"""Every kind of event has its sentence; what it is made of is known until it is printed."""

import re

import pytest

import mqlab as mq
from mqlab.explain import Sentence, sentence
from mqlab.explain.sentences import SENTENCES
from mqlab.trace import Event, Kind, Reason

TRACE = mq.run("fuse:2.20")


@pytest.mark.complete
def test_no_kind_is_without_a_sentence():
    missing = [kind.name for kind in Kind if kind not in SENTENCES]
    assert not missing, (
        f"{', '.join(missing)}: no sentence. Give each in mqlab/explain/sentences.py: SENTENCES a text, a "
        'function, or "" if it tells a reader nothing'
    )


@pytest.mark.complete
def test_a_reason_has_all_in_its_row():
    missing = [reason.name for reason in Reason if reason and not reason.sentence]
    assert not missing, f"{', '.join(missing)}: no sentence. It is in its row, mqlab/trace/kinds.py"
    assert mq.Reason.ttl_used_up.depends_on == {"network_ttl", "message_ttl", "consumer_ttl"}
    assert mq.Rule is mq.Reason, "its former name"


@pytest.mark.parametrize("kind", [kind for kind in Kind if SENTENCES.get(kind)])
def test_a_sentence_is_made_of_any_event_of_its_kind(kind):
    nobody = dict.fromkeys(Event.__dataclass_fields__)
    known = {"broker": "A", "frm": "A", "to": "B", "link": "ab", "destination": "queue://Q",
             "subscription": "queue://Q at A by C"}  # fmt: skip
    about = {"row": 0, "t": 1500, "kind": kind, "age": 0, "rule": Reason.loop}
    told = sentence(TRACE, Event(**nobody | known | about))
    assert str(told).startswith("1.5 ms  ")
    assert not re.search("[{}]|None", told.text)


def test_a_sentence_is_printed_with_its_time_reason_and_source():
    told = Sentence("it waits", 1500, Reason.loop, "Fuse 2")
    why = "this consumer's advisory has already passed through this broker"
    assert str(told) == f"1.5 ms  it waits: {why} [Fuse 2]."
    assert told.said(cited=False) == f"it waits: {why}."
    assert str(Sentence("it waits")) == "it waits."


def test_what_goes_to_the_dead_letter_queue_is_no_virtual_destination():
    queue = mq.Queue("Q")
    reads = mq.Consumer(
        "C", on="A", reads=queue, ack_mode="transacted", acknowledge=False, redelivery=mq.Redelivery(maximum=1)
    )
    send = mq.Producer("P", on="A", sends=1, to=queue)
    trace = mq.run(mq.Network(mq.Broker("A")), reads, send, mq.Rollback("C"), mq.Rollback("C"))
    told = str(mq.explain(trace, message="P-1"))
    assert "A enqueued it in queue://ActiveMQ.DLQ." in told
    assert "virtual" not in told


def test_an_expired_message_is_no_copy_of_a_virtual_destination():
    trace = mq.run(mq.Network(mq.Broker("A")),
                   mq.Producer("P", on="A", sends=1, to=mq.Queue("Q"), time_to_live="1s"), mq.Wait("2s"),
                   mq.Consumer("C", on="A", reads=mq.Queue("Q")))  # fmt: skip
    told = str(mq.explain(trace, message="P-1"))
    assert "A enqueued it in queue://ActiveMQ.DLQ" in told
    assert "virtual" not in told


@pytest.mark.parametrize(
    ("priority", "heeds", "told"), [(9, False, True), ([4, 4], False, False), (9, True, False)]
)
def test_a_priority_that_no_broker_heeds_is_told(priority, heeds, told):
    policies = [{"queue": "Q.>", "prioritized_messages": True}] if heeds else []
    sends = mq.Producer("P", on="A", sends=1, to=mq.Queue("Q.A"), jms_priority=priority)
    trace = mq.run(mq.Network(mq.Broker("A", policies=policies)), sends)
    assert (
        "no broker has prioritizedMessages for queue://Q.A" in str(mq.explain(trace, message="P-1"))
    ) is told


def test_a_topic_without_consumers_of_its_own_is_not_told_as_a_loss():
    net, topic = mq.Network(mq.Broker("A")), mq.Topic("VirtualTopic.NEWS")
    reads = mq.Consumer("C", on="A", reads=mq.Queue("Consumer.x.VirtualTopic.NEWS"))
    sends = mq.Producer("P", on="A", sends=1, to=topic)
    told = str(mq.explain(mq.run(net, reads, sends), message=1))
    assert "A has no consumer of topic://VirtualTopic.NEWS itself." in told
    assert "dropped" not in told
    assert "it was dropped at A" in str(mq.explain(mq.run(net, sends), message=1))


@pytest.mark.parametrize("net", [mq.openmq.Network("A"), mq.artemis.Network(mq.artemis.Broker("A"))])
def test_no_guide_of_another_product_is_cited(net):
    reads = mq.Consumer("C", on="A", reads=mq.Queue("Consumer.x.VirtualTopic.NEWS"))
    trace = mq.run(
        net, reads, mq.Producer("P", on="A", sends=1, to=mq.Topic("VirtualTopic.NEWS")), mq.Close("C")
    )
    told = f"{mq.explain(trace, message=1)} {mq.explain(trace, broker='A')} {mq.explain(trace)}"
    assert "dropped at A" in told
    assert "[Fuse" not in told
    assert [str(one).partition(": mqlab")[0] for one in trace.undone] == [
        "Consumer C: topic://VirtualTopic.NEWS is not virtual, so this queue gets no copies"
    ]
