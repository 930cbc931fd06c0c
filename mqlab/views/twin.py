"""The table twin of a scene: what the picture shows, in words."""

from __future__ import annotations

from mqlab.explain import sentence
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace.event import Event
from mqlab.trace.kinds import Reason
from mqlab.trace.trace import Trace
from mqlab.views.chapters import Chapters
from mqlab.views.story import PlaybackTime
from mqlab.views.tracks import Table

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
