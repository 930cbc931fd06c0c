"""Options as types for editors and type checkers, made by `python -m mqlab.spec.options`."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from mqlab.spec.values import Destination

class NetworkConnectorOptions(TypedDict, total=False):
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
    user_name: str | None
    password: str | None
    configured_name: str | None
    auto_start: bool | None

class TransportConnectorOptions(TypedDict, total=False):
    discovery_uri: str | None
    update_cluster_clients: bool | None
    rebalance_cluster_clients: bool | None
    update_cluster_clients_on_remove: bool | None
    update_cluster_filter: str | None

class BrokerOptions(TypedDict, total=False):
    advisory_support: bool | None
    store: Literal["memory", "kahadb", "jdbc"] | None
    shared_store: str | None
    delete_all_messages_on_startup: bool | None
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
    users: Sequence[str] | None
    authorization: Sequence[str] | None
    destinations: Sequence[str | Destination] | None

class OpenmqBrokerOptions(TypedDict, total=False):
    brokerid: str | None
    service_activelist: str | None
    cluster_clusterid: str | None
    cluster_masterbroker: str | None
    cluster_brokerlist: str | None
    cluster_dynamic_change_master_broker_enabled: bool | None
    cluster_heartbeat_interval: int | None
    cluster_heartbeat_threshold: int | None
    cluster_monitor_interval: int | None
    cluster_monitor_threshold: int | None
    cluster_ha_takeover_wait_timeout: int | None
    cluster_reaptime: int | None
    message_expiration_interval: int | None
    autocreate_queue: bool | None
    autocreate_topic: bool | None
    autocreate_reaptime: int | None
    autocreate_destination_max_num_msgs: int | None
    autocreate_destination_max_total_msg_bytes: int | None
    autocreate_destination_max_bytes_per_msg: int | None
    autocreate_destination_max_num_producers: int | None
    autocreate_destination_limit_behavior: (
        Literal["REJECT_NEWEST", "REMOVE_OLDEST", "REMOVE_LOW_PRIORITY", "FLOW_CONTROL"] | None
    )
    autocreate_queue_max_num_active_consumers: int | None
    autocreate_queue_max_num_backup_consumers: int | None
    autocreate_queue_consumer_flow_limit: int | None
    autocreate_queue_local_delivery_preferred: bool | None
    autocreate_topic_consumer_flow_limit: int | None
    autocreate_destination_is_local_only: bool | None
    autocreate_destination_use_dmq: bool | None

class ArtemisBrokerOptions(TypedDict, total=False):
    check_for_live_server: bool | None
    group_name: str | None
    cluster_name: str | None
    initial_replication_sync_timeout: int | None
    vote_on_replication_failure: bool | None
    quorum_size: int | None
    vote_retries: int | None
    vote_retry_wait: int | None
    max_saved_replicated_journals_size: int | None
    manager: bool | None
    restart_backup: bool | None
    allow_failback: bool | None
    failback_delay: int | None
    scale_down: Mapping[str, object] | None
    failover_on_shutdown: bool | None
    wait_for_activation: bool | None
    request_backup: bool | None
    max_backups: int | None
    backup_request_retries: int | None
    backup_request_retry_interval: int | None
    backup_port_offset: int | None
    excludes: Sequence[str] | None
    master: Mapping[str, object] | None
    slave: Mapping[str, object] | None
    shared_store: str | None
    address_settings: Mapping[str, object] | None
    diverts: Mapping[str, object] | None
    bridges: Mapping[str, object] | None
    cluster_password: str | None
    in_vm_connector: str | None
    in_vm_id: int | None
    clustered: bool | None
    message_load_balancing: Literal["ON_DEMAND", "STRICT", "OFF", "OFF_WITH_REDISTRIBUTION"] | None
    max_hops: int | None
    call_timeout: int | None
    check_period: int | None
    connection_ttl: int | None
    retry_interval: int | None
    retry_interval_multiplier: float | None
    max_retry_interval: int | None
    initial_connect_attempts: int | None
    reconnect_attempts: int | None
    use_duplicate_detection: bool | None
    min_large_message_size: int | None
    confirmation_window_size: int | None
    producer_window_size: int | None
    call_failover_timeout: int | None
    notification_interval: int | None
    notification_attempts: int | None
    to: Sequence[str] | None
    allow_direct_connections_only: bool | None
    discovery: bool | None
    network_check_period: int | None
    network_check_timeout: int | None
    network_check_list: str | None
    network_check_url_list: str | None
    network_check_nic: str | None
    message_expiry_scan_period: int | None
    persistence_enabled: bool | None

class ArtemisNetworkOptions(TypedDict, total=False):
    clustered: bool | None
    message_load_balancing: Literal["ON_DEMAND", "STRICT", "OFF", "OFF_WITH_REDISTRIBUTION"] | None
    max_hops: int | None
    call_timeout: int | None
    check_period: int | None
    connection_ttl: int | None
    retry_interval: int | None
    retry_interval_multiplier: float | None
    max_retry_interval: int | None
    initial_connect_attempts: int | None
    reconnect_attempts: int | None
    use_duplicate_detection: bool | None
    min_large_message_size: int | None
    confirmation_window_size: int | None
    producer_window_size: int | None
    call_failover_timeout: int | None
    notification_interval: int | None
    notification_attempts: int | None
    to: Sequence[str] | None
    allow_direct_connections_only: bool | None
    discovery: bool | None
    redistribution_delay: int | None
    max_delivery_attempts: int | None
    dead_letter_address: str | None
    redelivery_delay: int | None
    redelivery_delay_multiplier: float | None
    max_redelivery_delay: int | None
    expiry_address: str | None
    expiry_delay: int | None
    min_expiry_delay: int | None
    max_expiry_delay: int | None
    no_expiry: bool | None
    auto_create_queues: bool | None
    auto_delete_queues: bool | None
    address_full_policy: Literal["PAGE", "BLOCK", "FAIL", "DROP"] | None
    max_size_bytes: int | None
    max_size_messages: int | None
    page_size_bytes: int | None
    last_value_queue: bool | None

class NetworkChanges(BrokerOptions, NetworkConnectorOptions, total=False):
    name: str
    uri: str
    at: tuple[float, float] | None
    policies: Sequence[Mapping[str, object]]
    composites: Sequence[Mapping[str, object]]
