"""What the tasks of a pyramid do: they count events, with numpy and pyarrow alone.

A cell is what one bucket holds of one key. A key packs two small numbers, such as broker and kind,
one above the other; the first is stored plus one, so that -1, which means none, fits too. Events are
counted bucket by bucket, so that a key says by itself where its event is counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather

from mqlab.replay import store
from mqlab.trace.kinds import Kind
from mqlab.trace.questions import LEAVES

KINDS = 64  # room for kinds in a key
BINS = 512  # room for age bins in a key
MARGINALS = {"link": KINDS, "broker": KINDS, "dest": KINDS, "age": BINS}  # name -> room
COUNT_COLUMNS = ("bucket", "key", "n", "total")
DEPTH = "depth"
DEPTH_COLUMNS = ("bucket", "broker", "last", "low", "high")
FORM = 2  # of the files of a pyramid; one of another form is built anew
COLUMNS = ("t", "kind", "broker", "frm", "link", "dest", "age")
EXACT = 1 << 53  # up to here floating-point numbers add up exactly
LEAST = 1 << 14  # events that are worth to be counted by themselves
MOST = 1 << 17  # and so many that what is counted stays in the processor's cache
DENSE = 8  # a bincount may have this many cells for each event

# By how much an event changes the depth of its broker's queues, by its kind
_CHANGE = np.zeros(KINDS, np.int8)
_CHANGE[[int(leaf) for leaf in LEAVES]] = -1
_CHANGE[[Kind.Enqueued, Kind.TakenOver]] = 1

Cells = tuple[Any, Any, Any, Any]  # bucket, key, n, total: equally long int64 arrays


@dataclass(frozen=True, slots=True)
class Shape:
    """log2 of the finest bucket (us), how many levels, and which destinations are queues."""

    shift: int
    levels: int
    queues: tuple[bool, ...]


def queues(names: Sequence[str]) -> tuple[bool, ...]:
    """Return for each destination whether it holds messages; a last False stands for none."""
    return (*(name.startswith(("queue://", "temp-queue://")) for name in names), False)


def count(units: Sequence[tuple[str, int]], shape: Shape, target: Path, task: int) -> None:
    """Count row groups that follow each other in time, and leave the finest cells of each marginal."""
    found: dict[str, list[Cells]] = {name: [] for name in (*MARGINALS, DEPTH)}
    for path, groups in groupby(units, key=itemgetter(0)):
        with store.reading(Path(path)) as file:
            for _, number in groups:
                table = file.read_row_group(number, columns=list(COLUMNS))
                for batch in table.to_batches():  # without copying
                    column = {name: batch.column(name).to_numpy() for name in COLUMNS}
                    for stretch in _stretches(column["t"], shape.shift):
                        part = {name: rows[stretch] for name, rows in column.items()}
                        for name, cells in counted(part, shape).items():
                            found[name].append(cells)
    for name, parts in found.items():
        leave(joined(parts), target, name, task)


def leave(cells: Cells, target: Path, name: str, task: int) -> None:
    """Leave the finest cells of a marginal in a file; a task may be tried twice."""
    if not len(cells[0]):
        return
    path, table = _part(target, name, task), pa.table(dict(zip(COUNT_COLUMNS, cells, strict=True)))
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.stem}-{os.getpid()}.tmp")
    # They are read once and soon: to pack them well would take longer than to count them.
    feather.write_feather(table, beside, compression="lz4")
    beside.replace(path)


def left(target: Path, name: str, task: int) -> Cells:
    """Return the finest cells of a marginal that a task has left: none if it had none."""
    path = _part(target, name, task)
    if not path.exists():
        return (np.zeros(0, np.int64),) * 4
    table = feather.read_table(path, memory_map=False)
    bucket, key, n, total = (table.column(name).to_numpy() for name in COUNT_COLUMNS)
    return bucket, key, n, total


def _part(target: Path, name: str, task: int) -> Path:
    return target / "parts" / f"{name}-{task:06d}.arrow"


def _stretches(times: Any, shift: int) -> Iterator[slice]:
    """Cut events where a bucket ends; buckets with few events stay together."""
    at = 0
    while at < len(times):
        edge = ((int(times[at]) >> shift) + 1) << shift
        end = min(max(int(np.searchsorted(times, edge)), at + LEAST), at + MOST)
        yield slice(at, end)
        at = end


def counted(column: dict[str, Any], shape: Shape) -> dict[str, Cells]:
    """Return the finest cells of a stretch of events, for each marginal."""
    kind, when = column["kind"], _buckets(column["t"], shape.shift)
    keys, found = {}, dict[str, Cells]()
    for name in ("link", "broker", "dest"):
        # 32 bits hold what 33 million links have in common with 64 kinds
        keys[name] = np.multiply(column[name], KINDS, dtype=np.int32)
        keys[name] += kind + np.int8(KINDS)
        found[name] = counts(when, keys[name])
    got = np.flatnonzero(kind == Kind.Received)
    age = column["age"][got]
    # log2 of a power of two is exact, and no other age comes near the edge of a bin
    bins = np.minimum(BINS - 1, (8 * np.log2(age + 1.0)).astype(np.int64))
    key = (column["dest"][got].astype(np.int64) + 1) * BINS + bins
    found["age"] = counts(when[got], key, age)
    queue, held = np.array(shape.queues), found["broker"]
    frm = np.where(kind == Kind.TakenOver, column["frm"], -1)
    if not queue[found["dest"][1] // KINDS - 1].all():
        rows = np.flatnonzero(queue[column["dest"]])
        when, frm, held = when[rows], frm[rows], counts(when[rows], keys["broker"][rows])
    found[DEPTH] = _changes(when, frm, held)
    return found


def _buckets(times: Any, shift: int) -> Any:
    """Return the bucket of each event, without memory for it if all are in one."""
    first = int(times[0]) >> shift
    one = first == int(times[-1]) >> shift
    return np.broadcast_to(np.int64(first), len(times)) if one else times >> shift


def _changes(when: Any, frm: Any, held: Cells) -> Cells:
    """Return by how much the depth of each broker's queues changes in each bucket.

    *held* has the events of queues by broker and kind; *frm* says from the store of which broker each message
    was taken over: -1 where it was not, or still is where it was, too.
    """
    bucket, key, n, _ = held
    change = n * _CHANGE[key % KINDS]
    some, moved = np.flatnonzero(change), np.flatnonzero(frm >= 0)
    left = counts(when[moved], frm[moved].astype(np.int64) + 1)
    came = (bucket[some], key[some] // KINDS, n[some], change[some])
    gone = (*left[:3], -left[2])
    return add_up(*(np.concatenate(pair) for pair in zip(came, gone, strict=True)))


def counts(when: Any, key: Any, total: Any = None) -> Cells:
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
            end = np.searchsorted(last[0], cells[0][0])
            begin = np.searchsorted(cells[0], cells[0][0], "right")
            ends = (np.r_[one[end:], other[:begin]] for one, other in zip(last, cells, strict=True))
            found[-1:] = [_cut(last, 0, end), add_up(*ends)]
            cells = _cut(cells, begin, len(cells[0]))
        if len(cells[0]):
            found.append(cells)
    bucket, key, n, total = (np.concatenate(column) for column in zip(*found, strict=True))
    return bucket, key, n, total


def _cut(cells: Cells, begin: int, end: int) -> Cells:
    bucket, key, n, total = (column[begin:end] for column in cells)
    return bucket, key, n, total


def add_up(when: Any, key: Any, n: Any, total: Any) -> Cells:
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
