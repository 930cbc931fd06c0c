"""A message as one broker holds it, and the consumer advisory that brokers pass on."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

from mqlab.spec.json_types import JsonObject
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination

REPLY_TO = "JMSReplyTo"
SENT_BY = "connection id"  # a header that no selector can name
_new = object.__new__


@dataclass(slots=True, eq=False)
class Message:
    """One broker's copy of a message.

    `path` holds the ids of the brokers that have forwarded it, `row` the trace row of its
    arrival here, `waiting_reason` the reason that was last noted for its waiting.
    """

    number: int
    dest: Destination
    dest_no: int
    sent: int  # us
    persistent: bool
    properties: JsonObject
    headers: JsonObject
    path: tuple[str, ...] = ()
    expires: int = 0  # us; 0 is never
    size: int = 1024  # bytes
    hops: int = 0  # how many brokers have forwarded it: each event of it says so
    arrived: int = 0  # us, at this broker
    turn: int = 0  # its position in its queue
    row: int = -1
    waiting_reason: int = 0
    returned: bool = False  # whether it is back from a subscription that has left
    received: bool = False  # whether a consumer has had it in its hands
    crossed: bool = False  # the next broker has it
    answered: bool = False  # who sent it over a bridge knows that it has arrived
    repeated: bool = False  # it was on a bridge that broke
    redeliveries: int = 0  # how often it was out before

    def __deepcopy__(self, memo: dict[int, object]) -> Message:
        # Nothing that a message refers to ever changes: a fork of the lab needs its own message, and no more.
        return copy(self)

    def was_out(self) -> None:
        """It comes back from a holder that may have had it: the next delivery is one more."""
        self.received = True
        self.redeliveries += 1

    @property
    def priority(self) -> int:
        """The JMS priority, 0 to 9."""
        return int(self.headers.get("JMSPriority", 4))

    def copy(self, broker_id: str | None = None) -> Message:
        """Return a copy for another holder; with *broker_id*, as forwarded by that broker."""
        made = _new(Message)  # `__init__` would take as long as all that follows
        made.number, made.sent = self.number, self.sent
        made.dest, made.dest_no = self.dest, self.dest_no
        made.persistent, made.expires, made.size = self.persistent, self.expires, self.size
        made.properties, made.headers = self.properties, self.headers
        made.path, made.hops = self.path, self.hops
        if broker_id is not None:
            made.path, made.hops = (*self.path, broker_id), self.hops + 1
        made.arrived = made.turn = made.waiting_reason = made.redeliveries = 0
        made.row = -1
        made.received = made.crossed = made.answered = made.repeated = made.returned = False
        return made


@dataclass(slots=True, eq=False)
class ConsumerInfo:
    """What an advisory tells of a consumer, or of a subscription that stands for one.

    `path` holds the ids of the brokers the advisory has come through, the consumer's own first (empty
    for a consumer of the telling broker itself); `origins` the ids of the consumers it stems from.
    """

    id: int
    dest: Destination
    priority: int
    selector: Selector | None
    exclusive: bool
    path: tuple[str, ...] = ()
    origins: tuple[int, ...] = ()
    durable: tuple[str, str] | None = None  # (client id, subscription name)
    browser: bool = False  # a browser makes no demand
    not_from: str | None = None  # the connection whose messages it does not want

    def on(self, dest: Destination) -> ConsumerInfo:
        """Return the same advisory about another destination."""
        return replace(self, dest=dest, browser=False, not_from=None)

    @property
    def remote_subscription_id(self) -> int | tuple[str, str]:
        """By what a bridge remembers whom a subscription stands for; a durable one stays itself."""
        return self.durable or self.id


class MessageDispatch(NamedTuple):
    """A message on its way to a consumer: the row of its dispatch, and how often it was delivered before."""

    message: Message
    row: int
    before: int
