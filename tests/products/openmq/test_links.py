"""What travels takes a link: from producers, between brokers, to consumers, each with its delay."""

from __future__ import annotations

from itertools import pairwise

import pytest

from mqlab.products import play
from mqlab.products.openmq.files import lab_file
from mqlab.products.openmq.lab import ClusterLab
from mqlab.trace.kinds import Kind
from tests.conftest import recorded
from tests.products.openmq.cluster import body, trace

ARRIVES = {Kind.Sent: Kind.Enqueued, Kind.Forwarded: Kind.Enqueued, Kind.Dispatched: Kind.Received}


def passages(played):
    """Yield (leaves, arrives) of every passage over a link."""
    events = list(played.events())
    for event in events:
        cause = events[event.cause] if event.cause is not None else event
        if ARRIVES.get(cause.kind) == event.kind:
            yield cause, event


def test_a_message_to_another_broker_takes_three_links():
    played = trace("""
        open_consumer consumer=C broker=b3 queue=Q
        send broker=b1 queue=Q count=1""")
    wanted = [Kind.Sent, Kind.Enqueued, Kind.Forwarded, Kind.Enqueued, Kind.Dispatched,
              Kind.Received, Kind.Acknowledged, Kind.Acknowledged]  # fmt: skip
    found = [e for e in played.events() if e.message == 1]
    assert [e.kind for e in found] == wanted
    assert [e.age for e in found] == [0, 1000, 1000, 2000, 2000, 3000, 3000, 3000]


def test_who_sends_persistent_messages_waits_for_each_receipt():
    for persistent, gaps in (("true", [2000, 2000]), ("false", [0, 0])):
        played = trace(f"send broker=b1 queue=Q count=3 persistent={persistent}")
        times = [e.t for e in played.events() if e.kind == Kind.Sent]
        assert [b - a for a, b in pairwise(times)] == gaps


@pytest.mark.parametrize("value", recorded("openmq", lambda path: True))
def test_with_jitter_every_passage_takes_the_delay_and_up_to_as_much_more(value):
    played = play(lab_file.read(value), seed=3, jitter="2ms")
    bound = [a for a, b in passages(played) if b.t - a.t < 1000]
    assert bound == []
    assert list(played.column("t")) == sorted(played.column("t"))


def test_nothing_overtakes_on_a_link():
    played = play(lab_file.read(body("""
        open_consumer consumer=C broker=b3 queue=Q
        send broker=b1 queue=Q count=50 persistent=false""")), seed=5, jitter="9ms")  # fmt: skip
    order = [e.message for e in played.events() if e.kind == Kind.Received]
    assert order == [*range(1, 51)]


def test_jitter_decides_whose_message_comes_first():
    script = """
        open_consumer consumer=C broker=b3 queue=Q
        send broker=b1 queue=Q count=5 at=6s
        send broker=b2 queue=Q count=5 at=6s
        wait ms=3000"""
    orders = set()
    for seed in range(6):
        played = play(lab_file.read(body(script)), seed, "5ms")
        orders.add(tuple(e.message for e in played.events() if e.kind == Kind.Received))
    assert len(orders) > 1
    assert {tuple(sorted(order)) for order in orders} == {tuple(range(1, 11))}


def test_what_a_cut_swallows_is_held_until_it_heals_while_others_pass():
    lab = ClusterLab(lab_file.read(body("""
        open_consumer consumer=C broker=b3 queue=Q
        cut between=["b1","b3"]
        send broker=b1 queue=Q count=2
        send broker=b2 queue=Q count=2""")))  # fmt: skip
    lab.rest()
    assert list(lab.consumers["C"].received) == [3, 4]
    copies = {e.message for e in lab.trace.events() if e.kind == Kind.Enqueued and e.link}
    assert copies == {3, 4}
    lab.do(lab_file.read(body('heal between=["b1","b3"]')).actions[-1])
    lab.until("400s")  # TCP sends again what was lost, at the latest after 120 s
    assert list(lab.consumers["C"].received) == [3, 4, 1, 2]
    assert lab.trace.lost() == []


def test_a_message_under_way_to_a_consumer_that_closes_comes_to_another():
    lab = ClusterLab(lab_file.read(body("""
        open_consumer consumer=C broker=b3 queue=Q
        send broker=b1 queue=Q count=1 at=6s
        close_consumer consumer=C at=6002ms
        wait ms=3000
        open_consumer consumer=D broker=b2 queue=Q""")))  # fmt: skip
    lab.rest()
    assert lab.trace.received() == {"C": 0, "D": 1}
