"""The pyramid of a long trace: counts per time bucket, at every doubling of the bucket's width.

Four marginals, all of which add up: events by (link, kind); by (broker, kind); by (destination,
kind); received messages by (destination, bin of their age), with the sum of ages. Bins are eighths
of an octave: floor(8 * log2(age + 1)), ages in us. Beside them the depth of each broker's queues
at the end of each bucket, which does not add up: a wider bucket keeps the last, least and greatest.

Spark tasks count row groups of the event files with numpy (`cells`); another for each marginal adds
up what those share, halves the number of buckets again and again, and writes a file per level.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from mqlab.errors import BadFile, BadValue
from mqlab.replay import cells, store
from mqlab.replay.spark import cores, job, session

BUCKET_EVENTS = 32_768
_COUNTED = "marginal string, bucket long, key long, n long, total long"
_WRITTEN = "marginal string, level int, rows long, n long"


@dataclass(frozen=True, slots=True)
class Pyramid:
    """What was built: `levels`, the width of the finest bucket (us), and how many rows."""

    folder: Path
    levels: int
    bucket: int
    events: int
    rows: int


def build(
    folder: str | Path, out: str | Path | None = None, bucket_events: int | None = None
) -> Pyramid:
    """Build the pyramid of a trace folder beside any older one, then switch to it.

    *bucket_events* is how many events a finest bucket holds on average: 32,768, less where that
    makes fewer than 256 buckets. Raises `BadFile` that names a damaged event file.
    """
    folder = Path(folder)
    manifest = store.manifest(folder)
    units = _units(folder, manifest)
    shift, levels = _widths(manifest, bucket_events)
    name = f"pyramid-{uuid.uuid4().hex[:8]}"
    target = (Path(out) / name if out else folder / name).resolve()
    queues = cells.queues(manifest["names"]["dest"])
    try:
        rows = _run(units, cells.Shape(shift, levels, queues), target)
        if rows[0, "broker"][1] != manifest["events"]:
            raise BadFile(f"{folder}: its files hold {rows[0, 'broker'][1]} events, "
                          f"its manifest says {manifest['events']}")  # fmt: skip
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    entry = {"folder": str(target) if out else name, "form": cells.FORM, "levels": levels,
             "shift": shift, "files": sorted({marginal for _, marginal in rows})}  # fmt: skip
    store.switch(folder, {**manifest, "pyramid": entry})
    return Pyramid(
        target, levels, 1 << shift, manifest["events"], sum(number for number, _ in rows.values())
    )


def _units(folder: Path, manifest: dict[str, Any]) -> list[tuple[str, int]]:
    """Return every row group of the trace as (file, number), after a look at each footer."""
    units = []
    for entry in manifest["files"]:
        path = (folder / entry["name"]).resolve()
        store.check(path)
        with store.reading(path) as file:
            units += [(str(path), number) for number in range(file.num_row_groups)]
    return units


def _widths(manifest: dict[str, Any], wanted: int | None) -> tuple[int, int]:
    """Return log2 of the finest bucket (us) and the number of levels."""
    events = manifest["events"]
    if not events:
        raise BadFile("the trace has no events")
    if wanted is not None and wanted < 1:
        raise BadValue(f"bucket_events {wanted}; write 1 or more")
    first, last = manifest["files"][0]["t0"], manifest["files"][-1]["t1"]
    buckets = max(1, events // (wanted or min(BUCKET_EVENTS, max(64, events // 256))))
    shift = ((last - first) // buckets).bit_length()
    return shift, ((last >> shift) - (first >> shift)).bit_length() + 1


def _run(
    units: list[tuple[str, int]], shape: cells.Shape, target: Path
) -> dict[tuple[int, str], tuple[int, int]]:
    """Count, add up and write in Spark tasks; returns (level, marginal) -> rows, events."""
    spark = session()
    tasks = max(1, min(len(units), 2 * cores(spark)))

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        mine = [units[i] for batch in batches for i in batch.column(0).to_pylist()]
        yield from cells.count(mine, shape)

    def finish(table: pa.Table) -> pa.Table:
        return cells.write(table, shape, target)

    with job():
        counted = spark.range(0, len(units), 1, tasks).mapInArrow(count, _COUNTED)
        done = counted.groupBy("marginal").applyInArrow(finish, _WRITTEN).toArrow()
    return {(r["level"], r["marginal"]): (r["rows"], r["n"]) for r in done.to_pylist()}
