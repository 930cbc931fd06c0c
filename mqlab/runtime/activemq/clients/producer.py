"""Producers: each on a connection of its own to one broker, or to the first of a failover address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mqlab.runtime.activemq import advisory
from mqlab.runtime.activemq.message import SENT_BY, Message
from mqlab.spec import Producer as ProducerSpec
from mqlab.spec.values import Destination, duration
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.runtime.activemq.broker import Broker, Premises

SENT = int(Kind.Sent)


class Producer:
    """A producer: sends one message after the other to one destination.

    Persistent sends wait for the broker's receipt, the others go in a burst.
    """

    def __init__(
        self,
        lab: Premises,
        spec: ProducerSpec,
        broker: Broker,
        headers: Mapping[str, Any] | None = None,
    ) -> None:
        self.lab, self.spec, self.broker = lab, spec, broker
        self.name = spec.name
        self.node = lab.producer_node(spec.name, broker.name)
        self.link_to, self.link_from = lab.new_link(), lab.new_link()
        self.first = lab.reserve_numbers(spec.sends)
        self.dest: Destination = spec.to
        self.dest_no = lab.name_destination(spec.to)
        self.elements = spec.to.elements()
        self.interval, self.time_to_live = duration(spec.every), duration(spec.time_to_live)
        mode = "PERSISTENT" if spec.persistent else "NON_PERSISTENT"
        self.properties = Dealt(spec.properties)
        self.headers = Dealt(
            {
                "JMSPriority": spec.jms_priority,
                "JMSDeliveryMode": mode,
                SENT_BY: spec.connection or spec.name,
                **(headers or {}),
            }
        )
        self.sent = 0
        self.done = False  # has sent all, and has the receipts
        self.stalled = False  # has something to send and no broker
        self.unsent: list[tuple[Message, int]] = []  # on the way when the broker went

    @property
    def closed(self) -> bool:
        """Whether all has been sent."""
        return self.sent >= self.spec.sends and not self.unsent

    def lose_broker(self) -> None:
        """The broker is going; with a failover address there may be another."""

    def find_broker(self) -> None:
        """With a failover address: go on with the first broker of it that serves."""
        broker = self.lab.serving((self.spec.on, *self.spec.others))
        if self.broker.running or broker is None or not self.spec.others:
            return
        self.broker = broker
        unsent, self.unsent = self.unsent, []
        for passage in unsent:
            self.link_to.carry(self.on_arrived, passage)
        if self.stalled:
            self.stalled = False
            self.lab.clock.at(self.lab.clock.now, self.send, None)

    def start(self) -> None:
        """Send the first message."""
        if self.broker.running:
            advisory.of_producer(self.broker, self.spec.name, self.dest, left=False)
        self.send(None)

    def send(self, _: None) -> None:
        """Send the next message, if there is one."""
        spec, lab = self.spec, self.lab
        if self.sent >= spec.sends:
            self.done = True
            advisory.of_producer(self.broker, spec.name, self.dest, left=True)
            return
        if not self.broker.running:
            self.find_broker()
            if not self.broker.running:
                if not spec.others:
                    lab.problem(f"{spec.name}: broker {self.broker.name} is not running")
                self.stalled = True
                return
        now = lab.clock.now
        place = self.sent
        self.sent += 1
        message = Message(
            self.first + place,
            self.dest,
            self.dest_no,
            now,
            spec.persistent,
            self.properties.at(place),
            self.headers.at(place),
            (),
            self.expiry(now),
            spec.size,
        )
        row = lab.add(
            now,
            SENT,
            message.number,
            self.broker.node,
            self.node,
            self.broker.node,
            -1,
            self.dest_no,
        )
        self.link_to.carry(self.on_arrived, (message, row))
        if not spec.persistent:
            lab.clock.at(now + (self.interval or lab.timing.pace), self.send, None)

    def expiry(self, now: int) -> int:
        """Return when a message sent now is too old (us); 0 is never."""
        return now + self.time_to_live if self.time_to_live else 0

    def on_arrived(self, passage: tuple[Message, int]) -> None:
        """The message has reached the broker; a persistent one is confirmed."""
        if self.broker.held is not None:
            self.broker.held.append((self.on_arrived, passage))
            return
        message, row = passage
        if not self.broker.running:
            self.unsent.append(passage)
            return
        broker = self.broker
        if broker.limits_memory and broker.destination(self.elements[0]).memory.full_for(
            message, self.on_arrived, passage
        ):
            return
        if len(self.elements) == 1:
            self.broker.take_over(message, self.node, -1, row)
        else:
            for copy in self.copies(message):
                self.broker.take_over(copy, self.node, -1, row)
        if message.persistent:
            self.link_from.carry(self.on_receipt, None)

    def copies(self, message: Message) -> list[Message]:
        """Return one copy for each element of a composite destination."""
        found = []
        for dest in self.elements:
            copy = message.copy()
            copy.dest, copy.dest_no = dest, self.lab.name_destination(dest)
            found.append(copy)
        return found

    def on_receipt(self, _: None) -> None:
        """The receipt is here: the next may go."""
        if self.interval:
            self.lab.clock.at(self.lab.clock.now + self.interval, self.send, None)
        else:
            self.send(None)


class Dealt:
    """Properties or headers of a row of messages; values in a list are dealt out in turn."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.varies = any(isinstance(value, list) for value in given.values())

    def at(self, place: int) -> Mapping[str, Any]:
        """Return what the message at *place* gets."""
        if not self.varies:
            return self.given
        return {k: v[place % len(v)] if isinstance(v, list) else v for k, v in self.given.items()}
