"""What becomes of each element and attribute of a configuration file: played, kept, or told by `check`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from mqlab.spec.plural import counted

Treatment = Literal["played", "kept", "told"]
NOT_PLAYED = "mqlab runs as if it were not there"


@dataclass(frozen=True, slots=True)
class Told:
    """An element or attribute that is not played: its path in the broker, its line, what might differ."""

    path: str
    line: int
    differs: str


def once(told: Iterable[Told]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each path once: its first line, and the facts that a rule of `check` names."""
    found: dict[str, list[Told]] = {}
    for one in told:
        found.setdefault(one.path, []).append(one)
    for path, ones in found.items():
        more = f" ({len(ones)} times in this file)" if len(ones) > 1 else ""
        yield ones[0].line, {"path": path, "differs": ones[0].differs, "more": more}


def not_played(told: Iterable[tuple[str, str, Iterable[Told]]]) -> dict[str, list[dict[str, str]]]:
    """Return what the header of a run says of the brokers whose files have something that is not played."""
    rows = []
    for name, file, ones in told:
        number = len({one.path for one in ones})
        if number:
            why = f"{counted(number, 'element')} of {file} not played: check names them"
            rows.append({"what": f"Broker {name}", "why": why})
    return {"not_played": rows} if rows else {}


@dataclass(frozen=True)
class Table:
    """Pattern -> what becomes of it, first match first, and pattern -> what might differ."""

    kinds: Mapping[str, Treatment]
    texts: Mapping[str, str]

    @staticmethod
    def read(file: Path, rows: Mapping[str, Treatment]) -> Table:
        """Return the table of a file, behind what option rows name."""
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        kinds: dict[str, Treatment] = dict(rows)
        for kind in ("kept", "played"):
            kinds |= {pattern: kind for pattern in given[kind] if pattern not in rows}
        return Table(kinds, given["told"])

    def treatment(self, path: str) -> Treatment:
        """Return what becomes of an element or attribute; what no pattern means is told."""
        return next((kind for pattern, kind in self.kinds.items() if fnmatchcase(path, pattern)), "told")

    def differs(self, path: str) -> str:
        """Return what might differ where something is not played."""
        return next((text for pattern, text in self.texts.items() if fnmatchcase(path, pattern)), NOT_PLAYED)
