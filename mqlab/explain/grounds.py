"""What each rule stands on: the options, and the steps of a script, without which it would not hold.

Names are those of lab files: an option's Python name, or the word of a step (``kill``).
"""

from __future__ import annotations

from mqlab.trace.kinds import Rule

_TTL = {"network_ttl", "message_ttl", "consumer_ttl"}
_HELD = {"receiving", "prefetch", "prefetch_size", "flow_limit"}
_LISTS = {f"{how}_destinations" for how in
          ("excluded", "dynamically_included", "statically_included")}  # fmt: skip
_DEATHS = {"kill", "stop_broker", "stop", "host_down"}
_LOSSES = {"cut", "pause", *_DEATHS}

_AWAY = {"close_consumer", "close_client", "kill_client", "unsubscribe", *_DEATHS}

GROUNDS: dict[Rule, set[str]] = {
    Rule.selector: {"selector"},
    Rule.no_local: {"no_local"},
    Rule.exclusive: {"exclusive"},
    Rule.higher_priority: {"priority"},
    Rule.ttl_used_up: _TTL,
    Rule.consumer_ttl: _TTL,
    Rule.already_visited: {"policies"},
    Rule.no_subscription: {"duplex"},
    Rule.not_permitted: _LISTS,
    Rule.duplicate_route: {
        "suppress_duplicate_queue_subscriptions", "suppress_duplicate_topic_subscriptions",
    },
    Rule.no_advisories: {"advisory_support", "static_bridge"},
    Rule.prefetch_full: _HELD,
    Rule.buffers_full: _HELD,
    Rule.expired: {"time_to_live", "time_to_live_ms"},
    Rule.pending_limit: {"pending_message_limit", "receiving"},
    Rule.consumer_left: _AWAY,
    Rule.memory_store: {"persistent", "ack_mode", *_DEATHS},
    Rule.store_deleted: {"store"},
    Rule.broker_stopped: _DEATHS,
    Rule.bridge_down: {"stop_connector", *_LOSSES},
    Rule.connection_lost: _LOSSES,
    Rule.paused: {"pause_destination"},
    Rule.asked: {"destroy_destination", *_AWAY},
    Rule.broken_filter: {"update_cluster_filter"},
    Rule.nobody_reads: {"redistribution_delay", "message_load_balancing"},
}  # fmt: skip
