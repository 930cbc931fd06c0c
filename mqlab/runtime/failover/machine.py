"""What machines take: not ActiveMQ's rules, but the times that any run adds to them.

All in microseconds, as they were recorded on a busy machine with two cores: a program of its own
(PROCESS) has to be loaded first, a broker inside a running program (BROKER) has not.
"""

from __future__ import annotations

BROKER_START = 5_000  # until it looks for its lock
BROKER_SERVE = 115_000  # and until it serves, if it needs none
BROKER_LEAD = 100_000  # having got its lock after a wait: the store is read, the port opened
BROKER_FIRST_LEAD = 500_000  # having got it at once
PROCESS_START = 1_750_000
PROCESS_SERVE = 1_600_000
PROCESS_LEAD = 300_000
PROCESS_FIRST_LEAD = 1_000_000
RESTART = 1_000  # between a broker's end and its next start in the same program
BRIDGE_UP = 10_000  # from a connector's socket to its bridge
STOP = 15_000  # an orderly end, with its stores closed
KILL = 15_000  # until a killed process is dead
BROKER_WELCOME = 15_000  # until a client that has connected is answered
PROCESS_WELCOME = 100_000
BROKER_WRITE = 2_000  # a reliable message, until it is on the disk
PROCESS_WRITE = 7_000
