"""One run that a picture can show: its scenario, what it hung on besides, and how it came about."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

from mqlab import products
from mqlab.experiments.rerun import Setting, play
from mqlab.products import inputs
from mqlab.spec import Scenario
from mqlab.spec.change import Body
from mqlab.spec.json_types import JsonDict
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

LONGEST_AFTER = 30_000_000  # us for which what follows a fork is watched, where a script does not say it
MOST_EVENTS = 200_000  # of a run that is made for a picture
AT_ONCE = 5_000  # events that are played for one answer of several: well below a second
BINS = 120  # parts of a run in which what moves is counted
MOVES = (Kind.Sent, Kind.Forwarded, Kind.Dispatched, Kind.Received, Kind.Acknowledged)


@dataclass(frozen=True)
class Branch:
    """A run with a name. `parent` is the number of the run it left at the time `at` (us).

    `changes` says in words how it differs from the run that was there first.
    """

    name: str
    made: Scenario | None = field(repr=False, compare=False)  # None: what the trace holds
    setting: Setting = field(repr=False)
    trace: Trace = field(repr=False, compare=False)
    parent: int | None = None
    at: int | None = None
    changes: tuple[str, ...] = ()

    @classmethod
    def of(cls, trace: Trace, name: str) -> Self:
        """Return the first run; raises `BadValue` for a trace that does not hold its scenario."""
        return cls(name, None, Setting.of(trace), trace)

    @cached_property
    def scenario(self) -> Scenario:
        """What is run, read when asked for: that of a large network takes longer than its picture."""
        return self.made or inputs.scenario_of(self.body)

    @cached_property
    def body(self) -> JsonDict:
        """Its lab file."""
        if self.made is not None:
            return products.product_of_scenario(self.made).write(self.made)
        return copy.deepcopy(inputs.body_of(self.trace))

    @property
    def product(self) -> str:
        """The product, such as ``openmq``."""
        return products.product_of(self.body).name

    @property
    def end(self) -> int:
        """When the run's last event was (us)."""
        return max(self.trace.column("t"), default=0)

    @cached_property
    def density(self) -> list[int]:
        """How many messages set out, came or were acknowledged in each of `BINS` parts of the run."""
        found = [0] * BINS
        end = self.end + 1
        times, rows = self.trace.column("t"), self.trace.rows(*MOVES)
        for row in rows:
            found[times[row] * BINS // end] += 1
        return found

    def then(
        self,
        name: str,
        what: Scenario | Body,
        change: str,
        at: int | None = None,
        setting: Setting | None = None,
    ) -> Branch:
        """Play a scenario, or a lab file, that differs from this run's by *change*.

        With *at* the runs are alike until then, and what follows is watched for a while. Raises `MqlabError`
        for what cannot be.
        """
        chosen, scenario = setting or self.setting, inputs.scenario_of(what)
        if at is not None and scenario.pace == "calls":
            until = max(at + LONGEST_AFTER, self.end)
            chosen = replace(chosen, until=f"{until}us")
        trace = play(scenario, chosen, MOST_EVENTS)
        if chosen.until is not None:
            trace.header["until"] = chosen.until
        return Branch(name, scenario, chosen, trace, at=at, changes=(*self.changes, change))

    def value(self) -> JsonDict:
        """Return what the page shows of it as a JSON value."""
        return {
            "name": self.name,
            "parent": self.parent,
            "ms": None if self.at is None else self.at / 1000,
            "changes": list(self.changes),
            "events": len(self.trace),
            "end": self.end / 1000,
            "received": self.trace.received(),
            "density": self.density,
        }
