"""A line that carries so many bytes per second: what is slowed stays in order, until it is healed.

The relay of the recordings takes what is there, at most so much at once, and lets it wait for its time.
"""

from __future__ import annotations

from collections import deque

from mqlab.engine.clock import Call
from mqlab.engine.link import SECOND, Link

AT_ONCE = 4096  # bytes
# Bytes that a message takes beside its body, and what anything else takes. Measured twice at 1,000 bytes per s:
# 356 to 390 over a bridge (messages of 500 to 2,000 bytes), 280 to 300 between a client and its broker.
HEADERS, OTHERS = 360, 30


class SlowLine(Link):
    """One direction of a line; `rate` in bytes per second, 0 once it is healed."""

    __slots__ = ("busy", "rate", "waiting")

    def __init__(self, link: Link) -> None:
        super().__init__(link.clock, link.line, link.random)
        self.rate, self.busy = 0, False
        self.waiting: deque[tuple[int, Call, object]] = deque()  # bytes left, and what comes with the last one

    def carry(self, call: Call, argument: object, wait: int = 0, size: int = -1) -> None:
        """Let *call* happen with *argument* at the far end, once its bytes have come."""
        if not self.rate and not self.waiting:
            super().carry(call, argument, wait, max(size, 0))
            return
        self.waiting.append((size + HEADERS if size >= 0 else OTHERS, call, argument))
        if not self.busy:
            self._read()

    def _read(self) -> None:
        taken = min(AT_ONCE, sum(size for size, _, _ in self.waiting))
        self.busy = taken > 0
        if self.busy:
            time = taken * SECOND // self.rate if self.rate else 0
            self.clock.schedule_background(self.clock.now + time, self._write, taken)

    def _write(self, taken: int) -> None:
        while taken:
            size, call, argument = self.waiting.popleft()
            if size > taken:
                self.waiting.appendleft((size - taken, call, argument))
                break
            taken -= size
            super().carry(call, argument)
        self._read()
