"""The shapes that the guides draw (Fuse 2, "Overview of topologies"), each at its own places.

Every function returns positions in the unit square (y upwards), or None for a network of another shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, cos, hypot, pi, sin

Point = tuple[float, float]
Near = Mapping[str, Sequence[str]]


LONG = 12  # brokers of a chain; one that fits into one row is folded only if it is longer


@dataclass(frozen=True, slots=True)
class Room:
    """How many cards stand side by side (`across`) and on top of each other (`down`), and their size (px)."""

    across: int
    down: int
    w: float
    h: float


def hops(names: Sequence[str], near: Near) -> dict[str, dict[str, int]]:
    """Return from each name the hops to all that can be reached."""
    return {name: hops_from(name, near) for name in names}


def hops_from(start: str, near: Near) -> dict[str, int]:
    """Return the hops from one name to all that can be reached."""
    found, ring = {start: 0}, [start]
    for here in ring:  # grows while it is read
        for there in near[here]:
            if there not in found:
                found[there] = found[here] + 1
                ring.append(there)
    return found


def _spread(count: int) -> list[float]:
    """Return *count* equal steps from 0 to 1; one alone is in the middle."""
    return [0.5] if count == 1 else [i / (count - 1) for i in range(count)]


def apart(names: Sequence[str], room: Room) -> dict[str, Point]:
    """Return rows of what has no shape, as long as the room allows, every other one backwards."""
    return _snake(list(names), room)


def _snake(names: Sequence[str], room: Room) -> dict[str, Point]:
    rows = ceil(len(names) / max(2, room.across))
    while (rows > 1 or len(names) > LONG) and rows < room.down and _is_tight(len(names), rows, room):
        rows += 1
    long = ceil(len(names) / rows)
    xs, ys = _spread(long), _spread(rows)
    found = {}
    for i, name in enumerate(names):
        line, place = divmod(i, long)
        found[name] = (xs[place] if line % 2 == 0 else xs[long - 1 - place], 1 - ys[line])
    return found


def chain(names: Sequence[str], near: Near, room: Room) -> dict[str, Point] | None:
    """Return a row, folded like a snake where it is too long."""
    ends = [name for name in names if len(near[name]) == 1]
    if len(ends) != 2 or any(len(near[name]) > 2 for name in names):
        return None
    row = list(hops_from(ends[0], near))
    return _snake(row, room) if len(row) == len(names) else None


def _is_tight(count: int, rows: int, room: Room) -> bool:
    """Whether the places of a row are closer to each other than the rows."""
    return room.across * room.w / ceil(count / rows) < 0.9 * room.down * room.h / rows


def hub(names: Sequence[str], near: Near, room: Room) -> dict[str, Point] | None:
    """Return a hub between two wings of spokes, or in the middle of a ring of them."""
    hubs = [name for name in names if len(near[name]) == len(names) - 1]
    spokes = [name for name in names if name not in hubs]
    if len(hubs) != 1 or len(spokes) < 2 or any(len(near[name]) != 1 for name in spokes):
        return None
    left = ceil(len(spokes) / 2)
    if left > room.down:
        way, door = len(spokes) // 2, [""] * ceil(0.12 * len(spokes))  # for the clients of the hub
        return {**ring([*spokes[:way], *door, *spokes[way:]], room), hubs[0]: (0.5, 0.5)}
    found = {hubs[0]: (0.5, 0.5)}
    for x, wing in ((0.0, spokes[:left]), (1.0, spokes[left:])):
        found |= {name: (x, 1 - y) for name, y in zip(wing, _spread(len(wing)), strict=True)}
    return found


def complete(names: Sequence[str], near: Near, room: Room) -> dict[str, Point] | None:
    """Return an ellipse of brokers that are all joined to each other."""
    if len(names) < 3 or any(len(near[name]) < len(names) - 1 for name in names):
        return None
    if len(names) == 3:
        return dict(zip(names, ((0.0, 1.0), (1.0, 1.0), (0.5, 0.0)), strict=True))
    if len(names) == 4:
        return dict(zip(names, ((0.0, 1.0), (1.0, 1.0), (1.0, 0.0), (0.0, 0.0)), strict=True))
    return ring(names, room)


def ring(names: Sequence[str], room: Room) -> dict[str, Point]:
    """Return an ellipse on which neighbours are as far apart, in cards, everywhere."""
    wide, high = room.across, room.down
    points = [(0.5 + 0.5 * sin(a), 0.5 + 0.5 * cos(a)) for a in (i * pi / 720 for i in range(1441))]
    way = [0.0]
    for (x0, y0), (x1, y1) in pairwise(points):
        way.append(way[-1] + hypot((x1 - x0) * wide, (y1 - y0) * high))
    found, place = {}, 0
    for i, name in enumerate(names):
        while way[place] < way[-1] * i / len(names):
            place += 1
        found[name] = points[place]
    return found


def layers(names: Sequence[str], near: Near, room: Room) -> dict[str, Point] | None:
    """Return a concentrator: a wide layer at the left, each joined to all of the narrow one at the right.

    Layers that are longer than the room is high are arcs of an ellipse, the wide one on top.
    """
    first = [name for name in names if set(near[name]) == set(near[names[0]])]
    second = [name for name in names if name not in first]
    whole = all(set(near[name]) == set(second) for name in first)
    if not second or not whole or any(set(near[name]) != set(first) for name in second):
        return None
    if len(first) == 2 == len(second):  # a ring of four
        return None
    if len(first) > room.down:  # a second column would stand in the way of the first one's lines
        gap = ["", ""]
        way = [*first, *gap, *reversed(second), *gap]
        start = len(first) // 2
        found = ring([*way[start:], *way[:start]], room)
        return {name: found[name] for name in names}
    return {**_columns(first, room, 0.0, 0.3), **_columns(second, room, 1.0, 0.7)}


def _columns(names: Sequence[str], room: Room, outer: float, inner: float) -> dict[str, Point]:
    """Return a column of brokers, or several from *outer* to *inner* where one is too long."""
    count = ceil(len(names) / max(1, room.down))
    long = ceil(len(names) / count)
    found = {}
    for i, name in enumerate(names):
        column, place = divmod(i, long)
        x = outer if count == 1 else outer + (inner - outer) * column / (count - 1)
        if count == 1:
            found[name] = (x, 1 - _spread(long)[place])
        else:  # every other column half a place lower, so that lines pass between
            found[name] = (x, 1 - (place + 0.5 * (column % 2)) / (long - 0.5))
    return found


def tree(names: Sequence[str], near: Near, room: Room) -> dict[str, Point] | None:
    """Return a tree with its root at the left, or on top if it has more leaves than the room is high."""
    if sum(map(len, near.values())) != 2 * (len(names) - 1) or len(hops_from(names[0], near)) < len(names):
        return None
    far = {name: max(hops_from(name, near).values()) for name in names}
    root = min(names, key=lambda name: (far[name], names.index(name)))
    across, leaves = _leaves(root, near)
    depths, width = hops_from(root, near), max(1, leaves - 1)
    depth = max(depths.values())
    if leaves > room.down and room.across > room.down:
        crowded = leaves > room.across  # then every other leaf stands a little higher
        lift = {name: 0.45 * (across[name] % 2) for name in names if crowded and len(near[name]) == 1}
        return {name: (across[name] / width, 1 - (depths[name] - lift.get(name, 0)) / depth) for name in names}
    return {name: (depths[name] / depth, 1 - across[name] / width) for name in names}


def _leaves(root: str, near: Near) -> tuple[dict[str, float], int]:
    """Return for each broker its place among the leaves, and how many these are."""
    across: dict[str, float] = {}
    leaves = 0

    def place(name: str, parent: str | None) -> float:
        nonlocal leaves
        kids = [place(kid, name) for kid in near[name] if kid != parent]
        if not kids:
            leaves += 1
        across[name] = sum(kids) / len(kids) if kids else float(leaves - 1)
        return across[name]

    place(root, None)
    return across, leaves


def mesh(names: Sequence[str], near: Near, room: Room) -> dict[str, Point] | None:
    """Return a grid, if everybody is joined to just its neighbours in one.

    Two corners of a side tell all: in a grid the hops to them are the sums and differences of the places.
    """
    corners = [name for name in names if len(near[name]) == 2]
    if len(names) < 4 or not corners or max(map(len, near.values())) > 4:
        return None
    one = corners[0]
    here = hops_from(one, near)
    for other in corners[1:]:
        found = _grid(here, hops_from(other, near), here.get(other, 0))
        if len(found) == len(names) and _is_grid(found, near):
            wide, high = (max(at[i] for at in found.values()) or 1 for i in (0, 1))
            if wide < high:
                found, wide, high = {name: (y, x) for name, (x, y) in found.items()}, high, wide
            return {name: (x / wide, 1 - y / high) for name, (x, y) in found.items()}
    return None


def _grid(here: Mapping[str, int], there: Mapping[str, int], side: int) -> dict[str, tuple[int, int]]:
    found = {}
    for name, a in here.items():
        b = there.get(name, -1)
        if b < 0 or (a - b + side) % 2 or a + b < side:
            return {}
        found[name] = ((a - b + side) // 2, (a + b - side) // 2)
    return found


def _is_grid(at: Mapping[str, tuple[int, int]], near: Near) -> bool:
    taken = set(at.values())
    if len(taken) < len(at):
        return False
    for name, (x, y) in at.items():
        around = {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)} & taken
        if {at[other] for other in near[name]} != around:
            return False
    return True
