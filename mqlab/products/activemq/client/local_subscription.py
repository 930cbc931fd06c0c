"""The broker's end of a client that is on the broker by itself: its connection and its subscription."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mqlab.products.activemq.broker import advisory
from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.transport.client_subscription import ClientSubscription
from mqlab.products.activemq.transport.openwire import Command, ConsumerCommand
from mqlab.products.activemq.transport.transport_connection import DOES, TransportConnection
from mqlab.trace.kinds import Kind
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.client.direct_client import LocalConnection
    from mqlab.products.activemq.client.direct_consumer import DirectConsumer

# Bound once: reading a member of an enumeration costs ten times as much as a name.
DISPATCHED = int(Kind.Dispatched)

Push = tuple[Message, int, "LocalConnection"]  # a message, the row of its dispatch, and its way


class LocalTransportConnection(TransportConnection):
    """The broker's end of a connection over which nothing is agreed on, answered or mirrored."""

    def on_command(self, command: Command) -> None:
        """Do what the client asks for."""
        DOES[type(command)](self, command)

    def subscription(self, command: ConsumerCommand) -> ClientSubscription:
        """Return the subscription that came with the consumer: they have the same place here."""
        if self.process.broker.advisory_subscribers:
            advisory.of_connection(self.process.broker, command.consumer.name, left=False)
        return cast("DirectConsumer", command.consumer).sub

    def end(self, sub: ClientSubscription, rule: int) -> None:
        """The client has gone."""
        self.socket.abandon()
        if sub in sub.broker.subs:
            super().end(sub, rule)
            if sub.broker.advisory_subscribers:
                advisory.of_connection(sub.broker, sub.client_name, left=True)


class LocalSubscription(ClientSubscription):
    """A subscription of such a client: what happens to every message goes without commands."""

    socket: LocalConnection
    consumer: DirectConsumer

    def __init__(self, broker: Broker, socket: LocalConnection, consumer: DirectConsumer) -> None:
        super().__init__(broker, socket, consumer)
        self.dispatch = pack_prefix(DISPATCHED, broker.node, broker.node, consumer.node, -1, self.no)
        self.on_message, self.acknowledged = consumer.on_message, self.on_acknowledged

    @property
    def has_delivered(self) -> bool:  # type: ignore[override]
        """Whether the client has received anything."""
        return self.consumer.count > 0

    def deliver(self, message: Message, rule: int) -> None:
        """Push *message* to the client."""
        self.dispatched[message] = None
        way = self.socket
        row = self.recorder.add_packed(self.dispatch, message, message.hops, rule, message.row)
        way.back.carry(self.on_message, (message, row, way), 0, message.size)
        if self.broker.advisory_subscribers:
            self.advise(message)

    def on_acknowledged(self, message: Message) -> None:
        """The acknowledgement has reached the broker."""
        connection = self.socket
        if connection.impaired and not connection.lets_pass(False, self.on_acknowledged, message):
            return
        if message in self.dispatched:
            unconfirmed = self.consumer.unconfirmed
            if message.number in unconfirmed:
                del unconfirmed[message.number]
            self.acknowledge(message)
