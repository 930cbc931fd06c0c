"""Questions to a sweep, answered by Spark over its rows, each with a table and a picture.

They read the DataFrame of `outcomes`, so that a million runs are counted where they lie; what comes back
has a line for each axis or combination.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqlab import views
from mqlab.errors import BadValue, UnknownName
from mqlab.experiments.axes import Axis
from mqlab.replay.runs import RUNS, Sweep
from mqlab.replay.spark import session
from mqlab.replay.sweeps import TYPES
from mqlab.spec.json_types import JsonObject
from mqlab.spec.values import as_text
from mqlab.trace.grid import TextTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MEASURES = ("received", "waiting", "stuck", "lost", "duplicated", "latency_p50", "hops", "crossed")
_COUNTS = "map<string,bigint>"
_LOSES = "status = 'failed' or lost > 0 or waiting > 0"
_RECEIVED = "aggregate(map_values(received), 0L, (sum, n) -> sum + n)"
_OUTCOME = "to_json(struct(array_sort(map_entries(received)) as r, waiting, stuck, lost, duplicated))"


def outcomes(out: str | Path) -> DataFrame:
    """Return the runs of a sweep as a DataFrame; see `mqlab.replay.outcomes`."""
    from pyspark.sql import functions as f

    sweep = Sweep.load(out)
    schema = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
    frame = session().read.schema(schema).parquet(str((sweep.folder / RUNS).resolve()))
    names = columns_of(sweep.plan.axes)
    axes = ", ".join(f"`{axis.name}`: {_type(axis.labels)}" for axis in sweep.plan.axes)
    if axes:
        frame = frame.withColumn("options", f.from_json("options", f"struct<{axes}>"))
        chosen = [f.col(f"options.`{path}`").alias(name) for path, name in names.items()]
        frame = frame.select("run", *chosen, *(name for name in TYPES if name not in ("run", "options")))
    else:
        frame = frame.drop("options")
    for name in ("received", "stuck_at"):
        frame = frame.withColumn(name, f.from_json(name, _COUNTS))
    return frame


def columns_of(axes: Sequence[Axis]) -> dict[str, str]:
    """Return axis -> its column: the option alone where that says which one it is."""
    short = [axis.name.rpartition(".")[2] for axis in axes]
    clear = len(set(short)) == len(short) and not set(short) & set(TYPES)
    return {axis.name: name if clear else axis.name for axis, name in zip(axes, short, strict=True)}


def _type(labels: Sequence[object]) -> str:
    if all(isinstance(label, bool) for label in labels):
        return "boolean"
    if any(isinstance(label, (bool, str)) or label is None for label in labels):
        return "string"
    return "bigint" if all(isinstance(label, int) for label in labels) else "double"


def _told(labels: Sequence[object]) -> str:
    return ", ".join(map(str, labels)) or "as it is"


@dataclass(frozen=True, slots=True, repr=False)
class Answer(TextTable):
    """A table of text with its `head`, the `rows` as values, and a picture."""

    head: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    picture: JsonObject = field(default_factory=dict)

    def table(self) -> list[list[str]]:
        """Return the answer as text."""
        return [list(self.head), *([_cell(value) for value in row] for row in self.rows)]

    def plot(self) -> object:
        """Return a widget with the picture: small heat maps beside each other, or one.

        Raises `MissingExtra` without Bokeh.
        """
        return views.plot_heat(**self.picture)

    def __repr__(self) -> str:
        return str(self)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def effects(out: str | Path) -> Answer:
    """Return how much each axis matters to each measure.

    That is the share (0 to 1) of the differences between runs (sum of squares) that are differences between
    the means of the axis' values; the rest is that of other axes, of axes together, and of timing. None where
    all runs are alike.
    """
    from pyspark.sql import functions as f

    axes = columns_of(Sweep.load(out).plan.axes)
    if not axes:
        raise BadValue(f"{out}: this sweep has no axes, only seeds; ask for timing(...)")
    runs = outcomes(out).where("status = 'done'").withColumn("received", f.expr(_RECEIVED))
    squares = [f.expr(f"count({m}) * var_pop({m})").alias(m) for m in MEASURES]
    whole = runs.agg(*squares).toArrow().to_pylist()[0]
    rows = []
    for name in axes.values():
        within = [f.sum(m).alias(m) for m in MEASURES]
        left = runs.groupBy(f"`{name}`").agg(*squares).agg(*within).toArrow().to_pylist()[0]
        rows.append((name, *(_share(whole[m], left[m]) for m in MEASURES)))
    values = {row[0]: dict(zip(MEASURES, row[1:], strict=True)) for row in rows}
    return Answer(
        ("axis", *MEASURES), tuple(rows), {"panels": {"Which axis matters": values}, "unit": "share", "high": 1}
    )


def _share(whole: float | None, within: float | None) -> float | None:
    return 1 - (within or 0) / whole if whole else None


def stuck(out: str | Path) -> Answer:
    """Return where messages get stuck: broker, and the mean number in the runs of each combination."""
    from pyspark.sql import functions as f

    axes = list(columns_of(Sweep.load(out).plan.axes).values())
    keys = [f"`{name}`" for name in axes]
    runs = outcomes(out).where("status = 'done'")
    counts = runs.groupBy(*keys).agg(f.count("*").alias("runs"))
    at = runs.select(*keys, f.explode("stuck_at").alias("broker", "n"))
    sums = at.groupBy(*keys, "broker").agg(f.sum("n").alias("n"), f.count("*").alias("hit"))
    found = sums.crossJoin(counts) if not axes else sums.join(counts, axes)
    rows = [
        (*(row[name] for name in axes), row["broker"], row["n"] / row["runs"], row["hit"], row["runs"])
        for row in found.orderBy(*keys, "broker").toArrow().to_pylist()
    ]
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        values.setdefault(_told(row[: len(axes)]), {})[row[-4]] = row[-3]
    return Answer(
        (*axes, "broker", "stuck (mean)", "in runs", "of runs"),
        tuple(rows),
        {"panels": {"Stuck messages (mean)": values}, "unit": "messages"},
    )


def timing(out: str | Path) -> Answer:
    """Return how often the outcome hangs on timing, for each combination.

    `outcomes` is how many different ones its seeds gave, `differ` the share of the runs (0 to 1) that ended
    otherwise than most.
    """
    from pyspark.sql import functions as f

    axes = list(columns_of(Sweep.load(out).plan.axes).values())
    keys = [f"`{name}`" for name in axes]
    runs = outcomes(out).where("status = 'done'").withColumn("outcome", f.expr(_OUTCOME))
    each = runs.groupBy(*keys, "outcome").agg(f.count("*").alias("n"))
    found = each.groupBy(*keys).agg(
        f.sum("n").alias("runs"), f.count("*").alias("outcomes"), f.max("n").alias("most")
    )
    rows = [
        (*(row[name] for name in axes), row["runs"], row["outcomes"], 1 - row["most"] / row["runs"])
        for row in (found.orderBy(*keys) if keys else found).toArrow().to_pylist()
    ]
    return Answer(
        (*axes, "runs", "outcomes", "differ"),
        tuple(rows),
        {"panels": _panels(axes, rows, "differ"), "unit": "share", "high": 1},
    )


def smallest(out: str | Path) -> Answer:
    """Return the smallest combinations with which no run lost a message, left one waiting, or failed.

    Smaller is what comes earlier in the list of an axis. A combination is among the smallest if no other
    that is safe is as small in every axis; several are, where one axis makes up for another.
    """
    from pyspark.sql import functions as f

    axes = columns_of(Sweep.load(out).plan.axes)
    plan, names = Sweep.load(out).plan, list(axes.values())
    keys = [f"`{name}`" for name in names]
    losing = f.avg(f.expr(f"if({_LOSES}, 1.0D, 0.0D)")).alias("loses")
    found = outcomes(out).groupBy(*keys).agg(f.count("*").alias("runs"), losing).toArrow().to_pylist()
    ranks = [{_as(axis, label): no for no, label in enumerate(axis.labels)} for axis in plan.axes]
    placed = (
        sorted((tuple(rank[row[name]] for rank, name in zip(ranks, names, strict=True)), row) for row in found)
        if names
        else [((), row) for row in found]
    )
    safe = [(place, row) for place, row in placed if row["loses"] == 0]
    rows = [
        (*(row[name] for name in names), row["runs"])
        for place, row in safe
        if not any(other != place and all(map(int.__le__, other, place)) for other, _ in safe)
    ]
    shown = [(*(row[name] for name in names), row["loses"]) for _, row in placed]
    return Answer(
        (*names, "runs"),
        tuple(rows),
        {"panels": _panels(names, shown, "runs that lose"), "unit": "share", "high": 1},
    )


def _as(axis: Axis, label: Any) -> object:
    """Return a label as the DataFrame has it."""
    kind = _type(axis.labels)
    if kind == "string" and label is not None and not isinstance(label, str):
        return as_text(label)
    return float(label) if kind == "double" else label


def _panels(
    axes: Sequence[str], rows: Sequence[tuple[Any, ...]], what: str
) -> dict[str, dict[str, dict[str, float]]]:
    """Return a heat map of the last two axes for each choice of those before them; the last value counts."""
    panels: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        labels = [f"{name} {value}" for name, value in zip(axes, row, strict=False)]
        *before, across, down = ["", "", *labels] if len(labels) < 2 else labels
        title = ", ".join(filter(None, before)) or what
        panels.setdefault(title, {}).setdefault(across or what, {})[down or what] = row[-1]
    return panels


QUESTIONS = {"effects": effects, "stuck": stuck, "timing": timing, "smallest": smallest}


def answer(question: str, out: str | Path) -> Answer:
    """Return the answer to a question by its name; raises `UnknownName`."""
    if question not in QUESTIONS:
        raise UnknownName.of("question", question, QUESTIONS)
    return QUESTIONS[question](out)
