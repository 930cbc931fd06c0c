"""Sweeps: every combination of options, for many seeds, run inside Spark tasks.

A task plays a group of runs one after the other, writes each one's trace itself and gives back one
row of numbers for it. A run that fails is a row that says so. A run's seed comes from its number
alone, so that the result does not depend on how runs are dealt out to tasks.
"""

from __future__ import annotations

import itertools
import json
import os
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mqlab.errors import BadFile, BadValue
from mqlab.formats import lab
from mqlab.replay.spark import session
from mqlab.spec import Scenario
from mqlab.trace import parquet
from mqlab.trace.trace import Trace

_ROWS = (
    "run int, options string, seed long, status string, error string, events long, "
    "received string, waiting long, stuck long, digest string, seconds double"
)
_NAMES = [part.split()[0] for part in _ROWS.split(",")]
Worker = Callable[[str, int, Any], Trace]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The outcome of a sweep: a `table` with one row for each run, and where the traces are."""

    folder: Path
    table: pa.Table

    @property
    def runs(self) -> int:
        """How many runs there were."""
        return int(self.table.num_rows)

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of the runs that failed, with their errors."""
        return [row for row in self.table.to_pylist() if row["status"] == "failed"]

    def to_pandas(self) -> Any:
        """Return the table as a pandas frame."""
        return self.table.to_pandas()

    def trace(self, run: int) -> Trace:
        """Return the trace of one run."""
        return parquet.load(self.folder / f"run={run}" / "trace.parquet")

    def summary(self) -> list[dict[str, Any]]:
        """Return for each combination: `options`, `runs`, `outcomes`, and `received` as ranges."""
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.table.to_pylist():
            if row["status"] == "done":
                groups.setdefault(row["options"], []).append(row)
        return [
            {"options": options, "runs": len(rows),
             "outcomes": len({row["received"] for row in rows}), "received": _ranges(rows)}
            for options, rows in groups.items()
        ]  # fmt: skip


def _ranges(rows: Sequence[Mapping[str, Any]]) -> str:
    counts: dict[str, list[int]] = {}
    for row in rows:
        for consumer, count in json.loads(row["received"]).items():
            counts.setdefault(consumer, []).append(count)
    spans = {c: (min(n), max(n)) for c, n in counts.items()}
    return ", ".join(f"{c} {a}" if a == b else f"{c} {a} to {b}" for c, (a, b) in spans.items())


def play(text: str, seed: int, jitter: Any) -> Trace:
    """Play a lab file's text: what a task does for each run."""
    from mqlab.runtime import play as run

    return run(lab.loads(text), seed=seed, jitter=jitter)


def sweep(
    scenario: Scenario, *, over: Mapping[str, Sequence[Any]], out: str | Path, seeds: int = 1,
    jitter: int | str = 0, partitions: int | None = None, worker: Worker = play,
) -> Sweep:  # fmt: skip
    """Run the sweep; raises `BadFile` if *out* is there, `BadValue` or `UnknownName` for options."""
    folder = Path(out)
    if folder.exists():
        raise BadFile(f"{folder} is there already; choose a new folder")
    plan = _plan(scenario, over, seeds)
    beside = folder.with_name(f".{folder.name}.{os.getpid()}")
    beside.mkdir(parents=True)
    table = _run(plan, beside.resolve(), jitter, partitions or _partitions(len(plan)), worker)
    pq.write_table(table, beside / "runs.parquet")
    os.replace(beside, folder)
    return Sweep(folder, table)


def _plan(
    scenario: Scenario, over: Mapping[str, Sequence[Any]], seeds: int
) -> list[dict[str, Any]]:  # fmt: skip
    """Return one row for each run; wrong options are told before anything starts."""
    if seeds < 1:
        raise BadValue(f"{seeds} seeds; write 1 or more")
    plan: list[dict[str, Any]] = []
    for values in itertools.product(*over.values()):
        changed = scenario
        for path, value in zip(over, values, strict=True):
            place, option = lab.split_path(path)
            changed = changed.change(place, **{option: value})
        text, options = lab.dumps(changed), json.dumps(dict(zip(over, values, strict=True)))
        for seed in range(seeds):
            plan.append({"run": len(plan), "options": options, "seed": seed, "lab": text})
    return plan


def _partitions(runs: int) -> int:
    """Return how many tasks to make: a task costs 30 ms, so a few for each core are enough."""
    return max(1, min(runs, 4 * (os.cpu_count() or 1)))


def _run(
    plan: list[dict[str, Any]], folder: Path, jitter: Any, partitions: int, worker: Worker
) -> pa.Table:
    spark = session()
    # An RDD would keep the order; DataFrames alone also work under Spark Connect.
    frame = spark.createDataFrame(pa.Table.from_pylist(plan)).repartition(partitions, "run")

    def tasks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [one_run(row, folder, jitter, worker) for row in batch.to_pylist()]
            columns = {name: [row[name] for row in rows] for name in _NAMES}
            yield pa.RecordBatch.from_pydict(columns, schema=_schema())

    return frame.mapInArrow(tasks, _ROWS).toArrow().sort_by("run")


def _schema() -> pa.Schema:
    types = {"int": pa.int32(), "long": pa.int64(), "string": pa.string(), "double": pa.float64()}
    return pa.schema([(part.split()[0], types[part.split()[1]]) for part in _ROWS.split(",")])


def one_run(row: Mapping[str, Any], folder: Path, jitter: Any, worker: Worker) -> dict[str, Any]:
    """Play one run, write its trace, and return its row; an error is a row too."""
    start = time.perf_counter()
    told: dict[str, Any] = dict.fromkeys(_NAMES)
    told.update(run=row["run"], options=row["options"], seed=row["seed"], status="done")
    try:
        trace = worker(row["lab"], row["seed"], jitter)
        place = folder / f"run={row['run']}"
        place.mkdir(exist_ok=True)
        parquet.save(trace, place / "trace.parquet")
        told.update(
            events=len(trace), received=json.dumps(trace.received()), waiting=_total(trace.waiting()),
            stuck=_total(trace.stuck()), digest=trace.digest(),
        )  # fmt: skip
    except Exception:  # whatever it is, the other runs go on; the row carries the traceback
        told.update(status="failed", error=traceback.format_exc(limit=-4))
    told["seconds"] = time.perf_counter() - start
    return told


def _total(found: Mapping[str, Mapping[str, Sequence[int]]]) -> int:
    return sum(len(numbers) for queues in found.values() for numbers in queues.values())
