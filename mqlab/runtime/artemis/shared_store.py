"""A shared store: two locks and a state byte decide who is live.

Reference/artemis-ha.md, section 5 (the guide's own section 21.2 is missing from the seed);
artemis-observed.md, section 5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.messages import Journal
from mqlab.runtime.artemis.scaledown import scale_down_backup
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab

MS = 1000
LOCK_POLL = 500 * MS
FAIL_BACK = 1000 * MS  # how often an acting slave looks whether its master is waiting
RESTART = 2000 * MS
LOADING = 300 * MS


@dataclass(slots=True)
class Store:
    """One directory: `state` is N (never live), L (live), P (ended in order), F (fail-back asked)."""

    disk: Journal | None = None
    pair: str = ""
    state: str = "N"
    live: Broker | None = None  # who holds the live lock
    backup: Broker | None = None  # who holds the backup lock
    masters: list[Broker] = field(default_factory=list)  # waiting for the live lock
    slaves: list[Broker] = field(default_factory=list)  # waiting for the backup lock


class SharedStore:
    """Locks, who waits for them, fail-back."""

    def __init__(self, lab: HaLab) -> None:
        self.lab = lab
        self.stores: dict[str, Store] = {}

    def of(self, broker: Broker) -> Store:
        """Return the store that a broker uses; a hosted slave uses that of its requester."""
        key = broker.pair if broker.host else broker.server.keys.get("shared_store", broker.name)
        return self.stores.setdefault(key, Store())

    def start_master(self, broker: Broker) -> None:
        """A master takes the live lock, or waits for it; an acting slave may hand it back."""
        store = self.of(broker)
        if store.live is None:
            self._lock(broker, store)
            return
        self.lab.role(broker, "starting")
        store.masters.append(broker)
        acting = store.live
        if acting.server.role == "slave" and acting.element("allow_failback"):
            store.state = "F"
            self.lab.soon(acting, FAIL_BACK, self._hand_back)

    def start_slave(self, broker: Broker) -> None:
        """A slave takes the backup lock, or queues for it, and then waits for the live lock."""
        store = self.of(broker)
        if store.backup is None:
            self._next_backup(broker, store)
        else:
            store.slaves.append(broker)
            broker.pair = store.pair
            self.lab.role(broker, "backup_queued")

    def _next_backup(self, broker: Broker, store: Store) -> None:
        store.backup = broker
        broker.pair = broker.pair if broker.host else store.pair or "?"
        live = store.live
        if broker.host is not None:
            self.lab.role(broker, "backup")
        else:
            self.lab.role(broker, "backup_holding_lock")
            if live is not None and self.lab.topology.reach(broker, live):
                self.lab.role(broker, "backup_announced")
        self.lab.soon(broker, LOCK_POLL, self._poll)

    def announce(self, live: Broker) -> None:
        """A slave that held the backup lock before anybody was live tells the new one of itself."""
        store = self.of(live)
        if live.server.policy == "shared_store" and store.backup is not None:
            store.backup.pair = store.pair
            self.lab.soon(store.backup, FAIL_BACK, self._announce)

    def _announce(self, broker: Broker) -> None:
        if broker.role == "backup_holding_lock":
            self.lab.role(broker, "backup_announced")

    def _poll(self, broker: Broker) -> None:
        """The backup asks for the live lock: it serves only if its last holder died."""
        store = self.of(broker)
        if store.backup is not broker or not broker.runs:
            return
        if store.live is None and store.state == "L" and not store.masters:
            self._lock(broker, store)
        else:
            self.lab.soon(broker, LOCK_POLL, self._poll)

    def _lock(self, broker: Broker, store: Store) -> None:
        store.live, store.state = broker, "L"
        store.pair = store.pair or broker.pair or broker.name
        if store.backup is broker:
            store.backup = None
            if store.slaves:
                self._next_backup(store.slaves.pop(0), store)
        self.lab.role(broker, "starting")
        self.lab.event(Kind.Locked, broker, rule=Rule.lock_free)
        self.lab.soon(broker, LOADING, self._serve)

    def _serve(self, broker: Broker) -> None:
        store = self.of(broker)
        if store.live is broker:
            broker.pair = store.pair
            if broker.server.scale_down is None or broker.server.role != "slave":
                self.lab.go_live(broker, store.disk, Rule.lock_free)
            elif broker.host is not None:
                scale_down_backup(self.lab, broker, store.disk)

    def _hand_back(self, broker: Broker) -> None:
        """Fail-back: the acting slave ends, its master takes the lock, and it is slave again."""
        store = self.of(broker)
        if store.live is not broker or not store.masters:
            return
        self.lab.end_live(broker, orderly=True)
        self.lab.role(broker, "stopped")
        store.state = "L"
        self._lock(store.masters.pop(0), store)
        if broker.element("restart_backup"):
            broker.lives += 1
            self.lab.soon(broker, RESTART, self._restart)

    def _restart(self, broker: Broker) -> None:
        if broker.role == "stopped":
            self.start_slave(broker)

    def ended(self, broker: Broker, orderly: bool, failover: bool = False) -> None:
        """A broker is gone: its locks are free, and the state says how it ended."""
        store = self.of(broker)
        for waiting in (store.masters, store.slaves):
            if broker in waiting:
                waiting.remove(broker)
        if store.backup is broker:
            store.backup = None
            if store.slaves:
                self._next_backup(store.slaves.pop(0), store)
        if store.live is broker:
            store.live = None
            hands_over = failover or broker.element("failover_on_shutdown")
            store.state = "P" if orderly and not hands_over else "L"
            if store.masters:
                self._lock(store.masters.pop(0), store)
