"""Packed rows of 64-bit integers become columns of the width that each of them needs.

Bytes are picked out of the rows by strides, so that no integer is made: without numpy a hundredth of the
time that converting them one by one takes.
"""

from __future__ import annotations

import sys
from array import array

from mqlab.errors import BadValue
from mqlab.spec.plural import counted
from mqlab.trace.columns import COLUMNS

# The order in a packed row: what many events have in common stands last, see `record.stamp`.
ROW = (
    "t",
    "msg",
    "dest",
    "hop",
    "age",
    "rule",
    "cause",
    "kind",
    "broker",
    "frm",
    "to",
    "link",
    "sub",
)
WIDTH = len(COLUMNS)
_STRIDE = 8 * WIDTH  # bytes of a row
# What the first byte that is left out has to be, by the last one that is kept: its sign's.
_SIGN = bytes(0xFF if byte > 0x7F else 0 for byte in range(256))


def narrow(rows: bytearray) -> dict[str, array[int]]:
    """Return the columns of packed rows; raises `BadValue` for a number that is too large for its column."""
    if sys.byteorder == "big":
        whole = array("q", bytes(rows))
        return {name: array(COLUMNS[name], whole[no::WIDTH]) for no, name in enumerate(ROW)}
    columns = {}
    for no, name in enumerate(ROW):
        column = columns[name] = array(COLUMNS[name])
        place, size = 8 * no, column.itemsize
        kept = bytearray(len(rows) // _STRIDE * size)
        for byte in range(size):
            kept[byte::size] = rows[place + byte :: _STRIDE]
        # One byte more tells: numbers of rows, messages and names grow by one.
        if size < 8 and rows[place + size :: _STRIDE] != kept[size - 1 :: size].translate(_SIGN):
            raise BadValue(
                f"the run is too large to be stored as one trace: column {name!r} has {counted(size, 'byte')}"
            )
        column.frombytes(kept)
    return columns
