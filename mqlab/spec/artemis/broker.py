"""An Artemis broker: its high-availability policy, its role in it, and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from mqlab.errors import BadValue, SelectorError, UnknownName, shown
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS, Options, read_options
from mqlab.spec.calls import Called
from mqlab.spec.json_types import JsonDict, JsonValue
from mqlab.spec.manual import documented
from mqlab.spec.options import unknown
from mqlab.spec.selector import Selector
from mqlab.spec.shape import OBJECT, check_noun

if TYPE_CHECKING:
    from typing import Unpack

    from mqlab.spec.options.types import ArtemisBrokerOptions

ROLES: dict[str, tuple[str, ...]] = {
    "replication": ("master", "slave", "colocated"),
    "shared_store": ("master", "slave", "colocated"),
    "live_only": ("live",),
}
SPOKEN = {"primary": "master", "backup": "slave"}  # what later versions call the roles
# Fail-back is off by default between replicas and on where a store is shared.
ALLOW_FAILBACK = {"replication": False, "shared_store": True}
ROUTING = ("anycast", "multicast")


_NAMED = {
    "address_settings": "address-setting",
    "diverts": "divert",
    "bridges": "bridge",
}  # key -> section of each of its parts
# What is read in a policy to which it does not belong: its schema refuses it as the broker starts. That of 2.28
# has the number of old journals in a replication master, too: after a failback it has been a slave.
_SAVED = "max_saved_replicated_journals_size"
_REFUSED_AT_START = {"excludes": ("colocated",), _SAVED: ("master",)}
_BEFORE_2_28 = ("2.4", "2.5")
_INNER = {"cluster": "cluster-connection", "core": "core"}  # key -> section
_HERE = (
    "ha-policy",
    "broker",
    "cluster-connection",
    "core",
)  # sections whose options a broker takes


INVALID = "java.lang.IllegalStateException: Invalid configuration"  # not by the product's schema


class Refusal(NamedTuple):
    """Why a broker does not start, in the product's words; how to mend that, and *what* its schema lacks."""

    reason: str
    fix: str
    what: str = ""


@documented([row for section in _HERE for row in OPTIONS[section].values()])
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Broker(metaclass=Called):
    """One broker of `broker.xml`: its HA policy and role, and what is written below them.

    Keyword options are elements of the policy, options of its cluster connection, its network check
    and itself, in snake case (rows in `spec/options`). Raises `UnknownName` or `BadValue`.

    >>> Broker("S1", "replication", "slave", allow_failback=True, max_hops=2)
    Broker('S1', 'replication', 'slave', allow_failback=True, max_hops=2)
    """

    name: str
    policy: str
    role: str
    elements: Options = field(hash=False)
    keys: Options = field(hash=False)  # of itself, and under `cluster` and `core`

    def __init__(
        self,
        name: str,
        policy: str = "live_only",
        role: str | None = None,
        elements: Options | None = None,
        keys: Options | None = None,
        **options: Unpack[ArtemisBrokerOptions],
    ) -> None:
        where = f"broker {shown(name)}"
        if not isinstance(name, str) or not name.strip():
            raise BadValue(f"{where} has no name; expected a non-empty string")
        if not isinstance(policy, str):
            told = f"expected one of {', '.join(ROLES)}; brokers are connected by to=['B']"
            raise BadValue(f"{where}: {shown(policy)} is not an HA policy; {told}")
        if policy not in ROLES:
            raise UnknownName.of("policy", policy, ROLES, where)
        role = ROLES[policy][0] if role is None else role
        if role not in ROLES[policy]:
            if (meant := (SPOKEN | {"live": "master"}).get(str(role))) in ROLES[policy]:
                raise UnknownName(f"{where}: the {policy} role {role!r} is called {meant!r} here")
            raise UnknownName.of(f"{policy} role", role, ROLES[policy], where)
        OBJECT.check(elements or {}, f"{where}, elements")
        OBJECT.check(keys or {}, f"{where}, keys")
        below, own = dict(elements or {}), dict(keys or {})
        for option, value in options.items():
            if value is not None:
                _place(option, value, below, own, where)
        for slot, given in zip(self.__slots__, (name, policy, role, below, own), strict=True):
            object.__setattr__(self, slot, given)
        for element, value in below.items():
            below[element] = self._read_element(element, value)
        for key, value in own.items():
            if key in _NAMED:
                own[key] = _named(key, value, where)
            elif key in OPTIONS["broker"]:
                own |= read_options("broker", {key: value}, where)
            elif key in _INNER:
                own[key] = read_options(_INNER[key], value or {}, where)
        for half in ("master", "slave") if role == "colocated" else ():
            if half in below:
                below[half] = self.part(half, f"{half} of {name}").elements

    def __repr__(self) -> str:
        written = "".join(f", {name}={value!r}" for name, value in self.options.items())
        kind = f", {self.policy!r}, {self.role!r}" if self.policy != "live_only" else ""
        return f"Broker({self.name!r}{kind}{written})"

    def change(self, **options: object) -> Broker:
        """Return the broker with these options set; None takes one back."""
        elements, keys = dict(self.elements), dict(self.keys)
        for name, value in options.items():
            _place(name, value, elements, keys, f"broker {self.name!r}")
        inner = {
            key: {k: v for k, v in it.items() if v is not None} if isinstance(it, Mapping) else it
            for key, it in keys.items()
            if it is not None
        }
        elements = {name: value for name, value in elements.items() if value is not None}
        return Broker(self.name, self.policy, self.role, elements, inner)

    def as_the_network(self, options: Iterable[str]) -> Broker:
        """Return the broker without these options of its cluster connection, and of its addresses as a whole.

        Then what the network says of them holds.
        """
        keys: JsonDict = dict(self.keys)
        if "cluster" in keys:
            keys["cluster"] = {k: v for k, v in keys["cluster"].items() if k not in options}
        if "address_settings" in keys:
            own = dict(keys["address_settings"])
            own["#"] = {k: v for k, v in own.get("#", {}).items() if k not in options}
            keys["address_settings"] = {match: it for match, it in own.items() if it}
        keys = {key: it for key, it in keys.items() if it != {}}
        return self if keys == self.keys else Broker(self.name, self.policy, self.role, self.elements, keys)

    @property
    def options(self) -> dict[str, object]:
        """All that is written below it, by Python name."""
        own = {key: value for key, value in self.keys.items() if key not in ("cluster", "core")}
        inner = {**(self.keys.get("cluster") or {}), **(self.keys.get("core") or {})}
        return {**self.elements, **own, **inner}

    def _read_element(self, name: str, value: object) -> object:
        """Return an element's value; raises for one that is not, stands elsewhere, or is of another type."""
        where = f"broker {self.name!r}"
        if name not in ELEMENTS:
            raise UnknownName.of("element", name, ELEMENTS, where)
        row = ELEMENTS[name]
        fits = self.role in row.roles and self.policy in row.policies
        if not fits and not (name in _REFUSED_AT_START and self.role in _REFUSED_AT_START[name]):
            raise BadValue(
                f"{where}: {name} is not allowed in a {self.policy} {self.role}; it belongs in a "
                f"{' or '.join(row.policies)} {' or '.join(row.roles)}"
            )
        read: JsonValue = None if value is None else row.read(value, where)
        return read_options("scale-down", read, where) if name == "scale_down" and read else read

    def element(self, name: str) -> Any:
        """Return an element's value, or the product's default; a colocated broker has its master's."""
        given = self.elements
        if name not in given and self.role == "colocated":
            given = given.get("master") or {}
        if name == "allow_failback":
            return given.get(name, ALLOW_FAILBACK.get(self.policy))
        return given.get(name, ELEMENTS[name].default)

    @property
    def scale_down(self) -> Options | None:
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

    @property
    def asks_gateway(self) -> bool:
        """Whether it asks a URL, which is at the gateway."""
        return "network_check_url_list" in self.keys.get("core", {})

    def parts(self, kind: str) -> Mapping[str, Options]:
        """Return name -> options of its ``diverts`` or ``bridges``."""
        found: Mapping[str, Options] = self.keys.get(kind) or {}
        return found

    def unbridged(self, other: str) -> Broker:
        """Return the broker without what its bridges have of another."""
        given = self.parts("bridges")
        left = {
            name: {**it, "to": [to for to in it["to"] if to != other]} if other in it.get("to", ()) else it
            for name, it in given.items()
        }
        return self if left == given else self.change(bridges=left)

    @property
    def persists(self) -> bool:
        """Whether its messages survive a restart; one with an HA policy is played as if they did."""
        return self.policy != "live_only" or bool(self.keys.get("core", {}).get("persistence_enabled", True))

    @property
    def scan_period(self) -> int:
        """How often (ms) it looks for expired messages."""
        return int(self.keys.get("core", {}).get("message_expiry_scan_period", 30_000))

    @property
    def check_period(self) -> int:
        """How often (ms) it asks."""
        return int(self.keys.get("core", {}).get("network_check_period", 5000))

    def part(self, role: str, name: str) -> Broker:
        """Return the master or slave half of a colocated broker as a broker of its own."""
        return Broker(name, self.policy, role, dict(self.elements.get(role) or {}), self.keys)

    def halves(self) -> tuple[Broker, ...]:
        """The master and the slave of a colocated broker; none of another."""
        roles = ("master", "slave") if self.role == "colocated" else ()
        return tuple(self.part(role, self.name) for role in roles)

    def refusal(self, edition: str, cluster: Options) -> Refusal | None:
        """Return why the product does not start with this, and this of its *cluster* connection."""
        if edition == "2.4" and {"vote_retries", "vote_retry_wait"} & set(self.elements):
            what = "vote-retries and vote-retry-wait are not accepted by edition 2.4"
            return Refusal(INVALID, "remove them, or use edition 2.5", what)
        for name in _REFUSED_AT_START.keys() & self.elements.keys():
            row = ELEMENTS[name]
            if name == _SAVED and self.policy == "replication" and edition not in _BEFORE_2_28:
                continue
            if self.role not in row.roles or self.policy not in row.policies:
                said = name.replace("_", "-")
                where = f"{self.role} {self.policy.replace('_', '-')} policy"
                return Refusal(INVALID, f"remove {said}", f"{said} is not accepted in a {where}")
        kind = cluster.get("message_load_balancing")
        if kind == "OFF_WITH_REDISTRIBUTION" and edition in _BEFORE_2_28:
            what = f"message-load-balancing {kind} is not accepted by edition {edition}"
            return Refusal(INVALID, "use ON_DEMAND, or edition 2.28", what)
        size = self.element("quorum_size")
        if size != -1 and size < 1:
            reason = (
                "java.lang.IllegalArgumentException: AMQ119041: quorum-size  must be equals to -1 "
                f"or greater than 0 (actual value: {size})"
            )
            return Refusal(reason, "use -1 or a value of at least 1")
        return None


def _named(key: str, value: object, where: str) -> dict[str, JsonDict]:
    """Return match -> options of addresses, or name -> those of diverts; raises for what is none."""
    row = OPTIONS["broker"][key]
    given: JsonValue = row.read(value, where)
    return {
        name: read_options(_NAMED[key], options, f"{where}, {_NAMED[key]} {name!r}")
        for name, options in given.items()
        if isinstance(options, Mapping) or row.read(options, f"{where}, {_NAMED[key]} {name!r}")
    }


def _place(option: str, value: object, elements: dict[str, object], keys: JsonDict, where: str) -> None:
    inner = next((key for key, section in _INNER.items() if option in OPTIONS[section]), None)
    if option in ELEMENTS:
        elements[option] = value
    elif option in OPTIONS["broker"]:
        keys[option] = value
    elif inner is None:
        known = [name for section in _HERE for name in OPTIONS[section]]
        raise unknown("artemis", option, known, where)
    else:
        keys[inner] = {**keys.get(inner, {}), option: value}


@dataclass(frozen=True, slots=True)
class AddressQueue(metaclass=Called):
    """A queue as `broker.xml` lists it: of an address (its own name), at some brokers (all).

    It takes what its filter, a selector, lets pass. With `purge_on_no_consumers` it takes nothing without
    consumers, and is emptied when the last one leaves. At most `max_consumers` can have it open. What is in
    one that is not `durable` is gone after a restart.
    """

    name: str
    routing: str = field(default="anycast", kw_only=True)
    address: str | None = field(default=None, kw_only=True)
    on: tuple[str, ...] | None = field(default=None, kw_only=True)
    filter: str | None = field(default=None, kw_only=True)
    purge_on_no_consumers: bool = field(default=False, kw_only=True)
    max_consumers: int | None = field(default=None, kw_only=True)
    durable: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        check_noun(self, f"queue {shown(self.name)}")
        if self.routing not in ROUTING:
            raise UnknownName.of("routing", self.routing, ROUTING, f"queue {self.name!r}")
        if self.filter is not None:
            try:
                Selector(self.filter)
            except SelectorError as error:
                raise BadValue(f"queue {self.name!r}: filter: {error}") from None

    @property
    def limits(self) -> tuple[str | None, bool, int | None, bool]:
        """What it takes, for how many, and for how long."""
        return self.filter, self.purge_on_no_consumers, self.max_consumers, self.durable

    @property
    def plain(self) -> tuple[str, str, str]:
        """Its name, routing and address."""
        return self.name, self.routing, self.address or self.name

    @property
    def topic(self) -> str | None:
        """The topic that a queue of routing multicast belongs to."""
        return (self.address or self.name) if self.routing == "multicast" else None

    def is_at(self, broker: str) -> bool:
        """Whether a broker has it."""
        return self.on is None or broker in self.on
