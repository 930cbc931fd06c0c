"""Tables by key in numpy: how often each came, and which of its rows was the last."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mqlab.trace.columns import Numbers


class Table:
    """A table by key: of all there may be, or, where that would be too many, of those that are *known*."""

    def __init__(self, size: int, known: Numbers | None = None) -> None:
        self.known = known
        self.size = size if known is None else len(known)

    def of(self, value: int) -> Numbers:
        """Return a new table."""
        return np.full(self.size, value, np.int32)

    def key(self, places: Numbers) -> Numbers:
        """Return the keys of places."""
        return places if self.known is None else self.known[places]

    def _place(self, keys: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return the places of those keys that it has, and which ones these are; none is negative."""
        has = keys >= 0
        if self.known is None:
            return keys[has], has
        place = np.searchsorted(self.known, keys)
        place[place == self.size] = 0
        has &= self.known[place] == keys
        return place[has], has

    def add(self, table: Numbers, keys: Numbers, more: int) -> None:
        """Add a number under each key, as often as it comes."""
        place = np.sort(self._place(keys)[0])
        if len(place):
            first = np.flatnonzero(np.diff(place, prepend=-1))
            table[place[first]] += more * np.diff(first, append=len(place))

    def put(self, table: Numbers, keys: Numbers, rows: Numbers) -> None:
        """Write rows under their keys: the last one stays."""
        if len(keys):
            place, which = self._place(keys)
            table[place] = rows[which]


def as_array(column: Numbers, code: str) -> array[int]:
    """Return a numpy column as an array."""
    sized = {"i": "int32", "b": "int8"}[code]
    return array(code, column.astype(sized).tobytes())
