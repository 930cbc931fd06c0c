"""What the options of a broker come to: its lock, what it tells clients, its part in a pure pair.

The options themselves are rows of `Broker` and `TransportConnector`; these values are ready to be asked.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.spec.network import Broker


@dataclass(frozen=True, slots=True, kw_only=True)
class LockerSettings:
    """How a member of a set gets to be the master; times in ms (ActiveMQ, pluggable storage lockers).

    `store` names what is shared: a directory, or the database. `acquire_sleep` is a slave's
    polling period (and the length of a lease), `keep_alive` how often the master looks whether the
    lock is still its own (None is the locker's default).
    """

    kind: str
    store: str
    acquire_sleep: int = 10_000
    keep_alive: int | None = None
    use_lock: bool = True
    fail_if_locked: bool = False
    stop_on_error: bool = False
    holder: str | None = None
    max_diff: int = 0
    query_timeout: int = 500
    file_system: str = "local"

    @classmethod
    def of(cls, broker: Broker, edition: str) -> LockerSettings | None:
        """Return the lock of a broker; None if its store is its own."""
        shared = broker.get("shared_store", edition)
        if shared is None and broker.get("store", edition) != "jdbc":
            return None
        return cls(
            kind=broker.get("locker", edition) or ("database" if shared is None else "file"),
            store="database" if shared is None else shared,
            acquire_sleep=broker.get("lock_acquire_sleep_interval_ms", edition),
            keep_alive=broker.get("lock_keep_alive_period_ms", edition),
            use_lock=broker.get("use_lock", edition),
            fail_if_locked=broker.get("fail_if_locked", edition),
            stop_on_error=broker.get("stop_on_error", edition),
            holder=broker.get("lease_holder_id", edition),
            max_diff=broker.get("max_allowable_diff_from_db_time_ms", edition),
            query_timeout=broker.get("database_lock_timeout_ms", edition),
            file_system=broker.get("file_system", edition),
        )

    @property
    def check_period(self) -> int:
        """The keep-alive period in ms that holds; 0 is never."""
        if self.keep_alive is not None:
            return max(0, self.keep_alive)
        return 0 if self.kind == "file" else 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUpdates:
    """What a transport connector tells its failover clients of other brokers (Fuse 1, Table 1.1)."""

    clients: bool = False
    rebalance: bool = False
    on_remove: bool = False
    filter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PureSettings:
    """Pure master/slave of 5.5 (Fuse 4, "Pure master/slave"); times in ms."""

    slave_of: str | None = None
    wait_for_slave: bool = False
    wait_for_slave_timeout: int = 600_000
    shutdown_on_slave_failure: bool = False
    shutdown_on_master_failure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """A broker as a process among others.

    With `process` it is a program of its own; with `link` a line lies in front of its port, which can
    be cut. `clock_offset` is in seconds, `io_resume` (ms) is how often the lease's I/O error handler
    looks whether the database is back (None: no handler).
    """

    name: str
    broker_name: str
    process: bool
    link: bool
    store: str
    locker: LockerSettings | None
    restart_allowed: bool
    io_resume: int | None
    clock_offset: float
    updates: ClusterUpdates
    discovery: str | None
    pure: PureSettings
    host: str | None

    @classmethod
    def of(cls, broker: Broker, edition: str) -> BrokerSettings:
        """Return what the options of a broker come to in an edition."""
        transport = broker.transport
        handles = broker.get("io_exception_handler", edition) == "lease"
        return cls(
            name=broker.name,
            broker_name=broker.get("broker_name", edition) or broker.name,
            process=broker.get("process", edition),
            link=broker.get("link", edition),
            store=broker.get("store", edition),
            locker=LockerSettings.of(broker, edition),
            restart_allowed=broker.get("restart_allowed", edition),
            io_resume=broker.get("resume_check_sleep_period_ms", edition) if handles else None,
            clock_offset=broker.get("clock_offset_seconds", edition),
            updates=ClusterUpdates(
                clients=transport.get("update_cluster_clients", edition),
                rebalance=transport.get("rebalance_cluster_clients", edition),
                on_remove=transport.get("update_cluster_clients_on_remove", edition),
                filter=transport.get("update_cluster_filter", edition),
            ),
            discovery=transport.get("discovery_uri", edition),
            pure=PureSettings(
                slave_of=broker.get("pure_slave_of", edition),
                wait_for_slave=broker.get("wait_for_slave", edition),
                wait_for_slave_timeout=broker.get("wait_for_slave_timeout_ms", edition),
                shutdown_on_slave_failure=broker.get("shutdown_on_slave_failure", edition),
                shutdown_on_master_failure=broker.get("shutdown_on_master_failure", edition),
            ),
            host=broker.get("host", edition),
        )
