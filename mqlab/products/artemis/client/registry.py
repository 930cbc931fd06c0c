"""All clients that were ever opened, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.errors import UnknownName
from mqlab.products.artemis.broker import message_sizes
from mqlab.products.artemis.broker.broker import Broker

if TYPE_CHECKING:
    from mqlab.products.artemis.client.clients import Client
    from mqlab.products.artemis.client.consumers import Consumer
    from mqlab.spec.action import Producer


class Clients:
    """All clients that were ever opened."""

    def __init__(self) -> None:
        self.consumers: dict[str, Consumer] = {}
        self.senders: dict[str, Client] = {}
        self.numbers = 0  # of messages
        self.largest = 0  # bytes that one of them takes in memory
        self.began = -1  # when (us) the last send in the background did
        self.killed_in = -1  # in which step of the script a broker was killed last
        self.sending = 0  # messages of send steps that are not through
        self.receives = (-2, -2)  # the steps that receive and followed one another last: from, to

    def announce(self, action: Producer) -> int:
        """Count messages that are about to be sent; returns the number of the first."""
        first, self.largest = self.numbers + 1, max(self.largest, message_sizes.most(action))
        self.numbers += action.sends
        self.sending += action.sends
        return first

    def first_receive(self, step: int) -> int:
        """Return the first of the steps up to this one that only receive, which takes no time; else itself."""
        first, last = self.receives
        return first if first <= step <= last else step

    def named(self, name: str) -> Client:
        """Return a client by its name; raises `UnknownName` before it is opened."""
        found = self.consumers.get(name) or self.senders.get(name)
        if found is None:
            raise UnknownName.of("client", name, [*self.consumers, *self.senders], "open by now")
        return found

    def consumer(self, name: str) -> Consumer:
        """Return a consumer by its name; raises `UnknownName` before it is opened."""
        if name not in self.consumers:
            raise UnknownName.of("consumer", name, self.consumers, "open by now")
        return self.consumers[name]

    def take_lines(self) -> None:
        """Lines have become slow: who is connected goes on with those."""
        for client in [*self.consumers.values(), *self.senders.values()]:
            if client.at is not None:
                client.take_lines(client.at)

    def on_killed(self, broker: Broker) -> None:
        """A broker is killed; of several in one step the others live on until the first has ended."""
        step = broker.lab.step_no
        if step != self.killed_in:
            self.take_back(broker)
        self.killed_in = step

    def take_back(self, broker: Broker) -> list[tuple[Consumer, int]]:
        """Let consumers hold what they acknowledged too late; returns who, and how many."""
        there = [consumer for consumer in self.consumers.values() if consumer.at is broker]
        late = [(consumer, consumer.late_acknowledgements()) for consumer in there]
        for consumer, items in late:
            consumer.unacknowledged[:0] = items
        return [(consumer, len(items)) for consumer, items in late]

    def at(self, broker: Broker) -> list[Client]:
        """Return those that have a session at a broker."""
        every = [*self.consumers.values(), *self.senders.values()]
        return [client for client in every if client.at is broker]
