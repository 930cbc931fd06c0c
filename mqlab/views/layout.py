"""Where the brokers stand: a picture that shows the network's shape.

Pure Python, and always the same for the same network. Positions are in the unit square, y upwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, hypot, pi, sin

Point = tuple[float, float]
Edges = Sequence[tuple[str, str]]


def positions(names: Sequence[str], edges: Edges, wishes: Mapping[str, Point]) -> dict[str, Point]:
    """Return a position for each of *names*: their wishes if all have one, else by shape.

    A chain is a line, a star has its hub in the middle, a complete graph is a circle, a tree stands
    on its root; anything else is pulled into shape until distances look like hops.
    """
    if names and all(name in wishes for name in names):
        return {name: wishes[name] for name in names}
    if len(names) == 1:
        return {names[0]: (0.5, 0.5)}
    near = _neighbours(names, edges)
    shape = _line(names, near) or _star(names, near) or _complete(names, near) or _tree(names, near)
    return shape or _fit(_upright(_stress(names, _hops(names, near)), edges))


def _neighbours(names: Sequence[str], edges: Edges) -> dict[str, list[str]]:
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for a, b in edges:
        if a != b:
            found[a][b] = found[b][a] = None
    return {name: list(others) for name, others in found.items()}


def _line(names: Sequence[str], near: Mapping[str, list[str]]) -> dict[str, Point] | None:
    ends = [name for name in names if len(near[name]) == 1]
    if len(ends) != 2 or any(len(near[name]) > 2 for name in names):
        return None
    row = [ends[0]]
    while True:
        onward = [name for name in near[row[-1]] if name not in row]
        if not onward:
            break
        row.append(onward[0])
    if len(row) != len(names):
        return None
    step = 1 / (len(row) - 1)
    # A long chain goes in a gentle wave, so that labels of neighbours do not touch.
    lift = 0.12 if len(row) > 6 else 0.0
    return {name: (i * step, 0.5 + lift * (-1) ** i) for i, name in enumerate(row)}


def _circle(names: Sequence[str]) -> dict[str, Point]:
    turn = 2 * pi / len(names)
    return {
        name: (0.5 + 0.5 * sin(turn * i), 0.5 + 0.5 * cos(turn * i)) for i, name in enumerate(names)
    }


def _star(names: Sequence[str], near: Mapping[str, list[str]]) -> dict[str, Point] | None:
    hubs = [name for name in names if len(near[name]) == len(names) - 1]
    others = [name for name in names if name not in hubs]
    if len(hubs) != 1 or any(len(near[name]) != 1 for name in others):
        return None
    return {**_circle(others), hubs[0]: (0.5, 0.5)}


def _complete(names: Sequence[str], near: Mapping[str, list[str]]) -> dict[str, Point] | None:
    if all(len(near[name]) == len(names) - 1 for name in names):
        return _circle(names)
    return None


def _tree(names: Sequence[str], near: Mapping[str, list[str]]) -> dict[str, Point] | None:
    """Return a layered tree under the broker in its middle; None if it is no tree."""
    hops = _hops(names, near)
    if sum(map(len, near.values())) != 2 * (len(names) - 1) or len(hops[names[0]]) < len(names):
        return None
    root = min(names, key=lambda name: (max(hops[name].values()), names.index(name)))
    depth = max(hops[root].values())
    column: dict[str, float] = {}
    leaves = 0

    def place(name: str, parent: str | None) -> float:
        nonlocal leaves
        kids = [place(kid, name) for kid in near[name] if kid != parent]
        if not kids:
            leaves += 1
        column[name] = sum(kids) / len(kids) if kids else float(leaves - 1)
        return column[name]

    place(root, None)
    width = max(1, leaves - 1)
    return {name: (column[name] / width, 1 - hops[root][name] / depth) for name in names}


def _hops(names: Sequence[str], near: Mapping[str, list[str]]) -> dict[str, dict[str, int]]:
    """Return from each name the hops to all that can be reached."""
    table = {}
    for start in names:
        found, ring = {start: 0}, [start]
        for here in ring:  # grows while it is read
            for there in near[here]:
                if there not in found:
                    found[there] = found[here] + 1
                    ring.append(there)
        table[start] = found
    return table


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
            for a, b in edges if a != b
        )  # fmt: skip

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
    return {
        name: ((x - min(xs)) / scale_x, 0.5 + (y - middle) / scale_y)
        for name, (x, y) in points.items()
    }
