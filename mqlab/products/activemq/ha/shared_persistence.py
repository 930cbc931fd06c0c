"""The messages of a master/slave set: one store, whoever is the master.

A second master on one store reads what is there, and from then on each goes its own way: what both
hold is delivered by both (a lock that does not hold, Fuse 4, "File locking requirements").
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.ha.persistence_adapter import PersistenceAdapter
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.spec.values import Destination


@dataclass(eq=False)
class SharedPersistenceAdapter(PersistenceAdapter):
    """A lasting store that several brokers may have open, though only one should."""

    persistent: bool = True
    users: list[Broker] = field(default_factory=list)

    def keep(self, broker: Broker, unindexed: Set[Destination] = frozenset()) -> Iterator[Message]:
        """Take over what the broker holds, unless another master goes on with it."""
        if broker in self.users:
            self.users.remove(broker)
        known = {
            message.number
            for other in self.users
            for destination in other.by_name.values()
            for message in destination.messages
        }
        yield from super().keep(broker, unindexed)
        for kept in self.destinations.values() if self.users else ():
            for message in [message for message in kept if message.number in known]:
                kept.remove(message)  # the other one goes on with it
                broker.record_message(Kind.Discarded, message, rule=Reason.duplicate, cause=message.row)

    def restore(self, broker: Broker) -> None:
        """Give the broker what was kept, and a copy of what a second master holds."""
        for other in self.users:
            unindexed = other.unindexed_queues(crashed=True)  # the files are as a crash would leave them
            for dest, destination in other.by_name.items():
                if dest.is_queue and dest not in unindexed:
                    copies = [message.copy() for message in destination.messages if message.persistent]
                    self.destinations.setdefault(dest, []).extend(copies)
        self.users.append(broker)
        super().restore(broker)
