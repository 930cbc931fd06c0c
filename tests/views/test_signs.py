"""What a scene tells besides who has what: copies of topics, turns, limits, votes, cuts, what comes again."""

import pytest

import mqlab as mq
from mqlab.views import scene
from mqlab.views.changes import StateChange
from mqlab.views.repeats import DUPLICATE, REDELIVERED, repeats
from tests.conftest import packed

FOO, NEWS = mq.Queue("FOO"), mq.Topic("NEWS")
LINK = mq.NetworkConnector("ab", uri="static:(tcp://B:61616)")


def rows(trace, what):
    """Return (a, b, c, d) of the changes of one kind."""
    columns = scene(trace).columns["changes"]
    table = zip(*(columns[name] for name in ("what", "a", "b", "c", "d")), strict=True)
    return [row for kind, *row in table if kind == what]


def number(trace, name):
    return trace.names["node"].index(name)


def test_second_copies_and_redeliveries_are_told_apart():
    twice = mq.run("artemis:21.1.2-duplicates")
    assert set(repeats(twice).values()) == {DUPLICATE}
    assert {twice.event(row).to for row in repeats(twice)} == {"M"}, "S got the first copies"
    flags = scene(twice).columns["flights"]["flags"]
    assert sum(flag & DUPLICATE > 0 for flag in flags) == len(twice.duplicated()["M"])
    once = mq.run("fuse:2.20")
    assert repeats(once) == {}


def test_a_redelivered_message_flies_and_carries_its_flag():
    keeps = mq.Consumer("C", on="A", reads=FOO, ack_mode="client", acknowledge=False)
    trace = mq.run(mq.Network(mq.Broker("A")), keeps, mq.Producer("P", on="A", sends=2, to=FOO),
                   mq.Close("C"), mq.Consumer("D", on="A", reads=FOO))  # fmt: skip
    again = trace.redelivered()["D"]
    assert again == [1, 2]
    flights = scene(trace).columns["flights"]
    marked = [msg for msg, flag in zip(flights["msg"], flights["flags"], strict=True)
              if flag & REDELIVERED]  # fmt: skip
    assert marked == again


def test_who_reads_a_queue_here_is_told_with_its_connectors():
    trace = mq.run("fuse:2.20")
    stands = rows(trace, StateChange.stands)
    at_a = [taker for broker, _, _, taker in stands if broker == number(trace, "A")]
    assert at_a == [number(trace, "C1"), ~0], "C1, and the connector for C2 and C3"


def test_a_limit_of_memory_is_told_and_who_has_to_wait_for_it():
    net = mq.Network(mq.Broker("A", policies=({"queue": "F.>", "memory_limit": 2048},)))
    queue = mq.Queue("F.OO")
    trace = mq.run(net, mq.Consumer("C", on="A", reads=queue, prefetch=1, delay="20ms", at="1ms"),
                   mq.Producer("P", on="A", sends=6, to=queue, at="2ms"))  # fmt: skip
    assert scene(trace).columns["limits"]["bytes"] == [2048]
    waits = rows(trace, StateChange.full)
    assert {client for *_, client in waits} == {number(trace, "P")}
    assert scene(mq.run("fuse:2.20")).columns["limits"]["bytes"] == []


@pytest.mark.parametrize(("one", "other"), [("A", "B"), ("B", "A")])
def test_a_cut_is_told_with_both_ends_and_healed_alike(one, other):
    net = mq.Network(mq.Broker("A", LINK), mq.Broker("B"), mq.Broker("C"))
    trace = mq.run(net, mq.Cut(one, other, at="5ms"), mq.Heal(one, other, at="9ms"), until="20ms")
    ends = [number(trace, one), number(trace, other)]
    assert rows(trace, StateChange.cut) == [[*ends, 1, 0], [*ends, 0, 0]]


def test_votes_are_told_and_fly_from_those_who_gave_them():
    name = "quorum_2_5/three_masters_master_isolated_votes.json"
    recording = next(value for path, value in packed("artemis").items() if path.endswith(name))
    trace = mq.run(recording)
    slave, master = number(trace, "S1"), number(trace, "M1")
    assert rows(trace, StateChange.vote) == [[slave, 2, 2, 1], [master, 0, 2, 0]]
    voters = [number(trace, "M2"), number(trace, "M3")]
    assert rows(trace, StateChange.ballot) == [[slave, voters[0], 1, 0], [slave, voters[1], 1, 0]]
    cuts = rows(trace, StateChange.cut)
    assert {tuple(sorted(row[:2])) for row in cuts} == {
        tuple(sorted((master, number(trace, end)))) for end in ("M2", "M3", "S1")
    }
    columns = scene(trace).columns
    kinds = [columns["looks"]["kind"][look] for look in columns["flights"]["look"]]
    ways = [way for way, kind in zip(columns["flights"]["way"], kinds, strict=True) if kind == "vote"]
    assert {columns["ways"]["frm"][way] for way in ways} == {
        number(trace, "M2"),
        number(trace, "M3"),
    }
    assert {columns["ways"]["to_node"][way] for way in ways} == {slave}


def test_what_is_stuck_is_told_from_when_it_is_with_its_reason():
    trace = mq.run("article:stuck")
    stuck = scene(trace).columns["stuck"]
    assert (stuck["node"], stuck["count"]) == ([number(trace, "A")], [10])
    assert stuck["why"] == ["a message never returns to a broker it has visited"]
    assert 0 < stuck["t"][0] < scene(trace).duration
    assert scene(mq.run("fuse:2.20")).columns["stuck"]["t"] == []
