"""Addresses in the files of ActiveMQ brokers: none, of no agent, to a closed port or to a host of nobody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.checks.example import Example
from mqlab.checks.rule import Element, Found, rule
from mqlab.errors import UriError
from mqlab.files.placeholders import missing
from mqlab.products.activemq.client.addresses import AGENTS, OLD_AGENTS, Refused, split
from mqlab.products.activemq.client.read_otherwise import found_by_name, odd_options, unreached
from mqlab.products.activemq.files.addresses import HERE
from mqlab.products.activemq.files.clients import closed, ports
from mqlab.products.activemq.files.elements import ConnectorElement, TransportElement
from mqlab.products.activemq.rules.context import BrokerFile, CheckContext, files
from mqlab.products.activemq.rules.examples_at_rest import from_files, linked, reads, row, sent
from mqlab.products.activemq.rules.failover import AddressedClient, clients
from mqlab.spec.connector import HEARD
from mqlab.spec.uri import Uri, parse, read

LISTED = ("static", "simple", "masterslave", "fanout")
FOUND = ("multicast", "zeroconf", "rendezvous", "mdns", "http", "ldap")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a connector in a broker's file; of one that nobody can read `error` says why."""

    file: BrokerFile
    of: ConnectorElement | TransportElement
    uri: Uri | None
    error: str = ""

    @property
    def element(self) -> Element:
        """What has the address."""
        return self.file.at(self.of.element)

    @property
    def agent(self) -> Uri | None:
        """The address of a network connector, if there is a discovery agent for it."""
        network = isinstance(self.of, ConnectorElement)
        return self.uri if network and self.uri and self.uri.scheme in (*LISTED, *FOUND) else None

    def leaves(self) -> list[tuple[Uri, str | None]]:
        """Return the brokers' addresses inside, each with whom it leads to here.

        There are none if nobody at all is found: the rule no-target says so.
        """
        inside = self.agent.leaves() if self.agent else ()
        leaves = [leaf for leaf in inside if leaf.scheme not in (*HEARD, "vm", "")]
        book, home = self.file.context.book, self.file.name
        found = [book.find(leaf.host or "", leaf.port, home) for leaf in leaves]
        return list(zip(leaves, found, strict=True)) if any(found) else []


def addresses(file: BrokerFile) -> Iterator[Address]:
    """Yield the addresses in a file, those that it listens on first."""
    both: tuple[ConnectorElement | TransportElement, ...]
    both = (*file.broker.transports, *file.broker.connectors)
    for one in both:
        if missing(one.uri.partition("?")[0]):
            continue  # the rule no-value says so
        try:
            yield Address(file, one, parse(one.uri))
        except UriError as error:
            yield Address(file, one, None, str(error).splitlines()[0])


@rule(
    "no-agent",
    "error",
    finds="a network connector with the address of a transport, or of a discovery agent that no longer exists",
    what="{scheme}: {harm}",
    fix="{fix}",
    source="{source}",
    unshown="the broker does not start",
    of=(files, addresses),
)
def _no_agent(address: Address) -> Found:
    uri = address.uri
    if uri is None or isinstance(address.of, TransportElement):
        return
    if not address.agent:
        harm = "is not a discovery agent: the broker does not start"
        fix, source = f"use static:({address.of.uri})", "Fuse 4, Example 4.8"
    elif uri.scheme == "rendezvous" and address.file.context.network.edition != "5.5":
        harm = "was removed after 5.5"
        fix, source = "use multicast://default, or a static list", "ActiveMQ rule 7.16"
    else:
        return
    facts = {"scheme": uri.scheme, "harm": harm, "fix": fix, "source": source}
    yield address.element, facts


@rule(
    "bad-address",
    "error",
    finds="an address that brokers cannot parse",
    what="{what}",
    fix="{fix}",
    source="{source}",
    unshown="the broker does not start",
    of=(files, addresses),
)
def _bad_address(address: Address) -> Found:
    if address.uri is None:
        listens = isinstance(address.of, TransportElement)
        what = f"the broker does not start: {address.error}"
        fix = f"use e.g. {'tcp://0.0.0.0:61616' if listens else 'static:(tcp://B:61616)'}"
        yield address.element, {"what": what, "fix": fix, "source": "Fuse 2, Example 2.1"}


@rule(
    "illegal-character",
    "error",
    finds="an address of a network connector with a character that no address has, such as a space",
    what="the broker does not start: {error}",
    fix="{fix}",
    source="ActiveMQ rule 7.5",
    unshown="the broker does not start",
)
def _illegal_character(context: CheckContext) -> Found:
    for link in context.links():
        uri = link.connector.uri.strip()
        if read(uri) is None or missing(uri):
            continue  # the rules bad-address and no-value say so
        try:
            split(uri)
        except Refused as error:
            told, _, fix = str(error).partition("; ")
            yield link.element, {"error": told, "fix": fix}


@rule(
    "port-twice",
    "error",
    finds="two transport connectors of one broker on one port",
    what="port {port} is taken by another transport connector: the broker does not start",
    fix="give each a port of its own",
    source="Fuse 1, Discovery",
    unshown="the broker does not start",
    of=(files, addresses),
)
def _port_twice(address: Address) -> Found:
    if isinstance(address.of, ConnectorElement) or not address.uri or not address.uri.port:
        return
    for other in addresses(address.file):
        if other.of is address.of:
            return
        if other.uri and other.uri.port == address.uri.port:
            yield address.element, {"port": address.uri.port}
            return


@rule(
    "failover-inside",
    "warning",
    finds="failover inside static without maxReconnectAttempts=0",
    what="failover: without maxReconnectAttempts=0 reconnects on its own: the connector does not notice that "
    "the broker has changed",
    fix="set maxReconnectAttempts=0 there, or use masterslave:(...)",
    source="Fuse 4, Example 4.8",
    unshown="messages are forwarded all the same, also in the recording",
    of=(files, addresses),
)
def _failover_inside(address: Address) -> Found:
    """In 5.5 there is nothing better to write: 0 retries forever, and masterslave: does not exist."""
    if address.file.context.network.edition == "5.5":
        return
    for part in address.agent.components if address.agent else ():
        if part.scheme == "failover" and part.parameters.get("maxReconnectAttempts") != "0":
            yield address.element, {}


@rule(
    "unknown-host",
    "warning",
    finds="one address of several that leads to no broker of the files",
    what="{leaf} points to no broker in these files: {near}",
    fix="load that broker's file too, or say which broker it is: hosts= (--hosts HOST=BROKER)",
    source="Fuse 2, Example 2.1",
    example=lambda: Example(
        sent(from_files("static:(tcp://B:61616,tcp://gone:61616)"), reads(on="C")),
        sent(from_files("static:(tcp://B:61616,tcp://C:61616)"), reads(on="C")),
    ),
    of=(files, addresses),
)
def _unknown_host(address: Address) -> Found:
    for leaf, there in address.leaves():
        near = "these files do not say which broker that is"
        if leaf.host in HERE:
            near = f"no broker here listens on port {leaf.port}, or several do"
        if there is None:
            yield address.element, {"leaf": leaf, "near": near}


@rule(
    "port-closed",
    "error",
    finds="an address with a port that the broker does not listen on",
    what="{leaf} leads to {there}, which listens on {ports}: the bridge never connects",
    fix="{fix}",
    source="Fuse 2, Example 2.1",
    unshown="mqlab resolves brokers by name and ignores the port",
    of=(files, addresses),
)
def _port_closed(address: Address) -> Found:
    for leaf, there in address.leaves():
        known = [at.port for at in address.file.context.book.listeners if at.broker == there]
        if there is None or leaf.port is None or leaf.port in known or None in known:
            continue
        ports = ", ".join(map(str, known))
        fix = f"use one of its ports: {ports}" if ports else f"give {there} a transport connector"
        facts = {"leaf": leaf, "there": there, "ports": ports or "none", "fix": fix}
        yield address.element, facts


@rule(
    "transport",
    "warning",
    finds="an address by whose scheme, or without a port, no broker is reached",
    what="{leaf}: {why}",
    fix="use {right}",
    source="Fuse 1, Failover",
    unshown="mqlab finds brokers by their names, whatever the port; of SSL it plays nothing",
)
def _transport(context: CheckContext) -> Found:
    names = found_by_name(context.network)
    for element, uri in (*_connectors(context), *((element, uri) for element, uri, _ in clients(context))):
        for leaf, why, right in unreached(names, uri):
            yield element, {"leaf": leaf, "why": why, "right": right}


@rule(
    "address-option",
    "warning",
    finds="an option of an address that is ignored, or a delay below 0",
    what="{option}: {why}",
    fix="{fix}",
    source="ActiveMQ rule 7.4",
    unshown="no effect: the option is ignored",
)
def _address_option(context: CheckContext) -> Found:
    for element, uri in (*_connectors(context), *((element, uri) for element, uri, _ in clients(context))):
        for option, why, fix in odd_options(uri):
            yield element, {"option": option, "why": why, "fix": fix}


@rule(
    "agent",
    "error",
    finds="a connector whose address is that of no discovery agent",
    what="DiscoveryAgent scheme NOT recognized: [{scheme}]: the broker does not start",
    fix="use {right}",
    source="Fuse 1, Discovery agents",
    example=lambda: Example(sent(linked("failover:(tcp://B:61616)"), reads()), sent(row("AB"), reads())),
)
def _agent(context: CheckContext) -> Found:
    """Of files the rule no-agent says it, with the line."""
    network = context.network
    agents = (*AGENTS, *(OLD_AGENTS if network.edition == "5.5" else ()))
    for element, uri in _connectors(context) if network.origin is None else ():
        if uri.scheme not in agents:
            leaves = ",".join(map(str, uri.leaves()))
            yield element, {"scheme": uri.scheme, "right": f"static:({leaves})"}


def _connectors(context: CheckContext) -> Iterator[tuple[Element, Uri]]:
    """Yield each connector whose address can be read: of another its broker says so when it starts."""
    for link in context.links():
        if link.connector.address is not None:
            yield link.element, link.connector.address


@rule(
    "client-port",
    "warning",
    finds="a client whose address has a port that its broker does not listen on",
    what="{leaf}: {host} listens on {port}{usual}, and a real broker refuses this port; mqlab goes by the name",
    fix="use {scheme}://{host}:{port}",
    source="Fuse 1, Failover",
    unshown="mqlab finds the brokers of clients by their names, whatever the port",
    of=(clients,),
)
def _client_port(of: AddressedClient) -> Found:
    element, uri, context = of
    for leaf, port in closed(uri, ports(context.network)):
        usual = "" if context.network.origin else " by default"
        yield element, {"leaf": leaf, "host": leaf.host, "port": port, "scheme": leaf.scheme, "usual": usual}
