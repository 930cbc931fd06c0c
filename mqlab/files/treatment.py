"""What becomes of each element and attribute of a configuration file: played, kept, or told by `check`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

Treatment = Literal["played", "kept", "told"]
NOT_PLAYED = "mqlab runs as if it were not there"


@dataclass(frozen=True, slots=True)
class Told:
    """An element or attribute that is not played: its path in the broker, its line, what might differ."""

    path: str
    line: int
    differs: str


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
        for pattern, kind in self.kinds.items():
            # of an element of a policy that no row names the structure would say that it is read
            deep = pattern.startswith("ha-policy/") and pattern.endswith("/*")
            if fnmatchcase(path, pattern) and not (deep and path.count("/") > pattern.count("/")):
                return kind
        return "told"

    def differs(self, path: str) -> str:
        """Return what might differ where something is not played."""
        return next((text for pattern, text in self.texts.items() if fnmatchcase(path, pattern)), NOT_PLAYED)
