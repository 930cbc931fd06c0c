"""Messages that a consumer asks for one by one: calls that wait for one, and prefetch 0.

A pull has a time of its own; when it is over and nothing was dispatched since, its broker says so, and
whoever receives then gets nothing, however long that takes (`ActiveMQMessageConsumer.receive` of 5.17.2).
The last pull of each consumer is told to a new broker again, whatever came of it (ActiveMQ rule 11.18).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.client import line
from mqlab.products.activemq.transport.openwire import MessagePull

if TYPE_CHECKING:
    from mqlab.products.activemq.client.addressed_consumer import AddressedConsumer
    from mqlab.products.activemq.client.calls import PendingCall
    from mqlab.products.activemq.transport.sockets import Transport

LOOP = 50_000  # us: for so long the consumers of the recorders wait for each (`Taker`)


class Pulls:
    """What one consumer has asked for, and who waits for it."""

    def __init__(self, consumer: AddressedConsumer) -> None:
        self.consumer = consumer
        self.call: PendingCall | None = None  # that waits for one message
        self.time = LOOP  # us, of its last pull
        self.nothing = False  # a broker has answered a pull for which nobody waits any more

    def receive(self, call: PendingCall, timeout: int) -> None:
        """Ask for one message and wait; without a connection a pull comes back empty at once."""
        consumer = self.consumer
        client, clock = consumer.client, consumer.lab.clock
        if client.refuses(call):
            return
        if consumer.closed:
            call.fail("IllegalStateException", "The Consumer is closed")
            return
        pulls = consumer.prefetch == 0
        if pulls and client.transport.away:
            line.after_round(client, call, got=None)
            return
        self.call = call
        consumer.work()
        # Who pulls waits for an answer, and nothing is delivered to a client that does not run.
        if self.call is None or (pulls and not client.runs):
            return
        if not pulls:
            clock.schedule_background(clock.now + timeout, self.on_timeout, call)
        elif self.nothing:
            self.nothing = False
            self._end(call)
        else:
            self.time = timeout
            consumer.ask(timeout)

    def on_timeout(self, call: PendingCall) -> None:
        """Nothing has come in time."""
        if self.call is call:
            self._end(call)

    def _end(self, call: PendingCall) -> None:
        self.call = None
        self.consumer.lab.tell_received(0, 1, self.consumer.name, call.action)
        call.finish(got=None)

    def on_answer(self) -> None:
        """The time of a pull is over, says its broker, and it has dispatched nothing meanwhile."""
        self.consumer.asked = False
        if self.call is None:
            self.nothing = self.consumer.allowance == 0
            self.consumer.work()
        else:
            self._end(self.call)

    def tell_again(self, source: Transport) -> None:
        """Tell a new broker the last pull; of a consumer that has closed that is an error there."""
        consumer = self.consumer
        source.send(MessagePull(consumer.name, self.time))
        consumer.asked, self.nothing = not consumer.closed, False

    def end(self) -> None:
        """Nobody waits any more for the message that was asked for."""
        consumer = self.consumer
        if consumer.prefetch == 0 and consumer.asked:
            consumer.asked = False
            consumer.send(MessagePull(consumer.name, over=True))
