"""Master and slaves on one shared store: who holds the lock serves, the others wait for it.

The lock goes to the slave that has waited longest, one lock interval after it is free (Fuse 4,
"Shared file system master/slave").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.activemq.store import Store
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.runtime.activemq.broker import Broker

LOCK_INTERVAL = 500_000  # us between two tries of a slave to get the lock


class SharedStore(Store):
    """A lasting store with a lock."""

    def __init__(self) -> None:
        super().__init__(lasting=True)
        self.master: Broker | None = None
        self.slaves: list[Broker] = []

    def acquire(self, broker: Broker) -> bool:
        """Give *broker* the lock; without it, it waits as a slave."""
        if self.master is not None:
            self.slaves.append(broker)
            return False
        self.master = broker
        return True

    def release(self, broker: Broker) -> None:
        """Free the lock, or give up waiting for it."""
        if broker in self.slaves:
            self.slaves.remove(broker)
        if broker is not self.master:
            return
        self.master = None
        if self.slaves:
            clock = broker.clock
            clock.at(clock.now + LOCK_INTERVAL, self.on_lock_tried, self.slaves[0])

    def on_lock_tried(self, slave: Broker) -> None:
        """A slave tries the lock again, and becomes the master if it is free."""
        if self.master is None and slave in self.slaves:
            self.slaves.remove(slave)
            self.master = slave
            slave.record(Kind.Locked)
            slave.serve()
            slave.lab.bring_up(slave)
