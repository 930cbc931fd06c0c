"""What is not read as written: ports, which mqlab ignores, switches neither true nor false, later options.

Java reads what is not "true" as false (see `query.value_of`). Of networks from files `check` says more.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.errors import UriError
from mqlab.products.activemq.client.addresses import (
    FAILOVER,
    SCHEMES,
    TCP_OPTIONS,
    WIRE_OPTIONS,
    FailoverOptions,
    transport_of,
)
from mqlab.products.activemq.files.addresses import PORT
from mqlab.products.activemq.files.clients import Ports, closed, ports
from mqlab.spec.clients import Client
from mqlab.spec.network import Network
from mqlab.spec.rows import OPTIONS
from mqlab.spec.scenario import Scenario
from mqlab.spec.uri import Uri, parse

_USUAL = FailoverOptions()
SWITCHES = {
    name
    for known in ({guide: getattr(_USUAL, name) for guide, name in FAILOVER.items()}, TCP_OPTIONS, WIRE_OPTIONS)
    for name, default in known.items()
    if isinstance(default, bool)
}


def read_otherwise(scenario: Scenario) -> list[dict[str, str]]:
    """Return what of connectors and addresses is not read as it is written, each with what is read instead."""
    network = scenario.network
    if scenario.pace == "calls":
        return []
    known = ports(network)
    written = [(f"{broker.name}/{one.name}", one.uri, True) for broker, one in network.connectors()]
    written += [(f"Client {one.name}", one.uri, False) for one in scenario.actions if isinstance(one, Client)]
    found, names = [*_too_new(network)], found_by_name(network)
    for who, text, is_connector in written:
        try:
            uri = parse(text)
        except UriError:  # the broker or client says so itself
            continue
        rows = [*_switches(uri), *_ports(uri, known, "" if network.origin else " by default")]
        for leaf, why, right in unreached(names, uri):
            # A client tells its unknown scheme itself, and mqlab writes brokers of files without a port.
            if is_connector if transport_of(leaf.scheme) not in SCHEMES else leaf.port is not None:
                rows.append((str(leaf), f"{why}; write {right}"))
        found += [{"what": f"{who}, {what}", "why": why} for what, why in rows]
    return found


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


def _too_new(network: Network) -> Iterator[dict[str, str]]:
    """Yield the options of connectors that the edition does not have yet: a real broker does not start."""
    for broker, one in network.connectors():
        for row in (OPTIONS["networkConnector"][name] for name in one.options):
            if not row.exists_in(network.edition):
                told = f"version {network.edition} has no such option, and a real broker does not start with it"
                why = f"{told}; remove it, or use version {row.since} or later"
                yield {"what": f"{broker.name}/{one.name}, {row.guide}", "why": why}


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
