"""The levels of a pyramid: what its tasks have counted is joined, added up, and written.

    pyramid-<id>/parts/...                    the finest cells of each task, while it is made
    pyramid-<id>/level=<n>/<marginal>.parquet

From level to level two buckets become one. That is done in tables of buckets and keys, which need no sorting;
in stretches of time, of which each is short enough to stay in the processor's cache through several levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mqlab.replay import store
from mqlab.replay.cells import (
    COUNT_COLUMNS,
    DENSE,
    DEPTH,
    DEPTH_COLUMNS,
    Cells,
    Shape,
    add_up,
    joined,
    leave,
    left,
)

GROUP = 1 << 17  # rows of a pyramid's row group, the least that a tile reads
TABLE = 1 << 17  # cells of a table: 1 MB
FREE = 1 << 16  # cells that a table may have in any case


def carry(old: Path, known: Mapping[str, Any], shape: Shape, target: Path) -> None:
    """Leave the cells of an older pyramid as those of the first task, in buckets that are as wide or wider."""
    level = min(shape.shift - known["shift"], known["levels"] - 1)
    for name in known["files"]:
        with store.reading(old / f"level={level}" / f"{name}.parquet") as file:
            table = file.read()
        columns = DEPTH_COLUMNS if name == DEPTH else COUNT_COLUMNS
        when, *others = (table.column(column).to_numpy() for column in columns)
        cells = _depth_changes(when, *others[:2]) if name == DEPTH else (when, *others)
        wider = cells[0] >> (shape.shift - known["shift"] - level)
        leave(add_up(wider, *cells[1:]), target, name, 0)


def _depth_changes(when: Any, broker: Any, last: Any) -> Cells:
    """Return by how much depths changed in each bucket, of which each has all brokers in the same order."""
    held = last.reshape(-1, len(np.unique(broker)))
    change = np.diff(held, axis=0, prepend=0)
    return when, broker + 1, np.zeros_like(when), change.ravel()


def write(name: str, tasks: int, shape: Shape, target: Path) -> pa.Table:
    """Join what the tasks left of one marginal, and write a file for each level."""
    finest = joined([left(target, name, task) for task in range(tasks)])
    if not len(finest[0]):  # nothing of it happened in the run
        return _told([])
    if name == DEPTH:
        return _told([(name, 0, _write_depth(finest, shape.levels, target), 0)])
    rows = []
    for level, cells in enumerate(coarser(finest, shape.levels)):
        _write(pa.table(dict(zip(COUNT_COLUMNS, cells, strict=True))), target, level, name)
        rows.append((name, level, len(cells[0]), int(cells[2].sum())))
    return _told(rows)


def coarser(cells: Cells, levels: int) -> Iterator[Cells]:
    """Yield the cells of so many levels, from these, the finest, on."""
    yield cells
    while levels > 1:
        keys, place = _compact(cells[1])
        buckets = int(cells[0][-1] - cells[0][0]) + 2
        if buckets * len(keys) > DENSE * len(cells[0]) + FREE:  # most of a table would be empty
            found = [add_up(cells[0] >> 1, *cells[1:])]
        else:
            most = max(1, (TABLE // len(keys)).bit_length() - 1)
            found = _by_tables(cells, keys, place, min(most, levels - 1))
        yield from found
        cells, levels = found[-1], levels - len(found)


def _compact(key: Any) -> tuple[Any, Any]:
    """Return the keys that there are, and the place of each cell's among them."""
    seen = np.zeros(int(key.max()) + 1, bool)
    seen[key] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[key]


def _by_tables(cells: Cells, keys: Any, place: Any, levels: int) -> list[Cells]:
    """Return the cells of the next so many levels; of *keys* each cell has the one at its *place*."""
    when, width = cells[0], len(keys)
    found: list[list[Cells]] = [[] for _ in range(levels)]
    stretches = np.arange(int(when[0]) >> levels, (int(when[-1]) >> levels) + 2)
    cuts = np.searchsorted(when, stretches << levels)
    for stretch, begin, end in zip(stretches.tolist(), cuts[:-1], cuts[1:], strict=False):
        where = (when[begin:end] - (stretch << levels)) * width + place[begin:end]
        tables = np.zeros((2, 1 << levels, width), np.int64)
        for table, column in zip(tables, cells[2:], strict=True):
            table.reshape(-1)[where] = column[begin:end]
        for level in range(levels):
            tables = tables[:, 0::2] + tables[:, 1::2]
            n, total = tables.reshape(2, -1)
            some = np.flatnonzero(n)
            bucket = some // width
            key = keys[some - bucket * width]
            bucket += stretch << (levels - 1 - level)
            found[level].append((bucket, key, n[some], total[some]))
    return [joined(parts) for parts in found]


def _told(rows: list[tuple[str, int, int, int]]) -> pa.Table:
    """Return what was written as (marginal, level, rows, events)."""
    types = [("marginal", pa.string()), ("level", pa.int32()), ("rows", pa.int64()),
             ("n", pa.int64())]  # fmt: skip
    columns = [[row[no] for row in rows] for no in range(len(types))]
    return pa.table(columns, schema=pa.schema(types))


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
    """Write the file of one marginal and level."""
    grows = [name for name in ("bucket", "total", "key") if name in table.column_names]
    path = target / f"level={level}" / f"{name}.parquet"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(
        table, path, compression="zstd", row_group_size=GROUP,
        use_dictionary=[name for name in table.column_names if name not in grows],
        column_encoding=dict.fromkeys(grows, "DELTA_BINARY_PACKED"),
    )  # fmt: skip
