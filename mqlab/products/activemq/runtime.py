"""How a scenario is played from beginning to end, and what came of it."""

from __future__ import annotations

from collections.abc import Collection

from mqlab.engine.timing import LOOPBACK, Timing
from mqlab.products.activemq import outcome_in_time
from mqlab.products.activemq.lab import Lab
from mqlab.spec import Scenario
from mqlab.spec.link import LikeLinks
from mqlab.trace import outcome as at_rest
from mqlab.trace.trace import Trace

__all__ = ["LOOPBACK", "Lab", "Timing", "outcome", "play"]


def play(
    scenario: Scenario,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    inverted: Collection[str] = (),
    timing: Timing | None = None,
    until: int | str | None = None,
    links: LikeLinks = None,
) -> Trace:
    """Play *scenario* from beginning to end, or *until* a time, and return its trace.

    Raises `BadValue` as soon as more than *limit* events have happened: where there are cycles and
    no suppression of duplicates, routes multiply beyond any patience. *inverted* are rules of the
    edition played the other way round. *timing* stands in for the usual one: `LOOPBACK` is that of the
    machine of the recordings.
    """
    lab = Lab(scenario, seed, jitter, limit, inverted, timing, links)
    lab.play(until)
    return lab.trace


def outcome(trace: Trace) -> dict[str, object]:
    """Return what came of a run, in the form of the recordings at rest or of those in time."""
    by_calls = trace.header["scenario"].get("pace") == "calls"
    return outcome_in_time.outcome(trace) if by_calls else at_rest.outcome(trace)
