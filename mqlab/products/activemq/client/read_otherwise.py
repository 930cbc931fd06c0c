"""What is not read as written: ports, which mqlab ignores, switches neither true nor false, later options.

Java reads what is not "true" as false (see `query.value_of`). Of networks from files `check` says more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from mqlab.errors import BadValue, Call, nearest
from mqlab.products.activemq.client.addresses import (
    FAILOVER,
    SCHEMES,
    SINCE_5_6,
    TCP_OPTIONS,
    WIRE_OPTIONS,
    FailoverOptions,
    Refused,
    failover_options,
    transport_of,
)
from mqlab.products.activemq.files.addresses import PORT
from mqlab.products.activemq.files.clients import Ports, closed, ports
from mqlab.products.activemq.network.back_off import ExponentialBackOff
from mqlab.spec.action import Action, StartConnector
from mqlab.spec.clients import Client
from mqlab.spec.needs import Idle, idle, told
from mqlab.spec.network import Network
from mqlab.spec.option import Option
from mqlab.spec.options import tables
from mqlab.spec.rows import OPTIONS
from mqlab.spec.scenario import Scenario
from mqlab.spec.uri import Uri
from mqlab.spec.values import duration

_ROWS = {row.guide: row for row in tables("addresses")["failover:(...)"].values()}
_KINDS: dict[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}
_USUAL = FailoverOptions()
SWITCHES = {
    name
    for known in ({guide: getattr(_USUAL, name) for guide, name in FAILOVER.items()}, TCP_OPTIONS, WIRE_OPTIONS)
    for name, default in known.items()
    if isinstance(default, bool)
}

DELAYS = ("initialReconnectDelay", "maxReconnectDelay", "reconnectDelay", "minConnectTime")
_AGENT = tuple(ExponentialBackOff.OPTIONS)
_MULTICAST = (
    "group keepAliveInterval timeToLive loopBackMode interface networkInterface joinNetworkInterface "
    "initialReconnectDelay maxReconnectDelay useExponentialBackOff backOffMultiplier maxReconnectAttempts "
    "minimumWireFormatVersion trace useLocalHost datagramSize wireFormat"
)  # Fuse 1, Table 1.3, and the setters of `MulticastDiscoveryAgent`
# Scheme -> the options that it reads; it ignores all others. What has another name in discovery:.
SWALLOW: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("static", "simple", "masterslave"), _AGENT),
    "multicast": tuple(_MULTICAST.split()),
    "discovery": (*FAILOVER, "group"),
}
SAME = {"backOffMultiplier": "reconnectDelayExponent"}


def read_otherwise(scenario: Scenario) -> list[dict[str, str]]:
    """Return what of connectors and addresses is not read as it is written, each with what is read instead."""
    network = scenario.network
    if scenario.pace == "calls":
        return []
    known = ports(network)
    written = [(f"{broker.name}/{one.name}", one.address, True) for broker, one in network.connectors()]
    clients = (action for action in scenario.actions if isinstance(action, Client))
    written += [(f"Client {one.name}", one.address, False) for one in clients]
    found, names = [*_refused(network)], found_by_name(network)
    for who, uri, is_connector in written:
        if uri is None:  # the broker or client says so itself
            continue
        rows = [*_switches(uri), *_ports(uri, known, "" if network.origin else " by default")]
        rows += [(option, f"{why}; {fix}") for option, why, fix in odd_options(uri)]
        rows += _not_taken(uri, network.edition)
        for leaf, why, right in unreached(names, uri):
            # A client tells its unknown scheme itself, and mqlab writes brokers of files without a port.
            if is_connector if transport_of(leaf.scheme) not in SCHEMES else leaf.port is not None:
                rows.append((str(leaf), f"{why}; write {right}"))
        found += [{"what": f"{who}, {what}", "why": why} for what, why in rows]
    return [*found, *_never_started(scenario), *told(idle_options(network, scenario.actions))]


def _never_started(scenario: Scenario) -> Iterator[dict[str, str]]:
    """Yield the connectors that do not start by themselves, and that the script does not start either."""
    started = [action for action in scenario.actions if isinstance(action, StartConnector)]
    for broker, one in scenario.network.connectors():
        named = any(
            action.connector in (one.name, None) and action.of in (broker.name, None) for action in started
        )
        if not one.get("auto_start", scenario.network.edition) and not named:
            where = f"{broker.name}/{one.name}"
            why = f"autoStart is false, and it is never started; add {Call('StartConnector', where)}"
            yield {"what": where, "why": why}


def idle_options(network: Network, actions: Sequence[Action]) -> Iterator[tuple[str, Idle]]:
    """Yield the options without effect, as another is not set: each with its broker, connector or client."""
    edition = network.edition
    for broker in network.brokers:
        parts = [(broker.name, "broker", broker), (broker.name, "transportConnector", broker.transport)]
        parts += [(f"{broker.name}/{one.name}", "networkConnector", one) for one in broker.connectors]
        for where, element, part in parts:
            found = idle("activemq", element, part.options, partial(part.get, edition=edition))
            yield from ((where, one) for one in found)
        support = broker.get("advisory_support", edition)
        for policy in broker.policies:
            rows = {name: row.default_for(edition) for name, row in OPTIONS["policyEntry"].items()}
            given = {**rows, **policy, "advisory_support": support}
            for one in idle("activemq", "policyEntry", policy, given.get):
                pattern = policy.get("queue") or policy.get("topic")
                yield broker.name, replace(one, part=("policy", str(pattern)))
    for action in actions:
        if isinstance(action, Client):
            more = any(broker.transport.get("update_cluster_clients", edition) for broker in network.brokers)
            yield from ((f"Client {action.name}", one) for one in _of_failover(action.address, edition, more))


def _of_failover(address: Uri | None, edition: str, more: bool) -> Iterator[Idle]:
    """Yield the options of a client's address without effect; brokers may tell it of *more* addresses."""
    if address is None:  # the client says so itself
        return
    try:
        written = {key: value or "" for key, value in address.parameters.items() if key in FAILOVER}
        read = failover_options(written, edition, strict=False)
    except Refused:  # as does this
        return
    values = {FAILOVER[key]: getattr(read, FAILOVER[key]) for key in written}
    more = more or len(address.leaves()) > 1 or "updateURIsURL" in written or address.scheme != "failover"
    given = {**{name: getattr(read, name) for name in FAILOVER.values()}, "a_second_address": more or None}
    yield from idle("addresses", "failover:(...)", values, given.get)


def found_by_name(network: Network) -> frozenset[str]:
    """Return the brokers that addresses reach by their names. Rules of files know what theirs listen on."""
    return frozenset(network.names if network.origin is None and network.running is None else ())


def unreached(names: frozenset[str], uri: Uri) -> Iterator[tuple[Uri, str, str]]:
    """Yield each part by which no real broker is reached, though one is named: why, what to write."""
    for leaf in uri.leaves():
        if not leaf.scheme or leaf.host not in names:
            continue
        if transport_of(leaf.scheme) not in SCHEMES:
            right = f"tcp://{leaf.host}:{leaf.port or PORT}"
            yield leaf, f"Transport scheme NOT recognized: [{leaf.scheme}]", right
        elif leaf.port is None:
            why = "a real one needs the port; mqlab goes by the name alone"
            yield leaf, why, f"{leaf.scheme}://{leaf.host}:{PORT}"
        elif "ssl" in leaf.scheme:
            why = f"{leaf.host} listens for plain TCP, so a real one ends the handshake; mqlab plays no SSL"
            yield leaf, why, f"tcp://{leaf.host}:{leaf.port}"


def too_new(network: Network) -> Iterator[tuple[str, Option]]:
    """Yield the options that the edition does not have yet, with the broker or connector that has each."""
    for broker in network.brokers:
        written: list[tuple[str, Mapping[str, Option], Mapping[str, object]]]
        written = [(broker.name, OPTIONS["broker"], broker.options)]
        written += [(broker.name, OPTIONS["policyEntry"], policy) for policy in broker.policies]
        written += [
            (f"{broker.name}/{c.name}", OPTIONS["networkConnector"], c.options) for c in broker.connectors
        ]
        for where, rows, options in written:
            yield from (
                (where, rows[n]) for n in options if n in rows and not rows[n].exists_in(network.edition)
            )


def _refused(network: Network) -> Iterator[dict[str, str]]:
    for where, row in too_new(network):
        told = f"version {network.edition} has no such option, and a real broker does not start with it"
        why = f"{told}; remove it, or use version {row.since} or later"
        yield {"what": f"{where}, {row.guide}", "why": why}


def odd_options(uri: Uri) -> Iterator[tuple[str, str, str]]:
    """Yield each option of an address that nobody reads, and delays below 0: why, what to write.

    A client refuses what failover: does not know; agents, and discovery:, ignore it.
    """
    known = SWALLOW.get(uri.scheme, ())
    for name, value in uri.parameters.items():
        if known and name not in known and not name.startswith(("discovered.", "nested.")):
            right = SAME.get(name) or nearest(name, known)
            yield (
                f"{name}={value}",
                f"{uri.scheme}: ignores it silently",
                f"use {right}" if right else "remove it",
            )
        elif name in DELAYS and value and value.startswith("-"):
            yield f"{name}={value}", "a delay below 0 is none", "set it to 0 or more, in ms"
    for part in uri.components:
        yield from odd_options(part)


def _not_taken(uri: Uri, edition: str) -> Iterator[tuple[str, str]]:
    """Yield the options with which failover: ends in an error, each with what to write."""
    refused: Mapping[str, str] = {}
    try:
        if uri.scheme == "failover":
            failover_options({key: value or "" for key, value in uri.parameters.items()}, edition)
    except Refused as error:
        refused = error.options
    for name, value in refused.items():
        row, right = _ROWS.get(name), nearest(name, [one for one in FAILOVER if one != name])
        if row is None:
            why = "failover: has no such option; " + (f"write {right}={value}" if right else "remove it")
        elif name.startswith(SINCE_5_6) and edition == "5.5":
            why = "failover: has no such option in version 5.5; remove it"
        else:
            why = f"expected {_KINDS[row.type]}{' of milliseconds' if row.unit == 'ms' else ''}; write "
            why += f"{name}={_as_number(value, row)}"
        yield f"{name}={value}", why
    for part in uri.components:
        yield from _not_taken(part, edition)


def _as_number(value: str, row: Option) -> object:
    """Return a time such as ``5s`` in the unit of its option; of what is none the default."""
    try:
        return duration(value) // 1000 if row.unit == "ms" else row.default
    except BadValue:
        return row.default


def _switches(uri: Uri) -> Iterator[tuple[str, str]]:
    for name, value in uri.parameters.items():
        if name.rpartition(".")[2] in SWITCHES and value and value.lower() not in ("true", "false"):
            yield f"{name}={value}", "read as false; write true or false"
    for part in uri.components:
        yield from _switches(part)


def _ports(uri: Uri, known: Ports, usual: str) -> Iterator[tuple[str, str]]:
    for leaf, port in closed(uri, known):
        right = f"{leaf.scheme}://{leaf.host}:{port}"
        why = f"a real broker refuses it: {leaf.host} listens on {port}{usual}; mqlab goes by the name alone"
        yield f"port {leaf.port} of {leaf.host}", f"{why}; write {right}"
