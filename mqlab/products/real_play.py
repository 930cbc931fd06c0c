"""Plays a scenario of any product on its real brokers."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mqlab import products
from mqlab.errors import CannotRun
from mqlab.products.unsupported_steps import steps, unplayable
from mqlab.real.connections import library
from mqlab.real.home import Home
from mqlab.real.observed import trace
from mqlab.real.steps import is_timed
from mqlab.spec import Scenario
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

TRIES = 3  # so often a run is played at most


@dataclass(frozen=True, slots=True)
class Played:
    """What real brokers did: the outcome in the recordings' form, and a trace of what clients saw.

    `failures` is what ended threads within brokers, in this run and in those that were given up for it.
    `changes` is how the files that brokers ran on differ from those that the network was read from, as a diff.
    """

    outcome: dict[str, object]
    trace: Trace
    failures: tuple[str, ...] = ()
    changes: str = ""


def play(scenario: Scenario, home: Home, limit: float = 120) -> Played:
    """Play a scenario on real brokers and return what came of it.

    It takes *limit* seconds at most. A run in which a thread of a broker ended by an error shows a bug of
    the product and not its rules: it is played again, `TRIES` times at most in all.
    Raises `CannotRun` for what cannot be played, or when a broker does not start.
    """
    reasons = unplayable(scenario)
    if reasons:
        raise CannotRun(f"this cannot be played on real brokers: {'; '.join(reasons)}")
    library()
    until, failures = time.monotonic() + limit, list[str]()
    for _ in range(TRIES):
        played = _play(scenario, home, until)
        failures += played.failures
        if not played.failures:
            break
    return replace(played, failures=tuple(failures))


def _play(scenario: Scenario, home: Home, until: float) -> Played:
    player = products.product_of_scenario(scenario).player()
    script_steps, began = steps(scenario), dict[int, float]()
    if any(map(is_timed, script_steps)):  # when the lab does each step, in s
        began = {no: at / 1_000_000 for no, at, _ in products.play(scenario).header["began"]}
    with player.brokers(scenario.network, home) as brokers:
        script = player.script(brokers, until, scenario.pace)
        try:
            script.play(script_steps, began)
        except CannotRun as error:
            raise CannotRun(f"{error}; {gone}" if (gone := brokers.ended()) else str(error)) from None
        outcome = script.outcome()
        failures, changes = tuple(brokers.failures()), brokers.changes
    seen = (one for each in script.consumers.values() for consumer in each for one in consumer.seen)
    body = products.product_of_scenario(scenario).write(scenario)
    told = trace(brokers.names, seen, {"scenario": body, "edition": scenario.network.edition})
    return Played(outcome, told, failures, changes)
