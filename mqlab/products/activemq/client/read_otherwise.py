"""What is not read as written: ports, which mqlab ignores, switches neither true nor false, later options.

Java reads what is not "true" as false (see `query.value_of`). Of networks from files `check` says more.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from mqlab.errors import UriError
from mqlab.products.activemq.client.addresses import (
    FAILOVER,
    SCHEMES,
    TCP_OPTIONS,
    WIRE_OPTIONS,
    FailoverOptions,
)
from mqlab.products.activemq.files.addresses import PORT
from mqlab.products.activemq.files.clients import Ports, closed, ports
from mqlab.spec.clients import Client
from mqlab.spec.network import Network
from mqlab.spec.rows import OPTIONS
from mqlab.spec.scenario import Scenario
from mqlab.spec.uri import Uri, parse

Part = tuple[Uri, str, str]  # of an address: why it leads nowhere, and what to write
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
    connectors = [(f"{broker.name}/{one.name}", one.uri) for broker, one in network.connectors()]
    clients = [(f"Client {one.name}", one.uri) for one in scenario.actions if isinstance(one, Client)]
    found = [*_too_new(network)]
    for who, text in connectors + clients:
        try:
            uri = parse(text)
        except UriError:  # the broker or client says so itself
            continue
        rows = [*_switches(uri), *_ports(uri, known, "" if network.origin else " by default")]
        # Without a port is how mqlab itself writes a broker of files into a lab file: `check` alone tells it.
        ssl = (part for part in by_name(network, uri) if part[0].port is not None)
        told = chain(ssl, foreign(network, uri) if (who, text) in connectors else ())
        rows += [(str(leaf), f"{why}; write {right}") for leaf, why, right in told]
        found += [{"what": f"{who}, {what}", "why": why} for what, why in rows]
    return found


def foreign(network: Network, uri: Uri) -> Iterator[Part]:
    """Yield each part of an address whose scheme is that of no transport; a client says so when it connects."""
    for leaf, plain in _to_brokers(network, uri):
        if plain not in SCHEMES:
            right = f"tcp://{leaf.host}:{leaf.port or PORT}"
            yield leaf, f"Transport scheme NOT recognized: [{leaf.scheme}]", right


def by_name(network: Network, uri: Uri) -> Iterator[Part]:
    """Yield each part of an address with which mqlab finds a broker, and a real client or bridge does not."""
    for leaf, plain in _to_brokers(network, uri):
        if plain in SCHEMES and leaf.port is None:
            why = "a real one needs the port; mqlab goes by the name alone"
            yield leaf, why, f"{leaf.scheme}://{leaf.host}:{PORT}"
        elif plain in SCHEMES and "ssl" in leaf.scheme:
            why = f"{leaf.host} listens for plain TCP, so a real one ends the handshake; mqlab plays no SSL"
            yield leaf, why, f"tcp://{leaf.host}:{leaf.port}"


def _to_brokers(network: Network, uri: Uri) -> Iterator[tuple[Uri, str]]:
    """Yield the parts that name a broker, with their transport. Rules of files know what theirs listen on."""
    for leaf in uri.leaves() if network.origin is None and network.running is None else ():
        if leaf.scheme and leaf.host in network.names:
            yield leaf, leaf.scheme.removesuffix("+ssl").removesuffix("+nio")


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
