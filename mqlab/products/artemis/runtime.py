"""How a scenario is played from beginning to end, and what came of it."""

from __future__ import annotations

from mqlab.engine.timing import Timing
from mqlab.products.artemis.lab import ArtemisLab
from mqlab.spec.scenario import Scenario
from mqlab.trace.trace import Trace

__all__ = ["ArtemisLab", "outcome", "play"]
OUTCOME = (
    "consumers",
    "senders",
    "waits",
    "lost",
    "files",
    "received_more_than_once",
    "refused",
    "snapshots",
)


def play(
    scenario: Scenario,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    timing: Timing | None = None,
) -> Trace:
    """Play a scenario from beginning to end; raises `BadValue` beyond *limit* events."""
    lab = ArtemisLab(scenario, seed, jitter, limit, timing)
    lab.play()
    return lab.trace


def outcome(trace: Trace) -> dict[str, object]:
    """Return what came of a run, in the form of the recordings."""
    return {key: trace.header[key] for key in OUTCOME}
