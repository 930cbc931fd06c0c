"""The problems that `check` finds, as a list and as a table."""

from __future__ import annotations

from mqlab.spec.problem import Problem
from mqlab.trace.grid import TextTable


class Problems(TextTable, list[Problem]):
    """Problems in a list: prints one a line, shows as a table in a notebook."""

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then one line per problem."""
        lines = [[p.level, p.place, p.what, p.remedy, p.source] for p in self]
        return [["", "where", "problem", "fix", "source"], *lines]

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "No problems found."

    __repr__ = __str__
