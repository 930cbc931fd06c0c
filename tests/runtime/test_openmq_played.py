"""Rules that no recording shows: each script was played with OpenMQ 6.5.0, once unless it says more."""

from __future__ import annotations

import pytest

from tests.runtime.cluster import again, at, got, holds, result, run

HOME = {"master": "b3"}  # b1 may die, and administration goes on
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
        held()
        + "send broker=b3 queue=Q count=2\nresume consumer=C1\nsend broker=b3 queue=Q count=3\n"
        "settle\nsnapshot label=away\nstart_broker broker=b1\nclose_consumer consumer=C1\n"
        "open_consumer consumer=C2 broker=b3 queue=Q",
        **HOME,
    )
    assert got(found, "C1") == [1, 2, 9, 10, 11, 3]
    assert again(found, "C1") == [3]
    assert sorted(got(found, "C2")) == sorted(again(found, "C2")) == [4, 5, 6, 7, 8]
    assert holds(found, "b3", label="away") == 2


@pytest.mark.parametrize("more", ["", "ack_mode=client"])
def test_what_is_held_while_the_home_comes_back_is_taken_as_ever(more):
    found = run(
        held(taken=0, more=more) + "start_broker broker=b1\nresume consumer=C1\nsettle\n"
        "acknowledge consumer=C1",
        **HOME,
    )
    assert got(found, "C1") == [1, 2, 3, 4, 5, 6]
    assert again(found, "C1") == []
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


def test_a_topic_stores_only_what_durable_subscribers_are_to_have():
    found = run(
        held("topic=T", taken=0)
        + "start_broker broker=b1\nsnapshot label=back\nresume consumer=C1",
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


def test_a_broker_that_has_auto_created_a_destination_keeps_it_as_it_is():
    found = run("""
        send broker=b1 queue=Q count=2
        create_destination broker=b2 queue=Q options={"MaxNumMsgs":3,"LimitBehavior":"REJECT_NEWEST"}
        send broker=b1 queue=Q count=4
        send broker=b3 queue=Q count=4 id=limited""")
    assert at(found, "b1")["destinations"]["queue://Q"]["created_by"] == "auto"
    assert (holds(found, "b1"), holds(found, "b3")) == (6, 3)
    assert result(found, "limited") == "partly refused"
