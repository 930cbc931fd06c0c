"""What becomes of each element and attribute of a configuration file: played, kept, or told by `check`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from mqlab.files.markup import Element, text_of
from mqlab.spec.option import bytes_of
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


def not_played(told: Iterable[tuple[str, str, Iterable[Told]]]) -> list[dict[str, str]]:
    """Return what the header of a run says of the brokers whose files have something that is not played."""
    rows = []
    for name, file, ones in told:
        number = len({one.path for one in ones})
        if number:
            why = f"{counted(number, 'element')} of {file} not played: check names them"
            rows.append({"what": f"Broker {name}", "why": why})
    return rows


def _expression(pattern: str) -> str:
    inside = pattern.removeprefix("*/")
    anywhere = "" if inside == pattern else "(?:.*/)?"
    return anywhere + "[^/@]*".join(map(re.escape, inside.split("*")))


@dataclass(frozen=True, slots=True)
class IdleWhile:
    """When something has no effect: while all elements of a path, or attributes, have one of these texts.

    `missing` says whether it has none, either, where the file has no such element or attribute.
    """

    where: str
    values: tuple[str, ...]
    missing: bool

    def holds(self, root: Element) -> bool:
        """Whether that is so in a file."""
        path, _, name = self.where.partition("@")
        found = root.below(*path.split("/"))
        there = [one.attributes.get(name) if name else text_of(one) for one in found]
        there = [text for text in there if text is not None]
        return all(text in self.values for text in there) and (bool(there) or self.missing)


@dataclass(frozen=True)
class Table:
    """Pattern -> what becomes of it, first match first, and pattern -> what might differ.

    What is `exactly` played is one element or attribute: there a ``*`` is no more than a part of its name, but
    for the one that begins a pattern. `same` has the values that say what the lab does anyway, `idle` when
    something has no effect.
    """

    kinds: Mapping[str, Treatment]
    exactly: re.Pattern[str]
    texts: Mapping[str, str]
    same: Mapping[str, frozenset[str]]
    idle: Mapping[str, IdleWhile]

    @staticmethod
    def read(file: Path, rows: Mapping[str, Treatment]) -> Table:
        """Return the table of a file, behind what option rows name."""
        given = tomllib.loads(file.read_text(encoding="utf-8"))
        kinds: dict[str, Treatment] = dict(rows)
        kinds |= {pattern: "kept" for pattern in given["kept"] if pattern not in rows}
        exactly = re.compile("|".join(_expression(pattern) for pattern in given["played"]))
        same = {
            pattern: frozenset(bytes_of(one).lower() for one in text.split("|"))
            for pattern, text in given.get("same", {}).items()
        }
        idle = {
            pattern: IdleWhile(when["where"], tuple(when["is"].split("|")), when["missing"])
            for pattern, when in given.get("idle", {}).items()
        }
        return Table(kinds, exactly, given["told"], same, idle)

    def treatment(self, path: str) -> Treatment:
        """Return what becomes of an element or attribute; what no pattern means is told."""
        named = next((kind for pattern, kind in self.kinds.items() if fnmatchcase(path, pattern)), None)
        return named or ("played" if self.exactly.fullmatch(path) else "told")

    def says_nothing(self, path: str, value: str, root: Element | None = None) -> bool:
        """Whether a value is what the lab does anyway, or has no effect in the file of a root."""
        plain = bytes_of(value.strip()).lower()
        if any(fnmatchcase(path, pattern) and plain in same for pattern, same in self.same.items()):
            return True
        return root is not None and any(
            fnmatchcase(path, pattern) and idle.holds(root) for pattern, idle in self.idle.items()
        )

    def options(self, path: str, names: Iterable[str], line: int) -> Iterator[Told]:
        """Yield the options of an address that are not played; its element or attribute has that path."""
        places = (f"{path}?{name}" for name in names)
        return (Told(at, line, self.differs(at)) for at in places if self.treatment(at) == "told")

    def differs(self, path: str) -> str:
        """Return what might differ where something is not played."""
        return next((text for pattern, text in self.texts.items() if fnmatchcase(path, pattern)), NOT_PLAYED)

    def around(self, root: Element, own: Element) -> Iterator[Told]:
        """Yield what stands in a file beside the element of a broker, and is not kept."""
        for child in root.children if root is not own else ():
            path = f"{root.name}/{child.name}"
            value = child.attributes.get("resource", "")
            inside = any(one.name == own.name and one.namespace == own.namespace for one in child.walk())
            if not inside and self.treatment(path) == "told" and not self.says_nothing(path, value, own):
                yield Told(path, child.line, self.differs(path))
