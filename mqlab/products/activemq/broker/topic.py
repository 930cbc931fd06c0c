"""A topic of one broker: every subscription that wants a message gets a copy, nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory, dead_letter_strategy, virtual_destinations
from mqlab.products.activemq.broker.memory_usage import MemoryUsage
from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker


class Topic:
    """A topic: every subscription gets a copy, nothing is kept."""

    def __init__(self, broker: Broker, dest: Destination, no: int) -> None:
        self.broker, self.dest, self.no = broker, dest, no
        self.subs: list[Subscription] = []
        self.enqueued = self.dequeued = self.dispatched = self.forwarded = 0
        self.virtual = virtual_destinations.is_virtual(broker, dest)
        self.policy = broker.policy_for(dest)
        self.limit: int = self.policy["pending_message_limit"]
        self.order = _ORDERS[self.policy["dispatch_policy"]]
        self.memory = MemoryUsage(broker, self)

    messages: dict[Message, None] = {}  # a topic keeps nothing
    pending_messages: tuple[Message, ...] = ()

    def restore(self, messages: Iterable[Message]) -> None:
        """Take nothing out of the store: topics keep nothing there."""

    def dispatch(self) -> None:
        """Hand on what full subscriptions could not take before."""
        for sub in self.subs:
            sub.refill()

    def join(self, sub: Subscription) -> None:
        """Add a subscription behind the others; a durable one gets what was kept for it."""
        self.subs.append(sub)
        sub.topics += 1
        sub.refill()

    def leave(self, sub: Subscription, rule: int) -> None:
        """Remove a subscription, by *rule*; nothing of it goes back."""
        self.subs.remove(sub)

    def enqueue(self, message: Message) -> None:
        """Give every subscription that wants the message a copy of its own."""
        self.enqueued += 1
        if message.expires and self.broker.clock.now >= message.expires:
            dead_letter_strategy.expired(self.broker, message)
            return
        taken = 0
        for sub in self.order(self):
            copy = message.copy()
            copy.row = message.row
            if sub.add(copy):
                taken += 1
                if sub.waiting:
                    self._note_waiting(sub)
        if not taken:
            self.broker.record_message(Kind.Discarded, message, rule=Reason.no_subscription, cause=message.row)
            if self.policy["send_advisory_if_no_consumers"] and not message.persistent:
                advisory.of_message(self.broker, "NoConsumer", message)

    def _note_waiting(self, sub: Subscription) -> None:
        """Tell of a subscriber that is slow, and keep no more for it than the limit allows."""
        if len(sub.waiting) > sub.prefetch > 1:
            advisory.of_slow_consumer(self.broker, sub, self.dest)
        if 0 <= self.limit < len(sub.waiting):
            self.evict(sub)

    def evict(self, sub: Subscription) -> None:
        """Throw away the oldest of what waits for a slow subscriber."""
        message = sub.waiting.popleft()
        self.broker.record_message(
            Kind.Discarded, message, sub=sub.no, rule=Reason.pending_limit, cause=message.row
        )
        if self.policy["advisory_for_discarding_messages"]:
            advisory.of_message(self.broker, "MessageDiscarded", message)

    def forget(self, message: Message, sub: Subscription, was_full: bool = False) -> None:
        """Count a copy as done, which *sub* has acknowledged."""
        # In 5.5 a durable subscriber counts nowhere, another only while it has one topic alone.
        counts = sub.durable is None and sub.topics == 1
        self.dequeued += counts or self.broker.lab.rules.counts_all_topic_acks
        if sub.network:
            self.forwarded += 1
        if self.memory.blocked:
            self.memory.left()
        if self.broker.advisory_subscribers and self.policy["advisory_for_consumed"]:
            advisory.of_message(self.broker, "MessageConsumed", message)


# Dispatch policies (ActiveMQ rule 27.6): who gets a copy, in which order.


def _in_order(topic: Topic) -> list[Subscription]:
    return list(topic.subs)


def _rotating(topic: Topic) -> list[Subscription]:
    order = list(topic.subs)
    topic.subs[:] = [*order[1:], *order[:1]]
    return order


def _by_priority(topic: Topic) -> list[Subscription]:
    return sorted(topic.subs, key=lambda sub: -sub.priority)


def _best_routes(topic: Topic) -> list[Subscription]:
    """Of the subscriptions of bridges that stand for one consumer only the best gets a copy."""
    best: dict[object, Subscription] = {}
    for sub in topic.subs:
        key = sub.info.origins[0] if sub.network and sub.info.origins else sub
        if key not in best or sub.priority > best[key].priority:
            best[key] = sub
    return list(best.values())


_ORDERS = {
    "simple": _in_order,
    "strict_order": _in_order,
    "round_robin": _rotating,
    "priority": _by_priority,
    "priority_network": _best_routes,
}
