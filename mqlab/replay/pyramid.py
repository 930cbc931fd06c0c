"""The pyramid of a long trace: counts per time bucket, at every doubling of the bucket's width.

Four marginals, all of which add up: events by link; by (broker, kind); by (destination, kind);
received messages by (destination, bin of their age), with the sum of ages. Bins are eighths of an
octave: floor(8 * log2(age + 1)), ages in us. Each Spark task reads one event file with pyarrow and
counts all levels with numpy; the driver adds up what tasks share at the seams.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mqlab.errors import BadFile
from mqlab.replay import store
from mqlab.replay.spark import session
from mqlab.trace.kinds import Kind

MARGINALS = ("link", "broker", "dest", "age")
KINDS = 64  # room for kinds in a key
BINS = 512  # room for age bins in a key
COLUMNS = ("t", "kind", "broker", "link", "dest", "age")
_ROWS = "level byte, marginal byte, bucket long, key long, n long, total long"
DENSE = 20_000_000  # cells of a count that is made by bincount


@dataclass(frozen=True, slots=True)
class Pyramid:
    """What was built: `levels`, the width of the finest bucket (us), and how many rows."""

    folder: Path
    levels: int
    bucket: int
    events: int
    rows: int


def build(folder: str | Path, out: str | Path | None = None) -> Pyramid:
    """Build the pyramid of a trace folder beside any older one, then switch to it."""
    folder = Path(folder)
    manifest = store.manifest(folder)
    files = [folder / entry["name"] for entry in manifest["files"]]
    for file in files:
        store.check(file)
    shift, levels = _widths(manifest)
    name = f"pyramid-{uuid.uuid4().hex[:8]}"
    target = Path(out or folder) / name
    try:
        table = _merge(_count(files, shift, levels))
        rows = _write(table, target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    entry = {"folder": str(target if out else name), "levels": levels, "shift": shift}
    store.switch(folder, {**manifest, "pyramid": entry})
    return Pyramid(target, levels, 1 << shift, manifest["events"], rows)


def _widths(manifest: dict[str, Any]) -> tuple[int, int]:
    """Return log2 of the finest bucket (us) and the number of levels.

    The finest buckets hold some hundred to 32,768 events: finer than that is the raw trace.
    """
    if not manifest["events"]:
        raise BadFile("the trace has no events")
    span = manifest["files"][-1]["t1"] - manifest["files"][0]["t0"] + 1
    wanted = min(32_768, max(64, manifest["events"] // 256))
    buckets = max(1, manifest["events"] // wanted)
    shift = max(0, int(np.ceil(np.log2(max(1, span / buckets)))))
    count = (manifest["files"][-1]["t1"] >> shift) - (manifest["files"][0]["t0"] >> shift) + 1
    return shift, max(1, min(16, int(np.ceil(np.log2(count))) + 1))


def _count(files: list[Path], shift: int, levels: int) -> pa.Table:
    """Count all files, one in each Spark task, and return the rows of all tasks."""
    spark = session()
    names = pa.table({"path": [str(file.resolve()) for file in files]})
    frame = spark.createDataFrame(names).repartition(max(1, len(files)))

    def tasks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for path in batch.column("path").to_pylist():
                yield from count_file(path, shift, levels)

    return frame.mapInArrow(tasks, _ROWS).toArrow()


def count_file(path: str, shift: int, levels: int) -> Iterator[pa.RecordBatch]:
    """Yield the counts of one event file, a batch for each level and marginal."""
    table = pq.read_table(path, columns=list(COLUMNS))
    column = {name: table.column(name).to_numpy() for name in COLUMNS}
    bucket = column["t"] >> shift
    got = column["kind"] == Kind.Received
    age = column["age"][got]
    bins = np.minimum(BINS - 1, (8 * np.log2(age + 1.0)).astype(np.int64))
    kind = column["kind"].astype(np.int64)
    keys = (
        (bucket, column["link"] + 1, None),
        (bucket, (column["broker"] + 1) * KINDS + kind, None),
        (bucket, (column["dest"] + 1) * KINDS + kind, None),
        (bucket[got], (column["dest"][got] + 1) * BINS + bins, age),
    )
    for marginal, (when, key, weight) in enumerate(keys):
        cells = _cells(when.astype(np.int64), key.astype(np.int64), weight)
        for level in range(levels):
            if level:
                cells = _add_up(cells[0] >> 1, *cells[1:])
            yield _batch(level, marginal, *cells)


def _cells(when: Any, key: Any, weight: Any) -> tuple[Any, Any, Any, Any]:
    """Return bucket, key, count and weight of every cell that is not empty."""
    if not len(when):
        empty = np.zeros(0, np.int64)
        return empty, empty, empty, empty
    first, width = int(when[0]), int(key.max()) + 1
    cell = (when - first) * width + key
    if (int(when[-1]) - first + 1) * width <= DENSE:
        n = np.bincount(cell)
        found = np.flatnonzero(n)
        total = np.bincount(cell, weight)[found] if weight is not None else np.zeros(len(found))
        return found // width + first, found % width, n[found], total.astype(np.int64)
    ones = np.ones(len(cell), np.int64)
    return _add_up(when, key, ones, weight if weight is not None else ones * 0)


def _add_up(when: Any, key: Any, n: Any, total: Any) -> tuple[Any, Any, Any, Any]:
    """Add up cells of the same bucket and key."""
    if not len(when):
        return when, key, n, total
    order = np.lexsort((key, when))
    when, key = when[order], key[order]
    new = np.flatnonzero(np.r_[True, (np.diff(when) != 0) | (np.diff(key) != 0)])
    return when[new], key[new], np.add.reduceat(n[order], new), np.add.reduceat(total[order], new)


def _batch(level: int, marginal: int, when: Any, key: Any, n: Any, total: Any) -> pa.RecordBatch:
    size = len(when)
    return pa.record_batch(
        [pa.array(np.full(size, level, np.int8)), pa.array(np.full(size, marginal, np.int8)),
         pa.array(when), pa.array(key), pa.array(n.astype(np.int64)), pa.array(total)],
        names=["level", "marginal", "bucket", "key", "n", "total"],
    )  # fmt: skip


def _merge(table: pa.Table) -> pa.Table:
    """Add up what neighbouring files share, and sort by time."""
    keys = ["level", "marginal", "bucket", "key"]
    summed = table.group_by(keys).aggregate([("n", "sum"), ("total", "sum")])
    summed = summed.rename_columns([*keys, "n", "total"])
    return summed.sort_by([(key, "ascending") for key in keys])


def _write(table: pa.Table, target: Path) -> int:
    """Write one file for each level and marginal; returns the number of rows."""
    for level in pc.unique(table.column("level")).to_pylist():
        for marginal, name in enumerate(MARGINALS):
            mask = pc.and_(pc.equal(table.column("level"), level),
                           pc.equal(table.column("marginal"), marginal))  # fmt: skip
            part = target / f"level={level}" / f"{name}.parquet"
            part.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table.filter(mask).select(["bucket", "key", "n", "total"]), part,
                           compression="zstd")  # fmt: skip
    return int(table.num_rows)
