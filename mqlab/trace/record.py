"""The one place that appends to a trace."""

from __future__ import annotations

from array import array

from mqlab.trace.trace import COLUMNS, Names, Trace

WIDTH = len(COLUMNS)


class Recorder:
    """Rows of integers, one behind the other in a single array, and the names they point to.

    One flat `array` is the cheapest thing to append to in plain Python (measured against a
    column each and against a list of tuples); `trace()` takes it apart into columns.
    """

    def __init__(self) -> None:
        self.rows = array("q")
        self.count = 0
        self.names = Names()

    def add(
        self, t: int, kind: int, msg: int = -1, broker: int = -1, frm: int = -1, to: int = -1,
        link: int = -1, dest: int = -1, sub: int = -1, hop: int = 0, age: int = 0,
        rule: int = 0, cause: int = -1,
    ) -> int:  # fmt: skip
        """Append one event and return its row number, which later events name as their cause."""
        self.rows.extend((t, kind, msg, broker, frm, to, link, dest, sub, hop, age, rule, cause))
        row = self.count
        self.count = row + 1
        return row

    def trace(self, header: dict[str, object]) -> Trace:
        """Return all that was recorded so far as a trace of its own."""
        columns = {
            name: array(code, self.rows[place::WIDTH])
            for place, (name, code) in enumerate(COLUMNS.items())
        }
        return Trace(header, self.names.copy(), columns)
