"""A scene: everything that a player draws, as plain columns under fixed names.

Pure Python on the standard library: the same columns come out in a notebook, in a page and under
Pyodide. One document shows any network, because whatever depends on it lies in these columns.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mqlab.errors import BadValue
from mqlab.spec.plural import counted
from mqlab.trace import labels, questions
from mqlab.trace.fates import LETS_GO
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.views import changes, counter_columns, flights, opened, still, tracks, twin
from mqlab.views import stage as stages
from mqlab.views.cast import SceneParts
from mqlab.views.flights import Flights
from mqlab.views.groups import MANY
from mqlab.views.plan import Stage
from mqlab.views.sizes import MOST_IN_ROOMS, ONE_ROOM, ROOMS
from mqlab.views.still import Columns
from mqlab.views.story import PlaybackTime
from mqlab.views.tracks import Table

MOST_EVENTS = 200_000  # more than this is for mqlab.replay


@dataclass(frozen=True, slots=True)
class Scene:
    """`columns` is source name -> column name -> values; `duration` is in seconds of playing."""

    title: str
    duration: float
    columns: Columns


def scene(
    trace: Trace,
    title: str = "",
    story: PlaybackTime | None = None,
    build: Callable[[SceneParts, float, float], Stage] = stages.build,
) -> Scene:
    """Return the scene of a run, under its own title or another.

    Runs that are played side by side have one *story*: then both show the same time (`Story.of`). *build*
    makes the stages: whoever shows many parts of one run has them already (`stage.Kept`).
    Raises `BadValue` for a run too long to be sent whole.
    """
    if len(trace) > MOST_EVENTS:
        raise BadValue(
            f"a run of {counted(len(trace), 'event')} is too long for this view (limit: {MOST_EVENTS} events); "
            "open it with mqlab.replay, which can zoom"
        )
    cast = SceneParts(trace)
    story = story or PlaybackTime.of(trace)
    looks, look_of = flights.looks(cast)
    moving = Flights(cast, story)
    flown = moving.table(look_of)
    plans = [still.columns(drawn, stage, moving) for drawn, stage in _stages(cast, build)]
    columns = {
        **plans[0],
        "flights": flown,
        "looks": looks,
        **_counts(cast, story),
        **counter_columns.columns(trace, story),
        "plans": {"text": [json.dumps(one) for one in plans]},
        "traffic": {"count": []},
        "stuck": _stuck(trace, story),
        "changes": changes.columns(cast, story),
        "roles": dict(changes.role_words(cast)),
        **twin.columns(trace, story),
        "folds": twin.folds(story),
        **tracks.columns(trace, story),
        "destinations": {"name": list(trace.names["dest"]), "look": look_of},
        "clock": {"play": _round(story.seconds), "t": [t / 1000 for t in story.times]},
    }
    title = title or labels.title(trace)
    columns["meta"] = {
        "title": [title],
        "duration": [round(story.duration + 0.02, 3)],
        "events": [len(trace)],
        "beat": [round(story.beat, 4)],
        "unit": [story.unit / 1000],
        "mark": plans[0]["plan"]["mark"],
        "undone": ["\n".join(map(str, trace.undone))],
    }
    about = {"product": labels.product(trace), "guide": labels.guide(trace), "part": bool(trace.part)}
    columns["about"] = {name: [value] for name, value in about.items()}
    return Scene(title, story.duration, columns)


def _stages(
    cast: SceneParts, build: Callable[[SceneParts, float, float], Stage]
) -> Iterator[tuple[SceneParts, Stage]]:
    """Yield what is drawn, and where: for each room, or for each group that may be open."""
    count = len(cast.standing)
    if count > MANY:
        yield from opened.stages(cast)
    else:
        for room in [ONE_ROOM] if count > MOST_IN_ROOMS else ROOMS:
            yield cast, build(cast, *room)


def _round(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


SHAPES: dict[str, str] = {
    **still.SHAPES,
    "flights": "t0 took way look msg flags", "looks": "token shape kind name", "plans": "text",
    "traffic": "count", "stuck": "t node dest count why",
    "destinations": "name look", "changes": "t what a b c d", "roles": "word kind",
    "depths": "t node value", "received": "t node value", "events": twin.NAMES,
    "rules": "sentence source", "folds": "x0 x1 text told", "clock": "play t",
    "lanes": "track name", "steps": "t lane value", "spans": "t0 t1 lane text",
    "nodes": "name role home", "meta": "title duration events beat unit mark undone",
    "counted": "t line step", "counter_steps": "a b c d e f g",
    "counter_lines": "broker destination", "counter_names": "name hint",
    "about": "product guide part", "window": "from to low high told level live no",
    "rates": "t sent received", "whole": "t sent received", "wish": "from to msg no",
}  # fmt: skip


def _stuck(trace: Trace, story: PlaybackTime) -> Table:
    """Return the queues whose messages no consumer gets, from when that is so, and why in one line."""
    found = questions.stuck_queues(trace)
    return {
        "t": _round([story.at(trace.column("t")[queue.row]) for queue in found]),
        "node": [queue.broker for queue in found],
        "dest": [queue.dest for queue in found],
        "count": [len(queue.messages) for queue in found],
        "why": [trace.event(queue.row).rule.sentence for queue in found],
    }


def _counts(cast: SceneParts, story: PlaybackTime) -> Columns:
    """Return how the depth of each broker's queues and each consumer's count change."""
    trace = cast.trace
    queues = [name.startswith(("queue://", "temp-queue://")) for name in trace.names["dest"]]
    depth: dict[int, set[tuple[int, int]]] = {}
    got: dict[int, int] = {}
    depths, received = [], []
    columns = (trace.column(c) for c in ("t", "kind", "broker", "dest", "msg", "to", "frm"))
    for t, kind, broker, dest, msg, to, frm in zip(*columns, strict=True):
        if kind == Kind.Received:
            to = cast.actors[to]
            got[to] = got.get(to, 0) + 1
            received.append((story.at(t), to, got[to]))
        elif kind == Kind.TakenOver and queues[dest]:
            depth.setdefault(frm, set()).discard((dest, msg))
            depth.setdefault(broker, set()).add((dest, msg))
            known = [node for node in (frm, broker) if node >= 0]  # it may still be where it was
            depths += [(story.at(t), node, len(depth[node])) for node in known]
        elif (kind == Kind.Enqueued or kind in LETS_GO) and queues[dest]:
            held = depth.setdefault(broker, set())
            (held.add if kind == Kind.Enqueued else held.discard)((dest, msg))
            depths.append((story.at(t), broker, len(held)))
    return {
        name: {"t": _round([r[0] for r in rows]), "node": [r[1] for r in rows], "value": [r[2] for r in rows]}
        for name, rows in (("depths", depths), ("received", received))
    }
