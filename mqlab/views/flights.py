"""What moves: messages, acknowledgements, subscriptions and attempts, each along its line at its time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mqlab.spec.action import Producer
from mqlab.spec.openmq.actions import Send
from mqlab.trace.kinds import Kind, Reason
from mqlab.views.boxes import Curve
from mqlab.views.cast import SceneParts
from mqlab.views.plan import Stage
from mqlab.views.repeats import NON_PERSISTENT, repeats
from mqlab.views.story import PlaybackTime
from mqlab.views.tracks import Table

MOVES = (Kind.Sent, Kind.Forwarded, Kind.Dispatched)
ARRIVES = (Kind.Enqueued, Kind.Received)
SOON = 1000  # us that an acknowledgement, an advisory or an attempt is on its way at most
QUEUES, TOPICS = ("circle", "hexagon", "triangle"), ("square", "diamond", "square_pin")
TOKENS = ("d1", "d2", "d3")
SLOTS = 6  # looks of destinations; those after them share the last
ACK, SUBSCRIPTION, ATTEMPT, VOTE = range(SLOTS, SLOTS + 4)
BALLOT = 60_000  # us that an answer to a vote is seen on its way
Flight = tuple[int, int, int, int, int, int]  # from when, to when (us), way, look, message, flags


def looks(cast: SceneParts) -> tuple[Table, list[int]]:
    """Return how what moves looks (token, shape, kind, name), and the look of each destination.

    Three destinations have a colour of their own and the others share a grey one; their shapes, one for
    queues and one for topics at each rank, tell them apart without a colour.
    """
    names = cast.trace.names["dest"]
    columns = zip(cast.trace.column("kind"), cast.trace.column("dest"), strict=True)
    used = dict.fromkeys(dest for kind, dest in columns if kind in MOVES and dest >= 0)
    table: Table = {"token": [], "shape": [], "kind": [], "name": []}
    of = [SLOTS - 1] * len(names)
    ranks = {"queue": 0, "topic": 0}
    for rank, dest in enumerate(used):
        kind = "topic" if "topic://" in names[dest] else "queue"
        shape = (TOPICS if kind == "topic" else QUEUES)[min(2, ranks[kind])]
        ranks[kind] += 1
        if rank < SLOTS:
            of[dest] = rank
            _add(table, TOKENS[rank] if rank < 3 else "d0", shape, kind, names[dest])
    while len(table["token"]) < SLOTS:
        _add(table, "d0", "circle", "queue", "")
    for token, shape, kind, name in (
        ("ok", "circle", "ack", "acknowledgement"),
        ("demand", "chevron", "subscription", "consumer advisory"),
        ("fault", "dash", "attempt", "connection attempt"),
        ("ink2", "square", "vote", "vote"),
    ):
        _add(table, token, shape, kind, name)
    return table, of


def _add(table: Table, *values: str) -> None:
    for column, value in zip(table.values(), values, strict=True):
        column.append(value)


Key = tuple[int, int, int]


@dataclass
class Flights:
    """Reads what moves off a trace; `keys` are the ways that are used, in order (see `curve`)."""

    cast: SceneParts
    story: PlaybackTime
    keys: dict[Key, int] = field(default_factory=dict)
    ends: list[tuple[int, int]] = field(default_factory=list)  # of each way: the nodes it joins

    def table(self, look_of: list[int]) -> Table:
        """Return the source `flights`, by the start of each flight."""
        at = self.story.at
        rows = sorted((at(a), at(b), *rest) for a, b, *rest in self._rows(look_of))
        flags = self._flags()
        return {
            "t0": [round(r[0], 4) for r in rows],
            "took": [round(max(r[1] - r[0], 1e-3), 4) for r in rows],
            "way": [r[2] for r in rows],
            "look": [r[3] for r in rows],
            "msg": [r[4] for r in rows],
            "flags": [r[5] | flags.get(r[4], 0) if r[3] < SLOTS else 0 for r in rows],
        }

    def ways(self, stage: Stage, cast: SceneParts) -> Table:
        """Return the source `ways`: the curves of what has been read, on one stage of the cast.

        What stays within a group that is closed has the same node at both ends, and no length.
        """
        curves = [_curve(cast, stage, key) for key in self.keys]
        seen = [(cast.seen_as(a), cast.seen_as(b)) for a, b in self.ends]
        ends = "x0", "y0", "cx", "cy", "x1", "y1"
        table: Table = {end: [round(getattr(c, end), 1) for c in curves] for end in ends}
        table |= {"from": [0.0] * len(curves), "to": [1.0] * len(curves)}
        return table | {"frm": [a for a, _ in seen], "to_node": [b for _, b in seen]}

    def _flags(self) -> dict[int, int]:
        """Return message -> bits, of the actions that send what is not persistent.

        Messages are numbered in the order of the actions; where some send in the background nobody can tell.
        """
        sends = [one for one in self.cast.trace.actions if isinstance(one, (Producer, Send))]
        if any(isinstance(one, Producer) and one.in_background for one in sends):
            return {}
        found, first = {}, 1
        for one in sends:
            numbers = range(first, first + one.sends)
            first = numbers.stop
            if not one.persistent:
                found |= dict.fromkeys(numbers, NON_PERSISTENT)
        return found

    def _rows(self, look_of: list[int]) -> Iterator[Flight]:
        """Yield what moves, in the order of the events."""
        trace = self.cast.trace
        events = [trace.column(c) for c in ("kind", "t", "cause", "frm", "to", "link", "rule")]
        kinds, times, causes, frm, to, link, rules = events
        again = repeats(trace)
        answers = self._answers()
        for row, kind in enumerate(kinds):
            c, now = causes[row], times[row]
            if kind in ARRIVES and c >= 0:
                c = causes[c] if kinds[c] == Kind.Redelivered else c
                if c >= 0 and kinds[c] in MOVES:
                    yield self._message(c, row, look_of, again.get(row, 0))
            elif kind == Kind.Acknowledged and row in answers:
                c, when = answers[row]
                way = self._way(frm[c], to[c], link[c], back=True)
                yield max(when, now - SOON), now, way, ACK, trace.column("msg")[row], 0
            elif kind == Kind.Advised and link[row] >= 0:
                way = self._way(frm[row], to[row], link[row], back=True, advice=True)
                yield max(0, now - SOON), now, way, SUBSCRIPTION, -1, 0
            elif kind == Kind.Voted:
                ballots = trace.detail(row).get("ballots", {})  # those that came back
                for voter in (self.cast.numbers[name] for name, said in ballots.items() if said != "no answer"):
                    way = self._way(voter, trace.column("broker")[row], -1)
                    yield max(0, now - BALLOT), now, way, VOTE, -1, 0
            elif kind == Kind.Attempted and Reason.accepted != rules[row] and min(frm[row], to[row]) >= 0:
                way = self._way(frm[row], to[row], -1)
                yield max(0, now - SOON), now, way, ATTEMPT, -1, 0

    def _message(self, left: int, came: int, look_of: list[int], flags: int) -> Flight:
        """Return the flight of a message from the row at which it set out to that at which it came."""
        t, frm, to, link, dest, msg = (
            self.cast.trace.column(c) for c in ("t", "frm", "to", "link", "dest", "msg")
        )
        way = self._way(frm[left], to[left], link[left])
        return t[left], t[came], way, look_of[dest[came]], msg[came], flags

    def _answers(self) -> dict[int, tuple[int, int]]:
        """Return row of an acknowledgement -> the row that it answers, and when that message came (us)."""
        trace = self.cast.trace
        columns = [trace.column(c) for c in ("kind", "t", "cause", "broker", "msg", "sub")]
        kinds, times, causes, broker, msg, sub = columns
        holders: dict[tuple[int, int, int], tuple[int, int]] = {}
        found = {}
        for row, kind in enumerate(kinds):
            c = causes[row]
            if kind in ARRIVES and c >= 0:
                c = causes[c] if kinds[c] == Kind.Redelivered else c
                if c >= 0 and kinds[c] in MOVES and kinds[c] != Kind.Sent:
                    holders[broker[c], msg[row], sub[c]] = c, times[row]
            elif kind == Kind.Acknowledged:
                held = holders.pop((broker[row], msg[row], sub[row]), None)
                held = held or holders.pop((broker[row], msg[row], -1), None)
                if held and held[1] < times[row]:
                    found[row] = held
        return found

    def _way(self, frm: int, to: int, link: int, back: bool = False, advice: bool = False) -> int:
        """Return the number of a way; *back* is that against the messages of a bridge, or from a consumer."""
        a, b = self.cast.card(frm), self.cast.card(to)
        key = (link, int(back), int(advice)) if link >= 0 else ((b, a, -2) if back else (a, b, -2))
        if key not in self.keys:
            self.keys[key] = len(self.keys)
            self.ends.append((b, a) if back else (a, b))
        return self.keys[key]


def _curve(cast: SceneParts, stage: Stage, key: Key) -> Curve:
    """Return the curve of a way: (bridge, back, advisory), or (card, card, -2)."""
    if key[2] >= 0:
        return _pipe(cast, stage, *key)
    frm, to = cast.seen_as(key[0]), cast.seen_as(key[1])
    if frm == to:
        return _point(stage, frm)
    for wire in stage.wires:
        if wire.kind == "wire" and {wire.frm, wire.to} == {frm, to}:
            return wire.curve if wire.frm == frm else wire.curve.back
    for link, curve in zip(cast.links, stage.links, strict=True):
        if {link.a, link.b} == {frm, to}:
            return curve if link.a == frm else curve.back
    boxes = {**stage.clients, **stage.brokers}
    a, b = boxes[frm], boxes[to]
    return Curve(a.x, a.y, (a.x + b.x) / 2, (a.y + b.y) / 2, b.x, b.y)


def _point(stage: Stage, node: int) -> Curve:
    box = stage.brokers.get(node) or stage.clients[node]
    return Curve(box.x, box.y, box.x, box.y, box.x, box.y)


def _pipe(cast: SceneParts, stage: Stage, bridge: int, back: int, advisory: int) -> Curve:
    """Return the lane of a bridge in its pipe; consumer advisories run under it."""
    frm = cast.seen_as(cast.numbers[cast.trace.names["link_from"][bridge]])
    if bridge not in cast.link_of:
        return _point(stage, frm)
    number = cast.link_of[bridge]
    link = cast.links[number]
    along = frm == link.a
    curve = stage.links[number] if along != bool(back) else stage.links[number].back
    pipe = stage.size.pipe
    if advisory and pipe > 20:
        return curve.beside(curve.under * (pipe / 2 + 8))
    return curve.beside(pipe * 0.2 if link.both or back else 0.0)
