"""Addresses and options of clients and connectors, as the real client reads them.

The grammar is that of ActiveMQ rule 28.1. It is more lenient than
`mqlab.spec.uri`, which says what to write instead: here an empty address in a list is one that can
never be reached, as it is for the real client (recording `empty_inner_address`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random
from typing import Any

from mqlab.errors import MqlabError
from mqlab.products.activemq.client import jms
from mqlab.products.activemq.client.query import NO_VALUE, options, prefixed, value_of
from mqlab.spec.options import tables

AGENTS = ("static", "simple", "masterslave", "multicast", "zeroconf")
COMPOSITE = ("static", "simple", "masterslave", "failover", "discovery")
TRANSPORT_LISTS = ("failover", "discovery")
SCHEMES = ("tcp", "nio", "ssl", "auto")  # of one address
OLD_AGENTS = ("rendezvous",)  # 5.5 still has it
_SCHEME = r"[a-zA-Z][a-zA-Z0-9+.-]*:"
_NO_SCHEME = r"^(?!" + _SCHEME + ")"
MALFORMED = re.compile(
    r'[\s<>"{}|\\^`]|^' + _SCHEME + f"(//)?$|{_NO_SCHEME}[^:/?#]*:|{_NO_SCHEME}[^/?]*[" + r"\[\]]"
)


class Refused(MqlabError):
    """What a real client or broker throws for an address: the Java class and its cause's."""

    options: Mapping[str, str] = {}  # that it does not know, or whose values it does not understand

    def __init__(self, kind: str, message: str, cause: str = "") -> None:
        super().__init__(kind, message, cause)
        self.kind, self.message, self.cause = kind, message, cause or kind

    @property
    def other_cause(self) -> str:
        """The class of its cause, empty where it has none."""
        return self.cause if self.cause != self.kind else ""

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Composite:
    """A scheme, the addresses inside, and the options outside of the parentheses."""

    scheme: str
    elements: tuple[str, ...]
    options: Mapping[str, str]
    plain: bool = False  # without parentheses


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """One address taken apart, as it is written; a path is not looked at."""

    scheme: str
    host: str
    port: str
    options: Mapping[str, str]


@lru_cache(maxsize=4096)
def taken_apart(address: str) -> BrokerAddress:
    """Return the parts of one address, which is read once, however often somebody dials it."""
    written, _, query = address.partition("#")[0].partition("?")
    host, _, port = written.partition("://")[2].partition("/")[0].partition(":")
    return BrokerAddress(scheme_of(address), host, port, options(query) if query else {})


def check_syntax(text: str) -> None:
    """Raise `Refused` for what Java's URI does not take: a blank, no scheme, nothing after it."""
    found = MALFORMED.search(text)
    if found is None:
        return
    told = f"{text} is not an address; use e.g. tcp://B:61616"
    if len(found[0]) == 1:
        told = f"Illegal character {found[0]!r} in {text}; remove it, or rename the broker"
    raise Refused("URISyntaxException", told)


@lru_cache(maxsize=4096)
def split(text: str) -> Composite:
    """Take a composite address apart; raises `Refused` for what is no address, inside as well."""
    if text.count("(") != text.count(")"):
        raise Refused("URISyntaxException", f"Not a matching number of '(' and ')' parenthesis: {text}")
    scheme, _, body = text.partition("#")[0].partition(":")
    body = body.removeprefix("//")
    elements, rest = _elements(body)
    if not body.startswith("("):
        check_syntax(text)
        return Composite(scheme, elements, {}, plain=True)
    query = rest.partition("?")[2]  # before the ? stands a path
    found = Composite(scheme, elements, options(query) if query else {})
    for part in (text, *filter(None, found.elements)):
        check_syntax(part)
    return found


def nested(text: str, levels: int) -> Composite:
    """Return a composite address taken apart; raises `Refused` for one that is nested deeper than *levels*."""
    if levels < 0:
        raise Refused("IllegalArgumentException", f"nested too deeply: {text}")
    found = split(text)
    for element in found.elements:
        if scheme_of(element) in COMPOSITE:
            nested(element, levels - 1)
    return found


def _elements(body: str) -> tuple[tuple[str, ...], str]:
    """Return the addresses in the first parentheses, or without them in all, and what follows.

    Commas that no further parentheses enclose are between them; an empty end is dropped.
    """
    outer = int(body.startswith("("))
    parts, depth, begin, end = list[str](), 0, outer, len(body)
    for place, char in enumerate(body):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == outer:
            parts.append(body[begin:place])
            begin = place + 1
        if outer and not depth:
            end = place
            break
    if outer and depth:
        raise Refused("URISyntaxException", f"Not a matching number of '(' and ')': {body}")
    return (*parts, *filter(None, [body[begin:end]])), body[end + 1 :]


def scheme_of(text: str) -> str:
    """Return what stands before the first colon."""
    return text.partition(":")[0]


def transport_of(scheme: str) -> str:
    """Return the transport of a scheme such as ``auto+nio+ssl``."""
    return scheme.removesuffix("+ssl").removesuffix("+nio")


def check_scheme(scheme: str) -> None:
    """Raise `Refused` for a scheme that is that of no transport."""
    if transport_of(scheme) not in SCHEMES:
        raise Refused("IOException", f"Transport scheme NOT recognized: [{scheme}]")


def same(one: str | None, other: str | None) -> bool:
    """Whether two addresses lead to one host and port, whatever their schemes and options."""
    return one is not None and other is not None and place(one) == place(other)


def place(address: str) -> tuple[str, str]:
    """Return host and port as Java's URI tells them: an address without a host is this machine."""
    authority = re.match(r"[^:/?(]*://([^/?(]*)", address)
    host, _, port = (authority.group(1) if authority else "").partition(":")
    return "127.0.0.1" if host in ("", "localhost") else host.lower(), port


def bare(address: str) -> str:
    """Return a list without its options: Java's URI sees no query there, and loses what is one."""
    return address[: address.rfind(")") + 1] if "(" in address else address


def with_options(address: str, extra: Mapping[str, str]) -> str:
    """Return *address* with *extra* options behind its own, over which they win.

    So it is another one than that of the list, even if they are the same (`addExtraQueryOptions` of 5.17.2).
    """
    if not extra:
        return address
    place, _, query = bare(address).partition("?")
    return f"{place}?" + "&".join([*filter(None, [query]), *(f"{key}={said}" for key, said in extra.items())])


def shuffle(addresses: Sequence[str], random: Random) -> list[str]:
    """Return the addresses as the client shuffles them: each place is swapped with any place.

    This is not uniform: of three addresses the second is first in 10 of 27 draws (recording
    `random_order_of_three`).
    """
    found = list(addresses)
    for place in range(len(found)):
        other = int(random.random() * 100) % len(found)
        found[place], found[other] = found[other], found[place]
    return found


# Options that a tcp address may have, with values of their kinds; any other, or one whose value
# cannot be read, makes each attempt at it fail.
TCP_OPTIONS: Mapping[str, object] = {
    **dict.fromkeys(("connectionTimeout", "soTimeout", "socketBufferSize", "soLinger",
                     "minmumWireFormatVersion", "soWriteTimeout", "ioBufferSize", "stackSize",
                     "jmxPort"), 0),
    **dict.fromkeys(("keepAlive", "tcpNoDelay", "useInactivityMonitor", "trace", "daemon",
                     "dynamicManagement", "closeAsync", "useLocalHost", "startLogging", "useKeepAlive",
                     "keepAliveResponseRequired", "ignoreRemoteWireFormat"), False),
    "logWriterName": "",
}  # fmt: skip
WIRE_OPTIONS: Mapping[str, object] = {
    **dict.fromkeys(("version", "maxInactivityDuration", "maxInactivityDurationInitalDelay",
                     "cacheSize", "maxFrameSize"), 0),
    **dict.fromkeys(("stackTraceEnabled", "tcpNoDelayEnabled", "cacheEnabled",
                     "tightEncodingEnabled", "sizePrefixDisabled", "maxFrameSizeEnabled",
                     "includePlatformDetails"), False),
    **dict.fromkeys(("host", "providerName", "providerVersion", "platformDetails"), ""),
}  # fmt: skip
# Options that begin with "socket." are Java's own; others break the socket once it is open.
SOCKET_OPTIONS: Mapping[str, object] = {
    **dict.fromkeys(("soTimeout", "receiveBufferSize", "sendBufferSize", "trafficClass"), 0),
    **dict.fromkeys(("tcpNoDelay", "keepAlive", "reuseAddress", "OOBInline"), False),
}
DIFF_SERV = (
    "EF",
    *(f"CS{no}" for no in range(8)),
    *(f"AF{group}{drop}" for group in "1234" for drop in "123"),
)
TCP_LIMITS = {"diffServ": 63, "typeOfService": 255}  # what a number among them may be at most


def _tcp_knows(name: str, value: str) -> bool:
    if name in TCP_LIMITS:
        return value in DIFF_SERV or (value.isdecimal() and int(value) <= TCP_LIMITS[name])
    if name.startswith("socket."):
        return True
    known, bare = TCP_OPTIONS, name
    if name.startswith("wireFormat."):
        known, bare = WIRE_OPTIONS, name.removeprefix("wireFormat.")
    return bare in known and value_of(value, known[bare]) is not None


def tcp_problem(query: Mapping[str, str]) -> str:
    """Return the options that tcp does not have, as the error shows them; empty if all is well."""
    unknown = {k: v for k, v in query.items() if not _tcp_knows(k, v)}
    if not unknown and TCP_LIMITS.keys() <= query.keys():
        unknown = {k: query[k] for k in TCP_LIMITS}  # they mean the same: one of them at most
    return ", ".join(f"{k}={v}" for k, v in unknown.items())


def socket_problem(query: Mapping[str, str]) -> str:
    """Return the options that Java's socket does not take; empty if all is well."""
    if query.get("soTimeout", "").startswith("-"):
        return f"soTimeout={query['soTimeout']}"
    given = prefixed(query, "socket.").items()
    return ", ".join(
        f"{k}={v}" for k, v in given if k not in SOCKET_OPTIONS or value_of(v, SOCKET_OPTIONS[k]) is None
    )


_ROWS = tables("addresses")["failover:(...)"]
_DEFAULTS: dict[str, Any] = {name: row.default for name, row in _ROWS.items()}


@dataclass(frozen=True, slots=True)
class FailoverOptions:
    """The options of failover: with the defaults of 5.17; times in ms (Fuse 1, Table 1.1)."""

    initial_reconnect_delay: int = _DEFAULTS["initial_reconnect_delay"]
    max_reconnect_delay: int = _DEFAULTS["max_reconnect_delay"]
    reconnect_delay: int = _DEFAULTS["reconnect_delay"]
    use_exponential_back_off: bool = _DEFAULTS["use_exponential_back_off"]
    reconnect_delay_exponent: float = _DEFAULTS["reconnect_delay_exponent"]
    max_reconnect_attempts: int = _DEFAULTS["max_reconnect_attempts"]
    startup_max_reconnect_attempts: int = _DEFAULTS["startup_max_reconnect_attempts"]
    randomize: bool = _DEFAULTS["randomize"]
    timeout: int = _DEFAULTS["timeout"]
    backup: bool = _DEFAULTS["backup"]
    backup_pool_size: int = _DEFAULTS["backup_pool_size"]
    priority_backup: bool = _DEFAULTS["priority_backup"]
    track_messages: bool = _DEFAULTS["track_messages"]
    track_transaction_producers: bool = _DEFAULTS["track_transaction_producers"]
    max_cache_size: int = _DEFAULTS["max_cache_size"]
    update_uris_supported: bool = _DEFAULTS["update_uris_supported"]
    rebalance_update_uris: bool = _DEFAULTS["rebalance_update_uris"]
    reconnect_supported: bool = _DEFAULTS["reconnect_supported"]
    warn_after_reconnect_attempts: int = _DEFAULTS["warn_after_reconnect_attempts"]
    update_uris_url: str = _DEFAULTS["update_uris_url"]
    priority_uris: str = _DEFAULTS["priority_uris"]
    nested: Mapping[str, str] = field(default_factory=dict)

    def waits(self, rounds: int, delay: float) -> int:
        """Return how long (ms) so many waits take, the first of them *delay* ms."""
        total = 0
        for left in range(rounds, 0, -1):
            total += max(0, int(delay))
            grown = int(delay)
            if self.use_exponential_back_off:
                grown = int(min(delay * self.reconnect_delay_exponent, self.max_reconnect_delay))
            if grown == int(delay):  # so are all that are left
                return total + (left - 1) * max(0, grown)
            delay = grown
        return total


FAILOVER = {row.guide: name for name, row in _ROWS.items()}
COUNTS = (
    "max_reconnect_attempts",
    "startup_max_reconnect_attempts",
    "backup_pool_size",
    "max_cache_size",
    "warn_after_reconnect_attempts",
)  # Java's int, the others are long
SINCE_5_6 = ("priorityBackup", "priorityURIs", "warnAfterReconnectAttempts", "nested.")
_DEFAULT = FailoverOptions()


def failover_options(given: Mapping[str, str], edition: str, strict: bool = True) -> FailoverOptions:
    """Read the options of failover:; raises `Refused` for what it does not know or understand.

    Not *strict* (discovery:) swallows what it does not know.
    """
    found: dict[str, object] = {"nested": prefixed(given, "nested.")}
    if edition == "5.5":  # 0 is no limit there, and the default
        found |= {"max_reconnect_attempts": 0, "startup_max_reconnect_attempts": 0}
    unknown = {}
    for key, value in given.items():
        name = FAILOVER.get(key)
        if edition == "5.5" and key.startswith(SINCE_5_6):
            unknown[key] = value
            continue
        if key.startswith("nested.") and value == NO_VALUE:
            raise Refused("NullPointerException", f"{key} has no value")
        if key.startswith(("nested.", "discovered.")) or jms.knows(key, value):
            continue
        read = None if name is None else value_of(value, getattr(_DEFAULT, name))
        if name in COUNTS and isinstance(read, int) and abs(read) >= 2**31:
            read = None
        if name is None or read is None:
            unknown[key] = value
        else:
            found[name] = read
    if unknown and strict:
        shown = ", ".join(f"{key}={value}" for key, value in unknown.items())
        refused = Refused("IllegalArgumentException", f"Invalid connect parameters: {{{shown}}}")
        refused.options = unknown
        raise refused
    made = FailoverOptions(**found)  # type: ignore[arg-type]
    if edition == "5.5":
        limits = (made.max_reconnect_attempts, made.startup_max_reconnect_attempts)
        most, at_start = (-1 if limit <= 0 else limit for limit in limits)
        made = replace(made, max_reconnect_attempts=most, startup_max_reconnect_attempts=at_start)
    return made
