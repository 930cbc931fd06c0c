"""What the runs of a sweep are: every combination of some axes, each with every seed.

What a run does depends on its number alone, so that the result does not depend on who plays it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from mqlab import products
from mqlab.errors import BadFile, BadValue
from mqlab.experiments.axes import Axis, axes_of, changed, made
from mqlab.spec.json_types import JsonObject
from mqlab.spec.plural import counted
from mqlab.spec.shape import whole
from mqlab.spec.values import check_seed, moment
from mqlab.trace.kinds import Kind
from mqlab.trace.load import quantile
from mqlab.trace.sizes import carried
from mqlab.trace.trace import Trace
from mqlab.trace.unsent import unsent

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

Worker = Callable[[str, int, int | str], Trace]
FORMAT = 2
MOST_BASES = 10_000  # lab files that travel to every task
MAKE = ("argument", "actions")  # kinds of axes whose choices are lab files of their own


@dataclass(frozen=True)
class Plan:
    """What every run is: small enough to travel to each task, however many runs there are.

    `bases` are the lab files of all choices of the axes that make some, the last axis changing fastest.
    """

    bases: tuple[str, ...]
    axes: tuple[Axis, ...]
    seeds: Sequence[int]
    jitter: int | str

    @property
    def runs(self) -> int:
        """How many runs: combinations times seeds."""
        return math.prod(len(axis.labels) for axis in self.axes) * len(self.seeds)

    def places(self, combination: int) -> tuple[int, ...]:
        """Return which value of each axis a combination has; the last axis changes fastest."""
        found = []
        for axis in reversed(self.axes):
            combination, place = divmod(combination, len(axis.labels))
            found.append(place)
        return tuple(reversed(found))

    def options(self, combination: int) -> dict[str, object]:
        """Return axis -> label."""
        places = self.places(combination)
        return {axis.name: axis.labels[p] for axis, p in zip(self.axes, places, strict=True)}

    def place(self, run: int) -> tuple[int, int]:
        """Return the number of a run's combination, and its seed."""
        combination, place = divmod(run, len(self.seeds))
        return combination, self.seeds[place]

    def lab_file(self, combination: int) -> str:
        """Return the text of a combination's lab file; raises `MqlabError` for one that no broker takes."""
        places, base = self.places(combination), 0
        chosen = []
        for axis, place in zip(self.axes, places, strict=True):
            if axis.kind in MAKE:
                base = base * len(axis.labels) + place
            else:
                chosen.append((axis, axis.values[place]))
        if not chosen:
            return self.bases[base]
        scenario = read(self.bases[base])
        for axis, value in chosen:
            scenario = changed(scenario, axis, value)
        return dumps(scenario)

    def dumps(self) -> dict[str, object]:
        """Return the plan as JSON."""
        axes = [
            {
                "name": axis.name,
                "kind": axis.kind,
                "labels": axis.labels,
                "values": None if axis.kind in MAKE else axis.values,
            }
            for axis in self.axes
        ]
        seeds = [self.seeds.start, self.seeds.stop] if isinstance(self.seeds, range) else None
        return {
            "format": FORMAT,
            "scenarios": [json.loads(text) for text in self.bases],
            "axes": axes,
            "seeds": {"from_to": seeds} if seeds else list(self.seeds),
            "jitter": self.jitter,
            "runs": self.runs,
        }

    @classmethod
    def loads(cls, value: JsonObject) -> Plan:
        """Return the plan of its JSON; raises `BadFile` for another format."""
        if value.get("format") != FORMAT:
            raise BadFile(f"sweep format {value.get('format')}; this mqlab reads {FORMAT}")
        axes = tuple(
            Axis(one["name"], one["kind"], tuple(one["labels"]), tuple(one["values"] or ()))
            for one in value["axes"]
        )
        seeds = value["seeds"]
        listed = range(*seeds["from_to"]) if isinstance(seeds, Mapping) else tuple(seeds)
        bases = tuple(json.dumps(body) for body in value["scenarios"])
        return cls(bases, axes, listed, value["jitter"])


def read(text: str) -> Scenario:
    """Return the scenario of a lab file's text."""
    body = json.loads(text)
    return products.product_of(body).read(body, "lab file")


def dumps(scenario: Scenario) -> str:
    """Return the text of a scenario's lab file."""
    return json.dumps(products.product_of_scenario(scenario).write(scenario))


def play(text: str, seed: int, jitter: int | str) -> Trace:
    """Play a lab file's text: what a task does for each run."""
    return products.play(read(text), seed, jitter)


def planned(
    what: object,
    over: Mapping[str, object],
    seeds: int | Iterable[int],
    edition: str | None,
    jitter: int | str,
) -> Plan:
    """Return the plan of a sweep; wrong options are told before anything starts.

    *what* is what `mqlab.run` takes, a tuple of a network and actions, or a function that returns one of these.
    """
    moment(jitter, "jitter")
    if isinstance(seeds, int):
        whole(1).check(seeds, "seeds")
    elif not isinstance(seeds, range):
        seeds = tuple(seeds) if isinstance(seeds, Iterable) else (seeds,)
        for seed in seeds:
            check_seed(seed)
    listed = range(seeds) if isinstance(seeds, int) else tuple(seeds)
    if not len(listed):
        raise BadValue(f"{seeds!r} seeds; expected 1 or more")
    axes = axes_of(over, what)
    making = [axis for axis in axes if axis.kind in MAKE]
    count = math.prod(len(axis.values) for axis in making)
    if count > MOST_BASES:
        raise BadValue(
            f"{counted(count, 'combination')} of networks and scripts; the limit is {MOST_BASES} "
            "(options and seeds not counted)"
        )
    bases = []
    for places in product(*(range(len(axis.values)) for axis in making)):
        scenario = made(what, making, places)
        bases.append(dumps(scenario if edition is None else scenario.under(edition)))
    plan = Plan(tuple(bases), axes, listed, jitter)
    # Each value by itself: combinations can be too many to try here; what fails there is a row.
    first = read(plan.bases[0])
    for axis in axes:
        for value in axis.values if axis.kind not in MAKE else ():
            dumps(changed(first, axis, value))
    return plan


def measures(trace: Trace) -> dict[str, object]:
    """Return what a sweep keeps of a run.

    These are `events`, `received` (consumer -> messages), `waiting`, `stuck`, `lost`, `unsent` (planned and
    never sent) and `duplicated` (messages), `stuck_at` (broker -> messages), `crossed` (how often a message
    crossed a line between brokers), `bytes` (which these had together, None where nobody can tell: see
    `sizes.carried`), `hops` (the most that one made to its consumer), `latency_p50`, `latency_p90` and
    `latency_p99` (us from sending to receiving, None where nobody received), and `digest`.
    """
    stuck = trace.stuck()
    rows = trace.rows(Kind.Received)
    ages = sorted(map(trace.column("age").__getitem__, rows))
    return {
        "events": len(trace),
        "received": trace.received(),
        "waiting": _total(trace.waiting()),
        "stuck": _total(stuck),
        "lost": len(trace.lost()),
        "unsent": sum(one.missing for one in unsent(trace)),
        "duplicated": sum(len(twice) for twice in trace.duplicated().values()),
        "stuck_at": {broker: sum(map(len, held.values())) for broker, held in stuck.items()},
        "crossed": len(trace.rows(Kind.Forwarded)),
        "bytes": carried(trace),
        "hops": max(map(trace.column("hop").__getitem__, rows), default=0),
        **{f"latency_p{part}": quantile(ages, part) if ages else None for part in (50, 90, 99)},
        "digest": trace.digest(),
    }


def _total(found: Mapping[str, Mapping[str, Sequence[int]]]) -> int:
    return sum(len(numbers) for queues in found.values() for numbers in queues.values())
