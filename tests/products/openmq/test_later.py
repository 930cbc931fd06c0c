"""Rules that were read off recordings published after the others, each tried in another situation."""

from __future__ import annotations

import pytest

from tests.products.openmq.cluster import again, at, got, holds, known, result, run


def remote(found, broker, dest="queue://Q", label="end"):
    return at(found, broker, label)["destinations"][dest]["remote"]


# Of three plays one had 4 after two were taken, two had 3.
@pytest.mark.parametrize(("took", "forwarded"), [(0, 3), (1, 4), (2, 4), (3, 3)])
def test_after_the_first_acknowledgement_one_more_is_on_the_way(took, forwarded):
    found = run(f"""
        open_consumer consumer=C broker=b3 queue=Q receiving=false flow_limit=3
        send broker=b2 queue=Q count=12
        receive consumer=C count={took}""")
    assert remote(found, "b3") == forwarded
    assert holds(found, "b2") == 12 - took


def test_a_browser_sees_the_copies_that_a_broker_has_for_its_consumers():
    found = run("""
        send broker=b1 queue=Q count=5
        send broker=b3 queue=Q count=1
        open_consumer consumer=C broker=b3 queue=Q receiving=false flow_limit=3
        browse broker=b3 queue=Q id=b3
        browse broker=b2 queue=Q id=b2""")
    rows = {row["id"]: row["numbers"] for row in found["operations"] if "id" in row}
    assert rows["b2"] == []
    assert 6 in rows["b3"] or len(rows["b3"]) == 4
    assert len(rows["b3"]) == holds(found, "b3") + remote(found, "b3")


def test_what_is_removed_for_a_limit_may_be_in_a_consumers_hands_who_receives_it_all_the_same():
    found = run("""
        create_destination broker=b1 queue=Q options={"MaxNumMsgs":2,"LimitBehavior":"REMOVE_LOW_PRIORITY"}
        open_consumer consumer=C broker=b2 queue=Q receiving=false flow_limit=2
        send broker=b3 queue=Q count=2 jms_priority=1
        send broker=b3 queue=Q count=3 jms_priority=9
        browse broker=b3 queue=mq.sys.dmq id=dead
        resume consumer=C""")
    assert got(found, "C") == [1, 2, 4, 5]
    dead = next(row["numbers"] for row in found["operations"] if row.get("id") == "dead")
    assert sorted(dead) == [1, 2, 3]


def test_what_a_home_has_for_a_subscription_that_ended_while_it_was_away_stays_for_nobody():
    found = run("""
        open_consumer consumer=D broker=b2 topic=T durable=true client_id=id
        close_consumer consumer=D
        send broker=b2 topic=T count=2
        send broker=b1 topic=T count=1
        stop broker=b2
        unsubscribe broker=b3 client_id=id subscription_name=D
        start_broker broker=b2
        open_consumer consumer=E broker=b2 topic=T durable=true client_id=id subscription_name=D""")
    assert got(found, "E") == []
    assert holds(found, "b2", "topic://T") == 2
    assert holds(found, "b1", "topic://T") == 0


@pytest.mark.parametrize(("pause", "told"), [(0, "refused"), (3500, "blocked")])
def test_a_commit_while_a_client_has_no_broker_is_made_in_vain(pause, told):
    found = run(f"""
        open_producer producer=P broker=b2 queue=Q ack_mode=transacted reconnect=true reconnect_attempts=999
        send producer=P count=2
        kill broker=b2
        wait ms={pause}
        commit producer=P limit_ms=5000 id=away
        start_broker broker=b2
        wait ms=3000
        send producer=P count=1 id=lost
        commit producer=P id=rolled_back
        send producer=P count=1
        commit producer=P id=back
        open_consumer consumer=C broker=b1 queue=Q""")
    assert result(found, "away") == told
    assert result(found, "lost") == result(found, "rolled_back") == "refused"
    assert result(found, "back") == "ok"
    assert got(found, "C") == [4]


def test_only_producers_that_found_a_broker_again_are_told_of():
    script = "open_producer producer=P broker=b2 queue=Q reconnect=%s\nstop broker=b2\n%s"
    assert "P" not in run(script % ("false", ""))["consumers"]
    found = run(script % ("true", "start_broker broker=b2\nwait ms=9000"))
    assert found["consumers"]["P"]["count"] == 0


def test_a_store_has_noted_the_first_message_of_a_distributed_transaction_as_handed_out():
    script = """
        send broker=b2 queue=Q count=3
        open_consumer consumer=X broker=b2 queue=Q xa=true receiving=false
        xa consumer=X action=start xid=x
        receive consumer=X count=2
        xa consumer=X action=end xid=x
        xa consumer=X action=prepare xid=x
        {0}
        open_producer producer=Y broker=b2 queue=O xa=true
        xa producer=Y action=rollback xid=x
        open_consumer consumer=C broker=b2 queue=Q"""
    assert again(run(script.format("kill broker=b2\nstart_broker broker=b2")), "C") == [1]
    assert again(run(script.format("close_consumer consumer=X")), "C") == [1, 2]


def test_a_new_name_needs_the_answers_of_all_and_comes_true_once_the_line_is_whole():
    found = run("""
        create_destination broker=b1 queue=OLD
        cut between=["b1","b3"]
        create_destination broker=b3 topic=NEW id=create limit_ms=9000
        open_consumer consumer=A broker=b1 queue=AUTO id=new limit_ms=9000
        open_consumer consumer=B broker=b1 queue=OLD id=old limit_ms=9000
        create_destination broker=b2 queue=ELSEWHERE id=elsewhere
        snapshot label=cut
        heal between=["b1","b3"]
        wait ms=120000
        send broker=b3 queue=AUTO count=1""", model="none")  # fmt: skip
    assert [result(found, id) for id in ("create", "new", "old", "elsewhere")] == [
        "blocked", "blocked", "blocked", "ok"]  # fmt: skip
    assert known(found, "topic://NEW", "cut") == []
    assert known(found, "queue://AUTO", "cut") == ["b1"]
    assert known(found, "topic://NEW") == known(found, "queue://AUTO") == ["b1", "b2", "b3"]
    assert got(found, "A") == [1]


@pytest.mark.parametrize(
    ("ms", "later", "where"), [(20_000, "ok", ["b1", "b2", "b3"]), (61_000, "refused", [])]
)
def test_a_creation_gives_up_after_a_minute(ms, later, where):
    found = run(f"""
        cut between=["b1","b3"]
        create_destination broker=b3 queue=NEW id=create limit_ms=1
        wait ms={ms}
        heal between=["b1","b3"]
        wait ms=120000""", model="none")  # fmt: skip
    assert next(row["later"] for row in found["operations"] if row.get("id") == "create") == later
    assert known(found, "queue://NEW") == where


@pytest.mark.parametrize(("interval", "dead"), [(7, 3), (60, 0)])
def test_how_often_a_broker_looks_for_expired_messages_is_an_option(interval, dead):
    found = run(
        "send broker=b1 queue=Q count=3 time_to_live_ms=1000\nwait ms=9000",
        options={"imq.message.expiration.interval": interval},
    )
    assert holds(found, "b1", "queue://mq.sys.dmq") == dead
