"""Questions to the traces of Artemis brokers: who got what, what is lost, who served when."""

from __future__ import annotations

from collections import Counter

import pytest

import mqlab as mq
from mqlab.api import artemis as art
from mqlab.errors import UnknownName
from mqlab.products import outcome_of as outcome
from mqlab.products import play
from mqlab.products.artemis.files import lab_file
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.parquet import load, save
from tests.conftest import recorded
from tests.products.artemis.ha import ha, master, slave, store, trace

PAIR = {"M1": master(), "S1": slave()}
ALL = [p for name in ("artemis", "artemis-later") for p in recorded(name, lambda path: True)]


@pytest.mark.parametrize("value", ALL)
def test_a_trace_answers_as_the_outcome_says(value):
    run = play(lab_file.read(value))
    said = outcome(run)
    waiting = {n for of in run.waiting().values() for found in of.values() for n in found}
    assert run.received() == {name: c["count"] for name, c in said["consumers"].items()}
    assert run.redelivered() == {
        name: c["redelivered"] for name, c in said["consumers"].items() if "redelivered" in c
    }
    # A recording calls lost what no live broker has; on the disk of a dead one it still waits.
    assert run.lost() == [n for n in said["lost"] if n not in waiting]
    assert run.duplicated() == came_twice(value["scenario"], said["consumers"])


def came_twice(scenario, consumers):
    """Return what came to a consumer twice, or from a queue to several, unflagged."""
    queues = {step["consumer"]: step.get("queue") for step in scenario["steps"]
              if step["do"] == "open_consumer"}  # fmt: skip
    fresh = Counter()
    for name, c in consumers.items():
        plain = Counter(c["received"]) - Counter(c.get("redelivered", ()))
        fresh += Counter({n: more for n, more in plain.items() if queues[name]})
    twice = {}
    for name, c in consumers.items():
        for n, count in Counter(c["received"]).items():
            if count > 1 or (queues[name] and fresh[n] > 1):
                twice.setdefault(name, {})[n] = count
    return twice


@pytest.mark.parametrize("value", ALL)
def test_causes_come_first_and_nothing_arrives_unsent(value):
    run = play(lab_file.read(value))
    times, causes, kinds = (list(run.column(c)) for c in ("t", "cause", "kind"))
    assert times == sorted(times)
    for row, cause in enumerate(causes):
        assert cause < row
        if kinds[row] == Kind.Received:
            assert kinds[cause] == Kind.Dispatched
            assert times[cause] < times[row]
        elif kinds[row] == Kind.Enqueued:
            assert cause >= 0


def depths(state):
    return {f"queue://{name}": queue["depth"] for name, queue in state.get("queues", {}).items()
            if queue["depth"] and "." not in name and ":" not in name}  # fmt: skip


@pytest.mark.parametrize("value", ALL)
def test_what_waits_in_a_trace_is_what_live_brokers_hold(value):
    if value["scenario"]["steps"][-1]["do"] != "snapshot":
        value = {**value, "scenario": {**value["scenario"], "steps": [
            *value["scenario"]["steps"], {"do": "snapshot", "label": "last"}]}}  # fmt: skip
    run = play(lab_file.read(value))
    shot = list(outcome(run)["snapshots"].values())[-1]["brokers"]
    waiting = run.waiting()
    for name, state in shot.items():
        if state["role"] == "live":
            queues = {d: n for d, n in waiting.get(name, {}).items() if d.startswith("queue://")}
            assert {d: len(n) for d, n in queues.items()} == depths(state)


FAILOVER = """
wait ms=1000
open_consumer consumer=C broker=M1 queue=Q receiving=false
send broker=M1 queue=Q count=4
kill broker=M1
wait ms=3000
resume consumer=C
wait ms=1000
"""


def test_a_failover_in_every_account():
    run = trace(PAIR, FAILOVER)
    assert run.received() == {"C": 4}
    assert (run.lost(), run.duplicated(), run.redelivered()) == ([], {}, {})
    boot, (killed, end) = run.unavailable("M1")
    assert boot == (0, 2_000_000)  # a process is there before it serves
    assert 4_500_000 <= killed < end == run.column("t")[-1]
    assert run.unavailable("S1")[0][1] > killed
    ((lost, back),) = run.downtime()["C"]
    assert killed <= lost < back < killed + 2_000_000
    assert run.downtime()["queue://Q"] == [(killed, run.unavailable("S1")[0][1])]  # its start is no loss


def test_who_of_a_pair_serves():
    run = trace(PAIR, FAILOVER)
    assert run.master("M1", "4s") == ["M1"]
    assert run.master("M1", "9s") == ["S1"]
    shared = trace({"M1": store("master"), "S1": store("slave")}, "wait ms=2000\nkill broker=M1\n"
                   "wait ms=3000")  # fmt: skip
    assert (shared.master("store", "5s"), shared.master("store", "8s")) == (["M1"], ["S1"])
    with pytest.raises(UnknownName, match=r"'M9'\. Known: M1"):
        run.master("M9", "1s")


def test_a_hosted_backup_is_of_its_requesters_set():
    halves = {"request_backup": True, "master": {}, "slave": {}}
    brokers = {n: {"ha": ha("shared_store", "colocated", **halves), "shared_store": n} for n in "AB"}
    run = trace(brokers, "wait ms=8000\nkill broker=B\nwait ms=3000")
    assert run.master("B", "11s") == ["B"]
    assert run.master("B", "14s") == ["A/colocated_backup_01"]


def test_a_split_brain_has_two_masters_and_delivers_twice():
    run = trace(
        PAIR,
        """
        wait ms=1000
        send broker=M1 queue=Q count=3
        cut between=["M1","S1"]
        wait ms=3000
        open_consumer consumer=A broker=M1 queue=Q
        open_consumer consumer=B broker=S1 queue=Q
        wait ms=1000
    """,
    )
    assert run.master("M1", "9s") == ["M1", "S1"]
    assert run.received() == {"A": 3, "B": 3}
    assert len(run.path(1)) == 2


def test_messages_that_only_were_in_memory_are_lost_and_the_reason_is_told():
    run = trace(
        PAIR,
        """
        wait ms=1000
        send broker=M1 queue=Q count=2 persistent=false
        kill broker=M1
        wait ms=2000
    """,
    )
    assert run.lost() == [1, 2]
    assert run.account()[1]["why"] == Reason.memory_store.sentence
    assert mq.explain(run, message=1).title.startswith("Message sender2-1: lost at M1: it was held")


@pytest.mark.parametrize(
    ("balancing", "selector", "why"),
    [
        ("ON_DEMAND", "x = 1", Reason.selector),
        ("OFF", None, Reason.turn_off),
        ("STRICT", None, Reason.nobody_reads),
    ],
)
def test_a_message_that_no_consumer_elsewhere_gets_is_told_why(balancing, selector, why):
    net = art.Network(art.Broker("A"), art.Broker("B"), message_load_balancing=balancing)
    queue = art.Queue("Q")
    run = mq.run(net, art.Consumer("C", "B", queue, selector=selector), art.Producer("P", "A", 2, queue))
    assert run.account()[2]["why"] == why.sentence
    assert run.received()["C"] == (1 if balancing == "STRICT" else 0)
    assert [one.why for one in run.undone if one.what == "Producer P"] == (
        [f"2 messages not accepted; {why.sentence}"] if balancing == "OFF" else []
    )


def test_who_reads_here_and_selects_it_not_is_told_though_somebody_elsewhere_would():
    net, queue = art.Network(art.Broker("A"), art.Broker("B"), message_load_balancing="STRICT"), art.Queue("Q")
    readers = art.Consumer("C", "A", queue, selector="x = 1"), art.Consumer("D", "B", queue)
    run = mq.run(net, *readers, art.Producer("P", "A", 4, queue))
    waiting = [entry.why for entry in run.account().values() if entry.broker == "A"]
    assert set(waiting) == {Reason.selector.sentence}


def test_a_queue_is_without_a_broker_from_a_loss_on():
    """What the brokers take for their first start is no downtime of a queue that nobody has missed."""
    net = art.Network(art.Broker("A"))
    run = mq.run(net, art.Consumer("C", "A", art.Queue("Q")), art.Producer("P", "A", 2, art.Queue("Q")))
    assert run.unavailable("A") == [(0, 2_000_000)]
    assert run.downtime() == {}
    assert "without a broker" not in str(mq.explain(run))


def test_a_message_is_explained_hop_by_hop():
    brokers = {"A": None, "B": None}
    run = trace(brokers, "open_consumer consumer=C broker=B queue=Q\nsend broker=A queue=Q count=2")
    text = str(mq.explain(run, message=1))
    assert "received by C (route A > B)" in text
    assert f"A forwarded it to B over A-B: {Reason.broker_turn.sentence}" in text
    failed = trace(PAIR, FAILOVER)
    assert "S1 recovered it from the store" in str(mq.explain(failed, message="sender3-1"))
    told = str(mq.explain(failed, broker="S1"))
    assert "S1 is now backup in sync (pair M1)" in told
    assert "S1 started a quorum vote (votes 0, needed 0): quorum vote won" in told


def test_messages_of_a_slave_that_starts_anew_are_gone_with_its_old_data():
    run = trace(
        {"M1": master(check_for_live_server=True), "S1": slave()},
        """
        wait ms=1000
        kill broker=M1
        wait ms=2000
        send broker=S1 queue=Q count=2
        kill broker=S1
        start_broker broker=S1
        wait ms=2000
    """,
    )
    assert run.lost() == [1, 2]
    assert run.account()[1]["why"] == Reason.moved_aside.sentence


def test_a_cut_line_is_down_until_it_is_whole():
    run = trace(
        PAIR,
        """
        wait ms=1000
        cut between=["M1","S1"]
        wait ms=3000
        heal between=["M1","S1"]
        cut between=["clients","S1"]
    """,
    )
    told = [(e.kind.name, e.link) for e in run.events() if e.link == "M1-S1"]
    assert told == [("Connected", "M1-S1"), ("Disconnected", "M1-S1"), ("Connected", "M1-S1")]
    lines = [(e.kind.name, run.detail(e.row)["between"]) for e in run.events()
             if e.kind in (Kind.Partitioned, Kind.Healed)]  # fmt: skip
    assert lines == [("Partitioned", "M1 and S1"), ("Healed", "M1 and S1"),
                     ("Partitioned", "S1 and clients")]  # fmt: skip


def test_scale_down_moves_messages_on_in_the_trace():
    run = trace(
        {"A": ha("live_only", scale_down={"connectors": ["B"]}), "B": None},
        """
        send broker=A queue=Q count=2
        stop broker=A
    """,
    )
    assert run.waiting() == {"B": {"queue://Q": [1, 2]}}
    assert run.path(1) == [["A", "B"]]


def test_a_trace_in_a_file_is_the_same(tmp_path):
    run = trace(PAIR, FAILOVER)
    save(run, tmp_path / "run.parquet")
    again = load(tmp_path / "run.parquet")
    assert again.digest() == run.digest()
    assert again.downtime() == run.downtime()


def test_a_run_tells_why_messages_wait_and_where_the_guide_is_not_the_broker():
    told = str(mq.explain(mq.run("artemis:21.4.1")))
    assert "5 messages of queue://orders are waiting at B1" in told
    assert "the queue has no consumers at this broker" in told
    assert "The real broker: On broker 1: the connector is used only to find" in told
    own = {"brokers": [{"name": "A"}], "queues": [{"name": "Q"}], "steps": [{"do": "start"}]}
    assert "the real broker" not in str(mq.explain(mq.run(own)))


def test_a_later_version_speaks_of_primary_and_backup_and_plays_by_the_same_rules():
    from mqlab.views import scene

    value = lab_file.write(mq.figure("artemis:21.1").scenario)
    spoken = {"master": "primary", "slave": "backup"}
    later = {**value, "version": "2.28", "brokers": [
        {**broker, "ha": {**broker["ha"], "role": spoken[broker["ha"]["role"]]}}
        for broker in value["brokers"]
    ]}  # fmt: skip
    runs = [mq.run({**value, "version": "2.5"}), mq.run(later)]
    assert runs[0].digest() == runs[1].digest()
    words = [scene(run).columns["roles"]["word"] for run in runs]
    assert ["slave, in sync" in words[0], "backup, in sync" in words[1]] == [True, True]
    with pytest.raises(UnknownName, match=r"2\.28"):
        lab_file.read({**value, "version": "3.0"})


def test_why_a_consumer_did_not_get_a_message_is_told():
    value = {
        "brokers": [{"name": "A"}, {"name": "B"}], "queues": [{"name": "Q"}],
        "steps": [
            {"do": "start"},
            {"do": "open_consumer", "consumer": "C1", "broker": "A", "queue": "Q"},
            {"do": "open_consumer", "consumer": "C2", "broker": "B", "queue": "Q",
             "selector": "colour = 'red'"},
            {"do": "open_consumer", "consumer": "C3", "broker": "B", "queue": "R"},
            {"do": "send", "broker": "A", "queue": "Q", "count": 4,
             "properties": {"colour": ["blue", "red"]}},
            {"do": "settle"},
        ],
    }  # fmt: skip
    run = mq.run(value)
    assert run.received() == {"C1": 2, "C2": 2, "C3": 0}
    assert "received by C2 (route A > B)" in str(mq.explain(run, message=2, why_not="C1"))
    other = str(mq.explain(run, message=2, why_not="C3"))
    assert "C3 consumes from queue://R; the message was sent to queue://Q." in other
    assert "where colour = 'red'" in str(mq.explain(run, consumer="C2"))


def test_a_scale_down_is_told_of_a_run_and_of_both_its_brokers():
    trace, told = mq.run("artemis:21.4"), "B2 transferred 5 messages to B1 by scale-down"
    for about in ({}, {"broker": "B1"}, {"broker": "B2"}):
        assert sum(str(line).startswith(told) for line in mq.explain(trace, **about).lines) == 1
    assert told not in str(mq.explain(mq.run("artemis:21.1")))
