"""The options of Artemis as rows: elements of an HA policy, cluster connections, addresses, client URLs.

Sources: AMQ Broker 7.1, chapter 21; reference/artemis-ha.md, section 8 (elements and defaults); the
product's defaults class. `Option.guide` is the name in broker.xml or in a client's URL.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.option import Option

BALANCING = ("ON_DEMAND", "STRICT", "OFF")
_REPLICATION, _STORE, _LONE = "replication", "shared_store", "live_only"
_PAIR, _MASTER, _SLAVE, _COLOCATED = ("master", "slave"), ("master",), ("slave",), ("colocated",)
_SETUP, _FAILBACK, _HOSTS = (
    "AMQ Broker 7.1, 21.1.1",
    "AMQ Broker 7.1, 21.1.2",
    "AMQ Broker 7.1, 21.3",
)
_DOWN, _STORES, _CODE = "AMQ Broker 7.1, 21.4", "artemis-ha.md, 5", "artemis-ha.md, 8"
_CLUSTER, _CLIENT = "artemis-observed.md, 8", "artemis-observed.md, 9"
_CHECK = "Artemis user manual, network isolation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Element(Option):
    """An element of an HA policy: in which policies it stands, and of which roles."""

    policies: tuple[str, ...] = (_REPLICATION, _STORE)
    roles: tuple[str, ...] = _PAIR


HA = (
    Element(guide="check-for-live-server", name="check_for_live_server", type=bool, default=False,
            policies=(_REPLICATION,), roles=_MASTER, source=_FAILBACK,
            sentence="A master that starts looks first whether its node id is live elsewhere."),
    Element(guide="group-name", name="group_name", type=str, default=None,
            policies=(_REPLICATION,), source="AMQ Broker 7.1, 21.1.3",
            sentence="A slave pairs with masters of its group only."),
    Element(guide="cluster-name", name="cluster_name", type=str, default=None,
            policies=(_REPLICATION,), source=_SETUP,
            sentence="Which cluster connection is used; else the first."),
    Element(guide="initial-replication-sync-timeout", name="initial_replication_sync_timeout",
            type=int, default=30_000, low=0, unit="ms", policies=(_REPLICATION,), source=_SETUP,
            sentence="A slave that has not confirmed the end of its first copy by then is dropped."),
    Element(guide="vote-on-replication-failure", name="vote_on_replication_failure", type=bool,
            default=False, policies=(_REPLICATION,), source=_SETUP,
            sentence="A master that loses its slave asks whether it is in the majority, or stops."),
    Element(guide="quorum-size", name="quorum_size", type=int, default=-1,
            unit="brokers", policies=(_REPLICATION,), source="artemis-ha.md, 3",
            sentence="The size that a vote is counted by; -1 is the largest cluster ever seen."),
    Element(guide="vote-retries", name="vote_retries", type=int, default=12, low=0,
            policies=(_REPLICATION,), source="artemis-observed.md, 3",
            sentence="How often a slave votes before it gives its master up (from 2.5 on)."),
    Element(guide="vote-retry-wait", name="vote_retry_wait", type=int, default=5000, low=0,
            unit="ms", policies=(_REPLICATION,), source="artemis-observed.md, 3",
            sentence="From one vote to the next."),
    Element(guide="max-saved-replicated-journals-size", name="max_saved_replicated_journals_size",
            type=int, default=2, policies=(_REPLICATION,), roles=_SLAVE, source=_CODE,
            sentence="How many sets of old data a slave keeps; -1 is all of them."),
    Element(guide="restart-backup", name="restart_backup", type=bool, default=True, roles=_SLAVE,
            source=_CODE, sentence="After fail-back the former live broker is a slave again."),
    Element(guide="allow-failback", name="allow_failback", type=bool, default=None, roles=_SLAVE,
            source=_FAILBACK, sentence="A slave that serves hands back to its returning master; "
            "by default where they share a store, not between replicas."),
    Element(guide="scale-down", name="scale_down", type=dict, default=None, source=_DOWN,
            policies=(_REPLICATION, _STORE, _LONE), roles=("slave", "live"),
            sentence="A broker that ends in order hands its messages to another."),
    Element(guide="failover-on-shutdown", name="failover_on_shutdown", type=bool, default=False,
            policies=(_STORE,), source=_STORES,
            sentence="An orderly stop is a fail-over too."),
    Element(guide="wait-for-activation", name="wait_for_activation", type=bool, default=True,
            policies=(_STORE,), roles=_MASTER, source=_STORES,
            sentence="The call that starts a master returns when it is live."),
    Element(guide="request-backup", name="request_backup", type=bool, default=False,
            roles=_COLOCATED, source=_HOSTS, sentence="It asks other brokers to host its slave."),
    Element(guide="max-backups", name="max_backups", type=int, default=1, low=0, roles=_COLOCATED,
            unit="brokers", source=_HOSTS, sentence="How many slaves of others it hosts."),
    Element(guide="backup-request-retries", name="backup_request_retries", type=int, default=-1,
            roles=_COLOCATED, source=_HOSTS, sentence="Read, and never counted by the product."),
    Element(guide="backup-request-retry-interval", name="backup_request_retry_interval", type=int,
            default=5000, low=0, unit="ms", roles=_COLOCATED, source=_HOSTS,
            sentence="From one request for a host to the next."),
    Element(guide="backup-port-offset", name="backup_port_offset", type=int, default=100,
            roles=_COLOCATED, source=_HOSTS, sentence="How far a hosted slave's ports are shifted."),
    Element(guide="excludes", name="excludes", type=tuple, default=(), policies=(_REPLICATION,),
            roles=_COLOCATED, source="AMQ Broker 7.1, 21.3.2",
            sentence="Connectors that are not shifted."),
    Element(guide="master", name="master", type=dict, default=None, roles=_COLOCATED,
            source=_HOSTS, sentence="Elements of its own half."),
    Element(guide="slave", name="slave", type=dict, default=None, roles=_COLOCATED,
            source=_HOSTS, sentence="Elements of the slaves that it hosts."),
)  # fmt: skip

SCALE_DOWN = (
    Option(guide="connectors", name="connectors", type=tuple, default=(), source=_DOWN,
           sentence="Ways into the cluster, whose longest live broker takes the messages."),
    Option(guide="group-name", name="group_name", type=str, default=None, source=_DOWN,
           sentence="Only a member of the group takes them."),
    Option(guide="discovery-group-ref", name="discovery_group_ref", type=str, default=None,
           source=_DOWN, sentence="The cluster is found by discovery."),
    Option(guide="enabled", name="enabled", type=bool, default=True, source=_DOWN,
           sentence="Whether it scales down at all."),
)  # fmt: skip

CLUSTER = (
    Option(guide="message-load-balancing", name="message_load_balancing", type=str,
           default="ON_DEMAND", choices=BALANCING, source=_CLUSTER, sentence="Brokers take turns: "
           "those with a matching consumer, all of them, or only the one that has the message."),
    Option(guide="max-hops", name="max_hops", type=int, default=1, low=0, unit="hops",
           source=_CLUSTER, sentence="How many brokers away a message may go."),
    Option(guide="call-timeout", name="call_timeout", type=int, default=5000, unit="ms",
           source="artemis-observed.md, 2", sentence="How long a call over it may take."),
    Option(guide="check-period", name="check_period", type=int, default=30_000, unit="ms",
           source="artemis-observed.md, 2", sentence="How often it looks for silence."),
    Option(guide="connection-ttl", name="connection_ttl", type=int, default=60_000, unit="ms",
           source="artemis-observed.md, 2", sentence="How long the other end may be silent."),
    Option(guide="retry-interval", name="retry_interval", type=int, default=500, unit="ms",
           source=_CLUSTER, sentence="From one attempt to connect to the next."),
    Option(guide="static-connectors", name="to", type=tuple, default=None, source=_CLUSTER,
           sentence="The brokers it lists; else all."),
    Option(guide="allow-direct-connections-only", name="allow_direct_connections_only", type=bool,
           default=False, source=_CLUSTER, sentence="It connects to listed brokers only."),
    Option(guide="discovery-group-ref", name="discovery", type=bool, default=False,
           source=_CLUSTER, sentence="Brokers find each other by multicast."),
)  # fmt: skip

ADDRESSES = (
    Option(guide="redistribution-delay", name="redistribution_delay", type=int, default=-1,
           unit="ms", source=_CLUSTER, sentence="How long after its last consumer left a queue's "
           "messages go to where there are some; -1 is never."),
    Option(guide="auto-delete-queues", name="auto_delete_queues", type=bool, default=True,
           source=_DOWN, sentence="A queue made for a client goes with its last consumer."),
)  # fmt: skip

URL = (
    Option(guide="ha", name="ha", type=bool, default=True, source=_CLIENT,
           sentence="The client follows to the broker's slave."),
    Option(guide="reconnectAttempts", name="reconnect_attempts", type=int, default=-1, low=-1,
           source=_CLIENT, sentence="How often it tries to connect again; -1 is for ever."),
    Option(guide="initialConnectAttempts", name="initial_connect_attempts", type=int, default=-1,
           low=-1, source=_CLIENT, sentence="How often it tries to connect at first."),
    Option(guide="retryInterval", name="retry_interval", type=int, default=200, low=0, unit="ms",
           source=_CLIENT, sentence="From the first attempt to the second."),
    Option(guide="retryIntervalMultiplier", name="retry_interval_multiplier", type=float,
           default=1.0, source=_CLIENT, sentence="Each wait is so many times the last."),
    Option(guide="maxRetryInterval", name="max_retry_interval", type=int, default=2000, low=0,
           unit="ms", source=_CLIENT, sentence="The longest wait but the first."),
    Option(guide="connectionTTL", name="connection_ttl", type=int, default=60_000, unit="ms",
           source=_CLIENT, sentence="How long the broker waits for a silent client."),
    Option(guide="clientFailureCheckPeriod", name="client_failure_check_period", type=int,
           default=30_000, unit="ms", source=_CLIENT, sentence="How often it looks for silence."),
    Option(guide="confirmationWindowSize", name="confirmation_window_size", type=int, default=-1,
           unit="bytes", source=_CLIENT, sentence="With a window its session outlives its line."),
    Option(guide="callTimeout", name="call_timeout", type=int, default=10_000, unit="ms",
           source=_CLIENT, sentence="How long a call may take."),
)  # fmt: skip

CORE = (
    Option(guide="network-check-period", name="network_check_period", type=int, default=5000,
           unit="ms", source=_CHECK, sentence="How often it asks."),
    Option(guide="network-check-timeout", name="network_check_timeout", type=int, default=1000,
           unit="ms", source=_CHECK, sentence="How long an answer may take."),
    Option(guide="network-check-list", name="network_check_list", type=str, default=None,
           source=_CHECK, sentence="Addresses; a broker that none of them answers stops itself."),
    Option(guide="network-check-URL-list", name="network_check_url_list", type=str, default=None,
           source=_CHECK, sentence="The same with URLs."),
    Option(guide="network-check-NIC", name="network_check_nic", type=str, default=None,
           source=_CHECK, sentence="By which network card."),
)  # fmt: skip

BROKER = (
    Option(guide="journal-directory", name="shared_store", type=str, default=None, source=_STORES,
           sentence="Brokers that name the same one share a directory."),
    Option(guide="cluster-password", name="cluster_password", type=str, default=None,
           source="artemis-ha.md, 1", sentence="The same in a whole cluster, or they never pair."),
    Option(guide="in-vm connector", name="in_vm_connector", type=str, default=None, source=_HOSTS,
           sentence="The name of an additional connector and acceptor inside of its process."),
    Option(guide="in-vm serverId", name="in_vm_id", type=int, default=0, source=_HOSTS,
           sentence="The id of that."),
)  # fmt: skip

Options = Mapping[str, Any]  # what is written, by Python name

# Section -> its rows by Python name.
OPTIONS: dict[str, dict[str, Option]] = {
    section: {row.name: row for row in rows}
    for section, rows in (("scale-down", SCALE_DOWN), ("cluster-connection", CLUSTER),
                          ("address-setting", ADDRESSES), ("url", URL), ("core", CORE),
                          ("broker", BROKER))
}  # fmt: skip
ELEMENTS: dict[str, Element] = {row.name: row for row in HA}

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text",
          tuple: "a list of names", dict: "an object"}  # fmt: skip


_KINDS: dict[type, tuple[type, ...]] = {
    float: (int, float), tuple: (list, tuple, str), dict: (Mapping,),
}  # fmt: skip


def default(section: str, name: str) -> object:
    """Return an option's default.

    >>> default("url", "retry_interval")
    200
    """
    return OPTIONS[section][name].default


def check_options(section: str, given: Options, where: str) -> None:
    """Raise `UnknownName` or `BadValue` for an option that there is not, or of another type."""
    rows = OPTIONS[section]
    for name, value in given.items():
        if name not in rows:
            raise UnknownName.of(f"{section} option", name, rows, where)
        check_value(rows[name], value, where)


def check_value(row: Option, value: object, where: str) -> None:
    """Raise for a value that is not of an option's type, too low or none of its choices."""
    if value is None and row.default is None:
        return
    if not isinstance(value, _KINDS.get(row.type, (row.type,))) or (
        isinstance(value, bool) and row.type is not bool
    ):
        raise BadValue(f"{where}: {row.name} is {value!r}; write {_WORDS[row.type]}")
    if row.low is not None and isinstance(value, int) and value < row.low:
        raise BadValue(f"{where}: {row.name} is {value}; write {row.low} or more")
    if row.choices and value not in row.choices:
        raise UnknownName.of(row.guide, value, row.choices, where)
