"""Siblings of the recorded scenarios, sections 1 to 5: other values, modes and brokers.

Each was predicted from that page before it was played; the number is the page's section.
"""

from __future__ import annotations

import pytest

from tests.products.openmq.cluster import (
    ALL,
    HOME,
    S,
    again,
    at,
    got,
    holds,
    known,
    queue,
    result,
    run,
)

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
        listed = at(found, name).get("durable_subscriptions", [])
        assert [line.partition(" ")[0] for line in listed] == (["-/s"] if durable else [])


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


def test_forwarded_messages_count_at_their_home_and_at_the_consumers_broker():
    found = run(
        limits(MaxNumMsgs=5)
        + """
        open_consumer consumer=C broker=b3 queue=Q receiving=false
        send broker=b1 queue=Q count=7 id=first
        send broker=b3 queue=Q count=7 id=second"""
    )
    assert (result(found, "first"), result(found, "second")) == ("partly refused", "refused")
    assert [holds(found, name) for name in ("b1", "b3")] == [5, 0]
    assert queue(found, "b3")["messages"] == 5


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
