"""How a pyramid begins and ends, whoever counts: how wide its buckets are, and when it takes its place."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mqlab.errors import BadFile, BadValue
from mqlab.replay import cells, owner, store
from mqlab.spec.json_types import JsonObject
from mqlab.spec.plural import counted

BUCKET_EVENTS = 32_768
Rows = dict[tuple[int, str], tuple[int, int]]  # (level, marginal) -> rows, events


@dataclass(frozen=True, slots=True)
class Pyramid:
    """What was built: `levels`, the width of the finest bucket (us), and how many rows."""

    folder: Path
    levels: int
    bucket: int
    events: int
    rows: int


def units(folder: Path, files: Sequence[JsonObject]) -> list[tuple[str, int]]:
    """Return every row group of event files as (file, number), after a look at each footer."""
    found = []
    for file in files:
        path = (folder / file["name"]).resolve()
        store.check(path)
        with store.reading(path) as opened:
            found += [(str(path), number) for number in range(opened.num_row_groups)]
    return found


def shape(manifest: JsonObject, wanted: int | None = None, least: int = 0) -> cells.Shape:
    """Return the shape for a trace with so many events a finest bucket, and no narrower than 2**least us."""
    events = manifest["events"]
    if not events:
        raise BadFile("the trace has no events")
    if wanted is not None and wanted < 1:
        raise BadValue(f"bucket_events {wanted}; expected 1 or more")
    first, last = manifest["files"][0]["t0"], manifest["files"][-1]["t1"]
    buckets = max(1, events // (wanted or min(BUCKET_EVENTS, max(64, events // 256))))
    shift = max(least, ((last - first) // buckets).bit_length())
    levels = ((last >> shift) - (first >> shift)).bit_length() + 1
    return cells.Shape(shift, levels, cells.queues(manifest["names"]["dest"]))


def made(
    folder: Path,
    manifest: JsonObject,
    of: cells.Shape,
    count: Callable[[Path], Rows],
    out: str | Path | None = None,
) -> Pyramid:
    """Let *count* write a pyramid to a new folder, check it and switch to it; a failed one leaves nothing."""
    name = f"pyramid-{uuid.uuid4().hex[:8]}"
    target = (Path(out) / name if out else folder / name).resolve()
    owner.clear(target.parent, "pyramid-*")
    owner.claim(target)
    try:
        written = count(target)
        shutil.rmtree(target / "parts")
        _check(written, manifest, folder)
        owner.release(target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    store.switch(
        folder,
        {
            "folder": str(target) if out else name,
            "form": cells.FORM,
            "levels": of.levels,
            "shift": of.shift,
            "events": manifest["events"],
            "of": len(manifest["files"]),
            "files": sorted({marginal for _, marginal in written}),
        },
        store.PYRAMID,
    )
    total = sum(number for number, _ in written.values())
    return Pyramid(target, of.levels, 1 << of.shift, manifest["events"], total)


def _check(written: Rows, manifest: JsonObject, folder: Path) -> None:
    """Raise `BadFile` unless every level has every event, and the trace is what it was."""
    for (level, marginal), (_, events) in written.items():
        if marginal in ("link", "broker", "dest") and events != manifest["events"]:
            raise BadFile(
                f"{folder}: its files hold {counted(events, 'event')} by {marginal} at level {level}, "
                f"its manifest says {manifest['events']}"
            )
    known = manifest["files"]
    if store.manifest(folder)["files"][: len(known)] != known:  # more may have come
        raise BadFile(f"{folder}: the trace was rewritten in the meantime; rebuild the pyramid")
