"""A scene: everything that a player draws, as plain columns under fixed names.

Pure Python on the standard library: the same columns come out in a notebook, in a page and under
Pyodide. One document shows any network, because whatever depends on it lies in these columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from mqlab.errors import BadValue
from mqlab.trace import labels
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.views import changes, flights, tracks, twin
from mqlab.views import stage as stages
from mqlab.views.boxes import Box, Curve
from mqlab.views.cast import Cast
from mqlab.views.flights import Flights
from mqlab.views.plan import Stage
from mqlab.views.sizes import HEIGHT, WIDTH
from mqlab.views.story import Story

MOST_EVENTS = 200_000  # more than this is for mqlab.replay
_LEAVES = (Kind.Acknowledged, Kind.Discarded, Kind.Expired, Kind.DeadLettered)

Table = dict[str, list[Any]]
Columns = dict[str, Table]


@dataclass(frozen=True, slots=True)
class Scene:
    """`columns` is source name -> column name -> values; `duration` is in seconds of playing."""

    title: str
    duration: float
    columns: Columns


def scene(trace: Trace, title: str = "", story: Story | None = None, width: float = WIDTH) -> Scene:
    """Return the scene of a run, under its own title or another, for a stage *width* px wide.

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
    stage = stages.build(cast, width, HEIGHT)
    story = story or Story.of(trace)
    looks, look_of = flights.looks(cast)
    columns = {
        **_still(cast, stage), **Flights(cast, stage, story).columns(look_of), "looks": looks,
        **_counts(cast, story), "changes": changes.columns(cast, story),
        "roles": dict(changes.role_words(cast)), **twin.columns(trace, story), "folds": twin.folds(story),
        **tracks.columns(trace, story),
        "destinations": {"name": list(trace.names["dest"]), "look": look_of},
        "clock": {"play": _round(story.seconds), "t": [t / 1000 for t in story.times]},
    }  # fmt: skip
    title = title or labels.title(trace)
    columns["meta"] = {
        "title": [title], "duration": [round(story.duration + 0.02, 3)], "events": [len(trace)],
        "beat": [round(story.beat, 4)], "unit": [story.unit / 1000], "width": [width], "height": [HEIGHT],
        "size": [stage.size.name], "pipe": [stage.size.pipe], "mark": [stage.size.mark],
    }  # fmt: skip
    columns["about"] = {"product": [labels.product(trace)], "guide": [labels.guide(trace)]}
    return Scene(title, story.duration, columns)


def _round(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


def _still(cast: Cast, stage: Stage) -> Columns:
    """Return what stands still: cards, what joins them, and the words beside the lines."""
    names = [name for name, _ in cast.nodes]
    stored = {no: number for number, store in enumerate(cast.stores) for no in store.members
              if number in stage.stores}  # fmt: skip
    rows: dict[str, list[tuple[Any, ...]]] = {
        "brokers": [(no, names[no], cast.nodes[no][1], *_box(box), stored.get(no, -1))
                    for no, box in stage.brokers.items()],
        "clients": [(c.node, c.name, c.role, *_box(stage.clients[c.node]), _mouth(cast, stage, c.node, c.homes))
                    for c in cast.clients],
        "consumers": list(_consumers(cast)),
        "stores": [(cast.stores[no].name, cast.stores[no].kind, *_box(box))
                   for no, box in stage.stores.items()],
        "hosts": [(name, *_box(box)) for name, box in stage.hosts.items()],
        "links": [(link.name, link.kind, link.a, link.b, link.both, *_curve(curve), curve.under,
                   "; ".join(link.chips))
                  for link, curve in zip(cast.links, stage.links, strict=True)],
        "wires": [(wire.kind, wire.frm, wire.to, *_curve(wire.curve)) for wire in stage.wires],
        "labels": [(label.text, label.kind, label.link, *_box(label.box)) for label in stage.labels],
    }  # fmt: skip
    of = {bridge: number for number, link in enumerate(cast.links) for bridge in link.bridges}
    froms = cast.trace.names["link_from"]
    rows["bridges"] = [
        (of[bridge], cast.numbers[frm] != cast.links[of[bridge]].a)
        for bridge, frm in enumerate(froms)
    ]
    return {table: _turn(rows[table], SHAPES[table].split()) for table in rows}


SHAPES: dict[str, str] = {
    "ways": "x0 y0 cx cy x1 y1 from to frm to_node",
    "flights": "t0 took way look msg flags",
    "looks": "token shape kind name",
    "destinations": "name look",
    "changes": "t what a b c d",
    "roles": "word kind",
    "depths": "t node value",
    "received": "t node value",
    "events": twin.NAMES,
    "rules": "sentence source",
    "folds": "x0 x1 text told",
    "clock": "play t",
    "lanes": "track name",
    "steps": "t lane value",
    "spans": "t0 t1 lane text",
    "nodes": "name role home",
    "meta": "title duration events beat unit width height size pipe mark",
    "about": "product guide",
    "brokers": "node name role x y w h store",
    "clients": "node name role x y w h mouth",
    "consumers": "node name card row prefetch",
    "stores": "name kind x y w h",
    "hosts": "name x y w h",
    "links": "name kind a b both x0 y0 cx cy x1 y1 under chips",
    "wires": "kind frm to x0 y0 cx cy x1 y1",
    "labels": "text kind link x y w h",
    "bridges": "link back",
}


def _turn(rows: Iterable[Sequence[Any]], names: Sequence[str]) -> Table:
    """Return rows as columns; without rows the columns are there and empty."""
    found: Table = {name: [] for name in names}
    for row in rows:
        for name, value in zip(names, row, strict=True):
            found[name].append(round(value, 2) if isinstance(value, float) else value)
    return found


def _box(box: Box) -> tuple[float, float, float, float]:
    return box.x, box.y, box.w, box.h


def _curve(c: Curve) -> tuple[float, ...]:
    return c.x0, c.y0, c.cx, c.cy, c.x1, c.y1


def _mouth(cast: Cast, stage: Stage, node: int, homes: Sequence[int]) -> str:
    """Return at which edge of a client's card its line begins: left, right, top or bottom."""
    box = stage.clients[node]
    wire = next((w.curve for w in stage.wires if w.kind == "wire" and w.frm == node), None)
    if wire is None:
        return "left"
    edges = {"left": abs(wire.x0 - box.left), "right": abs(wire.x0 - box.right),
             "top": abs(wire.y0 - box.top), "bottom": abs(wire.y0 - box.bottom)}  # fmt: skip
    return min(edges, key=lambda edge: edges[edge])


def _consumers(cast: Cast) -> Iterable[tuple[int, str, int, int, int]]:
    """Yield each consumer: its card, its row in it, and its prefetch where that is a number of messages."""
    told = _prefetches(cast)
    for client in cast.clients:
        own = (client.node,) if client.role == "consumer" else client.consumers
        for row, no in enumerate(own):
            name = cast.nodes[no][0]
            yield no, name, client.node, row, told.get(name, -1)


def _prefetches(cast: Cast) -> dict[str, int]:
    """Return consumer -> prefetch, as the runs' snapshots tell; ActiveMQ counts it in messages."""
    found: dict[str, int] = {}
    for snapshot in cast.trace.header.get("snapshots", {}).values():
        for broker in snapshot.get("brokers", {}).values():
            for subscription in broker.get("subscriptions", ()):
                if subscription.get("consumer") and "prefetch" in subscription:
                    found[subscription["consumer"]] = subscription["prefetch"]
    for step in cast.scenario.get("steps", ()):
        if step.get("do") == "open_consumer" and isinstance(step.get("prefetch"), int):
            found[step["consumer"]] = step["prefetch"]
    return found


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
