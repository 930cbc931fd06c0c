"""The rules of pictures, counted on what the page paints: a layout's columns at the scale of a stage.

`counts(scene, stage, build)` returns rule -> what breaks it, in words. The page takes one of a scene's layouts
and scales it (`page/stage.js: layOut`); the same is done here, so that no browser is needed.
"""

import json
from collections import Counter
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import hypot

from mqlab.views import letters
from mqlab.views.boxes import Box, Curve, crosses
from mqlab.views.sizes import NAMED

STAGES = ((700, 290), (950, 440), (1400, 620))  # px, in windows of 800, 900 and 1200 px
PALETTE = 112  # what Build takes of a stage
AROUND, MOST_SCALE, TELLS = 16, 1.7, {"L": 1, "M": 0.8, "S": 0.6}
SHOWS, BESIDE, FILLS, HIDES = 40, 24, 0.7, 0.6
RULES = ("overlap", "outside", "short connector", "line through a card", "line through a name",
         "name far from its line", "connector without a name", "name cut", "stage not filled")  # fmt: skip


@dataclass
class Painted:
    """One layout on one stage: its columns, and the frame and scale in which they are seen."""

    plan: dict
    frame: Box
    scale: float

    def rows(self, table):
        columns = self.plan[table]
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _box(row, is_round=False):
    return Box(row["x"], row["y"], row["w"], row["h"], is_round)


def _curve(row):
    return Curve(*(row[name] for name in ("x0", "y0", "cx", "cy", "x1", "y1")))


def _used(plan):
    """Return the part of a layout in which something is, as the page does."""
    xs, ys = [], []
    for table in ("brokers", "clients", "stores", "hosts", "labels"):
        t = plan[table]
        xs += [x + s * w / 2 for x, w in zip(t["x"], t["w"], strict=True) for s in (-1, 1)]
        ys += [y + s * h / 2 for y, h in zip(t["y"], t["h"], strict=True) for s in (-1, 1)]
    painted = Painted(plan, None, 1)
    for row in [*painted.rows("links"), *painted.rows("wires")]:
        reach = plan["plan"]["pipe"][0] / 2 if "name" in row else 0
        for x, y in _curve(row).points():
            xs += [x - reach, x + reach]
            ys += [y - reach, y + reach]
    left, right, top, bottom = min(xs), max(xs), min(ys), max(ys)
    return Box((left + right) / 2, (top + bottom) / 2, right - left + 2 * AROUND, bottom - top + 2 * AROUND)


def painted(scene, stage, build=False):
    """Return the layout that the page takes for a stage of that size, at its scale."""
    width, height = stage[0] - (PALETTE if build else 0), stage[1]
    best = None
    for text in scene.columns["plans"]["text"][:3]:
        plan = json.loads(text)
        w, h = plan["plan"]["width"][0], plan["plan"]["height"][0]
        frame = Box(w / 2, h / 2, w, max(h, _used(plan).h - 2 * AROUND)) if build else _used(plan)
        scale = min(width / frame.w, height / frame.h)
        worth = min(1.1, scale) * TELLS.get(plan["plan"]["size"][0][0], 0.5)
        worth *= 1 - HIDES * plan["plan"]["hidden"][0] / max(1, len(plan["links"]["name"]))
        if best is None or worth > best[0] * 1.03:
            best = worth, Painted(plan, frame, min(MOST_SCALE, scale))
        if plan["groups"]["name"]:
            break  # of a network in groups: the layout with all of them closed
    return best[1]


def _outside(curve, boxes):
    """Return how much of a curve is seen, px of the layout: what is not under a card."""
    steps = [curve.at(i / 60) for i in range(61)]
    return sum(hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(steps)
               if not any(box.holds(((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)) for box in boxes))  # fmt: skip


def broken(scene, stage, build=False):
    """Yield (rule, what breaks it) of a scene on a stage."""
    p = painted(scene, stage, build)
    tiny = p.plan["plan"]["size"][0] == "XS"  # brokers are discs
    cards = {("node", row["node"]): _box(row, tiny and t == "brokers")
             for t in ("brokers", "clients") for row in p.rows(t)}  # fmt: skip
    cards |= {("store", i): _box(row) for i, row in enumerate(p.rows("stores"))}
    labels = p.rows("labels")
    links = p.rows("links")
    lines = [({("node", row["a"]), ("node", row["b"])}, row, _curve(row)) for row in links]
    wires = [({(row["kind"].replace("wire", "node"), row["frm"]), ("node", row["to"])}, row, _curve(row))
             for row in p.rows("wires")]  # fmt: skip
    every = [*cards.items(), *((("label", i), _box(row)) for i, row in enumerate(labels))]
    for (a, one), (b, other) in combinations(every, 2):
        if one.meets(other, -0.5):
            yield "overlap", f"{a} on {b}"
    width, height = (stage[0] - (PALETTE if build else 0)) / p.scale, stage[1] / p.scale
    room = Box(p.frame.x, p.frame.y, width, height)
    for key, box in every:
        corners = (box.left, box.top), (box.right, box.bottom)
        if not all(room.holds(corner, 0.01) for corner in corners):  # columns have four digits
            yield "outside", str(key)
    reach = p.plan["plan"]["pipe"][0] / 2
    for number, (_, row, curve) in enumerate(lines):
        for x, y in curve.points():
            if not room.holds((x, y), -reach):
                yield "outside", f"connector {row['name']}"
                break
        seen = _outside(curve, [cards["node", row["a"]], cards["node", row["b"]]]) * p.scale
        if seen < SHOWS - 0.5:
            yield "short connector", f"{row['name']}: {seen:.0f} px"
        yield from _named(p, number, row, curve, labels, len(lines))
    for own, _, curve in wires:
        if not all(room.holds(point, -1) for point in curve.points()):
            yield "outside", f"the line of {own}"
    for own, row, curve in [*lines, *wires]:
        for key, box in cards.items():
            if key not in own and crosses(curve, box):
                yield "line through a card", f"{row.get('name', own)} through {key}"
        for label in labels:
            if row is not (links[label["link"]] if label["link"] >= 0 else None) and crosses(
                curve, _box(label)
            ):
                yield "line through a name", f"{row.get('name', own)} through {label['text']}"
    if build or not cards:
        return
    fills = max((p.frame.w - 2 * AROUND) * p.scale / stage[0], (p.frame.h - 2 * AROUND) * p.scale / stage[1])
    if fills < FILLS and len(cards) > 1:
        yield "stage not filled", f"{fills:.0%}"
    yield from _cut(p)


def _named(p, number, row, curve, labels, count):
    """Yield what is wrong with the name of a connector: of more than 24, and of discs, a lens tells it."""
    if row["kind"] != "connector" or row["count"] > 1 or count > 24 or p.plan["plan"]["size"][0] not in "LM":
        return
    mine = [label for label in labels if label["link"] == number and label["kind"] == "name"]
    if not mine:
        yield "connector without a name", row["name"]
    for label in mine:
        if label["text"] != row["name"]:
            yield "name cut", f"connector {row['name']}"
        box, reach = _box(label), p.plan["plan"]["pipe"][0] / 2
        far = min(hypot(max(0, abs(x - box.x) - box.w / 2), max(0, abs(y - box.y) - box.h / 2))
                  for x, y in (curve.at(i / 40) for i in range(41))) - reach  # fmt: skip
        if far * p.scale > BESIDE:
            yield "name far from its line", f"{row['name']}: {far * p.scale:.0f} px"


def _cut(p):
    """Yield the brokers whose names do not fit into their cards; what else stands there is cut first."""
    size, room = NAMED.get(p.plan["plan"]["size"][0], (0, 0))
    for row in p.rows("brokers") if size else ():
        if letters.width(row["name"], size, bold=True) / letters.WIDER > row["w"] - room:
            yield "name cut", f"broker {row['name']}"


def count(scene, stages=STAGES):
    """Return rule -> how many break it, on all stages, watching and building."""
    found = Counter()
    for stage in stages:
        for build in (False, True):
            found.update(rule for rule, _ in broken(scene, stage, build))
    return found
