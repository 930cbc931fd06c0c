"""When to look whether an action beside the script is over: every millisecond, but where it cannot be.

Who waits for a rest is told by the clock that there is one. What else an action waits for comes by what
happens, or by another action that begins or ends. So between two happenings nobody looks; whose look is far off
is asleep, and woken by actions.

Measured: with a crash beside a producer that sends for minutes, a third of the calls of a run were looks for
a rest that had not come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqlab.engine.clock import Due
    from mqlab.engine.completion import Completion
    from mqlab.engine.lab import Lab

LOOKS = 1000  # us from one look to the next
LONGEST = 1_000_000  # us, where nothing is to happen that it could wait for
FEW = 1000  # housekeeping, how much is asked when it happens
SMALL = 32  # of what is to happen: to ask all of it costs no more than the next look
ASKS = 16  # every so many looks where more is to happen: to ask costs as much as so many looks


@dataclass(slots=True, eq=False)
class Look:
    """At an action beside the script: the next one is made at the time `at` (us), and none once it is over."""

    until: Completion
    at: int
    turn: int


@dataclass(eq=False)
class Looks:
    """Looks after the actions beside a lab's script; those that are `resting` wait until nothing moves."""

    lab: Lab
    turns: Iterator[int] = field(default_factory=count)
    asleep: list[Look] = field(default_factory=list)
    resting: list[Look] = field(default_factory=list)

    def after(self, until: Completion) -> None:
        """Look after an action until it is over."""
        self.look(Look(until, self.lab.clock.now, next(self.turns)))

    def look(self, one: Look) -> None:
        """See whether an action is over; if not, look again."""
        clock = self.lab.clock
        if one.at != clock.now:
            return  # it was woken in the meantime
        if one in self.asleep:
            self.asleep.remove(one)
        if self.lab.is_over(one.until):
            one.at = -1
            self.lab.on_over(one.until)
            self.wake(one.turn)
            return
        if one.until.condition is None and one.until.deadline is None and clock.moves:
            one.at = -1
            self.resting.append(one)
            clock.at_rest = self.on_rest
            return
        one.at = self._next(one.until)
        if one.at > clock.now + LOOKS:
            self.asleep.append(one)
        clock.schedule_background(one.at, self.look, one)

    def on_rest(self) -> None:
        """Nothing but housekeeping is left."""
        resting, self.resting = self.resting, []
        for one in resting:
            one.at = self.lab.clock.now
            self.look(one)

    def wake(self, turn: int = -1) -> None:
        """An action has begun or is over: whoever is asleep looks at his next millisecond.

        That is this very one for who comes after *turn* in it.
        """
        if not self.asleep:
            return
        clock, asleep = self.lab.clock, self.asleep
        self.asleep = []
        for one in asleep:
            ahead = one.at - clock.now
            # Of the same millisecond: whose turn is over has looked.
            now = ahead % LOOKS == 0 and one.turn > turn >= 0
            at = clock.now if now else one.at - LOOKS * ((ahead - 1) // LOOKS)
            if at != one.at:
                one.at = at
                clock.schedule_background(at, self.look, one)

    def _next(self, until: Completion) -> int:
        """Return when to look again (us)."""
        clock = self.lab.clock
        few = len(clock.heap) <= SMALL
        if not few and until.deadline is None and clock.now // LOOKS % ASKS:
            return clock.now + LOOKS
        if until.condition is None and until.deadline is not None:
            sure = until.deadline
        else:
            sure = self._next_event()
            sure = sure if until.deadline is None else min(sure, until.deadline)
        # The look before the first that counts is made: of what is due at one time, the order stays.
        return clock.now + LOOKS * max(1, -((clock.now - sure) // LOOKS) - 1)

    def _next_event(self) -> int:
        """Return when the next thing happens that is no look (us); now if that is not known."""
        clock = self.lab.clock
        if len(clock.heap) > FEW:
            return clock.now
        first = min((due[0] for due in clock.heap if not self._is_look(due)), default=clock.now + LONGEST)
        return min(first, clock.line[0][0]) if clock.line else first

    def _is_look(self, due: Due) -> bool:
        call, argument = due[2:]
        return call == self.lab.clock.on_later and isinstance(argument, tuple) and argument[0] == self.look
