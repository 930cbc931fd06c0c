"""Stages of very many brokers: all groups closed, and for each group one on which it is open.

The open one has the middle of the room, and the others stand around it, each on the side on which it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import atan2

from mqlab.views import groups, shapes
from mqlab.views.boxes import Box, around
from mqlab.views.cast import SceneParts
from mqlab.views.folded import CollapsedParts
from mqlab.views.layout import positions
from mqlab.views.plan import Stage
from mqlab.views.shapes import Point, Room
from mqlab.views.sizes import ONE_ROOM, SMALL, TINY, WIDE, Size
from mqlab.views.stage import Builder, build

AISLE = (34.0, 26.0)  # px between the open group and those around it, for lines and clients
APART = 8.0  # px between two that stand around


def stages(cast: SceneParts) -> Iterator[tuple[CollapsedParts, Stage]]:
    """Yield what is drawn and where: first with all groups closed, then with each one open."""
    parts = groups.groups(cast)
    closed = CollapsedParts(cast.trace, cast, parts)
    whole = build(closed, *ONE_ROOM)
    if whole.size.name == TINY.name:  # names tell more than lines that go around all others
        whole = _legible(closed, (WIDE, SMALL), ())
    yield closed, whole
    for node in closed.groups:
        opened = CollapsedParts(cast.trace, cast, parts, node)
        yield opened, _open(opened, whole.brokers)


def _open(cast: CollapsedParts, before: Mapping[int, Box]) -> Stage:
    """Return the stage of a cast with an open group; *before* is where the groups were when all were closed."""
    middle = before[cast.open]
    inside = set(cast.groups[cast.open].members)
    rim = sorted(
        (no for no in cast.standing if no not in inside),
        key=lambda no: atan2(before[no].y - middle.y, before[no].x - middle.x),
    )
    stage = _legible(cast, (SMALL, TINY), rim)
    brokers = [stage.brokers[no] for no in inside]
    clients = [stage.clients[one.node] for one in cast.clients if inside & set(one.homes)]
    frame = around([*brokers, *clients], 7)
    if any(frame.meets(stage.brokers[no]) for no in rim):
        frame = around(brokers, 5)
    stage.opened = frame
    return stage


def _legible(cast: CollapsedParts, sizes: Sequence[Size], rim: Sequence[int]) -> Stage:
    """Return the stage at the first of some sizes at which no cards overlap, whatever lines go through."""
    for size in sizes:
        stage = _Around(cast, size, *ONE_ROOM, is_strict=False, rim=rim).build(False, False, False)
        if stage.links or not cast.links:
            break
    return stage


@dataclass(slots=True)
class _Around(Builder):
    """Builds a stage with some in the middle; `rim` are those around them, from the left over the top."""

    rim: Sequence[int] = ()

    def brokers(self, inner: Box) -> dict[int, Box]:
        """Return the box of each that is seen."""
        w, h = self.size.broker
        more = max((c[0] + self.size.wire for c in self._clients(self.rim)), default=0.0)
        inner = Box(inner.x, inner.y, inner.w - 2 * more, inner.h)
        found = dict(zip(self.rim, _around(inner, len(self.rim), self.size), strict=True))
        members = [no for no in self.cast.standing if no not in found]
        side = (w + AISLE[0], h + AISLE[1]) if self.rim else (0.0, 0.0)
        more = max((c[0] + self.size.wire for c in self._clients(members)), default=0.0)
        room = Box(inner.x, inner.y, inner.w - 2 * (side[0] + more), inner.h - 2 * side[1])
        return found | self._members(members, room)

    def _clients(self, homes: Sequence[int]) -> list[tuple[float, float]]:
        """Return how large the clients of some brokers are."""
        return [
            self.size.of_client(client.role, len(client.consumers))
            for client in self.cast.clients
            if set(homes) & set(client.homes)
        ]

    def _members(self, members: Sequence[int], room: Box) -> dict[int, Box]:
        w, h = self.size.broker
        names = {no: str(no) for no in members}
        edges = [
            (names[link.a], names[link.b]) for link in self.cast.links if link.a in names and link.b in names
        ]
        cells = Room(int(room.w // (w + 12)), int(room.h // (h + 8)), w, h)
        found = self._scaled(positions(list(names.values()), edges, {}, cells), room)
        boxes = list(found.values())
        if any(a.meets(b, 4) for i, a in enumerate(boxes) for b in boxes[:i]):
            found = self._scaled(shapes.apart(list(names.values()), cells), room)
        return found

    def _scaled(self, at: Mapping[str, Point], room: Box) -> dict[int, Box]:
        w, h = self.size.broker
        low = [min(p[i] for p in at.values()) for i in (0, 1)]
        span = [max(p[i] for p in at.values()) - low[i] or 1.0 for i in (0, 1)]
        return {
            int(name): self.size.card(
                room.x + ((x - low[0]) / span[0] - 0.5) * (room.w - w),
                room.y + (0.5 - (y - low[1]) / span[1]) * (room.h - h),
            )
            for name, (x, y) in at.items()
        }


def _around(room: Box, count: int, size: Size) -> list[Box]:
    """Return places along the rim of a room, from its left side upwards, equally many cards apart."""
    w, h = size.broker
    wide, high = room.w - w, room.h - h
    across, down = wide / (w + APART), high / (h + APART)
    found = []
    for i in range(count):
        far = (i + 0.5) / count * 2 * (across + down)
        far = (far + down / 2) % (2 * (across + down))  # the angle -pi is in the middle of the left side
        x, y = _along(far, across, down)
        found.append(size.card(room.x + (x - 0.5) * wide, room.y + (y - 0.5) * high))
    return found


def _along(far: float, across: float, down: float) -> Point:
    """Return the point of the unit square's rim (y downwards) that lies *far* from its lower left corner."""
    if far < down:
        return 0.0, 1 - far / down
    if far < down + across:
        return (far - down) / across, 0.0
    if far < 2 * down + across:
        return 1.0, (far - down - across) / down
    return 1 - (far - 2 * down - across) / across, 1.0
