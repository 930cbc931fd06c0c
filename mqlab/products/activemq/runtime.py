"""How a scenario is played from beginning to end, and what came of it."""

from __future__ import annotations

from mqlab.engine.timing import LOOPBACK, Timing
from mqlab.errors import BadValue
from mqlab.products.activemq import outcome_in_time
from mqlab.products.activemq.lab import Lab
from mqlab.spec import Action, Network, Scenario
from mqlab.spec.edition import EditionRules
from mqlab.spec.link import LikeLinks
from mqlab.trace import outcome as at_rest
from mqlab.trace.trace import Trace

__all__ = ["LOOPBACK", "Lab", "Timing", "outcome", "play", "run"]


def play(
    scenario: Scenario,
    seed: int = 0,
    jitter: int | str = 0,
    limit: int | None = None,
    rules: EditionRules | None = None,
    timing: Timing | None = None,
    until: int | str | None = None,
    links: LikeLinks = None,
) -> Trace:
    """Play *scenario* from beginning to end, or *until* a time, and return its trace.

    Raises `BadValue` as soon as more than *limit* events have happened: where there are cycles and
    no suppression of duplicates, routes multiply beyond any patience. *rules* stand in for those of
    the edition, *timing* for the usual one: `LOOPBACK` is that of the machine of the recordings.
    """
    lab = Lab(scenario, seed, jitter, limit, rules, timing, links)
    lab.play(until)
    return lab.trace


def run(
    what: Network | Scenario,
    *actions: Action,
    seed: int = 0,
    edition: str | None = None,
    jitter: int | str = 0,
    until: int | str | None = None,
    links: LikeLinks = None,
) -> Trace:
    """Run a scenario, or *actions* on a network, and return the trace.

    The network is started first and comes to rest after each action. *edition* overrides that
    of the network. Raises `MqlabError` for what is not a network, or not possible in it.
    """
    if isinstance(what, Network):
        what = Scenario.of(what, *actions)
    elif actions:
        raise BadValue("a scenario has its own actions; pass a network to add others")
    if not isinstance(what, Scenario):
        raise BadValue(f"{what!r} is neither a network nor a scenario; write mq.Network(...)")
    what = what if edition is None else what.under(edition)
    return play(what, seed, jitter, until=until, links=links)


def outcome(trace: Trace) -> dict[str, object]:
    """Return what came of a run, in the form of the recordings at rest or of those in time."""
    by_calls = trace.header["scenario"].get("pace") == "calls"
    return outcome_in_time.outcome(trace) if by_calls else at_rest.outcome(trace)
