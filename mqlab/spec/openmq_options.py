"""Options of Open Message Queue as rows: of brokers, of destinations, of a client's connection.

Nouns, reader, checks and error texts all read these rows. Sources: Administration Guide, chapters 10, 17 and
18; the defaults that 6.5.0 was seen to have (reference/openmq-observed.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqlab.errors import UnknownName
from mqlab.spec.option import Option

Options = Mapping[str, Any]  # name -> value, in the type of its row

LIMIT_BEHAVIORS = ("REJECT_NEWEST", "REMOVE_OLDEST", "REMOVE_LOW_PRIORITY", "FLOW_CONTROL")
_CLUSTER = "Administration Guide 10, Cluster configuration properties"
_AUTO = "Administration Guide 17, Auto-creation"
_DESTINATION = "Administration Guide 18, Physical destination properties"
_CLIENT = "Administration Guide 19, Connection handling"
_RECORDED = "conformance/openmq/README.md"

BROKER = (
    Option(guide="imq.brokerid", name="brokerid", type=str, default=None, source=_CLUSTER,
           sentence="The name of a broker of an enhanced cluster in the common store; each its own."),
    Option(guide="imq.service.activelist", name="service_activelist", type=str, default="jms,admin",
           sentence="The services that start with the broker; linked brokers have the same.",
           source=_CLUSTER),
    Option(guide="imq.cluster.clusterid", name="cluster_clusterid", type=str, default="",
           sentence="The name of a cluster whose brokers share a database.", source=_CLUSTER),
    Option(guide="imq.cluster.masterbroker", name="cluster_masterbroker", type=str, default=None,
           sentence="The broker that keeps the change record, if one differs from the cluster's.",
           source=_CLUSTER),
    Option(guide="imq.cluster.brokerlist", name="cluster_brokerlist", type=str, default=None,
           sentence="The brokers it looks for; those of the cluster unless told.", source=_CLUSTER),
    Option(guide="imq.cluster.dynamicChangeMasterBrokerEnabled", type=bool, default=False,
           name="cluster_dynamic_change_master_broker_enabled", source=_CLUSTER,
           sentence="Another broker may be made the master while the cluster runs."),
    Option(guide="imq.cluster.heartbeat.interval", name="cluster_heartbeat_interval", type=int,
           default=5, low=1, unit="s", source="openmq-observed.md, section 9",
           sentence="How often a broker of an enhanced cluster says that it lives."),
    Option(guide="imq.cluster.heartbeat.threshold", name="cluster_heartbeat_threshold", type=int,
           default=3, low=1, source=_CLUSTER, sentence="How many may be missed until it is suspect."),
    Option(guide="imq.cluster.monitor.interval", name="cluster_monitor_interval", type=int,
           default=30, low=1, unit="s", source=_CLUSTER,
           sentence="How often suspects are looked at in the common store."),
    Option(guide="imq.cluster.monitor.threshold", name="cluster_monitor_threshold", type=int,
           default=3, low=1, source="openmq-observed.md, section 9",
           sentence="How many of these looks until a suspect is found dead."),
    Option(guide="imq.cluster.ha.takeoverWaitTimeout", name="cluster_ha_takeover_wait_timeout",
           type=int, default=300, low=0, unit="s", source=_CLUSTER,
           sentence="How long a broker that starts waits while it is being taken over."),
    Option(guide="imq.cluster.reaptime", name="cluster_reaptime", type=int, default=300, low=0,
           unit="s", source=_CLUSTER, sentence="How long finished transactions are remembered."),
    Option(guide="imq.message.expiration.interval", name="message_expiration_interval", type=int,
           default=60, low=1, unit="s", source="Administration Guide 17, Destination management",
           sentence="How often a broker looks for expired messages."),
    Option(guide="imq.autocreate.queue", name="autocreate_queue", type=bool, default=True,
           sentence="A queue that is used and not there is created.", source=_AUTO),
    Option(guide="imq.autocreate.topic", name="autocreate_topic", type=bool, default=True,
           sentence="A topic that is used and not there is created.", source=_AUTO),
    Option(guide="imq.autocreate.reaptime", name="autocreate_reaptime", type=int, default=120, low=0,
           unit="s", source=_AUTO, sentence="How long an auto-created destination stays unused."),
    Option(guide="imq.autocreate.destination.maxNumMsgs", type=int, default=100_000, low=-1,
           name="autocreate_destination_max_num_msgs", unit="messages", source=_AUTO,
           sentence="maxNumMsgs of auto-created destinations."),
    Option(guide="imq.autocreate.destination.maxTotalMsgBytes", type=int, default=10_485_760, low=-1,
           name="autocreate_destination_max_total_msg_bytes", unit="bytes", source=_AUTO,
           sentence="maxTotalMsgBytes of auto-created destinations."),
    Option(guide="imq.autocreate.destination.maxBytesPerMsg", type=int, default=10_240, low=-1,
           name="autocreate_destination_max_bytes_per_msg", unit="bytes", source=_AUTO,
           sentence="maxBytesPerMsg of auto-created destinations."),
    Option(guide="imq.autocreate.destination.maxNumProducers", type=int, default=100, low=-1,
           name="autocreate_destination_max_num_producers", source=_AUTO,
           sentence="maxNumProducers of auto-created destinations."),
    Option(guide="imq.autocreate.destination.limitBehavior", type=str, default="REJECT_NEWEST",
           name="autocreate_destination_limit_behavior", choices=LIMIT_BEHAVIORS, source=_AUTO,
           sentence="limitBehavior of auto-created destinations."),
    Option(guide="imq.autocreate.queue.maxNumActiveConsumers", type=int, default=-1, low=-1,
           name="autocreate_queue_max_num_active_consumers", source=_AUTO,
           sentence="maxNumActiveConsumers of auto-created queues."),
    Option(guide="imq.autocreate.queue.maxNumBackupConsumers", type=int, default=0, low=-1,
           name="autocreate_queue_max_num_backup_consumers", source=_AUTO,
           sentence="maxNumBackupConsumers of auto-created queues."),
    Option(guide="imq.autocreate.queue.consumerFlowLimit", type=int, default=1000, low=-1,
           name="autocreate_queue_consumer_flow_limit", unit="messages", source=_AUTO,
           sentence="consumerFlowLimit of auto-created queues."),
)  # fmt: skip

# By the names of the administration API, with what they are if nobody sets them.
DESTINATION = (
    Option(guide="MaxNumMsgs", name="max_num_msgs", type=int, default=-1, low=-1, unit="messages",
           sentence="How many messages each broker holds of it; -1 is no limit.",
           source=_DESTINATION),
    Option(guide="MaxTotalMsgBytes", name="max_total_msg_bytes", type=int, default=-1, low=-1,
           unit="bytes", sentence="How much memory they may take on each broker.",
           source=_DESTINATION),
    Option(guide="MaxBytesPerMsg", name="max_bytes_per_msg", type=int, default=-1, low=-1,
           unit="bytes", sentence="How large a message may be.", source=_DESTINATION),
    Option(guide="MaxNumProducers", name="max_num_producers", type=int, default=100, low=-1,
           sentence="How many producers each broker lets in.", source=_DESTINATION),
    Option(guide="LimitBehavior", name="limit_behavior", type=str, default="REJECT_NEWEST",
           choices=LIMIT_BEHAVIORS, sentence="What happens at a limit.", source=_DESTINATION),
    Option(guide="MaxNumActiveConsumers", name="max_num_active_consumers", type=int, default=-1,
           low=-1, sentence="How many consumers in the cluster get messages.", source=_DESTINATION),
    Option(guide="MaxNumBackupConsumers", name="max_num_backup_consumers", type=int, default=0,
           low=-1, sentence="How many more may wait until one of them leaves.", source=_DESTINATION),
    Option(guide="ConsumerFlowLimit", name="consumer_flow_limit", type=int, default=1000, low=-1,
           unit="messages", sentence="How many are dispatched to a consumer in advance.",
           source=_DESTINATION),
    Option(guide="LocalOnly", name="local_only", type=bool, default=False,
           sentence="Each broker serves only its own consumers from its own producers.",
           source=_DESTINATION),
    Option(guide="LocalDeliveryPreferred", name="local_delivery_preferred", type=bool, default=False,
           sentence="Remote consumers get nothing while there is a local one.", source=_DESTINATION),
    Option(guide="UseDMQ", name="use_dmq", type=bool, default=True,
           sentence="What expires or is removed goes to the dead message queue.",
           source=_DESTINATION),
)  # fmt: skip

# What a consumer or producer may have besides the words that all products share; by the steps' names.
CONNECTION = (
    Option(guide="client_id", name="client_id", type=str, default=None, source=_CLIENT,
           sentence="The name of its connection, unique in the cluster."),
    Option(guide="ack_mode", name="ack_mode", type=str, default="auto",
           choices=("auto", "client", "dups_ok", "transacted"), source=_CLIENT,
           sentence="How its session acknowledges."),
    Option(guide="xa", name="xa", type=bool, default=False, source=_RECORDED,
           sentence="Its session takes part in distributed transactions."),
    Option(guide="reconnect", name="reconnect", type=bool, default=False, source=_CLIENT,
           sentence="It looks for a broker when it has lost its own (imqReconnectEnabled)."),
    Option(guide="reconnect_attempts", name="reconnect_attempts", type=int, default=3, low=-1,
           sentence="How often at each address (imqReconnectAttempts).", source=_CLIENT),
    Option(guide="reconnect_interval_ms", name="reconnect_interval_ms", type=int, default=500,
           low=0, unit="ms", sentence="The pause between two attempts (imqReconnectInterval).",
           source=_CLIENT),
    Option(guide="iterations", name="iterations", type=int, default=-1, low=-1, source=_CLIENT,
           sentence="How often through the list; -1 is for ever (imqAddressListIterations)."),
)  # fmt: skip
CONSUMER = (
    *CONNECTION,
    Option(guide="shared", name="shared", type=bool, default=False, source="JMS 2.0",
           sentence="Its subscription may have other consumers."),
    Option(guide="no_client_id", name="no_client_id", type=bool, default=False, source="JMS 2.0",
           sentence="Its subscription belongs to no client id."),
    Option(guide="flow_limit", name="flow_limit", type=int, default=1000, low=0, unit="messages",
           sentence="How many its client takes in advance (imqConsumerFlowLimit).", source=_CLIENT),
    Option(guide="process", name="process", type=bool, default=False, source=_RECORDED,
           sentence="Its client is a process of its own, which can be killed."),
)  # fmt: skip

ROWS = {
    "broker": BROKER, "destination": DESTINATION, "producer": CONNECTION, "consumer": CONSUMER,
}  # fmt: skip


def to_guide(element: str, given: Options, where: str) -> dict[str, object]:
    """Return options by the guide's names, each in its type; *given* has Python names.

    Raises `UnknownName` for an option that no row names, `BadValue` for a value out of range.

    >>> to_guide("broker", {"autocreate_queue": False}, "broker b1")
    {'imq.autocreate.queue': False}
    """
    rows = {row.name: row for row in ROWS[element]}
    for name in given:
        if name not in rows:
            raise UnknownName.of("option", name, rows, where)
    return {rows[name].guide: rows[name].read(value, where) for name, value in given.items()}


def to_python(element: str, given: Options) -> dict[str, object]:
    """Return options by their Python names, as `to_guide` takes them; unknown ones keep their name."""
    rows = {row.guide: row for row in ROWS[element]}
    return {
        rows[name].name if name in rows else name: rows[name].read(value, name)
        if name in rows
        else value
        for name, value in given.items()
    }
