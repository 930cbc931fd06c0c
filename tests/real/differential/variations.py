"""Variations of recorded scenarios: by values, options, steps and clients that other recorded ones have.

What was thought of by hand is seldom drawn at random, and what lies beside it was often not thought of.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from mqlab import products
from mqlab.errors import MqlabError
from tests.real.differential.breadth import NAMES
from tests.real.differential.draw import Draw
from tests.real.differential.recorder import Scenario

TEXTS = {"behaviour", "guide", "guide_says", "name", "reference_says", "theme", "title", "version"}
NUMBERS = {"limit_ms", "max_ms", "time_limit_seconds", "timeout_ms", "wait_ms"}
OF_CLIENTS = {"durable_name", "file", "group", "group_name", "isolate", "subscription_name"}
REFERENCES = NAMES - NUMBERS - OF_CLIENTS  # to what a scenario has: a step from elsewhere takes those of here
TRIES = 40  # until the lab reads what was changed

Place = tuple[str, ...]


class Recorded:
    """The scenarios of recordings below a folder, with what stands where in any of them."""

    def __init__(self, folder: Path, version: str | None = None) -> None:
        files = sorted(folder.rglob("*.json"))
        read = [value["scenario"] for file in files if "scenario" in (value := json.loads(file.read_text()))]
        self.scenarios = [scenario for scenario in read if scenario.get("version") == version]
        self.values: dict[Place, list[Any]] = defaultdict(list)
        self.keys: dict[Place, list[str]] = defaultdict(list)
        self.refused: list[str] = []  # why the lab refuses what was drawn and is not played
        for scenario in self.scenarios:
            for place, holder in holders(scenario):
                self.keys[place] += [key for key in holder if key not in NAMES | TEXTS | {"do"}]
                for key, value in holder.items():
                    self.values[*place, key].append(value)

    def vary(self, draw: Draw, name: str) -> Scenario:
        """Return a recorded scenario with one to three changes, as the lab reads it."""
        for _ in range(TRIES):
            original = draw.one(self.scenarios)
            scenario = deepcopy(original)
            for _ in range(draw.weighted({1: 3, 2: 4, 3: 3})):
                draw.weighted({_value: 4, _option: 4, _step: 5, _swap: 2, _drop: 1, _again: 2, _move: 2})(
                    scenario, draw, self
                )
            _label(scenario["steps"])
            if scenario == original or _starts_again(scenario):
                continue
            scenario["name"] = name
            scenario.pop("nominal", None)  # waits that the guide expects of the original
            why = _refusal(scenario, name)
            if why is None:
                return scenario
            self.refused.append(why)
        raise ValueError(f"{name}: no variation in {TRIES} that the lab reads; the last: {why}")


def _starts_again(scenario: Scenario) -> bool:
    """Whether a broker starts that runs: OpenMQ's recorder leaves its first process to later plays.

    That of ActiveMQ loses sight of the first.
    """
    up: set[str] = set()
    looked_at = "cluster" in scenario or products.product_of({"scenario": scenario}).name == "activemq"
    every = [b if isinstance(b, str) else b["name"] for b in scenario.get("brokers", ())]
    for step in scenario["steps"] if looked_at else ():
        does, broker = step["do"], str(step.get("broker"))
        if does in ("start", "start_brokers"):
            named = step.get("brokers") or every
        else:
            named = [broker] if does == "start_broker" else []
        if up & set(named):
            return True
        up |= set(named)
        up -= {broker} if does in ("kill", "stop", "stop_broker") else set()
    return False


def _refusal(scenario: Scenario, name: str) -> str | None:
    value = {"scenario": scenario}
    try:
        products.product_of(value).read(value, name)
    except MqlabError as error:
        return str(error)
    return None


def holders(scenario: Mapping[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield each object of a scenario with its place; a step's place begins with what it does."""

    def below(place: Place, value: Any) -> Iterator[tuple[Place, dict[str, Any]]]:
        if isinstance(value, dict):
            here = (*place, value["do"]) if "do" in value else place
            yield here, value
            for key, inner in value.items():
                yield from below((*here, key), inner)
        elif isinstance(value, list):
            for entry in value:
                yield from below(place, entry)

    for key, value in scenario.items():
        if key not in TEXTS:
            yield from below((key,), value)


def _chosen(scenario: Scenario, draw: Draw) -> tuple[Place, dict[str, Any]]:
    return draw.one(list(holders(scenario)))


def _value(scenario: Scenario, draw: Draw, recorded: Recorded) -> None:
    """Give one key the value that another scenario has there."""
    place, holder = _chosen(scenario, draw)
    keys = [key for key in holder if key not in REFERENCES | {"do", "label"}]
    if keys:
        key = draw.one(keys)
        holder[key] = deepcopy(draw.one(recorded.values[*place, key]))


def _option(scenario: Scenario, draw: Draw, recorded: Recorded) -> None:
    """Say one key more that other scenarios have there."""
    place, holder = _chosen(scenario, draw)
    others = sorted(set(recorded.keys[place]) - set(holder))
    if others:
        key = draw.one(others)
        holder[key] = _at_home(draw.one(recorded.values[*place, key]), scenario, draw)


def _step(scenario: Scenario, draw: Draw, recorded: Recorded) -> None:
    """Put a step of another scenario anywhere, with this one's brokers, clients and destinations."""
    foreign = draw.one(draw.one(recorded.scenarios)["steps"])
    made = _at_home(foreign, scenario, draw)
    if foreign["do"].startswith(("open", "connect")):
        key = next((key for key in foreign if key in REFERENCES), "")
        if key in ("consumer", "producer", "client", "browser"):  # it is new here, with a name of its own
            made[key] = f"{foreign[key]}n"
    scenario["steps"].insert(draw.number(1, len(scenario["steps"])), made)


def _at_home(value: Any, scenario: Scenario, draw: Draw) -> Any:
    """Return a value of another scenario with names that this one has."""
    here: dict[str, list[Any]] = defaultdict(list)
    for _, holder in holders(scenario):
        for key, said in holder.items():
            if key in REFERENCES and isinstance(said, str):
                here[key].append(said)

    def home(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {inner: home(said, inner) for inner, said in value.items()}
        if isinstance(value, list):
            return [home(said, key) for said in value]
        return draw.one(here[key]) if isinstance(value, str) and here.get(key) else value

    return home(value)


def _swap(scenario: Scenario, draw: Draw, recorded: Recorded) -> None:
    """Let two steps that follow each other change places."""
    steps = scenario["steps"]
    if len(steps) > 2:
        place = draw.number(1, len(steps) - 2)
        steps[place], steps[place + 1] = steps[place + 1], steps[place]


def _drop(scenario: Scenario, draw: Draw, recorded: Recorded) -> None:
    """Leave a step out."""
    steps = scenario["steps"]
    if len(steps) > 3:
        del steps[draw.number(1, len(steps) - 1)]


def _again(scenario: Scenario, draw: Draw, recorded: Recorded) -> None:
    """Do a step once more, later."""
    steps = scenario["steps"]
    place = draw.number(0, len(steps) - 1)
    steps.insert(draw.number(place + 1, len(steps)), deepcopy(steps[place]))


def _move(scenario: Scenario, draw: Draw, recorded: Recorded) -> None:
    """Let a step be done at another broker, or by another client."""
    step = draw.one(scenario["steps"])
    key = draw.one([key for key in step if key in REFERENCES] or ["do"])
    others = [other[key] for other in scenario["steps"] if key in other and key != "do"]
    if others:
        step[key] = deepcopy(draw.one(others))


def _label(steps: list[dict[str, Any]]) -> None:
    """Give each snapshot a label of its own."""
    seen: set[str] = set()
    for step in steps:
        while step.get("label") in seen:
            step["label"] += "_again"
        seen.add(step.get("label", ""))
