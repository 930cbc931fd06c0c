"""A table that prints as text and shows as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


class Grid:
    """What has a `table()`; `hints` are what the heads of some columns say under the pointer."""

    hints: Mapping[str, str] = {}

    def table(self) -> list[list[str]]:
        """Return the table as text: the head, then the lines."""
        raise NotImplementedError

    def __str__(self) -> str:
        lines = self.table()
        widths = [max(len(line[no]) for line in lines) for no in range(len(lines[0]))]
        return "\n".join(
            "  ".join(cell.rjust(width) if no else cell.ljust(width)
                      for no, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
            for line in lines
        )  # fmt: skip

    def _repr_html_(self) -> str:
        head, *lines = self.table()
        heads = "".join(
            f'<th title="{escape(self.hints.get(c, ""))}">{escape(c)}</th>' for c in head
        )
        body = "".join(
            "<tr>" + "".join(f"<td{_side(cell)}>{escape(cell)}</td>" for cell in line) + "</tr>"
            for line in lines
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _side(cell: str) -> str:
    """Words begin at the left; numbers stay at the right, where JupyterLab puts all."""
    return "" if cell[:1].isdigit() or cell == "-" else ' style="text-align:left"'
