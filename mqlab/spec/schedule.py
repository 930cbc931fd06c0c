"""Random faults: a seeded schedule of deaths, cuts and pauses, each of which is made good again."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mqlab.errors import BadValue
from mqlab.spec.fault import Step, TimedScenario

KINDS = ("kill", "stop_broker", "pause", "cut")


def faults(
    scenario: TimedScenario, *, seed: int, rate: float, length: int, kinds: tuple[str, ...] = KINDS
) -> TimedScenario:
    """Return the scenario with about *rate* faults a second during its first *length* ms.

    What died is started again, what was suspended or cut goes on, after 0.2 to 5 s. Only brokers
    that are processes of their own die or pause, only those with a line are cut off.
    """
    if rate < 0 or length < 0:
        raise BadValue(f"rate {rate}, length {length}: write numbers above 0")
    random = Random(f"faults:{seed}")
    steps: list[Step] = []
    time = 0.0
    while rate and (time := time + random.expovariate(rate) * 1000) < length:
        kind = random.choice(kinds)
        names = [m.name for m in scenario.members if (m.link if kind == "cut" else m.process)]
        if names:
            steps += _fault(kind, random.choice(names), int(time), random.randrange(200, 5000))
    return replace(scenario, steps=(*scenario.steps, *steps))


def _fault(kind: str, name: str, at: int, lasting: int) -> list[Step]:
    """Return one fault and what makes it good again."""
    if kind == "cut":
        return [Step("cut", {"link": name}, at), Step("heal", {"link": name}, at + lasting)]
    good = "resume" if kind == "pause" else "start_broker"
    keys = {"broker": name}
    return [Step(kind, keys, at), Step(good, keys, at + lasting)]
