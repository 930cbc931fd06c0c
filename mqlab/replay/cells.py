"""What the tasks of a pyramid do, with numpy and pyarrow alone.

A cell is what one bucket holds of one key. A key packs two small numbers, such as broker and kind,
one above the other; the first is stored plus one, so that -1, which means none, fits too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mqlab.replay import store
from mqlab.trace.kinds import Kind
from mqlab.trace.questions import LEAVES

KINDS = 64  # room for kinds in a key
BINS = 512  # room for age bins in a key
MARGINALS = {"link": KINDS, "broker": KINDS, "dest": KINDS, "age": BINS}  # name -> room
COUNT_COLUMNS = ("bucket", "key", "n", "total")
DEPTH = "depth"
DEPTH_COLUMNS = ("bucket", "broker", "last", "low", "high")
FORM = 2  # of the files that are written here; a pyramid of another form is built anew
COLUMNS = ("t", "kind", "broker", "frm", "link", "dest", "age")
GROUP = 1 << 17  # rows of a pyramid's row group, the least that a tile reads
DENSE = 8  # a bincount may have this many cells for each event

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


def count(units: Sequence[tuple[str, int]], shape: Shape) -> Iterator[pa.RecordBatch]:
    """Yield the finest counts of some row groups, a batch for each marginal."""
    found: dict[str, list[Cells]] = {name: [] for name in (*MARGINALS, DEPTH)}
    for path, group in units:
        with store.reading(Path(path)) as file:
            table = file.read_row_group(group, columns=list(COLUMNS))
        column = {name: table.column(name).to_numpy() for name in COLUMNS}
        for name, cells in _counted(column, shape):
            found[name].append(cells)
    for name, parts in found.items():
        if not parts:
            continue
        sums = _add_up(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        columns = [np.asarray(column, np.int64) for column in sums]
        yield pa.record_batch(
            [pa.repeat(name, len(sums[0])), *map(pa.array, columns)], ["marginal", *COUNT_COLUMNS]
        )


def _counted(column: dict[str, Any], shape: Shape) -> Iterator[tuple[str, Cells]]:
    """Yield the finest cells of one row group, for each marginal."""
    kind, when = column["kind"].astype(np.int64), column["t"] >> shape.shift
    for name in ("link", "broker", "dest"):
        yield name, _cells(when, (column[name].astype(np.int64) + 1) * KINDS + kind)
    got = np.flatnonzero(kind == Kind.Received)
    age = column["age"][got]
    # log2 of a power of two is exact, and no other age comes near the edge of a bin
    bins = np.minimum(BINS - 1, (8 * np.log2(age + 1.0)).astype(np.int64))
    key = (column["dest"][got].astype(np.int64) + 1) * BINS + bins
    yield "age", _add_up(when[got], key, np.ones_like(key), age)
    yield DEPTH, _changes(column, when, np.array(shape.queues)[column["dest"]])


def _changes(column: dict[str, Any], when: Any, queue: Any) -> Cells:
    """Return by how much the depth of each broker's queues changes in each bucket."""
    kind = np.where(queue, column["kind"], -1)
    moved = kind == Kind.TakenOver  # from the store of one broker to that of another
    more, less = (kind == Kind.Enqueued) | moved, np.isin(kind, [int(leaf) for leaf in LEAVES])
    moved &= column["frm"] >= 0  # else it still is where it was, too
    key = np.concatenate([column["broker"][more], column["broker"][less], column["frm"][moved]])
    sign = np.ones(len(key), np.int64)
    sign[int(more.sum()) :] = -1
    when = np.concatenate([when[more], when[less], when[moved]])
    return _add_up(when, key.astype(np.int64) + 1, np.ones_like(sign), sign)


def _cells(when: Any, key: Any) -> Cells:
    """Count the events of each bucket and key; *when* never falls."""
    first, width = int(when[0]), int(key.max()) + 1
    size = (int(when[-1]) - first + 1) * width
    if size > DENSE * len(when):  # a sparse stretch of time
        return _add_up(when, key, np.ones_like(key), np.zeros_like(key))
    n = np.bincount((when - first) * width + key)
    found = np.flatnonzero(n)
    return found // width + first, found % width, n[found], np.zeros_like(found)


def _add_up(when: Any, key: Any, n: Any, total: Any) -> Cells:
    """Add up cells of the same bucket and key; sorts them by both. Sums are exact."""
    if not len(when):
        return when, key, n, total
    # A stable sort is quick here: cells come as a few sorted stretches, one behind the other.
    order = np.argsort((when - when.min()) * (int(key.max()) + 1) + key, kind="stable")
    when, key = when[order], key[order]
    new = np.flatnonzero(np.r_[True, (np.diff(when) != 0) | (np.diff(key) != 0)])
    return when[new], key[new], np.add.reduceat(n[order], new), np.add.reduceat(total[order], new)


def write(table: pa.Table, shape: Shape, target: Path) -> pa.Table:
    """Add up the finest cells of one marginal, from all tasks, and write a file for each level."""
    name = table.column("marginal")[0].as_py()
    cells = _add_up(*(table.column(column).to_numpy() for column in COUNT_COLUMNS))
    if name == DEPTH:
        return _told([(name, 0, _write_depth(cells, shape.levels, target), 0)])
    rows = []
    for level in range(shape.levels):
        if level:
            cells = _add_up(cells[0] >> 1, *cells[1:])
        _write(pa.table(dict(zip(COUNT_COLUMNS, cells, strict=True))), target, level, name)
        rows.append((name, level, len(cells[0]), int(cells[2].sum())))
    return _told(rows)


def _told(rows: list[tuple[str, int, int, int]]) -> pa.Table:
    """Return what was written as (marginal, level, rows, events)."""
    types = [("marginal", pa.string()), ("level", pa.int32()), ("rows", pa.int64()),
             ("n", pa.int64())]  # fmt: skip
    return pa.table(list(zip(*rows, strict=True)), schema=pa.schema(types))


def _write_depth(cells: Cells, levels: int, target: Path) -> int:
    """Write the depth of every broker that ever holds a message, for each bucket and level."""
    when, key, _, change = cells
    brokers, place = np.unique(key, return_inverse=True)
    first = int(when[0])
    last = np.zeros((int(when[-1]) - first + 1, len(brokers)), np.int64)
    last[when - first, place] = change
    last = low = high = last.cumsum(axis=0)
    rows = 0
    for level in range(levels):
        if level:
            cut = np.r_[0, np.flatnonzero(np.diff(np.arange(first, first + len(last)) >> 1)) + 1]
            ends = np.r_[cut[1:], len(last)] - 1
            low, high = np.minimum.reduceat(low, cut), np.maximum.reduceat(high, cut)
            last, first = last[ends], first >> 1
        buckets = np.repeat(np.arange(first, first + len(last)), len(brokers))
        columns = (
            buckets,
            np.tile(brokers - 1, len(last)),
            last.ravel(),
            low.ravel(),
            high.ravel(),
        )
        _write(pa.table(dict(zip(DEPTH_COLUMNS, columns, strict=True))), target, level, DEPTH)
        rows += len(buckets)
    return rows


def _write(table: pa.Table, target: Path, level: int, name: str) -> None:
    """Write a file beside its place, then move it there: a second try of a task does no harm."""
    path = target / f"level={level}" / f"{name}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{name}-{os.getpid()}.tmp")
    pq.write_table(table, beside, compression="zstd", row_group_size=GROUP)
    beside.replace(path)
