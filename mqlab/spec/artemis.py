"""Artemis brokers in high-availability set-ups: their policies, and the script of what happens.

Sources: AMQ Broker 7.1, chapter 21; reference/artemis-ha.md, section 8 (elements and defaults).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mqlab.errors import BadValue, SelectorError, UnknownName
from mqlab.spec.selector import Selector
from mqlab.spec.step import Step
from mqlab.spec.values import duration

ROLES: dict[str, tuple[str, ...]] = {
    "replication": ("master", "slave", "colocated"),
    "shared_store": ("master", "slave", "colocated"),
    "live_only": ("live",),
}
# Version -> what it calls the two of a pair; no later one than 2.5 was recorded, so that 2.28 plays by
# the rules of 2.5 and only speaks otherwise.
WORDS = {"2.4": ("master", "slave"), "2.5": ("master", "slave"), "2.28": ("primary", "backup")}
BALANCING = ("ON_DEMAND", "STRICT", "OFF")

# Element -> (policies it may stand under, roles, default). None: no default.
_BOTH, _PAIR = ("replication", "shared_store"), ("master", "slave")
ELEMENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Any]] = {
    "check_for_live_server": (("replication",), ("master",), False),
    "group_name": (("replication",), _PAIR, None),
    "cluster_name": (("replication",), _PAIR, None),
    "initial_replication_sync_timeout": (("replication",), _PAIR, 30_000),
    "vote_on_replication_failure": (("replication",), _PAIR, False),
    "quorum_size": (("replication",), _PAIR, -1),
    "vote_retries": (("replication",), _PAIR, 12),
    "vote_retry_wait": (("replication",), _PAIR, 5000),
    "max_saved_replicated_journals_size": (("replication",), ("slave",), 2),
    "restart_backup": (_BOTH, ("slave",), True),
    "allow_failback": (_BOTH, ("slave",), None),
    "scale_down": ((*_BOTH, "live_only"), ("slave", "live"), None),
    "failover_on_shutdown": (("shared_store",), _PAIR, False),
    "wait_for_activation": (("shared_store",), ("master",), True),
    "request_backup": (_BOTH, ("colocated",), False),
    "max_backups": (_BOTH, ("colocated",), 1),
    "backup_request_retries": (_BOTH, ("colocated",), -1),
    "backup_request_retry_interval": (_BOTH, ("colocated",), 5000),
    "backup_port_offset": (_BOTH, ("colocated",), 100),
    "excludes": (("replication",), ("colocated",), ()),
    "master": (_BOTH, ("colocated",), None),
    "slave": (_BOTH, ("colocated",), None),
}
# Fail-back is off by default between replicas and on where a store is shared.
ALLOW_FAILBACK = {"replication": False, "shared_store": True}
SCALE_DOWN = ("connectors", "group_name", "discovery_group_ref", "enabled")
CLUSTER = {"message_load_balancing": "ON_DEMAND", "max_hops": 1, "call_timeout": 5000,
           "check_period": 30_000, "connection_ttl": 60_000, "retry_interval": 500, "to": None,
           "allow_direct_connections_only": False, "discovery": False}  # fmt: skip
ADDRESSES = {"redistribution_delay": -1, "auto_delete_queues": True}
CLIENTS = {"ha": True, "reconnect_attempts": -1, "initial_connect_attempts": -1,
           "retry_interval": 200, "retry_interval_multiplier": 1.0, "max_retry_interval": 2000,
           "connection_ttl": 60_000,
           "client_failure_check_period": 30_000, "confirmation_window_size": -1,
           "call_timeout": 10_000}  # fmt: skip
CORE = ("network_check_period", "network_check_timeout", "network_check_list",
        "network_check_url_list", "network_check_nic")  # fmt: skip
QUEUE = ("name", "routing", "address", "on")
ROUTING = ("anycast", "multicast")

# Step -> keys it needs (a|b: either), keys it may have.
_OPEN = "queue topic transacted xa url time_limit_ms in_background"
STEPS: dict[str, tuple[str, str]] = {
    "start": ("", "brokers broker with wait"), "start_broker": ("broker|brokers", "with wait"),
    "kill": ("broker|brokers", ""), "stop": ("broker|brokers", "failover"),
    "restart": ("broker|brokers", "with wait"), "pause": ("broker|brokers", ""),
    "resume_broker": ("broker|brokers", ""), "cut": ("between|isolate", "silent"),
    "heal": ("between|isolate", ""), "slow": ("between|isolate bytes_per_second", ""),
    "gateway": ("answers", "broker brokers"), "wait_until": ("broker role", "timeout_ms"),
    "wait_failover": ("client", "times timeout_ms"),
    "open_consumer": ("consumer broker queue|topic", "receiving ack_mode acknowledge selector "
                      "durable_name client_id url time_limit_ms in_background"),
    "open_producer": ("producer broker", _OPEN), "open_client": ("client|producer broker", _OPEN),
    "receive": ("consumer count", "acknowledge wait_ms"), "resume": ("consumer", ""),
    "hold": ("consumer", ""), "close_consumer": ("consumer", ""),
    "send": ("count", "broker producer client queue topic persistent size interval_ms properties "
             "delivery_delay_ms in_background time_limit_ms url"),
    "commit": ("client", ""), "rollback": ("client", ""), "xa": ("client act", ""),
    "wait": ("ms", ""), "wait_for_sends": ("", "timeout_ms"),
    "settle": ("", "quiet_ms timeout_ms"), "files": ("label", "broker brokers"),
    "snapshot": ("label", "topology"),
}  # fmt: skip
OPENS = ("open_consumer", "open_producer", "open_client")
STATES = ("live", "live_with_replica", "backup_in_sync", "backup_searching", "backup_announced",
          "backup_holding_lock", "backup_queued", "backup", "starting", "stopping", "stopped",
          "down", "paused", "not_started")  # fmt: skip
CHOICES: dict[str, tuple[str, ...]] = {
    "role": STATES, "ack_mode": ("auto", "client", "transacted"),
    "act": ("start", "end", "prepare", "commit", "rollback", "recover"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Server:
    """One broker of `broker.xml`: its HA policy and role, and the elements below them."""

    name: str
    policy: str = "live_only"
    role: str = "live"
    elements: Mapping[str, Any] = field(default_factory=dict, hash=False)
    keys: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if self.policy not in ROLES:
            raise UnknownName.of("policy", self.policy, ROLES, f"broker {self.name!r}")
        if self.role not in ROLES[self.policy]:
            raise UnknownName.of(
                f"{self.policy} role", self.role, ROLES[self.policy], f"broker {self.name!r}"
            )
        for element, value in self.elements.items():
            self._check_element(element, value)
        for element in self.scale_down or ():
            if element not in SCALE_DOWN:
                raise UnknownName.of(
                    "scale-down element", element, SCALE_DOWN, f"broker {self.name!r}"
                )
        for known, given in ((CLUSTER, "cluster"), (CORE, "core")):
            for key in self.keys.get(given) or {}:
                if key not in known:
                    raise UnknownName.of(f"{given} option", key, known, f"broker {self.name!r}")
        for role in ("master", "slave") if self.role == "colocated" else ():
            self.part(role, f"{role} of {self.name}")

    def _check_element(self, element: str, value: Any) -> None:
        """Raise for an element that there is not, that stands elsewhere, or of another type."""
        where = f"broker {self.name!r}"
        if element not in ELEMENTS:
            raise UnknownName.of("element", element, ELEMENTS, where)
        policies, roles, default = ELEMENTS[element]
        refused = element == "excludes"  # a shared-store broker with it is refused at its start
        if self.role not in roles or (self.policy not in policies and not refused):
            raise BadValue(
                f"{where}: {element} does not stand in a {self.policy} {self.role}; write it in a "
                f"{' or '.join(policies)} {' or '.join(roles)}"
            )
        kind = bool if element == "allow_failback" else type(default)
        if kind in (bool, int) and type(value) is not kind:
            expected = "true or false" if kind is bool else "a whole number"
            raise BadValue(f"{where}: {element} is {value!r}; write {expected}")

    def element(self, name: str) -> Any:
        """Return an element's value, or the product's default; a colocated broker has its master's."""
        given = self.elements
        if name not in given and self.role == "colocated":
            given = given.get("master") or {}
        default = ELEMENTS[name][2]
        return given.get(
            name, ALLOW_FAILBACK.get(self.policy) if name == "allow_failback" else default
        )

    @property
    def scale_down(self) -> Mapping[str, Any] | None:
        """The elements of its scale-down, or None without one."""
        found = self.elements.get("scale_down")
        return found if isinstance(found, Mapping) else None

    @property
    def scales_down(self) -> bool:
        """Whether scale-down is given, and not switched off."""
        return self.scale_down is not None and self.scale_down.get("enabled") is not False

    @property
    def checks_network(self) -> bool:
        """Whether it asks an address of the network about itself."""
        core = self.keys.get("core", {})
        return any(key in core for key in ("network_check_list", "network_check_url_list"))

    def part(self, role: str, name: str) -> Server:
        """Return the master or slave half of a colocated broker as a server of its own."""
        return Server(name, self.policy, role, dict(self.elements.get(role) or {}), self.keys)

    def halves(self) -> tuple[Server, ...]:
        """The master and the slave of a colocated broker; none of another."""
        roles = ("master", "slave") if self.role == "colocated" else ()
        return tuple(self.part(role, self.name) for role in roles)

    def refused(self) -> str | None:
        """Return why the product does not start with this configuration, in its words."""
        size = self.element("quorum_size")
        if size != -1 and size < 1:
            return (
                "java.lang.IllegalArgumentException: AMQ119041: quorum-size  must be equals to -1 "
                f"or greater than 0 (actual value: {size})"
            )
        if (
            self.role == "colocated"
            and self.policy == "shared_store"
            and "excludes" in self.elements
        ):
            return (
                "configuration error: excludes is not accepted in a colocated shared-store policy"
            )
        return None


@dataclass(frozen=True, slots=True)
class HaScenario:
    """Brokers, their queues and cluster connections, and what happens to them.

    Raises `UnknownName` or `BadValue` for what cannot be; what the product itself refuses at start
    is told by `Server.refused`. `version` is one of `WORDS`: in 2.4, voters do not forget a
    crashed broker (reference/artemis-observed.md, section 1).
    """

    servers: tuple[Server, ...]
    queues: tuple[Mapping[str, Any], ...] = ()
    cluster: Mapping[str, Any] = field(default_factory=dict, hash=False)
    addresses: Mapping[str, Any] = field(default_factory=dict, hash=False)
    clients: Mapping[str, Any] = field(default_factory=dict, hash=False)
    steps: tuple[Step, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)
    version: str = "2.5"

    def __post_init__(self) -> None:
        names = [server.name for server in self.servers]
        for name in names:
            if names.count(name) > 1:
                raise BadValue(f"two brokers are called {name!r}; give each its own name")
        if self.version not in WORDS:
            raise UnknownName.of("Artemis version", self.version, WORDS)
        for known, given in ((CLUSTER, self.cluster), (ADDRESSES, self.addresses),
                             (CLIENTS, self.clients)):  # fmt: skip
            for key in given:
                if key not in known:
                    raise UnknownName.of("option", key, known)
        for server in self.servers:
            kind = self.option(server, "message_load_balancing")
            if kind not in BALANCING:
                raise UnknownName.of("message-load-balancing", kind, BALANCING, server.name)
        for where, name in self._mentioned():
            if name not in names:
                raise UnknownName.of("broker", name, names, where)
        opened: dict[str, dict[str, bool]] = {"consumer": {}, "producer": {}}
        for no, step in enumerate(self.steps, start=1):
            _check_step(step, f"step {no}, {step.do}", names, opened)

    def _mentioned(self) -> Iterator[tuple[str, str]]:
        """Yield each place outside of the script that names a broker."""
        for queue in self.queues:
            for key in queue:
                if key not in QUEUE:
                    raise UnknownName.of("key", key, QUEUE, "queues")
            if queue.get("routing", "anycast") not in ROUTING:
                raise UnknownName.of("routing", queue["routing"], ROUTING, "queues")
            if "name" not in queue:
                raise BadValue(f"queues: {dict(queue)}; write an object with the key 'name'")
            yield from ((f"queue {queue['name']!r}", name) for name in queue.get("on", ()))
        for server in self.servers:
            for half in (server, *server.halves()):
                for connector in (half.scale_down or {}).get("connectors", ()):
                    yield f"scale-down of {half.name!r}", str(connector).removeprefix("to_")

    @property
    def forgets_crashed(self) -> bool:
        """Whether voters drop a crashed broker from their topology, and a vote is tried again."""
        return self.version != "2.4"

    def option(self, server: Server, key: str) -> Any:
        """Return an option of a broker's cluster connection: its own, the scenario's, the default."""
        own = server.keys.get("cluster", {})
        return own.get(key, self.cluster.get(key, CLUSTER[key]))


def _check_step(
    step: Step, where: str, brokers: list[str], opened: dict[str, dict[str, bool]]
) -> None:
    """Raise for a step with unknown or missing keys, or names of what is not there."""
    if step.do not in STEPS:
        raise UnknownName.of("step", step.do, STEPS, where)
    needed, more = STEPS[step.do]
    allowed = (*needed.replace("|", " ").split(), *more.split(), "at")
    for key in step.keys:
        if key not in allowed:
            raise UnknownName.of("key", key, allowed, where)
    for key in needed.split():
        if not any(choice in step.keys for choice in key.split("|")):
            raise BadValue(f"{where}: key {' or '.join(map(repr, key.split('|')))} is missing")
    for key in ("broker", "brokers", "between", "isolate"):
        for name in _flat(step.keys.get(key, ())):
            if name not in brokers and (name, key) != ("clients", "between"):
                raise UnknownName.of("broker", name, brokers, where)
    if step.at is not None:
        duration(step.at, f"{where}, at")
    if step.do == "wait_until" and not isinstance(step.keys["broker"], str):
        raise BadValue(f"{where}: broker is {step.keys['broker']!r}; write one name")
    if "durable_name" in step.keys and "client_id" not in step.keys:
        raise BadValue(f"{where}: a durable subscription needs the key 'client_id'")
    if "selector" in step.keys:
        try:
            Selector(step.keys["selector"])
        except SelectorError as error:
            raise SelectorError(f"{where}: {error}") from None
    for key, choices in CHOICES.items():
        if step.keys.get(key, choices[0]) not in choices:
            raise UnknownName.of(key, step.keys[key], choices, where)
    for key in step.keys.get("url", ()):
        if key not in CLIENTS:
            raise UnknownName.of("client option", key, CLIENTS, where)
    for key in ("count", "ms", "timeout_ms", "time_limit_ms", "interval_ms", "bytes_per_second"):
        value = step.keys.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            raise BadValue(f"{where}: {key} is {value!r}; write a number, 0 or more")
    _check_clients(step, where, opened)


def _flat(given: Any) -> Iterator[str]:
    for item in [given] if isinstance(given, str) else given:
        yield from [item] if isinstance(item, str) else item


def _check_clients(step: Step, where: str, opened: dict[str, dict[str, bool]]) -> None:
    """Raise for a client that is opened twice, or used and never opened."""
    keys = step.keys
    if step.do in OPENS:
        kind = "consumer" if "consumer" in keys else "producer"
        name = str(keys.get("consumer") or keys.get("producer") or keys.get("client"))
        if name in opened[kind]:
            raise BadValue(f"{where}: two are called {name!r}; give each {kind} its own name")
        opened[kind][name] = bool({"queue", "topic"} & set(keys))
        return
    anybody = {**opened["consumer"], **opened["producer"]}
    senders = opened["producer"] if step.do in ("send", "xa") else anybody
    for key, known in (("consumer", opened["consumer"]), ("producer", senders),
                       ("client", senders)):  # fmt: skip
        if key in keys and keys[key] not in known:
            raise UnknownName.of(key, keys[key], sorted(known), where)
    if step.do != "send":
        return
    name = keys.get("producer", keys.get("client"))
    dest = bool({"queue", "topic"} & set(keys)) or opened["producer"].get(str(name), False)
    if not dest or (name is None and "broker" not in keys):
        raise BadValue(f"{where}: write 'producer', or 'broker', and 'queue' or 'topic'")


def votes_needed(size: int) -> int:
    """Return how many votes a cluster of a size asks for (artemis-ha.md, section 3).

    >>> [votes_needed(size) for size in range(7)]
    [0, 0, 1, 2, 3, 3, 4]
    """
    return {1: 0, 2: 1}.get(size, size // 2 + 1) if size > 0 else 0
