"""What a step of a script comes to: an answer, at once or after a while.

A step that takes time says what it waits for, as plain data: the lab lets time go on, the step
inside of it never does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeGuard, TypeVar, cast

from mqlab.engine.clock import NEVER
from mqlab.spec.action import Action, Pause, Resume
from mqlab.spec.json_types import JsonDict
from mqlab.spec.naming import bare, destination_in
from mqlab.spec.openmq.actions import Call
from mqlab.spec.openmq.options import Options
from mqlab.spec.openmq.words import makes_temporary, options_of, word_of
from mqlab.spec.values import Destination, duration

LIMIT_MS = 30_000  # how long a step waits if it does not say
LEAD_MS = 300  # of a call beside the script, until the recorder's script goes on
FOR_EVER = float("inf")  # how long such a call waits (ms)

Row = JsonDict  # what came of a step, in the form of the recordings
Answer = Row | str | bool | None  # True and None are ok, False is refused
Done = TypeVar("Done", bound=Action, covariant=True)

Kind = TypeVar("Kind", bound=Action)


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
class ScriptStep(Generic[Done]):
    """An action of the script, and what it waits for once it has begun.

    `called` is the action as the script has it, `action` without the call around it.
    """

    called: Action
    waits: RunningStep | None = None
    row: Row | None = None  # what came of it, once it has an answer
    action: Done = field(init=False)
    options: Options = field(init=False)  # by the product's own names
    id: str | None = None  # of its result
    limit: float = LIMIT_MS  # ms that it waits
    in_background: bool = False
    lead: float = LEAD_MS  # ms that the recorder's script waits after it, if it does not wait for its end

    def __post_init__(self) -> None:
        self.action = cast(Done, bare(self.called))
        self.options = options_of(self.action)
        self.in_background = bool(getattr(self.action, "in_background", False))
        if isinstance(self.called, Call):
            self.id, self.in_background = self.called.id, self.in_background or self.called.in_background
            self.limit = LIMIT_MS if self.called.limit is None else duration(self.called.limit) / 1000
            self.lead = LEAD_MS if self.called.lead is None else duration(self.called.lead) / 1000
        if self.in_background:
            self.limit = FOR_EVER
        if makes_temporary(self.action) and self.options.get("process"):
            # A client in a process of its own looks for a broker for ever, and again when it has lost one.
            self.options = {**self.options, "reconnect": True}

    @property
    def at(self) -> int | str | None:
        """When it happens; None when its turn has come."""
        return self.called.at

    @property
    def word(self) -> str:
        """What the recordings call it."""
        return word_of(self.action)

    @property
    def dest(self) -> Destination:
        """The destination that it names: a broker lists a temporary one by a name of its own."""
        found = destination_in(self.action)
        assert found is not None
        kind = found.kind.removeprefix("temp-")
        return Destination(kind, f"temp:{found.name}") if found.is_temporary else found

    @property
    def addresses(self) -> tuple[str, ...]:
        """The brokers that it is for, in the order in which a client tries them; ``any`` are all."""
        one = getattr(self.action, "on", None) or getattr(self.action, "broker", None)
        return (one, *getattr(self.action, "others", ())) if one else ()

    @property
    def place(self) -> str:
        """The one broker that it is for; empty if there are several, or none."""
        names = self.addresses
        return names[0] if len(names) == 1 else ""

    @property
    def client(self) -> str:
        """The client whose call it is, or that it opens; empty if it is nobody's."""
        if isinstance(self.action, (Pause, Resume)) and self.action.kind != "consumer":
            return ""  # of a broker
        named = (getattr(self.action, one, None) for one in ("consumer", "producer", "who", "name"))
        return next(filter(None, named), "")

    @property
    def ack_mode(self) -> str:
        """The acknowledge mode of the session that it opens."""
        if self.options.get("transacted"):
            return "transacted"
        return str(self.options.get("ack_mode", getattr(self.action, "ack_mode", "auto")))

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


def is_of(step: ScriptStep[Action], kind: type[Kind]) -> TypeGuard[ScriptStep[Kind]]:
    """Whether a step is an action of a kind."""
    return isinstance(step.action, kind)
