"""Durable subscriptions: what a topic keeps for a subscriber that is away.

A durable subscription is known by (client id, name). While nobody uses it, an `InactiveDurableSubscription`
stands in its place and keeps messages, those that are not persistent as long as its broker runs
(`keepDurableSubsActive`); whoever comes back under the same key takes them over. On behalf of a durable
consumer elsewhere a bridge holds a durable subscription of its own,
``NC-DS_<home broker>_<topic>`` (ActiveMQ rule 26.5).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import ConsumerInfo
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.products.activemq.client.addresses import Refused
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker

Key = tuple[str, str]


class InactiveDurableSubscription(Subscription):
    """A durable subscription that nobody uses now: always full, so that all of it waits.

    `last` is the subscription that was in use before; None for one out of the store.
    """

    inactive = True

    def __init__(self, broker: Broker, key: Key, dest: Destination, last: Subscription | None):
        selector = last.selector if last else None
        info = ConsumerInfo(-1, dest, 0, selector, False, durable=key)
        super().__init__(broker, info, 0, f"{dest} at {broker.name}, durable {key[1]}, away")
        self.durable, self.last = key, last
        self.seen = last.seen if last else MessageAudit()


def check(broker: Broker, key: Key) -> None:
    """Raise `Refused` if somebody uses that durable subscription (`TopicRegion.addConsumer` of 5.17.2)."""
    old = broker.durables.get(key)
    if old is not None and not old.inactive:
        raise Refused("JMSException", f"Durable consumer is in use for client: {key[0]} and name: {key[1]}")


def join(broker: Broker, sub: Subscription) -> bool:
    """Let *sub* take over what waits under its key; False if the key is in use."""
    assert sub.durable is not None
    sub.seen = MessageAudit()
    old = broker.durables.get(sub.durable)
    if old is not None and not isinstance(old, InactiveDurableSubscription):
        return False
    if old is not None:
        ended(broker, old, Reason.durable)
        # What is in the store comes before what is in memory alone (`StoreDurableSubscriberCursor`).
        sub.waiting, sub.seen = deque(sorted(old.waiting, key=lambda m: not m.persistent)), old.seen
        if old.dest != sub.dest or _text(old) != _text(sub):
            sub.waiting.clear()  # another topic or selector: made anew, the backlog is gone
        for message in sub.waiting:
            sub.keep(message, Reason.prefetch_full)
        remove(broker, old)
    broker.durables[sub.durable] = sub
    return True


def _text(sub: Subscription) -> str:
    return sub.selector.text if sub.selector else ""


def deactivate(broker: Broker, sub: Subscription) -> None:
    """Its user goes away: keep what is not acknowledged, and what comes."""
    assert sub.durable is not None
    inactive = InactiveDurableSubscription(broker, sub.durable, sub.dest, sub)
    inactive.waiting.extend([*sub.dispatched, *sub.waiting])
    for message in sub.dispatched:
        message.row = broker.record_message(
            Kind.Returned,
            message,
            sub=inactive.no,
            rule=Reason.durable,
            cause=message.row,
        )
    for message in sub.waiting:
        inactive.keep(message, Reason.durable)
    place(broker, sub, inactive)


def ended(broker: Broker, sub: Subscription, rule: int) -> None:
    """Write down that what waits for a subscription does so no more, or for the one in its place."""
    if sub.waiting:
        dest = broker.lab.name_destination(sub.dest)
        broker.lab.add(
            broker.clock.now,
            Kind.Unsubscribed,
            broker=broker.node,
            sub=sub.no,
            dest=dest,
            rule=rule,
        )


def _lists(broker: Broker) -> Iterator[list[Subscription]]:
    """Yield all lists of a broker in which a durable subscription may stand."""
    yield from (broker.subs, broker.pattern_subs, *(d.subs for d in broker.by_name.values()))


def place(broker: Broker, old: Subscription, new: Subscription) -> None:
    """Put *new* where *old* stood, in the broker and in its topics."""
    assert new.durable is not None
    broker.durables[new.durable] = new
    for subs in _lists(broker):
        if old in subs:
            subs[subs.index(old)] = new


def remove(broker: Broker, sub: Subscription) -> None:
    """Take a durable subscription out of the broker and its topics."""
    broker.durables.pop(sub.durable or ("", ""), None)
    for subs in _lists(broker):
        if sub in subs:
            subs.remove(sub)


def restorable(broker: Broker, now: bool) -> Iterator[InactiveDurableSubscription]:
    """Yield the inactive subscriptions that came out of the store at the start, or all of *now*."""
    for sub in list(broker.durables.values()):
        if isinstance(sub, InactiveDurableSubscription) and (now or sub.last is None):
            yield sub
