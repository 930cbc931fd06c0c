"""The plan of a stage: the boxes and lines of one network at one size (px, y downwards)."""

from __future__ import annotations

from dataclasses import dataclass, field

from mqlab.views.boxes import Box, Curve, around
from mqlab.views.sizes import Size


@dataclass(frozen=True, slots=True)
class Label:
    """Words on the stage beside a line: the name of a link, or a chip with an option."""

    text: str
    kind: str
    link: int
    box: Box


@dataclass(frozen=True, slots=True)
class Wire:
    """A line from a client (its node) or a store (its place in the cast) to a broker."""

    kind: str
    frm: int
    to: int
    curve: Curve


@dataclass(slots=True)
class Stage:
    """Where everything stands. `faults` counts overlaps, and lines through cards they do not belong to.

    `hidden` counts the connectors that are too short to show what goes through them.
    `opened` is the frame around the brokers of a group that is open.
    """

    size: Size
    brokers: dict[int, Box]
    room: Box
    clients: dict[int, Box] = field(default_factory=dict)
    stores: dict[int, Box] = field(default_factory=dict)
    hosts: dict[str, Box] = field(default_factory=dict)
    links: list[Curve] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    faults: int = 0
    hidden: int = 0
    opened: Box | None = None


def boxes(stage: Stage) -> list[Box]:
    """Return all that nothing else may cover: cards, and hosts with their names."""
    hosts = [Box(b.x, b.y - 8, b.w, b.h + 16) for b in stage.hosts.values()]
    return [*stage.brokers.values(), *stage.clients.values(), *stage.stores.values(), *hosts]


def extent(stage: Stage) -> Box:
    """Return the part of a stage in which something is: cards, and lines, which may bow far out."""
    pipe = stage.size.pipe
    bows = [Box(x, y, 2, 2) for wire in stage.wires for x, y in wire.curve.points()]
    bows += [Box(x, y, pipe, pipe) for curve in stage.links if not curve.is_straight for x, y in curve.points()]
    return around([*boxes(stage), *bows])
