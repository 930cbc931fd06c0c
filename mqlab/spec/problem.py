"""A problem: what a real broker accepts, and what loses, strands or doubles messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. `level` is "error" (messages are lost or strand) or "warning".

    `where` names broker and connector, `what` says what will happen, `remedy` what to write. For what was
    read from files, `file` and `line` say where that is written (else there is none: 0).
    """

    rule: str
    level: str
    where: str
    what: str
    remedy: str
    source: str
    file: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        """Where it is, with file and line if there are any."""
        return f"{self.file}:{self.line}: {self.where}" if self.file else self.where

    def __str__(self) -> str:
        return f"{self.level}: {self.place}: {self.what}; {self.remedy} [{self.source}]"
