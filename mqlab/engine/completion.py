"""An action of a script with its time, and when it is over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Timed(Protocol):
    """An action; `at` is when it happens (such as ``"2s"``), None when its turn has come."""

    @property
    def at(self) -> int | str | None:
        """When it happens."""


@dataclass(slots=True)
class Completion:
    """When an action is over: once `condition(argument)` holds, or at `deadline` (us) at the latest.

    Without a condition it is over at the deadline, without both when the network is at rest. `then`
    is called with the argument as it ends. What is due at the deadline happens before it. Functions
    and bound methods only: a lambda would tie a copy of the lab to its original.

    The condition is asked after all that happens; until the time `told(argument)` (us) only after what halts
    the clock (`Clock.halt`), as whoever makes it true by then does.
    """

    condition: Callable[[Any], bool] | None = None
    argument: Any = None
    deadline: int | None = None
    then: Callable[[Any], None] | None = None
    told: Callable[[Any], int] | None = None


AT_ONCE = Completion(deadline=-1)
REST = Completion()
