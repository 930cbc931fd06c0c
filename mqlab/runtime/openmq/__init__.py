"""Open Message Queue clusters (Technical Overview, chapter 4)."""

from __future__ import annotations

from typing import Any

from mqlab.runtime.openmq.lab import ClusterLab
from mqlab.spec.openmq import ClusterScenario
from mqlab.trace.trace import Trace

__all__ = ["ClusterLab", "outcome", "play"]


def play(
    scenario: ClusterScenario, seed: int = 0, jitter: int | str = 0, limit: int | None = None
) -> Trace:
    """Play a cluster scenario from beginning to end; raises `BadValue` beyond *limit* events."""
    lab = ClusterLab(scenario, seed, jitter, limit)
    lab.play()
    return lab.trace


def outcome(trace: Trace) -> dict[str, Any]:
    """Return what came of a run, in the form of the recordings."""
    return {key: trace.header[key] for key in ("consumers", "operations", "snapshots")}
