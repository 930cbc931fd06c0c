"""A step that sends, as it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mqlab.products.openmq.client.state import PRIORITY, Client
from mqlab.products.openmq.script.operation import Row, ScriptStep
from mqlab.spec.action import Producer
from mqlab.spec.openmq.actions import Send
from mqlab.spec.openmq.options import Options
from mqlab.spec.values import duration

Sends = Send | Producer  # what lets a producer send
CONNECTS = 20_000  # us until a recorder's client has its connection, session and producer (13 to 54 ms)


@dataclass(eq=False, slots=True)
class SendJob:
    """A step that sends: `row` is its outcome, `left` the numbers that are still to be sent."""

    row: Row
    step: ScriptStep[Sends]
    left: range
    refused: list[int]
    producer: Client | None
    under_way: int = 0  # messages that have not come to their home, or its receipt not to here
    late: bool = False
    due: int = 0  # us, before which the next message is not sent
    until: int = 0  # us, until which it tries to connect, if it has to open a connection
    interval: int = 0  # us, from one message to the next
    unsent: int = 0  # messages that it gave up after one was refused
    persistent: bool = field(init=False)
    properties: Options = field(init=False)
    size: int = field(init=False)  # bytes
    stops: bool = field(init=False)  # at the first message that is refused
    time_to_live: int = field(init=False)  # us; 0 is for ever
    priority: int | list[int] = field(init=False)

    def __post_init__(self) -> None:
        action = self.step.action
        if isinstance(action, Producer):
            self.interval = duration(action.every)
        self.persistent, self.properties = action.persistent, action.properties
        self.size, told, ends = action.size, action.jms_priority, action.time_to_live
        self.priority = PRIORITY if told is None else told
        self.time_to_live = 0 if ends is None else duration(ends)
        own = action.stop_at_error if isinstance(action, Send) else self.step.options.get("stop_at_error")
        self.stops = bool(own)

    def wait(self, us: int) -> None:
        """Send the next message in so many us."""
        if self.producer is not None:
            lab = self.producer.home.lab
            self.due = lab.clock.now + us
            lab.pause(us, lab.on_due_at, (self.producer.at, None, None))

    def say_how_many(self) -> None:
        """Note how many messages have come to their home so far."""
        left = self.left.stop - self.left.start + self.unsent
        self.row["sent"] = (
            self.row["count"] - left - self.under_way - (len(self.refused) if self.refused else 0)
        )

    def refuse(self, number: int) -> None:
        """A message is refused; an application that stops at an error sends no more."""
        self.refused.append(number)
        if self.stops:
            self.unsent += len(self.left)
            self.left = range(0)

    def end_with(self, refused: Sequence[int]) -> None:
        """Send no more; these are refused, of which one that stops at an error has tried the first."""
        tried = refused[:1] if self.stops else refused
        self.unsent += len(refused) - len(tried)
        self.refused += tried
        self.left = range(0)
