"""Siblings of the recorded scenarios: what openmq-observed.md says comes of other values, modes and brokers.

Each was predicted from that page before it was played; the number is the page's section.
"""

from __future__ import annotations

import json

import pytest

from tests.runtime.cluster import FAST, again, at, got, holds, known, result, run

ALL = ["b1", "b2", "b3"]
HOME = {"master": "b3"}  # b1 may die, and administration goes on
ENHANCED = {"model": "enhanced", "options": FAST}
S = "subscription_name=s"
TAKEN = "wait_for event=takeover_complete limit_ms=120000"


def queue(found, broker, label="end", dest="queue://Q"):
    return at(found, broker, label)["destinations"][dest]


# 1. Delivery


def test_a_backlog_is_drained_from_all_homes_by_priority():
    sends = "\n".join(f"send broker={name} queue=Q count=3 jms_priority=[1,9,4]" for name in ALL)
    found = run(f"{sends}\nsnapshot label=held\nopen_consumer consumer=C broker=b2 queue=Q")
    assert [holds(found, name, label="held") for name in ALL] == [3, 3, 3]
    mine = [n for n in got(found, "C") if n in (4, 5, 6)]
    assert mine == [5, 6, 4]
    assert sorted(got(found, "C")) == [*range(1, 10)]
    assert again(found, "C") == []


def test_selectors_of_two_subscribers_on_one_broker_let_one_copy_cross():
    found = run("""
        open_consumer consumer=R broker=b2 topic=T selector=colour='red'
        open_consumer consumer=A broker=b2 topic=T receiving=false
        send broker=b3 topic=T count=6 properties={"colour":["red","blue","green"]}""")
    assert got(found, "R") == [1, 4]
    assert queue(found, "b2", dest="topic://T")["remote"] == 6
    assert queue(found, "b3", dest="topic://T")["messages"] == 6


def test_a_plain_topic_subscriber_has_all_messages_at_its_broker_whatever_its_buffer():
    found = run("""
        open_consumer consumer=S broker=b2 topic=T receiving=false flow_limit=3
        send broker=b1 topic=T count=8""")
    assert queue(found, "b2", dest="topic://T")["remote"] == 8


def test_a_local_consumer_that_closes_gives_back_unflagged_what_it_never_saw():
    found = run("""
        open_consumer consumer=C1 broker=b1 queue=Q receiving=false ack_mode=client
        send broker=b1 queue=Q count=6
        receive consumer=C1 count=2
        close_consumer consumer=C1
        open_consumer consumer=C2 broker=b3 queue=Q""")
    assert got(found, "C2") == [1, 2, 3, 4, 5, 6]
    assert again(found, "C2") == [1, 2]
    assert queue(found, "b1")["remote"] == 0


@pytest.mark.parametrize("mode", ["auto", "client", "transacted", "dups_ok"])
def test_copies_given_back_stay_listed_once_however_often_they_come(mode):
    holder = f"open_consumer consumer=%s broker=b2 queue=Q receiving=false ack_mode={mode}\n"
    found = run(
        holder % "C1" + "send broker=b1 queue=Q count=5\nclose_consumer consumer=C1\n"
        "snapshot label=left\n" + holder % "C2" + "settle\nsnapshot label=again\n"
        "close_consumer consumer=C2\nopen_consumer consumer=C3 broker=b3 queue=Q"
    )
    for label in ("left", "again", "end"):
        assert queue(found, "b2", label)["messages"] == 5
    assert again(found, "C3") == [1, 2, 3, 4, 5]
    assert queue(found, "b1")["messages"] == queue(found, "b3")["messages"] == 0


def test_a_client_session_acknowledges_all_that_it_took():
    found = run("""
        open_consumer consumer=C broker=b3 queue=Q receiving=false ack_mode=client
        send broker=b1 queue=Q count=6
        receive consumer=C count=4
        acknowledge consumer=C
        receive consumer=C count=1
        recover consumer=C
        receive consumer=C count=2""")
    assert got(found, "C") == [1, 2, 3, 4, 5, 5, 6]
    assert again(found, "C") == [5]
    assert (holds(found, "b1"), queue(found, "b3")["remote"]) == (2, 2)


def test_a_transaction_is_in_transaction_at_its_home_and_a_rollback_leaves_nothing():
    found = run("""
        open_producer producer=P broker=b1 topic=T ack_mode=transacted
        open_consumer consumer=S broker=b3 topic=T
        send producer=P count=4
        settle
        snapshot label=open
        rollback producer=P
        send producer=P count=2
        commit producer=P""")
    assert queue(found, "b1", "open", "topic://T")["in_transaction"] == 4
    assert queue(found, "b1", "open", "topic://T")["messages"] == 0
    assert got(found, "S") == [5, 6]


def test_a_producer_that_closes_leaves_nothing_of_its_open_transaction():
    found = run("""
        open_producer producer=P broker=b1 queue=Q ack_mode=transacted
        send producer=P count=4
        close_producer producer=P
        open_consumer consumer=C broker=b2 queue=Q""")
    assert got(found, "C") == []
    assert queue(found, "b1")["in_transaction"] == 0


def test_what_expired_is_with_the_dead_messages_of_its_home():
    found = run("""
        send broker=b2 queue=Q count=3 time_to_live_ms=1000
        send broker=b2 queue=Q count=1
        wait ms=70000
        open_consumer consumer=C broker=b1 queue=Q""")
    assert got(found, "C") == [4]
    assert holds(found, "b2", "queue://mq.sys.dmq") == 3
    assert known(found, "queue://mq.sys.dmq") == ["b2"]


# 2. Balancing


@pytest.mark.parametrize(("homes", "least", "most"), [
    ("b1 b2", [5, 5], [19, 19]), ("b2 b3", [12, 12], [13, 13]),
    ("b1 b2 b2", [2, 3, 3], [17, 15, 15]), ("b3 b2 b1", [5, 5, 9], [9, 7, 13]),
])  # fmt: skip
def test_shares_of_a_queue_are_within_the_recorded_bounds(homes, least, most):
    opens = [f"open_consumer consumer=C{no} broker={home} queue=Q"
             for no, home in enumerate(homes.split())]  # fmt: skip
    found = run("\n".join([*opens, "send broker=b1 queue=Q count=24"]))
    shares = [len(got(found, f"C{no}")) for no in range(len(opens))]
    assert sum(shares) == 24
    assert all(a <= share <= b for a, share, b in zip(least, shares, most, strict=True))


def test_a_slow_consumer_gets_what_its_buffer_holds_and_the_fast_one_the_rest():
    found = run("""
        create_destination broker=b1 queue=Q options={"ConsumerFlowLimit":2}
        open_consumer consumer=SLOW broker=b1 queue=Q delay_ms=100
        open_consumer consumer=FAST broker=b2 queue=Q
        send broker=b1 queue=Q count=40
        settle ms=15000""")
    assert 3 <= len(got(found, "SLOW")) <= 4
    assert len(got(found, "SLOW")) + len(got(found, "FAST")) == 40


@pytest.mark.parametrize("limit", [1, 4, 10])
def test_held_buffers_are_equal_first_portions_and_the_rest_waits(limit):
    found = run(f"""
        create_destination broker=b1 queue=Q options={{"ConsumerFlowLimit":{limit}}}
        send broker=b2 queue=Q count=30
        open_consumer consumer=C1 broker=b2 queue=Q receiving=false
        open_consumer consumer=C2 broker=b3 queue=Q receiving=false flow_limit=100
        settle
        snapshot label=held
        resume consumer=C2""")
    assert queue(found, "b3", "held")["remote"] == limit
    assert got(found, "C2") == [*range(limit + 1, 31)]
    assert holds(found, "b2") == limit


@pytest.mark.parametrize(("options", "opened"), [
    ({"MaxNumActiveConsumers": 1}, "ok refused refused refused"),
    ({"MaxNumActiveConsumers": 1, "MaxNumBackupConsumers": 2}, "ok ok ok refused"),
    ({"MaxNumActiveConsumers": 2, "MaxNumBackupConsumers": 1}, "ok ok ok refused"),
    ({"MaxNumActiveConsumers": 1, "MaxNumBackupConsumers": -1}, "ok ok ok ok"),
])  # fmt: skip
def test_active_and_backup_consumers_count_in_the_whole_cluster(options, opened):
    text = ",".join(f'"{k}":{v}' for k, v in options.items())
    opens = [f"open_consumer consumer=C{no} broker={home} queue=Q id=C{no}"
             for no, home in enumerate(["b3", "b2", "b1", "b2"])]  # fmt: skip
    found = run("\n".join([f"create_destination broker=b1 queue=Q options={{{text}}}", *opens]))
    assert " ".join(result(found, f"C{no}") for no in range(4)) == opened
    row = queue(found, "b1")
    assert row["active"] == min(options["MaxNumActiveConsumers"], row["consumers"])
    assert row["backup"] == row["consumers"] - row["active"]


def test_the_backup_that_registered_first_follows_an_active_one_whose_broker_died():
    found = run("""
        create_destination broker=b1 queue=Q options={"MaxNumActiveConsumers":1,"MaxNumBackupConsumers":2}
        open_consumer consumer=C1 broker=b2 queue=Q
        open_consumer consumer=C2 broker=b3 queue=Q
        open_consumer consumer=C3 broker=b1 queue=Q
        send broker=b1 queue=Q count=2
        kill broker=b2
        send broker=b1 queue=Q count=2""")
    assert [got(found, name) for name in ("C1", "C2", "C3")] == [[1, 2], [3, 4], []]
    assert (queue(found, "b1")["active"], queue(found, "b1")["backup"]) == (1, 1)


def test_auto_created_queues_take_their_limits_from_the_brokers_properties():
    found = run(
        """
        open_consumer consumer=C1 broker=b1 queue=Q
        open_consumer consumer=C2 broker=b2 queue=Q id=second
        send broker=b3 queue=R count=7 id=send
        send broker=b3 queue=BIG count=1 size=20000 id=big""",
        options={"imq.autocreate.queue.maxNumActiveConsumers": 1,
                 "imq.autocreate.destination.maxNumMsgs": 5},
    )  # fmt: skip
    assert result(found, "second") == "refused"
    assert (result(found, "send"), holds(found, "b3", "queue://R")) == ("partly refused", 5)
    assert result(found, "big") == "refused"  # 10 KB by default


@pytest.mark.parametrize("durable", ["", "durable=true no_client_id=true"])
def test_a_shared_subscription_counts_as_one_consumer_and_gets_each_message_once(durable):
    found = run("\n".join([*(
        f"open_consumer consumer=C{no} broker={name} topic=T shared=true subscription_name=s {durable}"
        for no, name in enumerate(ALL)), "send broker=b2 topic=T count=9"]))  # fmt: skip
    assert sorted(n for no in range(3) for n in got(found, f"C{no}")) == [*range(1, 10)]
    for name in ALL:
        assert queue(found, name, dest="topic://T")["consumers"] == 1
        assert "durable_subscriptions" not in at(found, name)


# 3. Limits


def limits(**options):
    text = ",".join(f'"{k}":"{v}"' for k, v in options.items())
    return f"create_destination broker=b2 queue=Q options={{{text}}}\n"


def test_five_messages_of_400_fit_into_3000_bytes_on_each_broker():
    sends = "".join(f"send broker={name} queue=Q count=8 size=400\n" for name in ("b1", "b3"))
    found = run(limits(MaxTotalMsgBytes=3000) + sends)
    assert [holds(found, name) for name in ALL] == [5, 0, 5]


@pytest.mark.parametrize(("behaviour", "kept", "dead"), [
    ("REMOVE_OLDEST", [4, 5, 6, 7, 8], [1, 2, 3]),
    ("REMOVE_LOW_PRIORITY", [1, 4, 6, 7, 8], [2, 3, 5]),
])  # fmt: skip
@pytest.mark.parametrize("persistent", ["true", "false"])
def test_what_is_removed_is_dead_at_that_broker(behaviour, kept, dead, persistent):
    found = run(
        limits(MaxNumMsgs=5, LimitBehavior=behaviour)
        + f"send broker=b3 queue=Q count=8 jms_priority=[9,1,4] persistent={persistent} id=send\n"
        "browse broker=b3 queue=Q id=kept\nbrowse broker=b3 queue=mq.sys.dmq id=dead"
    )
    rows = {row["id"]: row for row in found["operations"] if "id" in row}
    assert rows["send"]["result"] == "ok"
    assert sorted(rows["kept"]["numbers"]) == sorted(kept)
    assert sorted(rows["dead"]["numbers"]) == dead
    assert known(found, "queue://mq.sys.dmq") == ["b3"]


def test_without_the_dead_message_queue_the_removed_are_gone():
    found = run(limits(MaxNumMsgs=2, LimitBehavior="REMOVE_OLDEST").replace("}", ',"UseDMQ":false}')
                + "send broker=b1 queue=Q count=5")  # fmt: skip
    assert holds(found, "b1") == 2
    assert known(found, "queue://mq.sys.dmq") == []


@pytest.mark.parametrize("persistent", ["true", "false"])
@pytest.mark.parametrize("home", ["b1", "b3"])
def test_flow_control_stops_a_producer_at_its_own_broker_only(persistent, home):
    found = run(
        limits(MaxNumMsgs=4, LimitBehavior="FLOW_CONTROL")
        + f"""
        send broker={home} queue=Q count=9 persistent={persistent} in_background=true id=held
        send broker=b2 queue=Q count=4 id=other
        wait ms=3000
        snapshot label=held
        open_consumer consumer=C broker=b2 queue=Q
        wait_background"""
    )
    assert holds(found, home, label="held") == 4
    assert queue(found, home, "held")["producers"] == 1
    assert (result(found, "other"), result(found, "held")) == ("ok", "ok")
    assert sorted(got(found, "C")) == [*range(1, 14)]


def test_a_producer_held_for_its_whole_limit_is_blocked():
    found = run(limits(MaxNumMsgs=3, LimitBehavior="FLOW_CONTROL")
                + "send broker=b1 queue=Q count=5 limit_ms=2000 id=send")  # fmt: skip
    row = next(row for row in found["operations"] if row.get("id") == "send")
    assert row["result"] == "blocked"
    assert holds(found, "b1") == 3


def test_forwarded_messages_count_at_their_home_and_not_at_the_consumers_broker():
    found = run(
        limits(MaxNumMsgs=5)
        + """
        open_consumer consumer=C broker=b3 queue=Q receiving=false
        send broker=b1 queue=Q count=7 id=first
        send broker=b3 queue=Q count=7 id=second"""
    )
    assert (result(found, "first"), result(found, "second")) == ("partly refused",) * 2
    assert [holds(found, name) for name in ("b1", "b3")] == [5, 5]
    assert queue(found, "b3")["messages"] == 10


def test_a_paused_instance_holds_back_its_producers_and_its_consumers():
    found = run("""
        create_destination broker=b1 queue=Q
        open_consumer consumer=C broker=b3 queue=Q
        pause_destination broker=b3 queue=Q
        send broker=b1 queue=Q count=4
        send broker=b3 queue=Q count=2 in_background=true
        wait ms=3000
        snapshot label=paused
        resume_destination broker=b3 queue=Q
        wait_background""")
    assert found["snapshots"]["paused"]["received_so_far"] == {"C": 0}
    assert queue(found, "b3", "paused")["state"] == "Paused"
    assert "state" not in queue(found, "b1", "paused")
    assert got(found, "C") == [1, 2, 3, 4, 5, 6]


def test_producers_that_leave_make_room_and_a_nameless_one_counts():
    found = run(
        limits(MaxNumProducers=1)
        + """
        open_producer producer=P1 broker=b1 queue=Q
        send broker=b1 queue=Q count=1 id=nameless
        close_producer producer=P1
        open_producer producer=P2 broker=b1 queue=Q id=next"""
    )
    assert (result(found, "nameless"), result(found, "next")) == ("refused", "ok")


def test_a_topic_drops_what_nobody_is_there_for_and_limits_what_a_durable_is_owed():
    found = run("""
        create_destination broker=b1 topic=T options={"MaxNumMsgs":3}
        open_consumer consumer=D broker=b2 topic=T durable=true
        close_consumer consumer=D
        send broker=b1 topic=T count=5 id=send
        send broker=b3 topic=T count=5 persistent=false id=silent""")
    assert (result(found, "send"), result(found, "silent")) == ("partly refused", "ok")
    assert [holds(found, name, "topic://T") for name in ALL] == [3, 0, 3]


# 4. Propagation


@pytest.mark.parametrize("asked", ALL)
def test_local_only_is_fixed_at_the_creation_whoever_is_asked(asked):
    found = run(f"""
        create_destination broker=b1 queue=Q
        update_destination broker={asked} queue=Q options={{"LocalOnly":true}} id=change""")
    assert result(found, "change") == "refused"


def test_a_topic_and_a_queue_of_one_name_are_destroyed_one_by_one():
    found = run("""
        open_consumer consumer=S broker=b1 topic=X
        send broker=b2 queue=X count=2
        create_destination broker=b3 topic=X id=topic
        create_destination broker=b3 queue=X id=queue
        destroy_destination broker=b1 topic=X""")
    assert (result(found, "topic"), result(found, "queue")) == ("refused", "ok")
    assert known(found, "topic://X") == []
    assert holds(found, "b2", "queue://X") == 2


def test_a_consumer_cut_off_by_a_destruction_gets_nothing_of_a_new_queue():
    found = run("""
        create_destination broker=b1 queue=Q
        open_consumer consumer=C broker=b2 queue=Q
        destroy_destination broker=b3 queue=Q
        create_destination broker=b3 queue=Q
        send broker=b1 queue=Q count=2""")
    assert got(found, "C") == []
    assert queue(found, "b2")["consumers"] == 0
    assert holds(found, "b1") == 2


@pytest.mark.parametrize(("kind", "key"), [("queue", "queue"), ("topic", "topic")])
def test_autocreation_switched_off_refuses_one_kind_for_all_its_clients(kind, key):
    other = "topic" if kind == "queue" else "queue"
    found = run(
        f"""
        open_consumer consumer=C1 broker=b1 {key}=X id=consumer
        open_producer producer=P broker=b2 {key}=X id=producer
        send broker=b3 {key}=X count=1 id=send
        open_consumer consumer=C2 broker=b1 {other}=X id=other
        temporary consumer=R broker=b3 kind={kind} id=temporary
        create_destination broker=b2 {key}=X id=create
        send broker=b3 {key}=X count=1 id=after""",
        options={f"imq.autocreate.{kind}": "false"},
    )
    assert [result(found, id) for id in ("consumer", "producer", "send")] == ["refused"] * 3
    assert [result(found, id) for id in ("other", "temporary", "create", "after")] == ["ok"] * 4


@pytest.mark.parametrize("how", ["kill", "stop"])
@pytest.mark.parametrize("dest", ["queue", "topic"])
def test_a_temporary_destination_of_a_dead_client_is_left_where_its_broker_was_not(how, dest):
    found = run(f"""
        temporary consumer=R broker=b2 kind={dest}
        {how} broker=b2
        start_broker broker=b2""")
    assert known(found, f"{dest}://temp:R") == ["b1", "b3"]


def test_a_temporary_destination_of_a_client_back_in_time_is_used_from_everywhere():
    found = run("""
        temporary consumer=R broker=b2 reconnect=true
        stop broker=b2
        start_broker broker=b2
        wait ms=70000
        send broker=b1 queue=temp:R count=1
        send broker=b3 queue=temp:R count=1""")
    assert known(found, "queue://temp:R") == ALL
    assert sorted(got(found, "R")) == [1, 2]


def test_an_idle_destination_is_kept_by_a_producer_and_by_a_message():
    found = run(
        """
        open_producer producer=P broker=b1 queue=P
        send broker=b2 queue=FULL count=1
        open_consumer consumer=C broker=b3 queue=IDLE
        close_consumer consumer=C
        wait ms=4000
        snapshot label=before
        wait ms=4000""",
        options={"imq.autocreate.reaptime": 6},
    )
    assert known(found, "queue://IDLE", "before") == ALL
    assert known(found, "queue://IDLE") == []
    assert (known(found, "queue://P"), known(found, "queue://FULL")) == (["b1"], ["b2"])


# 5. Durable subscriptions


@pytest.mark.parametrize("broker", ["b1", "b3"])
def test_another_selector_makes_a_new_subscription_wherever_it_is_opened(broker):
    found = run(f"""
        open_consumer consumer=D1 broker=b1 topic=T durable=true client_id=c {S}
        close_consumer consumer=D1
        send broker=b2 topic=T count=2 properties={{"n":[1,2]}}
        open_consumer consumer=D2 broker={broker} topic=T durable=true client_id=c {S} selector=n=1
        send broker=b2 topic=T count=2 properties={{"n":[1,2]}}""")
    assert got(found, "D2") == [3]
    assert holds(found, "b2", "topic://T") == 0


def test_a_client_id_is_unique_without_a_subscription_too_and_free_after_a_crash():
    found = run("""
        open_consumer consumer=C1 broker=b2 queue=Q client_id=c
        open_consumer consumer=C2 broker=b1 queue=R client_id=c id=second
        kill broker=b2
        open_consumer consumer=C3 broker=b3 topic=T durable=true client_id=c id=third""")
    assert (result(found, "second"), result(found, "third")) == ("refused", "ok")


@pytest.mark.parametrize("asked", ALL)
def test_an_unused_subscription_is_removed_on_any_broker_with_its_messages(asked):
    found = run(f"""
        open_consumer consumer=D broker=b2 topic=T durable=true client_id=c
        close_consumer consumer=D
        send broker=b1 topic=T count=2
        send broker=b3 topic=T count=2
        unsubscribe broker={asked} client_id=c subscription_name=D id=gone
        unsubscribe broker={asked} client_id=c subscription_name=D id=again""")
    assert (result(found, "gone"), result(found, "again")) == ("ok", "refused")
    assert [queue(found, name, dest="topic://T")["messages"] for name in ALL] == [0, 0, 0]
    assert all("durable_subscriptions" not in at(found, name) for name in ALL)


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_nonpersistent_messages_of_a_durable_are_lost_with_their_home(how):
    found = run(
        f"""
        open_consumer consumer=D broker=b2 topic=T durable=true client_id=c
        close_consumer consumer=D
        send broker=b1 topic=T count=3 persistent=false
        send broker=b1 topic=T count=2
        {how} broker=b1
        start_broker broker=b1
        open_consumer consumer=E broker=b2 topic=T durable=true client_id=c subscription_name=D""",
        **HOME,
    )
    assert got(found, "E") == [4, 5]


def test_a_durable_subscriber_that_reconnects_misses_nothing():
    found = run(
        """
        open_consumer consumer=D broker=["b1","b2"] topic=T durable=true reconnect=true
        send broker=b3 topic=T count=2
        kill broker=b1
        send broker=b3 topic=T count=3
        wait_for event=client_reconnected
        send broker=b3 topic=T count=1""",
        **HOME,
    )
    assert got(found, "D") == [1, 2, 3, 4, 5, 6]
    assert at(found, "b3")["durable_subscriptions"] == ["D/D active messages=0"]


def test_two_names_under_one_client_id_get_a_copy_each():
    found = run("""
        open_consumer consumer=D1 broker=b1 topic=T durable=true client_id=c subscription_name=one
        close_consumer consumer=D1
        open_consumer consumer=D2 broker=b2 topic=T durable=true client_id=c subscription_name=two
        close_consumer consumer=D2
        send broker=b3 topic=T count=3
        open_consumer consumer=D3 broker=b1 topic=T durable=true client_id=c subscription_name=two
        close_consumer consumer=D3
        open_consumer consumer=D4 broker=b1 topic=T durable=true client_id=c subscription_name=one""")
    assert (got(found, "D3"), got(found, "D4")) == ([1, 2, 3], [1, 2, 3])


# 6. With a master, and without any


@pytest.mark.parametrize("how", ["kill", "stop"])
@pytest.mark.parametrize(("asked", "third"), [("b2", "b3"), ("b3", "b2")])
def test_what_is_refused_without_the_master_leaves_its_traces(how, asked, third):
    found = run(f"""
        create_destination broker=b1 queue=OLD
        {how} broker=b1
        create_destination broker={asked} topic=NEW id=create
        update_destination broker={asked} queue=OLD options={{"MaxNumMsgs":5}} id=update
        destroy_destination broker={asked} queue=OLD id=destroy
        open_consumer consumer=D broker={asked} topic=T durable=true id=durable
        start_broker broker=b1
        snapshot label=back properties=["MaxNumMsgs"]""")
    assert {result(found, id) for id in ("create", "update", "destroy", "durable")} == {"refused"}
    assert known(found, "topic://NEW") == [third]
    rows = {name: queue(found, name, "back", "queue://OLD") for name in ALL}
    shown = {name: row["properties"]["MaxNumMsgs"] for name, row in rows.items()}
    assert shown == {"b1": "-1", asked: "5", third: "-1"}
    assert at(found, asked)["durable_subscriptions"] == ["D/D inactive messages=0"]
    assert "durable_subscriptions" not in at(found, third)


def test_the_change_of_a_selector_needs_the_master():
    found = run(f"""
        open_consumer consumer=D broker=b2 topic=T durable=true client_id=c {S}
        close_consumer consumer=D
        kill broker=b1
        open_consumer consumer=E broker=b2 topic=T durable=true client_id=c {S} selector=n=1 id=other
        open_consumer consumer=F broker=b2 topic=T durable=true client_id=c {S} id=same""")
    assert (result(found, "other"), result(found, "same")) == ("refused", "ok")


def test_a_broker_that_waits_for_its_master_has_no_links():
    found = run("""
        kill broker=b1
        restart broker=b3 until=none
        wait ms=8000
        snapshot label=waits
        start_broker broker=b1""")
    assert at(found, "b2", "waits")["cluster"] == {"b1": "BROKER_DOWN", "b3": "BROKER_DOWN"}
    assert at(found, "b3", "waits")["cluster"] == {"b1": "INITIALIZING", "b2": "INITIALIZING"}
    assert at(found, "b3")["cluster"] == {"b1": "OPERATING", "b2": "OPERATING"}


@pytest.mark.parametrize("how", ["kill", "stop"])
def test_a_returning_broker_has_the_changes_and_loses_the_messages_of_what_was_destroyed(how):
    found = run(f"""
        create_destination broker=b1 queue=D
        create_destination broker=b1 queue=E options={{"MaxNumMsgs":5}}
        send broker=b2 queue=D count=3
        {how} broker=b2
        destroy_destination broker=b3 queue=D
        create_destination broker=b3 queue=D
        update_destination broker=b1 queue=E options={{"MaxNumMsgs":1}}
        open_consumer consumer=S broker=b3 topic=T durable=true
        close_consumer consumer=S
        start_broker broker=b2
        send broker=b2 queue=E count=2 id=send""")
    assert known(found, "queue://D") == ALL
    assert holds(found, "b2", "queue://D") == 0
    assert result(found, "send") == "partly refused"
    assert at(found, "b2")["durable_subscriptions"] == ["S/S inactive messages=0"]


def test_without_any_record_a_returning_broker_keeps_and_lacks_what_it_did():
    found = run(
        """
        create_destination broker=b1 queue=OLD
        kill broker=b2
        destroy_destination broker=b1 queue=OLD
        create_destination broker=b1 queue=NEW
        open_consumer consumer=S broker=b3 topic=T durable=true
        close_consumer consumer=S
        start_broker broker=b2""",
        model="none",
    )
    assert (known(found, "queue://OLD"), known(found, "queue://NEW")) == (["b2"], ["b1", "b3"])
    assert "durable_subscriptions" not in at(found, "b2")


def test_who_was_away_at_the_change_of_the_master_waits_for_the_old_one():
    found = run(
        """
        kill broker=b3
        admin broker=b1 command=change_master from=b1 to=b2 id=change
        start_broker broker=b3 until=none
        connect broker=b3 id=connect""",
        options={"imq.cluster.dynamicChangeMasterBrokerEnabled": "true"},
    )
    assert (result(found, "change"), result(found, "connect")) == ("ok", "refused")
    assert (at(found, "b1")["master"], at(found, "b3")["master"]) == ("b2", "b1")
    assert at(found, "b3")["cluster"]["b1"] == "INITIALIZING"


def test_nothing_can_be_administered_at_a_broker_that_is_down():
    asked = """
        create_destination broker=b3 queue=NEW id=create
        update_destination broker=b3 queue=OLD options={"MaxNumMsgs":5} id=update
        destroy_destination broker=b3 queue=OLD id=destroy
        pause_destination broker=b3 queue=OLD id=pause
        unsubscribe broker=b3 client_id=D subscription_name=D id=unsubscribe
        admin broker=b3 command=change_master from=b1 to=b2 id=admin"""
    for model in ("master", "peer", "none", "enhanced"):
        found = run(f"""
            create_destination broker=b1 queue=OLD
            open_consumer consumer=D broker=b1 topic=T durable=true
            close_consumer consumer=D
            kill broker=b3{asked}""", model=model)  # fmt: skip
        rows = {row["id"]: row["result"] for row in found["operations"] if "id" in row}
        assert set(rows.values()) == {"refused"}, model
        assert known(found, "queue://OLD") == ["b1", "b2"]


# 7. Peers


@pytest.mark.parametrize("first", [
    "create_destination broker=b2 queue=NEW id=first",
    'update_destination broker=b2 queue=OLD options={"MaxNumMsgs":7} id=first',
    "destroy_destination broker=b2 queue=OLD id=first",
    "open_consumer consumer=D broker=b2 topic=T durable=true id=first",
])  # fmt: skip
def test_without_the_database_the_first_operation_is_refused_and_what_follows_blocks(first):
    found = run(
        f"""
        create_destination broker=b1 queue=OLD
        database action=stop
        {first}
        send broker=b2 queue=OLD count=1 id=send limit_ms=5000
        connect broker=b2 id=connect
        send broker=b3 queue=OLD count=1 id=other
        snapshot label=down
        database action=start
        wait ms=6000""",
        model="peer",
    )
    assert [result(found, id) for id in ("first", "send", "connect")] == ["refused"] + [
        "blocked"
    ] * 2
    assert result(found, "other") == "ok"
    assert at(found, "b2", "down") == {"running": True, "no_answer": True}
    assert holds(found, "b2", "queue://OLD") == 1  # what waited behind it comes through


@pytest.mark.parametrize("model", ["peer", "enhanced"])
def test_no_broker_starts_without_its_database(model):
    found = run("kill broker=b2\ndatabase action=stop\nstart_broker broker=b2 id=start\n"
                "database action=start\nstart_broker broker=b2 id=later", model=model)  # fmt: skip
    assert (result(found, "start"), result(found, "later")) == ("ended", "ok")


@pytest.mark.parametrize("away", ALL)
def test_a_returning_peer_reads_the_record_whoever_is_away(away):
    other = next(name for name in ALL if name != away)
    found = run(
        f"""
        stop broker={away}
        create_destination broker={other} queue=D options={{"MaxNumMsgs":3}}
        stop broker={other}
        start_broker broker={away}
        send broker={away} queue=D count=5 id=send""",
        model="peer",
    )
    assert result(found, "send") == "partly refused"


# 8. Crashes


@pytest.mark.parametrize("how", ["kill", "stop"])
@pytest.mark.parametrize("mode", ["auto", "client", "transacted"])
def test_what_a_dead_brokers_consumer_held_is_free_at_home_flagged(how, mode):
    found = run(
        f"""
        open_consumer consumer=C1 broker=b2 queue=Q receiving=false ack_mode={mode}
        send broker=b1 queue=Q count=6
        receive consumer=C1 count=2
        {how} broker=b2
        open_consumer consumer=C2 broker=b3 queue=Q
        settle
        start_broker broker=b2""",
        **HOME,
    )
    first = 3 if mode == "auto" else 1
    assert got(found, "C2") == again(found, "C2") == [*range(first, 7)]
    assert queue(found, "b2")["remote"] == 0


def test_receive_fails_after_a_reconnect_until_recover():
    found = run(
        """
        open_consumer consumer=C broker=["b1","b2"] queue=Q receiving=false ack_mode=client reconnect=true
        send broker=b3 queue=Q count=4
        receive consumer=C count=2
        kill broker=b1
        wait_for event=client_reconnected
        receive consumer=C count=2
        acknowledge consumer=C id=refused
        recover consumer=C
        receive consumer=C count=4
        acknowledge consumer=C id=done""",
        **HOME,
    )
    assert got(found, "C") == [1, 2, 1, 2, 3, 4]
    assert again(found, "C") == [1, 2, 3, 4]
    assert (result(found, "refused"), result(found, "done")) == ("refused", "ok")
    assert holds(found, "b3") == 0


def test_a_consumers_transaction_is_rolled_back_with_its_broker_and_the_next_one_works():
    found = run(
        """
        open_consumer consumer=C broker=["b1","b2"] queue=Q receiving=false ack_mode=transacted reconnect=true
        send broker=b3 queue=Q count=3
        receive consumer=C count=2
        kill broker=b1
        wait_for event=client_reconnected
        commit consumer=C id=first
        receive consumer=C count=3
        commit consumer=C id=second""",
        **HOME,
    )
    assert (result(found, "first"), result(found, "second")) == ("refused", "ok")
    assert got(found, "C") == [1, 2, 1, 2, 3]
    assert holds(found, "b3") == 0


@pytest.mark.parametrize("dest", ["queue=Q", "topic=T"])
def test_a_dead_homes_messages_are_stuck_with_who_failed_to_take_them(dest):
    more = "durable=true" if dest == "topic=T" else ""
    found = run(
        f"""
        open_consumer consumer=C1 broker=b2 {dest} receiving=false {more}
        send broker=b1 {dest} count=5
        stop broker=b1
        resume consumer=C1
        start_broker broker=b1
        snapshot label=back""",
        **HOME,
    )
    assert got(found, "C1") == again(found, "C1") == [1]
    name = dest.replace("=", "://")
    assert holds(found, "b1", name) == 4
    assert queue(found, "b2", dest=name)["remote"] == 5


def test_in_5_1_the_same_consumer_gets_them_all_again():
    script = """
        open_consumer consumer=C1 broker=b2 queue=Q receiving=false ack_mode=client
        send broker=b1 queue=Q count=5
        receive consumer=C1 count=3
        kill broker=b1
        acknowledge consumer=C1 id=acknowledge
        start_broker broker=b1
        recover consumer=C1
        resume consumer=C1
        settle
        acknowledge consumer=C1 id=after"""
    old = run(script, version="5.1", **HOME)
    assert (result(old, "acknowledge"), result(old, "after")) == ("refused", "ok")
    assert got(old, "C1") == [1, 2, 3, 1, 2, 3, 4, 5]
    assert again(old, "C1") == [1, 2, 3, 4, 5]
    new = run(script, **HOME)
    assert got(new, "C1") == [1, 2, 3, 1]  # played with 6.5.0


@pytest.mark.parametrize("persistent", ["true", "false"])
def test_only_persistent_sends_wait_for_the_new_home_when_one_was_lost(persistent):
    found = run(
        f"""
        open_producer producer=P broker=["b1","b2"] queue=Q reconnect=true
        send producer=P count=2 persistent={persistent}
        kill broker=b1
        send producer=P count=1 persistent={persistent} id=lost
        send producer=P count=2 persistent={persistent} id=sent
        start_broker broker=b1
        open_consumer consumer=C broker=b3 queue=Q""",
        **HOME,
    )
    results = (result(found, "lost"), result(found, "sent"))
    # What is not persistent was played twice with 6.5.0, in one step.
    assert results == (("refused", "ok") if persistent == "true" else ("ok", "refused"))
    assert sorted(got(found, "C")) == ([1, 2, 4, 5] if persistent == "true" else [])


def test_a_producer_without_reconnect_has_each_message_refused():
    found = run("open_producer producer=P broker=b1 queue=Q\nkill broker=b1\n"
                "send producer=P count=2 id=send", **HOME)  # fmt: skip
    row = next(row for row in found["operations"] if row.get("id") == "send")
    assert (row["result"], row["sent"], row["refused"]) == ("refused", 0, [1, 2])


def test_who_asks_a_frozen_broker_waits_and_goes_on_when_it_wakes_up():
    found = run(
        """
        create_destination broker=b3 queue=Q
        pause broker=b2
        connect broker=b2 id=connect limit_ms=3000
        send broker=b2 queue=Q count=2 id=send limit_ms=3000
        resume broker=b2
        open_consumer consumer=C broker=b1 queue=Q""",
        **HOME,
    )
    assert (result(found, "connect"), result(found, "send")) == ("blocked", "blocked")
    assert got(found, "C") == [1, 2]


def test_a_cut_swallows_only_what_is_sent_meanwhile():
    found = run("""
        open_consumer consumer=C broker=b3 queue=Q receiving=false
        send broker=b2 queue=Q count=2
        cut between=["b2","b3"]
        send broker=b2 queue=Q count=3
        snapshot label=cut
        heal between=["b3","b2"]
        resume consumer=C""")
    assert queue(found, "b3", "cut")["remote"] == 2
    assert holds(found, "b2", label="cut") == 5
    assert got(found, "C") == [1, 2, 3, 4, 5]
    assert again(found, "C") == []


def test_all_brokers_of_a_list_are_tried_in_its_order():
    found = run(
        """
        open_consumer consumer=C broker=["b2","b1","b3"] queue=Q reconnect=true reconnect_attempts=1
        kill broker=b2
        wait_for event=client_reconnected
        send broker=b1 queue=Q count=1""",
        model="peer",
    )
    assert got(found, "C") == [1]
    assert queue(found, "b1")["consumers"] == 1
    assert queue(found, "b1")["remote"] == queue(found, "b3")["remote"] == 0


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


@pytest.mark.parametrize(("version", "listed"), [("6.5.0", 5), ("5.1", 3)])
def test_copies_of_a_closed_transaction_stay_listed_in_5_1_only_those_not_taken(version, listed):
    """Played with 6.5.0."""
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
        xa producer=P action={end} xid=x limit_ms=2000 id=dead
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
