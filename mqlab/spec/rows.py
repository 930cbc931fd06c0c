"""Options are rows: everything that is known of an option stands here, once.

Constructors, readers and writers of files, the widgets' forms, the reference table and the error
texts all read these rows. Sources: the guides; the defaults of the four editions as found in
their classes (reference/activemq-editions-observed.md).
"""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.errors import BadValue, UnknownName, nearest, shown
from mqlab.spec.option import Option

_TTL = "Fuse 2, Time-to-live"
_ROUTE = "Fuse 2, Finding the shortest route"
_TABLE = "article, table of networkConnector options"

CONNECTOR = (
    Option(guide="networkTTL", name="network_ttl", type=int, default=1, low=-1, unit="hops",
           sentence="How many connectors messages and consumer advisories may cross; sets both of "
           "the next two. -1 is no limit.", source=_TTL),
    Option(guide="messageTTL", name="message_ttl", type=int, default=None, low=-1, unit="hops",
           sentence="How many connectors a message may have crossed.", source=_TTL, since="5.17"),
    Option(guide="consumerTTL", name="consumer_ttl", type=int, default=None, low=-1, unit="hops",
           sentence="How many brokers a consumer advisory may have crossed.", source=_TTL,
           since="5.17"),
    Option(guide="duplex", name="duplex", type=bool, default=False,
           sentence="One connection, messages both ways.", source="Fuse 2, Figure 2.3"),
    Option(guide="conduitSubscriptions", name="conduit_subscriptions", type=bool, default=True,
           sentence="All consumers of the next broker count as one.", source="Fuse 3, Figure 2.20"),
    Option(guide="conduitNetworkQueueSubscriptions", name="conduit_network_queue_subscriptions",
           type=bool, default=False, sentence="Conduit also merges, on queues, what the next "
           "broker itself has from other brokers.", source="ActiveMQ 5.16", since="5.17"),
    Option(guide="decreaseNetworkConsumerPriority", name="decrease_network_consumer_priority",
           type=bool, default=False, later={"5.18": True, "6.1": True},
           sentence="The farther away a consumer is, the lower its priority.", source=_ROUTE),
    Option(guide="consumerPriorityBase", name="consumer_priority_base", type=int, default=-5,
           sentence="Where the decreased priorities begin.", source=_ROUTE, since="5.17"),
    Option(guide="suppressDuplicateQueueSubscriptions", type=bool, default=False,
           name="suppress_duplicate_queue_subscriptions",
           sentence="Of several routes to one queue consumer keep one.", source=_ROUTE),
    Option(guide="suppressDuplicateTopicSubscriptions", type=bool, default=True,
           name="suppress_duplicate_topic_subscriptions",
           sentence="Of several routes to one topic consumer keep one.", source=_TABLE),
    Option(guide="staticallyIncludedDestinations", name="statically_included_destinations",
           type=tuple, default=(), sentence="Forwarded without being asked for.",
           source="Fuse 2, Static propagation"),
    Option(guide="dynamicallyIncludedDestinations", name="dynamically_included_destinations",
           type=tuple, default=(), sentence="If not empty: nothing else is forwarded on demand.",
           source="Fuse 2, Example 2.4"),
    Option(guide="excludedDestinations", name="excluded_destinations", type=tuple, default=(),
           sentence="Never forwarded.", source="Fuse 2, Example 2.4"),
    Option(guide="staticBridge", name="static_bridge", type=bool, default=False,
           sentence="Listen to no advisories: only static destinations cross.", source=_TABLE,
           since="5.17"),
    Option(guide="dynamicOnly", name="dynamic_only", type=bool, default=False,
           sentence="Durable network subscriptions start only when asked for.", source=_TABLE),
    Option(guide="syncDurableSubs", name="sync_durable_subs", type=bool, default=False,
           sentence="Exchange durable subscriptions on connecting.", source="ActiveMQ 5.14",
           since="5.17"),
    Option(guide="prefetchSize", name="prefetch_size", type=int, default=1000, low=0,
           unit="messages", sentence="How many unacknowledged messages a bridge may hold.",
           source=_TABLE),
    Option(guide="bridgeTempDestinations", name="bridge_temp_destinations", type=bool,
           default=True, sentence="Replies to temporary destinations cross too.", source=_TABLE),
    Option(guide="destinationFilter", name="destination_filter", type=str, default=None,
           sentence="Which consumer advisories the bridge listens to.", source=_TABLE),
    Option(guide="useVirtualDestSubs", name="use_virtual_dest_subs", type=bool, default=False,
           sentence="Consumers of a virtual destination are demand too.", source="ActiveMQ 5.13",
           since="5.17"),
    Option(guide="advisoryPrefetchSize", name="advisory_prefetch_size", type=int, default=0, low=0,
           unit="messages", sentence="The prefetch of subscriptions to advisory topics; 0 is "
           "prefetchSize.", source="ActiveMQ 5.14", since="5.17"),
    Option(guide="alwaysSyncSend", name="always_sync_send", type=bool, default=True,
           later={"5.5": False}, sentence="Wait for the remote broker's answer also when a "
           "message is not persistent; without, those on the way are lost with the connection.",
           source=_TABLE, since="5.17"),
    Option(guide="name", name="configured_name", type=str, default=None,
           sentence="The name that the broker gives to its bridges, if it is not the connector's "
           "own; two connectors that share one cannot both come up.", source=_TABLE),
    Option(guide="autoStart", name="auto_start", type=bool, default=True,
           sentence="Start with the broker.", source="ActiveMQ 5.19"),
)  # fmt: skip

_LOCK = "Fuse 4, Table 4.3"
_LEASE = "Fuse 4, Lease database locker"
_UPDATES = "Fuse 1, Table 1.1"
_PURE = "Fuse 4, Pure master/slave"

TRANSPORT = (
    Option(guide="discoveryUri", name="discovery_uri", type=str, default=None,
           sentence="Where its transport connector announces itself.",
           source="Fuse 1, Discovery"),
    Option(guide="updateClusterClients", name="update_cluster_clients", type=bool, default=False,
           sentence="Tell clients with failover of the other brokers.", source=_UPDATES),
    Option(guide="rebalanceClusterClients", name="rebalance_cluster_clients", type=bool,
           default=False, sentence="Ask them to move when brokers come.", source=_UPDATES),
    Option(guide="updateClusterClientsOnRemove", name="update_cluster_clients_on_remove",
           type=bool, default=False, sentence="Tell them when brokers go, too.",
           source=_UPDATES),
    Option(guide="updateClusterFilter", name="update_cluster_filter", type=str, default=None,
           sentence="Regular expressions for the names of brokers that are told of.",
           source=_UPDATES),
)  # fmt: skip

BROKER = (
    Option(guide="advisorySupport", name="advisory_support", type=bool, default=True,
           sentence="Tell the network of consumers that come and go.",
           source="Fuse 2, Dynamic propagation"),
    Option(guide="store", name="store", type=str, default="memory",
           choices=("memory", "kahadb", "jdbc"),
           sentence="memory: all is lost in a restart; kahadb: what is persistent is kept; jdbc: in "
           "the one database that all such brokers share.", source="Fuse 4"),
    Option(guide="sharedStore", name="shared_store", type=str, default=None,
           sentence="Brokers that name the same store are a master and its slaves.",
           source="Fuse 4, Shared file system master/slave"),
    Option(guide="brokerName", name="broker_name", type=str, default=None,
           sentence="What the broker is called on the network, if not by its own name.",
           source="Fuse 4"),
    Option(guide="process", name="process", type=bool, default=False,
           sentence="It is a program of its own, which takes a while to start.", source="mqlab"),
    Option(guide="link", name="link", type=bool, default=False,
           sentence="A line lies in front of its port, which can be cut.", source="mqlab"),
    Option(guide="host", name="host", type=str, default=None,
           sentence="The machine it runs on; all brokers of a host go down with it.",
           source="Fuse 5, Host pairs"),
    Option(guide="restartAllowed", name="restart_allowed", type=bool, default=True,
           sentence="Whoever asks for a restart is started again.", source=_LOCK),
    Option(guide="lockAcquireSleepInterval", name="lock_acquire_sleep_interval_ms", type=int,
           default=10_000, low=1, unit="ms", sentence="How often a slave tries to get the lock.",
           source=_LOCK),
    Option(guide="lockKeepAlivePeriod", name="lock_keep_alive_period_ms", type=int, default=None,
           low=-1, unit="ms", sentence="How often the master looks whether the lock is still its "
           "own; by default never on a file, every 30 s in a database.", source=_LOCK),
    Option(guide="locker", name="locker", type=str, default=None,
           choices=("file", "database", "lease"), sentence="What the lock is: on a file, a row "
           "of a database, or a lease in one.", source="Fuse 4, Tables 4.2 to 4.4"),
    Option(guide="useLock", name="use_lock", type=bool, default=True,
           sentence="Without a lock everybody serves.", source=_LOCK),
    Option(guide="failIfDatabaseIsLocked", name="fail_if_locked", type=bool, default=False,
           sentence="Who finds the lock taken does not wait but fails.", source=_LOCK),
    Option(guide="stopOnError", name="stop_on_error", type=bool, default=False,
           sentence="An error of the lock's file stops the broker.", source=_LOCK),
    Option(guide="leaseHolderId", name="lease_holder_id", type=str, default=None,
           sentence="The name in the lease, if not the broker's own.", source=_LEASE),
    Option(guide="maxAllowableDiffFromDBTime", name="max_allowable_diff_from_db_time_ms",
           type=int, default=0, low=0, unit="ms", sentence="How far the clocks of broker and "
           "database may differ before that is made up for; 0 is never.", source=_LEASE),
    Option(guide="queryTimeout", name="database_lock_timeout_ms", type=int, default=500, low=0,
           unit="ms", sentence="How long the database lets a locking query wait.",
           source="Fuse 4, Table 4.4"),
    Option(guide="fileSystem", name="file_system", type=str, default="local",
           choices=("local", "san", "nfs4", "nfs3", "ocfs2"), sentence="What the shared "
           "directory lies on: when a dead master's lock is free.", source=_LOCK),
    Option(guide="ioExceptionHandler", name="io_exception_handler", type=str, default="default",
           choices=("default", "lease"), sentence="What happens when the store fails: stop, or "
           "wait until the lease is there again.", source=_LEASE),
    Option(guide="resumeCheckSleepPeriod", name="resume_check_sleep_period_ms", type=int,
           default=5000, low=0, unit="ms", sentence="How often that handler looks.",
           source=_LEASE),
    Option(guide="clockOffset", name="clock_offset_seconds", type=float, default=0.0, unit="s",
           sentence="How far its clock is ahead of the others'.", source="mqlab"),
    Option(guide="masterConnector", name="pure_slave_of", type=str, default=None,
           sentence="The master that it mirrors (pure master/slave).", source=_PURE),
    Option(guide="waitForSlave", name="wait_for_slave", type=bool, default=False,
           sentence="The master serves nobody before its slave is there.", source=_PURE),
    Option(guide="waitForSlaveTimeout", name="wait_for_slave_timeout_ms", type=int,
           default=600_000, low=0, unit="ms", sentence="How long it waits.", source=_PURE),
    Option(guide="shutdownOnSlaveFailure", name="shutdown_on_slave_failure", type=bool,
           default=False, sentence="The master stops when its slave is gone.", source=_PURE),
    Option(guide="shutdownOnMasterFailure", name="shutdown_on_master_failure", type=bool,
           default=False, sentence="The slave stops when its master is gone.", source=_PURE),
    Option(guide="useVirtualDestSubs", name="use_virtual_dest_subs", type=bool, default=False,
           sentence="Tell of consumers of virtual destinations.", source="ActiveMQ 5.13",
           since="5.17"),
    Option(guide="auditNetworkProducers", name="audit_network_producers", type=bool,
           default=False, sentence="Drop a persistent message that has come over another bridge "
           "before.", source="ActiveMQ, transport connectors"),
    Option(guide="virtualTopics", name="virtual_topics", type=tuple,
           default=("topic://VirtualTopic.>",), sentence="Topics whose messages are also copied "
           "to the queues Consumer.*.NAME.", source="ActiveMQ, virtual destinations"),
)  # fmt: skip

_POLICY = "ActiveMQ, per destination policies"
_ADVISE = "ActiveMQ, advisory messages"

POLICY = (
    Option(guide="strictOrderDispatch", name="strict_order_dispatch", type=bool, default=False,
           sentence="No turns: the first consumer is filled to its prefetch, then the second.",
           source=_POLICY),
    Option(guide="useConsumerPriority", name="use_consumer_priority", type=bool, default=True,
           sentence="Consumers of a higher priority come first.", source=_POLICY),
    Option(guide="prioritizedMessages", name="prioritized_messages", type=bool, default=False,
           sentence="What waits is ordered by JMS priority.", source=_POLICY),
    Option(guide="enableAudit", name="enable_audit", type=bool, default=True,
           sentence="A second copy of a message that the queue holds is dropped.",
           source="article, Stuck messages"),
    Option(guide="maxPageSize", name="max_page_size", type=int, default=200, low=1,
           unit="messages", sentence="How far from the head of a queue a taker is looked for.",
           source=_POLICY),
    Option(guide="queuePrefetch", name="queue_prefetch", type=int, default=1000, low=0,
           unit="messages", sentence="Prefetch of queue consumers that set none.",
           source=_POLICY),
    Option(guide="topicPrefetch", name="topic_prefetch", type=int, default=32767, low=0,
           unit="messages", sentence="Prefetch of topic consumers that set none.",
           source=_POLICY),
    Option(guide="durableTopicPrefetch", name="durable_topic_prefetch", type=int, default=1000,
           low=0, unit="messages", sentence="Prefetch of durable subscribers that set none.",
           source=_POLICY),
    Option(guide="queueBrowserPrefetch", name="queue_browser_prefetch", type=int, default=500,
           low=0, unit="messages", sentence="Prefetch of browsers that set none.",
           source=_POLICY),
    Option(guide="usePrefetchExtension", name="use_prefetch_extension", type=bool, default=True,
           sentence="What a client has in hands and will acknowledge later uses up no prefetch.",
           source=_POLICY),
    Option(guide="memoryLimit", name="memory_limit", type=int, default=0, low=0, unit="bytes",
           sentence="How much the destination may hold; 0 is no limit.", source=_POLICY),
    Option(guide="producerFlowControl", name="producer_flow_control", type=bool, default=True,
           sentence="Producers wait while the destination holds its limit.", source=_POLICY),
    Option(guide="pendingMessageLimit", name="pending_message_limit", type=int, default=-1,
           low=-1, unit="messages", sentence="How many messages a topic keeps for a subscriber "
           "beyond its prefetch; the oldest go first. -1 is all.", source=_POLICY),
    Option(guide="dispatchPolicy", name="dispatch_policy", type=str, default="simple",
           choices=("simple", "round_robin", "strict_order", "priority", "priority_network"),
           sentence="Which subscribers of a topic get a copy, and in which order.",
           source=_POLICY),
    Option(guide="allConsumersExclusiveByDefault", name="all_consumers_exclusive_by_default",
           type=bool, default=False, sentence="Every consumer of the queue is exclusive.",
           source=_POLICY),
    Option(guide="consumersBeforeDispatchStarts", name="consumers_before_dispatch_starts",
           type=int, default=0, low=0, unit="consumers", sentence="Wait for so many consumers "
           "before the first dispatch.", source=_POLICY),
    Option(guide="timeBeforeDispatchStarts", name="time_before_dispatch_starts_ms", type=int,
           default=0, low=0, unit="ms", sentence="Wait no longer than this for them; 0 with a "
           "number of consumers is 1000.", source=_POLICY),
    Option(guide="expireMessagesPeriod", name="expire_messages_period_ms", type=int,
           default=30000, low=0, unit="ms", sentence="How often the queue looks for messages "
           "that are too old; 0 is never.", source=_POLICY),
    Option(guide="deadLetterStrategy", name="dead_letter_strategy", type=str, default="shared",
           choices=("shared", "individual", "discarding"), sentence="Where dead letters go: to "
           "ActiveMQ.DLQ, to ActiveMQ.DLQ.Queue.NAME, or nowhere.", source=_POLICY),
    Option(guide="queuePrefix", name="dead_letter_queue_prefix", type=str,
           default="ActiveMQ.DLQ.Queue.", sentence="What stands before the name of a queue's own "
           "dead letter queue (individualDeadLetterStrategy).", source=_POLICY),
    Option(guide="processExpired", name="process_expired", type=bool, default=True,
           sentence="Expired messages become dead letters.", source=_POLICY),
    Option(guide="processNonPersistent", name="process_non_persistent", type=bool,
           default=False, sentence="Messages that are not persistent do, too.", source=_POLICY),
    Option(guide="replayWhenNoConsumers", name="replay_when_no_consumers", type=bool,
           default=False, sentence="Without a consumer of its own the broker may send a message "
           "back to where it has been.", source="article, Stuck messages"),
    Option(guide="replayDelay", name="replay_delay_ms", type=int, default=0, low=0, unit="ms",
           sentence="How long a message stays before it is replayed.",
           source="article, Stuck messages"),
    Option(guide="rateLimit", name="replay_rate_limit", type=int, default=0, low=0,
           unit="messages", sentence="How many messages are replayed in one rateDuration; 0 is "
           "no limit.", source="article, Stuck messages"),
    Option(guide="rateDuration", name="replay_rate_duration_ms", type=int, default=1000, low=1,
           unit="ms", sentence="The window of rateLimit.", source="article, Stuck messages"),
    Option(guide="selectorAware", name="replay_selector_aware", type=bool, default=False,
           sentence="Only consumers whose selector matches stop a replay.",
           source="ActiveMQ 5.8"),
    Option(guide="sendAdvisoryIfNoConsumers", name="send_advisory_if_no_consumers", type=bool,
           default=False, sentence="Tell of messages that nobody takes.", source=_ADVISE),
    Option(guide="advisoryForSlowConsumers", name="advisory_for_slow_consumers", type=bool,
           default=False, sentence="Tell of consumers that are slow.", source=_ADVISE),
    Option(guide="advisoryForFastProducers", name="advisory_for_fast_producers", type=bool,
           default=False, sentence="Tell of producers that have to wait.", source=_ADVISE),
    Option(guide="advisoryForDiscardingMessages", name="advisory_for_discarding_messages",
           type=bool, default=False, sentence="Tell of messages that pendingMessageLimit "
           "costs.", source=_ADVISE),
    Option(guide="advisoryForDelivery", name="advisory_for_delivery", type=bool, default=False,
           sentence="Tell of each message that arrives.", source=_ADVISE),
    Option(guide="advisoryForDispatched", name="advisory_for_dispatched", type=bool,
           default=False, sentence="Tell of each message dispatched to a consumer.",
           source=_ADVISE),
    Option(guide="advisoryForConsumed", name="advisory_for_consumed", type=bool, default=False,
           sentence="Tell of each message acknowledged.", source=_ADVISE),
    Option(guide="advisoryWhenFull", name="advisory_when_full", type=bool, default=False,
           sentence="Tell when the destination holds its limit.", source=_ADVISE),
)  # fmt: skip

OPTIONS: dict[str, dict[str, Option]] = {
    "networkConnector": {option.name: option for option in CONNECTOR},
    "broker": {option.name: option for option in BROKER},
    "transportConnector": {option.name: option for option in TRANSPORT},
    "policyEntry": {option.name: option for option in POLICY},
}
# Python name -> the name in configuration files, of every option.
GUIDE_NAMES = {row.name: row.guide for rows in OPTIONS.values() for row in rows.values()}


def read_options(element: str, given: Mapping[str, object], where: str) -> dict[str, object]:
    """Return *given* with each value in its option's type, in the rows' order.

    Raises `UnknownName` for an option that no row names, `BadValue` for a value out of range.
    """
    rows = OPTIONS[element]
    for name in given:
        if name not in rows:
            raise _unknown(name, element, where)
    return {n: row.read(given[n], where) for n, row in rows.items() if given.get(n) is not None}


def _unknown(name: str, element: str, where: str) -> UnknownName:
    """Return the error for an option that *element* does not have; another may have it."""
    others = {row: other for other, rows in OPTIONS.items() if other != element for row in rows}
    elsewhere = None if nearest(name, OPTIONS[element]) else nearest(name, others)
    if elsewhere is None:
        return UnknownName.of("option", name, OPTIONS[element], where)
    of = others[elsewhere]
    return UnknownName(f"{where}: unknown option {shown(name)}; {elsewhere!r} is one of a {of}")


def policy_of(given: Mapping[str, object], where: str) -> dict[str, object]:
    """Return a destination policy: the pattern under `queue` or `topic`, and checked options.

    Raises `BadValue` when it names neither or both, `UnknownName` or `BadValue` for its options.
    """
    patterns = {key: given[key] for key in ("queue", "topic") if key in given}
    if len(patterns) != 1:
        raise BadValue(f"{where}: a policy is for one pattern; write 'queue' or 'topic'")
    rest = {key: value for key, value in given.items() if key not in patterns}
    return {**patterns, **read_options("policyEntry", rest, where)}
