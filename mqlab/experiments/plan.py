"""What the runs of a sweep are: every combination of some options, each with every seed.

What a run does depends on its number alone, so that the result does not depend on who plays it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mqlab.errors import BadValue
from mqlab.formats import lab
from mqlab.spec import Scenario
from mqlab.takes import scenario_of
from mqlab.trace.trace import Trace

Worker = Callable[[str, int, Any], Trace]


@dataclass(frozen=True)
class Plan:
    """What every run is: small enough to travel to each task, however many runs there are."""

    text: str  # of the lab file
    over: tuple[tuple[str, tuple[Any, ...]], ...]
    seeds: Sequence[int]
    jitter: int | str

    @property
    def runs(self) -> int:
        """How many runs: combinations times seeds."""
        return math.prod(len(values) for _, values in self.over) * len(self.seeds)

    def options(self, combination: int) -> dict[str, Any]:
        """Return path -> value; the last option changes fastest."""
        chosen = {}
        for path, values in reversed(self.over):
            combination, place = divmod(combination, len(values))
            chosen[path] = values[place]
        return {path: chosen[path] for path, _ in self.over}

    def place(self, run: int) -> tuple[int, int]:
        """Return the number of a run's combination, and its seed."""
        combination, place = divmod(run, len(self.seeds))
        return combination, self.seeds[place]

    def changed(self, options: Mapping[str, Any]) -> str:
        """Return the text of the lab file with some options changed."""
        scenario = lab.loads(self.text)
        for path, value in options.items():
            place, option = lab.split_path(path)
            scenario = scenario.change(place, **{option: value})
        return lab.dumps(scenario)


def play(text: str, seed: int, jitter: Any) -> Trace:
    """Play a lab file's text: what a task does for each run."""
    from mqlab.runtime import play as run

    return run(lab.loads(text), seed=seed, jitter=jitter)


def planned(
    what: Any, over: Mapping[str, Sequence[Any]], seeds: int | Iterable[int], edition: str | None,
    jitter: int | str,
) -> Plan:  # fmt: skip
    """Return the plan of a sweep; wrong options are told before anything starts."""
    listed = range(seeds) if isinstance(seeds, int) else tuple(seeds)
    if not len(listed):
        raise BadValue(f"{seeds!r} seeds; write 1 or more")
    scenario = scenario_of(what)
    if not isinstance(scenario, Scenario):
        raise BadValue("sweeps change options of plain networks; take for example fuse:2.20")
    scenario = scenario if edition is None else scenario.under(edition)
    for path, values in over.items():
        if isinstance(values, str) or not len(values):
            raise BadValue(f"{path}: {values!r}; write a list of one or more values")
    choices = tuple((path, tuple(values)) for path, values in over.items())
    plan = Plan(lab.dumps(scenario), choices, listed, jitter)
    # Each value by itself: combinations can be too many to try here; what fails there is a row.
    for path, values in choices:
        for value in values:
            plan.changed({path: value})
    return plan


def measures(trace: Trace) -> dict[str, Any]:
    """Return what a sweep keeps of a run: how many events, received by each consumer, waiting, stuck ..."""
    return {
        "events": len(trace), "received": trace.received(), "waiting": _total(trace.waiting()),
        "stuck": _total(trace.stuck()), "lost": len(trace.lost()),
        "duplicated": sum(len(twice) for twice in trace.duplicated().values()),
        "digest": trace.digest(),
    }  # fmt: skip


def _total(found: Mapping[str, Mapping[str, Sequence[int]]]) -> int:
    return sum(len(numbers) for queues in found.values() for numbers in queues.values())
