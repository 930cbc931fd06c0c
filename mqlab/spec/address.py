"""What broker URIs stand for: a client's address, a connector's address, a broker inside a URI.

Sources: reference/activemq-failover-discovery.md, sections 1 to 3; Fuse 1 and Fuse 4, Example 4.8.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mqlab.errors import BadValue, UnknownName, UriError
from mqlab.spec.rows import OPTIONS
from mqlab.spec.uri import Uri, parse

MOST_NESTED = 5  # composite URIs inside one another in the address of a network connector
DENIED_TO_ADMINISTRATORS = ("vm",)  # would create a broker inside the broker
RANGES = {"diffServ": range(64), "trafficClass": range(256), "typeOfService": range(256)}
CLASSES = ("CS0", "CS1", "CS2", "CS3", "CS4", "CS5", "CS6", "CS7", "EF",
           "AF11", "AF12", "AF13", "AF21", "AF22", "AF23",
           "AF31", "AF32", "AF33", "AF41", "AF42", "AF43")  # fmt: skip
# Options of a broker that a URI or file may set and that change nothing which the lab shows.
INERT_BROKER_OPTIONS = ("persistent", "useJmx", "brokerName", "populateJMSXUserID", "useShutdownHook",
                        "deleteAllMessagesOnStartup", "schedulerSupport", "dataDirectory",
                        "useLocalHostBrokerName", "monitorConnectionSplits", "keepDurableSubsActive",
                        "vmConnectorURI", "start")  # fmt: skip


def masterslave_address(uri: Uri) -> Uri:
    """Return the failover address that `masterslave:` is short for (Fuse 4, Example 4.8)."""
    inside = ",".join(map(str, uri.components))
    return parse(f"failover:({inside})?randomize=false&maxReconnectAttempts=0")


def check_connector(uri: Uri, by_administrator: bool = False) -> None:
    """Raise a `UriError` when a broker refuses *uri* as the address of a network connector.

    Over remote administration some schemes are refused that a configuration file may use.
    """
    if uri.depth() > MOST_NESTED:
        raise UriError(
            f"broker URI: {uri}: more than {MOST_NESTED} addresses inside one another; "
            "write one static:(...) with a list"
        )
    for leaf in uri.leaves():
        if by_administrator and leaf.scheme in DENIED_TO_ADMINISTRATORS:
            raise UriError(
                f"broker URI: {leaf}: {leaf.scheme}: is refused in a connector that is added "
                "over remote administration; write tcp://HOST:PORT"
            )


@dataclass(frozen=True, slots=True)
class ClientAddress:
    """A client's address: where it connects to, and the client's own options in it.

    `options` are those written with ``jms.`` before them, without that; `broker_url` is the
    rest of the address.
    """

    broker_url: Uri
    options: Mapping[str, str | None]

    @classmethod
    def read(cls, text: str) -> ClientAddress:
        """Read an address; raises `UriError` or `BadValue` for what a client refuses."""
        uri = parse(text)
        for leaf in uri.leaves():
            _check_transport(leaf)
        options = take_prefixed(uri.parameters, "jms.")
        rest = "&".join(
            key if value is None else f"{key}={value}"
            for key, value in uri.parameters.items()
            if not key.startswith("jms.")
        )
        return cls(uri.with_query(rest) if options else uri, options)

    @property
    def connect_response_timeout(self) -> int:
        """How long to wait for the broker's answer on connecting (ms); 0 is for ever."""
        return int(self.options.get("connectResponseTimeout") or 0)


def _check_transport(leaf: Uri) -> None:
    for option, allowed in RANGES.items():
        value = leaf.parameters.get(option, "0")
        number = int(value) if value and value.isdecimal() else -1
        if number not in allowed and not (option == "diffServ" and value in CLASSES):
            names = ", or a class such as EF" if option == "diffServ" else ""
            raise BadValue(
                f"{leaf}: {option}={value or ''}: write {allowed.start} to {allowed.stop - 1}{names}"
            )


def take_prefixed(given: Mapping[str, str | None], prefix: str) -> dict[str, str | None]:
    """Return the options whose names begin with *prefix*, named without it.

    >>> take_prefixed({"jms.prefetch": "5", "x": "1"}, "jms.")
    {'prefetch': '5'}
    """
    return {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}


def apply_options(uri: Uri, given: Mapping[str, str], prefix: str = "") -> Uri:
    """Return *uri* with the options of *given* appended that begin with *prefix*, without it."""
    more = "&".join(f"{key}={value}" for key, value in take_prefixed(given, prefix).items())
    return uri.with_query("&".join(filter(None, (uri.query, more))))


def add_addresses(known: Iterable[Uri], more: Iterable[Uri]) -> tuple[Uri, ...]:
    """Return a failover list with *more* addresses; names of one host count as one address."""
    found = {_place(uri): uri for uri in known}
    for uri in more:
        found.setdefault(_place(uri), uri)
    return tuple(found.values())


def _place(uri: Uri) -> tuple[str, str | None, int | None]:
    return uri.scheme, "localhost" if uri.host == "127.0.0.1" else uri.host, uri.port


@dataclass(frozen=True, slots=True)
class EmbeddedBroker:
    """A broker that a ``broker:`` or ``vm:`` URI describes."""

    name: str
    options: Mapping[str, str | None] = field(default_factory=dict)
    transport_connectors: tuple[str, ...] = ()
    network_connectors: tuple[str, ...] = ()
    transport_options: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> EmbeddedBroker:
        """Read such a URI; raises `UnknownName` for an option that brokers do not have."""
        uri = parse(text)
        inner = uri.components[0] if uri.scheme == "vm" and uri.components else uri
        if inner.scheme != "broker":
            options = take_prefixed(uri.parameters, "broker.")
            rest = {k: v for k, v in uri.parameters.items() if not k.startswith("broker.")}
            _check_broker_options(options)
            return cls(uri.host or "localhost", options, transport_options=rest)
        options = dict(inner.parameters)
        _check_broker_options(options)
        networks = [c for c in inner.components if c.scheme == "network"]
        return cls(
            name=inner.path or options.get("brokerName") or "localhost",
            options=options,
            transport_connectors=tuple(str(c) for c in inner.components if c not in networks),
            network_connectors=tuple(str(c).removeprefix("network:") for c in networks),
        )


def _check_broker_options(options: Mapping[str, str | None]) -> None:
    known = {*INERT_BROKER_OPTIONS, *(option.guide for option in OPTIONS["broker"].values())}
    for name in options:
        if name not in known:
            raise UnknownName.of("broker option", name, sorted(known))
