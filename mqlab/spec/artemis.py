"""Artemis brokers in high-availability set-ups: their policies, and the script of what happens.

Sources: AMQ Broker 7.1, chapter 21; reference/artemis-ha.md, section 8 (elements and defaults).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mqlab.errors import BadValue, UnknownName

ROLES: dict[str, tuple[str, ...]] = {
    "replication": ("master", "slave", "colocated"),
    "shared_store": ("master", "slave", "colocated"),
    "live_only": ("live",),
}
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
        for element in self.elements:
            if element not in ELEMENTS:
                raise UnknownName.of("element", element, ELEMENTS, f"broker {self.name!r}")
        for element in self.scale_down or ():
            if element not in SCALE_DOWN:
                raise UnknownName.of("scale-down element", element, SCALE_DOWN, self.name)

    def element(self, name: str) -> Any:
        """Return an element's value, or the product's default."""
        if name == "allow_failback":
            return self.elements.get(name, ALLOW_FAILBACK.get(self.policy))
        return self.elements.get(name, ELEMENTS[name][2])

    @property
    def scale_down(self) -> Mapping[str, Any] | None:
        """The elements of its scale-down, or None without one."""
        found = self.elements.get("scale_down")
        return found if isinstance(found, Mapping) else None

    @property
    def checks_network(self) -> bool:
        """Whether it asks an address of the network about itself."""
        core = self.keys.get("core", {})
        return any(key in core for key in ("network_check_list", "network_check_url_list"))

    def part(self, role: str, name: str) -> Server:
        """Return the master or slave half of a colocated broker as a server of its own."""
        return Server(name, self.policy, role, dict(self.elements.get(role) or {}), self.keys)

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
class Step:
    """One step of the script: what to do, and its keys."""

    do: str
    keys: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class HaScenario:
    """Brokers, their queues and cluster connections, and what happens to them.

    Raises `UnknownName` or `BadValue` for what cannot be; what the product itself refuses at start
    is told by `Server.refused`. `version` is 2.4 or 2.5: in the first, voters do not forget a
    crashed broker (reference/artemis-observed.md, section 1).
    """

    servers: tuple[Server, ...]
    queues: tuple[Mapping[str, Any], ...] = ()
    cluster: Mapping[str, Any] = field(default_factory=dict, hash=False)
    addresses: Mapping[str, Any] = field(default_factory=dict, hash=False)
    clients: Mapping[str, Any] = field(default_factory=dict, hash=False)
    steps: tuple[Step, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)
    version: str = "2.4"

    def __post_init__(self) -> None:
        names = [server.name for server in self.servers]
        for name in names:
            if names.count(name) > 1:
                raise BadValue(f"two brokers are called {name!r}; give each its own name")
        if self.version not in ("2.4", "2.5"):
            raise UnknownName.of("Artemis version", self.version, ("2.4", "2.5"))
        for known, given in ((CLUSTER, self.cluster), (ADDRESSES, self.addresses)):
            for key in given:
                if key not in known:
                    raise UnknownName.of("option", key, known)
        kind = self.cluster.get("message_load_balancing", "ON_DEMAND")
        if kind not in BALANCING:
            raise UnknownName.of("message-load-balancing", kind, BALANCING)
        for where, name in self._mentioned():
            if name not in names:
                raise UnknownName.of("broker", name, names, where)

    def _mentioned(self) -> Iterator[tuple[str, str]]:
        """Yield each place that names a broker."""
        for queue in self.queues:
            yield from ((f"queue {queue['name']!r}", name) for name in queue.get("on", ()))
        for server in self.servers:
            for connector in (server.scale_down or {}).get("connectors", ()):
                yield f"scale-down of {server.name!r}", str(connector).removeprefix("to_")
        for no, step in enumerate(self.steps):
            given = step.keys.get("broker", step.keys.get("brokers", ()))
            for name in [given] if isinstance(given, str) else given:
                yield f"step {no} {step.do}", name

    def option(self, server: Server, key: str) -> Any:
        """Return an option of a broker's cluster connection: its own, the scenario's, the default."""
        own = server.keys.get("cluster", {})
        return own.get(key, self.cluster.get(key, CLUSTER[key]))
