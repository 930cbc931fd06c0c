"""Time: an integer of microseconds, and what is to happen when.

Order at equal times is first scheduled, first served, so that a run never depends on chance.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from heapq import heappop, heappush
from typing import Any

Call = Callable[[Any], None]
OFTEN = 1000  # turns from one look at the limits of a run to the next
_FIXED = frozenset((int, str, float, bool, type(None)))  # types of what a copy may share


class Clock:
    """The time and a heap of (time, turn, function, argument).

    *guard* is called every so many turns and raises when a run has become too much.
    """

    def __init__(self, guard: Callable[[], None] | None = None) -> None:
        self.guard, self.guard_at = guard, OFTEN
        self.now = 0
        self.heap: list[tuple[int, int, Call, object]] = []
        self.turn = 0
        self.background = 0  # how many of the heap nobody waits for

    def __deepcopy__(self, memo: dict[int, Any]) -> Clock:
        # With ten thousand messages under way the heap is nearly all that a fork of the lab copies.
        made = Clock.__new__(Clock)
        memo[id(self)] = made
        calls: dict[Call, Call] = {}
        for _, _, call, _ in self.heap:
            if call not in calls:
                calls[call] = deepcopy(call, memo)
        for name, value in vars(self).items():
            if name != "heap":
                setattr(made, name, deepcopy(value, memo))
        made.heap = [
            (time, turn, calls[call], _copied(argument, memo))
            for time, turn, call, argument in self.heap
        ]
        return made

    def at(self, time: int, call: Call, argument: object) -> None:
        """Let *call* happen with *argument* at *time* (us), not before now."""
        self.turn = turn = self.turn + 1
        heappush(self.heap, (time, turn, call, argument))
        if turn >= self.guard_at:  # here, since all that never ends comes by
            self.guard_at = turn + OFTEN
            if self.guard is not None:
                self.guard()

    def later(self, time: int, call: Call, argument: object) -> None:
        """Let *call* happen at *time* if time goes on so far: a rest does not wait for it."""
        self.background += 1
        self.at(time, self._on_later, (call, argument))

    def _on_later(self, due: tuple[Call, object]) -> None:
        self.background -= 1
        due[0](due[1])

    def step(self) -> bool:
        """Let the next thing happen; False if there is none."""
        if len(self.heap) <= self.background:
            return False
        self.now, _, call, argument = heappop(self.heap)
        call(argument)
        return True

    def next(self) -> None:
        """Let the next thing happen, housekeeping too; something is to be due."""
        self.now, _, call, argument = heappop(self.heap)
        call(argument)

    def rest(self, until: int | None = None) -> None:
        """Let things happen until none is left, or until the time *until* (us)."""
        heap = self.heap
        while True:  # CPython 3.11 specializes no loop that jumps back on a condition
            if until is None:
                if len(heap) <= self.background:
                    return
            elif not heap or heap[0][0] > until:
                self.now = max(self.now, until)
                return
            self.now, _, call, argument = heappop(heap)
            call(argument)


def _copied(argument: Any, memo: dict[int, Any]) -> Any:
    """Return a deep copy; tuples, which nobody tells apart from equal ones, are not remembered."""
    kind = type(argument)
    if kind in _FIXED:
        return argument
    if kind is tuple:
        return tuple([one if type(one) in _FIXED else _copied(one, memo) for one in argument])
    return deepcopy(argument, memo)
