"""What the tasks of a pyramid do: they count events, with numpy and pyarrow alone.

A cell is what one bucket holds of one key. A key packs two small numbers, such as broker and kind,
one above the other; the first is stored plus one, so that -1, which means none, fits too. Events are
counted bucket by bucket, so that a key says by itself where its event is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mqlab.replay import store
from mqlab.trace.fates import LETS_GO
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.columns import Numbers

    Columns = dict[str, Numbers]  # by name

KINDS = 64  # room for kinds in a key
BINS = 512  # room for age bins in a key
MARGINALS = {"link": KINDS, "broker": KINDS, "dest": KINDS, "age": BINS}  # name -> room
COUNT_COLUMNS = ("bucket", "key", "n", "total")
DEPTH = "depth"
HELD, MOVED = "held", "moved"  # what it is made of
DEPTH_COLUMNS = ("bucket", "broker", "last", "low", "high")
FORM = 2  # of the files of a pyramid; one of another form is built anew
COLUMNS = ("t", "kind", "broker", "frm", "link", "dest", "age")
EXACT = 1 << 53  # up to here floating-point numbers add up exactly
LEAST = 1 << 14  # events that are worth to be counted by themselves
MOST = 1 << 17  # and so many that what is counted stays in the processor's cache
DENSE = 8  # a bincount may have this many cells for each event

# Numbers of a column's own type: with others a column is widened before it is looked at.
RECEIVED, TAKEN_OVER = np.int8(Kind.Received), np.int8(Kind.TakenOver)

# By how much an event changes the depth of its broker's queues, by its kind
_CHANGE = np.zeros(KINDS, np.int8)
_CHANGE[[int(leaf) for leaf in LETS_GO]] = -1
_CHANGE[[Kind.Enqueued, Kind.TakenOver]] = 1

Cells = tuple["Numbers", "Numbers", "Numbers", "Numbers"]  # bucket, key, n, total: equally long int64 arrays


@dataclass(frozen=True, slots=True)
class Shape:
    """log2 of the finest bucket (us), how many levels, and which destinations are queues."""

    shift: int
    levels: int
    queues: tuple[bool, ...]


def queues(names: Sequence[str]) -> tuple[bool, ...]:
    """Return for each destination whether it holds messages; a last False stands for none."""
    return (*(name.startswith(("queue://", "temp-queue://")) for name in names), False)


def count(units: Sequence[tuple[str, int]], shape: Shape) -> dict[str, Cells]:
    """Return the finest cells of each marginal of row groups that follow each other in time."""
    found: dict[str, list[Cells]] = {name: [] for name in (*MARGINALS, HELD, MOVED)}
    for column in stretches(_columns(units), shape.shift):
        for name, cells in counted(column, shape).items():
            found[name].append(cells)
    whole = {name: joined(parts) for name, parts in found.items()}
    whole[DEPTH] = depth(whole.pop(HELD), whole.pop(MOVED))
    return whole


def _columns(units: Sequence[tuple[str, int]]) -> Iterator[Columns]:
    """Yield what is counted of row groups.

    Each core has a task, so that one with threads of its own would only take turns with others.
    """
    always = [name for name in COLUMNS if name != "frm"]
    for path, groups in groupby(units, key=itemgetter(0)):
        with store.reading(Path(path)) as file:
            for _, number in groups:
                table = file.read_row_group(number, columns=always, use_threads=False)
                column = {name: table.column(name).to_numpy() for name in always}
                column["frm"] = np.broadcast_to(np.int16(-1), table.num_rows)
                if (column["kind"] == TAKEN_OVER).any():
                    more = file.read_row_group(number, columns=["frm"], use_threads=False)
                    column["frm"] = more.column("frm").to_numpy()
                yield column


def stretches(columns: Iterable[Columns], shift: int) -> Iterator[Columns]:
    """Cut events anew where a bucket ends; buckets with few events stay together."""
    rest = {name: np.zeros(0, np.int8) for name in COLUMNS}
    for column in columns:
        times, at = column["t"], 0
        while at < len(times):
            held = len(rest["t"])
            edge = ((int(rest["t"][0] if held else times[at]) >> shift) + 1) << shift
            end = min(max(int(np.searchsorted(times, edge)), at + LEAST - held), at + MOST - held)
            part = {name: column[name][at:end] for name in COLUMNS}
            if held:
                part = {name: np.concatenate((rest[name], part[name])) for name in COLUMNS}
                rest = {name: part[name][:0] for name in COLUMNS}
            if end < len(times) or len(part["t"]) >= MOST:
                yield part
            else:  # its last bucket may go on
                rest = part
            at = end
    if len(rest["t"]):
        yield rest


def counted(column: Columns, shape: Shape) -> dict[str, Cells]:
    """Return the finest cells of a stretch of events: of each marginal, and of what `depth` is made of."""
    kind, when = column["kind"], _buckets(column["t"], shape.shift)
    keys, found = {}, dict[str, Cells]()
    low = kind.astype(np.int32) + KINDS  # 32 bits hold 33 million links above 64 kinds
    for name in ("link", "broker", "dest"):
        keys[name] = column[name].astype(np.int32)
        keys[name] *= KINDS
        keys[name] += low
        found[name] = counts(when, keys[name])
    got = np.flatnonzero(kind == RECEIVED)
    age = column["age"].take(got)
    # log2 of a power of two is exact, and no other age comes near the edge of a bin
    bins = np.minimum(BINS - 1, (8 * np.log2(age + 1.0)).astype(np.int64))
    key = (column["dest"].take(got).astype(np.int64) + 1) * BINS + bins
    found["age"] = counts(when[got], key, age)
    found[HELD], frm = found["broker"], column["frm"]
    queue = np.array(shape.queues)
    if not queue[found["dest"][1] // KINDS - 1].all():
        rows = np.flatnonzero(queue[column["dest"]])
        when, kind, frm = when[rows], kind[rows], frm[rows]
        found[HELD] = counts(when, keys["broker"][rows])
    moved = np.flatnonzero((kind == TAKEN_OVER) & (frm >= 0))
    found[MOVED] = counts(when[moved], frm[moved].astype(np.int64) + 1)
    return found


def _buckets(times: Numbers, shift: int) -> Numbers:
    """Return the bucket of each event, without memory for it if all are in one."""
    first = int(times[0]) >> shift
    one = first == int(times[-1]) >> shift
    return np.broadcast_to(np.int64(first), len(times)) if one else times >> shift


def depth(held: Cells, moved: Cells) -> Cells:
    """Return by how much the depth of each broker's queues changes in each bucket.

    *held* has the events of queues by broker and kind, *moved* the messages that were taken over from the store
    of a broker: of another one.
    """
    bucket, key, n, _ = held
    change = n * _CHANGE[key % KINDS]
    some = np.flatnonzero(change)
    came = (bucket[some], key[some] // KINDS, n[some], change[some])
    gone = (*moved[:3], -moved[2])
    return add_up(*(np.concatenate(pair) for pair in zip(came, gone, strict=True)))


def counts(when: Numbers, key: Numbers, total: Numbers | None = None) -> Cells:
    """Count the events of each bucket and key, and add up *total*; *when* never falls."""
    if not len(when):
        return (np.zeros(0, np.int64),) * 4
    first, width = int(when[0]), int(key.max()) + 1
    buckets = int(when[-1]) - first + 1
    exact = total is None or int(total.max()) * len(total) < EXACT
    if buckets * width > DENSE * len(when) or not exact:  # a sparse stretch, or very large sums
        ones = np.ones(len(key), np.int64)
        return add_up(when, key.astype(np.int64), ones, 0 * ones if total is None else total)
    place = key if buckets == 1 else (when - first) * width + key
    n = np.bincount(place)
    found = np.flatnonzero(n)
    sums = np.bincount(place, total)[found].astype(np.int64) if total is not None else 0 * found
    if buckets == 1:
        return np.full(len(found), first), found, n[found], sums
    return found // width + first, found % width, n[found], sums


def joined(parts: Sequence[Cells]) -> Cells:
    """Return cells of stretches of time that follow each other: only their ends can be of one bucket."""
    found: list[Cells] = [(np.zeros(0, np.int64),) * 4]
    for cells in parts:
        last = found[-1]
        if len(cells[0]) and len(last[0]) and last[0][-1] == cells[0][0]:
            end = int(np.searchsorted(last[0], cells[0][0]))
            begin = int(np.searchsorted(cells[0], cells[0][0], "right"))
            ends = zip(_cut(last, end, len(last[0])), _cut(cells, 0, begin), strict=True)
            added = add_up(*(np.concatenate(pair, dtype=np.int64) for pair in ends))
            found[-1:] = [_cut(last, 0, end), added]
            cells = _cut(cells, begin, len(cells[0]))
        if len(cells[0]):
            found.append(cells)
    columns = (np.concatenate(column, dtype=np.int64) for column in zip(*found, strict=True))
    bucket, key, n, total = columns
    return bucket, key, n, total


def _cut(cells: Cells, begin: int, end: int) -> Cells:
    bucket, key, n, total = (column[begin:end] for column in cells)
    return bucket, key, n, total


def add_up(when: Numbers, key: Numbers, n: Numbers, total: Numbers) -> Cells:
    """Add up cells of the same bucket and key; sorts them by both. Sums are exact."""
    if not len(when):
        return when, key, n, total
    place = (when - when.min()) * (int(key.max()) + 1) + key
    step = np.diff(place)
    if (step < 0).any():
        # A stable sort is quick here: cells come as a few sorted stretches, one behind the other.
        order = np.argsort(place, kind="stable")
        place, when, key, n, total = (column[order] for column in (place, when, key, n, total))
        step = np.diff(place)
    elif step.all():
        return when, key, n, total
    new = np.flatnonzero(np.r_[True, step != 0])
    return when[new], key[new], np.add.reduceat(n, new), np.add.reduceat(total, new)
