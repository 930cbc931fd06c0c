"""Connectors: what a broker points at others with, and what it listens with.

A network connector is defined at one broker and points at another: messages go from the first to the
second, consumer advisories come back (Fuse 2, Figure 2.1). In mqlab the host of an address is the name of a
broker.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mqlab.errors import BadValue, UnknownName, UriError, no_attribute, shown
from mqlab.spec import uri as uris
from mqlab.spec.calls import Called
from mqlab.spec.json_types import JsonDict, JsonValue
from mqlab.spec.manual import documented
from mqlab.spec.option import DEFAULT_EDITION
from mqlab.spec.rows import OPTIONS, read_options

if TYPE_CHECKING:
    from typing import Unpack

    from mqlab.spec.options.types import NetworkConnectorOptions, TransportConnectorOptions

_BLANK = re.compile(r"[(,]\s|\s[),]")  # beside an address
HEARD = ("multicast", "rendezvous", "zeroconf")  # agents that find brokers by themselves


def check_name(what: str, given: object) -> str:
    """Return a name; raises `BadValue` for what is no text, or an empty one."""
    if not isinstance(given, str) or not given.strip():
        raise BadValue(f"{what}: {shown(given)} is not a name; expected a non-empty string")
    return given


def _targets(address: uris.Uri | None) -> tuple[str, ...]:
    leaves = address.leaves() if address is not None else ()
    return tuple(leaf.host or leaf.path or "" for leaf in leaves if leaf.scheme not in HEARD)


class HasOptions(metaclass=Called):
    """Read an option by attribute, with the default of the default edition."""

    __slots__ = ()
    ELEMENT = ""
    pairs: tuple[tuple[str, object], ...]  # hashable and easily copied, unlike a mapping

    @property
    def options(self) -> JsonDict:
        """The options that were written, by Python name."""
        return dict(self.pairs)

    def get(self, option: str, edition: str = DEFAULT_EDITION) -> Any:
        """Return the option's value: what was written, or else the default of *edition*."""
        rows, written = OPTIONS[self.ELEMENT], dict(self.pairs)
        if option not in rows:
            raise UnknownName.of("option", option, rows)
        value = written.get(option)
        if value is None and option in ("message_ttl", "consumer_ttl"):
            return self.get("network_ttl", edition)
        return rows[option].default_for(edition) if value is None else value

    def __getattr__(self, name: str) -> Any:
        if name in OPTIONS[self.ELEMENT]:
            return self.get(name)
        known = () if name.startswith("_") else (*dir(self), *OPTIONS[self.ELEMENT])
        raise no_attribute(self, name, known)


@documented(OPTIONS["networkConnector"].values())
@dataclass(frozen=True, slots=True, init=False, repr=False, eq=True)
class NetworkConnector(HasOptions):
    """A network connector of the broker that contains it, to the brokers named in its `uri`.

    Keyword options are those of `networkConnector` in snake case (rows in `spec/options`).
    Raises `UnknownName`, `BadValue` or `UriError`.

    >>> ab = NetworkConnector("ab", uri="static:(tcp://B:61616)", network_ttl=3)
    >>> ab.targets, ab.message_ttl, ab.duplex
    (('B',), 3, False)
    """

    name: str
    uri: str
    pairs: tuple[tuple[str, object], ...]
    judged: bool = field(compare=False)  # whether its address was looked at
    address: uris.Uri | None = field(compare=False)  # its uri as it was read; None for one that is none
    targets: tuple[str, ...] = field(compare=False)  # the brokers that its address leads to, in order

    def __init__(
        self, name: str, uri: str = "", *more: object, **options: Unpack[NetworkConnectorOptions]
    ) -> None:
        check_name("networkConnector", name)
        if more:
            raise BadValue(f"networkConnector {name!r}: {shown(more[0])} has no name; use e.g. duplex=True")
        if uri == "":
            raise BadValue(f"networkConnector {name!r}: it has no uri; use e.g. uri='static:(tcp://B:61616)'")
        if not isinstance(uri, str):
            told = f"broker URI: {shown(uri)} is not a string; use e.g. 'static:(tcp://B:61616)'"
            raise UriError(f"networkConnector {name!r}: {told}")
        if ":" not in uri:
            right = f"static:(tcp://{uri.strip()}:61616)"
            raise UriError(f"networkConnector {name!r}: {uri!r} is not a discovery URI; use {right}")
        object.__setattr__(self, "judged", True)
        parsed = uris.parse(uri)
        if not parsed.components and parsed.scheme in uris.COMPOSITE:
            raise BadValue(
                f"networkConnector {name!r}: {uri!r} contains no broker address; use e.g. static:(tcp://B:61616)"
            )
        if not parsed.components and parsed.scheme not in HEARD:
            raise BadValue(
                f"networkConnector {name!r}: {uri!r} is a transport URI, not a discovery URI; use "
                f"static:({uri})"
            )
        if _BLANK.search(uri):
            told = "the address contains a space, with which a real broker does not start"
            raise BadValue(f"networkConnector {name!r}: {told}; write {''.join(uri.split())!r}")
        if parsed.components:
            uris.check_inside(parsed)
        checked = read_options("networkConnector", options, f"networkConnector {name!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "uri", uri)
        object.__setattr__(self, "pairs", tuple(checked.items()))
        object.__setattr__(self, "address", parsed)
        object.__setattr__(self, "targets", _targets(parsed))

    ELEMENT = "networkConnector"

    @classmethod
    def as_written(cls, name: str, uri: str, **options: JsonValue) -> NetworkConnector:
        """Return a connector with an address that only its broker judges, at its start."""
        connector = cls(name, uri="static:(tcp://unread:0)", **options)
        object.__setattr__(connector, "uri", uri)
        object.__setattr__(connector, "judged", False)
        object.__setattr__(connector, "address", address := uris.read(uri) if isinstance(uri, str) else None)
        object.__setattr__(connector, "targets", _targets(address))
        return connector

    def __repr__(self) -> str:
        written = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"NetworkConnector({self.name!r}, uri={self.uri!r}{written})"

    def change(self, **options: object) -> NetworkConnector:
        """Return the connector with these options, `name` or `uri` set; None takes an option back."""
        make = NetworkConnector if self.judged else NetworkConnector.as_written
        return make(**{"name": self.name, "uri": self.uri, **self.options, **options})


@documented(OPTIONS["transportConnector"].values())
@dataclass(frozen=True, slots=True, init=False, repr=False, eq=True)
class TransportConnector(HasOptions):
    """A broker's listener, and what it announces to its clients (Fuse 1, Table 1.1)."""

    name: str
    pairs: tuple[tuple[str, object], ...]

    def __init__(
        self, name: str = "openwire", *address: object, **options: Unpack[TransportConnectorOptions]
    ) -> None:
        check_name("transportConnector", name)
        if address or "uri" in options:
            told = "it takes no address, as mqlab finds a broker by its name (tcp://A:61616 is A)"
            raise BadValue(f"transportConnector {name!r}: {told}; omit it")
        checked = read_options("transportConnector", options, f"transportConnector {name!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "pairs", tuple(checked.items()))

    ELEMENT = "transportConnector"

    def __repr__(self) -> str:
        written = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"TransportConnector({self.name!r}{written})"
