"""Where the brokers stand: a picture that shows the network's shape.

Pure Python, and always the same for the same network. Positions are in the unit square, y upwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import cos, hypot, pi, sin

from mqlab.views import shapes
from mqlab.views.shapes import Near, Point, Room

Edges = Sequence[tuple[str, str]]
ROOM = Room(5, 6, 176, 112)


def positions(
    names: Sequence[str], edges: Edges, wishes: Mapping[str, Point], room: Room = ROOM
) -> dict[str, Point]:
    """Return a position for each of *names*: their wishes if all have one, else by shape.

    A chain is a row, folded where it is longer than the room is wide; a hub stands between its spokes; a
    tree has its root at the left, a mesh is a grid, a concentrator has two columns, a complete graph is an
    ellipse; anything else is pulled into shape until distances look like hops.
    """
    if names and all(name in wishes for name in names):
        return {name: wishes[name] for name in names}
    if len(names) == 1:
        return {names[0]: (0.5, 0.5)}
    near = _neighbours(names, edges)
    found = _by_shape(names, near, room, one_way={b for _, b in edges}.isdisjoint(a for a, _ in edges))
    return found or dict(_pulled(tuple(names), tuple(edges)))


@lru_cache(maxsize=8)
def _pulled(names: tuple[str, ...], edges: tuple[tuple[str, str], ...]) -> dict[str, Point]:
    """Pull brokers into shape; kept, since every part of a long run shows the same network."""
    return _fit(_upright(_stress(names, shapes.hops(names, _neighbours(names, edges))), edges))


def is_complete(names: Sequence[str], edges: Edges) -> bool:
    """Whether everybody is joined to everybody, and these are more than three."""
    near = _neighbours(names, edges)
    return len(names) > 3 and all(len(near[name]) == len(names) - 1 for name in names)


def is_row(names: Sequence[str], edges: Edges) -> bool:
    """Whether the brokers are a chain."""
    near = _neighbours(names, edges)
    return len(names) > 1 and shapes.chain(names, near, ROOM) is not None


def _by_shape(names: Sequence[str], near: Near, room: Room, one_way: bool) -> dict[str, Point] | None:
    """Return the positions of the first shape that fits; whose connectors lead one way is a concentrator."""
    if not any(near.values()):
        return shapes.apart(names, room)
    known = (shapes.chain, shapes.hub, shapes.complete, shapes.layers, shapes.tree, shapes.mesh)
    for shape in (shapes.layers, *known) if one_way and len(names) > 2 else known:
        found = shape(names, near, room)
        if found:
            return found
    return None


def _neighbours(names: Sequence[str], edges: Edges) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for a, b in edges:
        if a != b:
            found[a][b] = found[b][a] = None
    return {name: list(others) for name, others in found.items()}


def _stress(names: Sequence[str], hops: Mapping[str, Mapping[str, int]]) -> dict[str, Point]:
    """Pull the brokers until distances are like hops (stress majorisation, 120 rounds)."""
    count = len(names)
    far = max(max(row.values()) for row in hops.values()) + 1
    want = [[hops[a].get(b, far) for b in names] for a in names]
    xs, ys = _landmarks(want)
    for _ in range(120):
        for i in range(count):
            sum_x = sum_y = weight = 0.0
            for j in range(count):
                if i == j:
                    continue
                dx, dy = xs[i] - xs[j], ys[i] - ys[j]
                pull = want[i][j] / (hypot(dx, dy) or 1e-9)
                w = want[i][j] ** -2
                sum_x += w * (xs[j] + dx * pull)
                sum_y += w * (ys[j] + dy * pull)
                weight += w
            xs[i], ys[i] = sum_x / weight, sum_y / weight
    return {name: (xs[i], ys[i]) for i, name in enumerate(names)}


def _landmarks(want: Sequence[Sequence[int]]) -> tuple[list[float], list[float]]:
    """Return a first guess: how far each is from two pairs of brokers that are far apart."""
    everyone = range(len(want))
    a = max(everyone, key=lambda i: want[0][i])
    b = max(everyone, key=lambda i: want[a][i])
    c = max(everyone, key=lambda i: (min(want[a][i], want[b][i]), -i))
    d = max(everyone, key=lambda i: (want[c][i] - abs(want[a][i] - want[b][i]), -i))
    # A little of the circle keeps apart those that are equally far from all four.
    turn = 2 * pi / len(want)
    xs = [want[a][i] - want[b][i] + 0.1 * sin(turn * i) for i in everyone]
    ys = [want[c][i] - want[d][i] + 0.1 * cos(turn * i) for i in everyone]
    return xs, ys


def _upright(points: Mapping[str, Point], edges: Edges) -> dict[str, Point]:
    """Turn the figure until connectors lie flat or stand straight; the first broker is at the left."""

    def turned(angle: float) -> dict[str, Point]:
        c, s = cos(angle), sin(angle)
        return {name: (x * c - y * s, x * s + y * c) for name, (x, y) in points.items()}

    def slant(angle: float) -> float:
        at = turned(angle)
        return sum(
            abs((at[a][0] - at[b][0]) * (at[a][1] - at[b][1]))
            / (hypot(at[a][0] - at[b][0], at[a][1] - at[b][1]) ** 2 or 1)
            for a, b in edges
            if a != b
        )

    best = turned(min((i * pi / 72 for i in range(36)), key=slant))
    first = next(iter(points))
    middle_x = sum(x for x, _ in best.values()) / len(best)
    middle_y = sum(y for _, y in best.values()) / len(best)
    flip_x = -1 if best[first][0] > middle_x else 1
    flip_y = -1 if best[first][1] < middle_y else 1
    return {name: (x * flip_x, y * flip_y) for name, (x, y) in best.items()}


def _fit(points: Mapping[str, Point]) -> dict[str, Point]:
    """Stretch points into the unit square; a thin figure stays thin."""
    xs, ys = [p[0] for p in points.values()], [p[1] for p in points.values()]
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    scale_x, scale_y = wide or 1.0, max(high, wide * 0.35, 1e-9)
    middle = (max(ys) + min(ys)) / 2
    return {name: ((x - min(xs)) / scale_x, 0.5 + (y - middle) / scale_y) for name, (x, y) in points.items()}
