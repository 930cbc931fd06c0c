"""The fates of messages counted with numpy: the same answers as `plain`, column by column.

Numbers of a message, a broker and a destination make one key; what is true of the last event of a key is
found by writing the rows of events, which go up, into a table under their keys.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from mqlab.trace.fates import (
    BURIED,
    CODE,
    DOWN,
    FAULTS,
    LETS_GO,
    NEVER_HERE,
    TAKES,
    TELLS,
    Fate,
    Faults,
    Ground,
    Lying,
    Tally,
    failed_sends,
)  # fmt: skip
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.trace.columns import Columns

Rows = Any  # a numpy array of integers: numpy is no dependency that types may be read from
DENSE = 1 << 26  # keys that a table may have without being packed


def tally(trace: Columns) -> Tally:
    """Return what became of every message."""
    return Count(trace).tally()


def count(values: array[int], rows: array[int]) -> dict[int, int]:
    """Return value -> how many of the rows have it; none is negative."""
    import numpy as np

    found = np.bincount(np.asarray(values)[np.asarray(rows)]) if len(rows) else np.zeros(0, int)
    return {value: int(found[value]) for value in np.flatnonzero(found).tolist()}


def copies(trace: Columns, rows: array[int], owner: list[int]) -> list[tuple[int, int, int]]:
    """Return what `plain.copies` does."""
    import numpy as np

    at = np.asarray(rows)
    kind, to, msg, dest, cause = (np.asarray(trace.column(c)) for c in
                                  ("kind", "to", "msg", "dest", "cause"))  # fmt: skip
    msg, dest, cause, to = msg[at].astype(np.int64), dest[at], cause[at], np.array(owner)[to[at]]
    nodes, dests = len(owner), len(trace.names["dest"])
    flagged = (cause >= 0) & (kind[cause] == Kind.Redelivered)
    fresh = ~flagged & ~np.array(Ground.of(trace, 0).topic, bool)[dest]
    key, times = np.unique((msg * dests + dest)[fresh], return_counts=True)
    several = np.unique(key[times > 1] // dests)
    key, times = np.unique(msg * nodes + to, return_counts=True)
    more = (times > 1) | np.isin(key // nodes, several)
    columns = ((key % nodes)[more], (key // nodes)[more], times[more])
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


class Count:
    """The columns of a trace, and the tables that are made of them."""

    def __init__(self, trace: Columns) -> None:
        import numpy as np

        self.np, self.trace = np, trace
        columns = ("kind", "msg", "broker", "frm", "dest", "sub", "cause", "rule")
        (self.kind, self.msg, self.broker, self.frm, self.dest, self.sub, self.cause,
         self.rule) = (np.asarray(trace.column(name)) for name in columns)  # fmt: skip
        self.first_sent, self.first_failed = self.of(Kind.Sent), self.of(Kind.Failed)
        told = np.concatenate((self.first_sent, self.first_failed))
        self.last = int(self.msg[told].max(initial=0))
        ground = Ground.of(trace, self.last)
        self.stored = np.array([*ground.stored, True])  # the last one is that of no destination
        self.topic = np.array([*ground.topic, False])
        self.nodes, self.dests = len(trace.names["node"]) + 1, len(trace.names["dest"]) + 1

    # Rows and tables

    def of(self, *kinds: int) -> Rows:
        """Return the rows of events of some kinds, in order."""
        wanted = self.np.zeros(128, bool)
        wanted[[int(kind) for kind in kinds]] = True
        return self.np.flatnonzero(wanted[self.kind])

    def told(self, *kinds: int) -> Rows:
        """Return those that are of a message that somebody sent."""
        rows = self.of(*kinds)
        msg = self.msg[rows]
        return rows[(msg >= 0) & (msg <= self.last)]

    def before(self, rows: Rows) -> Rows:
        """Return the kind of the event that led to each; -1 for none."""
        cause = self.cause[rows]
        return self.np.where(cause >= 0, self.kind[cause], -1)

    def by_message(self, rows: Rows) -> Rows:
        """Return message -> the last of the rows that is of it, or -1."""
        table = self.np.full(self.last + 1, -1, self.np.int64)
        table[self.msg[rows]] = rows
        return table

    def firsts(self, rows: Rows) -> Rows:
        """Return message -> the first of the rows that is of it, or -1."""
        return self.by_message(rows[::-1])

    def keys(self, rows: Rows, nodes: Rows) -> Rows:
        """Return the key of the place of each event: message, node and destination."""
        key = self.msg[rows].astype(self.np.int64) * self.nodes + nodes[rows]
        return key * self.dests + self.dest[rows]

    # What brokers hold

    def held(self) -> Lying:
        """Return what queues and subscriptions hold at the end."""
        np = self.np
        columns = [
            np.concatenate(both) for both in zip(self.at_brokers(), self.copies(), strict=True)
        ]
        msg, dest, broker = columns[2], columns[1], columns[0]
        order = np.lexsort((columns[3], msg, dest, broker))
        return Lying(*(_array(column[order], "i") for column in columns))

    def at_brokers(self) -> tuple[Rows, ...]:
        """Return what lies at brokers: columns as those of `Lying`."""
        np = self.np
        opens = self.told(Kind.Enqueued, Kind.TakenOver)
        fresh = (self.kind[opens] == Kind.TakenOver) | (self.before(opens) != Kind.Returned)
        opens = opens[self.stored[self.dest[opens]] & fresh]
        moved = opens[(self.kind[opens] == Kind.TakenOver) & (self.frm[opens] >= 0)]
        closes = self.told(*LETS_GO)
        never = np.isin(self.before(closes), NEVER_HERE) & (self.kind[closes] == Kind.Discarded)
        closes = closes[self.stored[self.dest[closes]] & ~never]
        table = Table(np, self.keys(opens, self.broker), (self.last + 1) * self.nodes * self.dests)
        count = (table.count(self.keys(opens, self.broker)) - table.count(self.keys(closes, self.broker))
                 - table.count(self.keys(moved, self.frm)))  # fmt: skip
        opened = table.last(self.keys(opens, self.broker), opens)
        tells = self.told(*TELLS)
        told = table.last(self.keys(tells, self.broker), tells)
        lies = np.flatnonzero(count > 0)
        key = table.key(lies)
        at, dest = key // self.dests % self.nodes, key % self.dests
        return (
            at,
            dest,
            key // self.dests // self.nodes,
            opened[lies],
            np.maximum(told, opened)[lies],
        )

    def copies(self) -> tuple[Rows, ...]:
        """Return the copies that subscriptions hold, each broker's of a message as one; see `ended`."""
        np = self.np
        self.ended = none = np.zeros(0, np.int64)
        rows = self.told(*LETS_GO, *TAKES)
        rows = rows[~self.stored[self.dest[rows]] & (self.sub[rows] >= 0)]
        if not len(rows):
            return (none,) * 5
        subs = len(self.trace.names["sub"])
        key = (self.msg[rows].astype(np.int64) * subs + self.sub[rows]) * self.dests + self.dest[
            rows
        ]
        table = Table(np, key, (self.last + 1) * subs * self.dests)
        at = table.last(key, rows)
        at = at[at >= 0]
        at = np.sort(at[np.isin(self.kind[at], TAKES)])
        end = self.ends(at)
        self.ended = np.stack((self.msg[at], end))[:, end >= 0]
        at = at[end < 0]
        return self.broker[at], self.dest[at], self.msg[at], at, at

    def ends(self, at: Rows) -> Rows:
        """Return the row with which each copy ended with its subscription or broker, or -1."""
        np, never = self.np, len(self.kind)
        left = np.full(len(self.trace.names["sub"]), -1, np.int64)
        rows = self.of(Kind.Unsubscribed)
        left[self.sub[rows]] = rows
        end = left[self.sub[at]]
        end = np.where(end > at, end, never)
        downs = self.of(*DOWN)
        for node in np.unique(self.broker[downs]):
            stops = np.append(downs[self.broker[downs] == node], never)
            mine = (self.broker[at] == node) & (self.rule[at] != Rule.durable)
            end[mine] = np.minimum(end[mine], stops[np.searchsorted(stops, at[mine], "right")])
        return np.where(end < never, end, -1)

    # Fates

    def tally(self) -> Tally:
        """Return what became of every message."""
        np, lying = self.np, self.held()
        sent, failed = self.firsts(self.first_sent), self.firsts(self.first_failed[
            self.msg[self.first_failed] >= 0])  # fmt: skip
        got, taken = (self.by_message(self.told(kind)) for kind in (Kind.Received, Kind.Enqueued))
        buried = self.by_message(self.told(*BURIED))
        gone = self.gone(buried)
        waits, letter = self.waits(lying, buried)
        received = got > buried
        topic = self.topic[np.where(sent >= 0, self.dest[sent], -1)]
        cases = [received & topic, waits >= 0, letter, received, gone >= 0, taken >= 0]
        fates = np.select(cases, [CODE[Fate.consumed], CODE[Fate.waiting], CODE[Fate.dead_lettered],
                                  CODE[Fate.consumed], self.codes(gone), CODE[Fate.lost]], -1)  # fmt: skip
        rows = np.select(cases, [got, waits, buried, got, gone, taken], -1)
        numbers = np.flatnonzero((sent >= 0) | (failed >= 0))
        numbers = numbers[numbers > 0]
        self.not_taken(numbers[fates[numbers] < 0], sent, failed, fates, rows)
        return Tally(
            _array(numbers, "i"), _array(fates[numbers], "b"), _array(rows[numbers], "i"), lying
        )

    def not_taken(self, numbers: Rows, sent: Rows, failed: Rows, fates: Rows, rows: Rows) -> None:
        """Enter the fates of messages that no broker took over."""
        faults, told = Faults(self.trace), failed_sends(self.trace)
        for msg in numbers.tolist():
            knows = sent[msg] if msg in told and failed[msg] < 0 else failed[msg]
            fates[msg], rows[msg] = faults.fate(int(sent[msg]), int(knows))

    def gone(self, buried: Rows) -> Rows:
        """Return message -> the last row with which a copy of it was gone, or -1."""
        np = self.np
        dropped = self.told(Kind.Discarded)
        known = self.rule[dropped] == Rule.duplicate
        gone = np.maximum(buried, self.by_message(dropped[~known]))
        if len(self.ended):
            np.maximum.at(gone, self.ended[0], self.ended[1])
        return np.where(gone >= 0, gone, self.by_message(dropped[known]))

    def codes(self, gone: Rows) -> Rows:
        """Return the code of the fate of messages that those rows were the end of."""
        np, kind = self.np, self.kind[gone]
        fault = np.isin(kind, DOWN) | np.isin(self.rule[gone], list(FAULTS))
        kinds = [kind == Kind.Expired, kind == Kind.DeadLettered, fault]
        codes = [CODE[fate] for fate in (Fate.expired, Fate.dead_lettered, Fate.lost)]
        return np.select(kinds, codes, CODE[Fate.dropped])

    def waits(self, lying: Lying, buried: Rows) -> tuple[Rows, Rows]:
        """Return message -> the last row that says why it waits, or -1; and whether it is a dead letter."""
        np = self.np
        enqueued = self.told(Kind.Enqueued)
        buries = np.isin(self.before(enqueued), BURIED)
        dead = np.isin(np.asarray(lying.dest), self.dest[enqueued[buries]])
        msg, told = np.asarray(lying.msg), np.asarray(lying.told, np.int64)
        dead &= buried[msg] >= 0
        waits, letter = np.full(self.last + 1, -1, np.int64), np.zeros(self.last + 1, bool)
        np.maximum.at(waits, msg[~dead], told[~dead])
        letter[msg[dead]] = True
        return waits, letter


class Table:
    """A table by key: of all there may be, or, where that would be too many, of those that are."""

    def __init__(self, np: Any, keys: Rows, size: int) -> None:
        self.np = np
        self.known = None if size <= max(DENSE, 2 * len(keys)) else np.unique(keys)
        self.size = size if self.known is None else len(self.known)

    def place(self, keys: Rows) -> tuple[Rows, Rows | slice]:
        """Return the places of those keys that it has, and which ones these are."""
        if self.known is None:
            return keys, slice(None)
        place = self.np.searchsorted(self.known, keys)
        place[place == self.size] = 0
        has = self.known[place] == keys if self.size else self.np.zeros(len(keys), bool)
        return place[has], has

    def key(self, places: Rows) -> Rows:
        """Return the keys of places."""
        return places if self.known is None else self.known[places]

    def count(self, keys: Rows) -> Rows:
        """Return how often each key comes."""
        return self.np.bincount(self.place(keys)[0], minlength=self.size)

    def last(self, keys: Rows, rows: Rows) -> Rows:
        """Return the last of the rows of each key, which go up, or -1."""
        table = self.np.full(self.size, -1, self.np.int64)
        place, which = self.place(keys)
        table[place] = rows[which]
        return table


def _array(column: Rows, code: str) -> array[int]:
    """Return a numpy column as an array."""
    sized = {"i": "int32", "b": "int8"}[code]
    return array(code, column.astype(sized).tobytes())
