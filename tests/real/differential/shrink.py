"""Delta debugging: the smallest scenario that still shows a difference of the same kind.

Every round proposes smaller scenarios, all of which are played together (a real product takes seconds for
each), and goes on from the smallest that still differs: without chunks of steps, then without single options.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Scenario = dict[str, Any]
Still = Callable[[Sequence[Scenario]], Sequence[bool]]  # of each, whether it still differs

KEPT = ("start", "start_brokers")  # a script without them is none
OPENED = ("consumer", "producer", "client")  # who opens one is gone with all that it does


def shrink(scenario: Scenario, still: Still, rounds: int = 12) -> Scenario:
    """Return the smallest scenario found that *still* differs."""
    chunks = 2
    for _ in range(rounds):
        proposals = list(_without_steps(scenario, chunks))
        chunks_left = chunks <= len(scenario["steps"])
        if not chunks_left:
            proposals = list(_without_options(scenario))
        if not proposals:
            break
        found = [new for new, yes in zip(proposals, still(proposals), strict=True) if yes]
        if found:
            scenario = min(found, key=size)
        elif chunks_left:
            chunks *= 2
        else:
            break
    return scenario


def size(scenario: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return how large a scenario is: steps, then brokers, then what they say."""
    return len(scenario["steps"]), len(scenario["brokers"]), len(str(scenario))


def _without_steps(scenario: Scenario, chunks: int) -> Iterator[Scenario]:
    steps = scenario["steps"]
    wide = max(1, len(steps) // chunks)
    seen = set()
    for begin in range(0, len(steps), wide):
        left = _closed(
            [s for no, s in enumerate(steps) if not begin <= no < begin + wide or s["do"] in KEPT], steps
        )
        if len(left) < len(steps) and str(left) not in seen:
            seen.add(str(left))
            yield {**scenario, "steps": left}


def _closed(left: list[Scenario], before: list[Scenario]) -> list[Scenario]:
    """Drop the steps of clients whose opening is gone."""
    opened = [{step.get(kind) for step in before if _opens(step)} for kind in OPENED]
    there = [{step.get(kind) for step in left if _opens(step)} for kind in OPENED]
    gone = {kind: was - now for kind, was, now in zip(OPENED, opened, there, strict=True)}
    return [step for step in left if not any(step.get(kind) in gone[kind] - {None} for kind in OPENED)]


def _opens(step: Mapping[str, Any]) -> bool:
    return step["do"].startswith("open_") or step["do"] in ("temporary", "connect")


def _without_options(scenario: Scenario) -> Iterator[Scenario]:
    """Yield the scenario without one key of a step, one option, or a broker that no step names."""
    for place, step in enumerate(scenario["steps"]):
        for key in step:
            if key not in ("do", "queue", "topic", "count", "broker", *OPENED):
                yield _changed(scenario, ("steps", place), key)
    for place, broker in enumerate(scenario["brokers"]):
        for key in broker if isinstance(broker, dict) else ():
            if key not in ("name", "process"):
                yield _changed(scenario, ("brokers", place), key)
    for key in ("cluster", "address_settings", "clients"):
        for inner in scenario.get(key, {}):
            if inner not in ("model", "master"):
                yield _changed(scenario, (key,), inner)
    named = str(scenario["steps"])
    for place, broker in enumerate(scenario["brokers"]):
        name = broker["name"] if isinstance(broker, dict) else broker
        if repr(name) not in named and len(scenario["brokers"]) > 1:
            yield {**scenario, "brokers": [b for no, b in enumerate(scenario["brokers"]) if no != place]}


def _changed(scenario: Scenario, way: tuple[str | int, ...], key: str) -> Scenario:
    new: Any = copy.deepcopy(scenario)
    inner = new
    for part in way:
        inner = inner[part]
    del inner[key]
    return dict(new)
