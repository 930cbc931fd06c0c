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


def next_request(since: int, now: int) -> int:
    """Return when (us) a connection asked for at *since* is asked for again, or given up.

    >>> next_request(0, 2_000_000), next_request(0, 20_000_000)
    (3000000, 30000000)
    """
    return since + next((wait for wait in SYN if since + wait >= now), CONNECT_TIMEOUT)


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


@dataclass(eq=False, slots=True)
class ConnectRequest:
    """A client asks a broker for a connection over a silent line, since when (us), and how often it may try."""

    client: Client
    broker: Broker
    since: int
    attempts: Attempts


def await_line(request: ConnectRequest) -> None:
    """Repeat the request as TCP does, or give it up after 30 s."""
    client, attempts, lab = request.client, request.attempts, request.client.lab
    left = request.since + CONNECT_TIMEOUT - lab.clock.now
    if client.state != "new":
        return
    if left > 0 and client.is_deaf(request.broker):
        lab.later(LOOKS, await_line, request)
    elif left > 0:
        lab.later(next_request(request.since, lab.clock.now) - lab.clock.now, client.connect, attempts)
    elif attempts.left in (0, 1):
        client.give_up()
    else:
        lab.later(attempts.next(), client.connect, attempts)
