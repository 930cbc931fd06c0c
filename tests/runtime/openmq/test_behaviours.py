"""The numbered behaviours of openmq-clusters.md, as openmq-observed.md corrects them."""

from __future__ import annotations

from collections import Counter

import pytest

from mqlab.formats import openmq
from mqlab.problems.openmq import check
from mqlab.trace.kinds import Kind
from tests.runtime.behaviours import Behaviours
from tests.runtime.cluster import FAST, again, at, body, got, holds, known, result, run, trace

behaviour = Behaviours(42)
ALL = ["b1", "b2", "b3"]
TAKEN = "wait_for event=takeover_complete limit_ms=120000"
ENHANCED = {"model": "enhanced", "options": FAST}


def crossed(played):
    """Return how many messages went over each link."""
    return Counter(event.link for event in played.events() if event.kind == Kind.Forwarded)


def owners(found, label="end", of="b1"):
    """Return what the living brokers say of a dead one."""
    states = found["snapshots"][label]["brokers"].values()
    return {state["cluster"][of] for state in states if of in state.get("cluster", {})}


# Delivery


@behaviour(1)
def three_brokers_are_linked_in_all_pairs():
    found = run()
    for name in ALL:
        assert at(found, name)["cluster"] == {o: "OPERATING" for o in ALL if o != name}
    up = [e.link for e in trace(brokers="b1 b2 b3 b4").events() if e.kind == Kind.Connected]
    assert len(set(up)) == 4 * 3  # 6 pairs, one name for each direction


@behaviour(2)
def a_message_goes_straight_to_its_consumers_home():
    script = "open_consumer consumer=C broker=b3 queue=Q\nsend broker=b1 queue=Q count=5"
    played = trace(script)
    assert crossed(played) == {"b1-b3": 5}
    assert {tuple(way) for n in range(1, 6) for way in played.path(n)} == {("b1", "b3")}
    assert got(run(script), "C") == [1, 2, 3, 4, 5]


@behaviour(3)
def one_copy_crosses_for_all_subscribers_of_a_broker():
    script = """
        open_consumer consumer=S1 broker=b1 topic=T
        open_consumer consumer=S2 broker=b2 topic=T
        open_consumer consumer=S3 broker=b2 topic=T
        send broker=b1 topic=T count=1"""
    assert crossed(trace(script)) == {"b1-b2": 1}
    found = run(script)
    assert [got(found, name) for name in ("S1", "S2", "S3")] == [[1]] * 3


@behaviour(4)
def local_delivery_preferred_keeps_messages_at_home_while_somebody_is_there():
    found = run("""
        create_destination broker=b1 queue=Q options={"LocalDeliveryPreferred":true}
        open_consumer consumer=C2 broker=b2 queue=Q
        open_consumer consumer=C1 broker=b1 queue=Q
        send broker=b1 queue=Q count=10
        settle
        close_consumer consumer=C1
        send broker=b1 queue=Q count=3""")
    assert got(found, "C1") == [*range(1, 11)]
    assert got(found, "C2") == [11, 12, 13]


@behaviour(5)
def a_local_only_queue_is_known_everywhere_and_serves_its_own_side():
    found = run("""
        create_destination broker=b1 queue=Q options={"LocalOnly":true}
        open_consumer consumer=C2 broker=b2 queue=Q id=remote
        send broker=b1 queue=Q count=3
        update_destination broker=b1 queue=Q options={"LocalOnly":false} id=change""")
    assert known(found, "queue://Q") == ALL  # corrected: the guide says on b1 only
    assert result(found, "remote") == "ok"
    assert got(found, "C2") == []
    assert holds(found, "b1") == 3
    assert result(found, "change") == "refused"


# Propagation


@behaviour(6)
def what_an_administrator_makes_or_destroys_is_so_everywhere():
    found = run("""
        create_destination broker=b1 queue=D
        snapshot label=made
        create_destination broker=b3 queue=D id=twice
        destroy_destination broker=b2 queue=D""")
    assert known(found, "queue://D", "made") == ALL
    assert result(found, "twice") == "refused"
    assert known(found, "queue://D") == []


@behaviour(7)
def a_producers_auto_created_queue_is_at_its_home_only_until_a_consumer_asks():
    found = run("""
        send broker=b1 queue=Q count=2
        snapshot label=sent
        open_consumer consumer=C broker=b2 queue=Q""")
    assert known(found, "queue://Q", "sent") == ["b1"]
    assert known(found, "queue://Q") == ALL
    assert got(found, "C") == [1, 2]


@behaviour(8)
def a_consumers_auto_created_topic_is_known_everywhere():
    found = run("open_consumer consumer=S broker=b1 topic=T")
    assert known(found, "topic://T") == ALL
    assert {at(found, name)["destinations"]["topic://T"]["created_by"] for name in ALL} == {"auto"}


@behaviour(9)
def an_idle_auto_created_queue_goes_after_120_s_unless_it_holds_a_message():
    found = run("""
        open_consumer consumer=C broker=b1 queue=EMPTY
        close_consumer consumer=C
        send broker=b2 queue=FULL count=1
        wait ms=119000
        snapshot label=before
        wait ms=2000""")
    assert known(found, "queue://EMPTY", "before") == ALL
    assert known(found, "queue://EMPTY") == []
    assert known(found, "queue://FULL") == ["b2"]
    sooner = run(
        """
        open_consumer consumer=C broker=b1 queue=EMPTY
        close_consumer consumer=C
        wait ms=6000""",
        options={"imq.autocreate.reaptime": 5},
    )
    assert known(sooner, "queue://EMPTY") == []


@behaviour(10)
def a_restart_keeps_an_auto_created_queue_only_with_messages():
    found = run("""
        send broker=b2 queue=FULL count=3
        open_consumer consumer=C broker=b2 queue=EMPTY
        close_consumer consumer=C
        stop broker=b2
        start_broker broker=b2""")
    assert holds(found, "b2", "queue://FULL") == 3
    assert known(found, "queue://EMPTY") == ["b1", "b3"]


@behaviour(11)
def an_auto_created_queue_that_is_deleted_on_one_broker_is_gone_everywhere():
    found = run("""
        open_consumer consumer=C broker=b2 queue=Q
        close_consumer consumer=C
        snapshot label=made
        destroy_destination broker=b1 queue=Q id=destroy""")
    assert known(found, "queue://Q", "made") == ALL
    assert result(found, "destroy") == "ok"
    assert known(found, "queue://Q") == []  # corrected: the guide says still on b2


@behaviour(12)
def a_temporary_destination_is_everywhere_until_its_connection_closes():
    script = """
        temporary consumer=R broker=b1
        send broker=b3 queue=temp:R count=2
        settle
        snapshot label=made"""
    found = run(f"{script}\nclose_consumer consumer=R")
    assert known(found, "queue://temp:R", "made") == ALL
    assert got(found, "R") == [1, 2]
    assert known(found, "queue://temp:R") == []
    crashed = run(f"{script}\nkill broker=b1", master="b3")
    assert known(crashed, "queue://temp:R") == ["b2", "b3"]  # corrected: they keep it


@behaviour(13)
def a_temporary_destination_waits_50_s_for_its_reconnecting_client():
    found = run("""
        temporary consumer=R broker=b2 reconnect=true reconnect_attempts=1 iterations=1
        kill broker=b2
        wait ms=9000
        start_broker broker=b2
        wait ms=30000
        snapshot label=waits
        wait ms=20000""")
    assert known(found, "queue://temp:R", "waits") == ALL
    assert known(found, "queue://temp:R") == ["b1", "b3"]  # corrected: deleted there only
    back = run("""
        temporary consumer=R broker=b2 reconnect=true
        kill broker=b2
        wait ms=2000
        start_broker broker=b2
        wait ms=60000
        send broker=b3 queue=temp:R count=2""")
    assert known(back, "queue://temp:R") == ALL
    assert got(back, "R") == [1, 2]


# Limits


def limits(**options):
    text = ",".join(f'"{key}":{value}' for key, value in options.items())
    return f"create_destination broker=b1 queue=Q options={{{text}}}\n"


@behaviour(14)
def a_property_changed_on_one_broker_is_the_same_on_all():
    found = run(
        limits(MaxNumMsgs=10)
        + """
        update_destination broker=b3 queue=Q options={"MaxNumMsgs":4}
        send broker=b2 queue=Q count=6 id=send
        snapshot label=read properties=["MaxNumMsgs"]"""
    )
    rows = found["snapshots"]["read"]["brokers"]
    shown = [rows[name]["destinations"]["queue://Q"]["properties"]["MaxNumMsgs"] for name in ALL]
    assert shown == ["4"] * 3
    assert result(found, "send") == "partly refused"
    assert holds(found, "b2") == 4


@behaviour(15)
def limits_hold_for_each_broker_so_that_they_add_up():
    sends = "".join(f"send broker={name} queue=Q count=150 id={name}\n" for name in ALL)
    found = run(limits(MaxNumMsgs=100) + sends)
    assert [holds(found, name) for name in ALL] == [100] * 3
    refused = {row["id"]: len(row["refused"]) for row in found["operations"] if "refused" in row}
    assert refused == dict.fromkeys(ALL, 50)


@behaviour(16)
def nonpersistent_messages_over_the_limit_are_dropped_silently():
    found = run(limits(MaxNumMsgs=10) + "send broker=b1 queue=Q count=15 persistent=false id=send")
    assert holds(found, "b1") == 10
    row = next(row for row in found["operations"] if row.get("id") == "send")
    assert "refused" not in row


@behaviour(17)
def producers_are_counted_on_each_broker():
    opens = "".join(f"open_producer producer=P{no} broker=b1 queue=Q id=P{no}\n"
                    for no in range(1, 102))  # fmt: skip
    found = run(limits() + opens + "open_producer producer=X broker=b2 queue=Q id=X")
    assert {result(found, f"P{no}") for no in range(1, 101)} == {"ok"}
    assert result(found, "P101") == "refused"
    assert result(found, "X") == "ok"


# Conventional clusters


@behaviour(18)
def without_the_master_messages_flow_and_the_record_is_closed():
    found = run("""
        create_destination broker=b1 queue=OLD
        open_consumer consumer=D broker=b2 topic=T durable=true
        close_consumer consumer=D
        kill broker=b1
        wait ms=1500
        create_destination broker=b2 queue=NEW id=create
        update_destination broker=b2 queue=OLD options={"MaxNumMsgs":7} id=update
        destroy_destination broker=b3 queue=OLD id=destroy
        open_consumer consumer=N broker=b2 topic=T durable=true id=durable
        unsubscribe broker=b3 client_id=D subscription_name=D id=unsubscribe
        open_consumer consumer=A broker=b3 queue=AUTO id=auto
        send broker=b2 queue=AUTO count=3 id=send
        temporary consumer=R broker=b3 id=temporary
        open_consumer consumer=D2 broker=b3 topic=T durable=true client_id=D subscription_name=D
        send broker=b2 topic=T count=2""")
    for id in ("create", "update", "destroy", "durable", "unsubscribe"):
        assert result(found, id) == "refused", id
    for id in ("auto", "send", "temporary"):
        assert result(found, id) == "ok", id
    assert got(found, "A") == [1, 2, 3]
    assert got(found, "D2") == [4, 5]
    assert known(found, "queue://NEW") == ["b3"]  # corrected: refusals leave traces


@behaviour(19)
def a_broker_without_its_master_serves_nobody_until_it_is_there():
    found = run(
        """
        start_broker broker=b2 until=none
        connect broker=b2 id=early
        wait ms=8000
        connect broker=b2 id=still
        start_broker broker=b1
        connect broker=b2 id=later""",
        start=False,
        brokers="b1 b2",
    )
    assert [result(found, id) for id in ("early", "still", "later")] == ["refused", "refused", "ok"]
    assert at(found, "b2")["cluster"] == {"b1": "OPERATING"}


@behaviour(20)
def a_returning_broker_learns_from_the_record_and_of_the_consumers():
    found = run("""
        kill broker=b2
        create_destination broker=b1 queue=D
        open_consumer consumer=S broker=b3 topic=T durable=true
        close_consumer consumer=S
        open_consumer consumer=C broker=b3 queue=D
        start_broker broker=b2
        send broker=b2 queue=D count=2""")
    assert known(found, "queue://D") == ALL
    assert at(found, "b2")["durable_subscriptions"] == ["S/S inactive messages=0"]
    assert at(found, "b2")["destinations"]["queue://D"]["consumers"] == 1
    assert got(found, "C") == [1, 2]


@behaviour(21)
def peers_need_no_broker_but_their_database():
    for down in ALL:
        other = "b1" if down != "b1" else "b2"
        found = run(
            f"""
            kill broker={down}
            open_consumer consumer=S broker={other} topic=T durable=true id=durable
            create_destination broker={other} queue=D id=create""",
            model="peer",
        )
        assert (result(found, "durable"), result(found, "create")) == ("ok", "ok")
    found = run(
        """
        open_consumer consumer=C broker=b3 queue=Q
        database action=stop
        send broker=b1 queue=Q count=2
        create_destination broker=b2 queue=D id=first
        create_destination broker=b2 queue=E id=second
        send broker=b2 queue=Q count=1 id=send
        send broker=b1 queue=Q count=2""",
        model="peer",
    )
    assert got(found, "C") == [1, 2, 4, 5]
    assert result(found, "first") == "refused"
    assert (result(found, "second"), result(found, "send")) == ("blocked", "blocked")  # corrected


@behaviour(22)
def messages_of_a_dead_home_wait_for_its_return_and_then_come_after_newer_ones():
    found = run(
        """
        send broker=b1 queue=Q count=10
        send broker=b1 queue=Q count=2 persistent=false
        kill broker=b1
        open_consumer consumer=C broker=b3 queue=Q
        send broker=b2 queue=Q count=3
        settle
        snapshot label=away
        start_broker broker=b1""",
        master="b3",
    )
    assert found["snapshots"]["away"]["received_so_far"] == {"C": 3}
    assert got(found, "C") == [13, 14, 15, *range(1, 11)]


@behaviour(23)
def a_dead_neighbour_is_noticed_and_a_silent_cut_is_not():
    dead = run("kill broker=b2")
    assert at(dead, "b1")["cluster"]["b2"] == "BROKER_DOWN"
    cut = run("""
        open_consumer consumer=C broker=b2 queue=Q
        cut between=["b1","b2"]
        send broker=b1 queue=Q count=3
        wait ms=150000
        snapshot label=cut
        heal between=["b1","b2"]""")
    assert at(cut, "b1", "cut")["cluster"]["b2"] == "OPERATING"  # corrected: nobody retries
    assert cut["snapshots"]["cut"]["received_so_far"] == {"C": 0}
    assert got(cut, "C") == [1, 2, 3]
    assert again(cut, "C") == []


@behaviour(24)
def a_client_moves_to_another_broker_and_its_open_transaction_is_lost():
    found = run(
        """
        open_producer producer=P broker=["b1","b2"] queue=Q ack_mode=transacted reconnect=true
        send producer=P count=3
        open_consumer consumer=C broker=["b1","b2"] queue=Q reconnect=true
        kill broker=b1
        wait ms=9000
        commit producer=P id=commit
        start_broker broker=b1
        send broker=b3 queue=Q count=2""",
        master="b3",
    )
    assert result(found, "commit") == "refused"
    assert got(found, "C") == [4, 5]
    played = trace(
        """
        open_consumer consumer=C broker=["b1","b2"] queue=Q reconnect=true
        kill broker=b1
        wait ms=9000""",
        master="b3",
    )
    moved = [(e.kind.name, e.to) for e in played.events() if e.frm == "C"
             and e.kind in (Kind.Interrupted, Kind.Attached)]  # fmt: skip
    assert moved == [("Interrupted", "b1"), ("Attached", "b2")]


@behaviour(25)
def what_was_taken_and_not_acknowledged_comes_again_after_the_homes_return():
    found = run(
        """
        open_consumer consumer=C broker=["b1","b2"] queue=Q receiving=false ack_mode=client reconnect=true
        send broker=b1 queue=Q count=3
        settle
        receive consumer=C count=3
        kill broker=b1
        wait_for event=client_reconnected
        recover consumer=C
        resume consumer=C
        settle
        snapshot label=moved
        start_broker broker=b1""",
        master="b3",
    )
    assert found["snapshots"]["moved"]["received_so_far"] == {"C": 3}
    assert got(found, "C") == [1, 2, 3, 1, 2, 3]
    assert again(found, "C") == [1, 2, 3]


# Enhanced clusters


@behaviour(26)
def one_survivor_takes_over_a_dead_brokers_messages_in_order():
    script = f"""
        send broker=b1 queue=Q count=10
        kill broker=b1
        wait ms=64000
        snapshot label=early
        {TAKEN}
        open_consumer consumer=C broker=b3 queue=Q"""
    played = trace(script, model="enhanced")
    killed, locked = (next(e.t for e in played.events() if e.kind == kind)
                      for kind in (Kind.Crashed, Kind.Locked))  # fmt: skip
    assert 65_000_000 <= locked - killed <= 100_000_000  # corrected: the third tick, not 66 s
    found = run(script, model="enhanced")
    assert "TAKEOVER" not in str(owners(found, "early"))
    assert got(found, "C") == [*range(1, 11)]


@behaviour(27)
def exactly_one_of_the_survivors_wins():
    seen = set()
    for seed in range(8):
        found = run(f"send broker=b1 queue=Q count=4\nkill broker=b1\n{TAKEN}", seed, **ENHANCED)
        (told,) = owners(found)  # all survivors name the same winner
        winner = told.rpartition(" ")[2]
        assert sorted(holds(found, name) for name in ("b2", "b3")) == [0, 4]
        assert holds(found, winner) == 4
        seen.add(winner)
    assert seen == {"b2", "b3"}


@behaviour(28)
def a_client_of_the_dead_broker_ends_at_the_new_owner():
    for seed in range(4):
        played = trace(
            f"""
            open_consumer consumer=C broker=b1 queue=Q
            kill broker=b1
            {TAKEN}
            wait ms=7000""",
            seed,
            **ENHANCED,
        )
        owner = next(e.broker for e in played.events() if e.kind == Kind.Locked)
        assert [e.to for e in played.events() if e.kind == Kind.Attached] == [owner]


@behaviour(29)
def during_a_takeover_the_taking_broker_refuses_new_connections():
    script = """
        kill broker=b1
        wait_for event=takeover_lock_acquired settle_ms=500
        connect broker=b2 id=b2
        connect broker=b3 id=b3
        connect broker=["b2","b3"] id=either
        wait ms=3000
        connect broker=b2 id=b2_after
        connect broker=b3 id=b3_after"""
    found = run(script, **ENHANCED)
    winner = owners(found).pop().rpartition(" ")[2]
    assert result(found, winner) == "refused"
    assert result(found, "b3" if winner == "b2" else "b2") == "ok"
    assert result(found, "either") == "ok"
    assert (result(found, "b2_after"), result(found, "b3_after")) == ("ok", "ok")


@behaviour(30)
def a_broker_that_still_writes_to_the_store_is_not_taken_over():
    found = run(
        """
        send broker=b1 queue=Q count=3
        cut between=["b1","b2"]
        cut between=["b1","b3"]
        wait ms=40000
        snapshot label=cut
        heal between=["b1","b2"]
        heal between=["b1","b3"]
        open_consumer consumer=C broker=b3 queue=Q""",
        **ENHANCED,
    )
    assert owners(found, "cut") == {"OPERATING"}
    assert holds(found, "b1", label="cut") == 3
    assert got(found, "C") == [1, 2, 3]


@behaviour(31)
def a_frozen_broker_is_taken_over_and_ends_itself_on_waking():
    script = """
        send broker=b1 queue=Q count=5
        pause broker=b1
        wait ms=30000
        resume broker=b1
        wait ms=5000
        open_consumer consumer=C broker=b3 queue=Q"""
    found = run(script, **ENHANCED)
    assert not at(found, "b1")["running"]
    assert got(found, "C") == [1, 2, 3, 4, 5]
    patient = {"imq.cluster.monitor.interval": 3, "imq.cluster.monitor.threshold": 10}
    spared = run(script, model="enhanced", options=patient)
    assert owners(spared) == {"OPERATING"}
    assert got(spared, "C") == [1, 2, 3, 4, 5]


@behaviour(32)
def an_open_transaction_is_rolled_back_and_a_prepared_one_stays():
    script = """
        open_producer producer=P broker=b1 queue=Q %s
        send producer=P count=3
        %s
        kill broker=b1
        wait_for event=takeover_complete limit_ms=120000
        wait ms=7000
        %s
        open_consumer consumer=C broker=b3 queue=Q"""
    opened = run(script % ("ack_mode=transacted", "", "commit producer=P id=commit"), **ENHANCED)
    assert result(opened, "commit") == "refused"
    assert got(opened, "C") == []
    prepare = "xa producer=P action=prepare xid=x1"
    waits = run(script % ("xa=true", prepare, ""), **ENHANCED)
    assert got(waits, "C") == []
    owner = owners(waits).pop().rpartition(" ")[2]
    assert at(waits, owner)["destinations"]["queue://Q"]["in_transaction"] == 3
    done = run(script % ("xa=true", prepare, "xa producer=P action=commit xid=x1"), **ENHANCED)
    assert got(done, "C") == [1, 2, 3]


@behaviour(33)
def temporary_destinations_of_clients_that_never_return_are_still_there():
    found = run(
        f"""
        temporary consumer=R broker=b1 process=true
        kill broker=b1
        kill_client consumer=R
        {TAKEN}
        wait ms=65000""",
        model="enhanced",
        options={**FAST, "imq.cluster.reaptime": 15},
    )
    assert known(found, "queue://temp:R") == ["b2", "b3"]  # corrected: not removed


@behaviour(34)
def an_orderly_stop_is_taken_over_unless_told_otherwise():
    script = (
        "send broker=b1 queue=Q count=5\nstop broker=b1 %s\nwait ms=20000\nsnapshot label=down\n"
    )
    by_default = run(script % "", **ENHANCED)  # corrected: the guide says no takeover
    assert sum(holds(by_default, name, label="down") for name in ("b2", "b3")) == 5
    asked = "admin broker=b2 command=takeover target=b1 id=takeover"
    spared = run(script % "no_failover=true" + asked, **ENHANCED)
    assert owners(spared, "down") == {"BROKER_DOWN"}
    assert [holds(spared, name, label="down") for name in ("b2", "b3")] == [0, 0]
    assert result(spared, "takeover") == "ok"
    assert holds(spared, "b2") == 5


@behaviour(35)
def a_broker_that_returns_during_its_takeover_waits_for_the_end_of_it():
    found = run(
        """
        send broker=b1 queue=Q count=2
        kill broker=b1
        wait_for event=takeover_lock_acquired settle_ms=100
        start_broker broker=b1 id=start""",
        **ENHANCED,
    )
    assert result(found, "start") == "ok"
    assert at(found, "b1")["running"]
    assert holds(found, "b1") == 0
    assert sum(holds(found, name) for name in ("b2", "b3")) == 2


@behaviour(36)
def a_broker_whose_taker_died_half_way_cannot_return_for_a_minute():
    found = run(
        """
        send broker=b1 queue=Q count=2
        kill broker=b1
        wait_for event=takeover_lock_acquired settle_ms=100
        kill broker=b2
        start_broker broker=b1 id=soon
        wait ms=60000
        start_broker broker=b1 id=later""",
        brokers="b1 b2",
        **ENHANCED,
    )
    assert result(found, "soon") == "ended"
    assert result(found, "later") == "ok"


@behaviour(37)
def an_enhanced_cluster_ignores_broker_list_and_master_with_a_warning():
    more = {**FAST, "imq.cluster.brokerlist": "${b1}", "imq.cluster.masterbroker": "${b1}"}
    found = run("kill broker=b1\ncreate_destination broker=b2 queue=D id=create",
                model="enhanced", options=more)  # fmt: skip
    assert result(found, "create") == "ok"
    assert at(found, "b2")["cluster"]["b3"] == "OPERATING"
    told = check(openmq.read(body(model="enhanced", options=more)))
    assert [(p.level, "is ignored with a warning" in p.what) for p in told] == [
        ("warning", True)
    ] * 2


@behaviour(38)
def a_broker_id_must_be_unique_and_another_cluster_id_is_another_cluster():
    twin = run("""
        start brokers=["b1","b3"]
        start_broker broker=b2 id=twin""", start=False, model="enhanced",
        own={"b1": {"imq.brokerid": "x"}, "b2": {"imq.brokerid": "x"}})  # fmt: skip
    assert result(twin, "twin") == "ended"
    assert at(twin, "b1")["running"]
    apart = run("open_consumer consumer=C broker=b3 queue=Q\nsend broker=b1 queue=Q count=2",
                own={"b3": {"imq.cluster.clusterid": "other"}}, **ENHANCED)  # fmt: skip
    assert at(apart, "b1")["cluster"] == {"b2": "OPERATING"}
    assert at(apart, "b3")["cluster"] == {}
    assert got(apart, "C") == []


@behaviour(39)
def brokers_that_must_be_alike_and_are_not_refuse_the_link():
    differ = run("""
        send broker=b1 queue=Q count=2
        open_consumer consumer=C broker=b3 queue=Q
        connect broker=b2 id=b2""", own={"b2": {"imq.autocreate.queue": "false"}})  # fmt: skip
    assert at(differ, "b1")["cluster"]["b2"] != "OPERATING"
    assert result(differ, "b2") == "refused"  # it goes on waiting for its master
    assert got(differ, "C") == [1, 2]
    alike = run(own={"b2": {"imq.autocreate.queue.maxNumActiveConsumers": 1}})
    assert at(alike, "b1")["cluster"]["b2"] == "OPERATING"  # corrected: these may differ


@behaviour(40)
def a_returning_broker_reads_the_present_state_from_the_store():
    found = run(
        f"""
        create_destination broker=b1 queue=D
        send broker=b1 queue=D count=5
        kill broker=b1
        {TAKEN}
        create_destination broker=b2 queue=E
        open_consumer consumer=S broker=b2 topic=T durable=true
        close_consumer consumer=S
        start_broker broker=b1
        snapshot label=back
        open_consumer consumer=C broker=b1 queue=D""",
        **ENHANCED,
    )
    for dest in ("queue://D", "queue://E"):
        assert "b1" in known(found, dest, "back")
    assert at(found, "b1", "back")["durable_subscriptions"] == ["S/S inactive messages=0"]
    assert holds(found, "b1", "queue://D", "back") == 0  # its messages stay with their new owner
    assert got(found, "C") == [1, 2, 3, 4, 5]


@behaviour(41)
def without_the_store_all_brokers_are_affected_and_none_is_lost():
    found = run(
        """
        open_consumer consumer=C broker=b3 queue=Q
        database action=stop
        send broker=b1 queue=Q count=2 persistent=false
        send broker=b2 queue=Q count=2 id=persistent limit_ms=15000
        create_destination broker=b2 queue=E id=create
        snapshot label=down
        database action=start
        wait ms=12000""",
        **ENHANCED,
    )
    assert all(at(found, name, "down").get("no_answer") for name in ALL)
    assert result(found, "persistent") == "blocked"
    assert result(found, "create") == "refused"
    assert got(found, "C") == [1, 2, 3, 4]
    assert all(at(found, name)["running"] for name in ALL)


@behaviour(42)
def the_master_can_be_changed_only_with_the_flag_and_by_the_master():
    change = "admin broker=b1 command=change_master from=b1 to=b2 id=change"
    refused = run(change)
    assert result(refused, "change") == "refused"
    assert {at(refused, name)["master"] for name in ALL} == {"b1"}
    flag = {"imq.cluster.dynamicChangeMasterBrokerEnabled": "true"}
    found = run(
        f"""
        {change}
        kill broker=b1
        wait ms=1000
        create_destination broker=b3 queue=E id=create
        start_broker broker=b1""",
        options=flag,
    )
    assert (result(found, "change"), result(found, "create")) == ("ok", "ok")
    assert {at(found, name)["master"] for name in ALL} == {"b2"}
    assert known(found, "queue://E") == ALL
    other = run(change.replace("broker=b1", "broker=b3"), options=flag)
    assert result(other, "change") == "refused"


@pytest.mark.parametrize("check_it", behaviour.cases())
def test_behaviour(check_it):
    assert check_it is not None, "this behaviour has no test"
    check_it()
