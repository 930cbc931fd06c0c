"""The broker's end of a client that is on the broker by itself: its subscription."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory, dead_letter_strategy
from mqlab.products.activemq.broker.message import ConsumerInfo, Message
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.engine.clock import Call
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.client.direct_client import LocalConnection
    from mqlab.products.activemq.client.direct_consumer import DirectConsumer

# Bound once: reading a member of an enumeration costs ten times as much as a name.
DISPATCHED, RECEIVED = int(Kind.Dispatched), int(Kind.Received)


Push = tuple[Message, int, "LocalConnection"]  # a message, the row of its dispatch, and its way


class LocalSubscription(Subscription):
    """A subscription of a client of the broker itself: the broker's end of its connection."""

    def __init__(
        self,
        broker: Broker,
        client: DirectConsumer,
        info: ConsumerInfo,
        prefetch: int,
        connection: LocalConnection,
    ) -> None:
        super().__init__(broker, info, prefetch, f"{info.dest} at {broker.name} by {client.name}")
        self.client, self.client_name = client, client.name
        self.connection = connection
        at, to = broker.node, client.node
        self.dispatch = pack_prefix(DISPATCHED, at, at, to, -1, self.no)
        self.receipt = pack_prefix(RECEIVED, at, at, to, -1, self.no)
        self.on_message, self.acknowledged = client.on_message, self.on_acknowledged
        self.may_refuse = self.may_refuse or client.spec.browser

    @property
    def has_delivered(self) -> bool:  # type: ignore[override]
        """Whether the client has received anything."""
        return self.client.count > 0

    def refusal(self, message: Message) -> int:
        """Return why the client may not have *message*: a browser takes nothing away."""
        return Reason.browsing if self.client.spec.browser else super().refusal(message)

    def deliver(self, message: Message, rule: int) -> None:
        """Push *message* to the client."""
        self.dispatched[message] = None
        broker, way = self.broker, self.connection
        row = self.recorder.add_packed(self.dispatch, message, rule, message.row)
        way.back.carry(self.on_message, (message, row, way), 0, message.size)
        if broker.advisory_subscribers and broker.policy_for(message.dest)["advisory_for_dispatched"]:
            advisory.of_message(broker, "MessageDispatched", message)

    # What comes from the client

    def subscribe(self, _: None) -> None:
        """Open the subscription; its client may take what comes."""
        if self._waits(self.subscribe, None):
            return
        self.connection.broker_end = self
        broker, client = self.broker, self.client
        advisory.of_connection(broker, client.name, left=False)
        broker.subscribe(self, Reason.local_consumer, client.node)
        if client.spec.browser and client.spec.receiving:
            client.browse()
        client.work()

    def _waits(self, call: Call, argument: object) -> bool:
        """Whether what has come from the client is held on its way, or lost."""
        connection = self.connection
        return connection.impaired and not connection.lets_pass(False, call, argument)

    def on_asked(self, _: None) -> None:
        """The request to pull has reached the broker; a plain topic subscription may not heed it."""
        if self._waits(self.on_asked, None):
            return
        heeds = self.dest.is_queue or self.durable or self.broker.lab.rules.pulls_topics
        if heeds and not self.client.closed:
            self.prefetch_extension += 1
            for destination in list(self.broker.destinations.values()):
                if self in destination.subs:
                    destination.dispatch()

    def on_acknowledged(self, message: Message) -> None:
        """The acknowledgement has reached the broker."""
        connection = self.connection
        if connection.impaired and self._waits(self.on_acknowledged, message):
            return
        if message in self.dispatched:
            self.client.unconfirmed.discard(message.number)
            self.acknowledge(message)

    def on_delivered(self, message: Message) -> None:
        """The broker hears that the client has it in hands: this does not use up the prefetch."""
        if self._waits(self.on_delivered, message) or message not in self.dispatched:
            return
        if self.broker.policy_for(message.dest)["use_prefetch_extension"]:
            self.prefetch_extension += 1
            self.broker.destinations[message.dest_no].dispatch()

    def on_poisoned(self, message: Message) -> None:
        """The broker hears that a message is to be a dead letter."""
        if not self._waits(self.on_poisoned, message) and message in self.dispatched:
            self.acknowledge(message)
            dead_letter_strategy.poisoned(self.broker, message)

    def on_left(self, rule: int) -> None:
        """The broker hears that the client has closed."""
        if not self._waits(self.on_left, rule):
            self.connection.abandon()
            self._end(rule)

    def on_closed(self, last: int | None = None) -> None:
        """The connection is gone: all it held goes back, counted as delivered."""
        self.count_delivered(last)
        self._end(Reason.connection_lost)

    def _end(self, rule: int) -> None:
        if self in self.broker.subs:
            self.broker.unsubscribe(self, rule)
            advisory.of_connection(self.broker, self.client_name, left=True)
