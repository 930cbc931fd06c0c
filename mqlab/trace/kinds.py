"""The words of a trace: what can happen (`Kind`) and why it did (`Reason`).

Codes are stored in files: a new word goes to the end of its list, none is ever renumbered.
A kind's sentence stands in `mqlab.explain.sentences`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, unique
from typing import Self


@unique
class Kind(IntEnum):
    """What happened, in the past tense, one meaning each."""

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
    Suspended = 39  # a process stands still
    Resumed = 40  # a suspended process goes on
    Answered = 41  # a client's call has come back: `age` is how long it took
    LockLost = 42  # a master found that the lock is not its own any more
    BridgeUp = 43  # a connector's bridge is up, as the broker that defines it sees it
    BridgeDown = 44
    Browsed = 45  # a browser saw a message, which stays where it is
    Intervened = 46  # somebody changed what brokers and clients rely on: a disk, a file, a listener


# Where the guides say it.
_LOAD, _ROUTE = "Fuse 3, Load balancing", "Fuse 2, Finding the shortest route"
_DYNAMIC, _STATIC = "Fuse 2, Dynamic propagation", "Fuse 2, Static propagation"
_TTL = "Fuse 2, Time-to-live"
_FAILOVER, _DISCOVERY = "Fuse 1, Failover", "Fuse 1, Multicast discovery agent"
_SET, _PURE = "Fuse 4, Shared file system master/slave", "Fuse 4, Pure master/slave"
_CLUSTER = "OpenMQ Technical Overview 4, Cluster Message Delivery"
_HA, _QUEUES, _EXCLUSIVE = "AMQ Broker 7.1, 21.1", "Artemis, queues", "ActiveMQ, exclusive"

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

    none = 0
    turn = 1, "it was this subscription's turn among those of equal priority", _LOAD
    only_taker = 2, "no other subscription could take it", _LOAD
    higher_priority = (
        3,
        "this subscription has a higher priority than the others",
        _ROUTE,
        {"priority"},
    )
    every_subscriber = 4, "a topic gives every matching subscription a copy", "Fuse 2, Figure 2.5"
    exclusive = 5, "the exclusive consumer of a queue gets everything", _EXCLUSIVE, {"exclusive"}
    no_subscription = 6, "no subscription asks for it here", _DYNAMIC, {"duplex"}
    prefetch_full = (
        7,
        "every subscription already holds as many as its prefetch allows",
        _LOAD,
        _BUFFER,
    )
    ttl_used_up = 8, "it has made as many hops as messageTTL allows", _TTL, _TTLS
    already_visited = 9, "a message never returns to a broker it has visited", _STATIC, {"policies"}
    not_permitted = (
        10,
        "the connector's lists do not let this destination pass",
        "Fuse 2, Filtering",
        _LISTS,
    )
    selector = 11, "the selector does not match", "Fuse 2, Figure 2.17", {"selector"}
    consumer_ttl = (
        12,
        "the advisory of this consumer has crossed as many brokers as consumerTTL allows",
        _TTL,
        _TTLS,
    )
    loop = 13, "the advisory of this consumer has already been here", _DYNAMIC
    duplicate_route = (
        14,
        "another route to the same consumer stands already, as good or better",
        _ROUTE,
        _DUPLICATES,
    )
    better_route = 15, "a route of higher priority to the same consumer replaced it", _ROUTE
    conduit = 16, "conduit subscriptions: it joined the one that stands for all", "Fuse 2, Conduit"
    local_consumer = 17, "a client of this broker subscribed"
    remote_demand = 18, "a consumer behind the connector asks for it", _DYNAMIC
    static = 19, "the connector lists it as statically included", _STATIC
    consumer_left = 20, "the consumer left", _DYNAMIC, _AWAY
    bridge_down = 21, "the bridge to the other broker is down", "", {"StopConnector", *_LOSSES}
    broker_stopped = 22, "the broker stopped", "", _DEATHS
    memory_store = 23, "the broker kept it in memory only", "", {"ack_mode", "persistent", *_DEATHS}
    replay = 24, "replayWhenNoConsumers lets it go back", "article, Stuck messages"
    not_exclusive = 25, "another consumer of the queue is exclusive", _EXCLUSIVE
    group_owner = 26, "its message group belongs to another consumer", "ActiveMQ, groups"
    no_advisories = (
        27,
        "the other broker sends no advisories",
        _DYNAMIC,
        {"advisory_support", "static_bridge"},
    )
    durable = 28, "a durable subscriber's messages are kept while it is away"
    expired = 29, "its time to live was over", "", {"time_to_live"}
    asked = 30, "the client asked for it", "", {"DestroyDestination", *_AWAY}
    unsubscribed = 31, "the durable subscription was given up"
    duplicate = 32, "the queue holds this very message already"
    browsing = 33, "a queue browser only looks", "ActiveMQ, browsers"
    accepted = 34, "somebody listens at that address"
    nobody_listens = 35, "nobody listens at that address"
    initial_delay = 36, "after a loss the first round begins after initialReconnectDelay", _FAILOVER
    back_off = 37, "a round has failed: each wait is longer, up to the maximum", _FAILOVER
    priority = 38, "it is not at its preferred broker and tries that one again", _FAILOVER
    connection_lost = 39, "the connection is gone", _FAILOVER, _LOSSES
    gave_up = 40, "as many rounds have failed as the options allow", _FAILOVER
    cluster_update = 41, "the broker knows of other brokers", "Fuse 1, Dynamic failover"
    multicast = 42, "whoever can be discovered says so again and again", _DISCOVERY
    waits_for_lock = 43, "a member of a set begins as a slave, until it has the lock", _SET
    lock_free = 44, "nobody held the lock", _SET
    lock_held = 45, "another broker holds the lock: it sleeps and asks again", _SET
    lock_taken = 46, "it holds the lock of its set", _SET
    no_lock = 47, "it shares its store with nobody"
    keep_alive = 48, "the regular look at the lock found that it is another's", _SET
    asks_restart = 49, "it has stopped and asks to be started again", _SET
    start_failed = 50, "its configuration or its store does not let it start"
    mirrors = 51, "it does what its master does, with its port closed", _PURE
    no_master = 52, "its master cannot be reached", _PURE
    broken_filter = (
        53,
        "updateClusterFilter is no regular expression: the bridge comes down again",
        "Fuse 1, Example 1.1",
        {"update_cluster_filter"},
    )
    beyond_page = (
        54,
        "only as many messages as maxPageSize are looked at from the head of the queue",
        "ActiveMQ, maxPageSize",
    )
    memory_full = (
        55,
        "the destination holds as much as its memoryLimit: the sender has to wait",
        "ActiveMQ, producer flow control",
    )
    pending_limit = (
        56,
        "a slow subscriber's topic keeps no more than its pendingMessageLimit",
        "ActiveMQ, slow consumers",
        {"pending_message_limit", "receiving"},
    )
    redelivered_too_often = (
        57,
        "the client gave it back more often than its redelivery policy allows",
        "ActiveMQ, redelivery policy",
    )
    no_local = (
        58,
        "its consumer wants nothing from its own connection",
        "JMS, noLocal",
        {"no_local"},
    )
    broker_turn = (
        59,
        "the brokers with a consumer for it take turns",
        "Artemis, clusters, message-load-balancing",
    )
    redistribution = (
        60,
        "nobody here takes it and somebody elsewhere does: redistribution-delay is over",
        "Artemis, clusters, redistribution-delay",
    )
    scale_down = 61, "its broker ends and hands its messages over", "AMQ Broker 7.1, 21.4"
    copied = 62, "the slave has a complete copy and can take over", _HA
    vote_won = 63, "enough brokers of the cluster do not see the master any more", _HA
    vote_lost = 64, "too few brokers of the cluster confirm that the master is gone", _HA
    fail_back = 65, "its master is back and in sync: the slave steps down", "AMQ Broker 7.1, 21.1.2"
    hosted = 66, "another broker hosts its backup", "AMQ Broker 7.1, 21.3"
    no_consumer = 67, "no consumer in the cluster asks for it now", _CLUSTER
    buffers_full = (
        68,
        "the buffers of its consumers are full: it waits at its home",
        _CLUSTER,
        _BUFFER,
    )
    home_to_home = 69, "a consumer of that broker has room for it", _CLUSTER
    limit_reached = (
        70,
        "the destination holds as much here as its limits allow",
        "OpenMQ Administration Guide, table 18-1",
    )
    first_to_lock = (
        71,
        "it is the first to lock what the dead broker has in the common store",
        "OpenMQ Technical Overview 4, Enhanced Clusters",
    )
    paused = 72, "its destination is paused at this broker", "", {"PauseDestination"}
    selected_by_none = 73, "no consumer's selector selects it", _CLUSTER
    moved_aside = (
        74,
        "a broker that starts as a slave moves its old data aside and takes its master's",
        _HA,
    )
    queue_turn = 75, "the consumers of a queue take turns", _QUEUES
    nobody_reads = (
        76,
        "no consumer of the queue is there",
        _QUEUES,
        {"message_load_balancing", "redistribution_delay"},
    )
    on_the_way = 77, "it is for another broker, which does not answer", "Artemis, store-and-forward"
    store_deleted = 78, "somebody deleted what the broker had kept", "", {"store"}
