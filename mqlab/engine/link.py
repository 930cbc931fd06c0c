"""A link carries things from one end to the other: in order, after a delay, none lost for good."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappush
from random import Random

from mqlab.engine.clock import Call, Clock

SECOND = 1_000_000  # us
SEGMENT = 1460  # bytes of what is sent that fit into one segment, over Ethernet
COMMAND = 128  # bytes that anything takes besides the message in it
TIME_OUT, LONGEST_TIME_OUT = (
    SECOND // 5,
    120 * SECOND,
)  # of a retransmission, as Linux begins and ends


@dataclass(frozen=True, slots=True)
class LinkQuality:
    """How a link is: `delay` and `jitter` in us, `loss` a share of segments, `bandwidth` bytes per s."""

    delay: int
    jitter: int = 0
    loss: float = 0.0
    bandwidth: int = 0  # 0 is no limit


class Link:
    """One direction of a connection.

    Each thing takes the delay and up to as much jitter on top, but never overtakes another. With a
    bandwidth each waits until those before it are in the line. A segment that is lost is sent again after
    a time-out, which doubles each time (RFC 6298, section 5).
    """

    __slots__ = ("clock", "delay", "free", "last", "line", "plain", "random", "usual")

    def __init__(self, clock: Clock, line: LinkQuality, random: Random) -> None:
        self.clock, self.line, self.random = clock, line, random
        self.delay = line.delay
        self.plain = not (line.jitter or line.loss or line.bandwidth)
        self.usual = self.plain and self.delay == clock.usual
        self.last = self.free = 0  # us: the last arrival, and when the line takes something again

    def carry(self, call: Call, argument: object, wait: int = 0, size: int = 0) -> None:
        """Let *call* happen with *argument* at the far end; it leaves in *wait* us, *size* bytes long."""
        clock = self.clock
        if self.usual and not wait:
            clock.line.append((clock.now + self.delay, clock.turn, call, argument))
            return
        time = clock.now + self.delay + wait
        if not self.plain:
            time = self.last = max(self.last, self._arrival(time, size + COMMAND))
        clock.turn = turn = clock.turn + 1  # as `Clock.at` does; a call less for every passage
        heappush(clock.heap, (time, turn, call, argument))

    def _arrival(self, time: int, size: int) -> int:
        """Return when *size* bytes arrive that would without hindrance at *time*."""
        line, draw = self.line, self.random
        if line.bandwidth:
            leaves = max(time - line.delay, self.free) + -(-size * SECOND // line.bandwidth)
            self.free, time = leaves, leaves + line.delay
        if line.jitter:
            time += draw.randrange(line.jitter + 1)
        if line.loss:
            time += max(self._resending() for _ in range(-(-size // SEGMENT)))
        return time

    def _resending(self) -> int:
        """Return how much later (us) a segment arrives because it was lost, perhaps several times."""
        later, time_out = 0, TIME_OUT
        while self.random.random() < self.line.loss:
            later += time_out
            time_out = min(2 * time_out, LONGEST_TIME_OUT)
        return later
