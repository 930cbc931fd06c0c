"""What is drawn from a lab's only generator: how long machines take, and what lines lose."""

from __future__ import annotations

from random import Random

from mqlab.spec.link import Links

SPREAD = 4  # of what a machine takes: brokers of the recordings were up after 1 to 10 s


class Chances:
    """The draws of a lab; without jitter, and without loss, nothing is drawn."""

    random: Random
    jitter: int
    links: Links

    def random_duration(self, time: int, spread: float = SPREAD) -> int:
        """Return how long (us) something takes of which no rule of a product says it: *time* without jitter.

        With jitter it is drawn anew each time, from a *spread*-th of that to *spread* times as much.
        """
        varies = self.jitter and time  # what takes no time draws nothing
        return round(time * spread ** self.random.uniform(-1, 1)) if varies else time

    def extra_delay(self, time: int, spread: float = SPREAD) -> int:
        """Return how much longer (us) than *time* something takes that takes so long; 0 without jitter."""
        return max(0, self.random_duration(time, spread) - time)

    def chance(self, share: float) -> bool:
        """Whether something happens that real machines did in a *share* of their runs; without jitter never."""
        return bool(self.jitter) and self.random.random() < share

    def loses(self) -> bool:
        """Whether a datagram to all is lost on its way."""
        loss = self.links.every.loss
        return loss > 0 and self.random.random() < loss
