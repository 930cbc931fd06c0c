"""The steps of an Artemis script as the recordings write them (Recordings rule 7.3)."""

from __future__ import annotations

# Step -> keys it needs (a|b: either), keys it may have.
_OPEN = "queue topic transacted xa url time_limit_ms in_background"
STEPS: dict[str, tuple[str, str]] = {
    "start": ("", "brokers broker with wait one_by_one"),
    "start_broker": ("broker|brokers", "with wait one_by_one"),
    "kill": ("broker|brokers", ""), "stop": ("broker|brokers", "failover wait"),
    "restart": ("broker|brokers", "with wait failover"), "pause": ("broker|brokers", ""),
    "resume_broker": ("broker|brokers", ""), "cut": ("between|isolate", "silent clients"),
    "heal": ("between|isolate", "clients"), "slow": ("between|isolate bytes_per_second", ""),
    "gateway": ("answers", "broker brokers"), "wait_until": ("broker role", "timeout_ms"),
    "wait_failover": ("client", "times timeout_ms"), "wait_depth": ("broker queue depth", "timeout_ms"),
    "wait_consumers": ("broker queue", "count timeout_ms"), "wait_replicas": ("", "quiet_ms timeout_ms"),
    "open_consumer": ("consumer broker queue|topic", "receiving ack_mode acknowledge selector "
                      "durable_name client_id url time_limit_ms in_background transacted delay_ms commit_each"),
    "open_producer": ("producer broker", _OPEN), "open_client": ("client|producer broker", _OPEN),
    "receive": ("consumer count", "acknowledge wait_ms"), "resume": ("consumer", ""),
    "hold": ("consumer", ""), "close_consumer": ("consumer", ""), "close_client": ("client", ""),
    "send": ("count", "broker producer client queue topic persistent size interval_ms properties "
             "delivery_delay_ms time_to_live_ms in_background time_limit_ms url name group commit "
             "stop_at_failure"),
    "commit": ("client", ""), "rollback": ("client", ""), "recover": ("client", ""), "xa": ("client act", "id"),
    "wait": ("ms", ""), "wait_for_sends": ("", "timeout_ms"),
    "settle": ("", "quiet_ms timeout_ms"), "files": ("label", "broker brokers"),
    "snapshot": ("label", "topology"),
}  # fmt: skip
