"""What a step of a script comes to: an answer, at once or after a while.

A step that takes time says what it waits for, as plain data: the lab lets time go on, the step
inside of it never does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mqlab.engine.clock import NEVER
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.openmq_words import noun_of
from mqlab.spec.step import Step
from mqlab.spec.values import Destination

LIMIT_MS = 30_000  # how long a step waits if it does not say

Row = JsonDict  # what came of a step, in the form of the recordings
Answer = Row | str | bool | None  # True and None are ok, False is refused


@dataclass(frozen=True, slots=True)
class RunningStep:
    """A step goes on once `condition(argument)` holds, or after `ms` at the latest.

    Then `then(argument)` says what came of it, or what it waits for next. A step that `insists` is
    blocked when its time is over, and goes on later all the same. Functions and bound methods only,
    as for `Completion`. If it is `told` whoever makes the condition true halts the clock.
    """

    condition: Callable[[Any], bool] | None
    argument: object
    ms: float
    then: Callable[[Any], Outcome] | None = None
    insists: bool = False
    told: bool = False


Outcome = Answer | RunningStep


@dataclass(eq=False, slots=True)
class ScriptStep:
    """A step of the script, and what it waits for once it has begun."""

    step: Step
    waits: RunningStep | None = None
    row: Row | None = None  # what came of it, once it has an answer
    known: Action | None = None  # see `noun`

    @property
    def noun(self) -> Action:
        """The action that it is."""
        if self.known is None:
            self.known = noun_of(self.step)
        return self.known

    @property
    def at(self) -> int | str | None:
        """When it happens; None when its turn has come."""
        return self.step.at

    def holds(self) -> bool:
        """Whether what it waits for has come."""
        waits = self.waits
        return waits is None or (waits.condition is not None and waits.condition(waits.argument))

    def is_late(self) -> bool:
        """Whether its time was over before what it waits for came."""
        return self.waits is not None and self.waits.condition is not None and not self.holds()

    def told(self) -> int:
        """Return until when (us) whoever lets that come halts the clock."""
        return NEVER if self.waits is not None and self.waits.told else -1

    def go_on(self) -> Outcome:
        """Go on after waiting; returns what comes of it."""
        waits = self.waits
        return waits.then(waits.argument) if waits is not None and waits.then is not None else None


def limit_of(keys: JsonObject, usual: float = LIMIT_MS) -> float:
    """Return how long a step may wait (ms)."""
    return float(keys.get("limit_ms", usual))


def destination_of(keys: JsonObject) -> Destination:
    """Return the destination that a step names."""
    kind = "queue" if "queue" in keys else "topic"
    return Destination(kind, keys[kind])
