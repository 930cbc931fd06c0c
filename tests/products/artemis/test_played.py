"""What is given back, and what is lost in a queue of the wrong kind.

Each was played at least three times with real brokers of 2.4.0, always with the same outcome.
"""

from __future__ import annotations

from tests.products.artemis.ha import got, ha, run, waiting

DEALT = 'send broker=A queue=Q count=8 properties={"c":["red","blue"]}'
BLUE = "selector=c='blue'"
CLOSED = "IllegalStateException / ActiveMQObjectClosedException AMQ119019"


def test_unread_messages_go_to_the_head_not_to_their_place():
    """A closed consumer's messages are before those that were sent earlier and never handed out."""
    found = run({"A": None}, f"""
        {DEALT}
        open_consumer consumer=C broker=A queue=Q {BLUE} ack_mode=client receiving=false
        close_consumer consumer=C""")  # fmt: skip
    assert waiting(found, "A") == [2, 4, 6, 8, 1, 3, 5, 7]


def test_who_closes_last_gives_back_first():
    """Two consumers hold every second message: what the later one gives back is at the head."""
    found = run({"A": None}, """
        open_consumer consumer=C1 broker=A queue=Q receiving=false
        open_consumer consumer=C2 broker=A queue=Q receiving=false
        send broker=A queue=Q count=6
        close_consumer consumer=C1
        close_consumer consumer=C2""")  # fmt: skip
    assert sorted(waiting(found, "A")) == [1, 2, 3, 4, 5, 6]
    assert waiting(found, "A")[:3] == [2, 4, 6]


def test_a_rollback_hands_all_to_the_other_consumer():
    """While a session rolls back it rests: the other consumer of the queue gets what it held."""
    found = run({"A": None}, """
        open_consumer consumer=C1 broker=A queue=Q receiving=false ack_mode=transacted
        open_consumer consumer=C2 broker=A queue=Q receiving=false ack_mode=transacted
        send broker=A queue=Q count=6
        receive consumer=C1 count=2
        receive consumer=C2 count=2
        rollback client=C2
        rollback client=C1
        close_consumer consumer=C1
        receive consumer=C2 count=6""")  # fmt: skip
    assert got(found, "C2") == [2, 4, 1, 3, 5, 2, 4, 6]
    assert found["consumers"]["C2"]["redelivered"] == [1, 3, 2, 4]


def test_scaling_down_moves_what_a_consumer_gave_back_first():
    """The clients are sent away before the messages are moved, so that theirs lead."""
    found = run({"A": None, "B": ha("live_only", scale_down={"connectors": ["to_A"]})}, f"""
        {DEALT.replace("broker=A", "broker=B")}
        open_consumer consumer=C broker=B queue=Q {BLUE} ack_mode=client receiving=false
        stop broker=B""", cluster={"message_load_balancing": "OFF"})  # fmt: skip
    assert waiting(found, "A") == [2, 4, 6, 8, 1, 3, 5, 7]


def test_a_queue_made_by_scaling_down_takes_no_message_of_a_queue_later_either():
    """It is there without routing type: what is sent to it on its new broker is lost too."""
    found = run(
        {"A": None, "B": ha("live_only", scale_down={"connectors": ["to_A"]})}, """
        send broker=B queue=Q count=3
        stop broker=B
        send broker=A queue=Q count=6""",
        queues=[{"name": "Q", "on": ["B"]}], cluster={"message_load_balancing": "OFF"},
        address_settings={"auto_delete_queues": False})  # fmt: skip
    assert waiting(found, "A") == []


def test_a_rollback_after_giving_up_is_refused():
    """The session is closed: that is said of a rollback as of a commit."""
    found = run({"A": None}, """
        open_client client=X broker=A transacted=true url={"reconnect_attempts":2}
        send client=X queue=Q count=2
        kill broker=A
        wait ms=3000
        commit client=X
        rollback client=X""")  # fmt: skip
    told = found["senders"]["X"]["results"]
    assert told == [f"step 5 commit: {CLOSED}", f"step 6 rollback: {CLOSED}"]


def test_a_client_of_a_broker_that_scaled_down_does_not_come_back():
    """Not even with unlimited attempts, when the broker has been started again."""
    found = run({"A": None, "B": ha("live_only", scale_down={"connectors": ["to_A"]})}, """
        open_consumer consumer=C broker=B queue=Q
        stop broker=B
        start_broker broker=B
        wait ms=6000
        send broker=B queue=Q count=2""", cluster={"message_load_balancing": "OFF"})  # fmt: skip
    assert waiting(found, "B") == [1, 2]
    assert found["consumers"]["C"]["failovers"] == ["failure_detected"]


def test_a_durable_subscription_of_another_topic_is_a_new_one():
    """What the old one had kept is lost with it (played three times: its topic on the other broker)."""
    sub = "broker=A durable_name=d client_id=c"
    found = run({"A": None}, f"""
        open_consumer consumer=D1 topic=T {sub}
        close_consumer consumer=D1
        {DEALT.replace("queue=Q", "topic=T")}
        open_consumer consumer=D2 topic=U {sub}""")  # fmt: skip
    assert got(found, "D2") == []
