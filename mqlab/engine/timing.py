"""How long things take that are no rule of any product: one record for a whole lab, in microseconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

# How far what a broker takes is from what most do: members of a set served 14 to 1284 ms after they had begun.
MACHINES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What one broker takes.

    `start` until it looks for its lock, and `serve` until it serves, if it needs none (`again` if this program
    has started it before: its classes are loaded, and its store is there); `lead` having
    got its lock after a wait, when the store is read and the port opened, `first_lead` having got it
    at once; `welcome` until a client that has connected is answered; `write` for a reliable message,
    until it is on the disk; `stop` an orderly end, with its stores closed.
    """

    start: int = 0
    serve: int = 0
    again: int = 0
    lead: int = 0
    first_lead: int = 0
    welcome: int = 0
    write: int = 0
    stop: int = 0

    def taken(self, takes: Callable[[int, float], int]) -> Costs:
        """Return what one certain broker takes, its lab saying how far that is from what most do."""
        drawn = {c.name: takes(getattr(self, c.name), MACHINES) for c in fields(self) if c.name != "again"}
        again = (
            self.again * drawn["serve"] // self.serve if self.serve else self.again
        )  # as quick or slow as that
        return Costs(**drawn, again=again)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long things take.

    `link`: the way of a message over any link. `pace`: from one message of a burst to the next.
    `taking`: what a broker does with a message from a bridge before it answers, one after the other.
    `closing`: a producer's connection closes after its last message; what follows in a script then
    finds the network still busy. None lets all come to rest first. `broker` and `process` are the
    costs of a broker inside a running program and of one that is a program of its own; `bridge_up`:
    from a connector's socket to its bridge; `kill`, `restart`: a death, from a
    broker's end to its next start in the same program. `between`: from one call of a script to the next.
    `greeting`: whether the first words of two brokers take their way
    over the link. `attempt`: what a try takes at least, before the same client tries again. `round`: what a
    round of tries, of a fail-over client or a connector, takes besides its wait.
    """

    link: int = 1000
    pace: int = 0
    taking: int = 0
    closing: int | None = None
    broker: Costs = Costs()
    process: Costs = Costs()
    bridge_up: int = 0
    kill: int = 0
    restart: int = 0
    between: int = 0
    attempt: int = 990
    round: int = 0
    greeting: bool = False


# The machine of the recordings of networks at rest, where all brokers ran in one program and talked over
# 127.0.0.1. In the time that a client took to send 2000 messages and close, bridges with prefetch 1
# carried 91 to 269, and a consumer with 1 ms of work on each got 1 to 17 (fig_2_19_consumer_leaves_*);
# during a burst of 100 a bridge took 1 to 4 (network_prefetch_1_burst). Twice as long a link does as well.
LOOPBACK = Timing(link=10, pace=4, taking=80, closing=2000)

# A quiet machine of two cores. A busy one can only be later than it, so these are near the least that was
# seen: of 299 first starts of a broker in a running program the quickest took 1 to 11 ms, half of those on a
# quiet machine (195 in networks with faults, 104 in random scenarios) 7 to 22. One that is started again in
# the same program serves after 9 ms: 57 such starts in the networks with faults took 6 to 17, 41 in random
# scenarios 8 at least. A program of its own has to be loaded first: 42 such starts in 12 random scenarios of
# three plays came to their lock after 0.5 s, and served after 0.8 to 0.9; its first connection took 50 to 65
# ms. A connection takes a client 1 to 17 ms, a reliable send 1 to 3, an orderly stop 5 to 26, a kill 8 to 17
# (34 kills). A client takes a moment between two calls, but none after a wait: 12 waits of a script took 0.1
# to 0.2 ms longer.
RECORDED = Timing(
    link=100,
    broker=Costs(
        start=5_000,
        serve=7_000,
        again=4_000,
        lead=30_000,
        first_lead=8_000,
        welcome=5_000,
        write=1_000,
        stop=10_000,
    ),
    process=Costs(
        start=500_000,
        serve=350_000,
        again=350_000,
        lead=300_000,
        first_lead=320_000,
        welcome=60_000,
        write=7_000,
        stop=40_000,
    ),
    bridge_up=1_000,
    kill=10_000,
    restart=1_000,
    between=2_000,
    round=1_500,
    greeting=True,
)
