"""Words of the recorder that its README does not have: what each does was played with OpenMQ 6.5.0."""

from __future__ import annotations

import mqlab as mq
from mqlab import openmq
from mqlab.spec.openmq.steps import steps_of
from mqlab.trace.kinds import Kind
from tests.products.openmq.cluster import at, got, holds, result, run, trace


def test_a_session_that_acknowledges_nothing_is_refused_by_the_interface_of_jms():
    """`createSession(false, 32768)` of JMS: C4067; the product's own interface has another method for it."""
    found = run("""
        open_consumer id=open consumer=N broker=b2 queue=Q ack_mode=none
        send broker=b1 queue=Q count=2
        receive id=took consumer=N count=1
        """, model="none")  # fmt: skip
    assert (result(found, "open"), result(found, "took")) == ("refused", "refused")
    assert holds(found, "b1") == 2


def test_a_name_has_to_be_one_and_a_temporary_topic_is_called_by_the_key_of_queues():
    found = run("""
        temporary consumer=T broker=b1 kind=topic
        send id=topic broker=b2 topic=temp:T count=2
        send id=queue broker=b2 queue=temp:T count=2
        send id=comma broker=b2 queue=A,B count=1
        """, model="none")  # fmt: skip
    assert [result(found, id) for id in ("topic", "queue", "comma")] == ["refused", "ok", "refused"]
    assert got(found, "T") == [3, 4]


def test_a_producer_may_stop_at_the_first_error():
    limit = 'create_destination broker=b1 queue=L options={"MaxNumMsgs":2,"LimitBehavior":"REJECT_NEWEST"}\n'
    for producer in ("broker=b1 queue=L", "producer=P"):
        opens = "open_producer producer=P broker=b1 queue=L\n"
        found = run(limit + opens + f"send id=sent {producer} count=5 stop_at_error=true", model="none")
        row = next(row for row in found["operations"] if row.get("id") == "sent")
        assert (row["result"], row["sent"], row["refused"]) == ("partly refused", 2, [3])


def test_a_consumer_alone_closes_and_its_session_goes_on():
    """What it had not taken goes to others, flagged; what it had taken is its session's, which may end it."""
    for end, left in (("acknowledge", 0), ("recover", 2)):
        found = run(f"""
            open_consumer consumer=C broker=b2 queue=Q receiving=false ack_mode=client
            send broker=b1 queue=Q count=4
            receive consumer=C count=2
            close_consumer consumer=C consumer_only=true
            open_consumer consumer=D broker=b1 queue=Q
            settle
            snapshot label=closed
            {end} consumer=C
            """, model="none")  # fmt: skip
        assert at(found, "b1", "closed")["destinations"]["queue://Q"]["consumers"] == 1
        assert got(found, "D") == [3, 4, *([1, 2] if left else [])]


def test_who_makes_a_temporary_destination_need_not_read_it():
    found = run("temporary consumer=T broker=b1 consume=false\nsend broker=b2 queue=temp:T count=2\nsettle\n"
                "snapshot label=sent\nclose_consumer consumer=T", model="none")  # fmt: skip
    assert "T" not in found["consumers"]
    assert "T" not in found["snapshots"]["sent"]["received_so_far"]
    assert holds(found, "b2", "queue://temp:T", "sent") == 2
    assert "queue://temp:T" not in at(found, "b1")["destinations"]


def test_a_selector_may_ask_for_the_number_of_a_message():
    found = run(
        "open_consumer consumer=C broker=b2 queue=Q selector=n>2\nsend broker=b1 queue=Q count=4", model="none"
    )
    assert got(found, "C") == [3, 4]


def test_an_event_is_waited_for_by_who_notes_it():
    def restarted(by):
        waits = f"wait_for event=link_down by={by} settle_ms=0 limit_ms=2000"
        script = f"kill broker=b2\n{waits}\nstart_broker broker=b2"
        return next(e.t for e in trace(script, model="none").events() if e.kind == Kind.Restarted)

    assert restarted("b2") - restarted("b1") == 2_000_000


def test_who_has_closed_frees_its_name_and_the_next_of_that_name_is_told_with_it():
    found = run("""
        open_consumer consumer=C broker=b1 queue=Q
        send broker=b1 queue=Q count=2
        settle
        close_consumer consumer=C
        open_consumer consumer=C broker=b2 queue=Q
        send broker=b1 queue=Q count=1
        """, model="none")  # fmt: skip
    assert got(found, "C") == [1, 2, 3]


def test_an_open_producer_keeps_its_priority_until_it_is_told_another():
    """`setPriority` is called where a step says one, be it the usual one; in random scenario 1602_006, too."""
    sends = "open_producer producer=P broker=b1 queue=Q\nsend producer=P count=1 jms_priority=9\n"
    found = run(sends + "send producer=P count=1\nsend producer=P count=1 jms_priority=4\n"
                "send broker=b1 queue=Q count=1\nbrowse id=seen broker=b1 queue=Q", model="none")  # fmt: skip
    row = next(row for row in found["operations"] if row.get("id") == "seen")
    assert row["numbers"] == [1, 2, 3, 4]
    selects = 'open_consumer consumer=C broker=b2 queue=Q selector="JMSPriority>5"\n'
    assert got(run(selects + sends + "send producer=P count=1\nsend producer=P count=1 jms_priority=4",
                   model="none"), "C") == [1, 2]  # fmt: skip


def test_a_client_that_reconnects_keeps_the_threshold_of_its_flow():
    """With 0 it asks for more when it has read all: of six messages four are sent until then."""
    for threshold, sent in ((0, 4), (50, 6)):
        found = run(f"""
            open_consumer consumer=D broker=["b1","b2"] topic=T durable=true client_id=i subscription_name=d \
            flow_limit=4 flow_threshold={threshold} receiving=false reconnect=true
            kill broker=b1
            wait ms=9000
            send broker=b2 topic=T count=6
            settle
            receive consumer=D count=2
            """.replace("\\\n", " "), model="none")  # fmt: skip
        assert found["consumers"]["D"]["homes"] == ["b1", "b2"]
        assert at(found, "b2")["durable_subscriptions"] == [f"i/d active messages={sent}"]


def test_the_words_are_written_as_they_are_read():
    actions = (
        openmq.Call(openmq.Send("P", 2, stop_at_error=True), in_background=True, lead="1.5s"),
        openmq.WaitFor("link_down", by="b1"),
        mq.Close("C", options={"consumer_only": True}),
        mq.Producer("S", on="b1", sends=2, to=mq.Queue("Q"), options={"stop_at_error": True}),
    )
    network = openmq.Network("b1", "b2", model="none")
    opened = (openmq.OpenProducer("P", "b1", mq.Queue("Q")), mq.Consumer("C", on="b1", reads=mq.Queue("Q")))
    steps = list(steps_of((*opened, *actions), network.names))
    assert [step for step in steps if step["do"] not in ("open_producer", "open_consumer")] == [
        {"do": "send", "producer": "P", "count": 2, "size": 100, "stop_at_error": True, "lead_ms": 1500,
         "in_background": True},
        {"do": "wait_for", "event": "link_down", "by": "b1"},
        {"do": "close_consumer", "consumer": "C", "consumer_only": True},
        {"do": "send", "name": "S", "broker": "b1", "count": 2, "queue": "Q", "size": 1024,
         "stop_at_error": True},
    ]  # fmt: skip
