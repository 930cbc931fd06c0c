"""What is not read as an address says it: ports, which mqlab ignores, and switches neither true nor false.

Java reads what is not "true" as false (see `query.value_of`). Of networks from files `check` says more.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.errors import UriError
from mqlab.products.activemq.client.addresses import FAILOVER, TCP_OPTIONS, WIRE_OPTIONS, FailoverOptions
from mqlab.spec.clients import Client
from mqlab.spec.scenario import Scenario
from mqlab.spec.uri import Uri, parse

PORT = 61616  # of a broker that says nothing else
_USUAL = FailoverOptions()
SWITCHES = {
    name
    for known in ({guide: getattr(_USUAL, name) for guide, name in FAILOVER.items()}, TCP_OPTIONS, WIRE_OPTIONS)
    for name, default in known.items()
    if isinstance(default, bool)
}


def read_otherwise(scenario: Scenario) -> list[dict[str, str]]:
    """Return what of a script's addresses is not read as it is written, each with what is read instead."""
    network = scenario.network
    if network.origin is not None or scenario.pace == "calls":
        return []
    written = [(f"{broker.name}/{one.name}", one.uri) for broker, one in network.connectors()]
    written += [(f"Client {one.name}", one.uri) for one in scenario.actions if isinstance(one, Client)]
    found = []
    for who, text in written:
        try:
            uri = parse(text)
        except UriError:  # the broker or client says so itself
            continue
        found += [{"what": f"{who}, {what}", "why": why} for what, why in _of(uri, network.names)]
    return found


def _of(uri: Uri, brokers: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name, value in uri.parameters.items():
        if name.rpartition(".")[2] in SWITCHES and value and value.lower() not in ("true", "false"):
            yield f"{name}={value}", "read as false; write true or false"
    if uri.host in brokers and uri.port not in (None, PORT):
        yield (
            f"port {uri.port} of {uri.host}",
            f"ignored: in mqlab {uri.host} is found by its name, at any port",
        )
    for part in uri.components:
        yield from _of(part, brokers)
