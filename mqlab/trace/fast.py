"""The fates of messages counted with numpy: the same answers as `plain`, column by column.

Numbers of a message, a broker and a destination make one key; what is true of the last event of a key is
found by writing the rows of events, which go up, into a table under their keys.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mqlab.trace.fates import (
    BURIED,
    CODE,
    DOWN,
    FAULTS,
    LETS_GO,
    NEVER_HERE,
    TAKES,
    TELLS,
    DestinationFacts,
    Fate,
    FateTable,
    Faults,
    MessagesAtEnd,
    failed_sends,
)
from mqlab.trace.keyed import Table, as_array
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mqlab.trace.columns import Columns, Numbers

SPAN = 1 << 18  # events that are gone through at a time
DENSE = 1 << 26  # keys that a table may have without being packed

KEPT_UNTIL = tuple(kind for kind in LETS_GO if kind != Kind.Discarded)


def tally(trace: Columns) -> FateTable:
    """Return what became of every message."""
    return NumpyFates(trace).tally()


def count(values: array[int], rows: array[int]) -> dict[int, int]:
    """Return value -> how many of the rows have it; none is negative."""
    found = np.bincount(np.asarray(values)[np.asarray(rows)]) if len(rows) else np.zeros(0, int)
    return {value: int(found[value]) for value in np.flatnonzero(found).tolist()}


def copies(trace: Columns, rows: array[int], owner: list[int]) -> list[tuple[int, int, int]]:
    """Return what `plain.copies` does."""
    at = np.asarray(rows)
    kind, to, msg, dest, cause = (np.asarray(trace.column(c)) for c in ("kind", "to", "msg", "dest", "cause"))
    msg, dest, cause, to = msg[at].astype(np.int64), dest[at], cause[at], np.array(owner)[to[at]]
    nodes, dests = len(owner), len(trace.names["dest"])
    flagged = (cause >= 0) & (kind[cause] == Kind.Redelivered)
    fresh = ~flagged & ~np.array(DestinationFacts.of(trace, 0).topic, bool)[dest]
    key, times = np.unique((msg * dests + dest)[fresh], return_counts=True)
    several = np.unique(key[times > 1] // dests)
    key, times = np.unique(msg * nodes + to, return_counts=True)
    more = (times > 1) | np.isin(key // nodes, several)
    columns = ((key % nodes)[more], (key // nodes)[more], times[more])
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def depths(trace: Columns) -> tuple[list[tuple[int, int]], list[Numbers], list[Numbers]]:
    """Return the places (broker, destination) that held messages, and for each times (us) and depths then."""
    found = NumpyFates(trace)
    opens, closes, moved = found.changes(found.whole)
    rows = np.concatenate((opens, closes, moved))
    node = np.concatenate((found.broker[opens], found.broker[closes], found.frm[moved]))
    more = np.repeat([1, -1, -1], [len(opens), len(closes), len(moved)])
    place = node.astype(np.int64) * found.dests + found.dest[rows]
    order = np.lexsort((rows, place))
    place, more, time = place[order], more[order], np.asarray(trace.column("t"))[rows[order]]
    first = np.flatnonzero(np.diff(place, prepend=-1))
    times, counts = np.split(time, first[1:]), [np.cumsum(one) for one in np.split(more, first[1:])]
    places = [divmod(int(one), found.dests) for one in place[first]]
    return (places, times, counts) if len(place) else ([], [], [])


class NumpyFates:
    """The columns of a trace, and the tables that are made of them."""

    def __init__(self, trace: Columns) -> None:
        self.trace = trace
        columns = ("kind", "msg", "broker", "frm", "dest", "sub", "cause", "rule")
        (self.kind, self.msg, self.broker, self.frm, self.dest, self.sub, self.cause, self.rule) = (
            np.asarray(trace.column(name)) for name in columns
        )
        self.first_sent, self.first_failed = self.of(Kind.Sent), self.of(Kind.Failed)
        told = np.concatenate((self.first_sent, self.first_failed))
        self.last = int(self.msg[told].max(initial=0))
        ground = DestinationFacts.of(trace, self.last)
        self.stored = np.array([*ground.stored, True])  # the last one is that of no destination
        self.topic = np.array([*ground.topic, False])
        self.known = self.msg.view("uint32") <= self.last  # of a message that somebody sent
        self.whole = range(len(self.kind))
        roles = np.array(trace.names["node_role"], str)
        self.brokers = np.flatnonzero(roles == "broker")
        self.places = np.full(max(len(roles), 1) + 1, -1, np.int64)  # node -> place among brokers
        self.places[self.brokers] = np.arange(len(self.brokers))
        self.dests = len(trace.names["dest"]) + 1

    # Rows and tables. A long run is gone through in spans: what is made of one fits into a cache.

    def spans(self) -> Iterator[range]:
        """Yield the rows of the run in spans."""
        for start in range(0, len(self.kind), SPAN):
            yield range(start, min(start + SPAN, len(self.kind)))

    def are(self, span: range, *kinds: int) -> NDArray[np.bool_]:
        """Return of each event of a span whether it is of one of some kinds."""
        kind = self.kind[span.start : span.stop]
        wanted: NDArray[np.bool_] = kind == int(kinds[0])
        for other in kinds[1:]:
            wanted |= kind == int(other)
        return wanted

    def of(self, *kinds: int) -> Numbers:
        """Return the rows of events of some kinds, in order."""
        return np.flatnonzero(self.are(range(len(self.kind)), *kinds))

    def told(self, span: range, *kinds: int) -> Numbers:
        """Return those of a span that are of a message that somebody sent."""
        wanted = self.are(span, *kinds)
        wanted &= self.known[span.start : span.stop]
        return np.flatnonzero(wanted) + span.start

    def before(self, rows: Numbers) -> Numbers:
        """Return the kind of the event that led to each; -1 for none."""
        cause = self.cause[rows]
        return np.where(cause >= 0, self.kind[cause], -1)

    def by_message(self, *kinds: int) -> Numbers:
        """Return message -> the last row of those kinds that is of it, or -1."""
        table = np.full(self.last + 1, -1, np.int32)
        for span in self.spans():
            rows = self.told(span, *kinds)
            table[self.msg[rows]] = rows
        return table

    def first(self, rows: Numbers) -> Numbers:
        """Return message -> the first of the rows that is of it, or -1."""
        table, rows = np.full(self.last + 1, -1, np.int32), rows[::-1]
        table[self.msg[rows]] = rows
        return table

    def keys(self, rows: Numbers, nodes: Numbers) -> Numbers:
        """Return the key of the place of each event, which is at a broker: broker, destination and message.

        It is negative for a node that is no broker.
        """
        key: Numbers = self.places[nodes[rows]] * self.dests + self.dest[rows]
        key *= self.last + 1
        key += self.msg[rows]
        return key

    # What brokers hold

    def held(self) -> MessagesAtEnd:
        """Return what queues and subscriptions hold at the end."""
        columns = [np.concatenate(both) for both in zip(self.at_brokers(), self.copies(), strict=True)]
        msg, dest, broker = columns[2], columns[1], columns[0]
        if len(self.copied):  # what lies at brokers is in order already
            order = np.lexsort((columns[3], msg, dest, broker))
            columns = [column[order] for column in columns]
        return MessagesAtEnd(*(as_array(column, "i") for column in columns))

    def changes(self, span: range) -> tuple[Numbers, Numbers, Numbers]:
        """Return the rows of a span: brokers take hold of messages, let go of them, lose them to another."""
        opens = self.told(span, Kind.Enqueued, Kind.TakenOver)
        fresh = (self.kind[opens] == Kind.TakenOver) | (self.before(opens) != Kind.Returned)
        opens = opens[self.stored[self.dest[opens]] & fresh]
        moved = opens[(self.kind[opens] == Kind.TakenOver) & (self.frm[opens] >= 0)]
        closes, dropped = self.told(span, *KEPT_UNTIL), self.told(span, Kind.Discarded)
        dropped = dropped[~np.isin(self.before(dropped), NEVER_HERE)]
        closes = np.concatenate((closes, dropped)) if len(dropped) else closes
        return opens, closes[self.stored[self.dest[closes]]], moved

    def at_brokers(self) -> tuple[Numbers, ...]:
        """Return what lies at brokers: columns as those of `MessagesAtEnd`."""
        table = self.table()
        count, opened = table.of(0), table.of(-1)
        for span in self.spans():
            opens, closes, moved = self.changes(span)
            for rows, nodes, more in (
                (opens, self.broker, 1),
                (closes, self.broker, -1),
                (moved, self.frm, -1),
            ):
                table.add(count, self.keys(rows, nodes), more)
            table.put(opened, self.keys(opens, self.broker), opens)
        lies = np.flatnonzero(count > 0)
        key = table.key(lies)
        msg, place = key % (self.last + 1), key // (self.last + 1)
        at = opened[lies].astype(np.int64)
        told = self.tells(table, msg)[lies] if len(lies) else at
        broker = self.brokers[place // self.dests]
        return broker, place % self.dests, msg, at, np.maximum(at, told)

    def table(self) -> Table:
        """Return what numbers the places: of all that there may be, or of those where something came."""
        size = (self.last + 1) * len(self.brokers) * self.dests
        if size <= max(DENSE, 2 * len(self.kind)):
            return Table(size)
        opens = self.changes(self.whole)[0]
        return Table(size, np.unique(self.keys(opens, self.broker)))

    def tells(self, table: Table, messages: Numbers) -> Numbers:
        """Return for each place the last row that says why these messages lie there, or -1."""
        asked, told = np.zeros(self.last + 1, bool), table.of(-1)
        asked[messages] = True
        for span in self.spans():
            rows = self.told(span, *TELLS)
            rows = rows[asked[self.msg[rows]]]
            rows = rows[self.stored[self.dest[rows]]]
            table.put(told, self.keys(rows, self.broker), rows)
        return told

    def copies(self) -> tuple[Numbers, ...]:
        """Return the copies that subscriptions hold, each broker's of a message as one; see `ended`."""
        self.ended = self.copied = none = np.zeros(0, np.int64)
        if self.stored.all():
            return (none,) * 5
        rows = self.told(self.whole, *LETS_GO, *TAKES)
        self.copied = rows = rows[~self.stored[self.dest[rows]] & (self.sub[rows] >= 0)]
        if not len(rows):
            return (none,) * 5
        subs = len(self.trace.names["sub"])
        key = (self.msg[rows].astype(np.int64) * subs + self.sub[rows]) * self.dests + self.dest[rows]
        keys, place = np.unique(key, return_inverse=True)
        at = np.zeros(len(keys), np.int64)
        at[place] = rows
        at = np.sort(at[np.isin(self.kind[at], TAKES)])
        end = self.ends(at)
        self.ended = np.stack((self.msg[at], end))[:, end >= 0]
        at = at[end < 0]
        return self.broker[at], self.dest[at], self.msg[at], at, at

    def ends(self, at: Numbers) -> Numbers:
        """Return the row with which each copy ended with its subscription or broker, or -1."""
        never = len(self.kind)
        left = np.full(len(self.trace.names["sub"]), -1, np.int64)
        rows = self.of(Kind.Unsubscribed)
        left[self.sub[rows]] = rows
        end = left[self.sub[at]]
        end = np.where(end > at, end, never)
        downs = self.of(*DOWN)
        for node in np.unique(self.broker[downs]):
            stops = np.append(downs[self.broker[downs] == node], never)
            mine = (self.broker[at] == node) & (self.rule[at] != Reason.durable)
            end[mine] = np.minimum(end[mine], stops[np.searchsorted(stops, at[mine], "right")])
        return np.where(end < never, end, -1)

    # Fates

    def tally(self) -> FateTable:
        """Return what became of every message."""
        lying = self.held()
        failed = self.first_failed[self.msg[self.first_failed] >= 0]
        sent, failed = self.first(self.first_sent), self.first(failed)
        got, taken, buried = (self.by_message(*kinds) for kinds in ((Kind.Received,), (Kind.Enqueued,), BURIED))
        gone = self.gone(buried)
        waits, letter = self.waits(lying, buried)
        received = got > buried
        topic = self.topic[np.where(sent >= 0, self.dest[sent], -1)]
        cases = [received & topic, waits >= 0, letter, received, gone >= 0, taken >= 0]
        fates = np.select(
            cases,
            [
                CODE[Fate.consumed],
                CODE[Fate.waiting],
                CODE[Fate.dead_lettered],
                CODE[Fate.consumed],
                self.codes(gone),
                CODE[Fate.lost],
            ],
            -1,
        )
        rows = np.select(cases, [got, waits, buried, got, gone, taken], -1)
        numbers = np.flatnonzero((sent >= 0) | (failed >= 0))
        numbers = numbers[numbers > 0]
        self.not_taken(numbers[fates[numbers] < 0], sent, failed, fates, rows)
        return FateTable(
            as_array(numbers, "i"),
            as_array(fates[numbers], "b"),
            as_array(rows[numbers], "i"),
            lying,
        )

    def not_taken(
        self, numbers: Numbers, sent: Numbers, failed: Numbers, fates: Numbers, rows: Numbers
    ) -> None:
        """Enter the fates of messages that no broker took over."""
        faults, told = Faults(self.trace), failed_sends(self.trace)
        for msg in numbers.tolist():
            knows = sent[msg] if msg in told and failed[msg] < 0 else failed[msg]
            fates[msg], rows[msg] = faults.fate(int(sent[msg]), int(knows))

    def gone(self, buried: Numbers) -> Numbers:
        """Return message -> the last row with which a copy of it was gone, or -1."""
        dropped = self.told(self.whole, Kind.Discarded)
        known = self.rule[dropped] == Reason.duplicate
        gone, twice = buried.copy(), np.full(self.last + 1, -1, np.int32)
        other = dropped[~known]
        np.maximum.at(gone, self.msg[other], other)
        twice[self.msg[dropped[known]]] = dropped[known]
        if len(self.ended):
            np.maximum.at(gone, self.ended[0], self.ended[1])
        return np.where(gone >= 0, gone, twice)

    def codes(self, gone: Numbers) -> Numbers:
        """Return the code of the fate of messages that those rows were the end of."""
        kind = self.kind[gone]
        fault = np.isin(kind, DOWN) | np.isin(self.rule[gone], list(FAULTS))
        kinds = [kind == Kind.Expired, kind == Kind.DeadLettered, fault]
        codes = [CODE[fate] for fate in (Fate.expired, Fate.dead_lettered, Fate.lost)]
        return np.select(kinds, codes, CODE[Fate.dropped])

    def waits(self, lying: MessagesAtEnd, buried: Numbers) -> tuple[Numbers, Numbers]:
        """Return message -> the last row that says why it waits, or -1; and whether it is a dead letter."""
        msg, told = np.asarray(lying.msg), np.asarray(lying.told, np.int64)
        dead = buried[msg] >= 0
        if dead.any():
            enqueued = self.told(self.whole, Kind.Enqueued)
            buries = np.isin(self.before(enqueued), BURIED)
            dead &= np.isin(np.asarray(lying.dest), self.dest[enqueued[buries]])
        waits, letter = np.full(self.last + 1, -1, np.int64), np.zeros(self.last + 1, bool)
        np.maximum.at(waits, msg[~dead], told[~dead])
        letter[msg[dead]] = True
        return waits, letter
