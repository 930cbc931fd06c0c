"""Failover clients, discovery and master/slave in time (Fuse 1 and 4)."""

from __future__ import annotations

from mqlab.runtime.activemq.outcome import outcome
from mqlab.runtime.activemq.timed import FailoverLab
from mqlab.spec.fault import TimedScenario
from mqlab.trace.trace import Trace

__all__ = ["FailoverLab", "outcome", "play"]


def play(
    scenario: TimedScenario, seed: int = 0, jitter: int | str = 0, limit: int | None = None
) -> Trace:
    """Play a timed scenario from beginning to end and return its trace.

    Raises `BadValue` as soon as more than *limit* events have happened.
    """
    lab = FailoverLab(scenario, seed, jitter, limit)
    lab.play()
    return lab.trace
