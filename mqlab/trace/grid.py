"""A table that prints as text and shows as HTML in a notebook."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from html import escape

from mqlab.spec.calls import Answering

_NUMBER = re.compile(r"-|\d+(\.\d+)?( m?s)?")


class TextTable(Answering, ABC):
    """What has a `table()`; `hints` are what the heads of some columns say under the pointer."""

    hints: Mapping[str, str] = {}
    empty = "the table is empty"  # what is said of a table without lines

    @abstractmethod
    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then the lines."""

    def __str__(self) -> str:
        lines = self.table()
        columns = [_column([line[no] for line in lines]) for no in range(len(lines[0]))]
        told = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
        return "\n".join([*told, *([self.empty] if len(lines) == 1 else [])])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head, *lines = self.table()
        if not lines:
            return f"<p>{escape(self.empty)}</p>"
        sides = [_side([line[no] for line in lines]) for no in range(len(head))]
        heads = "".join(
            f'<th title="{escape(self.hints.get(c, ""))}" style="text-align:{side}">{escape(c)}</th>'
            for c, side in zip(head, sides, strict=True)
        )
        body = "".join(
            f"<tr>{''.join(_cell(cell, side) for cell, side in zip(line, sides, strict=True))}</tr>"
            for line in lines
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _column(cells: list[str]) -> list[str]:
    """Return the cells of a column, its head first, all equally wide."""
    width = max(map(len, cells))
    return [cell.rjust(width) if _side(cells[1:]) == "right" else cell.ljust(width) for cell in cells]


def _side(column: list[str]) -> str:
    """Return where a column's cells stand: words begin at the left, numbers end at the right."""
    return "right" if all(map(_NUMBER.fullmatch, column)) else "left"


def _cell(text: str, side: str) -> str:
    return f'<td style="text-align:{side}">{escape(text)}</td>'
