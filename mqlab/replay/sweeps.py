"""Sweeps: every combination of some axes, for many seeds, played inside Spark tasks.

    sweep/manifest.json     the plan, and whether all of it is done
    sweep/parts/...         rows of finished groups of runs, while it is not
    sweep/traces/...        traces that were asked for
    sweep/runs.parquet      a row for each run, by its number

A task plays a group of runs one after the other and writes their rows, and what it has written stays
whatever happens: the same call goes on where an earlier one was ended. A run that fails is a row that
says so. What a run does depends on its number alone, so that the rows do not depend, to the last byte,
on how runs are dealt out to tasks, on a cluster or here.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mqlab.errors import BadFile, CannotRun
from mqlab.experiments.plan import Plan, Worker, measures, planned, play
from mqlab.replay import running
from mqlab.replay.runs import MANIFEST, RUNS, TRACES, Sweep, trace_file
from mqlab.replay.spark import cores, job, session
from mqlab.spec.plural import counted
from mqlab.trace import parquet

PARTS = "parts"
LEAST = 1.5  # seconds that a task lasts at least: to begin one costs 30 ms
MOST = 20.0  # and at most, where one run is not longer: its loss must not hurt
TYPES = {
    "run": "long", "options": "string", "seed": "long", "status": "string", "error": "string",
    "traceback": "string", "events": "long", "received": "string", "waiting": "long",
    "stuck": "long", "lost": "long", "unsent": "long", "duplicated": "long",
    "stuck_at": "string", "crossed": "long", "bytes": "long", "hops": "long",
    "latency_p50": "long", "latency_p90": "long", "latency_p99": "long", "digest": "string",
}  # fmt: skip
_ARROW = {"long": pa.int64(), "string": pa.string()}
_SCHEMA = pa.schema([(name, _ARROW[kind]) for name, kind in TYPES.items()])
_AS_JSON = ("received", "stuck_at")
Keep = Callable[[Mapping[str, object]], bool]  # whether the trace of a row's run is to be kept


def sweep(
    what: object,
    *,
    over: Mapping[str, object],
    out: str | Path,
    seeds: int | Iterable[int] = 1,
    edition: str | None = None,
    jitter: int | str = 0,
    traces: bool | Keep = False,
    partitions: int | None = None,
    progress: bool = True,
    worker: Worker = play,
) -> Sweep:
    """Run the sweep, or what is left of it; see `mqlab.replay.sweep`."""
    folder = Path(out).resolve()
    plan = planned(what, over, seeds, edition, jitter)
    _begin(folder, plan)
    _play(plan, folder, traces, partitions, progress, worker)
    return _finish(folder, plan)


def _begin(folder: Path, plan: Plan) -> None:
    """Make the folder of a sweep, or take up one that was ended; raises `BadFile` for any other."""
    if not folder.exists():
        beside = folder.with_name(f".{folder.name}.{os.getpid()}")
        (beside / PARTS).mkdir(parents=True)
        (beside / TRACES).mkdir()
        _write_manifest(beside, plan, "begun")
        beside.rename(folder)
        return
    try:
        known = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise BadFile(f"{folder} already exists; choose a new folder") from None
    if known.get("plan") != json.loads(json.dumps(plan.dumps())):
        raise BadFile(f"{folder} contains a different sweep; choose a new folder")
    if known["state"] == "done":
        raise BadFile(f"{folder} already exists and is complete; load it with mqlab.replay.load")


def _write_manifest(folder: Path, plan: Plan, state: str) -> None:
    beside = folder / f".{MANIFEST}.{os.getpid()}"
    beside.write_text(json.dumps({"plan": plan.dumps(), "state": state}), encoding="utf-8")
    beside.replace(folder / MANIFEST)


def _play(
    plan: Plan,
    folder: Path,
    traces: bool | Keep,
    partitions: int | None,
    progress: bool,
    worker: Worker,
) -> None:
    """Play the runs that no earlier call has finished."""
    _check_room(folder, plan)
    wanted = _left(folder, plan)
    with running.shown("runs", plan.runs, progress) as bar:
        bar.to(plan.runs - len(wanted))
        if not wanted:
            return
        # Who says how many tasks there are need not wait for what a run takes.
        seconds = 0.0 if partitions else _tried(plan, wanted, folder, traces, worker)
        if not wanted:
            return
        spark = session()
        groups = _dealt(wanted, _tasks(len(wanted), seconds, cores(spark), partitions))

        def play_groups(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    _group(plan, groups[number], folder, traces, worker)
            yield pa.record_batch([pa.array([0])], ["done"])

        def work() -> None:
            with job():
                tasks = spark.range(0, len(groups), 1, len(groups))
                tasks.mapInArrow(play_groups, "done long").toArrow()

        done = running.run(spark, work, lambda: bar.to(_count(folder)))
    if not done:
        raise CannotRun(
            f"cancelled: {_count(folder)} of {counted(plan.runs, 'run')} kept in {folder}; the same call "
            "continues from there"
        )


def _tried(plan: Plan, wanted: list[int], folder: Path, traces: bool | Keep, worker: Worker) -> float:
    """Play a first run or two here, and return how long one takes (s): that says how many make a task."""
    seconds = 0.0
    for _ in range(2):  # the first one imports what it needs
        if wanted and seconds < 1:
            begin = time.perf_counter()
            _group(plan, [wanted.pop(0)], folder, traces, worker)
            seconds = time.perf_counter() - begin
    return seconds


def _check_room(folder: Path, plan: Plan) -> None:
    """Raise `BadFile` where the disk is too full for the rows: 1 kB each, and a quarter more."""
    free, needed = shutil.disk_usage(folder).free, int(plan.runs * 1024 * 1.25)
    if free < needed:
        raise BadFile(f"{folder}: {needed >> 20} MB are needed, {free >> 20} MB are free")


def _tasks(runs: int, seconds: float, cores: int, wanted: int | None) -> int:
    """Return how many tasks: each lasts some seconds, and there are a few for each core."""
    if wanted:
        return min(runs, wanted)
    total = runs * max(seconds, 1e-4)
    most, least = total / LEAST, max(total / MOST, 4 * cores)
    return max(1, min(runs, math.ceil(min(most, least))))


def _dealt(runs: Sequence[int], tasks: int) -> list[list[int]]:
    """Return the runs of each task: neighbours, alike long, go to all of them."""
    return [list(runs[place::tasks]) for place in range(tasks)]


def _parts(folder: Path) -> list[Path]:
    return sorted((folder / PARTS).glob("*.parquet"))


def _count(folder: Path) -> int:
    """Return how many runs are finished: the names of parts tell."""
    return sum(int(path.stem.partition("-")[2]) for path in _parts(folder))


def _left(folder: Path, plan: Plan) -> list[int]:
    done: set[int] = set()
    for path in _parts(folder):
        done.update(pq.read_table(path, columns=["run"]).column("run").to_pylist())
    return [run for run in range(plan.runs) if run not in done]


def _group(plan: Plan, runs: Sequence[int], folder: Path, traces: bool | Keep, worker: Worker) -> None:
    """Play some runs and write their rows: beside, then in place, so that a second try does no harm."""
    texts = lru_cache(maxsize=32)(plan.lab_file)
    rows = [one_run(plan, run, texts, folder, traces, worker) for run in runs]
    table = pa.Table.from_pylist(rows, schema=_SCHEMA)
    beside = folder / PARTS / f".{runs[0]}.{os.getpid()}.{time.time_ns()}"
    pq.write_table(table, beside, compression="zstd")
    beside.replace(folder / PARTS / f"{runs[0]:012d}-{len(runs)}.parquet")


def one_run(
    plan: Plan,
    run: int,
    texts: Callable[[int], str],
    folder: Path,
    traces: bool | Keep,
    worker: Worker = play,
) -> dict[str, object]:
    """Play one run and return its row; an error is a row too."""
    combination, seed = plan.place(run)
    told: dict[str, object] = dict.fromkeys(TYPES)
    told.update(run=run, options=json.dumps(plan.options(combination)), seed=seed, status="done")
    try:
        trace = worker(texts(combination), seed, plan.jitter)
        row = {**told, **measures(trace)}
        if traces is True or (callable(traces) and traces(row)):
            parquet.save(trace, trace_file(folder, run))
        told = {**row, **{name: json.dumps(row[name]) for name in _AS_JSON}}
    except Exception as error:  # whatever it is, the other runs go on; the row carries it
        told.update(status="failed", error=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())
    return told


def _finish(folder: Path, plan: Plan) -> Sweep:
    """Make one table of all parts; raises `BadFile` unless each run is there once."""
    # What an older mqlab has begun lacks columns that it did not have.
    parts = [_SCHEMA.empty_table(), *(pq.read_table(path) for path in _parts(folder))]
    table = pa.concat_tables(parts, promote_options="default").sort_by("run")
    # A task of an earlier call may have ended after that call: the same run, and the same row.
    numbers = table.column("run").to_numpy()
    table = table.filter(pa.array(np.diff(numbers, prepend=-1) > 0))
    if table.num_rows != plan.runs:
        raise BadFile(f"{folder}: missing: {counted(plan.runs - table.num_rows, 'run')}; call it again")
    beside = folder / f".{RUNS}.{os.getpid()}"
    pq.write_table(table.combine_chunks(), beside, compression="zstd")
    beside.replace(folder / RUNS)
    _write_manifest(folder, plan, "done")
    shutil.rmtree(folder / PARTS)
    return Sweep.load(folder)
