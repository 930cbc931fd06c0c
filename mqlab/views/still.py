"""What stands still on a stage, as columns: a table for each kind of part, at its place in one room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mqlab.spec.action import Consumer, Producer
from mqlab.spec.openmq.actions import Send
from mqlab.spec.steps import SMALLEST
from mqlab.spec.values import matches
from mqlab.views import letters
from mqlab.views.boxes import Box, Curve
from mqlab.views.cast import SceneParts
from mqlab.views.flights import Flights
from mqlab.views.folded import CollapsedParts
from mqlab.views.plan import Stage
from mqlab.views.tracks import Table

Columns = dict[str, Table]

SHAPES: dict[str, str] = {
    "brokers": "node name role x y w h store",
    "clients": "node name role x y w h mouth",
    "consumers": "node name card row prefetch priority exclusive chips",
    "stores": "name kind x y w h",
    "hosts": "name x y w h",
    "links": "name kind a b both count x0 y0 cx cy x1 y1 under chips",
    "groups": "node name count x y w h",
    "members": "node group",
    "wires": "kind frm to x0 y0 cx cy x1 y1",
    "labels": "text kind link x y w h",
    "bridges": "link back",
    "limits": "node dest bytes size",
    "ways": "x0 y0 cx cy x1 y1 from to frm to_node",
    "plan": "width height size pipe mark open hidden shared",
}


def columns(cast: SceneParts, stage: Stage, moving: Flights) -> Columns:
    """Return what stands still: cards, what joins them, words beside the lines, the ways of what moves."""
    names = [name for name, _ in cast.nodes]
    stored = {
        no: number for number, store in enumerate(cast.stores) for no in store.members if number in stage.stores
    }
    rows: dict[str, list[tuple[object, ...]]] = {
        "brokers": [
            (no, names[no], cast.nodes[no][1], *_box(box), stored.get(no, -1))
            for no, box in stage.brokers.items()
        ],
        "clients": [
            (c.node, c.name, c.role, *_box(stage.clients[c.node]), _mouth(cast, stage, c.node, c.homes))
            for c in cast.clients
        ],
        "consumers": list(_consumers(moving.cast)),
        "stores": [
            (cast.stores[no].name, cast.stores[no].kind, *_box(box)) for no, box in stage.stores.items()
        ],
        "hosts": [(name, *_box(box)) for name, box in stage.hosts.items()],
        "links": [
            (
                link.name,
                link.kind,
                link.a,
                link.b,
                link.both,
                link.count,
                *_curve(curve),
                curve.under,
                "; ".join(link.chips),
            )
            for link, curve in zip(cast.links, stage.links, strict=True)
        ],
        "wires": [(wire.kind, wire.frm, wire.to, *_curve(wire.curve)) for wire in stage.wires],
        "labels": [(label.text, label.kind, label.link, *_box(label.box)) for label in stage.labels],
    }
    of = cast.link_of
    rows["bridges"] = [
        (of[bridge], cast.seen_as(cast.numbers[frm]) != cast.links[of[bridge]].a)
        if bridge in of
        else (-1, False)
        for bridge, frm in enumerate(cast.trace.names["link_from"])
    ]
    rows["groups"], rows["members"] = _groups(cast, stage)
    rows["limits"] = list(_limits(cast))
    rows["plan"] = [_plan(cast, stage)]
    found = {table: _turn(rows[table], SHAPES[table].split()) for table in rows}
    return {**found, "ways": moving.ways(stage, cast)}


def _plan(cast: SceneParts, stage: Stage) -> tuple[object, ...]:
    """Return what holds for the whole of a layout."""
    size, room = stage.size, stage.room
    shared = letters.shared([cast.nodes[no][0] for no in stage.brokers])
    opened = cast.open if isinstance(cast, CollapsedParts) else -1
    return room.w, room.h, size.name, size.pipe, size.mark, opened, stage.hidden, shared


def _turn(rows: Iterable[Sequence[object]], names: Sequence[str]) -> Table:
    """Return rows as columns; without rows the columns are there and empty."""
    found: Table = {name: [] for name in names}
    for row in rows:
        for name, value in zip(names, row, strict=True):
            found[name].append(round(value, 2) if isinstance(value, float) else value)
    return found


def _groups(cast: SceneParts, stage: Stage) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return the groups, each at its card or in its frame, and which broker is in which."""
    if not isinstance(cast, CollapsedParts):
        return [], []
    groups, members = [], []
    for node, group in cast.groups.items():
        box = stage.opened if node == cast.open else stage.brokers[node]
        groups.append((node, group.name, len(group.members), *_box(box or stage.room)))
        members += [(no, node) for no in group.members]
        members += [(no, node) for no in cast.clients_in(node)]
    return groups, members


def _box(box: Box) -> tuple[float, float, float, float]:
    return box.x, box.y, box.w, box.h


def _curve(c: Curve) -> tuple[float, ...]:
    return c.x0, c.y0, c.cx, c.cy, c.x1, c.y1


def _mouth(cast: SceneParts, stage: Stage, node: int, homes: Sequence[int]) -> str:
    """Return at which edge of a client's card its line begins: left, right, top or bottom."""
    box = stage.clients[node]
    wire = next((w.curve for w in stage.wires if w.kind == "wire" and w.frm == node), None)
    if wire is None:
        return "left"
    edges = {
        "left": abs(wire.x0 - box.left),
        "right": abs(wire.x0 - box.right),
        "top": abs(wire.y0 - box.top),
        "bottom": abs(wire.y0 - box.bottom),
    }
    return min(edges, key=lambda edge: edges[edge])


def _consumers(cast: SceneParts) -> Iterable[tuple[int, str, int, int, int, int, bool, str]]:
    """Yield each consumer: its card, its row in it, its prefetch where that is a number of messages, and what
    sets it apart: its priority, whether it is exclusive, and that in words with durable and its selector.
    """
    told = _prefetches(cast)
    opened = {one.name: one for one in cast.trace.actions if isinstance(one, Consumer)}
    for client in cast.clients:
        own = (client.node,) if client.role == "consumer" else client.consumers
        for row, no in enumerate(own):
            name = cast.nodes[no][0]
            one = opened.get(name)
            priority, exclusive = (one.priority, one.exclusive) if one else (0, False)
            chips = ["exclusive"] if exclusive else []
            chips += [f"priority {priority}"] if priority else []
            chips += ["durable"] if one and one.durable else []
            chips += [one.selector] if one and one.selector else []
            yield (
                no,
                name,
                client.node,
                row,
                told.get(name, -1),
                priority,
                exclusive,
                "; ".join(chips),
            )


def _limits(cast: SceneParts) -> Iterable[tuple[int, int, int, int]]:
    """Yield each queue whose memory has a limit: its broker, its number, the limit and a message's bytes.

    Where messages are of several sizes nobody can tell from a trace how much is used.
    """
    sizes = {one.size for one in cast.trace.actions if isinstance(one, (Producer, Send))}
    dests = cast.trace.names["dest"]
    for row in cast.scenario.get("brokers", ()):
        node = cast.numbers.get(row.get("name"), -1)
        policies = [one for one in row.get("policies", ()) if one.get("memory_limit")]
        for dest, called in enumerate(dests if policies and len(sizes) == 1 else ()):
            kind, _, name = called.partition("://")
            fit = [one for one in policies if kind in one and matches(one[kind], name)]
            if kind == "queue" and fit:
                yield node, dest, fit[0]["memory_limit"], max(SMALLEST, *sizes)


def _prefetches(cast: SceneParts) -> dict[str, int]:
    """Return consumer -> prefetch, as the runs' snapshots tell; ActiveMQ counts it in messages."""
    found: dict[str, int] = {}
    for snapshot in cast.trace.header.get("snapshots", {}).values():
        for broker in snapshot.get("brokers", {}).values():
            for subscription in broker.get("subscriptions", ()):
                if subscription.get("consumer") and "prefetch" in subscription:
                    found[subscription["consumer"]] = subscription["prefetch"]
    for one in cast.trace.actions:
        if isinstance(one, Consumer) and one.prefetch is not None:
            found[one.name] = one.prefetch
    return found
