"""Tiles of a pyramid and windows of events, read with pyarrow: no Spark, a few milliseconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from mqlab.errors import BadFile, BadValue, UnknownName, shown
from mqlab.replay import store
from mqlab.replay.cells import COUNT_COLUMNS, DEPTH, DEPTH_COLUMNS, FORM, KINDS, MARGINALS, counts
from mqlab.spec.json_types import JsonDict
from mqlab.spec.plural import counted
from mqlab.spec.values import duration, told_time
from mqlab.trace import parquet
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.trace.columns import Numbers

COUNTED = ("link", "broker", "dest")  # what `Tiles.counted` counts
MOST_COUNTED = 1_000_000  # events
Group = tuple[int, int, int]  # first row, first and last value of what the file is sorted by


class PyramidReader:
    """A trace folder, ready to be looked at. Times are us; `span` is the first and the last."""

    def __init__(self, folder: Path, manifest: JsonDict | None = None) -> None:
        self.folder = folder
        self.manifest = manifest or store.manifest(folder)
        self.names: dict[str, list[str]] = self.manifest["names"]
        self.events_count = int(self.manifest["events"])
        self.grows = store.goes_on(self.manifest)
        files = self.manifest["files"]
        self.span = (files[0]["t0"], files[-1]["t1"]) if files else (0, 0)
        self.built = built = store.pyramid(folder) or {"levels": 0, "shift": 0, "folder": ""}
        self.levels, self.shift = int(built["levels"]), int(built["shift"])
        self.pyramid = folder / built["folder"]
        # Caches of this object: another one of the same folder may find other files there.
        self._groups = lru_cache(maxsize=None)(_groups)
        # A group of events takes 10 MB, one of the pyramid 4 MB at most.
        self._events, self._cells = lru_cache(maxsize=16)(_group), lru_cache(maxsize=32)(_group)

    def __repr__(self) -> str:
        return f"<Tiles of {self.events_count} events, {self.levels} levels>"

    def level_for(self, t0: int, t1: int, most: int) -> int:
        """Return the finest level that cuts a window into at most *most* buckets."""
        return min(max(0, self.width_for(t0, t1, most) - self.shift), self.levels - 1)

    def tile(self, marginal: str, t0: int, t1: int, most: int = 512) -> pa.Table:
        """Return the counts of a window: `t` (start, us), `width`, `key`, `kind`, `n`, `total`.

        For ages, `kind` is the bin (ages from 2**(bin / 8) - 1 us on) and `total` the sum of
        ages. Raises `BadFile` without a pyramid, `UnknownName` for an unknown marginal.
        """
        if marginal not in MARGINALS:
            raise UnknownName.of("marginal", marginal, MARGINALS)
        part, shift = self._cut(marginal, t0, t1, most)
        key, room = part.column("key").to_numpy(), MARGINALS[marginal]
        return _tile(part.column("bucket").to_numpy(), key, room, part.column("n"), part.column("total"), shift)

    def counted(self, marginal: str, t0: int, t1: int, most: int = 512) -> pa.Table:
        """Return what `tile` would, of links, brokers or destinations, counted from the events of the window.

        For a window in which the finest buckets of the pyramid are too wide; these are not wider than needed
        for *most* of them. Raises `BadValue` for more than a million events, `UnknownName`.
        """
        if marginal not in COUNTED:
            raise UnknownName.of("marginal", marginal, COUNTED)
        table = self.events(t0, t1, MOST_COUNTED, ["t", "kind", marginal])
        shift = self.width_for(t0, t1, most)
        column = {name: table.column(name).to_numpy().astype(np.int64) for name in table.column_names}
        when, key, n, total = counts(column["t"] >> shift, (column[marginal] + 1) * KINDS + column["kind"])
        return _tile(when, key, KINDS, n, total, shift)

    def width_for(self, t0: int, t1: int, most: int) -> int:
        """Return log2 of the narrowest bucket (us) that cuts a window into at most *most*."""
        shift = 0
        while (t1 >> shift) - (t0 >> shift) >= most:
            shift += 1
        return shift

    def depth(self, t0: int, t1: int, most: int = 512) -> pa.Table:
        """Return how many messages the queues of each broker hold, in each bucket of a window.

        Columns: `t` (start, us), `width`, `key` (broker), `last` (at the end of the bucket), `low`
        and `high` (the least and greatest at the ends of the finest buckets within it).
        """
        part, shift = self._cut(DEPTH, t0, t1, most)
        return pa.table(
            {
                "t": part.column("bucket").to_numpy() << shift,
                "width": np.full(part.num_rows, 1 << shift),
                "key": part.column("broker"),
                "last": part.column("last"),
                "low": part.column("low"),
                "high": part.column("high"),
            }
        )

    def count(self, t0: int, t1: int) -> int:
        """Return how many events lie in a window, from row-group statistics where they suffice."""
        return sum(stop - start for _, start, stop in self._rows(t0, t1))

    def events(self, t0: int, t1: int, limit: int = 200_000, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the events of a window, t0 <= t <= t1, all their columns or some.

        Raises `BadValue` for more than *limit* of them.
        """
        pieces = list(self._rows(t0, t1))
        total = sum(stop - start for _, start, stop in pieces)
        if total > limit:
            there = f"from {told_time(t0)} to {told_time(t1)}"
            raise BadValue(f"{counted(total, 'event lies', 'events lie')} {there}; look at less than {limit}")
        wanted = None if columns is None else tuple(columns)
        parts = [self._read(path, start, stop, "t", wanted) for path, start, stop in pieces]
        return pa.concat_tables(parts) if parts else parquet.schema().empty_table()

    def window(self, t0: int | str, t1: int | str, limit: int = 200_000) -> Trace:
        """Return the events of a window as a trace; causes before the window are none.

        The window is from *t0* to *t1*: texts such as ``"1s"``, or numbers of microseconds, as a `Duration` is.
        """
        t0, t1 = _us(t0, "t0"), _us(t1, "t1")
        if t1 < t0 - 1:  # an empty one ends right before it begins
            begin, end = told_time(t0), told_time(t1)
            raise BadValue(f"the window ends at {end}, before it begins ({begin}); exchange the two")
        pieces = list(self._rows(t0, t1))
        first = self._first_row(pieces)
        table = self.events(t0, t1, limit)
        # Events in a window are neighbours, so a cause's row there is its row less the first.
        cause = np.maximum(table.column("cause").to_numpy().astype(np.int64) - first, -1)
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        columns["cause"] = cause
        plain = {name: values.tolist() for name, values in columns.items()}
        part = f"from {told_time(t0)} to {told_time(t1)} of {told_time(self.span[1])}"
        header = {**self._header(first + np.arange(len(cause)), part), "window": [t0, t1]}
        return Trace.from_columns(header, self.names, plain)

    def path(self, message: int) -> pa.Table:
        """Return every event of one message, from the row groups that can hold it."""
        return self._of(message)[0]

    def of_message(self, message: int) -> Trace:
        """Return the events of a message, by its number, as a trace; causes that are of no message are none."""
        if isinstance(message, str):
            raise BadValue(f"message is {shown(message)}; expected its number, such as 7")
        table, rows = self._of(message)
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
        place = np.searchsorted(rows, columns["cause"])
        known = (place < len(rows)) & (rows[np.minimum(place, len(rows) - 1)] == columns["cause"])
        columns["cause"] = np.where(known, place, -1)
        plain = {name: values.tolist() for name, values in columns.items()}
        return Trace.from_columns(self._header(rows, f"the events of message {message}"), self.names, plain)

    def _header(self, rows: Numbers, part: str) -> dict[str, object]:
        """Return the header of a *part*: which it is, and what is told of its events, by their rows there."""
        header: JsonDict = {**self.manifest["header"], "part": part}
        if not header.get("details"):
            return header
        at = np.array([row for row, _ in header["details"]])
        place = np.searchsorted(rows, at)
        known = place < len(rows)
        known[known] = rows[place[known]] == at[known]
        details = [[int(place[no]), header["details"][no][1]] for no in np.flatnonzero(known)]
        return {**header, "details": details}

    def _of(self, message: int) -> tuple[pa.Table, Numbers]:
        """Return the events of one message, and the number of each in the run; raises `BadValue` for none."""
        found, rows = [], []
        for entry in self.manifest["files"]:
            path = self.folder / entry["name"]
            if "messages" in entry:
                may = [no for no, runs in enumerate(entry["messages"]) if store.has_message(runs, message)]
            else:  # written before there were these
                spans = self._groups(path, "msg")[:-1]
                may = [no for no, (_, low, high) in enumerate(spans) if low <= message <= high]
            groups = self._groups(path, "msg") if may else ()
            for number in may:  # -1, no message, is below all of them
                msgs = self._events(path, number, ("msg",)).column("msg").to_numpy()
                mine = np.flatnonzero(msgs == message)
                if len(mine):
                    found.append(self._events(path, number, None).take(mine))
                    rows.append(mine + entry["first_row"] + groups[number][0])
        if not found:
            raise BadValue(f"there is no message {message} in {self.folder}")
        return pa.concat_tables(found), np.concatenate(rows)

    def _cut(self, name: str, t0: int, t1: int, most: int) -> tuple[pa.Table, int]:
        """Return the rows of a pyramid file that a window needs, and log2 of their width (us)."""
        if not self.levels:
            raise BadFile(f"{self.folder}: no pyramid yet; mqlab.replay.extend makes one")
        if self.built.get("form") != FORM:
            raise BadFile(f"{self.folder}: its pyramid has an older format; rebuild it with mqlab.replay.build")
        if self.built["events"] < self.events_count:
            raise BadFile(
                f"{self.folder}: its pyramid counts {self.built['events']} of "
                f"{counted(self.events_count, 'event')}; mqlab.replay.extend counts the others"
            )
        level = self.level_for(t0, t1, most)
        shift, path = self.shift + level, self.pyramid / f"level={level}" / f"{name}.parquet"
        if name not in self.built["files"]:  # nothing of it happened in the run
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
                values = get(path, number, (column,)).column(column).to_numpy()
                return start + int(np.searchsorted(values, value))
            rows = self._groups(path, column)[number + 1][0]
        return rows

    def _read(
        self, path: Path, start: int, stop: int, column: str, wanted: tuple[str, ...] | None = None
    ) -> pa.Table:
        """Return the rows *start* to *stop* of a file, from the row groups that hold them."""
        groups, parts = self._groups(path, column), []
        get = self._events if column == "t" else self._cells
        for number, (first, _, _) in enumerate(groups[:-1]):
            end = groups[number + 1][0]
            if first < stop and end > start:
                cut = slice(max(start, first) - first, min(stop, end) - first)
                parts.append(get(path, number, wanted)[cut])
        return pa.concat_tables(parts) if parts else get(path, 0, wanted)[:0]


def _tile(when: Numbers, key: Numbers, room: int, n: Numbers, total: Numbers, shift: int) -> pa.Table:
    return pa.table(
        {
            "t": when << shift,
            "width": np.full(len(when), 1 << shift),
            "key": key // room - 1,
            "kind": key % room,
            "n": n,
            "total": total,
        }
    )


def _groups(path: Path, column: str) -> tuple[Group, ...]:
    """Return the row groups of a file, and one more that begins where it ends."""
    if column in ("t", "msg"):
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


def _group(path: Path, number: int, columns: tuple[str, ...] | None) -> pa.Table:
    """Return a row group, whole or only some columns of it."""
    with store.reading(path) as file:
        table = file.read_row_group(number, columns=None if columns is None else list(columns))
        return table.replace_schema_metadata(None)


def _us(time: int | str, where: str) -> int:
    """Return a moment of a run in microseconds; raises `BadValue` for what is none."""
    return time if isinstance(time, int) else duration(time, where)
