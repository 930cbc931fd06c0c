"""Story time: how long a run takes to watch.

A run has bursts of hops of a millisecond each, and long silences. The player's clock gives every
millisecond in which something moves the same time, and cuts silences short; what it shows as the
time is still that of the run.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

SECONDS_PER_MS = 0.35  # of playing, at most, for a millisecond of the run
LONGEST = 45.0  # seconds of playing at normal speed, as long as hops stay visible
SILENCE = 3_000  # us: what is longer is cut to this, and a little for its length


class Story:
    """A piecewise linear map from the run's microseconds to seconds of playing."""

    def __init__(self, times: Sequence[int], begin: int = 0) -> None:
        marks = sorted({begin, *times})
        lengths = [self._told(b - a) for a, b in itertools.pairwise(marks)]
        scale = min(SECONDS_PER_MS, LONGEST / max(1.0, sum(lengths) / 1000)) / 1000
        self.times, self.seconds = marks, [0.0]
        for length in lengths:
            self.seconds.append(self.seconds[-1] + length * scale)

    @classmethod
    def of(cls, *traces: Trace) -> Self:
        """Return the story of one run, or of several on one clock: every moment of any of them counts."""
        begin = min(trace.header.get("window", [0])[0] for trace in traces)
        return cls([time for trace in traces for time in trace.column("t")], begin)

    @staticmethod
    def _told(gap: int) -> float:
        return gap if gap <= SILENCE else SILENCE + min(gap, 10 * SILENCE) * 0.05

    @property
    def duration(self) -> float:
        """Seconds that the whole run takes at normal speed."""
        return self.seconds[-1]

    def at(self, time: int) -> float:
        """Return the second of playing for a time of the run (us)."""
        place = min(bisect_right(self.times, time), len(self.times) - 1)
        if place == 0:
            return 0.0
        a, b = self.times[place - 1], self.times[place]
        share = min(1.0, (time - a) / (b - a))
        return self.seconds[place - 1] + share * (self.seconds[place] - self.seconds[place - 1])
