"""The tracks below the picture: what changes over time, as steps and spans on the axis of playing.

A lane is one line of a track: a queue at a broker, a consumer, or who serves. Pure Python, as scenes are.
"""

from __future__ import annotations

from collections import Counter

from mqlab.trace import accounts
from mqlab.trace.fates import LETS_GO
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.views.story import PlaybackTime

Table = dict[str, list[object]]  # column -> values

_QUEUES = ("queue://", "temp-queue://")
_ENDS = (Kind.Crashed, Kind.Stopped)
_NODES = {"name": "node", "role": "node_role", "home": "node_home"}


class Steps:
    """Collects lanes and how their values change; a value that stays is told once."""

    def __init__(self, story: PlaybackTime) -> None:
        self._story = story
        self._lanes: dict[tuple[str, str], int] = {}
        self._last: dict[int, int] = {}
        self.rows: Table = {"t": [], "lane": [], "value": []}

    def lane(self, track: str, name: str) -> int:
        """Return the number of a track's lane, which begins with its first mention."""
        return self._lanes.setdefault((track, name), len(self._lanes))

    def add(self, t: int, lane: int, value: int) -> None:
        """Note that a lane has another *value* from *t* (us) on."""
        if self._last.get(lane, 0) == value:
            return
        self._last[lane] = value
        for name, cell in (("t", round(self._story.at(t), 4)), ("lane", lane), ("value", value)):
            self.rows[name].append(cell)

    @property
    def lanes(self) -> Table:
        """The lanes: of which track each is, and its name."""
        return {"track": [t for t, _ in self._lanes], "name": [name for _, name in self._lanes]}


def columns(trace: Trace, story: PlaybackTime) -> dict[str, Table]:
    """Return the tables `lanes`, `steps`, `spans` (who serves, who is connected) and `nodes`.

    Steps of the track *depth* are messages in a queue, of *unacknowledged* what a consumer holds. Times
    are seconds of playing. What consumers receive, and how long it took, the page reads off the events.
    """
    steps = Steps(story)
    _depths(trace, steps)
    _consumers(trace, steps)
    spans = _roles(trace, story, steps)
    names = trace.names
    return {
        "lanes": steps.lanes,
        "steps": steps.rows,
        "spans": spans,
        "nodes": {what: list(names[table]) for what, table in _NODES.items()},
    }


def _depths(trace: Trace, steps: Steps) -> None:
    names = trace.names
    queues = [name.startswith(_QUEUES) for name in names["dest"]]
    held: dict[tuple[int, int], set[int]] = {}
    columns = (trace.column(c) for c in ("t", "kind", "broker", "dest", "msg", "frm"))
    for t, kind, broker, dest, msg, frm in zip(*columns, strict=True):
        if dest < 0 or not queues[dest] or broker < 0:
            continue
        changed = [broker]
        if kind == Kind.Enqueued:
            held.setdefault((broker, dest), set()).add(msg)
        elif kind == Kind.TakenOver:
            held.setdefault((frm, dest), set()).discard(msg)
            held.setdefault((broker, dest), set()).add(msg)
            changed = [node for node in (frm, broker) if node >= 0]
        elif kind in LETS_GO:
            held.setdefault((broker, dest), set()).discard(msg)
        else:
            continue
        for node in changed:
            lane = steps.lane("depth", f"{names['node'][node]} {names['dest'][dest]}")
            steps.add(t, lane, len(held[node, dest]))


def _consumers(trace: Trace, steps: Steps) -> None:
    names = trace.names["node"]
    holds: dict[int, dict[tuple[int, int], int]] = {}  # subscription -> (broker, message) -> consumer
    counts: Counter[int] = Counter()
    columns = (trace.column(c) for c in ("t", "kind", "broker", "to", "msg", "sub"))
    for t, kind, broker, to, msg, sub in zip(*columns, strict=True):
        held = holds.setdefault(sub, {})
        gone: list[int] = []
        if kind == Kind.Dispatched and to >= 0:
            counts[to] += (broker, msg) not in held
            held[broker, msg] = to
            steps.add(t, steps.lane("unacknowledged", names[to]), counts[to])
        elif kind in (*LETS_GO, Kind.Returned) and (broker, msg) in held:
            gone = [held.pop((broker, msg))]
        elif kind in _ENDS:
            for of in holds.values():
                gone += [of.pop(place) for place in list(of) if place[0] == broker]
        for consumer in gone:
            counts[consumer] -= 1
            steps.add(t, steps.lane("unacknowledged", names[consumer]), counts[consumer])


def _roles(trace: Trace, story: PlaybackTime, steps: Steps) -> Table:
    """Return from when to when a broker has a role, and a client a connection."""
    spans: Table = {"t0": [], "t1": [], "lane": [], "text": []}
    end = max(trace.column("t"), default=0)

    def add(name: str, begin: int, until: int, text: str) -> None:
        values = (
            round(story.at(begin), 4),
            round(story.at(until), 4),
            steps.lane("roles", name),
            text,
        )
        for column, value in zip(spans, values, strict=True):
            spans[column].append(value)

    for broker, changes in accounts.roles(trace).items():
        for (begin, role), (until, _) in zip(changes, [*changes[1:], (end, "")], strict=True):
            add(broker, begin, until, role.replace("_", " "))
    since: dict[int, tuple[int, int]] = {}
    columns = (trace.column(c) for c in ("t", "kind", "frm", "to"))
    for t, kind, frm, to in zip(*columns, strict=True):
        if kind in (Kind.Attached, Kind.Interrupted) and frm in since:
            begin, at = since.pop(frm)
            add(trace.names["node"][frm], begin, t, _whom(trace, at))
        if kind in (Kind.Attached, Kind.Interrupted) and frm >= 0:
            since[frm] = (t, to if kind == Kind.Attached else -1)
    for frm, (begin, at) in since.items():
        add(trace.names["node"][frm], begin, end, _whom(trace, at))
    return spans


def _whom(trace: Trace, broker: int) -> str:
    return f"at {trace.names['node'][broker]}" if broker >= 0 else "reconnects"
