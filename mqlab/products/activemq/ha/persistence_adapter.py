"""What outlives a broker: persistent messages in a lasting store, nothing in a memory store."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import durable
from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker


@dataclass(eq=False)
class PersistenceAdapter:
    """What a stopped broker leaves: its destinations, the queues' messages in order, durables."""

    persistent: bool
    last: int = -1  # the node of the broker that used it last
    # A topic's list stays empty.
    destinations: dict[Destination, list[Message]] = field(default_factory=dict)
    holders: dict[Message, int] = field(default_factory=dict)  # the node of who held each of them
    durables: list[durable.InactiveDurableSubscription] = field(default_factory=list)
    seen: set[tuple[object, ...]] = field(default_factory=set)  # see `Broker.has_had`
    # Of what has come over bridges: `audit_network_producers`.
    audit: MessageAudit = field(default_factory=MessageAudit)

    def acquire(self, broker: Broker) -> bool:
        """Give *broker* its store: nobody else wants it."""
        return True

    def release(self, broker: Broker) -> None:
        """Let go of the store: nobody waits for it."""

    def delete(self, by: Broker) -> None:
        """Delete all that its last user had kept, on behalf of a broker that is about to start."""
        brokers = {broker.node: broker for broker in by.lab.brokers.values()}
        for sub in self.durables:
            durable.ended(brokers[self.last], sub, Reason.store_deleted)
        holders = self.holders
        for message in self.empty():
            broker = brokers[holders[message]]
            broker.record_message(Kind.Discarded, message, rule=Reason.store_deleted, cause=message.row)

    def empty(self) -> list[Message]:
        """Somebody has deleted the files; returns the messages that are lost."""
        lost = [message for kept in self.destinations.values() for message in kept]
        self.destinations, self.durables, self.holders = {}, [], {}
        self.forget()
        return lost

    def forget(self) -> None:
        """Know no more which messages have come over a bridge."""
        self.seen.clear()
        self.audit.clear()

    def keep(self, broker: Broker, unindexed: Set[Destination] = frozenset()) -> Iterator[Message]:
        """Take over what the broker holds, but for the empty queues *unindexed*; yields the lost messages."""
        if not self.persistent:
            self.forget()
            for sub in broker.durables.values():
                if sub.inactive:
                    durable.ended(broker, sub, Reason.memory_store)
        if self.persistent:
            for sub in list(broker.durables.values()):
                if not sub.inactive:
                    durable.deactivate(broker, sub)
            self.durables = [
                s for s in broker.durables.values() if isinstance(s, durable.InactiveDurableSubscription)
            ]
            yield from dict.fromkeys(m for s in self.durables for m in s.waiting if not m.persistent)
            for sub in self.durables:
                sub.waiting = deque(m for m in sub.waiting if m.persistent)
        for dest, destination in broker.by_name.items():
            kept: list[Message] = []
            known = dest.is_queue or broker.lab.rules.remembers_topics
            keeps = self.persistent and not (dest.is_temporary or dest.is_advisory)
            if keeps and known and dest not in unindexed:
                kept = self.destinations.setdefault(dest, kept)
            if not dest.is_queue:
                continue
            for message in sorted(destination.messages, key=lambda message: message.turn):
                if keeps and message.persistent:
                    kept.append(message)
                    self.holders[message] = broker.node
                else:
                    yield message

    def restore(self, broker: Broker) -> None:
        """Give the broker back what was kept. Counters begin at zero again."""
        for dest, messages in self.destinations.items():
            for message in messages:
                _forget_deliveries(message)
                # Nobody had it, of what a second master goes on holding.
                frm = self.holders.get(message, -1)
                message.row = broker.record_message(
                    Kind.TakenOver, message, frm, broker.node, cause=message.row
                )
            broker.destination(dest).restore(messages)
            broker.unindexed.pop(dest, None)
        for sub in self.durables:
            sub.last, sub.seen = None, MessageAudit()
            for message in sub.waiting:
                _forget_deliveries(message)
                way = self.last, broker.node, -1, sub.no
                message.row = broker.record_message(Kind.TakenOver, message, *way, Reason.durable, message.row)
            broker.durables[sub.durable or ("", "")] = sub
            broker.join(sub)
        self.destinations, self.durables, self.holders = {}, [], {}
        self.last = broker.node


def _forget_deliveries(message: Message) -> None:
    """None of this is in a store, neither of queues nor of durable subscriptions (`durable_over_takeover`)."""
    message.received, message.repeated, message.redeliveries = False, False, 0
