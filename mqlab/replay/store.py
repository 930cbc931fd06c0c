"""A long trace on disk: a folder of event files, sorted and disjoint in time, and a manifest.

    run/manifest.json           header, names, files with their first and last time
    run/events/000000.parquet   up to 4 million events each
    run/pyramid-<id>/...        see `pyramid`
    run/pyramid.json            which pyramid it is, and what it counts

Nothing is overwritten: what is new is written beside, then a small file is switched. There are two of these,
since a run that goes on writes one while its pyramid grows.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mqlab.errors import BadFile, BadValue
from mqlab.replay import owner
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.plural import counted
from mqlab.trace import parquet, tables
from mqlab.trace.columns import FORMAT
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from types import ModuleType

    import pyarrow as pa

    from mqlab.trace.columns import Numbers

EVENTS_PER_FILE = 4_000_000
BYTES = 12  # of an event on disk, at most
BLOCK = 8  # log2 of how many message numbers are told apart, at least
MOST_RUNS = 64  # of message numbers in a row group
MANIFEST = "manifest.json"
PYRAMID = "pyramid.json"


def write(trace: Trace, folder: str | Path) -> Path:
    """Write *trace* to a folder that does not hold one yet; raises `BadFile` if it does."""
    table = parquet.table_of(trace)
    parts = (table.slice(at, EVENTS_PER_FILE) for at in range(0, len(trace), EVENTS_PER_FILE))
    return write_parts(parts, trace.header, trace.names, folder)


def write_parts(
    parts: Iterator[object],
    header: dict[str, object],
    names: dict[str, list[str]],
    folder: str | Path,
) -> Path:
    """Write tables of events that follow each other in time."""
    writer = Writer(Path(folder))
    for table in parts:
        writer.add(table)
    writer.end(header, names)
    return writer.folder


class Writer:
    """Writes a trace folder table by table; raises `BadFile` for a folder that has a trace, or a full disk.

    With `end(..., grows=True)` in between, the folder can be read while it grows.
    """

    def __init__(self, folder: Path) -> None:
        _clear(folder)
        self.folder, self.count = folder, 0
        self.files: list[dict[str, object]] = []
        (folder / "events").mkdir(parents=True, exist_ok=True)

    def add(self, table: pa.Table) -> None:
        """Write one file; raises `BadValue` for events that do not follow those before."""
        if not table.num_rows:
            return
        times = table.column("t")
        if not _in_order(times) or (self.files and times[0].as_py() < self.files[-1]["t1"]):
            raise BadValue(f"{self.folder}: events must be sorted by time")
        self._check_room(table.num_rows)
        name = f"events/{len(self.files):06d}.parquet"
        parquet.write(table, self.folder / name)
        self.files.append(
            {
                "name": name,
                "events": table.num_rows,
                "first_row": self.count,
                "t0": times[0].as_py(),
                "t1": times[-1].as_py(),
                "messages": messages_of(table),
            }
        )
        self.count += table.num_rows

    def _check_room(self, rows: int) -> None:
        """Raise `BadFile` unless the disk has room for a file, and a quarter more."""
        free, needed = shutil.disk_usage(self.folder).free, int(rows * BYTES * 1.25)
        if free < needed:
            raise BadFile(
                f"{self.folder}: the next file needs {needed >> 20} MB, {free >> 20} MB are free; "
                f"what was written before it is kept ({counted(self.count, 'event')})"
            )

    def end(self, header: JsonDict, names: Mapping[str, list[str]], grows: bool = False) -> None:
        """Switch to a manifest of what is there; *grows* says that more will come."""
        switch(
            self.folder,
            {
                "format": FORMAT,
                "header": header,
                "names": names,
                "events": self.count,
                "files": self.files,
                "grows": grows,
                "writer": owner.here() if grows else None,
            },
        )

    def stop(self, error: BaseException) -> None:
        """Let nobody wait for more: the manifest says by what error the run was `ended`."""
        why = f"{type(error).__name__}: {error}".removesuffix(": ")
        if (self.folder / MANIFEST).exists():
            told = manifest(self.folder)
            switch(self.folder, {**told, "grows": False, "writer": None, "ended": why})


def goes_on(manifest: JsonObject) -> bool:
    """Whether a run is still writing, as far as can be told: one that was killed says no word of it."""
    return bool(manifest.get("grows")) and not owner.gone(manifest.get("writer"))


def _clear(folder: Path) -> None:
    """Remove what a killed run has left in a folder; raises `BadFile` for one that has a trace."""
    try:
        known = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        left = bool(known.get("grows")) and not goes_on(known)
    except FileNotFoundError:
        left = True
    except (OSError, ValueError, AttributeError):  # whatever it is, it is not ours to remove
        left = False
    if not left:
        raise BadFile(f"{folder}: already contains a trace; choose a new folder")
    for path in [
        *folder.glob("events/*.parquet"),
        *folder.glob("events/.*.parquet.*.tmp"),
        *folder.glob(".*.json.*"),
        folder / PYRAMID,
        folder / MANIFEST,
    ]:
        path.unlink(missing_ok=True)
    # What was made of files that are there no more, and parts that were never put together.
    for built in (*folder.glob("pyramid-*"), *folder.glob("parts-*")):
        shutil.rmtree(built)


def messages_of(table: pa.Table) -> list[list[int]]:
    """Return which messages each row group of a file has: the first and last numbers of runs of them.

    The least and the greatest say nothing where several producers send at once: to find one message among
    3 x 10^7 events took 350 ms, all row groups being read for it, and takes 15. A run has gaps, too.
    """
    import numpy as np

    numbers = table.column("msg").to_numpy()
    groups = (numbers[at : at + parquet.GROUP] for at in range(0, len(numbers), parquet.GROUP))
    return [_runs(group[group >= 0], np) for group in groups]


def _runs(numbers: Numbers, np: ModuleType) -> list[int]:
    if not len(numbers):
        return []
    low, shift = int(numbers.min()), BLOCK
    seen = np.zeros((int(numbers.max()) - low >> shift) + 1, bool)
    seen[numbers - low >> shift] = True
    blocks = np.flatnonzero(seen)
    while (breaks := np.flatnonzero(np.diff(blocks) > 1)).size >= MOST_RUNS:
        blocks, shift = np.unique(blocks >> 1), shift + 1
    first, last = blocks[[0, *(breaks + 1)]], blocks[[*breaks, -1]]
    ends = zip(low + (first << shift), low + (last + 1 << shift) - 1, strict=True)
    return [int(end) for both in ends for end in both]


def has_message(runs: Sequence[int], message: int) -> bool:
    """Whether a row group may have a message, as `messages_of` says."""
    place = bisect_left(runs, message)
    return place % 2 == 1 or (place < len(runs) and runs[place] == message)


def _in_order(times: pa.ChunkedArray) -> bool:
    import numpy as np

    return bool((np.diff(times.to_numpy()) >= 0).all())


def manifest(folder: Path) -> JsonDict:
    """Return the manifest of a trace folder; raises `BadFile`."""
    try:
        value: dict[str, object] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = ", so not a trace folder" if isinstance(error, FileNotFoundError) else f" ({error})"
        raise BadFile(f"{folder}: no readable {MANIFEST}{why}; write one with mqlab.replay.write") from None
    if value.get("format") != FORMAT:
        raise BadFile(f"{folder}: {parquet.other_format(value.get('format'))}")
    return value


def switch(folder: Path, value: dict[str, object], name: str = MANIFEST) -> None:
    """Put a new manifest in the place of the old one, at once."""
    beside = folder / f".{name}.{os.getpid()}-{threading.get_ident()}"
    beside.write_text(json.dumps(value, sort_keys=True), encoding="utf-8")
    os.replace(beside, folder / name)


def pyramid(folder: Path) -> JsonDict | None:
    """Return what is known of a folder's pyramid, None where there is none; raises `BadFile`."""
    try:
        value: dict[str, object] = json.loads((folder / PYRAMID).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadFile(f"{folder}: {PYRAMID} cannot be read; rebuild the pyramid ({error})") from None
    return value


@contextmanager
def reading(path: Path) -> Iterator[pa.parquet.ParquetFile]:
    """Open an event or pyramid file; what is damaged in it, to the last page, is a `BadFile`."""
    pa = tables.arrow()
    try:
        with pa.parquet.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except (OSError, pa.ArrowInvalid) as error:
        raise BadFile(f"{path}: damaged file: {' '.join(str(error).split())}") from None


def check(path: Path, events: int | None = None) -> None:
    """Raise `BadFile` if an event file is damaged, of another shape or length; Spark would not say so."""
    pa = tables.arrow()
    try:
        found = pa.parquet.read_metadata(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise BadFile(f"{path}: damaged event file: {' '.join(str(error).split())}") from None
    parquet.check(found.schema.to_arrow_schema(), str(path))
    if events is not None and found.num_rows != events:
        raise BadFile(
            f"{path}: {counted(found.num_rows, 'event')}, and the manifest says {events}: the file does not "
            "match its manifest; restore it from the original folder"
        )
