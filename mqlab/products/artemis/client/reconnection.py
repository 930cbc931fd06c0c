"""How often a client tries to connect, and what it looks for when its connection is lost (Artemis rule 9.1)."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.products.artemis.broker.broker import Broker

MS = 1000


@dataclass(slots=True)
class Attempts:
    """How many attempts to connect are left (-1: no limit), and how long (ms) it is to the next.

    Each wait is so many times as long as the last, in whole milliseconds, and at most `longest`.
    """

    left: int
    wait: int
    multiplier: float
    longest: int

    def next(self) -> int:
        """Count one; returns the wait (us) before the next."""
        wait = self.wait * MS
        self.left -= 1
        self.wait = min(int(self.wait * self.multiplier), self.longest)
        return wait


@dataclass(eq=False, slots=True)
class Reconnection:
    """A client's search for the broker it had before, in one of its epochs, and for whom that was told of."""

    before: Broker
    epoch: int
    attempts: Attempts
    pair: list[str]
