"""A subscription: what a broker knows of one taker of its messages.

A subscription is full when it holds `prefetch` messages that are not acknowledged; messages that
a client has in its hands but will acknowledge later (client acknowledge) extend the window.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import dead_letter_strategy
from mqlab.products.activemq.broker.message import SENT_BY, ConsumerInfo, Message
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.spec.selector import Selector
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.broker.queue import Queue
    from mqlab.products.activemq.broker.topic import Topic
    from mqlab.products.activemq.network.network_bridge import NetworkBridge

# Bound once: reading a member of an enumeration costs ten times as much as a name.
ACKNOWLEDGED = int(Kind.Acknowledged)
EVERY_SUBSCRIBER = int(Reason.every_subscriber)


class Subscription:
    """The part that consumers and bridges have in common.

    `dispatched` are the messages handed over and not acknowledged, in order; `waiting` those a
    topic keeps for a full subscription.
    """

    inactive = False
    client_name = ""  # of whoever consumes
    contracts = True  # whether what is acknowledged narrows the window again
    several = False  # whether it takes from several queues: all look when there is room (ActiveMQ rule 1.6)
    has_delivered = False  # whether its client is known to have had a message in hands

    def __init__(
        self, broker: Broker, info: ConsumerInfo, prefetch: int, label: str, network: bool = False
    ) -> None:
        self.broker, self.info, self.network = broker, info, network
        self.dest, self.priority, self.exclusive = info.dest, info.priority, info.exclusive
        self.selector: Selector | None = info.selector
        # whether it may refuse a message
        self.may_refuse = network or info.selector is not None or info.not_from is not None
        self.bridge: NetworkBridge | None = None  # that holds it
        self.prefetch = prefetch
        self.prefetch_extension = 0
        self.slow = False  # full while something waits for it
        if info.dest.is_queue and (info.dest.is_pattern or len(info.dest.elements()) > 1):
            self.several = True
        self.topics = 0  # how many it has joined
        self.durable = info.durable  # (client id, name) of a durable subscription
        self.seen: MessageAudit | None = None  # of what a durable one has had: none comes twice
        self.duplicates = 0  # how many did
        self.dispatched: dict[Message, None] = {}
        self.waiting: deque[Message] = deque()
        self.no = broker.lab.name_subscription(label)
        # Made once, as all that happens to every message.
        self.recorder = broker.recorder
        self.acknowledgement = pack_prefix(ACKNOWLEDGED, broker.node, to=broker.node, sub=self.no)

    @property
    def full(self) -> bool:
        """Whether it may not be handed any more."""
        return len(self.dispatched) - self.prefetch_extension >= self.prefetch

    def refusal(self, message: Message) -> int:
        """Return the rule that keeps *message* from it, 0 if there is none."""
        if self.selector is not None:
            headers = message.headers
            if message.redeliveries:
                headers = {**headers, "JMSRedelivered": True, "JMSXDeliveryCount": message.redeliveries + 1}
            if not self.selector.selects(headers, message.properties):
                return Reason.selector
        if self.info.not_from is not None and message.headers.get(SENT_BY) == self.info.not_from:
            return Reason.no_local
        return 0

    def deliver(self, message: Message, rule: int) -> None:
        """Hand *message* over, for the reason *rule*."""
        raise AssertionError("a subscription is a consumer's or a bridge's")

    def add(self, message: Message) -> bool:
        """Take *message* from a topic: now, or later when there is room."""
        if self.may_refuse and self.refusal(message):
            return False
        if self.seen is not None and self.seen.add(message.number):
            self.duplicates += 1
            return False
        if not self.waiting and len(self.dispatched) - self.prefetch_extension < self.prefetch:
            self.broker.destinations[message.dest_no].dispatched += 1
            self.deliver(message, EVERY_SUBSCRIBER)
        else:
            self.waiting.append(message)
            self.keep(message, Reason.durable if self.inactive else Reason.prefetch_full)
        return True

    def keep(self, message: Message, rule: int) -> None:
        """Write down that a topic's message waits for this subscription."""
        self.broker.record_message(Kind.Held, message, sub=self.no, rule=rule, cause=message.row)

    def refill(self) -> None:
        """Hand over what a topic has kept for it, as far as there is room."""
        while self.waiting and not self.full:
            message = self.waiting.popleft()
            topic = self.broker.destinations[message.dest_no]
            if 0 < message.expires <= self.broker.clock.now:  # nobody gets it (ActiveMQ rule 27.5)
                dead_letter_strategy.expired(self.broker, message)
                if not self.durable:
                    topic.forget(message, self)
                continue
            topic.dispatched += 1
            self.deliver(message, EVERY_SUBSCRIBER)

    def count_delivered(self, last: int | None = None) -> None:
        """Count a delivery more for what is outstanding, or only up to the number *last* of it.

        Of a queue none counts where that was acknowledged (`lastDeliveredRef` of `Queue`, 5.17.2).
        """
        exactly = self.dest.is_queue and self.broker.lab.edition != "5.5"
        if last is not None and exactly and all(message.number != last for message in self.dispatched):
            return
        for message in self.dispatched:
            if last is None or exactly or message.number <= last:
                message.was_out()
            if exactly and message.number == last:
                return

    def has_come_back(self, message: Message) -> bool:
        """Whether it sent *message* on, and need not wait for the answer any more."""
        return False

    def acknowledge(self, message: Message) -> None:
        """Let go of *message*, which it was handed; what waits for room may follow."""
        destination = self.broker.destinations[message.dest_no]
        outstanding, was_full = self.dispatched, False
        if destination.pending_messages and len(outstanding) - self.prefetch_extension >= self.prefetch:
            was_full = True
        del outstanding[message]
        self.slow = False
        if self.prefetch_extension and self.contracts:
            self.prefetch_extension -= 1
        self.recorder.add_packed(self.acknowledgement, message, message.hops, 0, message.row)
        destination.forget(message, self, was_full)
        if self.waiting:
            self.refill()
        if self.several:
            self.look_elsewhere(destination)

    def look_elsewhere(self, here: Queue | Topic) -> None:
        """Let its other queues dispatch: it has room (`wakeupDestinationsForDispatch` of 5.17.2)."""
        for queue in list(self.broker.destinations.values()):
            if queue is not here and queue.pending_messages and self in queue.subs and not self.full:
                queue.dispatch()
