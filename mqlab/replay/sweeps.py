"""Sweeps: every combination of options, for many seeds, run inside Spark tasks.

A task plays a group of runs one after the other, writes each one's trace itself and gives back one
row of numbers for it. A run that fails is a row that says so. What a run does depends on its
number alone, so that the result does not depend on how runs are dealt out to tasks.
"""

from __future__ import annotations

import json
import math
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mqlab.errors import BadFile
from mqlab.experiments.plan import Plan, Worker, measures, planned, play
from mqlab.replay.spark import cores, job, session
from mqlab.trace import parquet
from mqlab.trace.trace import Trace

MANIFEST = "manifest.json"
_TYPES = {
    "run": "long", "options": "string", "seed": "long", "status": "string", "error": "string",
    "traceback": "string", "events": "long", "received": "string", "waiting": "long",
    "stuck": "long", "lost": "long", "duplicated": "long", "digest": "string", "seconds": "double",
}  # fmt: skip
_ARROW = {"long": pa.int64(), "string": pa.string(), "double": pa.float64()}
_SCHEMA = pa.schema([(name, _ARROW[kind]) for name, kind in _TYPES.items()])


@dataclass(frozen=True, slots=True)
class Sweep:
    """The outcome of a sweep: a `table` with one row for each run, and where the traces are."""

    folder: Path
    table: pa.Table

    @classmethod
    def load(cls, folder: str | Path) -> Sweep:
        """Read a sweep that was made before; raises `BadFile`."""
        try:
            return cls(Path(folder), pq.read_table(Path(folder) / "runs.parquet"))
        except (OSError, pa.ArrowInvalid) as error:
            raise BadFile(f"{folder}: not the folder of a sweep: {error}") from None

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
        """Return for each combination: `options`, `runs`, `outcomes`, `received`, `failed`.

        `outcomes` is how many different ones there were, by what each consumer received and what
        waits or is stuck; `received` says the least, the greatest and the mean count of each.
        """
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.table.drop_columns(["traceback"]).to_pylist():
            groups.setdefault(row["options"], []).append(row)
        found = []
        for options, rows in groups.items():
            done = [row for row in rows if row["status"] == "done"]
            outcomes = {(row["received"], row["waiting"], row["stuck"]) for row in done}
            found.append({"options": options, "runs": len(done), "outcomes": len(outcomes),
                          "received": _ranges(done), "failed": len(rows) - len(done)})  # fmt: skip
        return found


def _ranges(rows: Sequence[Mapping[str, Any]]) -> str:
    counts: dict[str, list[int]] = {}
    for row in rows:
        for consumer, count in json.loads(row["received"]).items():
            counts.setdefault(consumer, []).append(count)
    return ", ".join(f"{consumer} {_range(numbers)}" for consumer, numbers in counts.items())


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    mean = sum(numbers) / len(numbers)
    return f"{low}" if low == high else f"{low} to {high} (mean {mean:.4g})"


def sweep(
    what: Any, *, over: Mapping[str, Sequence[Any]], out: str | Path,
    seeds: int | Iterable[int] = 1, edition: str | None = None, jitter: int | str = 0,
    partitions: int | None = None, worker: Worker = play,
) -> Sweep:  # fmt: skip
    """Run the sweep; raises `BadFile` if *out* is there, `BadValue` or `UnknownName` for options.

    *what* is a scenario, a figure or its id, a lab file's path or its value. *seeds* is how many
    (0, 1, 2 ...) or which ones.
    """
    folder = Path(out)
    if folder.exists():
        raise BadFile(f"{folder} is there already; choose a new folder")
    plan = planned(what, over, seeds, edition, jitter)
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent.resolve()))
    try:
        beside.chmod(0o755)  # readable by whom any other new folder is
        table = _run(plan, beside, partitions, worker)
        pq.write_table(table, beside / "runs.parquet")
        (beside / MANIFEST).write_text(_manifest(plan), encoding="utf-8")
        beside.rename(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return Sweep(folder, table)


def _manifest(plan: Plan) -> str:
    return json.dumps({
        "format": 1, "scenario": json.loads(plan.text), "over": dict(plan.over),
        "seeds": list(plan.seeds), "jitter": plan.jitter, "runs": plan.runs,
    })  # fmt: skip


def _run(plan: Plan, folder: Path, partitions: int | None, worker: Worker) -> pa.Table:
    spark, runs = session(), plan.runs
    # A task costs 30 ms, so a few for each core; but no task so long that its loss would hurt.
    tasks = partitions or max(1, min(runs, max(4 * cores(spark), runs // 1000)))
    step = _step(runs)

    def play_group(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        texts = lru_cache(maxsize=32)(lambda number: plan.changed(plan.options(number)))
        for batch in batches:
            for place in batch.column(0).to_pylist():
                row = one_run(plan, place * step % runs, texts, folder, worker)
                yield pa.RecordBatch.from_pylist([row], schema=_SCHEMA)

    rows = ", ".join(f"{name} {kind}" for name, kind in _TYPES.items())
    with job():
        table = spark.range(0, runs, 1, tasks).mapInArrow(play_group, rows).toArrow()
    return table.sort_by("run")


def _step(runs: int) -> int:
    """Return a stride that visits every run once and deals neighbours, alike long, to all tasks."""
    step = max(1, round(runs * 0.618))
    while math.gcd(step, runs) != 1:
        step += 1
    return step


def one_run(
    plan: Plan, run: int, texts: Callable[[int], str], folder: Path, worker: Worker
) -> dict[str, Any]:
    """Play one run, write its trace, and return its row; an error is a row too."""
    start = time.perf_counter()
    combination, seed = plan.place(run)
    told: dict[str, Any] = dict.fromkeys(_TYPES)
    told.update(run=run, options=json.dumps(plan.options(combination)), seed=seed, status="done")
    try:
        trace = worker(texts(combination), seed, plan.jitter)
        beside = folder / f"run={run}"
        beside.mkdir(exist_ok=True)
        parquet.save(trace, beside / "trace.parquet")
        found = measures(trace)
        told.update({**found, "received": json.dumps(found["received"])})
    except Exception as error:  # whatever it is, the other runs go on; the row carries it
        told.update(status="failed", error=f"{type(error).__name__}: {error}",
                    traceback=traceback.format_exc())  # fmt: skip
    told["seconds"] = time.perf_counter() - start
    return told
