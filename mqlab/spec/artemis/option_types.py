"""Options as types: a class for each element, for editors and type checkers. Made from the rows.

A test holds both together; `python -m tests.spec.option_types` writes this file anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from mqlab.spec.values import Destination


class BrokerOptions(TypedDict, total=False):
    """Options of a broker."""

    check_for_live_server: bool | None
    group_name: str | None
    cluster_name: str | None
    initial_replication_sync_timeout: int | None
    vote_on_replication_failure: bool | None
    quorum_size: int | None
    vote_retries: int | None
    vote_retry_wait: int | None
    max_saved_replicated_journals_size: int | None
    restart_backup: bool | None
    allow_failback: bool | None
    scale_down: Mapping[str, Any] | None
    failover_on_shutdown: bool | None
    wait_for_activation: bool | None
    request_backup: bool | None
    max_backups: int | None
    backup_request_retries: int | None
    backup_request_retry_interval: int | None
    backup_port_offset: int | None
    excludes: Sequence[str | Destination] | None
    master: Mapping[str, Any] | None
    slave: Mapping[str, Any] | None
    shared_store: str | None
    cluster_password: str | None
    in_vm_connector: str | None
    in_vm_id: int | None
    message_load_balancing: Literal["ON_DEMAND", "STRICT", "OFF"] | None
    max_hops: int | None
    call_timeout: int | None
    check_period: int | None
    connection_ttl: int | None
    retry_interval: int | None
    to: Sequence[str | Destination] | None
    allow_direct_connections_only: bool | None
    discovery: bool | None
    network_check_period: int | None
    network_check_timeout: int | None
    network_check_list: str | None
    network_check_url_list: str | None
    network_check_nic: str | None


class NetworkOptions(TypedDict, total=False):
    """Options of all cluster connections and addresses."""

    message_load_balancing: Literal["ON_DEMAND", "STRICT", "OFF"] | None
    max_hops: int | None
    call_timeout: int | None
    check_period: int | None
    connection_ttl: int | None
    retry_interval: int | None
    to: Sequence[str | Destination] | None
    allow_direct_connections_only: bool | None
    discovery: bool | None
    redistribution_delay: int | None
    auto_delete_queues: bool | None
