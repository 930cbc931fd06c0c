"""Options as types: a class for each element, for editors and type checkers. Made from the rows.

A test holds both together; `python -m tests.spec.option_types` writes this file anew.
"""

from __future__ import annotations

from typing import Literal, TypedDict


class BrokerOptions(TypedDict, total=False):
    """Options of a broker."""

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
