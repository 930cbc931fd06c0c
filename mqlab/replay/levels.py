"""The levels of a pyramid: what a task has counted is added up, then joined with that of others, and written.

    pyramid-<id>/parts/...                    the cells of each task, of all levels, while it is made
    pyramid-<id>/level=<n>/<marginal>.parquet

From level to level two buckets become one. That is done in tables of buckets and keys, which need no sorting;
in stretches of time, of which each is short enough to stay in the processor's cache through several levels.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mqlab.replay import store
from mqlab.replay.cells import (
    COUNT_COLUMNS,
    DENSE,
    DEPTH,
    DEPTH_COLUMNS,
    MARGINALS,
    Cells,
    Shape,
    add_up,
    joined,
)
from mqlab.replay.entry import Rows
from mqlab.spec.json_types import JsonObject

if TYPE_CHECKING:
    from mqlab.trace.columns import Numbers

GROUP = 1 << 17  # rows of a pyramid's row group, the least that a tile reads
TABLE = 1 << 17  # cells of a table: 1 MB
FREE = 1 << 16  # cells that a table may have in any case


def carry(old: Path, known: JsonObject, shape: Shape) -> dict[str, Cells]:
    """Return the finest cells of an older pyramid, in buckets that are as wide or wider."""
    level, found = min(shape.shift - known["shift"], known["levels"] - 1), {}
    for name in known["files"]:
        with store.reading(old / f"level={level}" / f"{name}.parquet") as file:
            table = file.read()
        columns = DEPTH_COLUMNS if name == DEPTH else COUNT_COLUMNS
        when, *others = (table.column(column).to_numpy() for column in columns)
        cells = _depth_changes(when, *others[:2]) if name == DEPTH else (when, *others)
        wider = cells[0] >> (shape.shift - known["shift"] - level)
        found[name] = add_up(wider, *cells[1:])
    return found


def _depth_changes(when: Numbers, broker: Numbers, last: Numbers) -> Cells:
    """Return by how much depths changed in each bucket, of which each has all brokers in the same order."""
    held = last.reshape(-1, len(np.unique(broker)))
    change = np.diff(held, axis=0, prepend=0)
    return when, broker + 1, np.zeros_like(when), change.ravel()


def leave(found: Mapping[str, Cells], shape: Shape, target: Path, task: int) -> None:
    """Leave the cells of a task, a file for each marginal with a batch for each level.

    A task may be tried twice.
    """
    (target / "parts").mkdir(exist_ok=True)
    for name, finest in found.items():
        if not len(finest[0]):  # nothing of it happened in the task
            continue
        levels = [finest] if name == DEPTH else list(coarser(finest, shape.levels))
        columns = [_narrow(column) for column in zip(*levels, strict=True)]
        table = pa.table(dict(zip(COUNT_COLUMNS, columns, strict=True)))
        path, at = _part(target, name, task), 0
        beside = path.with_name(f".{path.stem}-{os.getpid()}.tmp")
        # They are read once and soon: to pack them would take longer than to count them.
        with pa.ipc.new_file(beside, table.schema) as file:
            for cells in levels:
                file.write(table.slice(at, len(cells[0])))
                at += len(cells[0])
        beside.replace(path)


def _narrow(parts: Sequence[Numbers]) -> Numbers:
    """Return numbers in one array, with as few bits as hold the least and the greatest."""
    ends = (end for part in parts for end in (part.min(), part.max()))
    narrow = np.result_type(*map(np.min_scalar_type, ends))
    return np.concatenate(parts, dtype=narrow, casting="unsafe")


def _part(target: Path, name: str, task: int) -> Path:
    return target / "parts" / f"{name}-{task:06d}.arrow"


def write(tasks: int, shape: Shape, target: Path) -> Rows:
    """Join what so many tasks left, and write a file for each marginal and level."""
    jobs = [*product(reversed(MARGINALS), range(shape.levels)), (DEPTH, 0)]  # the longest one first

    def finish(job: tuple[str, int]) -> Rows:
        name, level = job
        found = joined([part for task in range(tasks) for part in _left(target, name, task, level)])
        if not len(found[0]):  # nothing of it happened in the run
            return {}
        if name == DEPTH:
            return {(0, name): (_write_depth(found, shape.levels, target), 0)}
        _write(pa.table(dict(zip(COUNT_COLUMNS, found, strict=True))), target, level, name)
        return {(level, name): (len(found[0]), int(found[2].sum()))}

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return {key: told for done in threads.map(finish, jobs) for key, told in done.items()}


def _left(target: Path, name: str, task: int, level: int) -> Iterator[Cells]:
    path = _part(target, name, task)
    if path.exists():
        with pa.memory_map(str(path)) as mapped:
            batch = pa.ipc.open_file(mapped).get_batch(level)
            bucket, key, n, total = (batch.column(name).to_numpy() for name in COUNT_COLUMNS)
            yield bucket, key, n, total


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


def _compact(key: Numbers) -> tuple[Numbers, Numbers]:
    """Return the keys that there are, and the place of each cell's among them."""
    seen = np.zeros(int(key.max()) + 1, bool)
    seen[key] = True
    return np.flatnonzero(seen), (np.cumsum(seen) - 1)[key]


def _by_tables(cells: Cells, keys: Numbers, place: Numbers, levels: int) -> list[Cells]:
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
    grows = [name for name in ("bucket", "total", "key") if name in table.column_names]
    path = target / f"level={level}" / f"{name}.parquet"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(
        table,
        path,
        compression="zstd",
        row_group_size=GROUP,
        use_dictionary=[name for name in table.column_names if name not in grows],
        column_encoding=dict.fromkeys(grows, "DELTA_BINARY_PACKED"),
    )
