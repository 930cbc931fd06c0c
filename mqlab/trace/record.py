"""The one place that appends to a trace.

Rows are packed as 64-bit integers, and become columns of the width that each of them needs: bytes are picked
out of the rows by strides, so that no integer is made. Without numpy that takes a hundredth of the time of
converting them one by one.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from mqlab.errors import BadValue
from mqlab.spec.plural import counted
from mqlab.trace.columns import COLUMNS, GrowingColumns, LentColumns, Names
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.spec.action import Action

# The order in a packed row: what many events have in common stands last, see `pack_prefix`.
ROW = (
    "t",
    "msg",
    "dest",
    "hop",
    "age",
    "rule",
    "cause",
    "kind",
    "broker",
    "frm",
    "to",
    "link",
    "sub",
)
WIDTH = len(COLUMNS)
_STRIDE = 8 * WIDTH  # bytes of a row
# What the first byte that is left out has to be, by the last one that is kept: its sign's.
_SIGN = bytes(0xFF if byte > 0x7F else 0 for byte in range(256))


def narrow(rows: bytearray) -> dict[str, array[int]]:
    """Return the columns of packed rows; raises `BadValue` for a number that is too large for its column."""
    if sys.byteorder == "big":
        whole = array("q", bytes(rows))
        return {name: array(COLUMNS[name], whole[no::WIDTH]) for no, name in enumerate(ROW)}
    columns = {}
    for no, name in enumerate(ROW):
        column = columns[name] = array(COLUMNS[name])
        place, size = 8 * no, column.itemsize
        kept = bytearray(len(rows) // _STRIDE * size)
        for byte in range(size):
            kept[byte::size] = rows[place + byte :: _STRIDE]
        # One byte more tells: numbers of rows, messages and names grow by one.
        if size < 8 and rows[place + size :: _STRIDE] != kept[size - 1 :: size].translate(_SIGN):
            raise BadValue(
                f"the run is too large to be stored as one trace: column {name!r} has {counted(size, 'byte')}"
            )
        column.frombytes(kept)
    return columns


FULL = (1 << 13) - 1  # so many rows, and one, become columns at a time: as many as a cache holds
MOVES = frozenset(
    (
        Kind.Sent,
        Kind.Enqueued,
        Kind.Dispatched,
        Kind.Forwarded,
        Kind.Received,
        Kind.Acknowledged,
        Kind.Returned,
        Kind.Subscribed,
        Kind.Unsubscribed,
        Kind.Expired,
        Kind.DeadLettered,
    )
)
_ONE = struct.Struct("=q")
_KIND = 8 * ROW.index("kind")  # bytes of a row before its kind
_PACK = struct.Struct(f"={WIDTH}q").pack
_STAMP = struct.Struct("=6q").pack
_STAMPED = struct.Struct("=7q48s").pack


def pack_prefix(kind: int, broker: int, frm: int = -1, to: int = -1, link: int = -1, sub: int = -1) -> bytes:
    """Return what all events of one kind on one way have in common, packed once for all of them."""
    return _STAMP(kind, broker, frm, to, link, sub)


class TraceClock:
    """What tells a recorder the time, `now` in us. This one stands still."""

    now = 0


class MessageLike(Protocol):
    """What a recorder reads off a message."""

    number: int
    dest_no: int
    sent: int


class ColumnSink(Protocol):
    """Who takes the columns of a long run, each time there are so many rows as `full` says."""

    full: int

    def take(self, columns: dict[str, array[int]]) -> None:
        """Take columns: they are changed no more."""


class Recorder:
    """Rows of integers, one behind the other as bytes, and the names they point to.

    Packing a row into bytes is the cheapest way to write it in plain Python (a quarter of
    extending an array, a fifth of an append to each column); every so many rows become columns, which
    need less than half the room. A trace has the very columns of its recorder that it was asked for
    (`LentColumns`).
    """

    def __init__(self, clock: TraceClock | None = None) -> None:
        self.clock = clock or TraceClock()
        self.rows = bytearray()
        self.count = 0
        self.written = GrowingColumns()
        self.seen = self.moved = 0  # see `moved_at`
        self.taker: ColumnSink | None = None  # of the columns of a run that is too long to be kept
        self.gone = 0  # rows that it has taken
        self.names = Names()
        self.destinations: dict[object, int] = {}
        self.bridges: dict[tuple[str, str, str], int] = {}

    @property
    def columns(self) -> dict[str, array[int]]:
        """The rows that are columns already."""
        return self.written.columns

    def add(
        self,
        t: int,
        kind: int,
        msg: int = -1,
        broker: int = -1,
        frm: int = -1,
        to: int = -1,
        link: int = -1,
        dest: int = -1,
        sub: int = -1,
        hop: int = 0,
        age: int = 0,
        rule: int = 0,
        cause: int = -1,
    ) -> int:
        """Append one event and return its row number, which later events name as their cause."""
        self.rows += _PACK(t, msg, dest, hop, age, rule, cause, kind, broker, frm, to, link, sub)
        row = self.count
        self.count = row + 1
        if row & FULL == FULL:
            self.flush()
        return row

    def add_packed(self, stamp: bytes, message: MessageLike, hops: int, rule: int, cause: int) -> int:
        """Append what happens to *message* now, its kind and way packed already; return its row number."""
        rows, now = self.rows, self.clock.now
        rows += _STAMPED(
            now,
            message.number,
            message.dest_no,
            hops,
            now - message.sent,
            rule,
            cause,
            stamp,
        )
        row = self.count
        self.count = row + 1
        if row & FULL == FULL:
            self.flush()
        return row

    def flush(self) -> None:
        """Let the rows be columns."""
        if not self.rows:
            return
        self.written.extend(narrow(self.rows))
        self.rows.clear()
        if self.taker is not None and len(self.written.columns["t"]) >= self.taker.full:
            self.hand_over(self.taker)

    def mend(self) -> None:
        """Take back what was half written when a run was interrupted: a row, or columns."""
        packed = len(self.rows) // (8 * WIDTH)
        lengths = {len(column) for column in self.written.columns.values()}
        kept = min(lengths) + self.gone
        if len(lengths) == 1 and kept + packed in (self.count, self.count + 1):
            self.count = kept + packed
            return
        for column in self.written.columns.values():
            del column[self.count - packed - self.gone :]

    def hand_over(self, taker: ColumnSink) -> None:
        """Give the columns away; what is written down from now on begins others."""
        self.moved_at()  # it needs them
        taker.take(self.written.columns)
        self.gone += len(self.written.columns["t"])
        self.written = GrowingColumns()

    def moved_at(self) -> int:
        """Return when a message or a subscription has last moved (us)."""
        times, kinds = self.written.columns["t"], self.written.columns["kind"]
        done = len(times)
        for row in range(self.count - self.gone - 1, self.seen - self.gone - 1, -1):
            if row < done:
                time, kind = times[row], kinds[row]
            else:
                place = 8 * (row - done) * WIDTH
                (time,) = _ONE.unpack_from(self.rows, place)
                (kind,) = _ONE.unpack_from(self.rows, place + _KIND)
            if kind in MOVES:
                self.moved = time
                break
        self.seen = self.count
        return self.moved

    # Names, each entered at first use and then known by its number

    def add_node(self, name: str, role: str, home: str = "") -> int:
        """Enter a broker or a client and return its number."""
        names = self.names
        names["node"].append(name)
        names["node_role"].append(role)
        names["node_home"].append(home)
        return len(names["node"]) - 1

    def name_link(self, name: str, home: str, remote: str) -> int:
        """Return the number of a bridge; coming up again it is the same one."""
        bridge = (name, home, remote)
        if bridge not in self.bridges:
            self.bridges[bridge] = len(self.bridges)
            for table, text in zip(("link", "link_from", "link_to"), bridge, strict=True):
                self.names[table].append(text)
        return self.bridges[bridge]

    def name_destination(self, dest: object) -> int:
        """Return the number of a destination or pattern; its text is its name."""
        number = self.destinations.get(dest)
        if number is None:
            number = self.destinations[dest] = len(self.destinations)
            self.names["dest"].append(str(dest))
        return number

    def name_subscription(self, label: str) -> int:
        """Return the number of a new subscription."""
        self.names["sub"].append(label)
        return len(self.names["sub"]) - 1

    def trace(
        self,
        header: dict[str, object],
        later: Callable[[], dict[str, object]] | None = None,
        script: tuple[Action, ...] | None = None,
    ) -> Trace:
        """Return all that was recorded so far as a trace of its own.

        *later* makes more of its header, *script* is what the run has begun.
        """
        self.flush()
        lent = LentColumns(self.written, self.count - self.gone)
        return Trace(header, self.names, lent, later, script)
