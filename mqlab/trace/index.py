"""The events of each message and the names of all messages: found once for a trace, and kept."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, UnknownName
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.columns import Columns


class Index:
    """`rows(msg)` are the events of a message in order, `name(msg)` is such as ``P-7``."""

    def __init__(self, trace: Columns) -> None:
        self.trace = trace
        sent = trace.rows(Kind.Sent)
        msgs, frm = trace.column("msg"), trace.column("frm")
        self.last = max((msgs[row] for row in sent), default=0)
        order = _by_numpy if trace.by_numpy else _by_hand
        self.starts, self.order = order(msgs, self.last)
        self.sent: dict[int, list[int]] = {}  # producer -> its messages, as they were sent
        self.place = array(
            "i", bytes(4 * (self.last + 1))
        )  # message -> how manieth; 0 is no message
        for row in sent:
            of = self.sent.setdefault(frm[row], [])
            of.append(msgs[row])
            self.place[msgs[row]] = len(of)

    def rows(self, msg: int) -> Sequence[int]:
        """Return the rows of the events of a message."""
        if not 0 <= msg <= self.last:
            return []
        return self.order[self.starts[msg] : self.starts[msg + 1]]

    def name(self, msg: int) -> str:
        """Return the name of a message; raises `BadValue` for a number that none has."""
        if not 0 <= msg <= self.last or not self.place[msg]:
            raise BadValue(f"there is no message {msg}; the run sent {self.count}")
        frm, kinds = self.trace.column("frm"), self.trace.column("kind")
        row = next(row for row in self.rows(msg) if kinds[row] == Kind.Sent)
        return f"{self.trace.names['node'][frm[row]]}-{self.place[msg]}"

    @property
    def count(self) -> int:
        """How many messages were sent."""
        return sum(map(len, self.sent.values()))

    def number(self, name: str | int) -> int:
        """Return the message number that *name* (``P-7``, ``7`` or 7) stands for."""
        if isinstance(name, int) and not isinstance(name, bool):
            self.name(name)
            return name
        text = str(name)
        producer, _, place = text.rpartition("-")
        if producer and place.isdecimal():
            nodes = self.trace.names["node"]
            for node, numbers in self.sent.items():
                if nodes[node] == producer and 0 < int(place) <= len(numbers):
                    return numbers[int(place) - 1]
        if text.isdecimal() and int(text) <= self.last and self.place[int(text)]:
            return int(text)
        raise UnknownName.of(
            "message", text, [self.name(m) for of in self.sent.values() for m in of]
        )

    def names(self) -> Mapping[int, str]:
        """Return message number -> name, of all."""
        nodes = self.trace.names["node"]
        return {msg: f"{nodes[node]}-{no}" for node, of in self.sent.items()
                for no, msg in enumerate(of, 1)}  # fmt: skip


def _by_hand(msgs: array[int], last: int) -> tuple[array[int], array[int]]:
    """Return where each message's rows begin, and the rows ordered by message."""
    starts = array("i", bytes(4 * (last + 2)))
    for msg in msgs:
        if 0 <= msg <= last:
            starts[msg + 1] += 1
    for msg in range(last + 1):
        starts[msg + 1] += starts[msg]
    order, free = array("i", bytes(4 * starts[-1])), starts[:]
    for row, msg in enumerate(msgs):
        if 0 <= msg <= last:
            order[free[msg]] = row
            free[msg] += 1
    return starts, order


def _by_numpy(msgs: array[int], last: int) -> tuple[array[int], array[int]]:
    """Do the same by sorting integers of both, message and row: numpy sorts such the fastest."""
    import numpy as np

    known = np.asarray(msgs)
    bits = max(1, len(known).bit_length())
    both = known.astype(np.int64) << bits
    both += np.arange(len(known))
    both = both[known.view("uint32") <= last]
    both.sort()
    starts = np.searchsorted(both, np.arange(last + 2) << bits).astype("int32")
    both &= (1 << bits) - 1
    return array("i", starts.tobytes()), array("i", both.astype("int32").tobytes())
