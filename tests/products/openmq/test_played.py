"""Rules that no recording shows: each script was played with OpenMQ 6.5.0, once unless it says more."""

from __future__ import annotations

import pytest

from tests.products.openmq.cluster import HOME, again, at, got, holds, result, run

HELD = """
    open_consumer consumer=C1 broker=b2 {dest} receiving=false {more}
    send broker={home} {dest} count=6
    receive consumer=C1 count={taken}
    kill broker=b1
    """


def held(dest="queue=Q", home="b1", taken=2, more=""):
    """Let b1 die when a consumer at b2 has some messages and holds others."""
    return HELD.format(dest=dest, home=home, taken=taken, more=more)


def remote(found, broker, label="end", dest="queue://Q"):
    return at(found, broker, label)["destinations"][dest]["remote"]


def test_what_a_plain_topic_subscriber_had_not_taken_goes_with_it():
    """Four scripts, one of them three times: it closes, dies with its broker, or has a selector."""
    begin = """
        open_consumer consumer=P broker=b2 topic=T receiving=false
        open_consumer consumer=D broker=b3 topic=T receiving=false durable=true
        send broker=b1 topic=T count=5
        resume consumer=D
        """
    for end in ("close_consumer consumer=P", "kill broker=b2"):
        assert holds(run(begin + end, **HOME), "b1", "topic://T") == 0


def test_one_taken_in_vain_takes_the_buffer_along_and_later_messages_come():
    """6.5.0: twice; those of living homes are stuck too."""
    found = run(
        held() + "send broker=b3 queue=Q count=2\nresume consumer=C1\nsend broker=b3 queue=Q count=3\n"
        "settle\nsnapshot label=away\nstart_broker broker=b1\nclose_consumer consumer=C1\n"
        "open_consumer consumer=C2 broker=b3 queue=Q",
        **HOME,
    )
    assert got(found, "C1") == [1, 2, 9, 10, 11, 3]
    assert again(found, "C1") == [3]
    assert sorted(got(found, "C2")) == sorted(again(found, "C2")) == [4, 5, 6, 7, 8]
    assert holds(found, "b3", label="away") == 2


@pytest.mark.parametrize(("more", "twice"), [("", []), ("ack_mode=client", [1, 2, 3, 4, 5, 6])])
def test_what_is_held_while_the_home_comes_back_is_taken_as_ever(more, twice):
    """In client mode it comes once more: `unread_comes_again_resumed`, two plays."""
    found = run(
        held(taken=0, more=more) + "start_broker broker=b1\nresume consumer=C1\nsettle\n"
        "acknowledge consumer=C1",
        **HOME,
    )
    assert got(found, "C1") == [1, 2, 3, 4, 5, 6, *twice]
    assert again(found, "C1") == twice
    assert remote(found, "b2") == 0


def test_what_was_taken_in_a_transaction_before_its_home_came_back_is_lost_to_it():
    script = (
        held(more="ack_mode=transacted")
        + """
        start_broker broker=b1
        commit consumer=C1 id=commit
        receive consumer=C1 count=2
        close_consumer consumer=C1
        open_consumer consumer=C2 broker=b3 queue=Q"""
    )
    found = run(script, **HOME)
    assert result(found, "commit") == "refused"
    assert got(found, "C1") == [1, 2]
    assert got(found, "C2") == again(found, "C2") == [1, 2, 3, 4, 5, 6]


def test_after_a_refused_commit_only_what_comes_later_can_be_taken():
    """6.5.0: twice."""
    found = run(
        held(more="ack_mode=transacted")
        + """
        commit consumer=C1 id=first
        receive consumer=C1 count=1
        send broker=b3 queue=Q count=2
        receive consumer=C1 count=2
        commit consumer=C1 id=second""",
        **HOME,
    )
    assert (result(found, "first"), result(found, "second")) == ("refused", "ok")
    assert got(found, "C1") == [1, 2, 7, 8]


@pytest.mark.parametrize(
    ("more", "flagged"),
    [("", [3]), ("ack_mode=client", [1, 2, 3, 4, 5, 6]), ("ack_mode=dups_ok", [1, 2, 3, 4, 5, 6])],
)
def test_the_store_knows_of_an_automatic_consumer_only_the_next_message(more, flagged):
    """Home and consumer die together. 6.5.0: once for each mode, automatic four times."""
    found = run(
        held(more=more).replace("broker=b2", "broker=b1")
        + "start_broker broker=b1\nopen_consumer consumer=C2 broker=b3 queue=Q",
        **HOME,
    )
    assert again(found, "C2") == flagged
    assert got(found, "C2") == [*range(1 if more else 3, 7)]


@pytest.mark.parametrize(
    ("dest", "more", "flagged"),
    [("queue=Q", "", [3, 4, 5, 6]), ("topic=T", "durable=true", [3])],
)
def test_a_queue_is_told_of_all_when_its_broker_is_stopped(dest, more, flagged):
    """6.5.0: twice; C2 takes up the subscription of a topic."""
    found = run(
        held(dest, more=more).replace("broker=b2", "broker=b1").replace("kill", "stop")
        + f"start_broker broker=b1\nopen_consumer consumer=C2 broker=b3 {dest} {more}"
        " client_id=C1 subscription_name=C1",
        **HOME,
    )
    assert got(found, "C2") == [3, 4, 5, 6]
    assert again(found, "C2") == flagged


def test_a_topic_stores_only_what_durable_subscribers_are_to_have():
    found = run(
        held("topic=T", taken=0) + "start_broker broker=b1\nsnapshot label=back\nresume consumer=C1",
        **HOME,
    )
    assert holds(found, "b1", "topic://T", "back") == 0
    assert got(found, "C1") == [1, 2, 3, 4, 5, 6]  # its broker had them


def test_a_paused_broker_keeps_what_comes_and_not_what_its_consumers_hold():
    """6.5.0: twice, at the home and at another broker."""
    found = run("""
        open_consumer consumer=C1 broker=b2 queue=Q receiving=false
        send broker=b1 queue=Q count=4
        pause_destination broker=b2 queue=Q
        resume consumer=C1
        send broker=b1 queue=Q count=2
        snapshot label=paused
        resume_destination broker=b2 queue=Q""")
    assert found["snapshots"]["paused"]["received_so_far"]["C1"] == 4
    assert remote(found, "b2", "paused") == 2
    assert got(found, "C1") == [1, 2, 3, 4, 5, 6]


def test_a_session_that_may_see_duplicates_acknowledges_every_ten_or_when_nothing_came_for_7_s():
    found = run("""
        open_consumer consumer=C1 broker=b2 queue=Q receiving=false ack_mode=dups_ok
        send broker=b1 queue=Q count=15
        receive consumer=C1 count=9
        snapshot label=nine
        receive consumer=C1 count=4
        snapshot label=thirteen
        wait ms=10000
        snapshot label=later""")
    held = [holds(found, "b1", label=label) for label in ("nine", "thirteen", "later")]
    assert held == [15, 5, 2]


def test_a_durable_subscription_counts_what_it_was_handed_even_when_its_consumer_has_left():
    """6.5.0: three scripts; what comes again when a home is back counts again."""
    found = run("""
        open_consumer consumer=D broker=b2 topic=T durable=true receiving=false
        send broker=b2 topic=T count=3
        send broker=b1 topic=T count=2
        kill broker=b1
        start_broker broker=b1
        close_consumer consumer=D""", **HOME)  # fmt: skip
    assert at(found, "b2")["durable_subscriptions"] == ["D/D inactive messages=7"]


def test_a_broker_that_has_auto_created_a_destination_takes_only_properties_from_a_creation():
    """6.5.0: twice."""
    found = run("""
        send broker=b1 queue=Q count=2
        create_destination broker=b2 queue=Q options={"MaxNumMsgs":3,"LimitBehavior":"REJECT_NEWEST"}
        send broker=b1 queue=Q count=4 id=limited""")
    assert at(found, "b1")["destinations"]["queue://Q"]["created_by"] == "auto"
    assert at(found, "b3")["destinations"]["queue://Q"]["created_by"] == "admin"
    assert (holds(found, "b1"), result(found, "limited")) == (3, "partly refused")


@pytest.mark.parametrize("late", [True, False])
def test_recover_after_a_refused_acknowledgement(late):
    """All comes again when recover was called before the home was back, else the first message."""
    steps = ["start_broker broker=b1", "recover consumer=C1"]
    found = run(
        held(taken=3, more="ack_mode=client")
        + "\n".join(["acknowledge consumer=C1 id=refused", *(steps if late else steps[::-1])])
        + "\nresume consumer=C1\nsettle\nclose_consumer consumer=C1"
        + "\nopen_consumer consumer=C2 broker=b3 queue=Q",
        **HOME,
    )
    assert result(found, "refused") == "refused"
    assert again(found, "C1") == [1, 2, 3][: 1 if late else None]
    assert got(found, "C1") == [1, 2, 3, *again(found, "C1")]
    assert got(found, "C2") == again(found, "C2") == [1, 2, 3, 4, 5, 6]


def test_after_a_refused_acknowledgement_a_session_goes_on_taking():
    found = run(
        held(more="ack_mode=client") + "acknowledge consumer=C1\nreceive consumer=C1 count=2",
        **HOME,
    )
    assert got(found, "C1") == [1, 2, 3, 4]


def test_expired_messages_die_when_somebody_would_have_them_or_after_a_minute():
    """6.5.0: two scripts."""
    found = run("""
        open_consumer consumer=H broker=b2 queue=H receiving=false
        send broker=b1 queue=H count=3 time_to_live_ms=3000
        send broker=b1 queue=Q count=3 time_to_live_ms=3000
        send broker=b1 queue=U count=3 time_to_live_ms=3000
        wait ms=6000
        snapshot label=expired
        resume consumer=H
        open_consumer consumer=C broker=b3 queue=Q
        settle
        snapshot label=wanted
        wait ms=60000""")
    held = [[holds(found, "b1", f"queue://{q}", label) for q in ("H", "Q", "U", "mq.sys.dmq")]
            for label in ("expired", "wanted", "end")]  # fmt: skip
    assert held == [[3, 3, 3, 0], [0, 0, 3, 6], [0, 0, 0, 9]]
    assert got(found, "H") == got(found, "C") == []


def test_a_message_has_141_bytes_besides_its_text():
    """6.5.0: 99 of none fit into 14,000 bytes, 21 into 3000; one of 10 is beyond 150."""
    found = run("""
        create_destination broker=b1 queue=Q options={"MaxTotalMsgBytes":3000,"LimitBehavior":"REJECT_NEWEST"}
        create_destination broker=b1 queue=M options={"MaxBytesPerMsg":150}
        send broker=b1 queue=Q count=30 size=0
        send broker=b1 queue=M count=1 size=1 id=fits
        send broker=b1 queue=M count=1 size=10 id=big""")
    assert holds(found, "b1") == 21
    assert (result(found, "fits"), result(found, "big")) == ("ok", "refused")


def test_without_a_connection_recover_fails_and_a_transaction_takes_nothing_before_its_commit_has():
    found = run(
        """
        open_consumer consumer=T broker=["b1","b2"] queue=Q receiving=false ack_mode=transacted reconnect=true
        open_consumer consumer=C broker=b1 queue=R receiving=false ack_mode=client
        send broker=b3 queue=Q count=4
        receive consumer=T count=2
        kill broker=b1
        wait_for event=client_reconnected
        recover consumer=C id=recover
        receive consumer=T count=1
        commit consumer=T
        receive consumer=T count=3""",
        **HOME,
    )
    assert result(found, "recover") == "refused"
    assert got(found, "T") == [1, 2, 1, 2, 3]


def test_nobody_may_send_to_the_dead_messages():
    """6.5.0: three times."""
    found = run("send broker=b3 queue=mq.sys.dmq count=2 id=send")
    assert result(found, "send") == "refused"
    assert "queue://mq.sys.dmq" not in at(found, "b3")["destinations"]


def test_a_consumer_of_the_dead_messages_has_those_of_its_own_broker():
    found = run("""
        create_destination broker=b1 queue=Q options={"MaxNumMsgs":4,"LimitBehavior":"REMOVE_OLDEST"}
        send broker=b1 queue=Q count=7
        send broker=b2 queue=Q count=6
        open_consumer consumer=A broker=b1 queue=mq.sys.dmq
        send broker=b1 queue=Q count=2""")
    assert got(found, "A") == [1, 2, 3, 4, 5]
    assert again(found, "A") == []
    assert holds(found, "b2", "queue://mq.sys.dmq") == 2
    assert at(found, "b2")["destinations"]["queue://mq.sys.dmq"]["consumers"] == 0
    assert "queue://mq.sys.dmq" not in at(found, "b1")["destinations"]


def test_a_refused_durable_subscription_collects_nothing():
    found = run(
        """
        kill broker=b3
        open_consumer consumer=S broker=b2 topic=T durable=true id=refused
        send broker=b2 topic=T count=2""",
        **HOME,
    )
    assert result(found, "refused") == "refused"
    assert holds(found, "b2", "topic://T") == 0


def test_a_durable_subscription_that_only_a_returning_broker_knows_is_known_again_when_it_is_used():
    found = run(
        """
        open_consumer consumer=D broker=b2 topic=T durable=true
        close_consumer consumer=D
        kill broker=b3
        unsubscribe broker=b2 client_id=D subscription_name=D
        start_broker broker=b3
        open_consumer consumer=E broker=b3 topic=T durable=true client_id=D subscription_name=D""",
        model="none",
    )
    assert at(found, "b1")["durable_subscriptions"] == ["D/D active messages=0"]


@pytest.mark.parametrize(("dest", "more"), [("queue=Q", ""), ("topic=T", "durable=true")])
def test_a_broker_that_had_messages_given_back_passes_them_to_nobody_again(dest, more):
    """6.5.0: twice each, and three other scripts. At another broker they come, flagged."""
    same = f"{dest} {more} client_id=s subscription_name=s"
    found = run(f"""
        open_consumer consumer=C1 broker=b2 receiving=false {same}
        send broker=b1 {dest} count=4
        close_consumer consumer=C1
        open_consumer consumer=C2 broker=b2 {same}
        send broker=b1 {dest} count=2
        settle
        close_consumer consumer=C2
        open_consumer consumer=C3 broker=b3 {same}""")
    assert got(found, "C2") == [5, 6]
    assert got(found, "C3") == again(found, "C3") == [1, 2, 3, 4]
