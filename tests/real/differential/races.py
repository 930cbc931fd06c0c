"""Differences that other times of the machine make go away: races, whose plays ended alike by chance.

A client that tries every 100 ms meets a broker that takes 20 or 60 ms to start, or just misses it. Three plays
on one machine take nearly the same time, so they agree where another machine's would not. What a rule decides
is the same at every speed: the lab plays the scenario again on machines that are up to four times as slow.
"""

from __future__ import annotations

from dataclasses import fields, replace
from random import Random

from mqlab import conform, products
from mqlab.engine.timing import RECORDED, Costs, Timing
from mqlab.products.activemq.lab import Lab
from mqlab.spec.json_types import JsonObject
from mqlab.trace.trace import Trace

MACHINES = 30
GAP = ": real gap"  # a line that tells of times alone


def is_race(recording: JsonObject) -> bool:
    """Whether the lab agrees, but for the times of attempts, on one of `MACHINES` other machines."""
    scenario = products.product_of(recording).read(recording, "recording")
    if scenario.product != "activemq" or scenario.pace != "calls":
        return False

    def agrees(number: int) -> bool:
        timing = machine(Random(number))

        def play(_: JsonObject, __: str) -> Trace:
            lab = Lab(scenario, limit=conform.MOST_EVENTS, timing=timing)
            lab.play()
            return lab.trace

        found = conform.compare(recording, "recording", play)
        return found.result in ("agree", "disagree") and all(GAP in line for line in found.details)

    return any(agrees(number) for number in range(MACHINES))


def machine(random: Random) -> Timing:
    """Return the times of some machine: brokers, rounds and calls are quicker or slower, each by itself."""

    def taken(costs: Costs, slowest: float) -> Costs:
        slower = random.uniform(0.6, slowest)
        drawn = {one.name: getattr(costs, one.name) * slower for one in fields(costs)}
        return Costs(**{name: round(us * random.uniform(0.6, 1.4)) for name, us in drawn.items()})

    return replace(
        RECORDED,
        broker=taken(RECORDED.broker, 4),
        process=taken(RECORDED.process, 2),
        between=random.randrange(500, 8_000),
        round=random.randrange(1_000, 12_000),
        bridge_up=random.randrange(500, 8_000),
        kill=random.randrange(5_000, 20_000),
        link=random.randrange(50, 600),
    )
