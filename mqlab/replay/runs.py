"""The runs of a sweep that is done: a table with a row for each, and their traces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from mqlab.errors import BadFile, BadValue
from mqlab.experiments.plan import Plan, play
from mqlab.spec.json_types import JsonObject
from mqlab.spec.plural import counted
from mqlab.trace import parquet
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from pandas import DataFrame

MANIFEST, RUNS, TRACES = "manifest.json", "runs.parquet", "traces"


def trace_file(folder: Path, run: int) -> Path:
    """Return where the trace of a run is kept."""
    return folder / TRACES / f"run-{run:09d}.parquet"


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that is done: its `table` has a row for each run, its `plan` says what they were."""

    folder: Path
    table: pa.Table = field(repr=False)
    plan: Plan = field(repr=False)

    @classmethod
    def load(cls, folder: str | Path) -> Sweep:
        """Read a sweep that was made before; raises `BadFile`."""
        folder = Path(folder)
        try:
            manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
            if manifest["state"] != "done":
                raise BadFile(f"{folder}: this sweep is incomplete; repeat the same call to continue it")
            table = pq.read_table(folder / RUNS)
        except (OSError, KeyError, TypeError, ValueError, pa.ArrowInvalid) as error:
            if isinstance(error, BadFile):
                raise
            if isinstance(error, KeyError):
                told = "not the folder of a sweep; a trace folder is opened with mq.replay.open"
                raise BadFile(f"{folder}: {told}") from None
            raise BadFile(f"{folder}: not the folder of a sweep: {error}") from None
        plan = Plan.loads(manifest["plan"])
        if table.num_rows != plan.runs:
            raise BadFile(
                f"{folder}: {table.num_rows} rows, and {counted(plan.runs, 'run was', 'runs were')} made"
            )
        return cls(folder, table, plan)

    @property
    def runs(self) -> int:
        """How many runs there were."""
        return int(self.table.num_rows)

    @property
    def failed(self) -> list[dict[str, object]]:
        """The rows of the runs that failed, with their errors."""
        return [row for row in self.table.to_pylist() if row["status"] == "failed"]

    def to_pandas(self) -> DataFrame:
        """Return the table as a pandas frame."""
        return self.table.to_pandas()

    def trace(self, run: int) -> Trace:
        """Return the trace of one run: the one that was kept, else it is played again.

        Raises `BadValue` for a run that there was not, or that failed.
        """
        if not 0 <= run < self.runs:
            raise BadValue(f"no run {run}; runs are numbered 0 to {self.runs - 1}")
        if trace_file(self.folder, run).exists():
            return parquet.load(trace_file(self.folder, run))
        if self.table.column("status")[run].as_py() == "failed":
            raise BadValue(f"run {run} failed: {self.table.column('error')[run].as_py()}")
        combination, seed = self.plan.place(run)
        return play(self.plan.lab_file(combination), seed, self.plan.jitter)

    def summary(self) -> list[dict[str, object]]:
        """Return for each combination: `options`, `runs`, `outcomes`, `received`, `failed`.

        `outcomes` is how many different ones there were, by what each consumer received and what
        waits or is stuck; `received` says the least, the greatest and the mean count of each.
        """
        groups: dict[str, list[dict[str, object]]] = {}
        for row in self.table.drop_columns(["traceback"]).to_pylist():
            groups.setdefault(row["options"], []).append(row)
        found = []
        for options, rows in groups.items():
            done = [row for row in rows if row["status"] == "done"]
            outcomes = {(row["received"], row["waiting"], row["stuck"]) for row in done}
            found.append(
                {
                    "options": options,
                    "runs": len(done),
                    "outcomes": len(outcomes),
                    "received": _ranges(done),
                    "failed": len(rows) - len(done),
                }
            )
        return found


def _ranges(rows: Sequence[JsonObject]) -> str:
    counts: dict[str, list[int]] = {}
    for row in rows:
        for consumer, count in json.loads(row["received"]).items():
            counts.setdefault(consumer, []).append(count)
    return ", ".join(f"{consumer} {_range(numbers)}" for consumer, numbers in counts.items())


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    mean = sum(numbers) / len(numbers)
    return f"{low}" if low == high else f"{low} to {high} (mean {mean:.4g})"
