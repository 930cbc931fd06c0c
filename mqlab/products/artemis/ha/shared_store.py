"""A shared store: two locks and a state byte decide who is live.

Artemis rules 5 and 15 (the guide's own section 21.2 was not available).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mqlab.products.artemis.broker.broker import Broker, Subsystem
from mqlab.products.artemis.broker.messages import Journal
from mqlab.trace.kinds import Kind, Reason

MS = 1000
LOCK_POLL = 500 * MS
FAIL_BACK = 1000 * MS  # how often an acting slave looks whether its master is waiting
RESTART = 2000 * MS
LOADING = 100 * MS  # a journal is read before its broker serves: the least of six were 55 to 140 ms


@dataclass(slots=True)
class SharedDirectory:
    """One directory. Its last user `crashed`, or ended in order."""

    journal: Journal | None = None
    crashed: bool = False
    live: Broker | None = None  # who holds the live lock
    masters: list[Broker] = field(default_factory=list)  # waiting for the live lock
    slaves: list[Broker] = field(default_factory=list)  # the first holds the backup lock


class SharedStore(Subsystem):
    """Locks, who waits for them, fail-back."""

    def of(self, broker: Broker) -> SharedDirectory:
        """Return the store that a broker uses; a hosted slave uses that of its requester."""
        owner = self.lab.brokers[broker.node_id] if broker.hosting_broker is not None else broker
        key = owner.spec.keys.get("shared_store", owner.name)
        return self.lab.stores.setdefault(key, SharedDirectory())

    def start(self, broker: Broker) -> None:
        """A master asks for the live lock; a slave for the backup lock, or queues for it."""
        store = self.of(broker)
        if broker.spec.role != "slave":
            store.masters.append(broker)
            self._next_live(store)
            return
        store.slaves.append(broker)
        broker.topology = {}
        broker.node_id = store.journal.node_id if store.journal is not None else broker.node_id or "?"
        self.lab.role(broker, "backup_queued")
        self._next_backup(store)

    def ended(self, broker: Broker, orderly: bool, failover: bool) -> None:
        """A broker is gone: its locks are free, and the store says how it ended."""
        store = self.of(broker)
        for waiting in (store.masters, store.slaves):
            if broker in waiting:
                waiting.remove(broker)
        if store.live is broker:
            store.live = None
            store.crashed = not orderly or failover or broker.element("failover_on_shutdown")
        self._next_live(store)
        self.lab.later(LOCK_POLL, self._next_backup, store)

    def _next_live(self, store: SharedDirectory) -> None:
        """A waiting master takes a free lock; else it tells whoever holds that of itself."""
        if store.live is None and store.masters:
            self._lock(store.masters.pop(0), store)
        elif store.live is not None:
            self.lab.soon(store.live, FAIL_BACK, self._hand_back)

    def _next_backup(self, store: SharedDirectory) -> None:
        """The first slave in the queue takes the backup lock, and asks for the live lock.

        A lock of a file knows no queue: with jitter any of those that wait is the first to ask.
        """
        if self.lab.jitter and all(slave.role == "backup_queued" for slave in store.slaves):
            self.lab.random.shuffle(store.slaves)
        for broker in store.slaves[:1]:
            if broker.role == "backup_queued":
                role = "backup_holding_lock" if broker.hosting_broker is None else "backup"
                self.lab.role(broker, role)
                self._announce(broker)
                self.lab.soon(broker, LOCK_POLL, self._poll)

    def announce(self, live: Broker) -> None:
        """Slaves that were there before anybody was live tell the new one of themselves."""
        own = self.of(live) if live.spec.policy == "shared_store" else None
        for store in list(self.lab.stores.values()):
            for slave in store.slaves:
                slave.node_id = live.node_id if store is own else slave.node_id
                self.lab.soon(slave, FAIL_BACK, self._announce)

    def _announce(self, slave: Broker) -> None:
        # Its `BackupManager` tells any live broker that its cluster connection reaches.
        live = self.of(slave).live
        if live is not None and live.role == "starting":  # it is about to serve
            self.lab.soon(slave, LOADING, self._announce)
            return
        asked = self.lab.all_brokers() if slave.hosting_broker is None else [live] if live is not None else []
        told = any(slave.reaches(broker) for broker in asked if broker.role == "live")
        if told and slave.role in ("backup_holding_lock", "backup"):
            slave.announced = self.lab.clock.now
            self.lab.role(slave, "backup_announced")

    def _poll(self, broker: Broker) -> None:
        """The backup asks for the live lock: it serves only if its last holder died."""
        store = self.of(broker)
        if broker.runs and store.live is None and store.crashed:
            store.slaves.remove(broker)
            self._lock(broker, store)
            self._next_backup(store)
        else:
            self.lab.soon(broker, LOCK_POLL, self._poll)

    def _lock(self, broker: Broker, store: SharedDirectory) -> None:
        store.live = broker
        store.journal = store.journal or Journal(broker.name)
        self.lab.role(broker, "starting")
        self.lab.event(Kind.Locked, broker, rule=Reason.lock_free)
        self.loads(broker, store.journal, LOADING, Reason.lock_free)

    def _hand_back(self, acting: Broker) -> None:
        """A waiting master is announced as the backup of who is live, so clients follow it.

        Fail-back: an acting slave ends, its master takes the lock, and it is slave again. Source:
        `SharedStoreLiveActivation.run` and `SharedStoreBackupActivation` of 2.4.0.
        """
        store = self.of(acting)
        if store.live is not acting or not store.masters:
            return
        master = store.masters[0]
        if not acting.reaches(master):
            self.lab.soon(acting, FAIL_BACK, self._hand_back)
            return
        master.announced, master.node_id = self.lab.clock.now, acting.node_id
        self.lab.topology.gossip()
        if acting.spec.role != "slave" or not acting.element("allow_failback"):
            return
        self.lab.end_live(acting, orderly=True)
        self.lab.role(acting, "stopped")
        acting.stopped_itself = True
        self._lock(store.masters.pop(0), store)
        if acting.element("restart_backup"):
            acting.incarnation += 1
            self.lab.soon(acting, self.lab.random_duration(RESTART), self.start)
