"""Tables by key in numpy: how often each came, and which of its rows was the last."""

from __future__ import annotations

from array import array
from typing import Any

Rows = Any  # a numpy array of integers: numpy is no dependency that types may be read from


class Table:
    """A table by key: of all there may be, or, where that would be too many, of those that are *known*."""

    def __init__(self, np: Any, size: int, known: Rows | None = None) -> None:
        self.np, self.known = np, known
        self.size = size if known is None else len(known)

    def of(self, value: int) -> Rows:
        """Return a new table."""
        return self.np.full(self.size, value, self.np.int32)

    def key(self, places: Rows) -> Rows:
        """Return the keys of places."""
        return places if self.known is None else self.known[places]

    def _place(self, keys: Rows) -> tuple[Rows, Rows]:
        """Return the places of those keys that it has, and which ones these are; none is negative."""
        has = keys >= 0
        if self.known is None:
            return keys[has], has
        place = self.np.searchsorted(self.known, keys)
        place[place == self.size] = 0
        has &= self.known[place] == keys
        return place[has], has

    def add(self, table: Rows, keys: Rows, more: int) -> None:
        """Add a number under each key, as often as it comes."""
        np = self.np
        place = np.sort(self._place(keys)[0])
        if len(place):
            first = np.flatnonzero(np.diff(place, prepend=-1))
            table[place[first]] += more * np.diff(first, append=len(place))

    def put(self, table: Rows, keys: Rows, rows: Rows) -> None:
        """Write rows under their keys: the last one stays."""
        if len(keys):
            place, which = self._place(keys)
            table[place] = rows[which]


def as_array(column: Rows, code: str) -> array[int]:
    """Return a numpy column as an array."""
    sized = {"i": "int32", "b": "int8"}[code]
    return array(code, column.astype(sized).tobytes())
