"""The words of a trace: what can happen (`Kind`) and why it did (`Rule`).

Codes are stored in files: a new word goes to the end of its list, none is ever renumbered.
"""

from __future__ import annotations

from enum import IntEnum, unique


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


@unique
class Rule(IntEnum):
    """Why it happened. `sentence` says it in words, `source` where the guides do."""

    none = 0
    turn = 1
    only_taker = 2
    higher_priority = 3
    every_subscriber = 4
    exclusive = 5
    no_subscription = 6
    prefetch_full = 7
    ttl_used_up = 8
    already_visited = 9
    not_permitted = 10
    selector = 11
    consumer_ttl = 12
    loop = 13
    duplicate_route = 14
    better_route = 15
    conduit = 16
    local_consumer = 17
    remote_demand = 18
    static = 19
    consumer_left = 20
    bridge_down = 21
    broker_stopped = 22
    memory_store = 23
    replay = 24
    not_exclusive = 25
    group_owner = 26
    no_advisories = 27
    durable = 28
    expired = 29
    asked = 30
    unsubscribed = 31
    duplicate = 32
    browsing = 33
    accepted = 34
    nobody_listens = 35
    initial_delay = 36
    back_off = 37
    priority = 38
    connection_lost = 39
    gave_up = 40
    cluster_update = 41
    multicast = 42
    waits_for_lock = 43
    lock_free = 44
    lock_held = 45
    lock_taken = 46
    no_lock = 47
    keep_alive = 48
    asks_restart = 49
    start_failed = 50
    mirrors = 51
    no_master = 52
    broken_filter = 53
    beyond_page = 54
    memory_full = 55
    pending_limit = 56
    redelivered_too_often = 57
    no_local = 58
    broker_turn = 59
    redistribution = 60
    scale_down = 61
    copied = 62
    vote_won = 63
    vote_lost = 64
    fail_back = 65
    hosted = 66
    no_consumer = 67
    buffers_full = 68
    home_to_home = 69
    limit_reached = 70
    first_to_lock = 71
    paused = 72
    selected_by_none = 73
    moved_aside = 74
    queue_turn = 75
    nobody_reads = 76
    on_the_way = 77
    store_deleted = 78

    @property
    def sentence(self) -> str:
        """The rule in one sentence."""
        return SENTENCES[self][0]

    @property
    def source(self) -> str:
        """The guide and section that state the rule; empty if only the broker's code does."""
        return SENTENCES[self][1]


_LOAD = "Fuse 3, Load balancing"
_DYNAMIC, _STATIC = "Fuse 2, Dynamic propagation", "Fuse 2, Static propagation"
_FAILOVER, _DISCOVERY = "Fuse 1, Failover", "Fuse 1, Multicast discovery agent"
_SET, _PURE = "Fuse 4, Shared file system master/slave", "Fuse 4, Pure master/slave"
_CLUSTER = "OpenMQ Technical Overview 4, Cluster Message Delivery"
_ROUTE, _TTL = "Fuse 2, Finding the shortest route", "Fuse 2, Time-to-live"

SENTENCES: dict[Rule, tuple[str, str]] = {
    Rule.none: ("", ""),
    Rule.turn: ("it was this subscription's turn among those of equal priority", _LOAD),
    Rule.only_taker: ("no other subscription could take it", _LOAD),
    Rule.higher_priority: ("this subscription has a higher priority than the others", _ROUTE),
    Rule.every_subscriber: (
        "a topic gives every matching subscription a copy",
        "Fuse 2, Figure 2.5",
    ),
    Rule.exclusive: ("the exclusive consumer of a queue gets everything", "ActiveMQ, exclusive"),
    Rule.no_subscription: ("no subscription asks for it here", _DYNAMIC),
    Rule.prefetch_full: ("every subscription already holds as many as its prefetch allows", _LOAD),
    Rule.ttl_used_up: ("it has made as many hops as messageTTL allows", _TTL),
    Rule.already_visited: ("a message never returns to a broker it has visited", _STATIC),
    Rule.not_permitted: (
        "the connector's lists do not let this destination pass",
        "Fuse 2, Filtering",
    ),
    Rule.selector: ("the selector does not match", "Fuse 2, Figure 2.17"),
    Rule.consumer_ttl: (
        "the advisory of this consumer has crossed as many brokers as consumerTTL allows",
        _TTL,
    ),
    Rule.loop: ("the advisory of this consumer has already been here", _DYNAMIC),
    Rule.duplicate_route: (
        "another route to the same consumer stands already, as good or better",
        _ROUTE,
    ),
    Rule.better_route: ("a route of higher priority to the same consumer replaced it", _ROUTE),
    Rule.conduit: (
        "conduit subscriptions: it joined the one that stands for all",
        "Fuse 2, Conduit",
    ),
    Rule.local_consumer: ("a client of this broker subscribed", ""),
    Rule.remote_demand: ("a consumer behind the connector asks for it", _DYNAMIC),
    Rule.static: ("the connector lists it as statically included", _STATIC),
    Rule.consumer_left: ("the consumer left", _DYNAMIC),
    Rule.bridge_down: ("the bridge to the other broker is down", ""),
    Rule.broker_stopped: ("the broker stopped", ""),
    Rule.memory_store: ("the broker kept it in memory only", ""),
    Rule.store_deleted: ("somebody deleted what the broker had kept", ""),
    Rule.replay: ("replayWhenNoConsumers lets it go back", "article, Stuck messages"),
    Rule.not_exclusive: ("another consumer of the queue is exclusive", "ActiveMQ, exclusive"),
    Rule.group_owner: ("its message group belongs to another consumer", "ActiveMQ, groups"),
    Rule.no_advisories: ("the other broker sends no advisories", "Fuse 2, Dynamic propagation"),
    Rule.durable: ("a durable subscriber's messages are kept while it is away", ""),
    Rule.expired: ("its time to live was over", ""),
    Rule.asked: ("the client asked for it", ""),
    Rule.duplicate: ("the queue holds this very message already", ""),
    Rule.browsing: ("a queue browser only looks", "ActiveMQ, browsers"),
    Rule.beyond_page: (
        "only as many messages as maxPageSize are looked at from the head of the queue",
        "ActiveMQ, maxPageSize",
    ),
    Rule.memory_full: (
        "the destination holds as much as its memoryLimit: the sender has to wait",
        "ActiveMQ, producer flow control",
    ),
    Rule.pending_limit: (
        "a slow subscriber's topic keeps no more than its pendingMessageLimit",
        "ActiveMQ, slow consumers",
    ),
    Rule.redelivered_too_often: (
        "the client gave it back more often than its redelivery policy allows",
        "ActiveMQ, redelivery policy",
    ),
    Rule.no_local: ("its consumer wants nothing from its own connection", "JMS, noLocal"),
    Rule.nobody_reads: ("no consumer of the queue is there", "Artemis, queues"),
    Rule.on_the_way: (
        "it is for another broker, which does not answer",
        "Artemis, store-and-forward",
    ),
    Rule.queue_turn: ("the consumers of a queue take turns", "Artemis, queues"),
    Rule.broker_turn: (
        "the brokers with a consumer for it take turns",
        "Artemis, clusters, message-load-balancing",
    ),
    Rule.redistribution: (
        "nobody here takes it and somebody elsewhere does: redistribution-delay is over",
        "Artemis, clusters, redistribution-delay",
    ),
    Rule.scale_down: ("its broker ends and hands its messages over", "AMQ Broker 7.1, 21.4"),
    Rule.copied: ("the slave has a complete copy and can take over", "AMQ Broker 7.1, 21.1"),
    Rule.vote_won: (
        "enough brokers of the cluster do not see the master any more",
        "AMQ Broker 7.1, 21.1",
    ),
    Rule.vote_lost: (
        "too few brokers of the cluster confirm that the master is gone",
        "AMQ Broker 7.1, 21.1",
    ),
    Rule.fail_back: (
        "its master is back and in sync: the slave steps down",
        "AMQ Broker 7.1, 21.1.2",
    ),
    Rule.moved_aside: (
        "a broker that starts as a slave moves its old data aside and takes its master's",
        "AMQ Broker 7.1, 21.1",
    ),
    Rule.hosted: ("another broker hosts its backup", "AMQ Broker 7.1, 21.3"),
    Rule.unsubscribed: ("the durable subscription was given up", ""),
    Rule.accepted: ("somebody listens at that address", ""),
    Rule.nobody_listens: ("nobody listens at that address", ""),
    Rule.initial_delay: (
        "after a loss the first round begins after initialReconnectDelay",
        _FAILOVER,
    ),
    Rule.back_off: ("a round has failed: each wait is longer, up to the maximum", _FAILOVER),
    Rule.priority: ("it is not at its preferred broker and tries that one again", _FAILOVER),
    Rule.connection_lost: ("the connection is gone", _FAILOVER),
    Rule.gave_up: ("as many rounds have failed as the options allow", _FAILOVER),
    Rule.cluster_update: ("the broker knows of other brokers", "Fuse 1, Dynamic failover"),
    Rule.multicast: ("whoever can be discovered says so again and again", _DISCOVERY),
    Rule.waits_for_lock: ("a member of a set begins as a slave, until it has the lock", _SET),
    Rule.lock_free: ("nobody held the lock", _SET),
    Rule.lock_held: ("another broker holds the lock: it sleeps and asks again", _SET),
    Rule.lock_taken: ("it holds the lock of its set", _SET),
    Rule.no_lock: ("it shares its store with nobody", ""),
    Rule.keep_alive: ("the regular look at the lock found that it is another's", _SET),
    Rule.asks_restart: ("it has stopped and asks to be started again", _SET),
    Rule.start_failed: ("its configuration or its store does not let it start", ""),
    Rule.mirrors: ("it does what its master does, with its port closed", _PURE),
    Rule.no_master: ("its master cannot be reached", _PURE),
    Rule.broken_filter: (
        "updateClusterFilter is no regular expression: the bridge comes down again",
        "Fuse 1, Example 1.1",
    ),
    Rule.no_consumer: ("no consumer in the cluster asks for it now", _CLUSTER),
    Rule.buffers_full: ("the buffers of its consumers are full: it waits at its home", _CLUSTER),
    Rule.home_to_home: ("a consumer of that broker has room for it", _CLUSTER),
    Rule.limit_reached: (
        "the destination holds as much here as its limits allow",
        "OpenMQ Administration Guide, table 18-1",
    ),
    Rule.first_to_lock: (
        "it is the first to lock what the dead broker has in the common store",
        "OpenMQ Technical Overview 4, Enhanced Clusters",
    ),
    Rule.paused: ("its destination is paused at this broker", ""),
    Rule.selected_by_none: ("no consumer's selector selects it", _CLUSTER),
}
