"""The events of each message and the names of all messages: found once for a trace, and kept."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.plural import counted
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.columns import Columns


SCANS = 16  # messages that are looked for one by one before all are put in order


class Index:
    """`rows(msg)` are the events of a message in order, `name(msg)` is such as ``P-7``."""

    def __init__(self, trace: Columns) -> None:
        self.trace, self.asked = trace, 0
        self.order: tuple[array[int], array[int]] | None = None
        sent = _sent_by_numpy if trace.by_numpy else _sent_by_hand
        self.sent = sent(trace, _sent_rows(trace))  # producer -> its messages, as they were sent
        self.last = max((max(numbers) for numbers in self.sent.values()), default=0)

    def rows(self, msg: int) -> Sequence[int]:
        """Return the rows of the events of a message."""
        if not 0 <= msg <= self.last:
            return []
        msgs = self.trace.column("msg")
        self.asked += 1
        if self.order is None and self.trace.by_numpy and self.asked <= SCANS:
            return _scanned(msgs, msg)
        if self.order is None:
            self.order = (_by_numpy if self.trace.by_numpy else _by_hand)(msgs, self.last)
        starts, rows = self.order
        return rows[starts[msg] : starts[msg + 1]]

    def name(self, msg: int) -> str:
        """Return the name of a message; raises `BadValue` for a number that none has.

        In a part of a run it is the number, as what its producer sent before is not known there.
        """
        for node, numbers in self.sent.items() if isinstance(msg, int) else ():
            place = bisect_left(numbers, msg)  # they go up, unless it sent for two actions at a time
            if place == len(numbers) or numbers[place] != msg:
                place = numbers.index(msg) if msg in numbers else -1
            if place >= 0:
                return str(msg) if self.trace.part else f"{self.trace.names['node'][node]}-{place + 1}"
        where = "this part of the run" if self.trace.part else "the run"
        raise BadValue(f"no message {shown(msg)}: {where} sent {counted(self.count, 'message')}")

    @property
    def count(self) -> int:
        """How many messages were sent."""
        return sum(map(len, self.sent.values()))

    @cached_property
    def foreign(self) -> dict[str, int]:
        """The id that a message had in the file of a foreign trace (`mqlab.replay.read`) -> its number."""
        ids = self.trace.header.get("foreign", {}).get("messages", ())
        found: dict[str, int] = {}
        for number, one in enumerate(ids, 1):
            found.setdefault(str(one), number)
        return found

    def number(self, name: str | int) -> int:
        """Return the message number that *name* (``P-7``, ``7``, 7, or a foreign trace's own id) stands for."""
        if isinstance(name, int) and not isinstance(name, bool):
            self.name(name)
            return name
        text = str(name)
        if text in self.foreign:
            return self.foreign[text]
        producer, _, place = text.rpartition("-")
        if producer and place.isdecimal() and self.trace.part:
            raise BadValue(f"{text}: this trace is a part of its run; ask for the number of a message, e.g. 7")
        if producer and place.isdecimal():
            nodes = self.trace.names["node"]
            sent = [numbers for node, numbers in self.sent.items() if nodes[node] == producer]
            for numbers in sent:
                if 0 < int(place) <= len(numbers):
                    return numbers[int(place) - 1]
            if sent:
                last = f"{producer}-{max(map(len, sent))}"
                raise UnknownName(f"{text} was never sent; the last message of {producer} is {last}")
        if text.isdecimal() and any(int(text) in numbers for numbers in self.sent.values()):
            return int(text)
        raise UnknownName.of("message", text, [self.name(m) for of in self.sent.values() for m in of])

    def names(self) -> Mapping[int, str]:
        """Return message number -> name, of all."""
        if self.trace.part:
            return {msg: str(msg) for of in self.sent.values() for msg in of}
        nodes = self.trace.names["node"]
        return {msg: f"{nodes[node]}-{no}" for node, of in self.sent.items() for no, msg in enumerate(of, 1)}


def _sent_rows(trace: Columns) -> array[int]:
    """Return the row of each message's sending; of one that was refused at once, that of the refusal."""
    msgs, frm, sent = trace.column("msg"), trace.column("frm"), trace.rows(Kind.Sent)
    failed = [row for row in trace.rows(Kind.Failed) if msgs[row] > 0 and frm[row] >= 0]
    if not failed:
        return sent
    known = {msgs[row] for row in sent}
    return array("i", sorted([*sent, *(row for row in failed if msgs[row] not in known)]))


def _sent_by_hand(trace: Columns, rows: array[int]) -> dict[int, array[int]]:
    """Return producer -> the numbers of its messages, in the order of their first sending."""
    msgs, frm = trace.column("msg"), trace.column("frm")
    found: dict[int, array[int]] = {}
    for row in rows:
        found.setdefault(frm[row], array("i")).append(msgs[row])
    return found


def _sent_by_numpy(trace: Columns, rows: array[int]) -> dict[int, array[int]]:
    import numpy as np

    at = np.asarray(rows)
    msgs, frm = np.asarray(trace.column("msg"))[at], np.asarray(trace.column("frm"))[at]
    nodes, first = np.unique(frm, return_index=True)
    return {int(nodes[no]): array("i", msgs[frm == nodes[no]].tobytes()) for no in np.argsort(first)}


def _scanned(msgs: array[int], msg: int) -> array[int]:
    import numpy as np

    return array("i", np.flatnonzero(np.asarray(msgs) == msg).astype("int32").tobytes())


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
