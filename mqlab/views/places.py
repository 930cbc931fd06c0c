"""Places for clients and stores: each at the free spot that suits it best, outside of the brokers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mqlab.views.boxes import Box, Curve, Raster, around, crosses
from mqlab.views.cast import Client, SceneParts
from mqlab.views.plan import Stage
from mqlab.views.routes import wire
from mqlab.views.sizes import Size

LOOKED_AT = 60_000  # pairs of a line and a card
OVERLAP, THROUGH, OUTSIDE, OTHER_SIDE = 10_000.0, 900.0, 700.0, 44.0


@dataclass(slots=True)
class Placing:
    """Puts one client after the other at its best spot."""

    stage: Stage
    cast: SceneParts
    size: Size
    lines: list[tuple[str, int, int, Curve]] = field(default_factory=list)
    links: Raster = field(default_factory=Raster)
    drawn: Raster = field(default_factory=Raster)

    def place(self) -> None:
        """Give every store and every client its box and its lines."""
        for curve in self.stage.links:
            self.links.add(curve, self.size.pipe)
        roomy = self.size.name == "L" or (self.size.name == "M" and len(self.stage.brokers) < 7)
        for number, store in enumerate(self.cast.stores if roomy else ()):
            homes = [self.stage.brokers[no] for no in store.members]
            box = self._best(self.size.store, homes, "right", middle=True)
            self.stage.stores[number] = box
            self._join("store", number, box, store.members)
        for client in sorted(self.cast.clients, key=lambda c: (c.role == "consumer", c.node)):
            size = self.size.of_client(client.role, len(client.consumers))
            homes = [self.stage.brokers[no] for no in client.homes]
            if not homes:
                homes = [around(self.stage.brokers.values())]
            wished = self._side(client, homes)
            box = self._best(size, homes, wished)
            self.stage.clients[client.node] = box
            self._join("wire", client.node, box, client.homes)

    def wires(self) -> list[tuple[str, int, int, Curve]]:
        """Return the lines of all clients and stores."""
        return self.lines

    def faults(self) -> int:
        """Return how many pairs of cards overlap, and how many lines go through cards of others.

        The lines of a large complete graph, which bow to its middle, are too many to be looked at.
        """
        stage = self.stage
        cards = {("broker", no): box for no, box in stage.brokers.items()}
        cards |= {("wire", no): box for no, box in stage.clients.items()}
        cards |= {("store", no): box for no, box in stage.stores.items()}
        if len(stage.links) * len(stage.brokers) > LOOKED_AT:
            return 0
        boxes = list(cards.values())
        found = sum(a.meets(b, 1) for i, a in enumerate(boxes) for b in boxes[:i])
        frames = list(stage.hosts.values())
        found += sum(a.meets(b, 1) for i, a in enumerate(frames) for b in frames[:i])
        lines = [
            ({("broker", link.a), ("broker", link.b)}, curve)
            for link, curve in zip(self.cast.links, stage.links, strict=True)
        ]
        lines += [({(w.kind, w.frm), ("broker", w.to)}, w.curve) for w in stage.wires]
        return found + sum(
            crosses(curve, box, 1) for ends, curve in lines for key, box in cards.items() if key not in ends
        )

    def _side(self, client: Client, homes: Sequence[Box]) -> str:
        """Return at which side of its broker a client stands best: producers before it, consumers behind it."""
        xs = [box.x for box in self.stage.brokers.values()]
        left, right = min(xs), max(xs)
        middle = around(homes)
        if right - left < 1:
            return "right" if client.role == "consumer" and not self.cast.stores else "left"
        several = len(client.homes) > 1 and middle.x < (left + right) / 2
        if several or middle.x < left + 0.12 * (right - left):
            return "left"
        if middle.x > right - 0.12 * (right - left):
            return "right"
        ys = [box.y for box in self.stage.brokers.values()]
        return "above" if middle.y < (min(ys) + max(ys)) / 2 - 1 else "below"

    def _best(self, size: tuple[float, float], homes: Sequence[Box], side: str, middle: bool = False) -> Box:
        spots = list(self._spots(size, homes, side))
        if middle and len(homes) > 1:
            whole = around(homes)
            spots.insert(0, (-20.0, Box(whole.x, whole.y, *size)))
        best, least = spots[0][1], float("inf")
        for wished, box in sorted(spots, key=lambda spot: spot[0]):
            if wished >= least:  # no later one can be better
                break
            cost = wished + self._cost(box, homes)
            if cost < least:
                best, least = box, cost
        return best

    def _spots(
        self, size: tuple[float, float], homes: Sequence[Box], wished: str
    ) -> Iterator[tuple[float, Box]]:
        """Yield (cost, box) of places around the brokers of a client."""
        whole, (w, h), gap = around(homes), size, self.size.wire
        apart = 24 if self.size.name == "L" else 8
        steps = 7 if self.size.name in ("L", "M") else 9
        for side in ("left", "right", "above", "below"):
            turned = 0.0 if side == wished else OTHER_SIDE * (1.4 if _faces(side, wished) else 1.0)
            flat = side in ("left", "right")
            sign = 1 if side in ("right", "below") else -1
            for far in (1.0, 1.7, 2.6, 4.0):
                for step in range(-steps, steps + 1):
                    slide = step * ((h + apart) / 2 if flat else (w + apart) / 2)
                    off = far * gap
                    if flat:
                        box = Box(whole.x + sign * (whole.w / 2 + off + w / 2), whole.y + slide, w, h)
                    else:
                        box = Box(whole.x + slide, whole.y + sign * (whole.h / 2 + off + h / 2), w, h)
                    yield turned + abs(slide) * 0.8 + (far - 1) * 34, box

    def _cost(self, box: Box, homes: Sequence[Box]) -> float:
        stage, gap = self.stage, {"L": 16, "M": 8}.get(self.size.name, 2)
        taken = [*stage.brokers.values(), *stage.clients.values(), *stage.stores.values()]
        cost = OVERLAP * sum(box.meets(other, gap) for other in taken)
        cost += OVERLAP * sum(_across(box, frame) for frame in stage.hosts.values())
        whole = around([*taken, *stage.hosts.values(), box])
        out = max(0.0, whole.w - stage.room.w + 8) + max(0.0, whole.h - stage.room.h + 8)
        cost += OUTSIDE * (out > 0) + out * 4
        if cost >= OVERLAP:
            return cost
        cost += THROUGH * (not self.links.is_free(box)) + THROUGH * (not self.drawn.is_free(box))
        if cost >= THROUGH:
            return cost
        for home in homes:
            if home not in taken:
                continue
            others = [other for other in taken if other != home]
            curve = wire(box, home, others, 3)
            cost += THROUGH * sum(crosses(curve, other, 3) for other in others)
            cost += 14 * self.links.met_by(curve) + 30 * self.drawn.met_by(curve)
            cost += 0.12 * curve.length
        return cost

    def _join(self, kind: str, number: int, box: Box, homes: Sequence[int]) -> None:
        stage = self.stage
        taken = [*stage.brokers.values(), *stage.clients.values(), *stage.stores.values()]
        for no in homes:
            home = stage.brokers[no]
            others = [other for other in taken if other not in (home, box)]
            curve = wire(box, home, others, 3)
            self.lines.append((kind, number, no, curve))
            self.drawn.add(curve, 2)


def _faces(one: str, other: str) -> bool:
    return {one, other} in ({"left", "right"}, {"above", "below"})


def _across(box: Box, frame: Box) -> bool:
    """Whether a box lies on the rim of a frame, or in it."""
    return box.meets(frame, 6)
