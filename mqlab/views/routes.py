"""The lines of a stage: straight where both ends see each other, else bowed around what stands between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot

from mqlab.views.boxes import Box, Curve, around, bent, between, crosses
from mqlab.views.cast import Link
from mqlab.views.sizes import Size

BENDS = (0.0, 0.1, -0.1, 0.18, -0.18, 0.28, -0.28, 0.4, -0.4, 0.55, -0.55, 0.8, -0.8, 1.1, -1.1)
CLEAR = 4.0  # px between a line and a card it does not belong to


@dataclass(frozen=True)
class Routes:
    """Finds lines between the boxes of brokers; in a *ring* of all with all they bow to its middle."""

    size: Size
    brokers: Mapping[int, Box]
    ring: bool = False

    def links(self, links: Sequence[Link], strict: bool) -> list[Curve] | None:
        """Return a curve for each link; parallel ones run side by side.

        If it is *strict*, None as soon as one has to go through a card.
        """
        pairs = Counter(frozenset((link.a, link.b)) for link in links)
        seen: Counter[frozenset[int]] = Counter()
        middle = around(self.brokers.values())
        found = []
        for link in links:
            pair = frozenset((link.a, link.b))
            a, b = self.brokers[link.a], self.brokers[link.b]
            off = (seen[pair] - (pairs[pair] - 1) / 2) * self._apart(a, b, pairs[pair])
            seen[pair] += 1
            if link.a > link.b:
                off = -off
            if self.ring:
                found.append(self._bowed(a, b, middle, off))
                continue
            curve, is_clear = self._line(link, a, b, off)
            if strict and not is_clear:
                return None
            found.append(curve)
        return found

    def _apart(self, a: Box, b: Box, count: int) -> float:
        """Return how far parallel lines are from each other: none leaves its card at a corner."""
        flat = abs(a.x - b.x) > abs(a.y - b.y)
        edge = min(a.h, b.h) if flat else min(a.w, b.w)
        room = (edge - self.size.pipe - 4) / max(1, count - 1)
        return max(min(room, self.size.pipe + max(8, self.size.pipe)), self.size.pipe + 4)

    def _line(self, link: Link, a: Box, b: Box, off: float) -> tuple[Curve, bool]:
        others = [box for no, box in self.brokers.items() if no not in (link.a, link.b)]
        gap = min(self.size.pipe / 2 + 1, self.size.port / 4)
        facing = bent(_port(a, b), _port(b, a), 0.0).beside(off)
        if not any(crosses(facing, box, gap) for box in others):
            return facing, True
        return clear(a, b, others, gap, off)

    def _bowed(self, a: Box, b: Box, middle: Box, off: float) -> Curve:
        x, y = (a.x + b.x) / 2, (a.y + b.y) / 2
        pull = 0.45
        curve = Curve(a.x, a.y, x + (middle.x - x) * pull, y + (middle.y - y) * pull, b.x, b.y)
        return between(a, b, curve.beside(off))


def clear(a: Box, b: Box, others: Sequence[Box], gap: float, off: float = 0.0) -> tuple[Curve, bool]:
    """Return a curve from box to box that comes near no other, and True; else a straight line and False."""
    for bend in BENDS:
        curve = between(a, b, bent((a.x, a.y), (b.x, b.y), bend).beside(off))
        if not any(crosses(curve, box, gap) for box in others):
            return curve, True
    return between(a, b, bent((a.x, a.y), (b.x, b.y), 0.0).beside(off)), False


def wire(client: Box, broker: Box, others: Sequence[Box], gap: float) -> Curve:
    """Return a line from a client's edge to the edge of its broker that faces it."""
    start, end = _port(client, broker), _port(broker, client)
    straight = bent(start, end, 0.0)
    if not any(crosses(straight, box, gap) for box in others):
        return straight
    for bend in BENDS[1:]:
        curve = bent(start, end, bend)
        hit = any(crosses(curve, box, gap) for box in others)
        if (
            not hit
            and not crosses(curve.part(0.05, 0.95), broker)
            and not crosses(curve.part(0.05, 0.95), client)
        ):
            return curve
    return straight


def _port(box: Box, other: Box) -> tuple[float, float]:
    """Return the point of a box's edge that is nearest to another, not too near to a corner."""
    if box.is_round:
        far = hypot(other.x - box.x, other.y - box.y) or 1.0
        reach = box.w / 2 / far
        return box.x + (other.x - box.x) * reach, box.y + (other.y - box.y) * reach
    dx = max(0.0, other.left - box.right, box.left - other.right)
    dy = max(0.0, other.top - box.bottom, box.top - other.bottom)
    inset_x, inset_y = min(14.0, box.w / 3), min(14.0, box.h / 3)
    x = min(max(other.x, box.left + inset_x), box.right - inset_x)
    y = min(max(other.y, box.top + inset_y), box.bottom - inset_y)
    if dx >= dy:
        return (box.right if other.x > box.x else box.left), y
    return x, (box.bottom if other.y > box.y else box.top)
