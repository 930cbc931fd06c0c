"""Options as types: a class for each element, for editors and type checkers. Made from the rows.

A test holds both together; `python -m tests.spec.option_types` writes this file anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from mqlab.spec.values import Destination


class NetworkConnectorOptions(TypedDict, total=False):
    """Options of a network connector."""

    network_ttl: int | None
    message_ttl: int | None
    consumer_ttl: int | None
    duplex: bool | None
    conduit_subscriptions: bool | None
    conduit_network_queue_subscriptions: bool | None
    decrease_network_consumer_priority: bool | None
    consumer_priority_base: int | None
    suppress_duplicate_queue_subscriptions: bool | None
    suppress_duplicate_topic_subscriptions: bool | None
    statically_included_destinations: Sequence[str | Destination] | None
    dynamically_included_destinations: Sequence[str | Destination] | None
    excluded_destinations: Sequence[str | Destination] | None
    static_bridge: bool | None
    dynamic_only: bool | None
    sync_durable_subs: bool | None
    prefetch_size: int | None
    bridge_temp_destinations: bool | None
    destination_filter: str | None
    use_virtual_dest_subs: bool | None
    advisory_prefetch_size: int | None
    always_sync_send: bool | None
    configured_name: str | None
    auto_start: bool | None


class TransportConnectorOptions(TypedDict, total=False):
    """Options of a transport connector."""

    discovery_uri: str | None
    update_cluster_clients: bool | None
    rebalance_cluster_clients: bool | None
    update_cluster_clients_on_remove: bool | None
    update_cluster_filter: str | None


class BrokerOptions(TypedDict, total=False):
    """Options of a broker."""

    advisory_support: bool | None
    store: Literal["memory", "kahadb", "jdbc"] | None
    shared_store: str | None
    broker_name: str | None
    process: bool | None
    link: bool | None
    host: str | None
    restart_allowed: bool | None
    lock_acquire_sleep_interval_ms: int | None
    lock_keep_alive_period_ms: int | None
    locker: Literal["file", "database", "lease"] | None
    use_lock: bool | None
    fail_if_locked: bool | None
    stop_on_error: bool | None
    lease_holder_id: str | None
    max_allowable_diff_from_db_time_ms: int | None
    database_lock_timeout_ms: int | None
    file_system: Literal["local", "san", "nfs4", "nfs3", "ocfs2"] | None
    io_exception_handler: Literal["default", "lease"] | None
    resume_check_sleep_period_ms: int | None
    clock_offset_seconds: float | None
    pure_slave_of: str | None
    wait_for_slave: bool | None
    wait_for_slave_timeout_ms: int | None
    shutdown_on_slave_failure: bool | None
    shutdown_on_master_failure: bool | None
    use_virtual_dest_subs: bool | None
    audit_network_producers: bool | None
    virtual_topics: Sequence[str | Destination] | None
