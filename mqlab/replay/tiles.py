"""Tiles of a pyramid and windows of events, read with pyarrow: no Spark, a few milliseconds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from mqlab.errors import BadFile, BadValue, UnknownName
from mqlab.replay import store
from mqlab.replay.cells import COUNT_COLUMNS, DEPTH, DEPTH_COLUMNS, FORM, MARGINALS
from mqlab.trace import parquet
from mqlab.trace.trace import Trace

Group = tuple[int, int, int]  # first row, first and last value of what the file is sorted by


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
        # Caches of this object: another one of the same folder may find other files there.
        self._groups = lru_cache(maxsize=None)(_groups)
        # A group of events takes 40 MB, one of the pyramid 4 MB at most.
        self._events, self._cells = lru_cache(maxsize=4)(_group), lru_cache(maxsize=32)(_group)

    def __repr__(self) -> str:
        return f"<Tiles of {self.events_count} events, {self.levels} levels>"

    def level_for(self, t0: int, t1: int, most: int) -> int:
        """Return the finest level that cuts a window into at most *most* buckets."""
        for level in range(self.levels):
            shift = self.shift + level
            if (t1 >> shift) - (t0 >> shift) < most:
                return level
        return self.levels - 1

    def tile(self, marginal: str, t0: int, t1: int, most: int = 512) -> pa.Table:
        """Return the counts of a window: `t` (start, us), `width`, `key`, `kind`, `n`, `total`.

        For ages, `kind` is the bin (ages from 2**(bin / 8) - 1 us on) and `total` the sum of
        ages. Raises `BadFile` without a pyramid, `UnknownName` for an unknown marginal.
        """
        if marginal not in MARGINALS:
            raise UnknownName.of("marginal", marginal, MARGINALS)
        part, shift = self._cut(marginal, t0, t1, most)
        key, room = part.column("key").to_numpy(), MARGINALS[marginal]
        return pa.table({
            "t": part.column("bucket").to_numpy() << shift,
            "width": np.full(part.num_rows, 1 << shift),
            "key": key // room - 1, "kind": key % room,
            "n": part.column("n"), "total": part.column("total"),
        })  # fmt: skip

    def depth(self, t0: int, t1: int, most: int = 512) -> pa.Table:
        """Return how many messages the queues of each broker hold, in each bucket of a window.

        Columns: `t` (start, us), `width`, `key` (broker), `last` (at the end of the bucket), `low`
        and `high` (the least and greatest at the ends of the finest buckets within it).
        """
        part, shift = self._cut(DEPTH, t0, t1, most)
        return pa.table({
            "t": part.column("bucket").to_numpy() << shift,
            "width": np.full(part.num_rows, 1 << shift), "key": part.column("broker"),
            "last": part.column("last"), "low": part.column("low"), "high": part.column("high"),
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
        parts = [self._read(path, start, stop, "t") for path, start, stop in pieces]
        return pa.concat_tables(parts) if parts else parquet.schema().empty_table()

    def window(self, t0: int, t1: int, limit: int = 200_000) -> Trace:
        """Return the events of a window as a trace; causes before the window are none."""
        pieces = list(self._rows(t0, t1))
        first = self._first_row(pieces)
        table = self.events(t0, t1, limit)
        # Events in a window are neighbours, so a cause's row there is its row less the first.
        cause = np.maximum(table.column("cause").to_numpy().astype(np.int64) - first, -1)
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        columns["cause"] = cause
        plain = {name: values.tolist() for name, values in columns.items()}
        header = {**self.manifest["header"], "window": [t0, t1]}
        return Trace.from_columns(header, self.names, plain)

    def path(self, message: int) -> pa.Table:
        """Return every event of one message, from the row groups that can hold it."""
        found = [parquet.schema().empty_table()]
        for entry in self.manifest["files"]:
            path = self.folder / entry["name"]
            store.check(path)
            with store.reading(path) as file:
                for number in _with_message(file, message):
                    msgs = file.read_row_group(number, columns=["msg"]).column("msg").to_numpy()
                    rows = np.flatnonzero(msgs == message)
                    if len(rows):
                        found.append(file.read_row_group(number).take(rows))
        return pa.concat_tables(part.replace_schema_metadata(None) for part in found)

    def _cut(self, name: str, t0: int, t1: int, most: int) -> tuple[pa.Table, int]:
        """Return the rows of a pyramid file that a window needs, and log2 of their width (us)."""
        if not self.levels:
            raise BadFile(f"{self.folder}: no pyramid yet; build one with mqlab.replay.build")
        if self.manifest["pyramid"].get("form") != FORM:
            raise BadFile(f"{self.folder}: its pyramid is of an older form; build it anew "
                          "with mqlab.replay.build")  # fmt: skip
        level = self.level_for(t0, t1, most)
        shift, path = self.shift + level, self.pyramid / f"level={level}" / f"{name}.parquet"
        if name not in self.manifest["pyramid"]["files"]:  # nothing of it happened in the run
            columns = DEPTH_COLUMNS if name == DEPTH else COUNT_COLUMNS
            return pa.table(dict.fromkeys(columns, np.zeros(0, np.int64))), shift
        low, high = (self._place(path, "bucket", time) for time in (t0 >> shift, (t1 >> shift) + 1))
        return self._read(path, low, max(low, high), "bucket"), shift

    def _first_row(self, pieces: list[tuple[Path, int, int]]) -> int:
        starts = {self.folder / e["name"]: e["first_row"] for e in self.manifest["files"]}
        return starts[pieces[0][0]] + pieces[0][1] if pieces else 0

    def _rows(self, t0: int, t1: int) -> Iterator[tuple[Path, int, int]]:
        """Yield (file, first row, row after the last) for the files that a window touches."""
        for entry in self.manifest["files"]:
            if entry["t1"] < t0 or entry["t0"] > t1 or t1 < t0:
                continue
            path = self.folder / entry["name"]
            yield path, self._place(path, "t", t0), self._place(path, "t", t1 + 1)

    def _place(self, path: Path, column: str, value: int) -> int:
        """Return how many rows of a file are less than *value*; reads one row group at most."""
        rows = 0
        for number, (start, first, last) in enumerate(self._groups(path, column)[:-1]):
            if first >= value:
                return start
            if last >= value:
                get = self._events if column == "t" else self._cells
                values = get(path, number, column).column(column).to_numpy()
                return start + int(np.searchsorted(values, value))
            rows = self._groups(path, column)[number + 1][0]
        return rows

    def _read(self, path: Path, start: int, stop: int, column: str) -> pa.Table:
        """Return the rows *start* to *stop* of a file, from the row groups that hold them."""
        groups, parts = self._groups(path, column), []
        get = self._events if column == "t" else self._cells
        for number, (first, _, _) in enumerate(groups[:-1]):
            end = groups[number + 1][0]
            if first < stop and end > start:
                cut = slice(max(start, first) - first, min(stop, end) - first)
                parts.append(get(path, number, None)[cut])
        return pa.concat_tables(parts) if parts else get(path, 0, None)[:0]


def _groups(path: Path, column: str) -> tuple[Group, ...]:
    """Return the row groups of a file, and one more that begins where it ends."""
    if column == "t":
        store.check(path)
    found, rows = [], 0
    with store.reading(path) as file:
        place = file.schema_arrow.names.index(column)
        for number in range(file.num_row_groups):
            group = file.metadata.row_group(number)
            stats = group.column(place).statistics
            found.append((rows, int(stats.min), int(stats.max)))
            rows += group.num_rows
    return (*found, (rows, 0, 0))


def _group(path: Path, number: int, column: str | None) -> pa.Table:
    """Return a row group, whole or only one column of it."""
    with store.reading(path) as file:
        table = file.read_row_group(number, columns=None if column is None else [column])
        return table.replace_schema_metadata(None)


def _with_message(file: Any, message: int) -> Iterator[int]:
    """Yield the row groups that may hold a message; -1, no message, is below all of them."""
    place = file.schema_arrow.names.index("msg")
    for number in range(file.num_row_groups):
        stats = file.metadata.row_group(number).column(place).statistics
        if stats.min <= message <= stats.max:
            yield number
