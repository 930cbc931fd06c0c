"""What machines take: not ActiveMQ's rules, but the times that any run adds to them.

All in microseconds, near the least that was recorded; a slower machine has longer ones.
"""

from __future__ import annotations

BROKER_START = 5_000  # a broker inside a running program, until it looks for its lock
BROKER_SERVE = 95_000  # and until it serves
BROKER_LEAD = 100_000  # having got its lock, until the store is read and the port is open
PROCESS_START = 1_200_000  # a program of its own
PROCESS_SERVE = 800_000
PROCESS_LEAD = 300_000
RESTART = 1_000
BRIDGE_UP = 10_000  # from a connector's socket to its bridge
STOP = 15_000  # an orderly end, with its stores closed
KILL = 15_000  # until a killed process is dead
