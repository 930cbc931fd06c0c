"""Plays a scenario of any product on its real brokers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqlab.errors import CannotRun
from mqlab.real.artemis import ArtemisBrokers
from mqlab.real.brokers import Brokers
from mqlab.real.clusters import ArtemisScript, OpenMQScript
from mqlab.real.connections import library
from mqlab.real.home import Home
from mqlab.real.networks import NetworkScript
from mqlab.real.observed import trace
from mqlab.real.openmq import OpenMQBrokers
from mqlab.real.playable import unplayable, written
from mqlab.real.processes import Processes
from mqlab.real.steps import Script
from mqlab.spec import Scenario
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.spec.any_scenario import AnyScenario

# product -> what runs its brokers, and what does the steps of a script on them
_PLAYERS: dict[str, tuple[Callable[[Any, Home], Processes], Callable[[Any, float], Script]]] = {
    "activemq": (Brokers, NetworkScript), "artemis": (ArtemisBrokers, ArtemisScript),
    "openmq": (OpenMQBrokers, OpenMQScript),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Played:
    """What real brokers did: the outcome in the recordings' form, and a trace of what clients saw."""

    outcome: dict[str, object]
    trace: Trace


def play(scenario: AnyScenario, home: Home, limit: float = 120) -> Played:
    """Play a scenario on real brokers and return what came of it.

    It takes *limit* seconds at most. Raises `CannotRun` for what cannot be played, or when a
    broker does not start.
    """
    reasons = unplayable(scenario)
    if reasons:
        raise CannotRun(f"this cannot be played on real brokers: {'; '.join(reasons)}")
    library()
    body = written(scenario)
    of = scenario.network if isinstance(scenario, Scenario) else scenario
    runs, plays = _PLAYERS[scenario.product]
    with runs(of, home) as brokers:
        script = plays(brokers, time.monotonic() + limit)
        for step in body["steps"]:
            script.do(step)
        outcome = script.outcome()
    seen = (one for each in script.consumers.values() for consumer in each for one in consumer.seen)
    edition = {"edition": scenario.network.edition} if isinstance(scenario, Scenario) else {}
    return Played(outcome, trace(brokers.names, seen, {"scenario": body, **edition}))
