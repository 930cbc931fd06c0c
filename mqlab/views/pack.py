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
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import floor

from mqlab.spec.json_types import JsonDict
from mqlab.spec.values import told_time

SCALES = (1, 10, 100, 1000, 10_000, 1_000_000)
MOST = 2**40  # of a number: a millionth of it is still told apart from the next one
# Columns of the same row whose values are left out of a string, in this order; each has a sign of its own.
LEFT_OUT = ("link", "dest", "frm", "to", "broker", "msg")
_SIGNS = "\x01\x02\x03\x04\x05\x06"
_MESSAGE, _NUMBER, _ANY_SIGN = "\x06", "\x07", re.compile("[\x01-\x07]")
_TIME = re.compile(r"(\d+(?:\.\d+)?) (m?s)\b")

Tables = Mapping[str, Mapping[str, Sequence[object]]]
Head = JsonDict


def pack(tables: Tables) -> str:
    """Return tables (name -> column -> values) as a text of ASCII.

    The table `clock` comes first: most other times are those of its moments, and are told by their places.
    """
    heads: list[Head] = []
    body = bytearray()
    clock = tables.get("clock", {})
    moments = {value: place for place, value in enumerate(clock.get("play", ()))}
    times = list(clock.get("t", ()))
    for table, columns in sorted(tables.items(), key=lambda item: item[0] != "clock"):
        known = {} if table == "clock" else moments
        for name, values in columns.items():
            told = None
            if name == "time":
                told = _time(columns, known, times)
            elif name == "took" and known:
                told = _took(columns, list(clock["play"]), body)
            told = told or _packed(list(values), columns, name, known, body)
            heads.append({"table": table, "column": name, **told})
    head = json.dumps(heads, ensure_ascii=True, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(head + b"\0" + bytes(body), 7)).decode()


def _packed(
    values: list[object],
    row: Mapping[str, Sequence[object]],
    name: str,
    moments: Mapping[float, int],
    body: bytearray,
) -> Head:
    """Append a column to the body, and return what is to be known to read it."""
    if all(type(value) in (int, float) for value in values):
        scale = _scale(values)
        if scale is not None and scale > 1 and 2 * sum(map(moments.__contains__, values)) > len(values):
            return _places(values, moments, scale, body)
        if scale is not None:
            _append(body, [round(value * scale) for value in values])
            return {"n": len(values), "scale": scale}
    elif values and all(type(value) is str for value in values) and not any(map(_ANY_SIGN.search, set(values))):
        return _patterns(values, row if name == "what" else {}, body)
    if any(value != value for value in values):  # not a number
        return {"plain": [None if value != value else value for value in values], "nan": True}
    return {"plain": values}


def _places(values: list[float], moments: Mapping[float, int], scale: int, body: bytearray) -> Head:
    """Append the places of times among the clock's moments; then the rows of other times, and these."""
    others = [row for row, value in enumerate(values) if value not in moments]
    _append(body, [moments[value] for value in values if value in moments])
    _append(body, others)
    _append(body, [round(values[row] * scale) for row in others])
    return {"n": len(values) - len(others), "others": len(others), "scale": scale}


def _took(row: Mapping[str, Sequence[object]], play: list[float], body: bytearray) -> Head | None:
    """Append by their ends' places how long flights take; None if one ends at no moment of the clock."""
    places = []
    for start, took in zip(row["t0"], row["took"], strict=True):
        near = bisect_left(play, start + took)
        ends = (at for at in (near - 1, near, near + 1) if 0 <= at < len(play))
        end = next((at for at in ends if floor((play[at] - start) * 1e4 + 0.5) / 1e4 == took), None)
        if end is None:
            return None
        places.append(end)
    _append(body, places)
    return {"n": len(places), "ends": True}


def _time(row: Mapping[str, Sequence[object]], moments: Mapping[float, int], times: list[float]) -> Head | None:
    """Return that the written times are those of the moments at which rows play; None if one is not."""
    for play, written in zip(row.get("play", ()), row["time"], strict=True):
        place = moments.get(play)
        if place is None or written != told_time(times[place] * 1000):
            return None
    return {"written": True}


def _scale(values: list[float]) -> int | None:
    """Return by which number all values become integers, none being changed; None without one."""
    if set(map(type, values)) <= {int}:
        return 1 if all(abs(value) < MOST for value in values) else None
    for scale in SCALES:
        if all(abs(value) < MOST and round(value * scale) / scale == value for value in values):
            return scale
    return None


def _patterns(values: list[str], row: Mapping[str, Sequence[object]], body: bytearray) -> Head:
    known: dict[str, int] = {}
    numbers: list[float] = []
    codes = []
    seen: dict[str, tuple[int, float | None]] = {}  # most sentences and names come many times
    left_out = [(sign, row[name]) for sign, name in zip(_SIGNS, LEFT_OUT, strict=True) if name in row]
    for place, value in enumerate(values):
        pattern = value
        for sign, column in left_out:
            what = str(column[place])
            if sign == _MESSAGE:
                if pattern.startswith(f"{what}:"):
                    pattern = f"{sign}{pattern[len(what) :]}"
            elif what:
                pattern = pattern.replace(what, sign)
        if pattern not in seen:
            rest, number = _without_time(pattern)
            seen[pattern] = known.setdefault(rest, len(known)), number
        code, number = seen[pattern]
        if number is not None:
            numbers.append(number)
        codes.append(code)
    _append(body, codes)
    scale = _scale(numbers)
    if scale is None:
        return {"n": len(codes), "patterns": list(known), "numbers": numbers}
    _append(body, [round(number * scale) for number in numbers])
    return {"n": len(codes), "patterns": list(known), "count": len(numbers), "scale": scale}


def _without_time(text: str) -> tuple[str, float | None]:
    """Return a text without its first time, and this in ms; as it is if written in another way."""
    found = _TIME.search(text)
    if found is None or f"{float(found[1]):.15g}" != found[1]:
        return text, None
    number = float(found[1]) if found[2] == "ms" else round(float(found[1]) * 1000, 3)
    return f"{text[: found.start()]}{_NUMBER}{text[found.end(1) :]}", number


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
