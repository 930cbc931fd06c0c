"""Siblings of the recordings: networks, pairs, quorums, fail-over, copies, scale-down and stores."""

from __future__ import annotations

import pytest

from tests.products.artemis.ha import ha, master, pairs, run, slave, store
from tests.products.artemis.siblings import (
    AGAIN,
    BACK,
    LOST,
    OFF,
    OVER,
    PAIR,
    QUICK,
    STORE,
    SYNC,
    V24,
    case,
    scales,
    seen,
)

CHECK = {"core": {"network_check_url_list": "http://gateway:16961/", "network_check_period": 500}}


def checked(policy, **more):
    return {**policy, **CHECK, **more} if "ha" in policy else {"ha": policy, **CHECK, **more}


NETWORK = [
    case("a_store_is_not_taken_over_from_a_master_that_stops_itself",
         {"M1": checked(store("master")), "S1": store("slave")}, f"""
        gateway answers=true
        start
        {SYNC}
        send broker=M1 queue=Q count=2
        gateway broker=M1 answers=false
        wait ms=8000
        snapshot label=gone
        gateway broker=M1 answers=true
        {SYNC}""", {"start": False}, gone="stopped backup_announced",
         roles="live backup_announced", M1=[1, 2]),
    case("a_client_of_a_broker_that_stops_itself", {"A": checked(ha("live_only"))}, """
        gateway answers=true
        start
        open_consumer consumer=C broker=A queue=Q receiving=false
        send broker=A queue=Q count=2
        gateway answers=false
        wait ms=2000
        gateway answers=true
        wait ms=2000
        resume consumer=C
        settle""", {"start": False}, C={"received": [1, 2], "failovers": AGAIN}),
    case("nobody_serves_when_both_are_isolated", {n: checked(p) for n, p in PAIR.items()}, f"""
        gateway answers=true
        start
        {SYNC}
        gateway answers=false
        cut between=["M1","S1"]
        wait ms=3000""", {"start": False}, roles="stopped stopped"),
    case("an_isolated_slave_does_not_take_over",
         {"M1": master(), "S1": checked(slave(), core={"network_check_url_list": "u"})}, f"""
        gateway answers=true
        start
        {SYNC}
        gateway answers=false
        kill broker=M1
        {OVER}
        snapshot label=soon
        wait ms=9000""", {"start": False}, soon="down backup_searching", roles="down stopped"),
    case("killed_while_it_is_isolated", {"A": checked(ha("live_only"))}, """
        gateway answers=true
        start
        gateway answers=false
        wait ms=2000
        kill broker=A
        gateway answers=true
        wait ms=2000""", {"start": False}, roles="down"),
    case("an_address_that_nobody_has",
         {"A": {"core": {"network_check_list": "203.0.113.1"}}, "B": {"core": {
             "network_check_list": "203.0.113.1,127.0.0.1"}}}, SYNC, roles="starting live"),
    case("of_two_kinds_of_addresses_one_is_enough",
         {"A": {"core": {**CHECK["core"], "network_check_list": "127.0.0.1"}}}, """
        gateway answers=false
        wait ms=3000""", roles="live"),
    case("the_gateway_stands_above_the_voters_in_2_5_too",
         {**pairs(2), "S1": checked(slave(group_name="g", **QUICK))}, f"""
        gateway answers=true
        start
        {SYNC}
        cut between=["S1","M1"]
        wait ms=9000""", {"start": False}, roles="live live live"),
]  # fmt: skip

THREE = {"M1": master(), "S1": slave(), "S2": slave()}
PAIRING = [
    case("a_spare_follows_after_an_orderly_stop", THREE, f"""
        start brokers=["M1","S1"]
        {SYNC}
        start_broker broker=S2
        stop broker=M1
        {OVER}""", {"start": False}, roles="stopped live backup_in_sync", pair={"S2": "M1"}),
    case("a_spare_of_a_dead_slave_takes_a_master_that_joins", {**THREE, "M2": master()}, f"""
        start brokers=["M1","S1"]
        {SYNC}
        start_broker broker=S2
        kill broker=S1
        wait ms=20000
        snapshot label=alone
        start_broker broker=M2
        {OVER}""", {"start": False}, alone="live down backup_searching not_started",
         pair={"S2": "M2"}),
    case("the_dead_slave_itself_comes_back", THREE, f"""
        start brokers=["M1","S1"]
        {SYNC}
        start_broker broker=S2
        kill broker=S1
        start_broker broker=S1
        {SYNC}""", {"start": False}, roles="live backup_in_sync backup_searching"),
    case("another_orderly_end_opens_what_was_refused",  # Artemis rule 12.1
         {**THREE, "M2": master(group_name="x")}, f"""
        start brokers=["M1","S1"]
        {SYNC}
        start brokers=["M2","S2"]
        {SYNC}
        kill broker=S1
        {SYNC}
        stop broker=M2
        {OVER}""", {"start": False, **V24},
         pair={"S2": "M2"}, roles="live down live stopped"),
    case("a_group_takes_no_other_groups_place",
         {"M1": master(group_name="a"), "M2": master(group_name="b"), "S1": slave(group_name="a"),
          "S2": slave(group_name="a")}, f"""
        {SYNC}
        kill broker=M2
        {OVER}""", roles="live down backup_in_sync backup_searching"),
]  # fmt: skip

QUORUM = [
    case("two_masters_the_other_dead_before", pairs(2, QUICK), f"""
        {SYNC}
        kill broker=M2
        {OVER}
        kill broker=M1
        wait ms=10000""", roles="down down backup_searching"),
    case("three_masters_quorum_size_1", pairs(3, {"quorum_size": 1, **QUICK}), f"""
        {SYNC}
        cut between=["S1","M1"]
        {OVER}""", roles="live live live live"),
    *(case(f"three_masters_split_1_2_in_{version}", pairs(3, QUICK), f"""
        {SYNC}
        cut between=[["M1","M2"],["S1","M3"]]
        wait ms=12000""", {"version": version}, roles="live live live backup_searching")
      for version in ("2.4", "2.5")),
    case("five_masters_two_voters", pairs(5, QUICK), f"""
        {SYNC}
        cut between=["S1",["M4","M5"]]
        {SYNC}
        kill broker=M1
        wait ms=10000""", roles="down live live live live backup_searching"),
    *(case(f"four_masters_once_joined_late_in_{version}", pairs(4, QUICK), f"""
        start brokers=["M1","M2","M3","M4"]
        stop broker=M4
        stop broker=M3
        start_broker broker=S1
        {SYNC}
        kill broker=M1
        wait ms=10000""", {"start": False, "version": version},
           roles=f"down live stopped stopped {role}", largest={"S1": 2})
      for version, role in (("2.4", "backup_searching"), ("2.5", "live"))),
    *(case(f"two_masters_stop_in_{version}", pairs(2, QUICK), f"""
        {SYNC}
        stop broker=M1
        {OVER}""", {"version": version}, roles="stopped live live") for version in ("2.4", "2.5")),
    case("two_masters_cut_pair_only_2_5", pairs(2, QUICK), f"""
        {SYNC}
        cut between=["S1","M1"]
        wait ms=8000
        snapshot label=cut
        heal between=["S1","M1"]
        {SYNC}""", cut="live live backup_searching", roles="live live backup_in_sync"),
    case("one_slave_after_the_other", {**pairs(3, QUICK), "S2": slave(group_name="h", **QUICK),
                                       "M2": master(group_name="h")}, f"""
        {SYNC}
        kill broker=M1
        wait ms=5000
        kill broker=M2
        wait ms=5000""", roles="down down live live live"),
    case("both_at_once", {**pairs(3, QUICK), "S2": slave(group_name="h", **QUICK),
                          "M2": master(group_name="h")}, f"""
        {SYNC}
        kill brokers=["M1","M2"]
        wait ms=9000""", roles="down down live backup_searching backup_searching"),
    case("quorum_size_2_cut_for_good",  # as it announces itself: the end of a process takes 10 s
         {"M1": master(), "S1": slave(quorum_size=2, vote_retries=1)}, f"""
        cut between=["M1","S1"]
        wait ms=8000
        snapshot label=cut
        wait ms=9000
        snapshot label=later
        heal between=["M1","S1"]
        {SYNC}""", cut="live stopping", later="live backup_searching",
         roles="live backup_in_sync"),
    case("a_returning_master_wins_before_the_last_retry",
         pairs(2, {"vote_retries": 5, "vote_retry_wait": 2000}), f"""
        {SYNC}
        cut between=["S1","M2"]
        kill broker=M1
        wait ms=500
        start_broker broker=M1
        wait ms=15000""", roles="live live backup_in_sync"),
    case("slave_isolated_without_a_word", pairs(3, QUICK), f"""
        {SYNC}
        cut isolate=["S1"] silent=true
        wait ms=12000
        snapshot label=cut
        heal isolate=["S1"]
        {OVER}""", {"cluster": {"connection_ttl": 2000, "check_period": 500}},
         cut="live live live backup_in_sync", roles="live live live backup_in_sync"),  # played twice
    case("a_master_votes_after_an_orderly_end_of_its_slave_too",
         {"M1": master(vote_on_replication_failure=True, quorum_size=2), "S1": slave()}, f"""
        {SYNC}
        stop broker=S1
        wait ms=20000""", roles="stopped stopped"),
    case("isolated_master_of_five_stops_itself",
         pairs(5, QUICK, vote_on_replication_failure=True), f"""
        {SYNC}
        cut between=[["M1","M2"],["M3","M4","M5","S1"]]
        wait ms=14000""", roles="stopped live live live live live"),
    *(case(f"after_a_split_the_slave_does_not_pair_again_{ending}", PAIR, f"""
        {SYNC}
        cut between=["M1","S1"]
        {SYNC}
        send broker=S1 queue=Q count=2
        heal between=["M1","S1"]
        {SYNC}
        {ending} broker=S1
        start_broker broker=S1
        wait ms=30000""", roles="live backup_searching", lost=[1, 2])
      for ending in ("stop", "kill")),
    case("an_isolated_master_that_stops_says_goodbye_to_nobody",
         pairs(3, QUICK, vote_on_replication_failure=True), f"""
        {SYNC}
        cut isolate=["M1"]
        wait ms=14000
        heal isolate=["M1"]
        {SYNC}""", V24, roles="stopped live live backup_searching",
         topology={"M2": ["M1: live M1, backup S1", "M2: live M2, backup -", "M3: live M3, backup -"]}),
    case("one_pair_cut_2_5", PAIR, f"""
        {SYNC}
        cut between=["M1","S1"]
        {SYNC}""", roles="live live"),
]  # fmt: skip

FAILOVER = [
    case("not_persistent_to_a_durable_subscription", PAIR, f"""
        {SYNC}
        open_consumer consumer=D broker=M1 topic=T durable_name=s client_id=c receiving=false
        send broker=M1 topic=T count=1 persistent=false
        send broker=M1 topic=T count=1
        kill broker=M1
        {OVER}
        resume consumer=D
        settle""", D={"received": [2], "redelivered": None}, lost=[1]),
    case("open_transaction_and_an_orderly_stop", PAIR, f"""
        {SYNC}
        open_producer producer=P broker=M1 queue=Q transacted=true
        send producer=P count=2
        stop broker=M1
        {OVER}
        commit client=P
        send producer=P count=1
        commit client=P""", P={"results": [f"step 6 commit: {LOST}", "step 8 commit: ok"]}, S1=[3],
         lost=[1, 2]),
    case("rollback_after_the_failover", PAIR, f"""
        {SYNC}
        open_consumer consumer=C broker=M1 queue=Q ack_mode=transacted receiving=false
        send broker=M1 queue=Q count=2
        receive consumer=C count=1
        kill broker=M1
        {OVER}
        rollback client=C
        receive consumer=C count=2
        commit client=C""", C={"received": [1, 1, 2], "redelivered": None,
                               "results": ["step 7 rollback: ok", "step 9 commit: ok"]}),
    case("scheduled_and_an_orderly_stop", PAIR, f"""
        {SYNC}
        send broker=M1 queue=Q count=1 delivery_delay_ms=9000
        stop broker=M1
        {OVER}
        open_consumer consumer=C broker=S1 queue=Q
        wait ms=3000
        snapshot label=early
        wait ms=4000""", so_far={"early": {"C": 0}}, C={"received": [1]}),
    case("prepared_and_rolled_back", PAIR, f"""
        {SYNC}
        open_client client=X broker=M1 xa=true
        xa client=X act=start
        send client=X queue=Q count=2
        xa client=X act=end
        xa client=X act=prepare
        kill broker=M1
        {OVER}
        open_client client=Y broker=S1 xa=true
        xa client=Y act=rollback
        xa client=Y act=recover""", lost=[1, 2], S1=[],
         Y={"results": ["step 10 xa rollback: ok", "step 11 xa recover: 0 in doubt"]}),
    case("an_id_that_is_taken_commits_the_first_branch", {"A": None}, """
        open_client client=X broker=A xa=true
        xa client=X act=start
        send client=X queue=Q count=1
        xa client=X act=end
        xa client=X act=prepare
        open_client client=Y broker=A xa=true
        xa client=Y act=start
        send client=Y queue=Q count=1
        xa client=Y act=end
        xa client=Y act=commit""", A=[1]),
    case("two_crashes", {"M1": master(check_for_live_server=True), "S1": slave()}, f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        kill broker=M1
        {OVER}
        send broker=S1 queue=Q count=1
        start_broker broker=M1
        {SYNC}
        kill broker=S1
        {OVER}""", roles="live down", M1=[1, 2], lost=[]),
    case("plain_subscriber_and_an_orderly_stop", PAIR, f"""
        {SYNC}
        open_consumer consumer=C broker=M1 topic=T receiving=false
        send broker=M1 topic=T count=2
        stop broker=M1
        {OVER}
        send broker=S1 topic=T count=1
        resume consumer=C
        settle""", C={"received": [3]}, lost=[1, 2]),
    case("a_hang_shorter_than_the_ttl", PAIR, f"""
        {SYNC}
        pause broker=M1
        wait ms=5000
        resume_broker broker=M1
        wait ms=15000""", roles="live backup_in_sync"),
    *(case(f"a_hang_longer_than_the_ttl_in_{version}", PAIR, f"""
        {SYNC}
        pause broker=M1
        wait ms=5000
        resume_broker broker=M1
        wait ms=15000""", {"cluster": {"connection_ttl": 2000, "check_period": 500}, "version": version},
           roles=roles) for version, roles in (("2.4", "live live"), ("2.5", "live backup_in_sync"))),
    case("a_short_hang_of_the_slave", PAIR, f"""
        {SYNC}
        pause broker=S1
        send broker=M1 queue=Q count=1 persistent=false time_limit_ms=100
        wait ms=1000
        resume_broker broker=S1
        send broker=M1 queue=Q count=1
        kill broker=M1
        {OVER}""", roles="down live", S1=[2]),
    case("sends_in_the_background_keep_their_order", PAIR, f"""
        {SYNC}
        send broker=M1 queue=Q count=40 interval_ms=20 in_background=true
        wait ms=300
        kill broker=M1
        {OVER}
        wait_for_sends
        open_consumer consumer=C broker=S1 queue=Q
        settle""", C={"received": [*range(1, 41)]}),
    case("settle_waits_for_sends_that_go_on", {"A": None}, """
        send broker=A queue=Q count=10 interval_ms=800 in_background=true
        settle""", A=[*range(1, 11)]),
    case("the_master_dies_while_its_slave_hangs", PAIR, f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        pause broker=S1
        kill broker=M1
        wait ms=5000
        snapshot label=hung
        resume_broker broker=S1
        {OVER}""", hung="down paused", roles="down live", S1=[1]),
    case("killed_in_its_sleep", PAIR, f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        pause broker=M1
        kill broker=M1
        {OVER}""", roles="down live", S1=[1]),
]  # fmt: skip

SLOW = 'slow between=["M1","S1"] bytes_per_second=1000'
COPYING = [
    case("sent_while_it_copies", PAIR, f"""
        start_broker broker=M1
        {SLOW}
        send broker=M1 queue=Q count=8 size=1000
        start_broker broker=S1
        send broker=M1 queue=Q count=2
        wait ms=15000
        kill broker=M1
        {OVER}""", {"start": False}, roles="down live", S1=[*range(1, 11)]),
    case("only_what_is_persistent_is_copied", PAIR, f"""
        start_broker broker=M1
        send broker=M1 queue=Q count=2 persistent=false
        send broker=M1 queue=Q count=2
        start_broker broker=S1
        {SYNC}
        kill broker=M1
        {OVER}""", {"start": False}, S1=[3, 4], lost=[1, 2]),
    case("the_slave_dies_while_it_copies", PAIR, f"""
        start_broker broker=M1
        {SLOW}
        send broker=M1 queue=Q count=8 size=1000
        start_broker broker=S1
        kill broker=S1
        heal between=["M1","S1"]
        start_broker broker=S1
        {SYNC}""", {"start": False}, roles="live backup_in_sync"),
    case("the_line_breaks_while_it_copies", PAIR, f"""
        start_broker broker=M1
        {SLOW}
        send broker=M1 queue=Q count=8 size=1000
        start_broker broker=S1
        cut between=["M1","S1"]
        wait ms=5000
        heal between=["M1","S1"]
        wait ms=20000""", {"start": False}, roles="live backup_searching"),
    case("a_master_that_comes_back_and_is_cut_off_may_start_again", BACK, f"""
        {SYNC}
        send broker=M1 queue=Q count=8 size=1000
        kill broker=M1
        {OVER}
        {SLOW}
        start_broker broker=M1
        kill broker=M1
        heal between=["M1","S1"]
        start_broker broker=M1
        {SYNC}
        wait ms=3000""", roles="live backup_in_sync"),
]  # fmt: skip

DOWN = [
    case("twice", {"A": scales("to_B"), "B": scales("to_C"), "C": None}, """
        send broker=C queue=Q count=1
        send broker=B queue=Q count=1
        send broker=A queue=Q count=2
        stop broker=A
        stop broker=B""", {"cluster": OFF}, C_=[1, 2, 3, 4]),
    # A connector leads into the cluster, whose first live broker takes all (later/one_connector_*).
    case("who_was_live_first_whatever_connectors_say",
         {"A": scales("to_C"), "B": None, "C": None}, """
        send broker=A queue=Q count=2
        stop broker=A""", {"cluster": OFF}, C_=[], B=[1, 2]),
    case("a_connector_that_leads_nowhere_finds_nobody",
         {"A": scales("to_C"), "B": None, "C": None}, """
        send broker=A queue=Q count=2
        kill broker=C
        stop broker=A""", {"cluster": OFF}, B=[]),
    case("not_persistent", {"A": scales("to_B"), "B": None}, """
        send broker=A queue=Q count=2 persistent=false
        stop broker=A""", {"cluster": OFF}, B=[1, 2]),
    case("consumers_at_the_target", {"A": scales("to_B"), "B": None}, """
        send broker=A queue=Q count=4
        open_consumer consumer=C broker=B queue=Q
        open_consumer consumer=D broker=B queue=Q
        stop broker=A
        settle""", {"cluster": OFF}, C={"received": [1, 3]}, D={"received": [2, 4]}),
    case("an_open_transaction_is_gone", {"A": scales("to_B"), "B": None}, """
        open_producer producer=P broker=A queue=Q transacted=true
        send producer=P count=2
        stop broker=A
        start_broker broker=A
        commit client=P""", {"cluster": OFF}, B=[], A=[], lost=[1, 2],
         P={"results": ["step 5 commit: still blocked"]}),  # it does not come back: 2.4.0, 3 of 3
    case("back_again_it_is_empty", {"A": scales("to_B"), "B": None}, """
        open_consumer consumer=C broker=A queue=Q receiving=false
        send broker=A queue=Q count=2
        stop broker=A
        start_broker broker=A
        resume consumer=C
        settle""", {"cluster": OFF}, B=[1, 2],
         C={"received": [], "failovers": ["failure_detected"]}),  # 2.4.0, 3 of 3
    case("what_a_plain_subscriber_has_not_read_moves", {"A": scales("to_B"), "B": None}, """
        open_consumer consumer=C broker=A topic=T receiving=false
        send broker=A topic=T count=2
        stop broker=A""", {"cluster": OFF}, lost=[], queues={"B": ["Q", "temporary:T"]}),
    case("switched_off", {"A": scales("to_B", enabled=False), "B": None}, """
        send broker=A queue=Q count=2
        stop broker=A
        start_broker broker=A""", {"cluster": OFF}, A=[1, 2], B=[]),
    case("a_queue_that_the_target_lacks", {"A": scales("to_B"), "B": None}, """
        send broker=A queue=R count=2
        stop broker=A""", {"cluster": OFF, "queues": [{"name": "R", "on": ["A"]}]},
         lost=[1, 2], queues={"B": []}),
    case("what_hangs_in_a_line_goes_too", {"A": scales("to_B"), "B": None, "C": None}, """
        open_consumer consumer=C broker=C queue=Q
        pause broker=C
        send broker=A queue=Q count=2
        stop broker=A
        resume_broker broker=C
        settle""", C={"received": [1, 2]}, lost=[]),
]  # fmt: skip

TWO = {**STORE, "S2": store("slave")}
STORES = [
    case("not_persistent", STORE, f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        send broker=M1 queue=Q count=2 persistent=false
        kill broker=M1
        {OVER}""", roles="down live", S1=[1], lost=[2, 3]),
    case("open_receive_transaction", STORE, f"""
        {SYNC}
        open_consumer consumer=C broker=M1 queue=Q ack_mode=transacted receiving=false
        send broker=M1 queue=Q count=3
        receive consumer=C count=2
        kill broker=M1
        {OVER}
        commit client=C
        receive consumer=C count=3
        commit client=C""", C={"received": [1, 2, 1, 2, 3],
                               "results": [f"step 7 commit: {LOST}", "step 9 commit: ok"]}),
    case("failback_with_two_slaves", TWO, f"""
        {SYNC}
        kill broker=M1
        {OVER}
        start_broker broker=M1 wait=false
        wait ms=9000""", roles="live backup_announced backup_announced"),
    case("killed_just_after_the_fail_back", STORE, f"""
        {SYNC}
        kill broker=M1
        {OVER}
        start_broker broker=M1 wait=false
        wait_until broker=M1 role=live
        kill broker=S1
        wait ms=9000""", roles="live down"),
    case("acting_slave_stopped_in_order", TWO, f"""
        {SYNC}
        send broker=M1 queue=Q count=2
        kill broker=M1
        {OVER}
        stop broker=S1
        wait ms=9000
        snapshot label=nobody
        start_broker broker=M1
        {SYNC}""", nobody="down stopped backup_announced", roles="live stopped backup_announced",
         M1=[1, 2]),
    case("slave_comes_after_the_crash", STORE, f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        stop broker=S1
        kill broker=M1
        start_broker broker=S1
        {SYNC}""", roles="down live", S1=[1]),
    case("a_cut_changes_nothing", STORE, f"""
        {SYNC}
        cut between=["M1","S1"]
        wait ms=9000
        snapshot label=cut
        kill broker=M1
        {OVER}""", cut="live backup_announced", roles="down live"),
    case("hung_and_killed", STORE, f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        pause broker=M1
        wait ms=9000
        kill broker=M1
        {OVER}""", roles="down live", S1=[1]),
    case("stopped_on_the_masters_wish",
         {"M1": store("master", failover_on_shutdown=True), "S1": store("slave")}, f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        stop broker=M1
        {OVER}""", roles="stopped live", S1=[1]),
    case("two_masters_stopped_in_order", {"M1": store("master"), "M2": store("master")}, f"""
        start_broker broker=M1
        start_broker broker=M2 wait=false
        send broker=M1 queue=Q count=1
        stop broker=M1
        {SYNC}""", {"start": False}, roles="stopped live", M2=[1]),
    case("a_slave_in_its_own_process_scales_nothing_down",
         {"M1": store("master"), "S1": store("slave", scale_down={"connectors": ["to_A"]}), "A": None},
         f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        kill broker=M1
        {OVER}""", {"cluster": OFF}, roles="down starting live", A=[], lost=[1]),
]  # fmt: skip

ALL = [*NETWORK, *PAIRING, *QUORUM, *FAILOVER, *COPYING, *DOWN, *STORES]


@pytest.mark.parametrize(("brokers", "script", "more", "expected"), ALL)
def test_sibling(brokers, script, more, expected):
    found = run(brokers, script, **more)
    assert {key: seen(found, key, value) for key, value in expected.items()} == expected
