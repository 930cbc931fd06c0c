"""The counters of destinations as columns: how they change, for the page's tab Counters."""

from __future__ import annotations

from mqlab.trace import counters
from mqlab.trace.trace import Trace
from mqlab.views.story import PlaybackTime
from mqlab.views.tracks import Table

MOST = 20_000  # changes that are sent to a page; a longer run has `trace.counters(at=...)`
COLUMNS = "abcdefg"
ABSENT = -1  # of a counter: the broker is down, or has none of that name


def columns(trace: Trace, story: PlaybackTime) -> dict[str, Table]:
    """Return how counters change, line by line; what lines there are; and their counters' names.

    A run with too many changes has neither: the page says so.
    """
    found = sorted(
        ((place, t, counts) for t, place, counts in counters.changes(trace)), key=lambda one: one[:2]
    )
    names = counters.NAMES[str(trace.header.get("product", "activemq"))]
    if len(found) > MOST:
        found, names = [], {}
    places = {place: line for line, place in enumerate(dict.fromkeys(place for place, _, _ in found))}
    return {
        "counted": {
            "t": [round(story.at(t), 4) for _, t, _ in found],
            "line": [places[place] for place, _, _ in found],
            **{
                column: [
                    ABSENT if no >= len(names) or counts[no] is None else counts[no] for _, _, counts in found
                ]
                for no, column in enumerate(COLUMNS)
            },
        },
        "counter_lines": {
            "broker": [trace.names["node"][broker] for broker, _ in places],
            "destination": [trace.names["dest"][dest] for _, dest in places],
        },
        "counter_names": {"name": list(names), "hint": [counters.HINTS[name] for name in names]},
    }
