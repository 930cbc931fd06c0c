"""A scene: everything that a player draws, as plain columns under fixed names.

Pure Python on the standard library: the same columns come out in a notebook, in a page and under
Pyodide. One document shows any network, because whatever depends on it lies in these columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import atan2, pi
from typing import Any

from mqlab.errors import BadValue
from mqlab.trace import labels
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.views import stage as stages
from mqlab.views import tracks, twin
from mqlab.views.cast import Cast
from mqlab.views.stage import Way
from mqlab.views.story import Story

MOST_EVENTS = 200_000  # more than this is for mqlab.replay
KINDS = 6  # destinations told apart by colour and shape; the rest begin again
_LEAVES = (Kind.Acknowledged, Kind.Discarded, Kind.Expired, Kind.DeadLettered)
_MOVES = (Kind.Sent, Kind.Forwarded, Kind.Dispatched)
_ARRIVES = (Kind.Enqueued, Kind.Received)
_NEWS_TAKES = 1000  # us that news of a consumer is on its way

Columns = dict[str, dict[str, list[Any]]]


@dataclass(frozen=True, slots=True)
class Scene:
    """`columns` is source name -> column name -> values; `duration` is in seconds of playing."""

    title: str
    duration: float
    columns: Columns


def scene(trace: Trace, title: str = "", story: Story | None = None) -> Scene:
    """Return the scene of a run, under its own title or another.

    Runs that are played side by side have one *story*: then both show the same time (`Story.of`).
    Raises `BadValue` for a run too long to be sent whole, or one in which there is nothing.
    """
    if not trace.names["node"]:
        raise BadValue("an empty network has no picture; write mq.Network(mq.Broker('A'))")
    if len(trace) > MOST_EVENTS:
        raise BadValue(
            f"a run of {len(trace)} events is too long to be shown whole (most: {MOST_EVENTS}); "
            "open it with mqlab.replay, which shows the whole and lets you zoom in"
        )
    cast = Cast(trace)
    story = story or Story.of(trace)
    columns = {
        **_still(cast), **_flights(cast, story), **_counts(cast, story),
        "states": _states(cast, story), **twin.columns(trace, story), "folds": twin.folds(story),
        **tracks.columns(trace, story),
        "clock": {"play": _round(story.seconds), "t": [t / 1000 for t in story.times]},
        "legend": _legend(trace),
    }  # fmt: skip
    title = title or labels.title(trace)
    columns["meta"] = {
        "title": [title], "duration": [round(story.duration + 0.02, 3)], "events": [len(trace)],
        "radius": [cast.stage.radius], "beat": [round(story.beat, 4)], "unit": [story.unit / 1000],
    }  # fmt: skip
    return Scene(title, story.duration, columns)


def _round(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


def _still(cast: Cast) -> Columns:
    """Return what stands still: brokers with gauges, clients, connectors with arrowheads."""
    trace, stage = cast.trace, cast.stage
    found: dict[str, list[dict[str, Any]]] = {"brokers": [], "clients": [], "links": []}
    degree = [*trace.names["link_from"], *trace.names["link_to"]]
    many = len(stage.brokers) > 30
    for node, (name, role) in enumerate(cast.nodes):
        if cast.actors[node] != node:
            continue
        x, y = cast.point(node)
        if cast.stands(node):
            gx, gy = stage.gauges[name]
            label, size = cast.label(name)
            if many and len(label) > 3 and degree.count(name) < 5:
                label = ""  # told by hovering; there is no room for all
            found["brokers"].append({
                "node": node, "x": x, "y": y, "name": name, "label": label, "letters": size, "font": "12px",
                "gx": gx, "gy": gy, "up": 1.0, "depth": 0, "gauge": "", "shown": 0.0,
                "r": stage.radius,
            })  # fmt: skip
            continue
        hx, hy = stage.brokers[cast.homes[node]]
        side = 1 if x >= hx else -1
        if role == "client":  # its connection is a line of its own, up while it lasts
            role = "consumer" if node in _counting(cast) else "client"
            hx, hy = x, y
        found["clients"].append({
            "node": node, "x": x, "y": y, "name": name, "role": role, "hx": hx, "hy": hy,
            "marker": "square" if role == "producer" else "diamond",
            "size": 16 if role == "producer" else 23,
            "colour": "#009E73" if role == "producer" else "#CC79A7",
            "tx": x + 13 * side, "align": "left" if side > 0 else "right", "text": name, "up": 0.0,
        })  # fmt: skip
    titles = [*trace.names["link"], *("connection" for _ in cast.links)]
    for way, name, (a, b) in zip(stage.links, titles, cast.links, strict=False):
        frm, to = cast.nodes[a][0], cast.nodes[b][0]
        hx, hy = way.at(0.56)
        angle = atan2(way.y1 - way.y0, way.x1 - way.x0) - pi / 2
        found["links"].append({
            "x0": way.x0, "y0": way.y0, "cx": way.cx, "cy": way.cy, "x1": way.x1, "y1": way.y1,
            "name": name, "frm": frm, "to": to, "hx": hx, "hy": hy, "angle": angle, "up": 0.0,
            "wide": 2.4,
        })  # fmt: skip
    return {source: _turn(rows, _SHAPES[source]) for source, rows in found.items()}


_SHAPES = {
    "brokers": "node x y name label letters font gx gy up depth gauge shown r",
    "clients": "node x y name role hx hy size marker colour tx align text up",
    "links": "x0 y0 cx cy x1 y1 name frm to hx hy angle up wide",
}


def _turn(rows: Sequence[Mapping[str, Any]], names: str) -> dict[str, list[Any]]:
    """Return rows as columns; without rows the columns are there and empty."""
    found: dict[str, list[Any]] = {name: [] for name in names.split()}
    for row in rows:
        for name, value in row.items():
            found[name].append(round(value, 4) if isinstance(value, float) else value)
    return found


def _flights(cast: Cast, story: Story) -> Columns:
    """Return the curves (`ways`) and what moves along them when (`flights`), by its start."""
    trace = cast.trace
    kinds, times, causes = (trace.column(c) for c in ("kind", "t", "cause"))
    frm, to, link, dest, msg = (trace.column(c) for c in ("frm", "to", "link", "dest", "msg"))
    ways: dict[tuple[int, int, int], int] = {}
    curves: list[dict[str, float]] = []
    rows = []

    def way(key: tuple[int, int, int]) -> int:
        if key not in ways:
            ways[key] = len(curves)
            curves.append(_curve(cast, key))
        return ways[key]

    for row, kind in enumerate(kinds):
        c = causes[row]
        if kind in _ARRIVES and c >= 0 and kinds[c] in _MOVES:
            rows.append((story.at(times[c]), story.at(times[row]), way((frm[c], to[c], link[c])),
                         dest[row] % KINDS, msg[row]))  # fmt: skip
        elif kind == Kind.Advised:
            start = story.at(max(0, times[row] - _NEWS_TAKES))
            rows.append((start, story.at(times[row]), way((frm[row], to[row], ~link[row])),
                         KINDS, -1))  # fmt: skip
        elif kind == Kind.Attempted and min(frm[row], to[row]) >= 0:
            start = story.at(max(0, times[row] - _NEWS_TAKES))
            rows.append((start, story.at(times[row]), way((frm[row], to[row], -1)), KINDS, -1))
    rows.sort()
    names = trace.names["dest"]
    return {
        "ways": _turn(curves, "x0 y0 cx cy x1 y1 from to"),
        "flights": {
            "t0": _round([r[0] for r in rows]),
            "took": _round([max(r[1] - r[0], 1e-3) for r in rows]),
            "way": [r[2] for r in rows], "look": [r[3] for r in rows], "msg": [r[4] for r in rows],
        },
        "destinations": {"name": list(names)},
    }  # fmt: skip


def _curve(cast: Cast, key: tuple[int, int, int]) -> dict[str, float]:
    """Return a way as a row, with the shares of it at which things leave and arrive: at rims."""
    way = _way(cast, key)
    rims = [cast.stage.radius if cast.stands(n) else 9.0 for n in key[:2]]
    start, end = (min(0.4, (rim + 6) / (way.length or 1)) for rim in rims)
    return {"x0": way.x0, "y0": way.y0, "cx": way.cx, "cy": way.cy, "x1": way.x1, "y1": way.y1,
            "from": round(start, 4), "to": round(1 - end, 4)}  # fmt: skip


def _way(cast: Cast, key: tuple[int, int, int]) -> Way:
    """Return the curve of a bridge, of news along it (``~link``), or to or from a client."""
    frm, to, link = key
    if link < -1:
        w = cast.stage.links[~link]
        return Way(w.x1, w.y1, w.cx, w.cy, w.x0, w.y0)
    if link >= 0:
        return cast.stage.links[link]
    (x0, y0), (x1, y1) = cast.point(frm), cast.point(to)
    return Way(x0, y0, (x0 + x1) / 2, (y0 + y1) / 2, x1, y1)


def _counts(cast: Cast, story: Story) -> Columns:
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
        elif (kind == Kind.Enqueued or kind in _LEAVES) and queues[dest]:
            held = depth.setdefault(broker, set())
            (held.add if kind == Kind.Enqueued else held.discard)((dest, msg))
            depths.append((story.at(t), broker, len(held)))
    return {
        name: {"t": _round([r[0] for r in rows]), "node": [r[1] for r in rows],
               "value": [r[2] for r in rows]}
        for name, rows in (("depths", depths), ("received", received))
    }  # fmt: skip


_ON = (Kind.Started, Kind.Restarted, Kind.Connected, Kind.Subscribed, Kind.Sent)
_OFF = (Kind.Stopped, Kind.Crashed, Kind.Disconnected)


def _states(cast: Cast, story: Story) -> dict[str, list[Any]]:
    """Return when brokers, bridges and clients come and go."""
    trace = cast.trace
    roles, rows = trace.names["node_role"], _roles(cast, story)
    seen: set[int] = set()
    if "window" in trace.header:  # cut out of a run: all that came before is taken as there
        rows += [(0.0, "link", link, 1.0) for link in range(len(trace.names["link"]))]
        rows += [(0.0, "client", n, 1.0) for n, role in enumerate(roles) if role != "broker"]
    columns = (trace.column(c) for c in ("t", "kind", "broker", "frm", "link"))
    for t, kind, broker, frm, link in zip(*columns, strict=True):
        if kind not in _ON and kind not in _OFF:
            continue
        what, number = "broker", broker
        if kind in (Kind.Connected, Kind.Disconnected):
            what, number = "link", link
        elif kind in (Kind.Subscribed, Kind.Sent):
            if frm < 0 or roles[frm] == "broker" or frm in seen:
                continue
            seen.add(frm)
            what, number = "client", frm
        rows.append((story.at(t), what, number, float(kind in _ON)))
    rows.sort(key=lambda row: row[0])
    return {"t": _round([r[0] for r in rows]), "what": [r[1] for r in rows],
            "number": [r[2] for r in rows], "up": [r[3] for r in rows]}  # fmt: skip


_SLAVE = 0.45  # how strongly a broker is drawn that waits for its lock


def _roles(cast: Cast, story: Story) -> list[tuple[float, str, int, float]]:
    """Return when roles change and clients' connections come and go, as rows of states."""
    trace, rows = cast.trace, []
    details = dict(trace.header.get("details", ()))
    bridges = len(trace.names["link"])
    lines = {pair: bridges + no for no, pair in enumerate(cast.links[bridges:])}
    now: dict[int, int] = {}  # client -> its line
    begun: set[int] = set()
    columns = (trace.column(c) for c in ("t", "kind", "broker", "frm", "to"))
    for row, (t, kind, broker, frm, to) in enumerate(zip(*columns, strict=True)):
        if kind == Kind.RoleChanged and row in details:
            role = details[row].get("role")
            if broker not in begun:  # until its first role it is not there
                begun.add(broker)
                rows.append((0.0, "broker", broker, 0.0))
            rows.append((story.at(t), "broker", broker, _STRENGTH.get(role, 0.0)))
        elif kind == Kind.Attached and (frm, to) in lines:
            now[frm] = lines[frm, to]
            rows += [(story.at(t), "link", now[frm], 1.0), (story.at(t), "client", frm, 1.0)]
        elif kind == Kind.Interrupted and frm in now:
            rows.append((story.at(t), "link", now.pop(frm), 0.0))
    return rows


_STRENGTH = {
    "running": 1.0, "master": 1.0, "live": 1.0, "slave": _SLAVE, "backup_in_sync": _SLAVE,
    "backup_announced": _SLAVE, "backup_holding_lock": _SLAVE, "backup": _SLAVE,
    "backup_queued": 0.3, "backup_searching": 0.3, "starting": 0.3,
}  # fmt: skip


def _counting(cast: Cast) -> set[int]:
    """Return the clients that have consumers, and so a count to show."""
    return {actor for no, actor in cast.actors.items() if actor != no}


# How messages look, by destination: Okabe-Ito colours, and a shape of its own for each. The last
# is news of a consumer, which travels against the messages.
LOOKS = (
    ("#E69F00", "circle"), ("#56B4E9", "triangle"), ("#D55E00", "hex"),
    ("#F0E442", "inverted_triangle"), ("#009E73", "star"), ("#CC79A7", "square_pin"),
    ("#8b95a1", "circle_dot"),
)  # fmt: skip
_KEY = (
    ("broker", "circle", "#0072B2"), ("producer", "square", "#009E73"),
    ("consumer", "diamond", "#CC79A7"), ("waiting messages", "square", "#E69F00"),
    ("news of a consumer", LOOKS[KINDS][1], LOOKS[KINDS][0]),
)  # fmt: skip


def _legend(trace: Trace) -> dict[str, list[Any]]:
    """Return what each shape stands for, from the top; last the destinations of messages."""
    used = sorted({d for d, k in zip(trace.column("dest"), trace.column("kind"), strict=True)
                   if k == Kind.Sent})  # fmt: skip
    key = list(_KEY)
    kinds = set(trace.column("kind"))
    roles = {told.get("role") for _, told in trace.header.get("details", ())}
    if any(_STRENGTH.get(role) == _SLAVE for role in roles):
        _, word = trace.header.get("words", ("master", "slave"))
        key.insert(1, (f"{word}, waiting", "circle", "#8cc0dd"))
    if Kind.Attempted in kinds:
        key[-1] = ("news, or an attempt", *key[-1][1:])
    rows = [*key, *((trace.names["dest"][d], *LOOKS[d % KINDS][::-1]) for d in used[:7])]
    if len(used) > 7:
        rows.append((f"... and {len(used) - 7} more", "circle", LOOKS[0][0]))
    return {
        "x": [22] * len(rows), "y": [stages.HEIGHT - 66 - 25 * i for i in range(len(rows))],
        "text": [t if len(t) <= 22 else t[:21] + "…" for t, _, _ in rows],
        "marker": [marker for _, marker, _ in rows], "colour": [colour for _, _, colour in rows],
    }  # fmt: skip
