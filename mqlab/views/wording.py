"""The words beside the lines of a stage: names of connectors, and the options that are not the default."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from mqlab.views import letters
from mqlab.views.boxes import Box, Curve, crosses
from mqlab.views.cast import SceneParts
from mqlab.views.plan import Label, Stage, boxes


def label(cast: SceneParts, stage: Stage) -> None:
    """Put the names of connectors, and their options, beside their lines; at small sizes a lens tells them."""
    if stage.size.name not in ("L", "M") or len(cast.links) > 24:
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
    """Add a label at the first free place along its line; where there is none, a lens tells it."""
    size, bold, pad = (12.5, True, 4) if label.kind == "name" else (11, False, 12)
    flat = abs(curve.x1 - curve.x0) > abs(curve.y1 - curve.y0)
    text = letters.fitted(label.text, max(70, curve.length - 8) if flat else 150, size, bold)
    w, h = letters.width(text, size, bold) + pad, size + (8 if label.kind == "chip" else 4)
    others = [*stage.links, *(wire.curve for wire in stage.wires)]
    for u, off in product((0.5, 0.4, 0.6, 0.3, 0.7), (-1, 1)):
        for more in (0, 20, 40):
            x, y = curve.at(u)
            # Subscriptions run under the pipe, or at the left of an upright one.
            far = stage.size.pipe / 2 + 4 + more + (18 if off > 0 else 0)
            box = Box(x, y + off * (far + h / 2), w, h) if flat else Box(x - off * (far + w / 2), y, w, h)
            if not flat and more:
                box = box.moved(off * more, more)
            if _free(stage, box, taken, others):
                stage.labels.append(Label(text, label.kind, label.link, box))
                taken.append(box)
                return


def _free(stage: Stage, box: Box, taken: Sequence[Box], curves: Sequence[Curve]) -> bool:
    inside = box.left > 2 and box.right < stage.room.w - 2 and box.top > 2 and box.bottom < stage.room.h - 2
    return (
        inside
        and not any(box.meets(other, 3) for other in taken)
        and not any(crosses(curve, box, stage.size.pipe / 2) for curve in curves)
    )
