"""The counters of destinations as columns: how they change, for the page's tab Counters."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.trace import counters
from mqlab.trace.trace import Trace
from mqlab.views.story import PlaybackTime
from mqlab.views.tracks import Table

MOST = 4_000  # changes that are sent to a page; a longer run has `trace.counters(at=...)`
COLUMNS = "abcdefg"
ABSENT = -1  # of a counter: the broker is down, or has none of that name


def columns(trace: Trace, story: PlaybackTime) -> dict[str, Table]:
    """Return how counters change, step by step; what steps and lines there are; their names.

    A run with too many changes has neither: the page says so. A running network has its brokers' own counts.
    """
    if "counters" in trace.header:
        return _told(trace.header["counters"], str(trace.header["product"]))
    found = [(place, t, counts) for t, place, counts in counters.changes(trace)]
    names = counters.NAMES[trace.product]
    if len(found) > MOST:
        found, names = [], {}
    places = {place: line for line, place in enumerate(sorted({place for place, _, _ in found}))}
    steps: dict[tuple[int, ...], int] = {}
    step, last = [], {place: [0] * len(COLUMNS) for place in places}
    for place, _, counts in found:
        now = [ABSENT if count is None else count for count in counts] + [ABSENT] * (len(COLUMNS) - len(counts))
        more = tuple(one - other for one, other in zip(now, last[place], strict=True))
        step.append(steps.setdefault(more, len(steps)))
        last[place] = now
    return {
        "counted": {
            "t": [round(story.at(t), 4) for _, t, _ in found],
            "line": [places[place] for place, _, _ in found],
            "step": step,
        },
        "counter_steps": {column: [more[no] for more in steps] for no, column in enumerate(COLUMNS)},
        "counter_lines": {
            "broker": [trace.names["node"][broker] for broker, _ in places],
            "destination": [trace.names["dest"][dest] for _, dest in places],
        },
        "counter_names": {"name": list(names), "hint": [counters.HINTS[name] for name in names]},
    }


def _told(rows: Sequence[tuple[str, str, Sequence[int]]], product: str) -> dict[str, Table]:
    """Return the counters of one moment, as the header of its trace has them: broker, destination, counts."""
    names = list(counters.NAMES[product])
    return {
        "counted": {"t": [0.0] * len(rows), "line": [*range(len(rows))], "step": [*range(len(rows))]},
        "counter_steps": {
            column: [row[2][no] if no < len(names) else ABSENT for row in rows]
            for no, column in enumerate(COLUMNS)
        },
        "counter_lines": {"broker": [row[0] for row in rows], "destination": [row[1] for row in rows]},
        "counter_names": {"name": names, "hint": [counters.HINTS[name] for name in names]},
    }
