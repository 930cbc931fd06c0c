"""Consumers: each on a connection of its own to one broker, or to the first of a failover address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.client.direct_client import DirectClient, LocalConnection
from mqlab.products.activemq.client.local_subscription import LocalSubscription, Push
from mqlab.products.activemq.client.message_consumer import Calls, MessageConsumer
from mqlab.products.activemq.transport.openwire import (
    Command,
    ConsumerCommand,
    DestinationInfo,
    PoisonAck,
    RemoveInfo,
    RollbackTransaction,
)
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec import uri as uris
from mqlab.spec.values import duration
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.lab import Lab


class DirectConsumer(DirectClient, MessageConsumer):
    """A consumer whose connection has no handshake; what happens to every message it does by short ways."""

    def __init__(self, lab: Lab, spec: ConsumerSpec, broker: Broker) -> None:
        DirectClient.__init__(self, lab, spec, broker, lab.add_node(spec.name, "consumer", broker.name))
        MessageConsumer.__init__(self, lab, spec, spec.reads, spec.acknowledge is False, spec.redelivery)
        self.unconfirmed: dict[int, None] = {}  # received, and the acknowledgement not yet there
        self.had: set[int] = set()  # what was unconfirmed when a broker went
        # Of a queue that lets two copies in, a client sends the second to the dead letters.
        self.looks_twice = spec.reads.is_queue
        self.wanted_prefetch = spec.prefetch
        key = (spec.client_id or self.name, spec.subscription_name or self.name)
        self.durable = key if spec.durable else None
        self._subscribe_to(broker)

    def _subscribe_to(self, broker: Broker) -> None:
        self.sub = LocalSubscription(broker, self.connection, self)
        self.comes_from(broker.node, self.node, self.sub.no)

    def open(self) -> None:
        """Subscribe over its connection; where that was refused, it has failed."""
        if not self.connection.alive:
            self.closed = True
            self.lab.problem(f"{self.name}: {self.why_refused}")
            return
        if self.dest.is_temporary:
            self.connection.arrive(DestinationInfo(self.dest))
        self.connection.arrive(ConsumerCommand(self))
        self.work()

    def on_message(self, push: Push) -> None:
        """A message has arrived in the prefetch buffer, if nothing holds or swallows it."""
        message, row, connection = push
        if connection.impaired and not connection.lets_pass(True, self.on_message, push):
            return
        connection.last_heard_us = self.lab.clock.now
        if self.had and message.number in self.had:
            self.finish(message)  # only the acknowledgement was lost with the broker
        elif not self.closed and message in self.sub.dispatched:
            self.asked = False
            looks = self.looks_twice and not message.received
            if looks and self.pushed[message.dest_no].add(message.number):
                self.send(PoisonAck(self.name, message))
                return
            if self.sorts:  # so that what comes at one time is sorted
                self.buffer.append((message, row, message.received))
                self.lab.clock.schedule(self.lab.clock.now, self.work, None)
            else:
                self.work((message, row, message.received))

    def finish(self, message: Message) -> None:
        """Be done with the work on a message."""
        if self.at_once:  # as `send_acks` does; two calls less for each
            self.unconfirmed[message.number] = None
            self.connection.out.carry(self.sub.acknowledged, message)
        else:
            MessageConsumer.finish(self, message)

    def send(self, command: Command) -> None:
        """Tell the broker something."""
        self.connection.send(command)

    def send_acks(self, messages: list[Message]) -> None:
        """Send the acknowledgements of messages, one for each."""
        for message in messages:
            self.unconfirmed[message.number] = None
            self.connection.out.carry(self.sub.acknowledged, message)

    def count_rollback(self, message: Message) -> int:
        """Return how often a message was delivered; the broker knows of it."""
        message.redeliveries += 1
        return message.redeliveries

    def settle(self, count: int | None, call: Calls | None = None) -> None:
        """Acknowledge what it was told to."""
        self.acknowledge(count)

    def end_transaction(self, how: str, call: Calls | None = None) -> None:
        """Commit or roll back its session."""
        if how == "commit":
            self.last_wait = 0
            self.acknowledge()
        else:
            self.send(RollbackTransaction(None, {self.name: self.count_anew()}))
            self.give_back()

    def recover(self, call: Calls | None = None) -> None:
        """Let what it has not acknowledged come again."""
        self.give_back()

    def leave(self, unsubscribe: bool = False, call: Calls | None = None) -> None:
        """Close consumer and connection; what it did not acknowledge goes back."""
        self.close()
        rule = Reason.unsubscribed if unsubscribe else Reason.consumer_left
        self.send(RemoveInfo(self.name, -1, rule))

    def on_lost(self) -> None:
        """The connection is gone, and with it what was prefetched; with a list there may be another."""
        for message, *_ in self.buffer:
            self.pushed[message.dest_no].discard([message.number])
        self.buffer.clear()
        self.had |= self.unconfirmed.keys()
        if not self.fails_over:
            self.closed = True
            return
        passes, pause = self.patience()
        if passes >= 0:
            clock = self.lab.clock
            clock.schedule(clock.now + passes * pause, self.on_out_of_patience, self.connection)
        self.find_broker()

    def patience(self) -> tuple[int, int]:
        """Return how many passes a failover address is tried, -1 for ever, and the pause (us)."""
        options = uris.parse(f"failover:()?{self.spec.connection_options}").parameters
        passes = int(options.get("maxReconnectAttempts") or -1)
        if passes == 0 and self.lab.rules.zero_attempts_is_forever:
            passes = -1
        return passes, duration(int(options.get("reconnectDelay") or 10))

    def on_out_of_patience(self, lost: LocalConnection) -> None:
        """All passes are made: without another connection by now, the client gives up."""
        if self.connection is lost:
            self.closed = True

    def find_broker(self) -> None:
        """With a list of brokers: connect to the first that it can reach."""
        if not self.closed and not self.connection.alive and self.reconnect():
            self._subscribe_to(self.broker)
            self.open()
