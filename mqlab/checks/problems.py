"""The problems that `check` finds, as a list and as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mqlab.spec.change import Change
from mqlab.spec.problem import Problem
from mqlab.trace.grid import TextTable


class Problems(TextTable, list[Problem]):
    """Problems in a list: prints one a line, shows as a table in a notebook.

    `changes` are single changes of an option that take one of them away: `changes[0].apply(net)`.
    """

    empty = "No problems found."

    def __init__(
        self, found: Iterable[Problem] = (), fixes: Callable[[], tuple[Change, ...]] | None = None
    ) -> None:
        super().__init__(found)
        self._fixes = fixes

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes, found by trying them: a second for a network of twenty brokers."""
        return () if self._fixes is None else self._fixes()

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then one line per problem."""
        lines = [[p.level, p.place, p.what, p.remedy, p.source] for p in self]
        return [["", "where", "problem", "fix", "source"], *lines]

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or self.empty

    __repr__ = __str__
