"""One trace of several that were played by themselves: parts of a run that have nothing to do with each other.

All parts begin with the same events, those of the network's start; they are there once. The others come in
the order of time, those of one time in the order of the parts; each part's own keep their order. Messages are
numbered as in the whole run, names in the order in which events mention them. Nothing but a batch of each
part is held in memory: which row of the whole each row of a part has become is in a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mqlab.errors import BadValue, CannotRun
from mqlab.replay import store
from mqlab.replay.long import ROWS
from mqlab.trace import parquet
from mqlab.trace.columns import COLUMNS, Names
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.replay.cells import Columns
    from mqlab.trace.columns import Numbers

BATCH = 1 << 16  # rows of a part that are read at a time
OF_NODE = ("broker", "frm", "to")
TABLES = {"node": OF_NODE, "link": ("link",), "dest": ("dest",), "sub": ("sub",)}
BESIDE = {"node": ("node_role", "node_home"), "link": ("link_from", "link_to")}
UNMET = -2  # the number of a name that no event has mentioned yet


class Part:
    """The events of one part, of which `head` holds what is read and not yet passed on.

    `numbers` is the number in the whole run of each of its messages, by its number in the part.
    """

    def __init__(self, folder: Path, start: Trace, numbers: object) -> None:
        self.folder, self.manifest = folder, store.manifest(folder)
        self.names: dict[str, list[str]] = self.manifest["names"]
        self.numbers = np.concatenate([[0], numbers, [-1]])  # the last is that of none
        self.rows = np.memmap(folder / "rows", np.int32, "w+", shape=(self.manifest["events"],))
        self.rows[: len(start)] = np.arange(len(start))
        self.done = len(start)
        self.batches = self._read()
        self.head: Columns = {name: np.empty(0, code) for name, code in COLUMNS.items()}
        self.over = False
        while not self.over and len(self.head["t"]) < len(start):
            self.more()
        begun = self.take(len(start))
        if any((begun[name] != np.asarray(start.column(name))).any() for name in COLUMNS):
            raise CannotRun(f"{folder}: a part of the run began differently from the whole")

    def _read(self) -> Iterator[Columns]:
        for file in self.manifest["files"]:
            with store.reading(self.folder / file["name"]) as opened:
                for batch in opened.iter_batches(batch_size=BATCH):
                    yield {name: batch.column(name).to_numpy() for name in COLUMNS}

    def more(self) -> None:
        """Read a batch."""
        batch = next(self.batches, None)
        self.over = batch is None
        if batch is not None:
            self.head = {n: np.concatenate([self.head[n], batch[n]]) for n in COLUMNS}

    def take(self, count: int) -> Columns:
        """Return the first rows of the head, which it has no more."""
        taken = {name: column[:count] for name, column in self.head.items()}
        self.head = {name: column[count:] for name, column in self.head.items()}
        return taken

    def number(self, rows: Columns, places: Numbers) -> None:
        """Give the next rows, which have these *places* in the whole, the numbers that they have there."""
        if (rows["dest"] < 0).any():
            raise CannotRun(f"{self.folder}: an event without a destination occurred in a part of the run")
        self.rows[self.done : self.done + len(places)] = places
        self.done += len(places)
        rows["cause"] = np.where(rows["cause"] < 0, -1, self.rows[rows["cause"]])
        rows["msg"] = self.numbers[rows["msg"]]


class Places:
    """Which number in the whole each name of a table has: for each part that of none, then of its names.

    What the start has named has the same number in all parts. Destinations are the same if they are called
    the same; a client, a subscription is a part's own.
    """

    def __init__(self, parts: Sequence[Part], table: str, names: Names) -> None:
        self.parts, self.table, self.names = parts, table, names
        common = len(names[table])
        sizes = [1 + len(part.names[table]) for part in parts]
        self.begins = np.cumsum([1, *sizes])[:-1]  # of names: that of none is before it
        self.places = np.full(sum(sizes), UNMET, np.int64)
        for begin in self.begins:
            self.places[begin - 1 : begin + common] = np.arange(-1, common)
        self.known = {text: no for no, text in enumerate(names[table])}

    def of(self, numbers: Numbers, parts: Numbers) -> Numbers:
        """Return the numbers in the whole of those in rows of *parts*."""
        where = self.begins[parts][:, None] + numbers
        found = self.places[where]
        if (found == UNMET).any():
            met, first = np.unique(where[found == UNMET], return_index=True)
            for place in met[np.argsort(first)]:
                self.places[place] = self._meet(int(place))
            found = self.places[where]
        return found

    def _meet(self, place: int) -> int:
        """Return the number of a name that is met for the first time."""
        part = int(np.searchsorted(self.begins, place, "right")) - 1
        names, number = self.parts[part].names, place - self.begins[part]
        text = names[self.table][number]
        if self.table != "dest" or text not in self.known:
            self.known[text] = len(self.names[self.table])
            for table in (self.table, *BESIDE.get(self.table, ())):
                self.names[table].append(names[table][number])
        return self.known[text]


class Merge:
    """Makes a trace folder of parts."""

    def __init__(self, parts: Sequence[Part], start: Trace, writer: store.Writer) -> None:
        self.parts, self.writer = parts, writer
        self.names = Names(start.names)
        self.places = {table: Places(parts, table, self.names) for table in TABLES}
        self.count = len(start)
        self.kept = [{name: np.asarray(start.column(name)) for name in COLUMNS}]

    def run(self) -> None:
        """Write all events in order; while a file is written, the next one is merged."""
        with ThreadPoolExecutor(1) as thread:
            written = thread.submit(lambda: None)
            while any(not part.over or len(part.head["t"]) for part in self.parts):
                self._pass_on(self._ready())
                if sum(len(kept["t"]) for kept in self.kept) >= ROWS:
                    written.result()  # one at a time, so that memory does not grow
                    kept, self.kept = self.kept, []
                    written = thread.submit(self._write, kept)
            written.result()
        if self.kept:
            self._write(self.kept)

    def _ready(self) -> list[int]:
        """Return how many rows of each part come before all that is not read yet."""
        for part in self.parts:
            times = part.head["t"]
            while not part.over and (not len(times) or times[0] == times[-1]):
                part.more()
                times = part.head["t"]
        ends = [part.head["t"][-1] for part in self.parts if not part.over]
        end = min(ends, default=np.iinfo(np.int64).max)
        return [int(np.searchsorted(part.head["t"], end)) for part in self.parts]

    def _pass_on(self, counts: list[int]) -> None:
        """Put so many rows of each part in order, and say what their numbers are in the whole."""
        taken = [part.take(count) for part, count in zip(self.parts, counts, strict=True)]
        order = np.argsort(np.concatenate([rows["t"] for rows in taken]), kind="stable")
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(self.count, self.count + len(order), dtype=np.int32)
        ends = np.cumsum(counts)
        for part, rows, begin, end in zip(self.parts, taken, ends - counts, ends, strict=True):
            part.number(rows, place[begin:end])
        whole = {name: np.concatenate([rows[name] for rows in taken])[order] for name in COLUMNS}
        of = np.repeat(np.arange(len(counts)), counts)[order]
        for table, columns in TABLES.items():
            numbers = np.stack([whole[name] for name in columns], axis=1)
            for name, found in zip(columns, self.places[table].of(numbers, of).T, strict=True):
                whole[name] = found
        self.kept.append(whole)
        self.count += len(order)

    def _write(self, kept: Sequence[Columns]) -> None:
        columns = {}
        for name, code in COLUMNS.items():
            whole = np.concatenate([rows[name] for rows in kept])
            columns[name] = np.ascontiguousarray(whole, code)
            if (columns[name] != whole).any():
                raise BadValue(f"the run is too large to be stored as one trace: column {name!r}")
        self.writer.add(parquet.as_table(columns))

    def header(self, scenario: Mapping[str, object]) -> dict[str, object]:
        """Return the header of the whole: that of any part, with what each tells of its own events."""
        headers = [part.manifest["header"] for part in self.parts]
        told = {**headers[0], "scenario": dict(scenario)}
        told["problems"] = [problem for header in headers for problem in header["problems"]]
        details = [
            (int(part.rows[row]), detail)
            for part, header in zip(self.parts, headers, strict=True)
            for row, detail in header.get("details", ())
        ]
        once = dict(details)  # those of the start are in all parts
        return told | ({"details": [[row, once[row]] for row in sorted(once)]} if once else {})
