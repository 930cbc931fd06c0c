"""A sweep on this machine: a few hundred runs, dealt out to processes, as a table with a row for each.

`mqlab.replay.sweep` takes the same call to Spark, for as many runs as one likes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from mqlab.errors import MissingExtra, MqlabError
from mqlab.experiments import cores
from mqlab.experiments.plan import Plan, measures, planned, play
from mqlab.spec.json_types import JsonDict
from mqlab.trace.grid import TextTable

if TYPE_CHECKING:
    from pandas import DataFrame

Row = JsonDict
GROUP = 8  # runs that are given to a process at a time
COUNTS = ("events", "waiting", "stuck", "lost", "duplicated")


@dataclass(frozen=True, slots=True, repr=False)
class Runs(TextTable):
    """The runs of a sweep, a row each: `run`, `seed`, `options` (path -> value), `status` and what came of it.

    These are `events`, `received` (consumer -> messages), `waiting`, `stuck`, `lost`, `unsent` (planned and
    never sent) and `duplicated` (messages), `digest`; of a run whose `status` is ``failed`` there is `error`
    instead. Prints as a table with a line for each combination of options.
    """

    rows: tuple[Row, ...]
    hints = {"outcomes": "number of different outcomes: what each consumer received, what waits or is stuck"}

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def failed(self) -> list[Row]:
        """The rows of the runs that failed, with their errors."""
        return [row for row in self.rows if row["status"] == "failed"]

    def groups(self) -> dict[str, list[Row]]:
        """Return combination, as ``option=value, ...`` -> its runs; paths only where an option is in two."""
        found: dict[str, list[Row]] = {}
        paths = list(self.rows[0]["options"]) if self.rows else []
        short = {path: path.rpartition(".")[2] for path in paths}
        names = short if len(set(short.values())) == len(paths) else dict(zip(paths, paths, strict=True))
        for row in self.rows:
            name = ", ".join(f"{names[path]}={value}" for path, value in row["options"].items())
            found.setdefault(name or "as it is", []).append(row)
        return found

    def table(self) -> list[list[str]]:
        """Return a line for each combination: the least to the greatest count of each consumer."""
        lines = [["options", "runs", "outcomes", "received", "waiting", "lost", "failed"]]
        for name, rows in self.groups().items():
            done = [row for row in rows if row["status"] == "done"]
            outcomes = {(str(row["received"]), row["waiting"], row["stuck"]) for row in done}
            received = ", ".join(f"{who} {_span(counts)}" for who, counts in _received(done).items())
            lines.append(
                [
                    name,
                    str(len(rows)),
                    str(len(outcomes)),
                    received or "-",
                    *(_span([row[key] for row in done]) for key in ("waiting", "lost")),
                    str(len(rows) - len(done)),
                ]
            )
        return lines

    __repr__ = TextTable.__str__

    def to_pandas(self) -> DataFrame:
        """Return a pandas frame: a row for each run, a column for each option and consumer.

        Raises `MissingExtra` without pandas.
        """
        with MissingExtra.told("spark"):
            import pandas as pd
        flat = ("options", "received")
        return pd.DataFrame(
            [
                {
                    **{key: value for key, value in row.items() if key not in flat},
                    **row["options"],
                    **{f"received {who}": count for who, count in row.get("received", {}).items()},
                }
                for row in self.rows
            ]
        )

    def plot(self) -> object:
        """Return a chart: what each consumer received in each combination, from the least to the most.

        Raises `MissingExtra` without Bokeh.
        """
        from mqlab import views

        found = {name: [row for row in rows if row["status"] == "done"] for name, rows in self.groups().items()}
        return views.plot_spans({name: _received(rows) for name, rows in found.items()})


def _received(rows: Iterable[Row]) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for row in rows:
        for consumer, count in row["received"].items():
            counts.setdefault(consumer, []).append(count)
    return counts


def _span(counts: Sequence[int]) -> str:
    if not counts:
        return "-"
    low, high = min(counts), max(counts)
    return f"{low}" if low == high else f"{low} to {high}"


def sweep(
    what: object,
    *,
    over: Mapping[str, object],
    seeds: int | Iterable[int] = 1,
    edition: str | None = None,
    jitter: int | str = 0,
    processes: int | None = None,
    progress: bool = True,
) -> Runs:
    """Run every combination of the options in *over* with each seed; see `mqlab.sweep`."""
    plan = planned(what, over, seeds, edition, jitter)
    groups = [range(first, min(first + GROUP, plan.runs)) for first in range(0, plan.runs, GROUP)]
    played = cores.each(partial(play_group, plan), groups, processes, progress)
    rows = [row for group in played for row in group]
    return Runs(tuple(sorted(rows, key=lambda row: row["run"])))


def play_group(plan: Plan, runs: range) -> list[Row]:
    """Play some runs of a plan: what a process does."""
    texts: dict[int, str] = {}
    return [_play_one(plan, run, texts) for run in runs]


def _play_one(plan: Plan, run: int, texts: dict[int, str]) -> Row:
    combination, seed = plan.place(run)
    row: Row = {"run": run, "seed": seed, "options": plan.options(combination), "status": "done"}
    try:
        if combination not in texts:
            texts[combination] = plan.lab_file(combination)
        return {**row, **measures(play(texts[combination], seed, plan.jitter))}
    except MqlabError as error:  # a combination that no broker takes
        return {**row, "status": "failed", "error": f"{type(error).__name__}: {error}"}
