"""Ports for brokers of this machine: each is one network's alone, from when it is made until it is gone.

That nobody listens at a port says little: a broker may be starting that will, or one that starts late in its
network. What is taken in this process is therefore remembered here.
"""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterable
from contextlib import suppress

from mqlab.errors import CannotRun

PORTS = range(20_000, 32_000)  # below those that connections from here are given
_TAKEN: set[int] = set()
_ONE_AT_A_TIME = threading.Lock()


def take(host: str, count: int) -> list[int]:
    """Return ports at which nobody listens and that nobody here has taken; raises `CannotRun` without them."""
    found: list[int] = []
    with _ONE_AT_A_TIME:
        for port in random.SystemRandom().sample(PORTS, len(PORTS)):
            if len(found) == count:
                break
            if port not in _TAKEN and _is_free(host, port):
                found.append(port)
        else:
            raise CannotRun(f"no {count} ports are free between {PORTS[0]} and {PORTS[-1]}")
        _TAKEN.update(found)
    return found


def give_back(ports: Iterable[int]) -> None:
    """Let others take these ports."""
    with _ONE_AT_A_TIME:
        _TAKEN.difference_update(ports)


def _is_free(host: str, port: int) -> bool:
    with socket.socket() as one, suppress(OSError):
        one.bind((host, port))
        return True
    return False
