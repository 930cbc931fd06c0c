"""The fates of messages counted in plain Python: one pass in the order of the events."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mqlab.trace.fates import (
    BURIED,
    CODE,
    DOWN,
    LETS_GO,
    NEVER_HERE,
    TAKES,
    TELLS,
    DestinationFacts,
    Fate,
    FateTable,
    Faults,
    MessagesAtEnd,
    code_of_gone,
    failed_sends,
)
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.trace.columns import Columns

# Bound once: reading a member of an enumeration costs ten times as much as a name.
ENQUEUED, ACKNOWLEDGED, RECEIVED = (int(kind) for kind in (Kind.Enqueued, Kind.Acknowledged, Kind.Received))
_ENDS = frozenset(map(int, (*LETS_GO, *DOWN, Kind.TakenOver, Kind.Unsubscribed)))
_MOVES = frozenset((*_ENDS, ENQUEUED, RECEIVED))
_OF_TOPICS = frozenset(map(int, TAKES))
_TELLS = frozenset(map(int, TELLS))
_ODD = frozenset(map(int, (*BURIED, Kind.Returned)))  # causes of an Enqueued that says more


class FateScan:
    """What is known after the events so far; all but places and `copies` is by message, -1 is none.

    A place (broker, destination, message) is one number. `held` is place -> the row with which its message
    came; a place that holds not none and not one is in `odd`, with how many.
    """

    def __init__(self, trace: Columns, last: int) -> None:
        self.trace, self.ground = trace, DestinationFacts.of(trace, last)
        self.kind, self.msg, self.rule = (trace.column(n) for n in ("kind", "msg", "rule"))
        self.broker, self.dest, self.cause = (trace.column(n) for n in ("broker", "dest", "cause"))
        self.frm, self.sub = trace.column("frm"), trace.column("sub")
        self.nodes, self.dests = len(trace.names["node"]), len(trace.names["dest"])
        self.held: dict[int, int] = {}
        self.odd: dict[int, int] = {}
        self.copies: dict[int, dict[tuple[int, int], int]] = {}  # subscription -> its copies
        self.letters: set[int] = set()  # destinations of dead letters
        none = array("i", [-1])
        self.sent, self.failed, self.got = none * (last + 1), none * (last + 1), none * (last + 1)
        self.gone, self.buried = none * (last + 1), none * (last + 1)
        self.twice = none * (last + 1)  # the last time it was dropped as known already
        self.taken = none * (last + 1)

    def run(self) -> None:
        """Go through all events; what most of them are is dealt with here, to be quick."""
        kinds, msgs, dest, cause, broker = self.kind, self.msg, self.dest, self.cause, self.broker
        held, odd, taken, got, stored = (
            self.held,
            self.odd,
            self.taken,
            self.got,
            self.ground.stored,
        )
        nodes, dests, last = self.nodes, self.dests, self.ground.last
        moves = _MOVES if all(stored) else _MOVES | _OF_TOPICS
        for row, kind in enumerate(kinds):
            if kind not in moves:
                continue
            msg = msgs[row]
            if not 0 <= msg <= last:
                self.others(row, kind)
            elif kind == RECEIVED:
                got[msg] = row
            elif not stored[dest[row]]:
                self.note(row, kind, msg)
                self.at_subscription(row, kind, msg)
            else:
                place = (msg * nodes + broker[row]) * dests + dest[row]
                if (
                    kind == ENQUEUED
                    and place not in held
                    and place not in odd
                    and (cause[row] < 0 or kinds[cause[row]] not in _ODD)
                ):
                    held[place] = taken[msg] = row
                elif kind == ACKNOWLEDGED and place in held and place not in odd:
                    del held[place]
                else:
                    self.note(row, kind, msg)
                    self.at_broker(row, kind, place)

    def others(self, row: int, kind: int) -> None:
        """What is of no message may end what subscriptions hold."""
        if kind == Kind.Unsubscribed:
            self.end(self.copies.pop(self.sub[row], {}), row)
        elif kind in DOWN:
            self.broker_ends(row)

    def note(self, row: int, kind: int, msg: int) -> None:
        """Note what a message has come through."""
        if kind == ENQUEUED:
            self.taken[msg] = row
            cause = self.cause[row]
            if cause >= 0 and self.kind[cause] in BURIED:
                self.letters.add(self.dest[row])
        elif kind in BURIED:
            self.gone[msg] = self.buried[msg] = row
        elif kind == Kind.Discarded:
            (self.twice if self.rule[row] == Reason.duplicate else self.gone)[msg] = row

    def at_broker(self, row: int, kind: int, place: int) -> None:
        """A broker takes hold of a message, or lets go of it."""
        cause = self.cause[row]
        before = self.kind[cause] if cause >= 0 else -1
        if kind == Kind.TakenOver and self.frm[row] >= 0:
            self.count(place + (self.frm[row] - self.broker[row]) * self.dests, -1)
        if kind == Kind.TakenOver or (kind == ENQUEUED and before != Kind.Returned):
            self.count(place, 1, row)
        elif kind in LETS_GO and not (kind == Kind.Discarded and before in NEVER_HERE):
            self.count(place, -1)

    def count(self, place: int, more: int, row: int = -1) -> None:
        """Count one more, or one less, at a place."""
        count = self.odd.pop(place, int(place in self.held)) + more
        opened = max(row, self.held.pop(place, -1))
        if count > 0:
            self.held[place] = opened
        if count not in (0, 1):
            self.odd[place] = count

    def at_subscription(self, row: int, kind: int, msg: int) -> None:
        """A subscription of a topic has a copy, or is done with it."""
        sub = self.sub[row]
        if sub < 0:
            return
        if kind in TAKES:
            self.copies.setdefault(sub, {})[msg, self.dest[row]] = row
        elif kind in LETS_GO:
            self.copies.get(sub, {}).pop((msg, self.dest[row]), None)

    def end(self, copies: dict[tuple[int, int], int], row: int) -> None:
        """What a subscription had ends with it."""
        for msg, _ in copies:
            self.gone[msg] = max(self.gone[msg], row)

    def broker_ends(self, row: int) -> None:
        """Of the copies of topics only those of durable subscriptions are kept."""
        node = self.broker[row]
        for sub, copies in self.copies.items():
            end = {
                key: at
                for key, at in copies.items()
                if self.broker[at] == node and self.rule[at] != Reason.durable
            }
            if end:
                self.end(end, row)
                self.copies[sub] = {key: at for key, at in copies.items() if key not in end}

    def told(self) -> dict[int, int]:
        """Return place -> the last row that says why its message lies there."""
        found: dict[int, int] = {}
        if not self.held:
            return found
        kinds, msgs, stored, nodes, dests = (
            self.kind,
            self.msg,
            self.ground.stored,
            self.nodes,
            self.dests,
        )
        asked = {place // dests // nodes for place in self.held}
        for row, kind in enumerate(kinds):
            if kind in _TELLS and msgs[row] in asked and stored[self.dest[row]]:
                found[(msgs[row] * nodes + self.broker[row]) * dests + self.dest[row]] = row
        return found

    def lying(self) -> MessagesAtEnd:
        """Return what is held at the end."""
        told, found = self.told(), []
        for key, opened in self.held.items():
            rest, dest = divmod(key, self.dests)
            msg, broker = divmod(rest, self.nodes)
            found.append((broker, dest, msg, opened, max(opened, told.get(key, -1))))
        latest: dict[tuple[int, int, int], int] = {}
        for copies in self.copies.values():
            for (msg, dest), row in copies.items():
                place = (self.broker[row], dest, msg)
                latest[place] = max(row, latest.get(place, -1))
        found += [(*place, row, row) for place, row in latest.items()]
        found.sort()
        columns = zip(*found, strict=True) if found else [()] * 5
        return MessagesAtEnd(*(array("i", column) for column in columns))


def tally(trace: Columns) -> FateTable:
    """Return what became of every message."""
    msgs = trace.column("msg")
    sent, failed = trace.rows(Kind.Sent), trace.rows(Kind.Failed)
    last = max((msgs[row] for row in (*sent, *failed)), default=0)
    found = FateScan(trace, last)
    _first(found.sent, msgs, sent)
    _first(found.failed, msgs, failed)
    found.run()
    numbers = [no for no in range(1, last + 1) if found.sent[no] >= 0 or found.failed[no] >= 0]
    lying = found.lying()
    fates, rows = _decide(found, numbers, lying)
    return FateTable(array("i", numbers), fates, rows, lying)


def _first(into: array[int], msgs: array[int], rows: Iterable[int]) -> None:
    for row in rows:
        if msgs[row] > 0 and into[msgs[row]] < 0:
            into[msgs[row]] = row


def _decide(found: FateScan, numbers: list[int], lying: MessagesAtEnd) -> tuple[array[int], array[int]]:
    """Return the code of the fate of each message, and the row that decided it."""
    waits: dict[int, int] = {}
    letters: set[int] = set()
    for dest, msg, told in zip(lying.dest, lying.msg, lying.told, strict=True):
        if dest in found.letters and found.buried[msg] >= 0:
            letters.add(msg)
        else:
            waits[msg] = max(told, waits.get(msg, -1))
    fates, rows = array("b"), array("i")
    faults, failed = Faults(found.trace), failed_sends(found.trace)
    for msg in numbers:
        code, row = _fate(found, msg, waits.get(msg, -1), msg in letters, faults, failed)
        fates.append(code)
        rows.append(row)
    return fates, rows


def _fate(
    found: FateScan, msg: int, waits: int, letter: bool, faults: Faults, failed: set[int]
) -> tuple[int, int]:
    sent, got, buried, gone = (c[msg] for c in (found.sent, found.got, found.buried, found.gone))
    received = got > buried
    if received and sent >= 0 and found.ground.topic[found.dest[sent]]:
        return CODE[Fate.consumed], got
    if waits >= 0:
        return CODE[Fate.waiting], waits
    if letter:
        return CODE[Fate.dead_lettered], buried
    if received:
        return CODE[Fate.consumed], got
    gone = gone if gone >= 0 else found.twice[msg]
    if gone >= 0:
        return code_of_gone(found.trace, gone), gone
    if found.taken[msg] >= 0:
        return CODE[Fate.lost], found.taken[msg]
    told = sent if msg in failed and found.failed[msg] < 0 else found.failed[msg]
    return faults.fate(sent, told)


def copies(trace: Columns, rows: Iterable[int], owner: list[int]) -> list[tuple[int, int, int]]:
    """Return (consumer, message, copies) in order, of what came to it twice or from a queue to several.

    *rows* are those of `Received`, *owner* is the first node of each one's name. What comes to another
    consumer with the redelivered flag is no second copy.
    """
    kind, to, msg, dest, cause = (trace.column(c) for c in ("kind", "to", "msg", "dest", "cause"))
    topic = DestinationFacts.of(trace, 0).topic
    counts: Counter[tuple[int, int]] = Counter()
    fresh: Counter[tuple[int, int]] = Counter()
    for row in rows:
        counts[owner[to[row]], msg[row]] += 1
        flagged = cause[row] >= 0 and kind[cause[row]] == Kind.Redelivered
        if not flagged and not topic[dest[row]]:
            fresh[msg[row], dest[row]] += 1
    several = {number for (number, _), count in fresh.items() if count > 1}
    return sorted(
        (node, number, count) for (node, number), count in counts.items() if count > 1 or number in several
    )
