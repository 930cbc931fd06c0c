"""Time: an integer of microseconds, and what is to happen when.

Order at equal times is first scheduled, first served, so that a run never depends on chance.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from copy import deepcopy
from heapq import heappop, heappush
from typing import Any

from mqlab.trace.record import Recorder, TraceClock

Call = Callable[[Any], None]
# A time, a turn, a function, and what it is called with. What is in the line has the turn of what came
# into the heap last before it.
Due = tuple[int, int, Call, Any]
NEVER = sys.maxsize
OFTEN = 1000  # turns from one look at the limits of a run to the next
_FIXED = frozenset((int, str, float, bool, type(None)))  # types of what a copy may share


class Clock(TraceClock):
    """The time, and what is still to happen, in order of time and turn.

    What happens *usual* us from when it is known, as nearly all does that links carry, comes in order
    by itself: it waits in `line`, and only the rest in a heap. *guard* is called every so many turns
    and raises when a run has become too much.
    """

    def __init__(self, guard: Callable[[], None] | None = None, usual: int = -1) -> None:
        self.guard, self.guard_at = guard, OFTEN
        self.usual = usual
        self.now = 0
        self.line: deque[Due] = deque()
        self.heap: list[Due] = []
        self.turn = 0
        self.background = 0  # how many of the heap nobody waits for
        self.halted = False  # see `halt`
        self.at_rest: Callable[[], None] | None = None  # is called as soon as only housekeeping is left, once

    def __deepcopy__(self, memo: dict[int, object]) -> Clock:
        # With ten thousand messages under way these are nearly all that a fork of the lab copies.
        made = Clock.__new__(Clock)
        memo[id(self)] = made
        calls: dict[Call, Call] = {}
        for _, _, call, _ in (*self.line, *self.heap):
            if call not in calls:
                calls[call] = deepcopy(call, memo)
        for name, value in vars(self).items():
            if name not in ("line", "heap"):
                setattr(made, name, deepcopy(value, memo))
        copies = [
            [(time, turn, calls[call], _copied(what, memo)) for time, turn, call, what in due]
            for due in (self.line, self.heap)
        ]
        made.line, made.heap = deque(copies[0]), copies[1]
        return made

    @property
    def waiting(self) -> int:
        """How many things are still to happen."""
        return len(self.line) + len(self.heap)

    @property
    def next_time(self) -> int:
        """When the next thing happens (us)."""
        time = self.heap[0][0] if self.heap else NEVER
        return min(time, self.line[0][0]) if self.line else time

    def schedule(self, time: int, call: Call, argument: object) -> None:
        """Let *call* happen with *argument* at *time* (us), not before now."""
        self.turn = turn = self.turn + 1
        heappush(self.heap, (time, turn, call, argument))
        if turn >= self.guard_at:  # here, since all that never ends comes by
            self.guard_at = turn + OFTEN
            if self.guard is not None:
                self.guard()

    def schedule_background(self, time: int, call: Call, argument: object) -> None:
        """Let *call* happen at *time* if time goes on so far: a rest does not wait for it."""
        self.background += 1
        self.schedule(time, self.on_later, (call, argument))

    def later(self) -> list[tuple[Call, Any]]:
        """Return what is scheduled that a rest does not wait for: each call with its argument."""
        return [due for _, _, call, due in self.heap if call == self.on_later]

    def on_later(self, due: tuple[Call, object]) -> None:
        """Let housekeeping happen."""
        self.background -= 1
        due[0](due[1])

    def step(self) -> bool:
        """Let the next thing happen; False if there is none."""
        if len(self.line) + len(self.heap) <= self.background:
            return False
        self.next()
        return True

    def next(self) -> None:
        """Let the next thing happen, housekeeping too; something is to be due."""
        line, heap = self.line, self.heap
        if self.at_rest is not None and self._tells_rest():
            return
        if line and not (heap and heap[0][0] <= line[0][0] and heap[0][:2] <= line[0][:2]):
            self.now, _, call, argument = line.popleft()
        else:
            self.now, _, call, argument = heappop(heap)
        call(argument)

    def next_by(self, last: int) -> bool:
        """Let the next thing happen, housekeeping too, if it is due by the time *last* (us)."""
        line, heap = self.line, self.heap
        if self.at_rest is not None and self._tells_rest():
            return True
        if line and not (heap and heap[0][0] <= line[0][0] and heap[0][:2] <= line[0][:2]):
            if line[0][0] > last:
                return False
            self.now, _, call, argument = line.popleft()
        elif heap and heap[0][0] <= last:
            self.now, _, call, argument = heappop(heap)
        else:
            return False
        call(argument)
        return True

    @property
    def moves(self) -> bool:
        """Whether anything but housekeeping is left."""
        return bool(self.line) or len(self.heap) > self.background

    def _tells_rest(self) -> bool:
        """Tell who waits for it, before time goes on, if nothing but housekeeping is left; True if so."""
        at_rest = self.at_rest
        if at_rest is None or self.moves:
            return False
        self.at_rest = None
        at_rest()
        return True

    def halt(self) -> None:
        """What happens now ends something that is waited for: `rush` returns after it."""
        self.halted = True

    def rush(self, last: int, recorder: Recorder, most: int) -> None:
        """Let things happen until all but housekeeping has, by *last*, up to *most* events or a `halt`."""
        line, heap = self.line, self.heap
        self.halted = False
        while recorder.count <= most and not self.halted:
            if line:  # as `next_by` does; three calls less for everything
                due = line[0]
                if heap and heap[0][0] <= due[0] and heap[0][:2] <= due[:2]:
                    due = heap[0]
                    if due[0] > last:
                        return
                    heappop(heap)
                elif due[0] > last:
                    return
                else:
                    line.popleft()
            elif len(heap) > self.background and heap[0][0] <= last:
                due = heappop(heap)
            else:
                return
            self.now, _, call, argument = due
            call(argument)

    def rest(self, until: int | None = None) -> None:
        """Let things happen until none is left, or until the time *until* (us)."""
        if until is not None:
            while self.next_by(until):
                pass
            self.now = max(self.now, until)
            return
        line, heap = self.line, self.heap
        while True:  # CPython 3.11 specializes no loop that jumps back on a condition
            if line:  # as `next` does; a call less for everything
                due = line.popleft()
                if heap and heap[0][0] <= due[0] and heap[0][:2] <= due[:2]:
                    line.appendleft(due)
                    due = heappop(heap)
            elif len(heap) > self.background:
                due = heappop(heap)
            else:
                return
            self.now, _, call, argument = due
            call(argument)


def _copied(argument: Any, memo: dict[int, object]) -> Any:
    """Return a deep copy; tuples, which nobody tells apart from equal ones, are not remembered."""
    kind = type(argument)
    if kind in _FIXED:
        return argument
    if kind is tuple:
        return tuple([one if type(one) in _FIXED else _copied(one, memo) for one in argument])
    return deepcopy(argument, memo)
