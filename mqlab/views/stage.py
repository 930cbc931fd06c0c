"""The stage: pixels of brokers, clients, connectors and gauges, such that nothing hides another.

Units are those of the figure: `WIDTH` by `HEIGHT`, y upwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import atan2, cos, hypot, pi, sin

from mqlab.views.layout import Point, positions

WIDTH, HEIGHT = 1000, 540
LEFT, RIGHT, BOTTOM, TOP = 285, 150, 78, 106  # room for the legend and for clients at the rim
BEND = 0.14  # how far a connector bows out, of its length
REACH = 58  # from a broker's rim to its clients


@dataclass(frozen=True, slots=True)
class Way:
    """A curve along which things move: quadratic, from 0 to 1 with a control point."""

    x0: float
    y0: float
    cx: float
    cy: float
    x1: float
    y1: float

    @property
    def length(self) -> float:
        """The distance between its ends."""
        return hypot(self.x1 - self.x0, self.y1 - self.y0)

    def at(self, u: float) -> Point:
        """Return the point at *u* of the way."""
        v = 1 - u
        return (
            v * v * self.x0 + 2 * u * v * self.cx + u * u * self.x1,
            v * v * self.y0 + 2 * u * v * self.cy + u * u * self.y1,
        )


@dataclass(slots=True)
class Stage:
    """Where everything stands. `radius` is that of a broker."""

    brokers: dict[str, Point]
    radius: float
    links: list[Way]
    clients: dict[str, Point] = field(default_factory=dict)
    gauges: dict[str, Point] = field(default_factory=dict)


def build(
    names: Sequence[str], links: Sequence[tuple[str, str]], wishes: Mapping[str, Point],
    clients: Sequence[tuple[str, str]], near: Sequence[tuple[str, str]] = (),
) -> Stage:  # fmt: skip
    """Return the stage of brokers, *links* (from, to) and *clients* (name, broker).

    Brokers in *near* belong together, without a line between them.
    """
    units = positions(names, [*links, *near], wishes)
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - BOTTOM - TOP
    points = {name: (LEFT + x * across, BOTTOM + y * up) for name, (x, y) in units.items()}
    stage = Stage(points, _radius(list(points.values())), [])
    pairs: Counter[tuple[str, str]] = Counter()
    for a, b in links:
        stage.links.append(_curve(points[a], points[b], BEND * (1 + pairs[a, b])))
        pairs[a, b] += 1
    for name in names:
        _place_around(stage, name, [client for client, home in clients if home == name])
    return stage


def _radius(points: Sequence[Point]) -> float:
    gaps = [hypot(a[0] - b[0], a[1] - b[1]) for i, a in enumerate(points) for b in points[:i]]
    return max(9.0, min(27.0, 0.22 * min(gaps, default=200.0)))


def _curve(a: Point, b: Point, bend: float) -> Way:
    dx, dy = b[0] - a[0], b[1] - a[1]
    middle = ((a[0] + b[0]) / 2 - bend * dy, (a[1] + b[1]) / 2 + bend * dx)
    return Way(*a, *middle, *b)


def _place_around(stage: Stage, name: str, clients: Sequence[str]) -> None:
    """Give the broker's clients and its gauge the directions that are least crowded."""
    x, y = stage.brokers[name]
    taken = _directions(stage, name)
    outward = atan2(y - HEIGHT / 2, x - (WIDTH + LEFT - RIGHT) / 2)
    if not taken:
        outward = 0.0
    spread = min(REACH, 2.2 * stage.radius + 16)
    for client in clients:
        angle = _free(taken, outward)
        taken.append(angle)
        far = stage.radius + spread
        stage.clients[client] = (
            min(WIDTH - 96, max(250, x + far * cos(angle))),
            min(HEIGHT - 52, max(18, y + far * sin(angle))),
        )  # fmt: skip
    angle = _free(taken, outward)
    near = stage.radius + 14
    stage.gauges[name] = (x + near * cos(angle), y + near * sin(angle))


def _directions(stage: Stage, name: str) -> list[float]:
    """Return the angles at which connectors leave or reach a broker."""
    x, y = stage.brokers[name]
    found = []
    for way in stage.links:
        for end in (way.at(0.2), way.at(0.8)):
            starts = hypot(way.x0 - x, way.y0 - y) < 1 and end == way.at(0.2)
            ends = hypot(way.x1 - x, way.y1 - y) < 1 and end == way.at(0.8)
            if starts or ends:
                found.append(atan2(end[1] - y, end[0] - x))
    return found


def _free(taken: Sequence[float], outward: float) -> float:
    """Return the direction farthest from all *taken*; among good ones the most outward."""

    def score(angle: float) -> float:
        gap = min((_between(angle, other) for other in taken), default=pi)
        return min(gap, pi / 3.2) * 2 - 0.35 * _between(angle, outward)

    return max((i * pi / 24 - pi for i in range(48)), key=score)


def _between(a: float, b: float) -> float:
    return abs((a - b + pi) % (2 * pi) - pi)
