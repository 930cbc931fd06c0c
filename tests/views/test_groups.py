"""Very many brokers stand in groups: what belongs together, and where the groups and an open one stand."""

from collections import Counter
from itertools import combinations
from json import loads

import pytest

import mqlab as mq
from mqlab.spec import topology
from mqlab.views import groups, opened, svg
from mqlab.views.boxes import around
from mqlab.views.cast import SceneParts
from mqlab.views.folded import CollapsedParts
from mqlab.views.scene import scene

FOO = mq.Queue("TEST.FOO")


def cast_of(net):
    last, first = net.names[-1], net.names[0]
    readers = [mq.Consumer(name, on=last, reads=FOO) for name in ("C", "D")]
    return SceneParts(mq.run(net, *readers, mq.Producer("P", on=first, sends=2, to=FOO)))


def shape_of(shape, size):
    return cast_of(topology.network(shape, size))


@pytest.mark.slow
@pytest.mark.sample(3)
@pytest.mark.parametrize("size", [100, 200])
@pytest.mark.parametrize("shape", ["hub and spokes", "chain", "tree", "mesh"])
def test_nothing_overlaps_whichever_group_is_open(shape, size):
    cast = shape_of(shape, size)
    seen = Counter()
    for drawn, plan in opened.stages(cast):
        cards = [*plan.brokers.values(), *plan.clients.values()]
        assert not any(a.meets(b) for a, b in combinations(cards, 2))
        whole = around(cards)
        assert whole.w <= plan.room.w + 0.5
        assert whole.h <= plan.room.h + 0.5
        assert min(box.h for box in plan.brokers.values()) >= 24, "its name can be read"
        assert len(plan.links) == len(drawn.links)
        seen.update(no for no in plan.brokers if no < len(cast.nodes))
        if plan.opened:
            inside = drawn.groups[drawn.open].members
            around_it = [box for no, box in plan.brokers.items() if no not in inside]
            assert not any(plan.opened.meets(box) for box in around_it)
            assert all(plan.opened.holds((plan.brokers[no].x, plan.brokers[no].y)) for no in inside)
    assert set(seen) == set(cast.standing), "each broker is seen when its group is open"


@pytest.mark.slow
@pytest.mark.parametrize("shape", topology.TOPOLOGIES)
def test_each_broker_is_in_one_group_of_a_size_that_has_room(shape):
    cast = SceneParts(mq.run(topology.network(shape, 64)))  # a complete graph of 100 takes a minute
    found = groups.groups(cast)
    assert sorted(no for group in found for no in group.members) == sorted(cast.standing)
    assert 5 <= len(found) <= 20
    assert max(len(group.members) for group in found) <= groups.MOST
    assert len({group.name for group in found}) == len(found)


def test_machines_are_groups_before_names_are_and_names_before_lines():
    def named(hosts):
        rows = [
            (f"{site}-{i}", f"host{i % 7}" if hosts else None)
            for site in ("east", "west", "north")
            for i in range(21)
        ]
        return mq.Network(*(mq.Broker(name, **({"host": host} if host else {})) for name, host in rows))

    assert [group.name for group in groups.groups(cast_of(named(hosts=False)))] == [
        "east",
        "west",
        "north",
    ]
    by_host = groups.groups(cast_of(named(hosts=True)))
    assert sorted(group.name for group in by_host) == [f"host{i}" for i in range(7)]
    lines = groups.groups(shape_of("chain", 70))
    assert {len(group.members) for group in lines} <= {7, 8, 9}
    assert lines[0].name == "B1 … B9"


def test_a_hub_stands_alone_and_masters_are_not_parted_from_their_slaves():
    assert groups.groups(shape_of("hub and spokes", 100))[0].members == (0,)
    pairs = [mq.Broker(f"{role}{i}", shared_store=f"s{i}") for i in range(40) for role in ("m", "s")]
    cast = cast_of(mq.Network(*pairs))
    home = {no: group for group in groups.groups(cast) for no in group.members}
    assert len(cast.sets) == 40
    assert all(home[a] is home[b] for a, b in cast.sets)


def test_between_two_groups_there_is_one_line_for_all_their_connectors():
    cast = shape_of("mesh", 100)
    closed = CollapsedParts(cast.trace, cast, groups.groups(cast))
    assert len(closed.links) == 9, "ten rows, one below the other"
    assert {link.count for link in closed.links} == {10}
    bridges = [bridge for link in closed.links for bridge in link.bridges]
    within = [link for link in cast.links if closed.seen_as(link.a) == closed.seen_as(link.b)]
    assert len(bridges) + sum(len(link.bridges) for link in within) == len(cast.trace.names["link"])


def test_the_page_is_told_who_is_in_which_group_and_what_flies_between_them():
    columns = scene(shape_of("mesh", 100).trace).columns
    plans = [loads(text) for text in columns["plans"]["text"]]
    assert len(plans) == 1 + len(columns["groups"]["name"])
    assert [plan["plan"]["open"][0] for plan in plans] == [-1, *columns["groups"]["node"]]
    home = dict(zip(columns["members"]["node"], columns["members"]["group"], strict=True))
    ways = columns["ways"]
    ends = [(home.get(a, a), home.get(b, b)) for a, b in zip(ways["frm"], ways["to_node"], strict=True)]
    assert ends == list(zip(ways["frm"], ways["to_node"], strict=True)), "closed groups are the ends of ways"
    length = [
        abs(x1 - x0) + abs(y1 - y0)
        for x0, y0, x1, y1 in zip(*(ways[k] for k in ("x0", "y0", "x1", "y1")), strict=True)
    ]
    assert all((a == b) == (far == 0) for (a, b), far in zip(ends, length, strict=True))
    assert set(map(len, ([plan["consumers"]["node"] for plan in plans]))) == {2}, "consumers are known in all"
    assert "M1" in svg.picture(columns)


def test_sixty_brokers_are_drawn_one_by_one():
    columns = scene(shape_of("mesh", 60).trace).columns
    assert columns["groups"]["name"] == []
    assert len(columns["brokers"]["name"]) == 60


def test_a_still_of_groups_says_in_which_of_them_messages_wait():
    net = topology.network("mesh", 100)
    first, last = net.names[0], net.names[-1]
    sent = {first: 3, last: 5}
    trace = mq.run(net, *(mq.Producer(f"P{on}", on=on, sends=n, to=FOO) for on, n in sent.items()))
    columns = scene(trace).columns
    home = dict(zip(columns["members"]["node"], columns["members"]["group"], strict=True))
    named = dict(zip(columns["groups"]["node"], columns["groups"]["name"], strict=True))
    nodes = trace.names["node"]
    expected = {f"{named[home[nodes.index(on)]]}: {n}" for on, n in sent.items()}
    text = svg.picture(columns)
    assert len(expected) == 2
    assert all(f">{one}</text>" in text for one in expected)
    begun = svg.picture(columns, 0.0)
    assert not any(one in begun for one in expected)
