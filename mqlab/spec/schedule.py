"""Random faults: a seeded schedule of deaths, cuts and pauses, each of which is made good again."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mqlab.errors import BadValue
from mqlab.spec.action import Action, Pause, Restart, Resume, Stop
from mqlab.spec.faults import Crash, Cut, Heal
from mqlab.spec.scenario import Scenario

KINDS = ("crash", "stop", "pause", "cut")


def faults(
    scenario: Scenario, *, seed: int, rate: float, length: int, kinds: tuple[str, ...] = KINDS
) -> Scenario:
    """Return the scenario with about *rate* faults a second during its first *length* ms.

    What died is started again, what was suspended or cut goes on, after 0.2 to 5 s. By the pace of
    calls only brokers that are processes of their own die or pause, only those with a line are cut off.
    """
    if rate < 0 or length < 0:
        raise BadValue(f"rate {rate}, length {length}: write numbers above 0")
    random = Random(f"faults:{seed}")
    actions: list[Action] = []
    time = 0.0
    while rate and (time := time + random.expovariate(rate) * 1000) < length:
        kind = random.choice(kinds)
        names = _candidates(scenario, kind)
        if names:
            actions += _fault(kind, random.choice(names), int(time), random.randrange(200, 5000))
    return replace(scenario, actions=(*scenario.actions, *actions))


def _candidates(scenario: Scenario, kind: str) -> list[str]:
    option = "link" if kind == "cut" else "process"
    free = scenario.pace == "rest"
    return [broker.name for broker in scenario.network.brokers if free or broker.get(option)]


def _fault(kind: str, name: str, at: int, lasting: int) -> list[Action]:
    good = at + lasting
    if kind == "cut":
        return [Cut(name, at=at), Heal(name, at=good)]
    if kind == "pause":
        return [Pause(name, at=at), Resume(name, at=good)]
    return [(Crash if kind == "crash" else Stop)(name, at=at), Restart(name, at=good)]
