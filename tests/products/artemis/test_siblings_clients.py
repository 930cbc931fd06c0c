"""Siblings of the recordings: clients, hosted backups, fail-back and load balancing."""

from __future__ import annotations

import pytest

from tests.products.artemis.ha import ha, master, pairs, run, slave
from tests.products.artemis.siblings import (
    AB,
    ABC,
    AGAIN,
    BACK,
    GAVE_UP,
    LOST,
    OFF,
    OVER,
    PAIR,
    QUICK,
    SHORT,
    STRICT,
    SYNC,
    THRICE,
    V24,
    WINDOW,
    case,
    colocated,
    seen,
)

CLIENTS = [
    case("second_try_finds_it", {"A": None}, """
        open_consumer consumer=C broker=A queue=Q url={"reconnect_attempts":2,"retry_interval":2300}
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
        close_consumer consumer=C""", B=[*range(1, 21)],
         C={"failovers": ["failure_detected"], "results": ["step 4 close_consumer: still blocked"]}),
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

ALL = [*CLIENTS, *HOSTS, *FAILBACK, *BALANCING]


@pytest.mark.parametrize(("brokers", "script", "more", "expected"), ALL)
def test_sibling(brokers, script, more, expected):
    found = run(brokers, script, **more)
    assert {key: seen(found, key, value) for key, value in expected.items()} == expected
