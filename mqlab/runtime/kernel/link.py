"""A link carries things from one end to the other: in order, after a delay."""

from __future__ import annotations

from heapq import heappush
from random import Random
from typing import Any

from mqlab.runtime.kernel.clock import Call, Clock


class Link:
    """One direction of a connection. `delay` and `jitter` are microseconds.

    Each thing takes the delay and up to as much jitter on top, but never overtakes another.
    """

    __slots__ = ("clock", "delay", "jitter", "last", "random")

    def __init__(self, clock: Clock, delay: int, jitter: int, random: Random) -> None:
        self.clock, self.delay, self.jitter, self.random = clock, delay, jitter, random
        self.last = 0

    def carry(self, call: Call, argument: Any, wait: int = 0) -> None:
        """Let *call* happen with *argument* at the far end; it leaves in *wait* us."""
        clock = self.clock
        time = clock.now + self.delay + wait
        if self.jitter:
            time = max(self.last, time + self.random.randrange(self.jitter + 1))
            self.last = time
        clock.turn = turn = clock.turn + 1  # as `Clock.at` does; a call less for every passage
        heappush(clock.heap, (time, turn, call, argument))
