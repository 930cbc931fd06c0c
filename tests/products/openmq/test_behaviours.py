"""What clusters do: a behaviour of the guide a test, as OpenMQ rules 1 to 11 correct it."""

from __future__ import annotations

import pytest

from mqlab.trace.kinds import Kind
from tests.products.openmq import enhanced
from tests.products.openmq.behaviours import behaviour, crossed
from tests.products.openmq.cluster import ALL, again, at, got, holds, known, result, run, trace

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
    assert got(found, "C") == [1, 2, 3, 4, 5]
    assert result(found, "first") == "refused"
    assert (result(found, "second"), result(found, "send")) == ("blocked", "ok")  # corrected


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
        heal between=["b1","b2"]
        wait ms=120000""")
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


@pytest.mark.parametrize("check_it", behaviour.cases())
def test_behaviour(check_it):
    assert enhanced.behaviour is behaviour
    assert check_it is not None, "this behaviour has no test"
    check_it()
