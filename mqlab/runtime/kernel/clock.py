"""Time: an integer of microseconds, and what is to happen when.

Order at equal times is first scheduled, first served, so that a run never depends on chance.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

Call = Callable[[Any], None]


class Clock:
    """The time and a heap of (time, turn, function, argument)."""

    def __init__(self) -> None:
        self.now = 0
        self.heap: list[tuple[int, int, Call, object]] = []
        self.turn = 0
        self.background = 0  # how many of the heap nobody waits for

    def at(self, time: int, call: Call, argument: object) -> None:
        """Let *call* happen with *argument* at *time* (us), not before now."""
        self.turn = turn = self.turn + 1
        heappush(self.heap, (time, turn, call, argument))

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
        if until is None:
            while len(heap) > self.background:
                self.now, _, call, argument = heappop(heap)
                call(argument)
            return
        while heap and heap[0][0] <= until:
            self.now, _, call, argument = heappop(heap)
            call(argument)
        self.now = max(self.now, until)
