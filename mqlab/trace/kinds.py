"""The words of a trace: what can happen (`Kind`) and why it did (`Reason`).

Codes are stored in files: a new word goes to the end of its list, none is ever renumbered.
A kind's sentence stands in `mqlab.explain.sentences`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, unique
from typing import Self

from mqlab.errors import UnknownName


@unique
class Kind(IntEnum):
    """Kinds of events, named in the past tense."""

    Started = 0  # a broker began to serve
    Stopped = 1  # a broker ended in an orderly way
    Connected = 2  # a bridge (link) is up
    Disconnected = 3  # a bridge (link) is down
    Subscribed = 4  # a broker has a new subscription
    Unsubscribed = 5  # a subscription went away
    Advised = 6  # a consumer advisory reached a bridge's home broker
    Refused = 7  # a bridge did not turn the advisory into a subscription
    Merged = 8  # conduit: the advisory joined a subscription that stood already
    Sent = 9  # a producer sent a message
    Enqueued = 10  # a broker took a message over
    Dispatched = 11  # a broker handed a message to a consumer
    Forwarded = 12  # a broker handed a message to a bridge
    Received = 13  # a consumer got a message
    Acknowledged = 14  # a broker may forget a message (for this subscription)
    Held = 15  # nobody can take a message now: it waits
    Returned = 16  # an unacknowledged message went back to its queue
    Discarded = 17  # a message is gone: no subscriber, or a store that was only memory
    Expired = 18
    DeadLettered = 19
    Redelivered = 20
    Failed = 21  # a client's call ended in an error
    Crashed = 22
    Restarted = 23
    Partitioned = 24
    Healed = 25
    Locked = 26
    RoleChanged = 27
    Replicated = 28
    TakenOver = 29
    FailedOver = 30
    Redirected = 31
    Voted = 32
    Attempted = 33  # a client or a broker opened a socket: the rule says what came of it
    Attached = 34  # a client has a connection
    Interrupted = 35  # a client lost its connection and looks for another
    Told = 36  # a broker named other brokers to a client
    Waited = 37  # somebody waits before the next try: `age` is how long
    Announced = 38  # a datagram was sent to a multicast group
    Suspended = 39  # a process was suspended
    Resumed = 40  # a suspended process goes on
    Answered = 41  # a client's call has come back: `age` is how long it took
    LockLost = 42  # a master found that the lock is not its own any more
    BridgeUp = 43  # a connector's bridge is up, as the broker that defines it sees it
    BridgeDown = 44
    Browsed = 45  # a browser saw a message, which stays where it is
    Intervened = 46  # somebody changed what brokers and clients rely on: a disk, a file, a listener

    @classmethod
    def _missing_(cls, value: object) -> Kind:
        """Return the kind of that name; raises `UnknownName`, with those that there are."""
        if value in cls.__members__:
            return cls[str(value)]
        raise UnknownName.of("kind of event", value, cls.__members__)


# Where the guides say it.
_LOAD, _ROUTE = "Fuse 3, Load balancing", "Fuse 2, Finding the shortest route"
_DYNAMIC, _STATIC = "Fuse 2, Dynamic propagation", "Fuse 2, Static propagation"
SLAVE = "is a slave, which takes no clients"  # said of a broker
_TTL, _USERS = "Fuse 2, Time-to-live", "ActiveMQ, security"
_FAILOVER, _DISCOVERY = "Fuse 1, Failover", "Fuse 1, Multicast discovery agent"
_SET, _PURE = "Fuse 4, Shared file system master/slave", "Fuse 4, Pure master/slave"
_CLUSTER, _LAST = "Technical Overview 4, Cluster Message Delivery", "Artemis user manual, last-value queues"
_HA, _QUEUES, _EXCLUSIVE = "AMQ Broker 7.1, 21.1", "Artemis, queues", "ActiveMQ, exclusive"
_OFF = "Artemis rule 8.3"

# What several reasons depend on.
_TTLS = {"network_ttl", "message_ttl", "consumer_ttl"}
_BUFFER = {"receiving", "prefetch", "prefetch_size", "flow_limit"}
_LISTS = {
    "excluded_destinations",
    "dynamically_included_destinations",
    "statically_included_destinations",
}
_DUPLICATES = {"suppress_duplicate_queue_subscriptions", "suppress_duplicate_topic_subscriptions"}
_DEATHS = {"Crash", "Stop", "Shutdown", "ForcedFailover", "HostDown"}
_LOSSES = {"Cut", "Pause", *_DEATHS}
_AWAY = {"Close", "CloseClient", "KillClient", "Unsubscribe", *_DEATHS}


@unique
class Reason(IntEnum):
    """Why it happened: a code, the reason in one sentence, its source, and what it depends on.

    `source` is the guide and section that state it; empty if only the broker's code does. `depends_on`
    are the options, and the actions of a script, without which it would not hold: an option's Python name, or
    an action's noun (``Crash``).
    """

    sentence: str
    source: str
    depends_on: frozenset[str]

    def __new__(cls, code: int, sentence: str = "", source: str = "", depends_on: Iterable[str] = ()) -> Self:
        """Make a row's first value the code, the others its attributes."""
        self = int.__new__(cls, code)
        self._value_ = code
        self.sentence, self.source, self.depends_on = sentence, source, frozenset(depends_on)
        return self

    @classmethod
    def _missing_(cls, value: object) -> None:
        """Raise `UnknownName`, with those that there are."""
        raise UnknownName.of("reason", value, cls.__members__)

    none = 0
    turn = 1, "it was this subscription's turn among those of equal priority", _LOAD
    only_taker = 2, "no other subscription was eligible", _LOAD
    higher_priority = 3, "this subscription has a higher priority than the others", _ROUTE, {"priority"}
    every_subscriber = 4, "every matching subscription of a topic receives a copy", "Fuse 2, Figure 2.5"
    exclusive = 5, "the exclusive consumer of a queue gets everything", _EXCLUSIVE, {"exclusive"}
    no_subscription = 6, "there is no matching subscription at this broker (no demand)", _DYNAMIC, {"duplex"}
    prefetch_full = 7, "the prefetch window of every subscription is full", _LOAD, _BUFFER
    ttl_used_up = 8, "its hop count has reached messageTTL", _TTL, _TTLS
    already_visited = 9, "a message never returns to a broker it has visited", _STATIC, {"policies"}
    not_permitted = (
        10,
        "the connector's destination filters do not permit this destination",
        "Fuse 2, Filtering",
        _LISTS,
    )
    selector = 11, "the selector does not match", "Fuse 2, Figure 2.17", {"selector"}
    consumer_ttl = 12, "this consumer's advisory has reached the consumerTTL limit", _TTL, _TTLS
    loop = 13, "this consumer's advisory has already passed through this broker", _DYNAMIC
    duplicate_route = (
        14,
        "a subscription with equal or higher priority for the same consumer already exists",
        _ROUTE,
        _DUPLICATES,
    )
    better_route = 15, "it was replaced by a higher-priority route to the same consumer", _ROUTE
    conduit = (
        16,
        "conduit subscriptions: the consumer was merged into the existing conduit subscription",
        "Fuse 2, Conduit subscriptions",
    )
    local_consumer = 17, "a client of this broker subscribed"
    remote_demand = 18, "demand from a consumer beyond the connector", _DYNAMIC
    static = 19, "it is in the connector's staticallyIncludedDestinations", _STATIC
    consumer_left = 20, "the consumer left", _DYNAMIC, _AWAY
    bridge_down = 21, "the bridge to the other broker is down", "", {"StopConnector", *_LOSSES}
    broker_stopped = 22, "the broker stopped", "", _DEATHS
    memory_store = (
        23,
        "it was held in memory only and not stored",
        "",
        {"ack_mode", "persistent", "persistence_enabled", *_DEATHS},
    )
    replay = 24, "replayWhenNoConsumers permits forwarding it back", "article, Stuck messages"
    not_exclusive = 25, "another consumer of the queue is exclusive", _EXCLUSIVE
    group_owner = 26, "its message group belongs to another consumer", "ActiveMQ, groups"
    no_advisories = 27, "the other broker sends no advisories", _DYNAMIC, {"advisory_support", "static_bridge"}
    durable = 28, "messages for an inactive durable subscription are kept"
    expired = 29, "its time-to-live had expired", "", {"time_to_live"}
    asked = 30, "requested by the client", "", _AWAY
    unsubscribed = 31, "the durable subscription was removed (unsubscribed)"
    duplicate = 32, "duplicate: the queue already holds this message"
    browsing = 33, "a queue browser does not consume messages", "ActiveMQ, browsers"
    accepted = 34, "the connection was accepted"
    nobody_listens = 35, "connection refused: nothing is listening at that address"
    initial_delay = 36, "the first reconnect attempt waits initialReconnectDelay", _FAILOVER
    back_off = 37, "back-off: the delay grows after each failed attempt, up to maxReconnectDelay", _FAILOVER
    priority = (
        38,
        "priorityBackup: it is connected to a non-priority broker and retries the priority one",
        _FAILOVER,
    )
    connection_lost = 39, "the connection was lost", _FAILOVER, _LOSSES
    gave_up = 40, "the maximum number of reconnect attempts was reached", _FAILOVER
    cluster_update = (
        41,
        "updateClusterClients: the broker informs clients about the other brokers",
        "Fuse 1, Dynamic failover",
    )
    multicast = 42, "discoverable brokers advertise themselves periodically by multicast", _DISCOVERY
    waits_for_lock = 43, "a broker with a shared store starts as a slave until it acquires the lock", _SET
    lock_free = 44, "the lock was free", _SET
    lock_held = 45, "the lock is held by another broker: it waits and retries", _SET
    lock_taken = 46, "it holds the lock of its set", _SET
    no_lock = 47, "it does not share its store"
    keep_alive = 48, "the periodic lock check found that another broker holds the lock", _SET
    asks_restart = 49, "it has stopped and requests a restart", _SET
    start_failed = 50, "it cannot start because of its configuration or its store"
    mirrors = 51, "it mirrors its master and accepts no client connections", _PURE
    no_master = 52, "its master cannot be reached", _PURE
    broken_filter = (
        53,
        "updateClusterFilter is not a valid regular expression: the bridge goes down again",
        "Fuse 1, Example 1.1",
        {"update_cluster_filter"},
    )
    beyond_page = (
        54,
        "only maxPageSize messages are paged in from the head of the queue; it lies beyond",
        "ActiveMQ, maxPageSize",
    )
    memory_full = (
        55,
        "the destination has reached its memoryLimit: producer flow control blocks the sender",
        "ActiveMQ, producer flow control",
    )
    pending_limit = (
        56,
        "the slow consumer's pendingMessageLimit was exceeded",
        "ActiveMQ, slow consumers",
        {"pending_message_limit", "receiving"},
    )
    redelivered_too_often = (
        57,
        "it exceeded maximumRedeliveries of the client's redelivery policy",
        "ActiveMQ, redelivery policy",
    )
    no_local = (
        58,
        "noLocal: the consumer does not receive messages sent on its own connection",
        "JMS, noLocal",
        {"no_local"},
    )
    broker_turn = (
        59,
        "the brokers of a queue take turns: with ON_DEMAND those with a consumer for it, with STRICT all",
        "Artemis, clusters, message-load-balancing",
    )
    redistribution = (
        60,
        "no local consumer, but a remote one: redistribution-delay has elapsed",
        "Artemis, clusters, redistribution-delay",
    )
    scale_down = (
        61,
        "scale-down: its broker is shutting down and transfers its messages",
        "AMQ Broker 7.1, 21.4",
    )
    copied = 62, "the slave is in sync with its master and can take over", _HA
    vote_won = 63, "quorum vote won: enough brokers no longer see the master", _HA
    vote_lost = 64, "quorum vote lost: too few brokers confirm that the master is gone", _HA
    fail_back = (
        65,
        "failback: the original master is back in sync, so the slave steps down",
        "AMQ Broker 7.1, 21.1.2",
    )
    hosted = 66, "another broker hosts its backup", "AMQ Broker 7.1, 21.3"
    no_consumer = 67, "there is no consumer for it in the cluster at present", _CLUSTER
    buffers_full = 68, "the consumers' buffers are full: it waits at its home broker", _CLUSTER, _BUFFER
    home_to_home = 69, "a consumer at that broker has free capacity", _CLUSTER
    limit_reached = (
        70,
        "the destination has reached its limit at this broker",
        "OpenMQ Administration Guide, table 18-1",
    )
    first_to_lock = (
        71,
        "it was the first to lock the failed broker's data in the shared store",
        "Technical Overview 4, Enhanced Clusters",
    )
    paused = 72, "its destination is paused at this broker", "", {"PauseDestination"}
    selected_by_none = 73, "it matches no consumer's selector", _CLUSTER
    moved_aside = 74, "a broker starting as a slave sets its old data aside and replicates its master's", _HA
    queue_turn = 75, "the consumers of a queue take turns", _QUEUES
    nobody_reads = (
        76,
        "the queue has no consumers at this broker",
        _QUEUES,
        {"message_load_balancing", "redistribution_delay"},
    )
    on_the_way = (
        77,
        "it is in the store-and-forward queue for another broker, which is not reachable",
        "Artemis, store-and-forward",
    )
    store_deleted = 78, "the broker's store was deleted", "", {"store"}
    no_routing_type = (
        79,
        "scale-down: the target has no such queue; the one that it creates has no routing type, so anycast "
        "messages are lost",
        "Artemis rule 1.8",
    )
    delivered_too_often = (
        80,
        "it was delivered as often as max-delivery-attempts allows",
        "Artemis rule 9.9",
        {"max_delivery_attempts", "dead_letter_address"},
    )
    old_pull = (
        81,
        "the failover transport repeats the last pull of each consumer, also of those that have closed: the "
        "new broker does not know them",
        _FAILOVER,
        {"prefetch"},
    )
    most_consumers = 82, "the queue has as many consumers as max-consumers allows", _QUEUES, {"max_consumers"}
    not_created = 83, "there is no such queue, and auto-create-queues is false", _QUEUES, {"auto_create_queues"}
    address_full = (
        84,
        "the address holds as much as max-size-messages or max-size-bytes allows: address-full-policy decides",
        "Artemis user manual, paging",
        {"max_size_messages", "max_size_bytes", "address_full_policy", "producer_window_size"},
    )
    not_authenticated = 85, "the broker does not know such a user and password", _USERS, {"users", "user_name"}
    not_authorized = 86, "no group of the user may do that", _USERS, {"user_name", "users", "authorization"}
    last_value = 87, "a later message with its last value waits instead", _LAST, {"last_value_queue"}
    duplicate_id = 88, "a message with its duplicate id has been here before", "Artemis rule 9.18"
    turn_off = 89, "load balancing is OFF: only another broker has the queue", _OFF, {"message_load_balancing"}
    rolled_back = 90, "the session was rolled back or recovered", "", {"Rollback", "Recover"}
    purged = 91, "its destination was purged or destroyed", "", {"DestroyDestination", "PurgeDestination"}
    scheduled = 92, "its time to be delivered has not come", _QUEUES, {"delivery_delay", "redelivery_delay"}
    selector_fails = 93, "a subscriber's selector compares values of different types", "OpenMQ rule 1.13"
