"""A problem: what a real broker accepts, and what loses, strands or doubles messages."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. `level` is "error" (messages are lost or strand) or "warning".

    `where` names broker and connector, `what` says what will happen, `remedy` what to write.
    """

    rule: str
    level: str
    where: str
    what: str
    remedy: str
    source: str

    def __str__(self) -> str:
        return f"{self.level}: {self.where}: {self.what}; {self.remedy} [{self.source}]"
