"""Cells of a pyramid: however events are cut into stretches and levels into tables, they add up to the same."""

from itertools import pairwise

import numpy as np
import pytest

import mqlab as mq
from mqlab.replay import cells, levels
from mqlab.trace.fates import LETS_GO
from tests.replay import synthetic

QUEUES = tuple(no % 3 > 0 for no in range(synthetic.DESTS))  # the others are topics
KINDS = [mq.Kind.Sent, mq.Kind.Enqueued, mq.Kind.TakenOver, mq.Kind.Received,
         mq.Kind.Acknowledged]  # fmt: skip


def events(count, dests):
    made = synthetic.columns(count)
    draw = np.random.default_rng(2)
    made["kind"] = draw.choice(np.array(KINDS, np.int8), count)
    made["frm"] = draw.integers(-1, synthetic.BROKERS, count)
    made["dest"] = draw.choice(dests, count)
    return made


def one_by_one(made, shape):
    """Return marginal -> (bucket, key) -> number and sum of ages, or change of the depth."""
    found = {name: {} for name in (*cells.MARGINALS, cells.DEPTH)}

    def add(name, bucket, key, n, total=0):
        known = found[name].setdefault((bucket, key), [0, 0])
        known[0] += n
        known[1] += total

    rows = zip(*(made[name].tolist() for name in cells.COLUMNS), strict=True)
    for row in rows:
        t, kind, broker, frm, link, dest, age = row
        bucket = t >> shape.shift
        for name, number in (("link", link), ("broker", broker), ("dest", dest)):
            add(name, bucket, (number + 1) * cells.KINDS + kind, 1)
        if kind == mq.Kind.Received:
            share = int(8 * np.log2(age + 1))
            add("age", bucket, (dest + 1) * cells.BINS + share, 1, age)
        if dest >= 0 and shape.queues[dest]:
            change = (kind in (mq.Kind.Enqueued, mq.Kind.TakenOver)) - (kind in LETS_GO)
            if change:
                add(cells.DEPTH, bucket, broker + 1, 1, change)
            if kind == mq.Kind.TakenOver and frm >= 0:
                add(cells.DEPTH, bucket, frm + 1, 1, -1)
    return found


@pytest.mark.parametrize("dests", [range(-1, 40), [1, 2, 4], [-1, 0, 3]],
                         ids=["queues and topics", "queues", "topics and none"])  # fmt: skip
@pytest.mark.parametrize(("least", "most", "shift"), [
    pytest.param(100, 200, 8, id="many buckets in a stretch"),
    pytest.param(100, 200, 12, id="many stretches in a bucket"),
    pytest.param(10, 4000, 10, id="a stretch for each bucket"),
    pytest.param(9000, 9000, 10, id="all at once"),
])  # fmt: skip
def test_however_events_are_cut_their_cells_are_the_same(monkeypatch, dests, least, most, shift):
    monkeypatch.setattr(cells, "LEAST", least)
    monkeypatch.setattr(cells, "MOST", most)
    made, shape = events(4000, np.array(dests)), cells.Shape(shift, 1, (*QUEUES, False))
    column = {name: made[name] for name in cells.COLUMNS}
    # As they come from row groups, of which some are shorter than a stretch.
    ends = [0, 700, 710, 2500, 4000]
    groups = [{name: rows[begin:end] for name, rows in column.items()} for begin, end in pairwise(ends)]
    monkeypatch.setattr(cells, "_columns", lambda units: groups)
    found = cells.count([], shape)
    for name, wanted in one_by_one(made, shape).items():
        bucket, key, n, total = (column.tolist() for column in found[name])
        got = list(zip(bucket, key, n, total, strict=True))
        assert got == [(*cell, *wanted[cell]) for cell in sorted(wanted)]


def test_a_stretch_of_silence_costs_nothing_and_loses_nothing():
    when = np.array([0, 0, 5, 10**12])
    key = np.array([3, 3, 1, 900_000])
    assert [c.tolist() for c in cells.counts(when, key)][:3] == [
        [0, 5, 10**12], [3, 1, 900_000], [2, 1, 1]]  # fmt: skip


@pytest.mark.parametrize(
    ("dense", "table"), [(cells.DENSE, 40), (cells.DENSE, 1 << 17), (0, 40)],
    ids=["small tables", "one table", "sorted"],
)  # fmt: skip
@pytest.mark.parametrize("first", [0, 7, 8])
def test_levels_are_sums_of_the_finest_cells(monkeypatch, dense, table, first):
    monkeypatch.setattr(levels, "DENSE", dense)
    monkeypatch.setattr(levels, "FREE", 0)
    monkeypatch.setattr(levels, "TABLE", table)
    rng = np.random.default_rng(3)
    when = np.sort(rng.integers(first, first + 21, 500))
    key, age = rng.integers(0, 9, 500) * 512, rng.integers(0, 1000, 500)
    # The last bucket of one stretch is the first of the next.
    parts = [cells.counts(when[cut], key[cut], age[cut]) for cut in (slice(0, 250), slice(250, 500))]
    assert parts[0][0][-1] == parts[1][0][0]
    for level, found in enumerate(levels.coarser(cells.joined(parts), 6)):
        wanted = {}
        for cell, years in zip(zip(when >> level, key, strict=True), age, strict=True):
            n, total = wanted.get(cell, (0, 0))
            wanted[cell] = (n + 1, total + years)
        got = list(zip(*(column.tolist() for column in found), strict=True))
        assert got == [(*map(int, cell), *map(int, wanted[cell])) for cell in sorted(wanted)]


def test_sums_of_ages_are_exact():
    zero, ages = np.zeros(2, np.int64), np.array([2**53 + 1, 2])
    assert cells.add_up(zero, zero, zero + 1, ages)[3].tolist() == [2**53 + 3]


@pytest.mark.parametrize("figure", [*filter(lambda one: one.suggestion, mq.figures())], ids=lambda one: one.id)
def test_the_depth_at_the_end_is_what_waits_there(figure):
    trace = mq.run(figure)
    shape = cells.Shape(62, 1, cells.queues(trace.names["dest"]))
    column = {n: np.frombuffer(trace.column(n), trace.column(n).typecode) for n in cells.COLUMNS}
    found = cells.counted(column, shape)
    _, key, _, change = cells.depth(found[cells.HELD], found[cells.MOVED])
    depths = {trace.names["node"][k - 1]: int(n) for k, n in zip(key, change, strict=True) if n}
    waits = {b: sum(map(len, queues.values())) for b, queues in trace.waiting().items()}
    assert depths == {broker: n for broker, n in waits.items() if n}
