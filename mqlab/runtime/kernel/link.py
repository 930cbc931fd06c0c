"""A link carries things from one end to the other: in order, after a delay."""

from __future__ import annotations

from heapq import heappush
from random import Random
from typing import Any, Protocol

from mqlab.runtime.kernel.clock import Call, Clock


class Gate(Protocol):
    """What lies on the way of a link: a socket on a line that can be cut, to a process that can die."""

    def lets_pass(self, back: bool, call: Call, argument: Any) -> bool:
        """Whether *call* may happen now at the end of the way; if it is held, it is called later."""


class Link:
    """One direction of a connection. `delay` and `jitter` are microseconds.

    Each thing takes the delay and up to as much jitter on top, but never overtakes another. With a
    `gate` it arrives only if that lets it pass; `back` tells the gate which direction this is.
    """

    __slots__ = ("back", "clock", "delay", "gate", "jitter", "last", "random")

    def __init__(
        self, clock: Clock, delay: int, jitter: int, random: Random, gate: Gate | None = None,
        back: bool = False,
    ) -> None:  # fmt: skip
        self.clock, self.delay, self.jitter, self.random = clock, delay, jitter, random
        self.gate, self.back = gate, back
        self.last = 0

    def carry(self, call: Call, argument: Any, wait: int = 0) -> None:
        """Let *call* happen with *argument* at the far end; it leaves in *wait* us."""
        if self.gate is not None:
            call, argument = self.arrive, (call, argument)
        clock = self.clock
        time = clock.now + self.delay + wait
        if self.jitter:
            time = max(self.last, time + self.random.randrange(self.jitter + 1))
            self.last = time
        clock.turn = turn = clock.turn + 1  # as `Clock.at` does; a call less for every passage
        heappush(clock.heap, (time, turn, call, argument))

    def arrive(self, passage: tuple[Call, Any]) -> None:
        """Something has come to the gate."""
        assert self.gate is not None
        if self.gate.lets_pass(self.back, self.arrive, passage):
            call, argument = passage
            call(argument)
