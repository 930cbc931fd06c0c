"""Brokers and the connectors between them.

A connector is defined at one broker and points at another: messages go from the first to the
second, news of consumers comes back (Fuse 2, Figure 2.1). In mqlab the host of an address is
the name of a broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mqlab.errors import BadValue, UnknownName, UriError
from mqlab.spec import uri as uris
from mqlab.spec.address import check_connector
from mqlab.spec.option import DEFAULT_EDITION, edition_of
from mqlab.spec.rows import OPTIONS, policy_of, read_options
from mqlab.spec.values import CONSUMER_ADVISORIES, Destination

HEARD = ("multicast", "rendezvous", "zeroconf")  # agents that find brokers by themselves
MODES = ("refuse", "accept_close", "silent")


def _name(what: str, given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise BadValue(f"{what}: {given!r} is not a name; write a text that is not empty")
    return given


def _resolved(element: str, options: Mapping[str, object], name: str, edition: str) -> object:
    rows = OPTIONS[element]
    if name not in rows:
        raise UnknownName.of("option", name, rows)
    value = options.get(name)
    if value is None and name in ("message_ttl", "consumer_ttl"):
        return _resolved(element, options, "network_ttl", edition)
    return rows[name].default_for(edition) if value is None else value


class _Options:
    """Read an option by attribute, with the default of the default edition."""

    __slots__ = ()
    ELEMENT = ""
    pairs: tuple[tuple[str, object], ...]  # hashable and easily copied, unlike a mapping

    @property
    def options(self) -> dict[str, object]:
        """The options that were written, by Python name."""
        return dict(self.pairs)

    def get(self, option: str, edition: str = DEFAULT_EDITION) -> Any:
        """Return the option's value: what was written, or else the default of *edition*."""
        return _resolved(self.ELEMENT, self.options, option, edition)

    def __getattr__(self, name: str) -> Any:
        if name in OPTIONS[self.ELEMENT]:
            return self.get(name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=True)
class NetworkConnector(_Options):
    """A connector of the broker that holds it, towards the brokers its `uri` names.

    Keyword options are those of `networkConnector` in snake case (rows in `spec/option.py`).
    Raises `UnknownName`, `BadValue` or `UriError`.

    >>> ab = NetworkConnector("ab", uri="static:(tcp://B:61616)", network_ttl=3)
    >>> ab.targets, ab.message_ttl, ab.duplex
    (('B',), 3, False)
    """

    name: str
    uri: str
    pairs: tuple[tuple[str, object], ...]
    judged: bool = field(compare=False)  # whether its address was looked at

    def __init__(self, name: str, *, uri: str, **options: object) -> None:
        _name("networkConnector", name)
        object.__setattr__(self, "judged", True)
        parsed = uris.parse(uri)
        if not parsed.components:
            raise BadValue(
                f"networkConnector {name!r}: {uri!r} is the address of a transport; "
                f"write static:({uri})"
            )
        check_connector(parsed)
        checked = read_options("networkConnector", options, f"networkConnector {name!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "uri", uri)
        object.__setattr__(self, "pairs", tuple(checked.items()))

    ELEMENT = "networkConnector"

    @classmethod
    def as_written(cls, name: str, uri: str, **options: object) -> NetworkConnector:
        """Return a connector with an address that only its broker judges, at its start."""
        connector = cls(name, uri="static:(tcp://unread:0)", **options)
        object.__setattr__(connector, "uri", uri)
        object.__setattr__(connector, "judged", False)
        return connector

    def __repr__(self) -> str:
        written = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"NetworkConnector({self.name!r}, uri={self.uri!r}{written})"

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of the brokers the address leads to, in order."""
        try:
            leaves = uris.parse(self.uri).leaves()
        except UriError:
            return ()  # as it was written
        return tuple(leaf.host or leaf.path or "" for leaf in leaves if leaf.scheme not in HEARD)

    @property
    def advisory_topics(self) -> tuple[str, ...]:
        """The topics at the other end on which the bridge hears of consumers."""
        if self.destination_filter:
            return tuple(self.destination_filter.split(","))
        included = [Destination.parse(t) for t in self.dynamically_included_destinations]
        return tuple(
            f"{CONSUMER_ADVISORIES}{'Queue' if dest.is_queue else 'Topic'}.{dest.name}"
            for dest in included
        ) or (f"{CONSUMER_ADVISORIES}>",)

    def change(self, **options: object) -> NetworkConnector:
        """Return the connector with these options set; None takes an option back."""
        make = NetworkConnector if self.judged else NetworkConnector.as_written
        return make(self.name, uri=self.uri, **{**self.options, **options})


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=True)
class TransportConnector(_Options):
    """What a broker listens with, and what it tells the clients that come by it (Fuse 1, Table 1.1)."""

    name: str
    pairs: tuple[tuple[str, object], ...]

    def __init__(self, name: str = "openwire", **options: object) -> None:
        _name("transportConnector", name)
        checked = read_options("transportConnector", options, f"transportConnector {name!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "pairs", tuple(checked.items()))

    ELEMENT = "transportConnector"

    def __repr__(self) -> str:
        written = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"TransportConnector({self.name!r}{written})"


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=True)
class Broker(_Options):
    """A broker by name, with the network connectors it defines, and the transport connector if it is told.

    `policies` are destination policies and `composites` composite queues (name, forward_to,
    forward_only) in the lab file's form; `at` is a wish where to draw the broker (unit square, y
    upwards).
    """

    name: str
    connectors: tuple[NetworkConnector, ...]
    pairs: tuple[tuple[str, object], ...]
    policies: tuple[Mapping[str, Any], ...] = field(hash=False)
    composites: tuple[Mapping[str, Any], ...] = field(hash=False)
    at: tuple[float, float] | None
    transport: TransportConnector

    def __init__(
        self,
        name: str,
        *connectors: NetworkConnector | TransportConnector,
        policies: tuple[Mapping[str, object], ...] = (),
        composites: tuple[Mapping[str, object], ...] = (),
        at: tuple[float, float] | None = None,
        **options: object,
    ) -> None:
        _name("broker", name)
        seen: set[str] = set()
        listens = [c for c in connectors if isinstance(c, TransportConnector)]
        if len(listens) > 1:
            raise BadValue(f"broker {name!r}: one TransportConnector is known; leave one out")
        object.__setattr__(self, "transport", (*listens, TransportConnector())[0])
        connectors = tuple(c for c in connectors if isinstance(c, NetworkConnector))
        for connector in connectors:
            if connector.name in seen:
                raise BadValue(
                    f"broker {name!r}: two network connectors are called {connector.name!r}; a "
                    "broker refuses the second bridge of that name, so give each its own name"
                )
            seen.add(connector.name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "connectors", connectors)
        checked = read_options("broker", options, f"broker {name!r}")
        object.__setattr__(self, "pairs", tuple(checked.items()))
        read = (policy_of(policy, f"broker {name!r}, policy") for policy in policies)
        object.__setattr__(self, "policies", tuple(read))
        object.__setattr__(self, "composites", tuple(composites))
        object.__setattr__(self, "at", at)

    ELEMENT = "broker"

    def __repr__(self) -> str:
        parts = [repr(self.name), *map(repr, self.connectors)]
        parts += [repr(self.transport)] if self.transport.pairs else []
        parts += [f"{name}={value!r}" for name, value in self.options.items()]
        return f"Broker({', '.join(parts)})"

    def replace(self, *connectors: NetworkConnector, **options: object) -> Broker:
        """Return the broker with other connectors, and *options* set."""
        return Broker(
            self.name,
            *connectors,
            self.transport,
            policies=self.policies,
            composites=self.composites,
            at=self.at,
            **{**self.options, **options},
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A listener that is no broker: it refuses, accepts and closes, or accepts and is silent."""

    name: str
    mode: str = "refuse"

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UnknownName.of("mode", self.mode, MODES, f"endpoint {self.name!r}")


@dataclass(frozen=True, slots=True)
class Around:
    """What lies around the brokers of a network.

    `endpoints` are listeners that are no brokers, `lines` names of lines that lead to a broker and can
    be cut (line: broker), `files` texts that clients read.
    """

    endpoints: tuple[Endpoint, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Network:
    """Brokers with their connectors, of one edition of ActiveMQ.

    Raises `BadValue` for two brokers of one name, `UnknownName` for a connector to a broker
    that is not there or for an unknown edition.
    """

    brokers: tuple[Broker, ...]
    edition: str
    around: Around

    def __init__(
        self, *brokers: Broker, edition: str = DEFAULT_EDITION, around: Around = Around()
    ) -> None:
        names = [
            *(broker.name for broker in brokers),
            *(end.name for end in around.endpoints),
            *(line for line, _ in around.lines),
        ]
        for name in names:
            if names.count(name) > 1:
                raise BadValue(f"two brokers are called {name!r}; give each its own name")
        for broker in brokers:
            for connector in broker.connectors:
                for target in connector.targets:
                    if connector.judged and target not in names:
                        where = f"broker {broker.name!r}, networkConnector {connector.name!r}"
                        raise UnknownName.of("broker", target, names, where)
            master = broker.options.get("pure_slave_of")
            if master is not None and master not in names:
                raise UnknownName.of("broker", master, names, f"broker {broker.name!r}")
        object.__setattr__(self, "brokers", tuple(brokers))
        object.__setattr__(self, "edition", edition_of(edition))
        object.__setattr__(self, "around", around)

    def __repr__(self) -> str:
        return f"Network({', '.join(map(repr, self.brokers))}, edition={self.edition!r})"

    @property
    def names(self) -> tuple[str, ...]:
        """The brokers' names in order."""
        return tuple(broker.name for broker in self.brokers)

    def broker(self, name: str) -> Broker:
        """Return the broker called *name*."""
        for broker in self.brokers:
            if broker.name == name:
                return broker
        raise UnknownName.of("broker", name, self.names)

    def connectors(self) -> tuple[tuple[Broker, NetworkConnector], ...]:
        """Return every connector with the broker that defines it."""
        return tuple((b, connector) for b in self.brokers for connector in b.connectors)

    def change(self, path: str, **options: object) -> Network:
        """Return the network with *options* set on what *path* names.

        A path is ``broker`` or ``broker/connector``; ``*`` for either means all of them.
        """
        broker_name, _, connector_name = path.partition("/")
        if broker_name != "*":
            self.broker(broker_name)
        changed, hits = [], 0
        for broker in self.brokers:
            if broker_name not in ("*", broker.name):
                changed.append(broker)
                continue
            if not connector_name:
                changed.append(broker.replace(*broker.connectors, **options))
                hits += 1
                continue
            chosen = [c.name for c in broker.connectors if connector_name in ("*", c.name)]
            hits += len(chosen)
            changed.append(
                broker.replace(
                    *(c.change(**options) if c.name in chosen else c for c in broker.connectors)
                )
            )
        if not hits:
            known = [f"{b.name}/{c.name}" for b, c in self.connectors()]
            raise UnknownName.of("network connector", path, known)
        return Network(*changed, edition=self.edition, around=self.around)

    def under(self, edition: str) -> Network:
        """Return the same network run by another edition (one of 5.5, 5.17, 5.18, 6.1)."""
        return Network(*self.brokers, edition=edition, around=self.around)
