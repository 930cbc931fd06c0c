"""What Artemis brokers do: a behaviour of the guide a test, as Artemis rules 1 to 9 correct it."""

from __future__ import annotations

import pytest

from mqlab.products import outcome_of as outcome
from mqlab.trace.kinds import Kind
from tests.products.activemq.behaviours import Behaviours
from tests.products.artemis.ha import (
    at,
    got,
    ha,
    master,
    pairs,
    roles,
    run,
    slave,
    store,
    trace,
    waiting,
)

behaviour = Behaviours(35)

PAIR = {"M1": master(), "S1": slave()}
SYNC = "wait ms=2000"  # longer than any of these slaves needs for its first copy
QUICK = {"vote_retries": 3, "vote_retry_wait": 1000}
OFF = {"message_load_balancing": "OFF"}


def end(brokers, *lines, **more):
    """Return the roles at the end of a script, as one text."""
    return " ".join(roles(run(brokers, "\n".join(lines), **more)).values())


def paired(found, label="end"):
    """Return which pair each slave in sync is of."""
    return {name: state["pair"] for name, state in found["snapshots"][label]["brokers"].items()
            if state["role"] == "backup_in_sync"}  # fmt: skip


@behaviour(1)
def fish_and_bird():
    fish = {f"M{no}": master(group_name="fish") for no in (1, 2, 3)}
    bird = {f"M{no}": master(group_name="bird") for no in (4, 5)}
    slaves = {f"S{no}": slave(group_name="fish" if no < 5 else "bird") for no in range(1, 7)}
    found = run({**fish, **bird, **slaves}, SYNC)
    pairs = paired(found)
    assert sorted(pairs.values()) == ["M1", "M2", "M3", "M4", "M5"]
    assert {pairs["S5"], pairs["S6"]} == {"M4", "M5"}
    spare = [name for name, role in roles(found).items() if role == "backup_searching"]
    assert len(spare) == 1
    assert spare[0] in ("S1", "S2", "S3", "S4")


@behaviour(2)
def a_spare_does_not_take_the_place_of_a_dead_slave_but_follows_a_takeover():
    three = {"M1": master(), "S1": slave(), "S2": slave()}
    for ending in ("kill", "stop"):
        found = run(three, f"{SYNC}\n{ending} broker=S1\nwait ms=60000")
        assert roles(found)["S2"] == "backup_searching"
    found = run(three, f"{SYNC}\nkill broker=M1\nwait ms=5000")
    assert roles(found) == {"M1": "down", "S1": "live", "S2": "backup_in_sync"}
    assert paired(found) == {"S2": "M1"}


@behaviour(3)
def a_slave_of_another_group_waits():
    brokers = {"M1": master(group_name="bird"), "S1": slave(group_name="fish"),
               "M2": master(group_name="fish")}  # fmt: skip
    script = f'start brokers=["M1","S1"]\n{SYNC}\nsnapshot label=alone\nstart_broker broker=M2\n'
    found = run(brokers, script + SYNC, start=False)
    assert roles(found, "alone")["S1"] == "backup_searching"
    assert paired(found) == {"S1": "M2"}


@behaviour(4)
def without_groups_two_masters_have_two_of_three_slaves():
    found = run({"M1": master(), "M2": master(), **{f"S{no}": slave() for no in (1, 2, 3)}}, SYNC)
    assert sorted(paired(found).values()) == ["M1", "M2"]
    assert sorted(roles(found).values()).count("backup_searching") == 1


@behaviour(5)
def a_slave_alone_never_serves_what_it_has():
    down = f"{SYNC}\nsend broker=M1 queue=Q count=3\nkill broker=M1\nkill broker=S1\n"
    assert end(PAIR, down, "start_broker broker=S1", "wait ms=600000") == "down backup_searching"
    as_master = 'start_broker broker=S1 with={"ha":{"policy":"replication","role":"master"}}'
    found = run(PAIR, f"{down}\n{as_master}\n{SYNC}")
    assert waiting(found, "S1") == [1, 2, 3]


SLOW = """
start broker=M1
slow between=["M1","S1"] bytes_per_second=1000
send broker=M1 queue=Q count=10 size=1000
start_broker broker=S1
wait ms=2000
"""


@behaviour(6)
def a_slave_whose_master_dies_before_it_is_in_sync_does_not_go_live():
    assert end(PAIR, SLOW, "kill broker=M1", "wait ms=60000", start=False) == "down backup_searching"
    control = end(PAIR, SLOW, "wait ms=12000", "kill broker=M1", SYNC, start=False)
    assert control == "down live"


@behaviour(7)
def a_master_whose_slave_does_not_confirm_serves_on_alone():
    for limit, slave_is in ((5000, "backup_searching"), (30_000, "backup_in_sync")):
        brokers = {"M1": master(initial_replication_sync_timeout=limit), "S1": slave()}
        found = run(brokers, f"{SLOW}\nwait ms=20000\nsend broker=M1 queue=Q count=1", start=False)
        assert roles(found) == {"M1": "live", "S1": slave_is}
        assert len(waiting(found, "M1")) == 11


@behaviour(8)
def a_single_pair_that_is_cut_is_live_twice_unless_its_quorum_is_two():
    cut = (SYNC, 'cut between=["M1","S1"]', "wait ms=10000")
    assert end(PAIR, *cut) == "live live"
    two = {"M1": master(), "S1": slave(quorum_size=2, **QUICK)}
    assert "live" not in end(two, *cut).split()[1]
    assert end(two, SYNC, "kill broker=M1", "wait ms=60000") == "down backup_searching"


def after_a_crash(masters, *unreachable, version="2.5"):
    """Return the slave's role after its master's crash; it cannot reach some of the others."""
    cuts = [f'cut between=["S1","{name}"]' for name in unreachable]
    return end(pairs(masters, QUICK), SYNC, *cuts, "kill broker=M1", "wait ms=10000",
               version=version).split()[-1]  # fmt: skip


@behaviour(9)
def of_two_pairs_the_other_master_decides():
    assert after_a_crash(2) == "live"
    assert after_a_crash(2, "M2") == "backup_searching"
    assert after_a_crash(2, version="2.4") == "backup_searching"


@behaviour(10)
def of_three_pairs_both_others_must_agree():
    assert after_a_crash(3) == "live"
    assert after_a_crash(3, "M2") == "backup_searching"
    assert after_a_crash(3, version="2.4") == "backup_searching"


@behaviour(11)
def of_four_three_votes_are_needed_and_of_five_three_suffice():
    assert after_a_crash(4) == "live"
    assert after_a_crash(4, "M2") == "backup_searching"
    assert after_a_crash(5, "M2") == "live"
    assert after_a_crash(5, "M2", "M3") == "backup_searching"


@behaviour(12)
def voters_that_still_see_the_master_prevent_a_split():
    script = (SYNC, 'cut between=["M1","S1"]', "wait ms=10000")
    for version in ("2.4", "2.5"):
        assert end(pairs(3, QUICK), *script, version=version) == "live live live backup_searching"
    healed = end(pairs(3, QUICK), *script, 'heal between=["M1","S1"]', SYNC)
    assert healed == "live live live backup_in_sync"


@behaviour(13)
def after_an_orderly_stop_there_is_a_vote_too():
    run_of = trace(pairs(3), f"{SYNC}\nstop broker=M1\nwait ms=1000\nsnapshot label=end")
    assert outcome(run_of)["snapshots"]["end"]["brokers"]["S1"]["role"] == "live"
    assert [e.broker for e in run_of.events() if e.kind == Kind.Voted] == ["S1"]
    for version in ("2.4", "2.5"):
        stop = (SYNC, "stop broker=M1", "wait ms=10000")
        assert end(pairs(3, QUICK), *stop, version=version).split()[-1] == "live"
    alone = {"M1": master(), "S1": slave(quorum_size=2, **QUICK)}
    assert end(alone, *stop) == "stopped backup_searching"


@behaviour(14)
def a_slave_counts_the_most_brokers_that_it_has_ever_seen():
    others = [f"stop broker=M{no}" for no in (3, 4, 5, 6)]
    crash = ("kill broker=M1", "wait ms=10000")
    assert end(pairs(6, QUICK), SYNC, *others, *crash).split()[-1] == "backup_searching"
    late = ('start brokers=["M1","M2","M3","M4","M5","M6"]', *others, "start_broker broker=S1",
            SYNC, *crash)  # fmt: skip
    assert end(pairs(6, QUICK), *late, start=False).split()[-1] == "live"


BACK = {"M1": master(check_for_live_server=True), "S1": slave(allow_failback=True)}
OVER = """
wait ms=2000
send broker=M1 queue=Q count=10
kill broker=M1
wait ms=3000
open_consumer consumer=S broker=S1 queue=Q receiving=false
receive consumer=S count=6
close_consumer consumer=S
start_broker broker=M1
wait ms=10000
open_consumer consumer=M broker={} queue=Q
wait ms=1000
"""


@behaviour(15)
def after_a_fail_back_the_roles_are_as_before_and_nothing_comes_again():
    found = run(BACK, OVER.format("M1"))
    assert roles(found) == {"M1": "live", "S1": "backup_in_sync"}
    assert (got(found, "S"), got(found, "M")) == ([1, 2, 3, 4, 5, 6], [7, 8, 9, 10])


@behaviour(16)
def a_master_that_does_not_check_delivers_again_what_its_slave_has():
    brokers = {"M1": master(), "S1": slave(allow_failback=True)}
    found = run(brokers, OVER.format("M1"))
    assert roles(found) == {"M1": "live", "S1": "live"}
    assert at(found, "M1")["pair"] == at(found, "S1")["pair"]
    assert got(found, "M") == [*range(1, 11)]
    assert found["received_more_than_once"] == [1, 2, 3, 4, 5, 6]


@behaviour(17)
def without_allow_failback_the_master_stays_a_slave():
    for given in ({"allow_failback": False}, {}):
        brokers = {"M1": master(check_for_live_server=True), "S1": slave(**given)}
        found = run(brokers, OVER.format("S1"))
        assert roles(found) == {"M1": "backup_in_sync", "S1": "live"}
        assert got(found, "M") == [7, 8, 9, 10]


@behaviour(18)
def only_persistent_messages_survive():
    for ending in ("kill", "stop"):
        found = run(
            PAIR,
            f"""{SYNC}
            send broker=M1 queue=Q count=2
            send broker=M1 queue=Q count=2 persistent=false
            {ending} broker=M1
            {SYNC}""",
        )
        assert waiting(found, "S1") == [1, 2]
        assert found["lost"] == [3, 4]


@behaviour(19)
def a_master_that_may_vote_stops_itself_when_it_is_alone():
    for votes, role in ((True, "stopped"), (False, "live")):
        brokers = pairs(3, QUICK, vote_on_replication_failure=votes)
        script = f'{SYNC}\ncut isolate=["M1"]\nwait ms=5000\nsnapshot label=early\nwait ms=7000'
        found = run(brokers, script)
        assert roles(found, "early")["M1"] == "live"
        assert roles(found)["M1"] == role
    assert end(pairs(3, vote_on_replication_failure=True), SYNC, "kill broker=S1",
               "wait ms=30000").split()[0] == "live"  # fmt: skip


@behaviour(20)
def a_shared_store_goes_over_after_a_crash_and_not_after_a_stop():
    brokers = {"M1": store("master"), "S1": store("slave")}
    found = run(brokers, f"{SYNC}\nsend broker=M1 queue=Q count=3\nkill broker=M1\nwait ms=1500")
    assert roles(found)["S1"] == "live"
    assert waiting(found, "S1") == [1, 2, 3]
    stopped = (SYNC, "stop broker=M1", "wait ms=60000")
    assert end(brokers, *stopped) == "stopped backup_announced"
    for who, role in (("M1", "live"), ("S1", "backup_announced")):
        more = {**brokers, who: store("master" if who == "M1" else "slave",
                                      failover_on_shutdown=True)}  # fmt: skip
        assert end(more, *stopped) == f"stopped {role}"
    assert end(brokers, SYNC, "stop broker=M1 failover=true", "wait ms=3000") == "stopped live"


@behaviour(21)
def of_two_slaves_of_a_store_one_queues_for_the_backup_lock():
    brokers = {"M1": store("master"), "S1": store("slave"), "S2": store("slave")}
    assert end(brokers, SYNC) == "live backup_announced backup_queued"
    first = (SYNC, "kill broker=M1", "wait ms=3000")
    assert end(brokers, *first) == "down live backup_announced"
    assert end(brokers, *first, "kill broker=S1", "wait ms=3000") == "down down live"


@behaviour(22)
def with_a_shared_store_fail_back_is_the_default():
    back = (SYNC, "kill broker=M1", "wait ms=3000", "start_broker broker=M1", "wait ms=10000")
    brokers = {"M1": store("master"), "S1": store("slave")}
    assert end(brokers, *back) == "live backup_announced"
    refuses = {"M1": store("master"), "S1": store("slave", allow_failback=False)}
    assert end(refuses, *back) == "starting live"
    assert end(refuses, *back, "kill broker=S1", "wait ms=3000") == "live down"
    once = {"M1": store("master"), "S1": store("slave", restart_backup=False)}
    assert end(once, *back) == "live stopped"


@behaviour(23)
def a_slave_of_a_store_goes_live_only_if_a_master_crashed_on_it():
    brokers = {"M1": store("master"), "S1": store("slave")}
    alone = ("start_broker broker=S1", "wait ms=60000")
    assert end(brokers, *alone, start=False) == "not_started backup_holding_lock"
    ran = ("start_broker broker=M1", SYNC)
    assert end(brokers, *ran, "kill broker=M1", *alone, start=False) == "down live"
    stopped = end(brokers, *ran, "stop broker=M1", *alone, start=False)
    assert stopped == "stopped backup_holding_lock"


def colocated(*others, **more):
    return ha("replication", "colocated", excludes=[f"to_{name}" for name in others], master={},
              slave={}, **more)  # fmt: skip


def hosts(found, broker="A"):
    return at(found, broker).get("hosts", {})


@behaviour(24)
def ports_are_shifted_by_the_offset_for_each_hosted_backup():
    for offset, ports in ((100, [61716, 61816]), (150, [61766, 61916])):
        brokers = {"A": colocated("B", "C", max_backups=2, backup_port_offset=offset),
                   "B": colocated(request_backup=True, max_backups=0),
                   "C": colocated(request_backup=True, max_backups=0)}  # fmt: skip
        found = hosts(run(brokers, "wait ms=10000"))
        assert list(found) == ["colocated_backup_01", "colocated_backup_11"]
        assert [row["acceptors"] for row in found.values()] == [[f"netty tcp {port}"] for port in ports]
        assert {row["role"] for row in found.values()} == {"backup_in_sync"}


@behaviour(25)
def only_excluded_connectors_keep_their_port_and_find_the_master():
    other = {"B": colocated(request_backup=True, max_backups=0)}
    kept = hosts(run({"A": colocated("B"), **other}, "wait ms=10000"))["colocated_backup_01"]
    assert "to_B tcp 61616" in kept["connectors"]
    assert kept["role"] == "backup_in_sync"
    shifted = hosts(run({"A": colocated(), **other}, "wait ms=10000"))["colocated_backup_01"]
    assert "to_B tcp 61716" in shifted["connectors"]
    assert shifted["role"] == "backup_searching"


@behaviour(26)
def of_three_colocated_masters_the_first_two_host_each_other():
    brokers = {name: colocated(*"ABC".replace(name, ""), request_backup=True) for name in "ABC"}
    script = 'start brokers=["A","B"]\nwait ms=6000\nstart_broker broker=C\nwait ms=120000'
    found = run(brokers, script, start=False)
    assert [row["pair"] for row in hosts(found, "A").values()] == ["B"]
    assert [row["pair"] for row in hosts(found, "B").values()] == ["A"]
    assert hosts(found, "C") == {}


@behaviour(27)
def a_request_is_repeated_for_ever():
    asks = colocated(request_backup=True, max_backups=0, backup_request_retries=2,
                     backup_request_retry_interval=5000)  # fmt: skip
    brokers = {"A": asks, "B": colocated(max_backups=0), "H": colocated("A", "B")}
    script = 'start brokers=["A","B"]\nwait ms=60000\nsnapshot label=alone\nstart_broker broker=H\n'
    found = run(brokers, f"{script}\nwait ms=2000\nsnapshot label=soon\nwait ms=6000", start=False)
    alone = found["snapshots"]["alone"]["brokers"]
    assert not any("hosts" in state for state in alone.values())
    assert [row["pair"] for row in hosts(found, "H").values()] == ["A"]


def down(**more):
    return {"A": ha("live_only", scale_down={"connectors": ["B"], **more}), "B": None}


ODD_EVEN = "\n".join(f"send broker={'BA'[no % 2 == 0]} queue=Q count=1" for no in range(1, 11))


@behaviour(28)
def scaled_down_messages_join_the_tail():
    found = run(down(), f"{ODD_EVEN}\nstop broker=A\n{SYNC}", cluster=OFF)
    assert waiting(found, "B") == [1, 3, 5, 7, 9, 2, 4, 6, 8, 10]
    assert found["lost"] == []


@behaviour(29)
def a_broker_that_is_killed_scales_nothing_down():
    found = run(down(), f"{ODD_EVEN}\nkill broker=A\n{SYNC}", cluster=OFF)
    assert waiting(found, "B") == [1, 3, 5, 7, 9]
    assert found["lost"] == [2, 4, 6, 8, 10]


@behaviour(30)
def a_client_does_not_follow_a_scale_down():
    script = """open_consumer consumer=C broker=A queue=Q {}
        stop broker=A
        wait ms=30000
        send broker=B queue=Q count=3
        wait ms=1000"""
    endless = run(down(), script.format(""))
    assert got(endless, "C") == []
    assert endless["consumers"]["C"]["failovers"] == ["failure_detected"]
    once = run(down(), script.format('url={"reconnect_attempts":1}'))
    assert once["consumers"]["C"]["failovers"][-1] == "failover_failed"
    told = run(down(), f"{script.format('')}\nopen_consumer consumer=D broker=B queue=Q\n{SYNC}")
    assert got(told, "D") == [1, 2, 3]


@behaviour(31)
def without_a_connector_there_is_no_target():
    brokers = {"A": ha("live_only", scale_down={}), "B": None}
    found = run(brokers, f"{ODD_EVEN}\nstop broker=A\nsnapshot label=stopped\nstart_broker broker=A",
                cluster=OFF)  # fmt: skip
    assert waiting(found, "B") == [1, 3, 5, 7, 9]
    assert waiting(found, "A") == [2, 4, 6, 8, 10]


@behaviour(32)
def without_a_member_of_the_group_the_messages_stay_after_10_seconds():
    script = f"{ODD_EVEN}\nstop broker=A\nstart_broker broker=A"
    run_of = trace(down(group_name="g"), f"{script}\nsnapshot label=end", cluster=OFF)
    found = outcome(run_of)
    assert waiting(found, "A") == [2, 4, 6, 8, 10]
    stopped = next(e for e in run_of.events() if e.kind == Kind.Stopped)
    assert (
        stopped.t - max(e.t for e in run_of.events() if e.kind == Kind.Sent) >= 9_900_000
    )  # the sends take some ms
    member = {"A": down(group_name="g")["A"], "B": ha("live_only", scale_down={"group_name": "g"})}
    assert waiting(run(member, f"{ODD_EVEN}\nstop broker=A", cluster=OFF), "B")[5:] == [
        2,
        4,
        6,
        8,
        10,
    ]


@behaviour(33)
def only_a_hosted_slave_scales_down():
    scales = {"scale_down": {"connectors": ["M2"]}}
    for ending in ("kill", "stop"):
        found = run(
            pairs(2, {**scales, **QUICK}),
            f"""{SYNC}
            send broker=M1 queue=Q count=2
            {ending} broker=M1
            wait ms=20000""",
            cluster=OFF,
        )
        assert roles(found)["S1"] == "starting"
        assert waiting(found, "M2") == []
    half = {"request_backup": True, "master": {}, "slave": {"scale_down": {"enabled": True}}}
    shared = {n: {"ha": ha("shared_store", "colocated", **half), "shared_store": n} for n in "AB"}
    found = run(
        shared,
        """wait ms=5000
        send broker=A queue=Q count=2
        send broker=B queue=Q count=2
        kill broker=B
        wait ms=5000""",
        cluster=OFF,
    )
    assert waiting(found, "A") == [1, 2, 3, 4]
    assert [row["role"] for row in hosts(found).values()] == ["stopped"]
    two = {n: colocated("AB".replace(n, ""), request_backup=True) for n in "AB"}
    for policy in two.values():
        policy["slave"] = {"scale_down": {"enabled": True}, **QUICK}
    for ending, lie in (("stop", [1, 2]), ("kill", [])):  # after a crash its own host votes no
        script = f"wait ms=8000\nsend broker=B queue=Q count=2\n{ending} broker=B\nwait ms=9000"
        assert waiting(run(two, script, cluster=OFF), "A") == lie


@behaviour(34)
def a_prepared_transaction_is_on_the_target():
    found = run(
        down(),
        """
        open_client client=X broker=A xa=true
        xa client=X act=start
        send client=X queue=Q count=2
        xa client=X act=end
        xa client=X act=prepare
        stop broker=A
        open_client client=Y broker=B xa=true
        xa client=Y act=recover
        xa client=Y act=commit
        open_consumer consumer=C broker=B queue=Q
        wait ms=1000""",
    )
    assert [text.split(" ", 2)[2] for text in found["senders"]["Y"]["results"]] == [
        "xa recover: 1 in doubt", "xa commit: ok",
    ]  # fmt: skip
    assert got(found, "C") == [1, 2]


@behaviour(35)
def old_sets_beyond_the_maximum_are_deleted_and_the_slave_goes_on():
    again = "stop broker=S1\nstart_broker broker=S1\nwait ms=3000\n"
    for most, kept in ((2, [3, 4]), (0, []), (-1, [1, 2, 3, 4]), (1, [4])):
        brokers = {"M1": master(), "S1": slave(max_saved_replicated_journals_size=most)}
        found = run(brokers, f"{SYNC}\n{again * 3}files label=f broker=S1")
        names = [f for f in found["files"]["f"]["S1"] if f.startswith("journal/oldreplica")]
        assert names == [f"journal/oldreplica.{no}" for no in kept]
        assert roles(found)["S1"] == "backup_in_sync"


@pytest.mark.parametrize("check", behaviour.cases())
def test_behaviour(check):
    assert check is not None, "no check for this number"
    check()


@pytest.mark.parametrize(("version", "names", "hosted"), [
    ("2.4", "ABC", "backup_searching"), ("2.5", "ABC", "live"), ("2.5", "AB", "backup_in_sync"),
])  # fmt: skip
def test_a_hosted_slave_needs_a_third_broker_to_be_believed(version, names, hosted):
    # Artemis rule 7.3: its own host goes on seeing the dead one.
    brokers = {
        name: ha("replication", "colocated", request_backup=True, master={}, slave={},
                 excludes=[f"to_{other}" for other in names if other != name])
        for name in names
    }  # fmt: skip
    script = "settle quiet_ms=5000\nsend broker=B queue=Q count=5\nkill broker=B\nsettle quiet_ms=5000"
    found = run(brokers, script, version=version)
    (backup,) = at(found, "A")["hosts"].values()
    assert backup["role"] == hosted
    assert found["lost"] == ([] if hosted == "live" else [1, 2, 3, 4, 5])
