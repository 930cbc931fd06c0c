"""The events of runs for those who ask in Spark SQL: names in place of codes.

One run or many: a trace folder, traces in memory, the kept traces of a sweep. They all become the same
two DataFrames, in which a run is a number.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.errors import BadFile, BadValue, shown
from mqlab.replay import runs, store
from mqlab.replay.spark import session
from mqlab.spec.json_types import JsonObject
from mqlab.trace import parquet, tables
from mqlab.trace.columns import COLUMNS
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

VIEW = "events"
_OF_CODE = {"b": "byte", "h": "short", "i": "int", "q": "long"}
TYPES = ", ".join(f"`{name}` {_OF_CODE[code]}" for name, code in COLUMNS.items())

# column -> its type and what it says; the columns of `Trace.to_arrow`, after two that say where a row is from
MEANING = {
    "run": ("int", "number of the run: that of a sweep, or its place among several traces; else 0"),
    "row": ("long", "place of the event in its run, from 0"),
    "t_us": ("long", "when, in microseconds since the run began"),
    "kind": ("string", "what happened: Sent, Enqueued, Forwarded, Received ... (mq.Kind)"),
    "message": ("int", "number of the message, in the order of sending; null: of none"),
    "broker": ("string", "the broker where it happened"),
    "from": ("string", "the broker or client that it came from"),
    "to": ("string", "the broker or client that it went to"),
    "link": ("string", "the network bridge that it went over"),
    "destination": ("string", "queue or topic, such as queue://TEST.FOO"),
    "subscription": ("string", "the subscription concerned, in words"),
    "hops": ("short", "how many brokers had forwarded the message"),
    "age_us": ("long", "microseconds since the message was sent"),
    "rule": ("string", "why it happened (mq.Reason); none: no reason recorded"),
    "cause": ("int", "row of the event that led to this one, in the same run; null: none"),
}
SCHEMA = ", ".join(f"`{name}` {kind}" for name, (kind, _) in MEANING.items())
_ABOUT = "run int, product string, end_us long, last int, consumers array<string>"

Runs = str | Path | Trace | runs.Sweep | Iterable[Trace]


@dataclass(frozen=True, slots=True)
class Events:
    """The `rows` of some runs, and for each run a row `about` it.

    That has its product, the time of its last event, the greatest number of a message (what is beyond are
    advisories) and the names of its consumers.
    """

    rows: DataFrame
    about: DataFrame

    @classmethod
    def of(cls, what: Runs) -> Events:
        """Return those of a trace folder, of a trace or several, or of a sweep that has kept traces."""
        if isinstance(what, Trace):
            return cls._of_traces([what])
        if isinstance(what, runs.Sweep):
            return cls._of_sweep(what)
        if not isinstance(what, (str, Path)):
            return cls._of_traces(_traces(what))
        folder = Path(what)
        if (folder / runs.RUNS).exists():
            return cls._of_sweep(runs.Sweep.load(folder))
        return cls._of_folder(folder)

    @classmethod
    def _of_traces(cls, traces: Sequence[Trace]) -> Events:
        pa = tables.arrow()
        spark = session()
        parts = [_rows(number, trace) for number, trace in enumerate(traces)]
        about = [_about(number, trace) for number, trace in enumerate(traces)]
        rows = pa.concat_tables(parts or [arrow_schema(SCHEMA).empty_table()])
        return cls(
            _documented(spark.createDataFrame(rows)),
            spark.createDataFrame(pa.Table.from_pylist(about, arrow_schema(_ABOUT))),
        )

    @classmethod
    def _of_sweep(cls, sweep: runs.Sweep) -> Events:
        """Return those of the runs whose traces were kept, which tasks read where they lie."""
        folder = sweep.folder.resolve()
        kept = [run for run in range(sweep.runs) if runs.trace_file(folder, run).exists()]
        if not kept:
            raise BadFile(
                f"{folder}: this sweep kept no traces; run it with traces=True or with a condition selecting "
                "the runs to keep"
            )
        spark = session()
        numbers = spark.createDataFrame([(run,) for run in kept], "run int")

        def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for run in batch.column(0).to_pylist():
                    yield from _rows(run, parquet.load(runs.trace_file(folder, run))).to_batches()

        def about(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            for batch in batches:
                for run in batch.column(0).to_pylist():
                    told = _about(run, parquet.load(runs.trace_file(folder, run)))
                    yield pa.RecordBatch.from_pylist([told], arrow_schema(_ABOUT))

        return cls(_documented(numbers.mapInArrow(rows, SCHEMA)), numbers.mapInArrow(about, _ABOUT))

    @classmethod
    def _of_folder(cls, folder: Path) -> Events:
        """Return those of a trace folder, which Spark reads itself."""
        from pyspark.sql import functions as f

        manifest = store.manifest(folder)
        if not manifest["files"]:
            raise BadFile(f"{folder}: this trace has no events yet")
        paths = [(folder / entry["name"]).resolve() for entry in manifest["files"]]
        for path, entry in zip(paths, manifest["files"], strict=True):
            store.check(path, entry["events"])  # Spark would take a missing column for an empty one
        reader = session().read.schema(TYPES).option("parquet.page.verify-checksum.enabled", True)
        read = reader.parquet(*map(str, paths))
        rows = read.select(
            f.lit(0).alias("run"),
            _row(manifest["files"]).alias("row"),
            *columns(manifest),
        )
        sent = read.where(f.col("kind").isin(int(Kind.Sent), int(Kind.Failed)))
        about = sent.agg(f.coalesce(f.max("msg"), f.lit(0)).alias("last")).select(
            f.lit(0).alias("run"),
            f.lit(_product(manifest["header"])).alias("product"),
            f.lit(manifest["files"][-1]["t1"]).cast("long").alias("end_us"),
            "last",
            _list(_consumers(manifest["names"])).alias("consumers"),
        )
        return cls(_documented(rows), about)


def _traces(what: Iterable[Trace]) -> list[Trace]:
    found = list(what) if isinstance(what, Iterable) else [what]
    for one in found:
        if not isinstance(one, Trace):
            raise BadValue(f"{shown(one)} is not a run; expected one or more traces, a sweep, or its folder")
    return found


def columns(manifest: JsonObject) -> list[Column]:
    """Return the columns of event files with names in place of codes, and null for none."""
    names = {**manifest["names"], **_words()}
    return [
        _told(of, table, names, name in tables.ABSENT).alias(name)
        for name, (of, table) in tables.COLUMNS.items()
    ]


def events(what: Runs, view: str = VIEW) -> DataFrame:
    """Return the events of runs as a DataFrame; see `mqlab.replay.events`."""
    frame = Events.of(what).rows
    frame.createOrReplaceTempView(view)
    return frame


def _rows(run: int, trace: Trace) -> pa.Table:
    """Return the events of a trace as `SCHEMA` has them."""
    pa = tables.arrow()
    import numpy as np

    table, shape = trace.to_arrow(), arrow_schema(SCHEMA)
    places = [np.full(len(trace), run), np.arange(len(trace))]
    columns = [*map(pa.array, places), *table.columns]
    return pa.table([c.cast(field.type) for c, field in zip(columns, shape, strict=True)], schema=shape)


def arrow_schema(types: str) -> pa.Schema:
    """Return the Arrow schema of Spark's words for one."""
    pa = tables.arrow()
    kinds = {
        "short": pa.int16(),
        "int": pa.int32(),
        "long": pa.int64(),
        "string": pa.string(),
        "array<string>": pa.list_(pa.string()),
    }
    pairs = (part.split() for part in types.split(", "))
    return pa.schema([(name.strip("`"), kinds[kind]) for name, kind in pairs])


def _about(run: int, trace: Trace) -> dict[str, object]:
    sent = trace.rows(Kind.Sent, Kind.Failed)
    return {
        "run": run,
        "product": _product(trace.header),
        "end_us": max(trace.column("t"), default=0),
        "last": max(map(trace.column("msg").__getitem__, sent), default=0),
        "consumers": _consumers(trace.names),
    }


def _product(header: Mapping[str, object]) -> str:
    return str(header.get("product", "activemq"))


def _consumers(names: Mapping[str, list[str]]) -> list[str]:
    """Return the names of all consumers; one that was closed and opened again is one."""
    pairs = zip(names["node"], names["node_role"], strict=True)
    return list(dict.fromkeys(name for name, role in pairs if role == "consumer"))


def _words() -> dict[str, list[str]]:
    return {"kind": [kind.name for kind in Kind], "rule": [rule.name for rule in Reason]}


def _told(column: str, table: str, names: Mapping[str, list[str]], absent: bool) -> Column:
    """Return the column of a file with names in place of codes, or with null for none."""
    from pyspark.sql import functions as f

    if table:
        return f.get(_list(names[table]), f.col(column))
    return f.nullif(f.col(column), f.lit(-1)) if absent else f.col(column)


def _list(names: Sequence[str]) -> Column:
    """Return a constant list; as one text, for thousands of constants take seconds to send to Java."""
    from pyspark.sql import functions as f

    return f.from_json(f.lit(json.dumps(list(names))), "array<string>")


def _row(files: Sequence[JsonObject]) -> Column:
    """Return the place of an event in its run, by the file that it is read from."""
    from pyspark.sql import functions as f

    depth = files[0]["name"].count("/") + 1
    name = f.substring_index("_metadata.file_path", "/", -depth)
    starts = json.dumps({entry["name"]: entry["first_row"] for entry in files})
    return f.col("_metadata.row_index") + f.from_json(f.lit(starts), "map<string,long>")[name]


def _documented(frame: DataFrame) -> DataFrame:
    """Return a DataFrame whose columns `describe` explains."""
    from pyspark.sql import functions as f

    return frame.select(
        *(f.col(f"`{name}`").alias(name, metadata={"comment": told}) for name, (_, told) in MEANING.items())
    )
