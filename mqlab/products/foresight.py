"""Whether a run will take long: said to who waits for it, by what its first second did of its script."""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from mqlab.spec.foretold import AFTER, duration, tell
from mqlab.spec.plural import counted

if TYPE_CHECKING:
    from mqlab.engine.lab import Lab

LARGE = 100_000  # messages of a run that takes so long that it is said beforehand
LONG = 20.0  # s still to come that are told


@dataclass(eq=False)
class Foresight:
    """Looks on while a lab plays, and says once how long it will take, and how much memory.

    It goes by what of the script, and of the connectors that a start begins, is still to come. Of a run
    whose script is over it says nothing: how many events a message will have is known to nobody.
    """

    lab: Lab
    done: bool = False
    begin: float = 0.0
    left: float = 0.0
    memory: float = 0.0

    def look(self) -> None:
        """See how far the run has come."""
        now, left = monotonic(), self.lab.to_begin
        if self.done:
            return
        if left > self.left:  # the first look, or a start has begun
            self.begin, self.left, self.memory = now, left, used()
        elif now - self.begin >= AFTER and left < self.left:
            part = left / (self.left - left)  # of what was done since then
            self.done = True
            if part * (now - self.begin) >= LONG:
                say(part * (now - self.begin), used() + part * (used() - self.memory))


def used() -> int:
    """Return how many MB of memory the process has used at most; 0 where nobody tells."""
    try:
        import resource
    except ImportError:  # Windows, and pages
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most >> (20 if sys.platform == "darwin" else 10)


def say(seconds: float, memory: float) -> None:
    """Tell who waits, if somebody does."""
    room = f" and {memory / 1000:.1f} GB of memory" if memory >= 1000 else ""
    tell(f"This run needs about {duration(seconds)} more{room}. Ctrl-C ends it and keeps its trace so far.")


def warn_of_size(messages: int) -> None:
    """Warn before a run of so many messages that it takes long.

    A message makes 5 events or more, 3 more with each broker on its way; 5 * 10^5 events take a second
    (a chain of four under load; on a quiet machine 10^6).
    """
    told = f"a run of {counted(messages, 'message')} makes at least {counted(5 * messages, 'event')} and takes"
    takes = counted(-(-5 * messages // 500_000), "second")
    remedy = "mq.replay.run(..., out='folder') keeps them on disk"
    warnings.warn(f"{told} {takes} or more, as each hop adds events; {remedy}", stacklevel=4)
