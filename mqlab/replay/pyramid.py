"""The pyramid of a long trace: counts per time bucket, at every doubling of the bucket's width.

Four marginals, all of which add up: events by (link, kind); by (broker, kind); by (destination,
kind); received messages by (destination, bin of their age), with the sum of ages. Bins are eighths
of an octave: floor(8 * log2(age + 1)), ages in us. Beside them the depth of each broker's queues
at the end of each bucket, which does not add up: a wider bucket keeps the last, least and greatest.

Spark tasks count row groups of the event files with numpy (`cells`), halve the number of buckets again and
again (`levels`), and leave their cells in files. Threads here join these where one task ended and the next
began, and write a file per marginal and level: a second job would take longer to begin. No event and no cell
goes through the JVM.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from mqlab.replay import cells, entry, levels, store
from mqlab.replay.entry import Pyramid
from mqlab.replay.spark import cores, job, session


def build(folder: str | Path, out: str | Path | None = None, bucket_events: int | None = None) -> Pyramid:
    """Build the pyramid of a trace folder beside any older one, then switch to it.

    *bucket_events* is how many events a finest bucket holds on average: 32,768, less where that
    makes fewer than 256 buckets. Of a run that goes on it counts what is there. Raises `BadFile` that
    names a damaged event file.
    """
    folder = Path(folder)
    manifest = store.manifest(folder)
    units = entry.units(folder, manifest["files"])
    shape = entry.shape(manifest, bucket_events)
    return entry.made(folder, manifest, shape, lambda target: _run(units, shape, target), out)


def _run(units: list[tuple[str, int]], shape: cells.Shape, target: Path) -> entry.Rows:
    """Count in Spark tasks, add up and write here; returns (level, marginal) -> rows, events."""
    spark = session()
    tasks = max(1, min(len(units), 2 * cores(spark)))
    cuts = [len(units) * task // tasks for task in range(tasks + 1)]

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                counted = cells.count(units[cuts[task] : cuts[task + 1]], shape)
                levels.leave(counted, shape, target, task)
            yield batch

    with job():
        spark.range(0, tasks, 1, tasks).mapInArrow(count, "id long").toArrow()
    return levels.write(tasks, shape, target)
