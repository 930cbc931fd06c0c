"""A long trace on disk: a folder of event files, sorted and disjoint in time, and a manifest.

    run/manifest.json           header, names, files with their first and last time, the pyramid
    run/events/000000.parquet   up to 4 million events each
    run/pyramid-<id>/...        see `pyramid`

Nothing is overwritten: what is new is written beside, then the manifest is switched.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mqlab.errors import BadFile, BadValue
from mqlab.trace import parquet, tables
from mqlab.trace.columns import COLUMNS, FORMAT
from mqlab.trace.trace import Trace

EVENTS_PER_FILE = 4_000_000
MANIFEST = "manifest.json"


def write(trace: Trace, folder: str | Path) -> Path:
    """Write *trace* to a folder that does not hold one yet; raises `BadFile` if it does."""
    table = parquet.table_of(trace)
    parts = (table.slice(at, EVENTS_PER_FILE) for at in range(0, len(trace), EVENTS_PER_FILE))
    return write_parts(parts, trace.header, trace.names, folder)


def write_parts(
    parts: Iterator[Any], header: dict[str, Any], names: dict[str, list[str]], folder: str | Path
) -> Path:
    """Write tables of events that follow each other in time."""
    folder = Path(folder)
    if (folder / MANIFEST).exists():
        raise BadFile(f"{folder}: there is a trace already; choose a new folder")
    (folder / "events").mkdir(parents=True, exist_ok=True)
    files: list[dict[str, object]] = []
    count = 0
    for number, table in enumerate(parts):
        name = f"events/{number:06d}.parquet"
        times = table.column("t")
        if not _in_order(times) or (files and times[0].as_py() < files[-1]["t1"]):
            raise BadValue(f"{folder}: events must come in the order of time; sort them first")
        parquet.write(table, folder / name)
        files.append({"name": name, "events": table.num_rows, "first_row": count,
                      "t0": times[0].as_py(), "t1": times[-1].as_py()})  # fmt: skip
        count += table.num_rows
    switch(folder, {"format": FORMAT, "header": header, "names": names, "events": count,
                    "files": files, "pyramid": None})  # fmt: skip
    return folder


def _in_order(times: Any) -> bool:
    """Whether a column of times never falls."""
    import numpy as np

    return bool((np.diff(times.to_numpy()) >= 0).all())


def manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a trace folder; raises `BadFile`."""
    try:
        value: dict[str, object] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadFile(f"{folder}: no readable {MANIFEST}; write one with mqlab.replay.write "
                      f"({error})") from None  # fmt: skip
    if value.get("format") != FORMAT:
        raise BadFile(f"{folder}: trace format {value.get('format')}; this mqlab reads {FORMAT}")
    return value


def switch(folder: Path, value: dict[str, object]) -> None:
    """Put a new manifest in the place of the old one, at once."""
    beside = folder / f".{MANIFEST}.{os.getpid()}"
    beside.write_text(json.dumps(value, sort_keys=True), encoding="utf-8")
    os.replace(beside, folder / MANIFEST)


@contextmanager
def reading(path: Path) -> Iterator[Any]:
    """Open an event or pyramid file; what is damaged in it, to the last page, is a `BadFile`."""
    pa = tables.arrow()
    try:
        with pa.parquet.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except (OSError, pa.ArrowInvalid) as error:
        raise BadFile(f"{path}: damaged file: {' '.join(str(error).split())}") from None


def check(path: Path) -> None:
    """Raise `BadFile` if an event file is damaged or of another shape; Spark would not say so."""
    pa = tables.arrow()
    try:
        found = pa.parquet.read_schema(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise BadFile(f"{path}: damaged event file: {' '.join(str(error).split())}") from None
    wanted = {field.name: field.type for field in parquet.schema()}
    given = {field.name: field.type for field in found}
    if wanted != given:
        raise BadFile(f"{path}: not an event file; its columns are {', '.join(given)}, "
                      f"they must be {', '.join(COLUMNS)}")  # fmt: skip
