"""A broker's subscription for a consumer at the other end of a socket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.products.activemq.broker.message import ConsumerInfo, Message, MessageDispatch
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.products.activemq.transport.openwire import DispatchCommand
from mqlab.products.activemq.transport.sockets import Socket
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker


class RemoteSubscription(Subscription):
    """What is pushed goes over the socket; the consumer is known by its name."""

    def __init__(
        self,
        broker: Broker,
        socket: Socket,
        consumer: Any,
        dest: Destination,
        prefetch: int | None,
    ) -> None:
        info = ConsumerInfo(
            broker.lab.new_id(),
            dest,
            consumer.priority,
            consumer.selector,
            consumer.exclusive,
            durable=consumer.durable,
        )
        if prefetch is None:
            kind = "queue" if dest.is_queue else "durable_topic" if info.durable else "topic"
            prefetch = int(broker.policy_for(dest)[f"{kind}_prefetch"])
        super().__init__(broker, info, prefetch, f"{dest} at {broker.name} by {consumer.name}")
        self.socket, self.consumer = socket, consumer
        self.client_name = consumer.name

    def deliver(self, message: Message, rule: int) -> None:
        """Push *message* to the client."""
        self.dispatched[message] = None
        node = self.broker.node
        row = self.broker.record_message(
            Kind.Dispatched, message, node, self.consumer.node, -1, self.no, rule, message.row
        )
        delivery = MessageDispatch(message, message.redeliveries, row)
        self.socket.reply(DispatchCommand(self.consumer.name, delivery))
