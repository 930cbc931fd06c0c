"""Siblings of the recorded scenarios, sections 9 and 10: other values, modes and brokers.

Each was predicted from that page before it was played; the number is the page's section.
"""

from __future__ import annotations

import json

import pytest

from tests.products.openmq.cluster import (
    ALL,
    ENHANCED,
    FAST,
    HOME,
    TAKEN,
    again,
    at,
    got,
    holds,
    known,
    queue,
    result,
    run,
)

# 9. Enhanced clusters


@pytest.mark.parametrize(("victim", "how"), [("b1", "kill"), ("b2", "kill"), ("b3", "stop")])
def test_an_owner_has_the_destinations_durables_and_messages(victim, how):
    other = next(name for name in ALL if name != victim)
    found = run(f"""
        create_destination broker={victim} queue=Q
        open_consumer consumer=D broker={victim} topic=T durable=true client_id=c
        close_consumer consumer=D
        send broker={victim} topic=T count=2
        send broker={victim} queue=Q count=3
        send broker={victim} queue=Q count=3 persistent=false
        {how} broker={victim}
        {TAKEN}
        open_consumer consumer=E broker={other} topic=T durable=true client_id=c subscription_name=D
        open_consumer consumer=C broker={other} queue=Q""", **ENHANCED)  # fmt: skip
    assert (got(found, "E"), got(found, "C")) == ([1, 2], [3, 4, 5])
    assert again(found, "C") == []


def test_each_brokers_owner_is_named_and_the_last_one_has_everything():
    found = run(f"""
        send broker=b1 queue=Q count=3
        kill broker=b1
        {TAKEN}
        kill_owner of=b1
        {TAKEN}
        open_consumer consumer=C broker=any queue=Q""", **ENHANCED)  # fmt: skip
    (last,) = (name for name in ("b2", "b3") if at(found, name)["running"])
    first = "b2" if last == "b3" else "b3"
    assert at(found, last)["cluster"] == {
        "b1": f"TAKEOVER_COMPLETE by {first}", first: f"TAKEOVER_COMPLETE by {last}"}  # fmt: skip
    assert got(found, "C") == [1, 2, 3]


@pytest.mark.parametrize("end", ["commit", "rollback"])
@pytest.mark.parametrize("seed", range(3))
def test_a_prepared_acknowledgement_ends_at_its_owner_only(end, seed):
    found = run(
        f"""
        send broker=b1 queue=Q count=5
        open_consumer consumer=X broker=b1 queue=Q xa=true receiving=false
        xa consumer=X action=start xid=x1
        receive consumer=X count=3
        xa consumer=X action=end xid=x1
        xa consumer=X action=prepare xid=x1
        kill broker=b1
        {TAKEN}
        open_consumer consumer=C broker=b3 queue=Q
        snapshot label=prepared
        open_producer producer=Y broker=b2 queue=OTHER xa=true
        open_producer producer=Z broker=b3 queue=OTHER xa=true
        xa producer=Y action={end} xid=x1 id=b2
        xa producer=Z action={end} xid=x1 id=b3
        close_consumer consumer=X""",
        seed,
        **ENHANCED,
    )
    assert found["snapshots"]["prepared"]["received_so_far"]["C"] <= 2
    owner = at(found, "b2")["cluster"]["b1"][-2:]
    assert {id: result(found, id) for id in ("b2", "b3")} == {
        name: "ok" if name == owner else "refused" for name in ("b2", "b3")}  # fmt: skip
    assert sorted(got(found, "C")) == ([4, 5] if end == "commit" else [1, 2, 3, 4, 5])


def test_a_frozen_broker_that_is_not_taken_over_goes_on():
    found = run(
        """
        open_consumer consumer=C broker=b1 queue=Q
        pause broker=b1
        wait ms=20000
        snapshot label=frozen
        resume broker=b1
        send broker=b2 queue=Q count=2""",
        model="enhanced",
        options={**FAST, "imq.cluster.monitor.threshold": 10},
    )
    assert at(found, "b2", "frozen")["cluster"]["b1"] == "OPERATING"
    assert got(found, "C") == [1, 2]


def test_a_cut_broker_is_suspect_and_cleared():
    found = run("""
        cut between=["b1","b2"]
        cut between=["b1","b3"]
        wait_for event=suspect limit_ms=30000
        wait_for event=cleared limit_ms=30000
        heal between=["b1","b2"]
        heal between=["b1","b3"]""", **ENHANCED)  # fmt: skip
    assert at(found, "b2")["cluster"]["b1"] == "OPERATING"


def test_a_quiesced_broker_takes_no_new_clients_and_keeps_those_it_has():
    found = run("""
        open_consumer consumer=C broker=b2 queue=Q
        admin broker=b2 command=quiesce
        connect broker=b2 id=quiet
        send broker=b1 queue=Q count=2
        admin broker=b2 command=unquiesce
        connect broker=b2 id=open""")
    assert (result(found, "quiet"), result(found, "open")) == ("refused", "ok")
    assert got(found, "C") == [1, 2]


def test_a_command_does_not_take_over_a_broker_that_lives():
    found = run("admin broker=b2 command=takeover target=b1 id=live\nstop broker=b1 no_failover=true\n"
                "admin broker=b3 command=takeover target=b1 id=dead\n"
                "admin broker=b2 command=takeover target=b1 id=again", **ENHANCED)  # fmt: skip
    assert [result(found, id) for id in ("live", "dead", "again")] == ["refused", "ok", "refused"]
    assert at(found, "b2")["cluster"]["b1"] == "TAKEOVER_COMPLETE by b3"


def test_a_temporary_destination_of_a_client_that_follows_to_the_owner_is_usable():
    found = run(f"""
        temporary consumer=R broker=b1
        kill broker=b1
        {TAKEN}
        wait ms=10000
        send broker=b2 queue=temp:R count=2
        send broker=b3 queue=temp:R count=2""", **ENHANCED)  # fmt: skip
    assert sorted(got(found, "R")) == [1, 2, 3, 4]
    assert known(found, "queue://temp:R") == ["b2", "b3"]


def test_a_taker_leaves_alone_who_holds_only_messages_of_its_own():
    for seed in range(4):
        found = run(f"""
            open_consumer consumer=C2 broker=b2 queue=Q receiving=false
            open_consumer consumer=C3 broker=b3 queue=Q receiving=false
            send broker=b2 queue=Q count=2
            kill broker=b1
            {TAKEN}
            resume consumer=C2
            resume consumer=C3""", seed, **ENHANCED)  # fmt: skip
        assert sorted(got(found, "C2") + got(found, "C3")) == [1, 2]
        assert again(found, "C2") == again(found, "C3") == []


@pytest.mark.parametrize(("version", "listed"), [("6.5.0", 5), ("5.1", 0)])
def test_copies_of_a_closed_transaction_stay_listed_but_in_5_1(version, listed):
    """Played with both, three times each."""
    script = """
        open_consumer consumer=C broker=b2 queue=Q receiving=false ack_mode=transacted
        send broker=b1 queue=Q count=5
        receive consumer=C count=2
        close_consumer consumer=C
        open_consumer consumer=D broker=b3 queue=Q"""
    found = run(script, version=version)
    assert got(found, "D") == again(found, "D") == [1, 2, 3, 4, 5]
    assert queue(found, "b2")["remote"] == listed


@pytest.mark.parametrize("frozen", [4000, 15_000])
def test_a_client_that_pings_a_frozen_broker_in_vain_comes_back_to_it(frozen):
    found = run(
        f"""
        open_consumer consumer=C broker=["b1","b2"] queue=Q reconnect=true client={{"imqPingAckTimeout":3000}}
        send broker=b3 queue=Q count=2
        pause broker=b1
        send broker=b3 queue=Q count=2
        wait ms={frozen}
        resume broker=b1
        wait ms=9000""",
        **HOME,
    )
    assert got(found, "C") == [1, 2, 3, 4]
    assert again(found, "C") == []  # the longer freeze was played twice with 6.5.0
    assert queue(found, "b1")["remote"] == 0
    assert [holds(found, name) for name in ALL] == [0, 0, 0]


def test_nonpersistent_copies_of_a_dead_home_are_lost_and_listed():
    found = run(
        """
        open_consumer consumer=C1 broker=b2 queue=Q receiving=false
        send broker=b1 queue=Q count=6 persistent=false
        receive consumer=C1 count=2
        kill broker=b1
        resume consumer=C1
        settle
        start_broker broker=b1
        close_consumer consumer=C1
        open_consumer consumer=C2 broker=b3 queue=Q""",
        **HOME,
    )
    assert (got(found, "C1"), got(found, "C2")) == ([1, 2], [])
    assert (holds(found, "b1"), queue(found, "b2")["remote"]) == (0, 4)


def test_a_refused_subscription_is_made_when_it_is_asked_for_again():
    found = run("""
        kill broker=b1
        open_consumer consumer=D1 broker=b2 topic=T durable=true client_id=c subscription_name=s id=refused
        start_broker broker=b1
        open_consumer consumer=D2 broker=b2 topic=T durable=true client_id=c subscription_name=s id=made
        send broker=b3 topic=T count=1""")
    assert (result(found, "refused"), result(found, "made")) == ("refused", "ok")
    assert got(found, "D2") == [1]
    for name in ALL:
        had = 1 if name == "b2" else 0
        assert at(found, name)["durable_subscriptions"] == [f"c/s active messages={had}"]


def test_properties_are_shown_as_the_administration_writes_them():
    names = ["LocalOnly", "UseDMQ", "LimitBehavior", "MaxNumMsgs", "ConsumerFlowLimit"]
    wanted = json.dumps(names, separators=(",", ":"))
    found = run(f"""
        create_destination broker=b1 queue=Q
        open_consumer consumer=C broker=b2 topic=T
        snapshot label=read properties={wanted}""")
    shown = queue(found, "b3", "read")["properties"]
    assert shown == dict(zip(names, ["false", "true", "REJECT_NEWEST", "-1", "1000"], strict=True))
    assert queue(found, "b1", "read", "topic://T")["properties"]["MaxNumMsgs"] == "100000"


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_prepared_messages_survive_their_homes_crash_and_end_after_its_return(end):
    found = run(
        f"""
        open_producer producer=P broker=b1 queue=Q xa=true reconnect=true reconnect_attempts=99
        xa producer=P action=start xid=x
        send producer=P count=3
        xa producer=P action=end xid=x
        xa producer=P action=prepare xid=x
        kill broker=b1
        xa producer=P action={end} xid=x limit_ms=4000 id=dead
        start_broker broker=b1
        open_consumer consumer=C broker=b2 queue=Q
        settle
        snapshot label=back
        xa producer=P action={end} xid=x id=again""",
        **HOME,
    )
    assert (result(found, "dead"), result(found, "again")) == ("refused", "ok")
    assert queue(found, "b1", "back")["in_transaction"] == 3
    assert got(found, "C") == ([1, 2, 3] if end == "commit" else [])


# 10. Table 4-1, its rows about what the home of a client had when it died


@pytest.mark.parametrize(("model", "back"), [
    ("master", "start_broker broker=b1"), ("peer", "start_broker broker=b1"),
    ("enhanced", f"{TAKEN}\nwait ms=8000"),
])  # fmt: skip
def test_an_open_transaction_is_gone_and_the_unacknowledged_come_again_flagged(model, back):
    found = run(
        f"""
        open_producer producer=P broker=["b1","b2"] queue=T ack_mode=transacted reconnect=true
        send producer=P count=3
        open_consumer consumer=C broker=["b1","b2"] queue=Q ack_mode=client receiving=false reconnect=true
        send broker=b1 queue=Q count=8
        receive consumer=C count=5
        kill broker=b1
        create_destination broker=b2 queue=NEW id=create
        open_consumer consumer=O broker=b3 queue=OTHER
        send broker=b2 queue=OTHER count=2
        wait ms=9000
        commit producer=P id=commit
        recover consumer=C
        resume consumer=C
        settle
        snapshot label=dead
        {back}
        acknowledge consumer=C id=done
        open_consumer consumer=T broker=b3 queue=T""",
        model=model,
        options=FAST if model == "enhanced" else None,
    )
    assert got(found, "O") == [12, 13]  # at once
    assert found["snapshots"]["dead"]["received_so_far"]["C"] == (13 if model == "enhanced" else 5)
    assert result(found, "commit") == "refused"
    assert got(found, "T") == []
    assert got(found, "C") == [*range(4, 9), *range(4, 12)]
    assert again(found, "C") == [*range(4, 12)]
    assert result(found, "done") == "ok"
    assert result(found, "create") == ("refused" if model == "master" else "ok")
