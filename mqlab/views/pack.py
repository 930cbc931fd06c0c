"""Columns as a short text: what a page takes with it instead of lists of numbers and sentences.

Numbers become differences of a few bits, strings numbers of patterns, and the whole is deflated. In a pattern
what differs from row to row is left out: the names that stand in other columns of the row, and a number of
milliseconds. `page/unpack.js` is the other half; nothing is lost on the way.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

SCALES = (1, 10, 100, 1000, 10_000, 1_000_000)
MOST = 2**40  # of a number: a millionth of it is still told apart from the next one
# Columns of the same row whose values are left out of a string, in this order; each has a sign of its own.
LEFT_OUT = ("link", "dest", "frm", "to", "broker", "msg")
_SIGNS = "\x01\x02\x03\x04\x05\x06"
_MESSAGE, _NUMBER, _ANY_SIGN = "\x06", "\x07", re.compile("[\x01-\x07]")
_MS = re.compile(r"\d+(?:\.\d+)?(?= ms)")

Tables = Mapping[str, Mapping[str, Sequence[Any]]]
Head = dict[str, Any]


def pack(tables: Tables) -> str:
    """Return tables (name -> column -> values) as a text of ASCII."""
    heads: list[Head] = []
    body = bytearray()
    for table, columns in tables.items():
        for name, values in columns.items():
            heads.append(
                {"table": table, "column": name, **_packed(list(values), columns, name, body)}
            )
    head = json.dumps(heads, ensure_ascii=True, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(head + b"\0" + bytes(body), 9)).decode()


def _packed(
    values: list[Any], row: Mapping[str, Sequence[Any]], name: str, body: bytearray
) -> Head:
    """Append a column to the body, and return what is to be known to read it."""
    if all(type(value) in (int, float) for value in values):
        scale = _scale(values)
        if scale is not None:
            _append(body, [round(value * scale) for value in values])
            return {"n": len(values), "scale": scale}
    elif (
        values
        and all(type(value) is str for value in values)
        and not any(map(_ANY_SIGN.search, values))
    ):
        return _patterns(values, row if name == "what" else {}, body)
    if any(value != value for value in values):  # not a number
        return {"plain": [None if value != value else value for value in values], "nan": True}
    return {"plain": values}


def _scale(values: list[float]) -> int | None:
    """Return by which number all values become integers, none being changed; None without one."""
    for scale in SCALES:
        if all(abs(value) < MOST and round(value * scale) / scale == value for value in values):
            return scale
    return None


def _patterns(values: list[str], row: Mapping[str, Sequence[Any]], body: bytearray) -> Head:
    known: dict[str, int] = {}
    numbers: list[float] = []
    codes = []
    left_out = [
        (sign, row[name]) for sign, name in zip(_SIGNS, LEFT_OUT, strict=True) if name in row
    ]
    for place, value in enumerate(values):
        pattern = value
        for sign, column in left_out:
            what = str(column[place])
            if sign == _MESSAGE:
                pattern = re.sub(rf"^{what}(?=:)", sign, pattern)
            elif what:
                pattern = pattern.replace(what, sign)
        found = _MS.search(pattern)
        if found and f"{float(found[0]):.15g}" == found[0]:
            pattern = f"{pattern[: found.start()]}{_NUMBER}{pattern[found.end() :]}"
            numbers.append(float(found[0]))
        codes.append(known.setdefault(pattern, len(known)))
    _append(body, codes)
    scale = _scale(numbers)
    if scale is None:
        return {"n": len(codes), "patterns": list(known), "numbers": numbers}
    _append(body, [round(number * scale) for number in numbers])
    return {"n": len(codes), "patterns": list(known), "count": len(numbers), "scale": scale}


def _append(body: bytearray, values: Sequence[int]) -> None:
    """Append differences, the sign in the lowest bit, seven bits a byte."""
    last = 0
    for value in values:
        step, last = value - last, value
        left = 2 * step if step >= 0 else -2 * step - 1
        while left > 127:
            body.append(left & 127 | 128)
            left >>= 7
        body.append(left)
