"""How a scenario is played from beginning to end, and what came of it."""

from __future__ import annotations

from mqlab.products.openmq.lab import ClusterLab
from mqlab.products.openmq.script.operation import Row
from mqlab.spec.scenario import Scenario
from mqlab.trace.trace import Trace

__all__ = ["ClusterLab", "outcome", "play"]


def play(scenario: Scenario, seed: int = 0, jitter: int | str = 0, limit: int | None = None) -> Trace:
    """Play a cluster scenario from beginning to end; raises `BadValue` beyond *limit* events."""
    lab = ClusterLab(scenario, seed, jitter, limit)
    lab.play()
    return lab.trace


def outcome(trace: Trace) -> Row:
    """Return what came of a run, in the form of the recordings."""
    return {key: trace.header[key] for key in ("consumers", "operations", "snapshots")}
