"""What machines take: not ActiveMQ's rules, but the times that any run adds to them.

All in microseconds, as they were recorded on a busy machine with two cores: a program of its own
(PROCESS) has to be loaded first, a broker inside a running program (BROKER) has not.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What one broker takes.

    `start` until it looks for its lock, and `serve` until it serves, if it needs none; `lead` having
    got its lock after a wait, when the store is read and the port opened, `first_lead` having got it
    at once; `welcome` until a client that has connected is answered; `write` for a reliable message,
    until it is on the disk.
    """

    start: int
    serve: int
    lead: int
    first_lead: int
    welcome: int
    write: int


BROKER = Costs(start=5_000, serve=115_000, lead=100_000, first_lead=500_000, welcome=15_000,
               write=2_000)  # fmt: skip
PROCESS = Costs(start=1_750_000, serve=1_600_000, lead=300_000, first_lead=1_000_000,
                welcome=100_000, write=7_000)  # fmt: skip
RESTART = 1_000  # between a broker's end and its next start in the same program
BRIDGE_UP = 1_000  # from a connector's socket to its bridge
STOP = 15_000  # an orderly end, with its stores closed
KILL = 15_000  # until a killed process is dead
