"""Hops take time: a run in which all hops of a message happen at one instant, told so that it can be watched.

The labs of some families let everything of one instant happen at once. Their traces give each hop a
millisecond, as the others do: causes come first, and steps of a script do not overlap.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

from mqlab.trace.kinds import Kind
from mqlab.trace.trace import COLUMNS, Trace

HOP = 1000  # us that a message is on its way from one to the next
MOVES = (Kind.Sent, Kind.Forwarded, Kind.Dispatched)
_ENDS = (Kind.Acknowledged, Kind.Returned, Kind.Discarded, Kind.DeadLettered, Kind.Held,
         Kind.TakenOver)  # fmt: skip


def spread(trace: Trace, begins: set[int], details: Mapping[int, dict[str, Any]]) -> Trace:
    """Return a trace with a time for each hop, in the order of its times.

    *begins* are the rows with which a step of the script begins, *details* what no column holds of a
    row, such as a broker's new role; they go into the header.
    """
    columns = {name: trace.column(name) for name in COLUMNS}
    times = hops(columns, begins)
    order = sorted(range(len(times)), key=times.__getitem__)
    place = {row: no for no, row in enumerate(order)}
    sent = {columns["msg"][r]: times[r] for r in order if columns["kind"][r] == Kind.Sent}
    found = {name: array(COLUMNS[name], (column[row] for row in order))
             for name, column in columns.items()}  # fmt: skip
    found["t"] = array("q", (times[row] for row in order))
    found["cause"] = array("i", (place.get(cause, -1) for cause in found["cause"]))
    found["age"] = array(
        "q", (t - sent.get(msg, t) for t, msg in zip(found["t"], found["msg"], strict=True))
    )
    told = sorted([place[row], detail] for row, detail in details.items())
    return Trace({**trace.header, "details": told}, trace.names, found)


def hops(columns: dict[str, array[int]], begins: set[int]) -> list[int]:
    """Return a time for each row: a hop takes `HOP`, causes come first, steps do not overlap.

    *begins* are the rows with which steps begin. Producers send one message per `HOP`; what happens
    at one place in an order keeps that order.
    """
    found: list[int] = []
    floor = high = 0
    last: dict[tuple[int, int], int] = {}  # (kind, place) -> time
    of: dict[int, int] = {}  # message -> time
    names = ("t", "kind", "msg", "broker", "frm", "to", "cause")
    rows = zip(*(columns[name] for name in names), strict=True)
    for row, (t, kind, msg, broker, frm, to, cause) in enumerate(rows):
        if row in begins or msg < 0:
            floor = high
        at = max(t, floor)
        if cause >= 0:
            at = max(at, found[cause] + (HOP if columns["kind"][cause] in MOVES else 0))
        key = (kind, to if kind == Kind.Received else frm if kind == Kind.Sent else broker)
        if key in last:
            at = max(at, last[key] + (HOP if kind == Kind.Sent else 0))
        if kind == Kind.Dispatched:  # room comes from what was received before
            at = max(at, last.get((Kind.Received, to), 0))
        if kind in _ENDS:
            at = max(at, of.get(msg, 0))
        last[key] = at
        of[msg] = max(at, of.get(msg, 0))
        high = max(high, at)
        found.append(at)
    return found
