"""What a step of the script waits for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mqlab.spec.action import Action


@dataclass(eq=False, slots=True)
class Wait:
    """What a step waits for, and in which step: somebody has a role."""

    step: int
    name: str
    role: str
    holds: Callable[[Wait], bool]
    asked: Action
    most: int  # us
    times: int = 1


@dataclass(slots=True)
class QuietWait:
    """Nothing is to move for so long, before the time `end` (us)."""

    quiet: int
    end: int
