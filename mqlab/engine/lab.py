"""The face that every lab has, whatever the product: `do step until rest fork trace roles now`.

A lab may hold a script: actions that are still to come. An action with a time of its own happens
then, beside the others; of the others each begins when the one before is over, which its `Completion`
says. `step` lets one thing happen, `play` all of it, and both lead to the same trace.
"""

from __future__ import annotations

import copy
import gc
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sized
from random import Random
from typing import Any, Self

from mqlab.engine import hurrying
from mqlab.engine.chances import Chances
from mqlab.engine.clock import NEVER, Call, Clock
from mqlab.engine.completion import Completion, Timed
from mqlab.engine.in_vain import InVain
from mqlab.engine.limits import LONGEST_REST, Limited, ahead
from mqlab.engine.link import Link, LinkQuality
from mqlab.engine.looks import Looks
from mqlab.engine.timing import Timing
from mqlab.engine.unfinished import unfinished
from mqlab.errors import BadValue, Suggests
from mqlab.spec.action import Action, Start
from mqlab.spec.calls import fit_methods
from mqlab.spec.link import USUAL, Links
from mqlab.spec.naming import called
from mqlab.spec.plural import counted
from mqlab.spec.scenario import AnyNetwork, Scenario
from mqlab.spec.values import Duration, duration, moment, told_time
from mqlab.trace.record import Recorder
from mqlab.trace.trace import Trace

FOR_USERS = (
    "do", "fork", "network", "now", "rest", "roles", "scenario", "seed", "step", "trace", "undone", "until",
)  # fmt: skip


class Lab(Limited, Chances, InVain, Suggests, ABC):
    """A running system with its clock, its recorder, its only generator and its script.

    A product's lab says how an action begins (`begin`) and what its `trace` and `roles` are.
    *seed* feeds the generator, *jitter* (such as ``"2ms"``) comes on top of every link's delay and lets
    machines be quick and slow (`takes`), *links* say what lines are like, and a run of more than *limit*
    events (default: 10^8), or of more than 8 GiB, stops with an error.
    """

    def __init__(
        self,
        name: str,
        script: Iterable[Timed] = (),
        seed: int = 0,
        jitter: int | str = 0,
        limit: int | None = None,
        timing: Timing | None = None,
        links: Links | None = None,
    ) -> None:
        self.links = links or Links()
        self.seed, self.jitter, self.limit = seed, moment(jitter, "jitter"), limit
        self.random = Random(f"{name}:{seed}")
        self.timing = timing or Timing()
        self.clock = Clock(self.check_patience, self.timing.link)
        self.recorder = Recorder(self.clock)
        self.script: deque[Timed] = deque()
        self.starting: Sized = ()  # what a start has still to begin
        self.under_way: Completion | None = None
        self.ends_with_script = False  # whether a run does not wait for a rest in the end
        self.rest_since = 0  # us, when the wait for a rest began
        self.appointments: list[Timed] = []  # actions with a time of their own that is still to come
        self.first: list[Timed] = []  # those of the time 0, which come once brokers have started
        self.latest: Timed | None = None  # of the script, the action that began last
        self.started_at: int | None = None  # us, when the brokers that the script starts were there
        self.early: list[tuple[Timed, Timed]] = []  # what came before that, and what of the script still waited
        self.in_vain, self.named = [], {}
        self.cut_at: int | None = None  # us, where a run was to end whatever is under way
        self.scheduled = 0  # actions beside the script that are still to come, or not over
        self.looks = Looks(self)
        for action in script:
            self.schedule(action)

    def __repr__(self) -> str:
        return f"<mqlab.Lab at {told_time(self.now)}, {counted(self.recorder.count, 'event')}>"

    def __dir__(self) -> list[str]:
        """Return what a user of the lab needs; the rest is for those who build one."""
        return list(FOR_USERS)

    # What a product's lab says

    scenario: Scenario
    network: AnyNetwork

    @abstractmethod
    def _do(self, action: Action) -> None:
        """Begin one action; see `do`."""

    @abstractmethod
    def begin(self, action: Any) -> Completion:
        """Begin *action* now, and say when it is over."""

    @property
    @abstractmethod
    def trace(self) -> Trace:
        """All that has happened so far."""

    @property
    @abstractmethod
    def roles(self) -> dict[str, str]:
        """Who is what at this moment: broker by name."""

    @property
    def settings(self) -> dict[str, object]:
        """What a run takes besides its scenario, as its trace's header has it."""
        links = {"links": self.links.written()} if self.links != USUAL else {}
        return {"seed": self.seed, "jitter": self.jitter, **links}

    # Time

    @property
    def now(self) -> Duration:
        """The time."""
        return Duration(self.clock.now)

    def new_link(self, one: str, other: str) -> Link:
        """Return one direction of a new connection of two."""
        like = self.links.of_pair(one, other) if self.links.between else self.links.every
        delay = self.timing.link if like.delay is None else duration(like.delay)
        jitter = self.jitter if like.jitter is None else duration(like.jitter)
        line = LinkQuality(delay, jitter, like.loss, like.bandwidth or 0)
        return Link(self.clock, line, self.random)

    def schedule(self, action: Timed) -> None:
        """Put *action* at the end of the script; one with a time of its own, on the clock."""
        if action.at is None:
            self.script.append(action)
            return
        time = self.due(action)
        self.scheduled += 1
        self.appointments.append(action)
        if time == 0 and self.script and isinstance(self.action_of(self.script[0]), Start):
            self.first.append(action)
        else:
            self.clock.schedule_background(time, self._on_appointment, action)

    def _on_appointment(self, action: Timed) -> None:
        self.appointments.remove(action)
        if self.started_at is None and self.script:
            self.early.append((action, self.script[0]))
        self.on_scheduled(action)

    def due(self, action: Timed) -> int:
        """Return when *action* is due (us); raises `BadValue` for a time that is over."""
        time = self.clock.now if action.at is None else duration(action.at, "at")
        return ahead(time, self.clock.now, called(self.action_of(action)))

    def on_scheduled(self, action: Timed) -> None:
        """The time of an action has come: it happens beside the others."""
        self.scheduled -= 1
        self.go_on_beside(self.begin(action))

    def go_on_beside(self, until: Completion) -> None:
        """An action that is not the script's is looked after until it is over."""
        self.scheduled += 1
        self.looks.wake()
        self.looks.after(until)

    def pause(self, us: int, call: Call, argument: object) -> None:
        """Let *call* happen in so many us: no rest waits for it, but the end of the run does."""
        self.scheduled += 1
        self.clock.schedule_background(self.clock.now + us, self._on_paused, (call, argument))

    def _on_paused(self, due: tuple[Call, object]) -> None:
        self.scheduled -= 1
        due[0](due[1])

    def on_over(self, until: Completion) -> None:
        """An action beside the script is over."""
        self.scheduled -= 1
        if until.then is not None:
            scripts, self.under_way = self.under_way, None
            until.then(until.argument)
            following, self.under_way = self.under_way, scripts
            if following is not None:
                self.go_on_beside(following)

    def step(self, count: int = 1) -> bool:
        """Let the next thing happen, an event or the next action, or so many; False when nothing is left."""
        if count != 1 or count is True:
            return hurrying.steps(self, count)
        if self.under_way is not None and not self.is_over(self.under_way):
            return self._go_on(self.under_way)
        if self.ends_with_script and self.under_way is None and not self.script:
            return False  # whatever is still on its way
        self.end_action()
        self._begin_first()
        if self.under_way is not None:  # its end was the beginning of another part of it
            return True
        if self.script:
            self.rest_since, self.latest = self.clock.now, self.script.popleft()
            self.under_way = self.begin(self.latest)
            if self.looks.asleep:
                self.looks.wake()
            return True
        if not self.clock.step():
            if not (self.scheduled or self.coming):
                return False
            self.clock.next()
        return True

    def _begin_first(self) -> None:
        """Let the actions of the time 0 happen, once the brokers that the script starts are there."""
        if self.latest is None or self.under_way is not None:
            return
        if self.started_at is None:
            self.started_at = self.clock.now
        first, self.first = self.first, []
        for action in first:
            self.clock.schedule_background(self.clock.now, self._on_appointment, action)

    def end_action(self) -> None:
        """The action under way, if there is one, is over."""
        until, self.under_way = self.under_way, None
        if until is not None and until.then is not None:
            until.then(until.argument)
            if self.looks.asleep:
                self.looks.wake()

    def is_over(self, until: Completion) -> bool:
        """Whether an action that ends so is over."""
        if until.condition is not None and until.condition(until.argument):
            return True
        if until.deadline is not None:
            return self.clock.now >= until.deadline < self.clock.next_time
        return until.condition is None and self.resting

    @property
    def resting(self) -> bool:
        """Whether nothing moves but housekeeping, which finds nothing new."""
        clock = self.clock
        return not clock.line and len(clock.heap) <= clock.background and not self.expecting

    @property
    def expecting(self) -> str:
        """Whom housekeeping will change something for, though nothing moves now; empty if nobody."""
        return ""

    undone = property(unfinished)
    coming = False  # whether housekeeping brings what the script has set going and not waited for

    @property
    def to_begin(self) -> int:
        """How much of the script, and of what its start begins, is still to come."""
        return len(self.script) + len(self.starting)

    def _go_on(self, until: Completion) -> bool:
        """Let one thing happen that is due before an action's deadline, or let it come."""
        if until.condition is None and until.deadline is None:
            # Time first: to ask all clients, locks and connectors takes longer than what happens.
            if self.clock.now > self.rest_since + LONGEST_REST and self.expecting:
                raise BadValue(
                    f"not at rest after {LONGEST_REST // 60_000_000} min, stopped at "
                    f"{told_time(self.clock.now)}: {self.expecting}; set until=..."
                )
            if not self.clock.step():
                self.clock.next()
            return True
        if self.clock.next_by(NEVER - 1 if until.deadline is None else until.deadline):
            return True
        if until.deadline is not None:
            self.clock.rest(until.deadline)
        else:  # nothing will happen any more that it could wait for
            self.end_action()
        return True

    def play(self, until: int | str | None = None) -> None:
        """Play the script to its end, or for as long as *until* says.

        Raises `BadValue` beyond the limit of events.
        """
        end = self.cut_at = None if until is None else moment(until, "until")
        looks = gc.isenabled()  # what happens leaves no cycles: a topic's run took a fifth longer to find none
        gc.disable()
        try:
            while end is None or self._next_time() <= end:
                if not self.step():
                    break
                if end is None and self.ends_with_script and not self.script and not self.under_way:
                    break
                self.check_limit()
                self.hurry(NEVER - 1 if end is None else end)
                self.check_limit()
            if end is not None:
                self.clock.rest(end)
        finally:
            if looks:
                gc.enable()

    hurry = hurrying.hurry

    def _next_time(self) -> int:
        """When the next thing happens: the next action begins as soon as the one before is over."""
        until = self.under_way
        waits = until is not None and not self.is_over(until)
        goes_on = until is not None and (until.then or until.argument) is not None
        if not waits and (goes_on or self.script or self.first):
            return self.clock.now
        deadline = until.deadline if waits and until is not None else None
        time = min(self.clock.next_time, NEVER if deadline is None else deadline)
        return self.clock.now if time == NEVER else time

    def action_of(self, scripted: Any) -> Action:
        """Return the action that a thing of the script is."""
        action: Action = scripted
        return action

    def do(self, *actions: Action) -> None:
        """Begin *actions* now, or each at the time that it says. One that cannot be done raises."""
        for action in actions:
            self._do(action)

    def until(self, time: int | str) -> None:
        """Let time pass until *time* (such as ``"2s"``) after the lab's start."""
        self.play(Duration(ahead(moment(time, "until"), self.clock.now, f"until={time!r}")))

    def rest(self) -> None:
        """Let time go on until the script is over and nothing moves any more."""
        self.play()

    def fork(self) -> Self:
        """Return an independent copy of the lab as it is now."""
        looks = gc.isenabled()  # a copy is no garbage: to look for some took as long as to make it
        gc.disable()
        try:
            return copy.deepcopy(self)
        finally:
            if looks:
                gc.enable()


fit_methods(Lab, ("do", "fork", "rest", "step", "until"))
