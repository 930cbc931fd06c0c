"""Tiles of a pyramid and windows of events, read with pyarrow: no Spark, a few milliseconds."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from mqlab.errors import BadFile, BadValue, UnknownName
from mqlab.replay import store
from mqlab.trace import parquet
from mqlab.trace.trace import Trace

MARGINALS = {"link": 0, "broker": 64, "dest": 64, "age": 512}  # name -> room for the second key


class Tiles:
    """A trace folder, ready to be looked at. Times are us; `span` is the first and the last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = store.manifest(folder)
        self.names: dict[str, list[str]] = self.manifest["names"]
        self.events_count = int(self.manifest["events"])
        files = self.manifest["files"]
        self.span = (files[0]["t0"], files[-1]["t1"]) if files else (0, 0)
        built = self.manifest["pyramid"] or {"levels": 0, "shift": 0, "folder": ""}
        self.levels, self.shift = int(built["levels"]), int(built["shift"])
        self.pyramid = folder / built["folder"]

    def __repr__(self) -> str:
        return f"<Tiles of {self.events_count} events, {self.levels} levels>"

    def level_for(self, t0: int, t1: int, most: int) -> int:
        """Return the finest level that cuts a window into at most *most* buckets."""
        for level in range(self.levels):
            if ((t1 - t0) >> (self.shift + level)) < most:
                return level
        return self.levels - 1

    def tile(self, marginal: str, t0: int, t1: int, most: int = 512) -> pa.Table:
        """Return the counts of a window: `t` (start, us), `width`, `key`, `kind`, `n`, `total`.

        For ages, `kind` is the bin (ages from 2**(bin / 8) - 1 us on). Raises `BadFile` without
        a pyramid, `UnknownName` for an unknown marginal.
        """
        if marginal not in MARGINALS:
            raise UnknownName.of("marginal", marginal, MARGINALS)
        if not self.levels:
            raise BadFile(f"{self.folder}: no pyramid yet; build one with mqlab.replay.build")
        level = self.level_for(t0, t1, most)
        table = _level(self.pyramid / f"level={level}" / f"{marginal}.parquet")
        shift = self.shift + level
        bucket = table.column("bucket").to_numpy()
        low, high = np.searchsorted(bucket, [t0 >> shift, (t1 >> shift) + 1])
        part = table.slice(low, high - low)
        key, room = part.column("key").to_numpy(), MARGINALS[marginal] or 1
        return pa.table({
            "t": part.column("bucket").to_numpy() << shift,
            "width": np.full(part.num_rows, 1 << shift),
            "key": key // room - 1, "kind": key % room if room > 1 else np.zeros_like(key),
            "n": part.column("n"), "total": part.column("total"),
        })  # fmt: skip

    def count(self, t0: int, t1: int) -> int:
        """Return how many events lie in a window, from row-group statistics where they suffice."""
        return sum(stop - start for _, start, stop in self._rows(t0, t1))

    def events(self, t0: int, t1: int, limit: int = 200_000) -> pa.Table:
        """Return the events of a window, t0 <= t <= t1; raises `BadValue` for more than *limit*."""
        pieces = list(self._rows(t0, t1))
        total = sum(stop - start for _, start, stop in pieces)
        if total > limit:
            raise BadValue(
                f"{total} events lie between {t0} and {t1} us; look at less than {limit}"
            )
        parts = [_read(path, start, stop) for path, start, stop in pieces]
        return pa.concat_tables(parts) if parts else parquet.schema().empty_table()

    def window(self, t0: int, t1: int, limit: int = 200_000) -> Trace:
        """Return the events of a window as a trace; causes before the window are none."""
        pieces = list(self._rows(t0, t1))
        first = self._first_row(pieces)
        table = self.events(t0, t1, limit)
        cause = table.column("cause").to_numpy() - first
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        columns["cause"] = np.where(
            (cause >= 0) & (table.column("cause").to_numpy() >= 0), cause, -1
        )
        plain = {name: values.tolist() for name, values in columns.items()}
        header = {**self.manifest["header"], "window": [t0, t1]}
        return Trace.from_columns(header, self.names, plain)

    def path(self, message: int) -> pa.Table:
        """Return every event of one message, from the files that can hold it."""
        found = []
        for entry in self.manifest["files"]:
            path = self.folder / entry["name"]
            found.append(pq.read_table(path, filters=pc.field("msg") == message))
        return pa.concat_tables(found)

    def _first_row(self, pieces: list[tuple[Path, int, int]]) -> int:
        starts = {self.folder / e["name"]: e["first_row"] for e in self.manifest["files"]}
        return starts[pieces[0][0]] + pieces[0][1] if pieces else 0

    def _rows(self, t0: int, t1: int) -> Any:
        """Yield (file, first row, row after the last) for the files that a window touches."""
        for entry in self.manifest["files"]:
            if entry["t1"] < t0 or entry["t0"] > t1:
                continue
            path = self.folder / entry["name"]
            store.check(path)
            yield path, _place(path, t0), _place(path, t1 + 1)


@lru_cache(maxsize=128)
def _level(path: Path) -> pa.Table:
    return pq.read_table(path)


@lru_cache(maxsize=512)
def _groups(path: Path) -> tuple[tuple[int, int, int], ...]:
    """Return (first row, first time, last time) of each row group of a file."""
    meta, rows, found = pq.read_metadata(path), 0, []
    for number in range(meta.num_row_groups):
        group = meta.row_group(number)
        stats = group.column(0).statistics
        found.append((rows, int(stats.min), int(stats.max)))
        rows += group.num_rows
    return tuple(found)


def _place(path: Path, time: int) -> int:
    """Return how many events of a file are earlier than *time*; reads one row group at most."""
    file = pq.ParquetFile(path)
    for number, (start, first, last) in enumerate(_groups(path)):
        if first >= time:
            return start
        if last >= time:
            times = file.read_row_group(number, columns=["t"]).column("t").to_numpy()
            return start + int(np.searchsorted(times, time))
    return int(file.metadata.num_rows)


def _read(path: Path, start: int, stop: int) -> pa.Table:
    """Return the rows *start* to *stop* of a file, from the row groups that hold them."""
    file = pq.ParquetFile(path)
    groups = _groups(path)
    ends = [g[0] for g in groups[1:]] + [file.metadata.num_rows]
    wanted = [i for i, (g, end) in enumerate(zip(groups, ends, strict=True))
              if g[0] < stop and end > start]  # fmt: skip
    if not wanted:
        return parquet.schema().empty_table()
    table = file.read_row_groups(wanted).replace_schema_metadata(None)
    return table.slice(start - groups[wanted[0]][0], stop - start)
