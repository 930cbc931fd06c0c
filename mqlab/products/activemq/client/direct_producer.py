"""Producers: each on a connection of its own to one broker, or to the first of a failover address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory
from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.client.direct_client import DirectClient, LocalConnection
from mqlab.products.activemq.client.message_producer import MessageProducer
from mqlab.products.activemq.transport.sockets import CLOSED
from mqlab.spec import Producer as ProducerSpec
from mqlab.trace.kinds import Kind
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.lab import Lab

SENT = int(Kind.Sent)

Passage = tuple[Message, int, LocalConnection]  # a message, the row of its sending, and its way


class DirectProducer(DirectClient, MessageProducer):
    """A producer: sends one message after the other to one destination.

    Persistent sends wait for the broker's receipt, the others go in a burst.
    """

    def __init__(
        self,
        lab: Lab,
        spec: ProducerSpec,
        broker: Broker,
        headers: Mapping[str, object] | None = None,
    ) -> None:
        DirectClient.__init__(self, lab, spec, broker, lab.producer_node(spec.name, broker.name))
        MessageProducer.__init__(self, lab, spec, spec.to, spec.connection or spec.name, headers)
        self._know_broker()
        self.dest_no = lab.name_destination(spec.to)
        self.elements = spec.to.elements()
        self.composite = len(self.elements) > 1
        self.pace = self.interval or lab.random_duration(lab.timing.pace)  # of what waits for no receipt
        self.sent = 0
        self.done = False  # has sent all, and has the receipts
        self.stalled = False  # has something to send and no connection
        self.failed = False  # its only connection is gone
        self.arrived = 0  # how many a broker has taken over
        self.unanswered = False  # whether a broker has one, and the receipt is on its way
        self.under_way: Passage | None = None  # of a persistent message
        self.unsent: list[tuple[Message, int]] = []  # others that a broker which ended did not read

    def _know_broker(self) -> None:
        """Make once what is the same for every message to this broker."""
        at = self.broker.node
        self.sending = pack_prefix(SENT, at, self.node, at)
        self.entry = self.broker.entry(self.node)

    @property
    def closed(self) -> bool:
        """Whether nothing is sent any more."""
        waits = self.under_way is not None or self.unsent
        return self.failed or (self.sent >= self.spec.sends and not waits)

    def on_lost(self) -> None:
        """The connection is gone; with a list of brokers there may be another."""
        if self.fails_over:
            self.find_broker()
        elif not self.done:
            self.failed = True

    def find_broker(self) -> None:
        """With a list of brokers: go on with the first that it can reach.

        A persistent message that was on its way is sent again; what had arrived the broker knows, and
        only answers. Others are lost with the line (`async_send_track_messages`), but not when a
        broker ends (`failover_nonpersistent_while_sending`).
        """
        if self.connection.alive or not self.reconnect():
            return
        self._know_broker()
        self.send_again()
        unanswered, self.unanswered = self.unanswered, False
        if self.under_way is not None:
            self.pass_on(*self.under_way[:2])
        elif self.stalled or unanswered:
            self.stalled = False
            self.lab.clock.schedule(self.lab.clock.now, self.send, None)

    def send_again(self) -> None:
        """Send what a broker has not read, as soon as there is a connection."""
        while self.unsent and self.connection.alive:
            self.pass_on(*self.unsent.pop(0))

    def send(self, _: None) -> None:
        """Send the next message, if there is one."""
        spec, lab = self.spec, self.lab
        if self.sent >= spec.sends:
            self.end()
            return
        if not self.connection.alive:
            self.find_broker()
            if not self.connection.alive:
                if not self.fails_over:
                    lab.problem(f"{self.name}: {self.why_refused}")
                    self.failed = True
                self.stalled = True
                return
        message = self.make(self.sent)
        self.sent += 1
        row = lab.recorder.add_packed(self.sending, message, message.hops, 0, -1)
        connection = self.connection
        passage = (message, row, connection)
        connection.out.carry(self.on_arrived, passage, 0, message.size)
        if spec.persistent:
            self.under_way = passage
        else:
            lab.clock.schedule(lab.clock.now + self.pace, self.send, None)

    def end(self) -> None:
        """All is sent, and it has the receipts: it closes its connection when all has arrived."""
        self.done = True
        if self.connection.alive:
            self.broker.producers.pop(self.name, None)
            if self.broker.advisory_subscribers:
                advisory.of_producer(self.broker, self.name, self.dest, left=True)
            if self.arrived == self.sent:
                self.connection.abandon()

    def pass_on(self, message: Message, row: int) -> None:
        """Give a message to the connection that there is now."""
        passage = (message, row, self.connection)
        self.connection.out.carry(self.on_arrived, passage, 0, message.size)
        if message.persistent:
            self.under_way = passage

    def on_arrived(self, passage: Passage) -> None:
        """The message has reached the broker; a persistent one is confirmed."""
        message, row, connection = passage
        if connection.impaired and not connection.lets_pass(False, self.on_arrived, passage):
            unread = not connection.alive and connection.failure is CLOSED
            if unread and self.fails_over and not message.persistent:
                self.unsent.append((message, row))
                self.send_again()
            return
        broker = self.broker
        if broker.limits_memory and broker.destination(self.elements[0]).memory.full_for(
            message, self.on_arrived, passage
        ):
            return
        self.arrived += 1
        if message.persistent:
            self.under_way, self.unanswered = None, True
        if self.composite:
            broker.take_over_each(message, self.entry, row)
        else:
            broker.take_over(message, self.entry, row)
        if message.persistent:
            connection.back.carry(self.on_receipt, connection)
        elif self.done and self.arrived == self.sent:
            connection.abandon()

    def on_receipt(self, connection: LocalConnection) -> None:
        """The receipt is here: the next may go."""
        if connection.impaired and not connection.lets_pass(True, self.on_receipt, connection):
            return
        connection.last_heard_us = self.lab.clock.now
        self.unanswered = False
        if self.interval:
            self.lab.clock.schedule(self.lab.clock.now + self.interval, self.send, None)
        else:
            self.send(None)


def produce(lab: Lab, spec: ProducerSpec, headers: Mapping[str, object] | None = None) -> DirectProducer:
    """Let a producer begin to send, on the first of its brokers that serves."""
    broker = lab.directory.home(spec)
    producer = DirectProducer(lab, spec, broker, headers)
    lab.senders = [sender for sender in lab.senders if not sender.closed] + [producer]
    if producer.connection.alive:
        broker.producers[producer.name] = producer.dest
        if broker.advisory_subscribers:
            advisory.of_producer(broker, producer.name, producer.dest)
    producer.send(None)
    return producer
