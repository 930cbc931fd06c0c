"""How often a client tries to connect, and what it looks for when its connection is lost (Artemis rule 9.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker

if TYPE_CHECKING:
    from mqlab.products.artemis.client.clients import Client

MS = 1000
LOOKS = 20 * MS  # how often a blocked call looks whether it can go on
# A connection that is asked for over a silent line: TCP asks again 1, 3, 7 and 15 s later, and Netty gives up.
SYN = tuple(1000 * MS * second for second in (1, 3, 7, 15))
CONNECT_TIMEOUT = 30_000 * MS


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


# A client's search for the broker it had before, in one of its epochs, and for whom that was told of.
Reconnection = tuple[Broker, int, Attempts, list[str]]


def await_line(request: tuple[Client, Broker, int, Attempts]) -> None:
    """Repeat what a client asks of a broker over a silent line since a time (us), as TCP does, for 30 s."""
    client, broker, since, attempts = request
    lab, asked = client.lab, client.lab.clock.now - since
    if client.state != "new":
        return
    if asked < CONNECT_TIMEOUT and client.is_deaf(broker):
        lab.later(LOOKS, await_line, request)
    elif asked < CONNECT_TIMEOUT:
        again = next((wait for wait in SYN if wait >= asked), CONNECT_TIMEOUT)
        lab.later(again - asked, client.connect, attempts)
    elif attempts.left in (0, 1):
        client.give_up()
    else:
        lab.later(attempts.next(), client.connect, attempts)
