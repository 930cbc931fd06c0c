"""The stage at a moment as SVG: what a saved notebook shows where no script runs, and on a code host.

Drawn from a scene's columns, in the light tokens of `page/tokens.js`; units are pixels of the stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from math import inf

from mqlab.spec.json_types import JsonObject
from mqlab.views.letters import fitted, width
from mqlab.views.moment import Broker, Moment
from mqlab.views.still import Columns
from mqlab.views.tracks import Table

MARK = "mqlab-still"
INK, INK2, LINE, LINE2, CARD, STAGE, SUNKEN = (
    "#16202a",
    "#43505c",
    "#cfd6dd",
    "#74808c",
    "#ffffff",
    "#f4f6f8",
    "#e9edf1",
)
ACTIVE, FAULT = "#0072b2", "#b23e00"
FILLS = {
    "d1": ("#e69f00", "#8a5a00"),
    "d2": ("#56b4e9", "#16699b"),
    "d3": ("#009e73", "#00644a"),
    "d0": ("#a7b0ba", "#5b6773"),
}
DOT = 20.0  # px across: a smaller broker is a dot
CELL, STEP = 15.0, 17.5  # of a message in a queue (px)
Row = JsonObject


def picture(columns: Columns, seconds: float = inf) -> str:
    """Return the stage of a scene at a time of playing (s; its end if none is given), with its title."""
    plan = columns["plan"]
    w, h = plan["width"][0], plan["height"][0]
    title = str(columns["meta"]["title"][0])
    drawn = "".join(_Drawing(columns, Moment.of(columns, seconds)).parts())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{MARK}" role="img" viewBox="0 -24 {w:g} {h + 24:g}"'
        f' width="{w:g}" font-family="system-ui, sans-serif"><title>{_text(title)}</title>'
        f'<rect y="-24" width="{w:g}" height="{h + 24:g}" fill="{STAGE}"/>'
        f"{_words(12, -8, title, 13, bold=True)}{drawn}</svg>"
    )


def _text(text: str) -> str:
    """Return a name as XML has it, without the control characters that it has not."""
    return escape("".join(letter for letter in text if letter >= " " and letter.isprintable()))


def _rows(table: Table) -> Iterator[Row]:
    for values in zip(*table.values(), strict=True):
        yield dict(zip(table, values, strict=True))


def _words(
    x: float,
    y: float,
    text: str,
    size: float,
    *,
    bold: bool = False,
    colour: str = INK,
    end: str = "start",
    room: float = 1e4,
) -> str:
    """Return words that stand on the line *y* and lose their middle where there is no room (px)."""
    look = f'font-size="{size:g}" fill="{colour}" text-anchor="{end}"' + ' font-weight="700"' * bold
    return f'<text x="{x:g}" y="{y:g}" {look}>{_text(fitted(text, room, size, bold))}</text>'


def _box(row: Row, fill: str, edge: str, radius: float = 10, more: str = "") -> str:
    x, y = row["x"] - row["w"] / 2, row["y"] - row["h"] / 2
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{row["w"]:g}" height="{row["h"]:g}" rx="{radius:g}" '
        f'fill="{fill}" stroke="{edge}" stroke-width="1.5"{more}/>'
    )


def _line(row: Row, colour: str, width: float, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    way = "M{x0:g} {y0:g}Q{cx:g} {cy:g} {x1:g} {y1:g}".format(**row)
    return f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'


@dataclass(slots=True)
class _Drawing:
    """Draws the parts of one scene at one moment, from the back to the front."""

    columns: Columns
    now: Moment

    def parts(self) -> Iterator[str]:
        for row in _rows(self.columns["hosts"]):
            yield _box(row, "none", LINE2, more=' stroke-dasharray="6 4"')
            yield _words(row["x"] - row["w"] / 2 + 10, row["y"] - row["h"] / 2 + 4, row["name"], 11)
        link_of = self.columns["bridges"]["link"]
        up = {link for bridge, link in enumerate(link_of) if bridge in self.now.up}
        for number, row in enumerate(_rows(self.columns["links"])):
            yield from self._link(row, number in up)
        for row in _rows(self.columns["wires"]):
            if row["kind"] == "store" or self.now.at.get(row["frm"]) == row["to"]:
                yield _line(row, LINE2, 1.5)
        for row in _rows(self.columns["brokers"]):
            yield from self._broker(row)
        for row in _rows(self.columns["stores"]):
            yield _box(row, SUNKEN, LINE2, 26)
            yield _words(row["x"], row["y"] + 4, row["name"], 12, end="middle", room=row["w"] - 12)
        for row in _rows(self.columns["clients"]):
            yield from self._client(row)
        for row in _rows(self.columns["labels"]):
            chip = row["kind"] == "chip"
            if chip:
                yield _box(row, CARD, LINE2, 8)
            yield _words(
                row["x"],
                row["y"] + 4,
                row["text"],
                11 if chip else 12.5,
                bold=not chip,
                end="middle",
                room=row["w"] + 6,
            )

    def _link(self, row: Row, up: bool) -> Iterator[str]:
        pipe = self.columns["plan"]["pipe"][0]
        if row["kind"] == "replication":
            yield _line(row, ACTIVE, 5)
            yield _line(row, STAGE, 2)
        elif not up:
            yield _line(row, LINE2, 1.5, "5 4")
        elif row["kind"] == "cluster" or pipe < 5:
            yield _line(row, LINE2, 1.6)
        else:
            yield _line(row, LINE2, pipe)
            yield _line(row, CARD, pipe - 2.8)

    def _broker(self, row: Row) -> Iterator[str]:
        if row["role"] == "group":
            yield from self._group(row)
            return
        broker = self.now.brokers.get(row["node"], Broker())
        roles = self.columns["roles"]
        word = roles["word"][broker.role] if broker.role >= 0 else ""
        kind = roles["kind"][broker.role] if broker.role >= 0 else ""
        down = broker.condition not in ("", "up")
        word = broker.condition if down else "" if word in ("running", "down") else word
        dash = "" if broker.condition else ' stroke-dasharray="4 4"'
        yield _box(row, CARD, FAULT if broker.condition == "crashed" else LINE2, 10, dash)
        size = self.columns["plan"]["size"][0]
        queues = [(dest, queue) for dest, queue in sorted(broker.queues.items()) if queue]
        if size not in ("L", "M"):
            count = sum(len(queue) for _, queue in queues)
            name = row["name"][self.columns["plan"]["shared"][0] :] if size == "XS" else row["name"]
            text = f"{name} {count}" if count else name
            if row["w"] < DOT:  # nothing can be written into it
                if count:
                    yield _words(row["x"], row["y"] - row["w"] / 2 - 2, text, 9, bold=True, end="middle")
                return
            letters, room = (10, row["w"] - 2) if size == "S" else (9, row["w"] + 12)
            over = width(text, letters, bold=True) + 2
            if row["w"] < over <= room:  # no connector strikes it out
                yield _box({**row, "w": over, "h": 11}, CARD, CARD)
            yield _words(row["x"], row["y"] + 4, text, letters, bold=True, end="middle", room=room)
            return
        left, right, top = (row["x"] - row["w"] / 2 + 11, row["x"] + row["w"] / 2 - 10, row["y"] - row["h"] / 2)
        colour = FAULT if down else ACTIVE if kind == "serves" else INK2
        most = row["w"] * 0.6
        yield _words(right, top + 18, word, 11, bold=True, colour=colour, end="end", room=most)
        room = right - left - width(word, 11, bold=True) - 6
        yield _words(left, top + 19, row["name"], 14, bold=True, room=room)
        for i, (dest, queue) in enumerate(queues[: 2 if size == "L" else 1]):
            yield from self._queue(dest, queue, left, right, top + (40 if size == "L" else 22) + 34 * i)

    def _group(self, row: Row) -> Iterator[str]:
        """Yield a closed group of brokers: its name, and how many messages wait in it."""
        pairs = zip(*(self.columns["members"][name] for name in ("node", "group")), strict=True)
        brokers = [self.now.brokers.get(no, Broker()) for no, group in pairs if group == row["node"]]
        waiting = sum(len(queue) for one in brokers for queue in one.queues.values())
        yield _box({**row, "x": row["x"] + 4, "y": row["y"] - 4}, SUNKEN, LINE2)
        yield _box(row, CARD, LINE2)
        text = f"{row['name']}: {waiting}" if waiting else row["name"]
        yield _words(row["x"], row["y"] + 4, text, 11, bold=True, end="middle", room=row["w"] - 10)

    def _queue(
        self, dest: int, queue: Mapping[int, bool], left: float, right: float, y: float
    ) -> Iterator[str]:
        """Yield a queue from its head at the right: hollow messages are dispatched, not acknowledged."""
        looks, named = self.columns["looks"], self.columns["destinations"]
        fill, edge = FILLS.get(looks["token"][named["look"][dest]], FILLS["d0"])
        large = self.columns["plan"]["size"][0] == "L"
        if large:
            name = named["name"][dest].partition("://")[2]
            yield _words(left, y + 4, name, 11, colour=INK2, room=right - left - 30)
            yield _words(right, y + 4, str(len(queue)), 12, bold=True, end="end")
        top, fit = y + (9 if large else 2), int((right - left - 26) / STEP)
        for i, (message, out) in enumerate(list(queue.items())[:fit]):
            x = right - CELL - i * STEP
            yield (
                f'<rect x="{x:g}" y="{top:g}" width="{CELL:g}" height="{CELL:g}" rx="3.5" '
                f'fill="{CARD if out else fill}" stroke="{edge}"/>'
            )
            if 0 <= message < 1000:
                yield _words(
                    x + CELL / 2, top + 11, str(message), 7.5 if message > 99 else 9.5, bold=True, end="middle"
                )
        if len(queue) > fit:
            yield _words(left, top + 12, f"+{len(queue) - fit}", 10.5, bold=True, colour=INK2)

    def _client(self, row: Row) -> Iterator[str]:
        node, left = row["node"], row["x"] - row["w"] / 2 + 9
        top, room = row["y"] - row["h"] / 2, row["w"] - 18
        met = node in self.now.at
        yield _box(row, CARD if met else STAGE, FAULT if self.now.at.get(node) == -1 else LINE2, 12)
        small, low = row["h"] < 30, row["h"] < 45
        sent = self.now.sent.get(node, 0)
        size = 9.5 if small else 12 if low else 13
        yield _words(left, top + (14 if low else 17), row["name"], size, bold=True, room=room)
        if small:
            return
        if sent:
            yield _words(left, top + (28 if low else 33), f"sent {sent}", 11, colour=INK2, room=room)
        mine = [c for c in _rows(self.columns["consumers"]) if c["card"] == node]
        large, alone = self.columns["plan"]["size"][0] == "L", row["role"] == "consumer"
        first = (28 if low else 34) if alone else 66 if large else 40
        for i, consumer in enumerate(mine):
            got = f"received {self.now.received.get(consumer['node'], 0)}"
            text = got if alone else f"{consumer['name']}: {got}"
            y = top + first + i * (46 if large else 22)
            yield _words(left, y, text, 11, colour=INK2, room=room)
