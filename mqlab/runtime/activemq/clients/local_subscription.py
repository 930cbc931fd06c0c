"""A broker's subscription for a client that is on the broker by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mqlab.runtime.activemq import advisory
from mqlab.runtime.activemq.message import ConsumerInfo, Message
from mqlab.runtime.activemq.subscription import Host, Subscription
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.kernel.link import Link
    from mqlab.spec import Consumer as ConsumerSpec

# Bound once: reading a member of an enumeration costs ten times as much as a name.
DISPATCHED = int(Kind.Dispatched)


class Taker(Protocol):
    """The client, as its subscription sees it."""

    spec: ConsumerSpec
    name: str
    node: int
    count: int
    link_to: Link

    def on_message(self, delivery: tuple[Message, int]) -> None:
        """A message has come."""


class LocalSubscription(Subscription):
    """A subscription of a client of the broker itself."""

    def __init__(self, broker: Host, client: Taker, info: ConsumerInfo, prefetch: int):
        super().__init__(broker, info, prefetch, f"{info.dest} at {broker.name} by {client.name}")
        self.client, self.client_name = client, client.name
        self.picky = self.picky or client.spec.browser

    @property
    def has_delivered(self) -> bool:  # type: ignore[override]
        """Whether the client has received anything."""
        return self.client.count > 0

    def refusal(self, message: Message) -> int:
        """Return why the client may not have *message*: a browser takes nothing away."""
        return Rule.browsing if self.client.spec.browser else super().refusal(message)

    def deliver(self, message: Message, rule: int) -> None:
        """Push *message* to the client."""
        self.outstanding[message] = None
        broker, client = self.broker, self.client
        row = broker.note(
            DISPATCHED, message, broker.node, client.node, -1, self.no, rule, message.row
        )
        client.link_to.carry(client.on_message, (message, row))
        if (
            broker.advisory_subscribers
            and broker.policy_for(message.dest)["advisory_for_dispatched"]
        ):
            advisory.of_message(broker, "MessageDispatched", message)
