"""The table twin of a scene: what the picture shows, in words; with what a viewer would want to jump to.

The chapters of a run are faults, changes of who serves, reconnections, and the first time that something
happens to a message.
"""

from __future__ import annotations

from collections import Counter

from mqlab.explain import sentence
from mqlab.spec.json_types import JsonObject
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace
from mqlab.views.story import PlaybackTime
from mqlab.views.tracks import Table

SERVING = ("master", "live")
MOST_ALIKE = 3  # chapters of the same words

_FIRST = {
    Kind.Sent: "first message",
    Kind.Received: "first delivery",
    Kind.Redelivered: "first redelivery",
    Kind.DeadLettered: "first dead letter",
    Kind.Expired: "first expired message",
    Kind.Discarded: "first message dropped",
    Kind.Failed: "first failed call",
}
_OF_BROKER = {
    Kind.Crashed: "crashes",
    Kind.Stopped: "stops",
    Kind.Restarted: "restarts",
    Kind.Suspended: "is suspended",
    Kind.Resumed: "resumes",
    Kind.Locked: "acquires the lock",
    Kind.LockLost: "loses the lock",
    Kind.Voted: "starts a vote",
}


class Chapters:
    """Finds chapters in a run's events, taken in their order."""

    def __init__(self) -> None:
        self._seen: set[Kind] = set()
        self._lost: set[str | None] = set()  # clients without a connection
        self._told: Counter[str] = Counter()
        self._ended = -1  # when (us) a broker last ended: its bridges go with it

    def of(self, event: Event, detail: JsonObject) -> str:
        """Return the chapter that an event begins; empty for none."""
        text = self._words(event, detail)
        self._told[text] += 1
        return text if self._told[text] <= MOST_ALIKE else ""

    def _words(self, event: Event, detail: JsonObject) -> str:
        kind = event.kind
        if kind in _FIRST:
            again = kind in self._seen
            self._seen.add(kind)
            return "" if again else _FIRST[kind]
        if kind in (Kind.Crashed, Kind.Stopped):
            self._ended = event.t
        if kind in _OF_BROKER:
            return f"{event.broker} {_OF_BROKER[kind]}"
        if kind == Kind.RoleChanged and detail.get("role") in SERVING:
            return f"{event.broker} becomes {detail['role']}"
        if kind == Kind.Interrupted:
            self._lost.add(event.frm)
        elif kind == Kind.Attached and event.frm in self._lost:
            self._lost.discard(event.frm)
            return f"{event.frm} reconnects to {event.to}"
        elif kind in (Kind.Partitioned, Kind.Healed):
            both = [end for end in (event.frm, event.to) if end] or [event.broker or "a link"]
            ends = detail.get("between") or detail.get("line") or " and ".join(both)
            return f"{ends} {'cut' if kind == Kind.Partitioned else 'restored'}"
        elif kind == Kind.Intervened:
            return str(detail.get("what", ""))
        elif kind == Kind.Disconnected and event.t != self._ended:
            return f"{event.link} is down"
        return ""


MOST_ROWS = 20_000
NAMES = "play time what row kind msg broker frm to link dest rule cause chapter"


def columns(trace: Trace, story: PlaybackTime) -> dict[str, Table]:
    """Return the tables of a run's events (`events`) and of the rules that they name (`rules`).

    An event has the second at which it is played, its time and what happened in words (without the rule),
    its row in the trace, its kind, and by name who took part; `rule` is a row of `rules`, `cause` one of
    `events` (-1 for none), and `chapter` has words where one begins.
    """
    rules: dict[Reason, int] = {Reason.none: 0}
    events: Table = {name: [] for name in NAMES.split()}
    at: dict[int, int] = {}  # row of the trace -> row of the table
    chapters = Chapters()
    for row in range(min(len(trace), MOST_ROWS)):
        event = trace.event(row)
        told = sentence(trace, event)
        if told is None:
            continue
        said = f"{told.text}." if told.reason else told.said()
        rule = rules.setdefault(told.reason, len(rules))
        who = f"{event.message}: " if event.message is not None else ""
        at[row] = len(at)
        values = (
            round(story.at(event.t), 4),
            told_time(event.t),
            who + said,
            row,
            event.kind.name,
            _number(event.message),
            event.broker or "",
            event.frm or "",
            event.to or "",
            event.link or "",
            event.destination or "",
            rule,
            _cause(trace, event, at),
            chapters.of(event, dict(trace.detail(row))),
        )
        for name, value in zip(events, values, strict=True):
            events[name].append(value)
    if len(trace) > MOST_ROWS:
        _add_rest(events, story, len(trace) - MOST_ROWS)
    return {
        "events": events,
        "rules": {
            "sentence": [rule.sentence for rule in rules],
            "source": [rule.source for rule in rules],
        },
    }


def folds(story: PlaybackTime) -> Table:
    """Return what is folded: from when to when it plays (s), what stands there, and that in words."""
    return {
        "x0": [round(story.at(fold.begin), 4) for fold in story.folds],
        "x1": [round(story.at(fold.end), 4) for fold in story.folds],
        "text": [fold.text for fold in story.folds],
        "told": [fold.told for fold in story.folds],
    }


def _number(message: int | None) -> int:
    return -1 if message is None else message


def _cause(trace: Trace, event: Event, at: dict[int, int]) -> int:
    """Return the row of the table that led to an event, past those that are not told."""
    causes, row = trace.column("cause"), event.cause
    while row is not None and row >= 0 and row not in at:
        row = causes[row]
    return at.get(row, -1) if row is not None else -1


def _add_rest(events: Table, story: PlaybackTime, count: int) -> None:
    """Say how many events are not listed."""
    for name, values in events.items():
        values.append(-1 if name in ("row", "msg", "cause") else 0 if name == "rule" else "")
    events["play"][-1] = round(story.duration, 4)
    events["what"][-1] = f"... and {counted(count, 'more event')}, not listed"
