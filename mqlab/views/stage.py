"""The stage: where every card, line and label lies, such that nothing hides another.

Units are pixels at the size at which a stage is drawn in a notebook, y downwards. A network is drawn at the
largest of four sizes (`sizes`) at which no two cards overlap and no line goes through a card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from mqlab.views.boxes import Box, Curve, around, seen
from mqlab.views.cast import Client, SceneParts, Store
from mqlab.views.layout import is_complete, is_row, positions
from mqlab.views.places import Placing
from mqlab.views.plan import Stage, Wire, extent
from mqlab.views.routes import Routes
from mqlab.views.shapes import Room
from mqlab.views.sizes import HEIGHT, TINY, WIDTH, Size, sizes
from mqlab.views.wording import label, unnamed

SHOWS = 58.0  # px of a connector that are seen, so that 40 are left where the stage is drawn smaller
# Px of one among more brokers than that: a stage so full is drawn smallest. Cards of M are given up later than
# those of L, since smaller ones do not show what a broker is.
WISHED, MANY = 62.5, {"L": 6, "M": 12}
MOST_SHOWN = 60  # brokers; of more, groups are drawn
TRIED = 2  # stages of one size on which only names are missing, before it is left at that
HOPELESS = 10_000  # faults of a stage on which brokers overlap, or their lines go through cards
NEAR = {"L": (300, 120), "M": (110, 68), "S": (80, 62), "XS": (60, 26)}  # most between cards (px)


def build(cast: SceneParts, width: float = WIDTH, height: float = HEIGHT) -> Stage:
    """Return the stage of a cast in a room of that size (px).

    It is the largest at which nothing hides another and each connector shows enough of itself; of those of one
    size the one with the most names at their lines.
    """
    if not cast.standing:  # an empty network: a room to build in
        return Stage(sizes(())[0], {}, Box(width / 2, height / 2, width, height))
    best: tuple[tuple[float, ...], Stage] | None = None
    for size in sizes([cast.nodes[no][0] for no in cast.standing]):
        good = 0
        for sides, above, below in _ways(cast, size, width):
            if size.name == TINY.name and not sides == above == below:
                continue  # so small, one place is as good as another
            stage = Builder(cast, size, width, height).build(sides, above, below)
            if not stage.faults:
                stage = _roomier(cast, stage, (sides, above, below)) or stage
            stage.hidden = len(hidden(cast, stage, SHOWS))
            lacks = hidden(cast, stage, WISHED if len(stage.brokers) > MANY.get(size.name, 12) else SHOWS)
            worth = (stage.faults, len(lacks), sum(lacks), unnamed(cast, stage))
            good += not any(worth[:2])
            if best is None or worth < best[0]:
                best = worth, stage
            if not any(worth) or good == TRIED:
                break
        if best is not None and not any(best[0][:2]):
            break
    assert best is not None
    return best[1]


def hidden(cast: SceneParts, stage: Stage, shows: float) -> list[float]:
    """Return of each connector that shows less than *shows* of itself what it lacks (px)."""
    if len(stage.brokers) > MOST_SHOWN:
        return []
    ends = ((stage.brokers[link.a], stage.brokers[link.b]) for link in cast.links)
    lacks = (shows - seen(curve, pair) for curve, pair in zip(stage.links, ends, strict=False))
    return [lack for lack in lacks if lack > 0]


class Kept:
    """Builds the stage of each cast once: every part of a long run has the same, or one of a few."""

    def __init__(self) -> None:
        self.stages: dict[str, Stage] = {}

    def build(self, cast: SceneParts, width: float, height: float) -> Stage:
        """Return what `build` does, made now or before."""
        parts = [
            cast.nodes,
            cast.clients,
            cast.links,
            cast.stores,
            cast.sets,
            cast.hosts,
            cast.wishes,
        ]
        key = repr([width, height, cast.standing, *parts])
        if key not in self.stages:
            self.stages[key] = build(cast, width, height)
        return self.stages[key]


def _ways(cast: SceneParts, size: Size, width: float) -> list[tuple[bool, bool, bool]]:
    """Return where clients may stand: at the sides, above, below. A row that just fits is not folded."""
    ways = list(product((True, False), (False, True), (False, True)))
    names = [str(no) for no in cast.standing]
    row = len(names) * (size.broker[0] + size.port) - size.port + 12
    wide = {c.role: size.of_client(c.role, len(c.consumers))[0] + size.wire for c in cast.clients}
    if row <= width < row + sum(wide.values()):
        edges = [(f"{link.a}", f"{link.b}") for link in cast.links]
        ways.sort(key=lambda way: way[0] and is_row(names, edges))
    return ways


def _roomier(cast: SceneParts, stage: Stage, ways: tuple[bool, bool, bool]) -> Stage | None:
    """Return the stage once more, with what is left of the room between its cards; None if that does not do."""
    whole = extent(stage)
    spare_x, spare_y = stage.room.w - whole.w - 8, stage.room.h - whole.h - 8
    if max(spare_x, spare_y) < 40 or len(cast.standing) > 9:
        return None
    wire = stage.size.wire + min(34.0, max(0.0, spare_x) / 6)
    size = replace(stage.size, wire=wire) if cast.stores or len(stage.brokers) < 3 else stage.size
    found = Builder(cast, size, stage.room.w, stage.room.h, max(0.0, spare_x), max(0.0, spare_y)).build(*ways)
    return None if found.faults else found


@dataclass(slots=True)
class Builder:
    """Builds one stage at one size."""

    cast: SceneParts
    size: Size
    width: float
    height: float
    spare_x: float = 0.0  # what an earlier try has left of the room
    spare_y: float = 0.0
    is_strict: bool = True  # where a line has to go through a card, the size is given up

    def build(self, sides: bool, above: bool, below: bool) -> Stage:
        """Return a stage that leaves room for clients at the *sides*, *above* and *below* the brokers."""
        inner = self._inner(sides, above, below)
        stage = Stage(
            self.size,
            self.brokers(inner),
            Box(self.width / 2, self.height / 2, self.width, self.height),
        )
        self._frame_hosts(stage)
        last = self.size.name == TINY.name
        links = None
        if last or not _overlap(stage):
            routes = Routes(self.size, stage.brokers, ring=self._is_ring())
            links = routes.links(self.cast.links, strict=not last and self.is_strict)
        if links is None:  # clients would not mend it
            stage.faults = HOPELESS
            return stage
        stage.links = links
        placing = Placing(stage, self.cast, self.size)
        placing.place()
        stage.wires = [Wire(*wire) for wire in placing.wires()]
        self._centre(stage)
        stage.faults = placing.faults() + self._outside(stage)
        label(self.cast, stage)
        return stage

    def _is_ring(self) -> bool:
        names = [str(no) for no in self.cast.standing]
        return len(names) > 4 and is_complete(names, [(f"{link.a}", f"{link.b}") for link in self.cast.links])

    def _inner(self, sides: bool, above: bool, below: bool) -> Box:
        """Return the room that is left for brokers."""
        size = self.size
        parts: Sequence[Client | Store] = [*self.cast.clients, *self.cast.stores]
        if not parts:
            return Box(self.width / 2, self.height / 2, self.width - 24, self.height - 24)
        wide = max([size.of_client(c.role, len(c.consumers))[0] for c in self.cast.clients] or [size.store[0]])
        high = max([size.of_client(c.role, len(c.consumers))[1] for c in self.cast.clients] or [size.store[1]])
        left = 6 + (wide + size.wire if sides else 0)
        right = 6 + (max(wide, size.store[0] if self.cast.stores else 0) + size.wire if sides else 0)
        top = 6 + (high + size.wire if above else 0)
        bottom = 6 + (high + size.wire if below else 0)
        w = self.width - left - right + self.spare_x * 0.8
        h = self.height - top - bottom + self.spare_y * 0.8
        return Box(left + w / 2, top + h / 2, max(10.0, w), max(10.0, h))

    def _stacks(self) -> list[list[int]]:
        """Return brokers that stand on top of each other: those of a host, or of a set."""
        stacks: list[list[int]] = []
        standing = set(self.cast.standing)
        order = {no: i for i, members in enumerate(self.cast.sets) for no in members}
        if self._is_ring() and not self.cast.hosts:  # beside each other on the ring
            return [[no] for no in sorted(self.cast.standing, key=lambda no: order.get(no, len(order)))]
        for brokers in [*self.cast.hosts.values(), *self.cast.sets]:
            fresh = [no for no in brokers if no in standing]
            if len(fresh) > 1 and not any(no in stack for stack in stacks for no in fresh):
                stacks.append(sorted(fresh, key=lambda no: order.get(no, no)))
        known = {no for stack in stacks for no in stack}
        alone = [[no] for no in self.cast.standing if no not in known]
        return sorted([*stacks, *alone], key=lambda stack: self.cast.standing.index(stack[0]))

    def brokers(self, inner: Box) -> dict[int, Box]:
        """Return the box of each broker."""
        size, stacks = self.size, self._stacks()
        w, h = size.broker
        framed = 2 * size.frame if self.cast.hosts else 0
        tallest = max(map(len, stacks))
        cell_w, cell_h = w + framed, tallest * h + (tallest - 1) * size.stack + framed
        gap = size.port, max(size.port * 0.24, 2.0)
        across = max(1, int((inner.w + gap[0]) // (cell_w + gap[0])))
        down = max(1, int((inner.h + gap[1]) // (cell_h + gap[1])))
        at = self._units(stacks, Room(across, down, cell_w, cell_h))
        xs, ys = sorted({x for x, _ in at}), sorted({y for _, y in at})
        most_x, most_y = NEAR[size.name]
        wide = min(inner.w - cell_w, max(1, len(xs) - 1) * (cell_w + most_x))
        high = min(inner.h - cell_h, max(1, len(ys) - 1) * (cell_h + most_y))
        if len(stacks) > 5:  # many lines want all there is
            wide, high = inner.w - cell_w, inner.h - cell_h
        found = {}
        for stack, (x, y) in zip(stacks, at, strict=True):
            middle = inner.x + (x - 0.5) * wide, inner.y + (0.5 - y) * high
            top = middle[1] - ((len(stack) - 1) * (h + size.stack)) / 2
            below = len(ys) > 1 and y < 0.5  # whoever comes first looks to the middle
            for i, no in enumerate(reversed(stack) if below else stack):
                found[no] = size.card(middle[0], top + i * (h + size.stack))
        return found

    def _units(self, stacks: list[list[int]], room: Room) -> list[tuple[float, float]]:
        """Return the place of each stack in the unit square (y upwards), stretched to its rim."""
        owner = {no: str(i) for i, stack in enumerate(stacks) for no in stack}
        edges = [(owner[link.a], owner[link.b]) for link in self.cast.links]
        edges += [(b, a) for link, (a, b) in zip(self.cast.links, edges, strict=True) if link.both]
        edges = [(a, b) for a, b in edges if a != b]
        wished = {
            str(i): self.cast.wishes[self.cast.nodes[stack[0]][0]]
            for i, stack in enumerate(stacks)
            if self.cast.nodes[stack[0]][0] in self.cast.wishes
        }
        names = [str(i) for i in range(len(stacks))]
        if any(len(stack) > 1 for stack in stacks) and len(stacks) > 2:
            edges = []  # what belongs together stands in rows: lines between all of them say little
        at = positions(names, edges, wished, room)
        low = [min(p[i] for p in at.values()) for i in (0, 1)]
        span = [max(p[i] for p in at.values()) - low[i] for i in (0, 1)]
        return [
            tuple((at[name][i] - low[i]) / span[i] if span[i] > 1e-6 else 0.5 for i in (0, 1))  # type: ignore[misc]
            for name in names
        ]

    def _frame_hosts(self, stage: Stage) -> None:
        for name, brokers in self.cast.hosts.items():
            framed = [stage.brokers[no] for no in brokers if no in stage.brokers]
            frame = around(framed, self.size.frame)
            stage.hosts[name] = Box(frame.x, frame.y - 4, frame.w, frame.h + 8)

    def _centre(self, stage: Stage) -> None:
        """Move everything into the middle of the room."""
        whole = extent(stage)
        dx, dy = self.width / 2 - whole.x, self.height / 2 - whole.y
        for cards in (stage.brokers, stage.clients, stage.stores, stage.hosts):
            for key, box in cards.items():
                cards[key] = box.moved(dx, dy)  # type: ignore[index]
        stage.links = [_moved(curve, dx, dy) for curve in stage.links]
        stage.wires = [Wire(w.kind, w.frm, w.to, _moved(w.curve, dx, dy)) for w in stage.wires]

    def _outside(self, stage: Stage) -> int:
        whole = extent(stage)
        return 5 * (whole.w > self.width + 0.5) + 5 * (whole.h > self.height + 0.5)


def _overlap(stage: Stage) -> bool:
    cards = [*stage.brokers.values()]
    return any(a.meets(b, 1) for i, a in enumerate(cards) for b in cards[:i])


def _moved(curve: Curve, dx: float, dy: float) -> Curve:
    return Curve(curve.x0 + dx, curve.y0 + dy, curve.cx + dx, curve.cy + dy, curve.x1 + dx, curve.y1 + dy)
