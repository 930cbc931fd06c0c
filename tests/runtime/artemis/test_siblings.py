"""Siblings of the recorded scenarios: other numbers, endings, policies and versions of each theme.

What each ends with follows from artemis-observed.md and artemis-ha.md and was written down before it
was played; the comments name the rule where it is not the theme's own.
"""

from __future__ import annotations

import pytest

from tests.runtime.artemis.ha import at, ha, master, pairs, run, slave, store

PAIR = {"M1": master(), "S1": slave()}
BACK = {"M1": master(check_for_live_server=True), "S1": slave(allow_failback=True)}
STORE = {"M1": store("master"), "S1": store("slave")}
AB, ABC = dict.fromkeys("AB"), dict.fromkeys("ABC")
QUICK = {"vote_retries": 3, "vote_retry_wait": 1000}
OFF, STRICT = ({"message_load_balancing": kind} for kind in ("OFF", "STRICT"))
LOST = "TransactionRolledBackException / ActiveMQTransactionRolledBackException AMQ119030"
AGAIN = ["failure_detected", "failover_completed"]
GAVE_UP = ["failure_detected", "failover_failed"]
WINDOW = '{"confirmation_window_size":1000}'
SHORT = '{"confirmation_window_size":1000,"connection_ttl":2000}'
THRICE = '{"confirmation_window_size":1000,"reconnect_attempts":3}'
SYNC, OVER = "wait ms=2000", "wait ms=3000"


def scales(*connectors, **more):
    return ha("live_only", scale_down={"connectors": list(connectors), **more})


def colocated(policy, names, slave_part=None, master_part=None, **more):
    """Return brokers that ask for a backup and take one, with their connectors excluded."""
    found = {}
    for name in names:
        others = [f"to_{other}" for other in names if other != name]
        keys = {"excludes": others} if policy == "replication" else {}
        half = {"request_backup": True, "master": master_part or {}, "slave": slave_part or {}}
        found[name] = {"ha": ha(policy, "colocated", **half, **keys, **more)}
        if policy == "shared_store":
            found[name]["shared_store"] = f"store of {name}"
    return found


def case(name, brokers, script, more=None, **expected):
    return pytest.param(brokers, script, more or {}, expected, id=name)


V24, V25 = {"version": "2.4"}, {"version": "2.5"}

CLIENTS = [
    case("second_try_finds_it", {"A": None}, """
        open_consumer consumer=C broker=A queue=Q url={"reconnect_attempts":2,"retry_interval":1000}
        kill broker=A
        start_broker broker=A
        send broker=A queue=Q count=2
        wait ms=500""", C={"received": [1, 2], "failovers": AGAIN}),
    case("too_late_for_three_tries", {"A": None}, """
        open_consumer consumer=C broker=A queue=Q url={"reconnect_attempts":3,"retry_interval":500}
        kill broker=A
        wait ms=1500
        start_broker broker=A
        send broker=A queue=Q count=2""", C={"received": [], "failovers": GAVE_UP}, A=[1, 2]),
    case("without_ha_it_does_not_follow", PAIR, """
        wait ms=2000
        open_consumer consumer=C broker=M1 queue=Q url={"ha":false,"reconnect_attempts":5}
        open_consumer consumer=D broker=M1 queue=Q url={"ha":false}
        kill broker=M1
        wait ms=5000
        send broker=S1 queue=Q count=1""",
         C={"failovers": GAVE_UP}, D={"failovers": GAVE_UP[:1]}, S1=[1]),
    case("broken_line_client_acknowledge", {"A": None}, """
        open_consumer consumer=C broker=A queue=Q ack_mode=client receiving=false
        send broker=A queue=Q count=4
        receive consumer=C count=2 acknowledge=false
        cut between=["clients","A"]
        wait ms=500
        heal between=["clients","A"]
        wait ms=1000
        resume consumer=C
        settle""", C={"received": [1, 2, 1, 1, 2, 3, 4], "redelivered": [1, 1, 2, 3, 4],
                      "results": [f"step 9 acknowledge 1: {LOST}"], "failovers": AGAIN}),
    case("broken_line_window_transacted_consumer", {"A": None}, f"""
        open_consumer consumer=C broker=A queue=Q ack_mode=transacted receiving=false url={WINDOW}
        send broker=A queue=Q count=4
        receive consumer=C count=3
        cut between=["clients","A"]
        wait ms=500
        heal between=["clients","A"]
        wait ms=1000
        commit client=C""",
         C={"received": [1, 2, 3], "results": ["step 8 commit: ok"], "failovers": AGAIN},
         lost=[]),
    case("broken_line_window_no_attempt_left", {"A": None}, f"""
        open_consumer consumer=C broker=A queue=Q receiving=false url={THRICE}
        cut between=["clients","A"]
        wait ms=5000""", C={"failovers": GAVE_UP}),
    case("a_session_that_stays_is_given_up_after_the_ttl", {"A": None}, f"""
        open_consumer consumer=C broker=A queue=Q receiving=false url={SHORT}
        send broker=A queue=Q count=2
        cut between=["clients","A"]
        wait ms=1000
        snapshot label=soon
        wait ms=2000
        snapshot label=late
        heal between=["clients","A"]
        wait ms=1000
        resume consumer=C
        settle""", in_flight={"soon": 2, "late": 0},
         C={"received": [1, 2], "redelivered": [1, 2], "failovers": AGAIN}),
    case("window_is_of_no_use_when_the_broker_dies", {"A": None}, """
        open_producer producer=P broker=A queue=Q transacted=true url={"confirmation_window_size":1000}
        send producer=P count=2
        kill broker=A
        start_broker broker=A
        commit client=P""", P={"results": [f"step 5 commit: {LOST}"], "failovers": AGAIN}, A=[]),
    case("silence_shorter_than_the_ttl", {"A": None}, """
        open_consumer consumer=C broker=A queue=Q receiving=false url={"connection_ttl":5000}
        send broker=A queue=Q count=2
        cut between=["clients","A"] silent=true
        wait ms=3000
        heal between=["clients","A"]
        wait ms=9000
        resume consumer=C
        settle""", C={"received": [1, 2], "redelivered": None, "failovers": None}),
    case("broken_line_transaction_without_work", {"A": None}, """
        open_producer producer=P broker=A queue=Q transacted=true
        cut between=["clients","A"]
        heal between=["clients","A"]
        wait ms=500
        send producer=P count=2
        commit client=P""", P={"results": ["step 6 commit: ok"]}, A=[1, 2]),
    case("commit_waits_for_the_reconnection", {"A": None}, """
        open_producer producer=P broker=A queue=Q transacted=true
        cut between=["clients","A"]
        commit client=P
        heal between=["clients","A"]
        wait ms=500""", P={"results": ["step 3 commit: still blocked", "step 3 commit: ok"]}),
    case("endless_first_connection", {"A": None}, """
        kill broker=A
        open_consumer consumer=C broker=A queue=Q
        start_broker broker=A
        send broker=A queue=Q count=2
        settle""", C={"received": [1, 2], "results": ["step 2 open_consumer: still blocked"]}),
    case("first_of_two_addresses_dead", AB, """
        kill broker=A
        open_consumer consumer=C broker=["A","B"] queue=Q url={"initial_connect_attempts":1}
        send broker=B queue=Q count=2
        settle""", C={"received": [1, 2]}),
    case("closing_in_vain_takes_20_s", AB, """
        open_consumer consumer=C broker=A queue=Q
        kill broker=A
        send broker=B queue=Q count=30 interval_ms=1000 in_background=true
        close_consumer consumer=C""", B=[*range(1, 22)],
         C={"failovers": GAVE_UP, "results": ["step 4 close_consumer: still blocked"]}),
    case("given_up_for_good", {"A": None}, """
        open_consumer consumer=C broker=A queue=Q receiving=false url={"reconnect_attempts":1}
        kill broker=A
        start_broker broker=A
        send broker=A queue=Q count=1
        receive consumer=C count=1""", C={"received": [], "failovers": GAVE_UP}, A=[1]),
]  # fmt: skip

HOSTS = [
    case("three_hosted_offset_10", {
        "A": ha("replication", "colocated", max_backups=3, backup_port_offset=10, master={}, slave={},
                excludes=["to_B", "to_C", "to_D"]),
        **{n: ha("replication", "colocated", request_backup=True, max_backups=0, master={}, slave={})
           for n in "BCD"}}, "wait ms=9000",
         ports={"colocated_backup_01": 61626, "colocated_backup_11": 61636,
                "colocated_backup_21": 61646}),
    case("shared_store_stopped_in_order", colocated("shared_store", "AB"), """
        wait ms=8000
        send broker=B queue=Q count=2
        stop broker=B
        wait ms=8000""", hosted={"A": "backup"}, lost=[1, 2]),
    case("shared_store_failover_on_shutdown",
         colocated("shared_store", "AB", master_part={"failover_on_shutdown": True}), """
        wait ms=8000
        stop broker=B
        wait ms=8000""", hosted={"A": "live"}),
    case("shared_store_killed", colocated("shared_store", "AB"), """
        wait ms=8000
        send broker=B queue=Q count=2
        kill broker=B
        wait ms=8000""", hosted={"A": "live"}, lost=[]),
    case("shared_store_killed_with_scale_down",
         colocated("shared_store", "ABC", {"scale_down": {"enabled": True}}), """
        wait ms=8000
        send broker=A queue=Q count=1
        send broker=B queue=Q count=2
        kill broker=B
        wait ms=8000""", {"cluster": OFF}, hosted={"A": "stopped"}, A=[1, 2, 3], lost=[]),
    case("a_client_follows_to_a_hosted_backup", colocated("replication", "ABC", QUICK), """
        wait ms=8000
        open_consumer consumer=C broker=B queue=Q receiving=false
        send broker=B queue=Q count=2
        kill broker=B
        wait ms=8000
        resume consumer=C
        settle""", {"cluster": OFF}, hosted={"A": "live"},
         C={"received": [1, 2], "failovers": AGAIN}),
    case("a_third_that_the_host_cannot_hear", colocated("replication", "ABC", QUICK), """
        wait ms=8000
        cut between=["A","C"]
        wait ms=2000
        kill broker=B
        wait ms=9000""", hosted={"A": "backup_searching"}),
    case("nobody_hosts", colocated("replication", "AB", max_backups=0), "wait ms=20000", hosted={}),
    case("the_requester_comes_back_to_its_backup", colocated("replication", "AB"), """
        wait ms=8000
        kill broker=B
        wait ms=5000
        start_broker broker=B
        wait ms=5000""", V24, hosted={"A": "backup_in_sync"}),
]  # fmt: skip

FAILBACK = [
    case("what_was_only_in_memory", BACK, f"""
        {SYNC}
        kill broker=M1
        {OVER}
        send broker=S1 queue=Q count=1
        send broker=S1 queue=Q count=2 persistent=false
        start_broker broker=M1
        {OVER}""", roles="live backup_in_sync", M1=[1], lost=[2, 3]),
    case("after_an_orderly_stop", BACK, f"""
        {SYNC}
        send broker=M1 queue=Q count=2
        stop broker=M1
        {OVER}
        start_broker broker=M1
        {OVER}""", roles="live backup_in_sync", M1=[1, 2]),
    case("durable_subscription_both_ways", BACK, f"""
        {SYNC}
        open_consumer consumer=D broker=M1 topic=T durable_name=s client_id=c receiving=false
        close_consumer consumer=D
        send broker=M1 topic=T count=1
        kill broker=M1
        {OVER}
        send broker=S1 topic=T count=1
        start_broker broker=M1
        {OVER}
        open_consumer consumer=E broker=M1 topic=T durable_name=s client_id=c
        settle""", roles="live backup_in_sync", E={"received": [1, 2]}),
    case("prepared_transaction_both_ways", BACK, f"""
        {SYNC}
        open_client client=X broker=M1 xa=true
        xa client=X act=start
        send client=X queue=Q count=2
        xa client=X act=end
        xa client=X act=prepare
        kill broker=M1
        {OVER}
        start_broker broker=M1
        {OVER}
        open_client client=Y broker=M1 xa=true
        xa client=Y act=recover
        xa client=Y act=commit""", Y={"results": ["step 12 xa recover: 1 in doubt",
                                                  "step 13 xa commit: ok"]}, M1=[1, 2]),
    case("no_failback_then_orderly_stop_of_the_slave",
         {"M1": master(check_for_live_server=True), "S1": slave()}, f"""
        {SYNC}
        send broker=M1 queue=Q count=2
        kill broker=M1
        {OVER}
        start_broker broker=M1
        {OVER}
        stop broker=S1
        {OVER}""", roles="live stopped", M1=[1, 2]),
    case("both_dead_and_the_master_first", BACK, f"""
        {SYNC}
        send broker=M1 queue=Q count=1
        kill broker=M1
        {OVER}
        send broker=S1 queue=Q count=1
        kill broker=S1
        start_broker broker=M1
        {SYNC}""", roles="live down", M1=[1], lost=[2]),
    case("the_master_waits_and_takes_over_when_the_spare_has",  # no new live, no fail-back
         {**BACK, "S2": slave(allow_failback=True)}, f"""
        start brokers=["M1","S1"]
        start_broker broker=S2
        kill broker=M1
        {OVER}
        start_broker broker=M1
        snapshot label=waits
        kill broker=S1
        wait ms=9000""", {"start": False},
         waits="backup_searching live backup_in_sync", roles="live down backup_in_sync"),
    case("without_check_after_an_orderly_stop", PAIR, f"""
        {SYNC}
        send broker=M1 queue=Q count=2
        stop broker=M1
        {OVER}
        start_broker broker=M1
        {OVER}""", roles="live live", M1=[1, 2], S1=[1, 2]),
]  # fmt: skip

BALANCING = [
    case("two_consumers_share_their_brokers_turn", AB, """
        open_consumer consumer=C broker=A queue=Q
        open_consumer consumer=D broker=B queue=Q
        open_consumer consumer=E broker=B queue=Q
        send broker=A queue=Q count=8
        settle""", C={"received": [1, 3, 5, 7]}, D={"received": [2, 6]}, E={"received": [4, 8]}),
    case("sent_at_the_later_broker_its_own_is_first", AB, """
        open_consumer consumer=C broker=A queue=Q
        open_consumer consumer=D broker=B queue=Q
        send broker=B queue=Q count=4
        settle""", C={"received": [2, 4]}, D={"received": [1, 3]}),
    case("selectors_decide_where", AB, """
        open_consumer consumer=C broker=A queue=Q selector="c='red'"
        open_consumer consumer=D broker=B queue=Q selector="c='blue'"
        send broker=A queue=Q count=6 properties={"c":["blue","red","green"]}
        settle""", C={"received": [2, 5]}, D={"received": [1, 4]}, A=[3, 6], B=[]),
    case("off_with_consumers_on_both", AB, """
        open_consumer consumer=C broker=A queue=Q
        open_consumer consumer=D broker=B queue=Q
        send broker=A queue=Q count=4
        settle""", {"cluster": OFF}, C={"received": [1, 2, 3, 4]}, D={"received": []}),
    case("off_without_consumers", AB, "send broker=A queue=Q count=4", {"cluster": OFF},
         A=[1, 2, 3, 4]),
    case("off_durable_subscription_on_both", AB, """
        open_consumer consumer=C broker=A topic=T durable_name=s client_id=c
        open_consumer consumer=D broker=B topic=T durable_name=s client_id=c
        send broker=A topic=T count=3
        settle""", {"cluster": OFF}, C={"received": [1, 2, 3]}, D={"received": []}),
    case("off_refuses_a_message_whole", AB, """
        open_consumer consumer=C broker=A topic=T
        open_consumer consumer=D broker=B topic=T durable_name=s client_id=c
        send broker=A topic=T count=1
        settle""", {"cluster": OFF}, C={"received": []}, D={"received": []},
         sender3={"sent": [], "failed": ["1 JMSException / ActiveMQInternalErrorException"]}),
    case("redistribution_takes_turns", ABC, """
        send broker=A queue=Q count=6
        open_consumer consumer=C broker=B queue=Q receiving=false
        open_consumer consumer=D broker=C queue=Q receiving=false
        wait ms=5000
        resume consumer=C
        resume consumer=D
        settle""", {"address_settings": {"redistribution_delay": 3000}},
         C={"received": [1, 3, 5]}, D={"received": [2, 4, 6]}),
    case("redistribution_after_its_delay", AB, """
        send broker=A queue=Q count=2
        open_consumer consumer=C broker=B queue=Q
        wait ms=2500
        snapshot label=early
        wait ms=1000""", {"address_settings": {"redistribution_delay": 3000}},
         so_far={"early": {"C": 0}}, C={"received": [1, 2]}),
    case("redistribution_of_what_is_not_persistent", AB, """
        send broker=A queue=Q count=2 persistent=false
        open_consumer consumer=C broker=B queue=Q
        settle""", {"address_settings": {"redistribution_delay": 0}}, C={"received": [1, 2]}),
    case("redistribution_of_a_durable_subscription", AB, """
        open_consumer consumer=D broker=A topic=T durable_name=s client_id=c receiving=false
        close_consumer consumer=D
        send broker=A topic=T count=2
        open_consumer consumer=E broker=B topic=T durable_name=s client_id=c
        settle""", {"address_settings": {"redistribution_delay": 0}}, E={"received": [1, 2]}),
    case("strict_does_not_redistribute", AB, """
        send broker=A queue=Q count=4
        open_consumer consumer=C broker=B queue=Q
        settle""", {"cluster": STRICT, "address_settings": {"redistribution_delay": 0}},
         C={"received": [2, 4]}, A=[1, 3]),
    case("a_transaction_is_spread_at_its_commit", AB, """
        open_consumer consumer=C broker=A queue=Q
        open_consumer consumer=D broker=B queue=Q
        open_producer producer=P broker=A queue=Q transacted=true
        send producer=P count=4
        snapshot label=open
        commit client=P
        settle""", so_far={"open": {"C": 0, "D": 0}},
         C={"received": [1, 3]}, D={"received": [2, 4]}),
    case("a_hung_target_gets_its_share_when_it_wakes", AB, """
        open_consumer consumer=C broker=A queue=Q
        open_consumer consumer=D broker=B queue=Q
        pause broker=B
        send broker=A queue=Q count=4
        snapshot label=hung
        resume_broker broker=B
        settle""", so_far={"hung": {"C": 2, "D": 0}}, C={"received": [1, 3]}, D={"received": [2, 4]}),
    case("a_hung_target_is_left_out_after_the_ttl", AB, """
        open_consumer consumer=C broker=A queue=Q
        open_consumer consumer=D broker=B queue=Q
        pause broker=B
        wait ms=5000
        send broker=A queue=Q count=4
        settle""", {"cluster": {"connection_ttl": 2000, "check_period": 500}},
         C={"received": [1, 2, 3, 4]}),
    case("a_silent_line_swallows_until_it_is_noticed", AB, """
        open_consumer consumer=C broker=B queue=Q
        cut between=["A","B"] silent=true
        send broker=A queue=Q count=2
        wait ms=5000
        send broker=A queue=Q count=2
        snapshot label=cut
        heal between=["A","B"]
        settle""", {"cluster": {"connection_ttl": 2000, "check_period": 500}},
         so_far={"cut": {"C": 0}}, C={"received": [1, 2]}, A=[3, 4]),
    case("what_hangs_in_the_line_reaches_the_slave",  # the queue leads to a pair, not to a process
         pairs(2, {"vote_retries": 3, "vote_retry_wait": 1000}), f"""
        {SYNC}
        open_consumer consumer=C broker=M1 queue=Q
        pause broker=M1
        send broker=M2 queue=Q count=2
        kill broker=M1
        wait ms=6000""", C={"received": [1, 2], "failovers": AGAIN}),
    case("a_subscriber_leaves_and_another_comes", AB, """
        open_consumer consumer=C broker=A topic=T
        open_consumer consumer=D broker=A topic=T
        close_consumer consumer=C
        open_consumer consumer=E broker=A topic=T
        open_consumer consumer=F broker=A topic=T2
        send broker=A topic=T count=2
        send broker=A topic=T2 count=1
        settle""", C={"received": []}, D={"received": [1, 2]}, E={"received": [1, 2]},
         F={"received": [3]},
         queues={"A": ["Q", "temporary:T", "temporary:T#2", "temporary:T2"]}),
    case("a_queue_made_for_a_consumer_goes_with_it", AB, """
        open_consumer consumer=C broker=A queue=R
        close_consumer consumer=C""", queues={"A": ["Q"]}),
    case("hops_0_stay_at_home", AB, """
        open_consumer consumer=C broker=B queue=Q
        send broker=A queue=Q count=2
        settle""", {"cluster": {"max_hops": 0}}, C={"received": []}, A=[1, 2]),
]  # fmt: skip

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
    case("another_orderly_end_opens_what_was_refused",  # artemis-ha.md, section 2
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
    case("quorum_size_2_cut_for_good",  # the end of a process takes 10 s
         {"M1": master(), "S1": slave(quorum_size=2, vote_retries=1)}, f"""
        {SYNC}
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
         cut="live live live backup_searching", roles="live live live backup_in_sync"),
    case("an_orderly_end_of_its_slave_asks_for_no_vote",
         {"M1": master(vote_on_replication_failure=True, quorum_size=2), "S1": slave()}, f"""
        {SYNC}
        stop broker=S1
        wait ms=20000""", roles="live stopped"),
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
    case("one_phase_beside_one_that_is_prepared", {"A": None}, """
        open_client client=X broker=A xa=true
        xa client=X act=start
        send client=X queue=Q count=1
        xa client=X act=end
        xa client=X act=prepare
        open_client client=Y broker=A xa=true
        xa client=Y act=start
        send client=Y queue=Q count=1
        xa client=Y act=end
        xa client=Y act=commit""", A=[2]),
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
    case("a_hang_longer_than_the_ttl", PAIR, f"""
        {SYNC}
        pause broker=M1
        wait ms=5000
        resume_broker broker=M1
        wait ms=15000""", {"cluster": {"connection_ttl": 2000, "check_period": 500}},
         roles="live live"),
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
        {SYNC}""", roles="live backup_in_sync"),
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
        wait ms=9000""", roles="live backup_queued backup_announced"),
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

ALL = [*CLIENTS, *HOSTS, *FAILBACK, *BALANCING, *NETWORK, *PAIRING, *QUORUM, *FAILOVER, *COPYING,
       *DOWN, *STORES]  # fmt: skip


def seen(found, key, expected):
    """Return what *found* has where something is expected."""
    if key in ("lost",):
        return found[key]
    if key == "so_far":
        return {label: found["snapshots"][label]["received_so_far"] for label in expected}
    if key in found["snapshots"] or key == "roles":
        shot = found["snapshots"]["end" if key == "roles" else key]["brokers"]
        return " ".join(state["role"] for state in shot.values())
    states = found["snapshots"]["end"]["brokers"]
    told = {
        "pair": lambda: {name: states[name].get("pair") for name in expected},
        "largest": lambda: {name: states[name]["largest_cluster_seen"] for name in expected},
        "topology": lambda: {name: states[name]["topology"] for name in expected},
        "in_flight": lambda: {label: found["snapshots"][label]["brokers"]["A"]["queues"]["Q"][
            "in_flight"] for label in expected},
        "queues": lambda: {name: sorted(states[name]["queues"]) for name in expected},
        "hosted": lambda: {name: state["hosts"]["colocated_backup_01"]["role"]
                           for name, state in states.items() if name in expected and "hosts" in state},
        "ports": lambda: {name: int(row["acceptors"][-1].split()[-1])
                          for name, row in states["A"]["hosts"].items()},
    }  # fmt: skip
    if key in told:
        return told[key]()
    clients = {**found["consumers"], **found["senders"]}
    if isinstance(expected, dict):
        return {what: clients[key].get(what) for what in expected}
    return at(found, key.rstrip("_"))["queues"]["Q"]["waiting"]


@pytest.mark.parametrize(("brokers", "script", "more", "expected"), ALL)
def test_sibling(brokers, script, more, expected):
    found = run(brokers, script, **more)
    assert {key: seen(found, key, value) for key, value in expected.items()} == expected
