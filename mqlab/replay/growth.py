"""A run that is still going on: its pyramid grows with it, without Spark.

What is counted already is not read again. The finest cells of the old pyramid are one stretch of time, those
of the new files the next; they are joined as the stretches of two tasks are, and every level is written from
them. As the run gets longer, buckets get wider: then the old cells are those of a coarser level.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from mqlab.replay import cells, entry, levels, store
from mqlab.replay.tiles import PyramidReader

EVERY = 0.5  # seconds between two looks
PATIENCE = 20.0  # seconds that a run in another thread or process may take to begin


def extend(folder: str | Path) -> PyramidReader:
    """Count the files of a trace folder that its pyramid does not count yet; see `mqlab.replay.extend`."""
    folder = Path(folder)
    manifest, old = store.manifest(folder), store.pyramid(folder)
    if old is not None and old.get("form") != cells.FORM:
        old = None
    if not manifest["files"] or (old and old["of"] >= len(manifest["files"])):
        return PyramidReader(folder, manifest)
    new = entry.shape(manifest, least=old["shift"] if old else 0)
    units = entry.units(folder, manifest["files"][old["of"] if old else 0 :])

    def count(target: Path) -> entry.Rows:
        if old:
            carried = levels.carry(folder / old["folder"], old, new)
            levels.leave(carried, new, target, 0)
        levels.leave(cells.count(units, new), new, target, 1)
        return levels.write(2, new, target)

    entry.made(folder, manifest, new, count)
    return PyramidReader(folder, manifest)


def follow(
    folder: str | Path, every: float = EVERY, until: threading.Event | None = None
) -> Iterator[PyramidReader]:
    """Yield the tiles of a run each time it has written more, *until* is set; see `mqlab.replay.follow`."""
    until = until or threading.Event()
    folder, seen, mine = Path(folder), -1, list[Path]()
    _await(folder)
    while not until.is_set():
        tiles = extend(folder)
        if tiles.levels and tiles.pyramid not in mine:
            mine.append(tiles.pyramid)
        if tiles.events_count != seen or not tiles.grows:
            seen = tiles.events_count
            yield tiles
        if not tiles.grows:
            return
        for path in mine[:-2]:  # whoever has the last one but one open still reads it
            shutil.rmtree(path, ignore_errors=True)
        del mine[:-2]
        until.wait(every)


def _await(folder: Path) -> None:
    """Wait a moment for a run to begin; raises `BadFile` where none does."""
    end = time.monotonic() + PATIENCE
    while not (folder / store.MANIFEST).exists() and time.monotonic() < end:
        time.sleep(EVERY / 10)
    store.manifest(folder)
