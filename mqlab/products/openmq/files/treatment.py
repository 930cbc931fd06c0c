"""What becomes of each property of a broker's file: played, kept, or told by `check`.

What the option rows name is played, or kept if its row says so. `elements.toml` says it of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

from mqlab.files import treatment as shared
from mqlab.files.treatment import Table, Told, Treatment
from mqlab.products.openmq.files.properties import Found, sources
from mqlab.spec.openmq_options import OPTIONS
from mqlab.spec.origin import Origin


@cache
def _table() -> Table:
    rows: dict[str, Treatment] = {
        row.guide: "kept" if row.kept else "played" for row in OPTIONS["broker"].values()
    }
    return Table.read(Path(__file__).with_name("elements.toml"), rows)


@lru_cache(maxsize=4096)
def treatment(key: str) -> Treatment:
    """Return what becomes of a property.

    >>> treatment("imq.autocreate.queue"), treatment("imq.log.level"), treatment("imq.system.max_count")
    ('played', 'kept', 'told')
    """
    return _table().treatment(key)


def told(file: Found) -> Iterator[Told]:
    """Yield what of a property file is not played."""
    for key, entry in file.entries.items():
        if treatment(key) == "told" and not _table().says_nothing(key, entry.value):
            yield Told(key, entry.line, _table().differs(key))


@lru_cache(maxsize=16)
def not_played(origin: Origin | None) -> dict[str, list[dict[str, str]]]:
    """Return what the header of a run says of the files it was read from; each trace asks."""
    found = sources(origin.files) if origin is not None else []
    return shared.not_played((one.broker or "cluster", one.file.name, told(one)) for one in found)
