"""`trace.links()` and `trace.latency()`: against what the trace says event by event."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import mqlab as mq
from mqlab.errors import BadValue, UnknownName

Q = mq.Queue("Q")
PAIR = mq.Network(mq.Broker("A", mq.NetworkConnector("ab", "static:(tcp://B:61616)")), mq.Broker("B"))
READER = mq.Consumer("c", on="B", reads=Q)


@pytest.mark.parametrize(
    "figure", ["fuse:2.4", "fuse:2.12", "fuse:2.20", "openmq:4-1", "artemis:21.1", "fuse:4.8"]
)
def test_links_count_each_crossing(figure):
    trace = mq.run(figure)
    crossed = Counter((e.frm, e.to) for e in trace.events() if e.kind == mq.Kind.Forwarded)
    told = Counter()
    for load in trace.links():
        told[load.frm, load.to] += load.messages
        assert 1 <= load.busiest <= load.messages
    assert told == crossed
    assert [load.messages for load in trace.links()] == sorted(
        (load.messages for load in trace.links()), reverse=True
    )


def test_utilisation_is_what_the_bandwidth_says():
    sends = mq.Producer("p", on="A", sends=30, to=Q, size=1000)
    trace = mq.run(PAIR, READER, sends, links={("A", "B"): mq.Link(bandwidth=64_000)})
    (load,) = trace.links()
    assert (load.bytes, load.connector) == (30_000, "A/ab")
    length = max(trace.column("t")) / 1e6
    assert load.utilisation == pytest.approx(30_000 / 64_000 / length)
    assert mq.run(PAIR, READER, sends).links()[0].utilisation is None
    assert len(mq.run(PAIR, READER).links()) == 0


def test_sizes_that_differ_are_not_guessed():
    both = [mq.Producer("p", on="A", sends=1, to=Q, size=size) for size in (10, 20)]
    (load,) = mq.run(PAIR, READER, *both).links()
    assert load.bytes is None
    assert " - " in str(mq.run(PAIR, READER, *both).links())


def test_the_busiest_second_slides():
    sends = [mq.Producer("p", on="A", sends=1, to=Q, at=f"{ms}ms") for ms in (1000, 3700, 3900, 4500, 9000)]
    (load,) = mq.run(PAIR, READER, *sends).links()
    assert load.busiest == 3
    assert load.since // 1000 in (3700, 3701, 3702)


@pytest.mark.parametrize("by", ["consumer", "destination", "route", "hops", "all"])
def test_latency_of_each_group(by):
    trace = mq.run("fuse:2.18", jitter="3ms", seed=4)
    ages = sorted(e.age for e in trace.events() if e.kind == mq.Kind.Received)
    table = trace.latency(by)
    assert sum(row.messages for row in table) == len(ages)
    assert min(row.least for row in table) == ages[0]
    assert max(row.most for row in table) == ages[-1]
    for row in table:
        assert row.least <= row.p50 <= row.p90 <= row.p99 <= row.most
    if by == "all":
        assert table[0].p50 == ages[(len(ages) + 1) // 2 - 1]
    assert str(table).splitlines()[0].startswith(by)


def test_an_unknown_group_is_an_error():
    with pytest.raises(UnknownName, match="consumer"):
        mq.run("fuse:2.20").latency("consumr")


def drawn(table):
    """Return the columns of the heat map of a table, as it is viewed."""
    (data,) = [
        one["attributes"]["data"]["entries"]
        for one in objects(json.loads(mq.view(table).item))
        if one.get("name") == "ColumnDataSource" and one.get("attributes", {}).get("name")
    ]
    return dict(data)


def objects(value):
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from objects(one)


def test_the_table_of_links_has_a_picture():
    sends = mq.Producer("p", on="A", sends=1500, to=Q)
    data = drawn(mq.run(PAIR, READER, sends).links())
    assert (data["row"], data["column"], data["n"], data["told"]) == (["A"], ["B"], [1500], ["1500"])
    three = drawn(mq.run("fuse:2.4").links())  # over three connectors
    assert three["n"] == [12]


def test_the_table_of_latencies_has_a_picture():
    table = mq.run("fuse:2.20").latency(by="hops")
    data = drawn(table)
    cells = dict(zip(zip(data["row"], data["column"], strict=True), data["n"], strict=True))
    assert cells["1", "p50"] == table[0].p50.ms
    assert len(cells) == 2 * 5


def test_an_empty_table_has_no_picture():
    trace = mq.run(PAIR)
    for table in (trace.links(), trace.latency()):
        with pytest.raises(BadValue, match="the table is empty"):
            mq.view(table)
