"""Messages, and what each subscription is owed of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.destinations import ClusterDestination
    from mqlab.products.openmq.broker.model import Broker, Consumer, Keys


@dataclass(eq=False, slots=True)
class Delivery:
    """What one subscription is owed of a message; a queue's message has one, for whoever comes."""

    message: Message = field(repr=False)
    key: object = None  # of a topic's subscription
    taker: Consumer | None = field(default=None, repr=False)  # who has it in hands
    flagged: bool = False  # comes with the redelivered flag
    trips: int = 0  # how often it was handed out
    arrived: bool = False  # at the broker of its taker: not while it is lost in a silent cut
    delivered: bool = False  # at its taker
    kept: bool = False  # it came to a paused broker
    stale: bool = False  # it was taken in a transaction before its home came back
    row: int = -1  # of the last event on its way to the consumer

    def free(self) -> None:
        """Nobody has it in hands any more: it waits at its home."""
        message, self.taker = self.message, None
        instance = message.at.instances.get(message.home)
        if instance is not None and message in instance.messages:
            instance.offer(message)


@dataclass(eq=False, slots=True)
class Message:
    """A message at its home. `transaction` is the name of the open transaction it is part of."""

    number: int
    home: Broker
    at: ClusterDestination
    persistent: bool
    priority: int
    properties: Keys
    size: int
    sent: int
    claims: list[Delivery] = field(default_factory=list)
    transaction: str | None = None
    row: int = -1
    crossing: dict[Broker, int] = field(default_factory=dict)  # where it is on its way to -> row
    copies: dict[Broker, int] = field(default_factory=dict)  # where it was forwarded to -> row
    waits: int = -1  # the rule by which it was last noted as waiting
    expires: int = 0  # us; 0 is never
    place: int = 0  # in the order in which its home's instance got its messages
    offered: bool = False  # whether it is among those that wait to be handed out

    @property
    def dest(self) -> Destination:
        """Where it was sent to."""
        return self.at.dest

    @property
    def is_free(self) -> bool:
        """Whether somebody could be handed it."""
        if self.transaction is not None:
            return False
        return None in [claim.taker for claim in self.claims]


def selects(selector: Selector | None, message: Message) -> bool:
    """Whether a selector lets a message pass; its home asks, not the consumer's broker."""
    return selector is None or selector.selects({"JMSPriority": message.priority}, message.properties)
