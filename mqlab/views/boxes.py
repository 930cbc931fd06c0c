"""Plane geometry of the stage: boxes, and curves from one box to another. Units are pixels, y downwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import hypot

Point = tuple[float, float]
STEPS = 24  # pieces in which a curve is looked at


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle by its centre, or a disc as wide as that."""

    x: float
    y: float
    w: float
    h: float
    is_round: bool = False

    @property
    def left(self) -> float:
        """Its least x."""
        return self.x - self.w / 2

    @property
    def right(self) -> float:
        """Its greatest x."""
        return self.x + self.w / 2

    @property
    def top(self) -> float:
        """Its least y."""
        return self.y - self.h / 2

    @property
    def bottom(self) -> float:
        """Its greatest y."""
        return self.y + self.h / 2

    def meets(self, other: Box, gap: float = 0.0) -> bool:
        """Whether the boxes overlap or are closer than *gap*."""
        if self.is_round and other.is_round:
            return hypot(self.x - other.x, self.y - other.y) < (self.w + other.w) / 2 + gap
        return (
            abs(self.x - other.x) < (self.w + other.w) / 2 + gap
            and abs(self.y - other.y) < (self.h + other.h) / 2 + gap
        )

    def holds(self, point: Point, gap: float = 0.0) -> bool:
        """Whether a point is in the box, or closer than *gap*."""
        if self.is_round:
            return hypot(point[0] - self.x, point[1] - self.y) < self.w / 2 + gap
        return abs(point[0] - self.x) < self.w / 2 + gap and abs(point[1] - self.y) < self.h / 2 + gap

    def moved(self, dx: float, dy: float) -> Box:
        """Return the box elsewhere."""
        return Box(self.x + dx, self.y + dy, self.w, self.h, self.is_round)


def around(boxes: Iterable[Box], margin: float = 0.0) -> Box:
    """Return the smallest box that holds all of *boxes*, and *margin* on each side."""
    found = list(boxes)
    left, right = min(b.left for b in found) - margin, max(b.right for b in found) + margin
    top, bottom = min(b.top for b in found) - margin, max(b.bottom for b in found) + margin
    return Box((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)


@dataclass(frozen=True, slots=True)
class Curve:
    """A quadratic curve from 0 to 1 with one control point."""

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

    @property
    def back(self) -> Curve:
        """The same curve from its other end."""
        return Curve(self.x1, self.y1, self.cx, self.cy, self.x0, self.y0)

    def points(self, steps: int = STEPS) -> list[Point]:
        """Return points along the curve; of a straight one the ends."""
        if self.is_straight:
            return [(self.x0, self.y0), (self.x1, self.y1)]
        return [self.at(i / steps) for i in range(steps + 1)]

    @property
    def is_straight(self) -> bool:
        """Whether the control point lies on the line between the ends."""
        across = (self.cx - self.x0) * (self.y1 - self.y0) - (self.cy - self.y0) * (self.x1 - self.x0)
        return abs(across) < 0.5 * (self.length or 1)

    def part(self, u: float, v: float) -> Curve:
        """Return the piece of the curve from *u* to *v*."""
        (x0, y0), (x1, y1) = self.at(u), self.at(v)
        # The control point of a piece is the blossom of both its ends.
        cx = (1 - u) * (1 - v) * self.x0 + (u * (1 - v) + v * (1 - u)) * self.cx + u * v * self.x1
        cy = (1 - u) * (1 - v) * self.y0 + (u * (1 - v) + v * (1 - u)) * self.cy + u * v * self.y1
        return Curve(x0, y0, cx, cy, x1, y1)

    @property
    def under(self) -> int:
        """Which side of the curve lies below it, or at its left if it is upright: 1 is the right of its way."""
        flat = abs(self.x1 - self.x0) > abs(self.y1 - self.y0)
        return 1 if (self.x1 > self.x0 if flat else self.y1 > self.y0) else -1

    def normal(self, u: float) -> Point:
        """Return the direction to the right of the way at *u*, one unit long."""
        dx = (1 - u) * (self.cx - self.x0) + u * (self.x1 - self.cx)
        dy = (1 - u) * (self.cy - self.y0) + u * (self.y1 - self.cy)
        size = hypot(dx, dy) or 1.0
        return -dy / size, dx / size

    def beside(self, off: float) -> Curve:
        """Return the curve moved by *off* to its right, as one sees it who goes along it (y downwards)."""
        size = self.length or 1.0
        dx, dy = -(self.y1 - self.y0) / size * off, (self.x1 - self.x0) / size * off
        return Curve(self.x0 + dx, self.y0 + dy, self.cx + dx, self.cy + dy, self.x1 + dx, self.y1 + dy)


def bent(a: Point, b: Point, bend: float) -> Curve:
    """Return a curve from *a* to *b* that bows out by *bend* of its length (0: a straight line)."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    return Curve(*a, (a[0] + b[0]) / 2 - bend * dy, (a[1] + b[1]) / 2 + bend * dx, *b)


def between(one: Box, other: Box, curve: Curve) -> Curve:
    """Return the piece of a curve that lies outside of the boxes at its two ends."""
    start, end = _leaves(one, curve), 1 - _leaves(other, curve.back)
    return curve.part(start, end) if start < end else curve


def _leaves(box: Box, curve: Curve) -> float:
    low, high = 0.0, 1.0
    if not box.holds(curve.at(0.0)) or box.holds(curve.at(1.0)):
        return 0.0
    for _ in range(18):
        middle = (low + high) / 2
        if box.holds(curve.at(middle)):
            low = middle
        else:
            high = middle
    return high


def seen(curve: Curve, boxes: Iterable[Box]) -> float:
    """Return how much of a curve lies outside of boxes (px)."""
    found, points = list(boxes), [curve.at(i / STEPS) for i in range(STEPS + 1)]
    return sum(
        hypot(b[0] - a[0], b[1] - a[1])
        for a, b in pairwise(points)
        if not any(box.holds(((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)) for box in found)
    )


def crosses(curve: Curve, box: Box, gap: float = 0.0) -> bool:
    """Whether a curve comes into a box, or closer than *gap*."""
    if (
        max(curve.x0, curve.cx, curve.x1) < box.left - gap
        or min(curve.x0, curve.cx, curve.x1) > box.right + gap
    ):
        return False
    if (
        max(curve.y0, curve.cy, curve.y1) < box.top - gap
        or min(curve.y0, curve.cy, curve.y1) > box.bottom + gap
    ):
        return False
    points = curve.points()
    if box.is_round:
        return any(_nears(a, b, box) < box.w / 2 + gap for a, b in pairwise(points))
    return any(_enters(a, b, box, gap) for a, b in pairwise(points))


def _nears(a: Point, b: Point, box: Box) -> float:
    """Return how near a straight piece comes to the middle of a box."""
    dx, dy, x, y = b[0] - a[0], b[1] - a[1], box.x - a[0], box.y - a[1]
    along = min(1.0, max(0.0, (x * dx + y * dy) / (dx * dx + dy * dy or 1.0)))
    return hypot(x - along * dx, y - along * dy)


def _enters(a: Point, b: Point, box: Box, gap: float) -> bool:
    """Whether a straight piece comes into the box (Liang and Barsky's clipping)."""
    low, high = 0.0, 1.0
    for start, step, least, most in (
        (a[0], b[0] - a[0], box.left - gap, box.right + gap),
        (a[1], b[1] - a[1], box.top - gap, box.bottom + gap),
    ):
        if abs(step) < 1e-9:
            if not least < start < most:
                return False
            continue
        near, far = sorted(((least - start) / step, (most - start) / step))
        low, high = max(low, near), min(high, far)
        if low >= high:
            return False
    return True


class Raster:
    """Which curves come through which squares of the plane: what a search asks thousands of times."""

    SQUARE = 8

    def __init__(self) -> None:
        self._in: dict[tuple[int, int], set[int]] = {}
        self._rows: dict[int, set[int]] = {}  # of each column the squares that are not empty
        self._count = 0

    def add(self, curve: Curve, wide: float) -> None:
        """Draw a curve that is *wide* px."""
        reach = int(wide // (2 * self.SQUARE))
        for x, y in self._squares(curve):
            for dx in range(-reach, reach + 1):
                self._rows.setdefault(x + dx, set()).update(range(y - reach, y + reach + 1))
                for dy in range(-reach, reach + 1):
                    self._in.setdefault((x + dx, y + dy), set()).add(self._count)
        self._count += 1

    def is_free(self, box: Box) -> bool:
        """Whether no curve comes through a box."""
        size = self.SQUARE
        rows = range(int(box.top // size), int(box.bottom // size) + 1)
        return all(
            self._rows[x].isdisjoint(rows)
            for x in range(int(box.left // size), int(box.right // size) + 1)
            if x in self._rows
        )

    def met_by(self, curve: Curve) -> int:
        """Return about how many curves another one crosses."""
        met: set[int] = set()
        for square in self._squares(curve):
            met |= self._in.get(square, set())
        return len(met)

    def _squares(self, curve: Curve) -> set[tuple[int, int]]:
        size = self.SQUARE
        steps = max(2, int(2.2 * curve.length / size))
        # The curve as a polynomial: what is looked at a hundred times for each line of a complete graph.
        ax, bx = curve.x0 - 2 * curve.cx + curve.x1, 2 * (curve.cx - curve.x0)
        ay, by = curve.y0 - 2 * curve.cy + curve.y1, 2 * (curve.cy - curve.y0)
        return {
            (
                int((curve.x0 + u * (bx + u * ax)) // size),
                int((curve.y0 + u * (by + u * ay)) // size),
            )
            for u in (i / steps for i in range(steps + 1))
        }
