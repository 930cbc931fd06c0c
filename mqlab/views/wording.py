"""The words beside the lines of a stage: names of connectors, and the options that are not the default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product

from mqlab.views import letters
from mqlab.views.boxes import Box, Curve, crosses
from mqlab.views.cast import SceneParts
from mqlab.views.plan import Label, Stage, boxes

ALONG = tuple(0.5 + sign * step * 0.04 for step in range(10) for sign in (-1, 1) if step or sign > 0)
SMALLEST = 10.5  # px of letters in which a name is written rather than cut
ON_LINE = 44.0  # px of a line that are seen beside a name that stands on it
STRANDS = 10.0  # px beside a pipe in which the lines of its subscriptions run


def label(cast: SceneParts, stage: Stage) -> None:
    """Put the names of connectors, and their options, beside their lines; at small sizes a lens tells them."""
    if stage.size.name == "XS" or len(cast.links) > 24:
        return
    taken = boxes(stage)
    connectors = [link for link in cast.links if link.kind == "connector"]
    alike = len(connectors) > 2 and len({link.chips for link in connectors}) == 1
    for number, (link, curve) in enumerate(zip(cast.links, stage.links, strict=True)):
        if link.kind == "connector" and link.count == 1:  # of several the line says how many
            _put(stage, taken, Label(link.name, "name", number, Box(0, 0, 0, 0)), curve)
            for chip in () if alike else link.chips[:2]:
                _put(stage, taken, Label(chip, "chip", number, Box(0, 0, 0, 0)), curve)
    if alike and connectors[0].chips:
        _say_once(stage, taken, connectors[0].chips)


def unnamed(cast: SceneParts, stage: Stage) -> int:
    """Return how many connectors have no name at their line, or a cut one, where there should be some."""
    if stage.size.name not in ("L", "M") or len(cast.links) > 24:
        return 0
    named = {label.link: label.text for label in stage.labels if label.kind == "name"}
    links = enumerate(cast.links)
    return sum(named.get(no) != link.name for no, link in links if link.kind == "connector" and link.count == 1)


def _say_once(stage: Stage, taken: list[Box], chips: Sequence[str]) -> None:
    """Put what all connectors have in common into a corner, if one has room for it."""
    text = f"all connectors: {', '.join(chips)}"
    text = letters.fitted(text, stage.room.w * 0.6, 10.5)
    w, h = letters.width(text, 10.5), 16.0
    curves = [*stage.links, *(wire.curve for wire in stage.wires)]
    xs = (10 + w / 2, stage.room.w - 10 - w / 2, stage.room.w / 2)
    for y, x in product((stage.room.h - 10, 12), xs):
        box = Box(x, y, w, h)
        if _free(stage, box, taken, curves):
            stage.labels.append(Label(text, "common", -1, box))
            return


def _put(stage: Stage, taken: list[Box], label: Label, curve: Curve) -> None:
    """Add a label at the free place nearest to the middle of its line; where there is none, a lens tells it.

    A name is cut only where there is no room for all of it.
    """
    size, bold, pad = (12.5, True, 4) if label.kind == "name" else (11, False, 12)
    others = [*stage.links, *(wire.curve for wire in stage.wires)]
    rest = [one for one in others if one != curve]
    short = letters.fitted(label.text, max(70, curve.length - 8), size, bold)
    smaller = [(label.text, SMALLEST)] if label.kind == "name" else []
    for text, letter in ((label.text, size), *smaller, (short, size)):
        w, h = letters.width(text, letter, bold) + pad, letter + (8 if label.kind == "chip" else 4)
        beside = ((box, others) for box in _places(stage, curve, w, h, label.kind))
        on = ((box, rest) for box in (_on(curve, w, h) if label.kind == "name" else ()))
        box = next((box for box, lines in chain(beside, on) if _free(stage, box, taken, lines)), None)
        if box is not None:
            stage.labels.append(Label(text, label.kind, label.link, box))
            taken.append(box)
            return


def _on(curve: Curve, w: float, h: float) -> Iterator[Box]:
    """Yield places of a name on its own line where enough of the line is left to be seen."""
    for u in ALONG:
        (x, y), (nx, ny) = curve.at(u), curve.normal(u)
        covers = min(w / max(abs(ny), 1e-6), h / max(abs(nx), 1e-6))
        if curve.length >= covers + ON_LINE:
            yield Box(x, y, w, h)


def _places(stage: Stage, curve: Curve, w: float, h: float, kind: str) -> Iterator[Box]:
    """Yield places of a label beside its line, so near that a reader sees whose it is."""
    side = -curve.under  # subscriptions run under the pipe, or at the left of an upright one
    further = [(20, side), (30, side), (40, side), (40, -side)] if kind == "chip" else []
    for far, sign in ((0, side), (STRANDS, -side), (6, side), (12, side), *further):
        for u in ALONG:
            x, y = curve.at(u)
            nx, ny = curve.normal(u)
            # As far along the normal as it takes for the box to lie wholly at one side of the line.
            off = stage.size.pipe / 2 + 4 + far + (abs(nx) * w + abs(ny) * h) / 2
            yield Box(x + sign * nx * off, y + sign * ny * off, w, h)


def _free(stage: Stage, box: Box, taken: Sequence[Box], curves: Sequence[Curve]) -> bool:
    inside = box.left > 2 and box.right < stage.room.w - 2 and box.top > 2 and box.bottom < stage.room.h - 2
    return (
        inside
        and not any(box.meets(other, 3) for other in taken)
        and not any(crosses(curve, box, stage.size.pipe / 2) for curve in curves)
    )
