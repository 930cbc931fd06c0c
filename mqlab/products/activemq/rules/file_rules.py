"""What stands in the files of ActiveMQ brokers and does harm: names, addresses, ports, placeholders.

These rules read the elements themselves, as the network of nouns no longer has what they look at. Sources: the
schema of 5.17.2, to which a broker holds; ActiveMQ rules 9.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.errors import UriError
from mqlab.files.markup import Element
from mqlab.products.activemq.files import sources
from mqlab.products.activemq.files.addresses import HERE
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.products.activemq.files.placeholders import missing, resolve
from mqlab.products.activemq.rules.file_context import SCHEMA, FileContext, Rule, filed
from mqlab.products.activemq.rules.names import children, names
from mqlab.spec import Network
from mqlab.spec.member import BrokerSettings
from mqlab.spec.network import HEARD
from mqlab.spec.problem import Problem
from mqlab.spec.uri import Uri, parse

AGENTS = ("static", "simple", "masterslave", "multicast", "zeroconf", "rendezvous", "fanout", "mdns",
          "http", "ldap")  # fmt: skip


def check(network: Network) -> Iterator[Problem]:
    """Yield the problems of the files that a network was read from."""
    files = filed(network)
    for name, broker in files.found.items():
        for rule in RULES:
            yield from rule(files, name, broker)


def places(network: Network) -> dict[str, tuple[str, int]]:
    """Return broker, or broker/connector -> the file and line where it stands; nothing without files."""
    found: dict[str, tuple[str, int]] = {}
    for name, broker in sources(network).items():
        file = broker.document.where
        found[name] = (file, broker.element.line)
        for noun, connector in zip(
            network.broker(name).connectors, broker.connectors, strict=False
        ):
            found[f"{name}/{noun.name}"] = (file, connector.element.line)
    return found


def _identity(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """Brokers that are not told from one another, or from themselves after a restart."""
    if len(files.found) < 2:
        return
    element = broker.element
    alike = [n for n, b in files.found.items() if b.name == broker.name and n != name]
    sets = {m.name: m.locker.store for m in _members(files.network) if m.locker}
    apart = [n for n in alike if sets.get(n) is None or sets.get(n) != sets.get(name)]
    if "brokerName" not in element.attributes:
        yield files.problem(
            "no-broker-name", "warning", name, element,
            "without a brokerName it is called localhost, as any other such broker is",
            'write brokerName="..."', "Fuse 2, Example 2.1",
        )  # fmt: skip
    elif apart:
        yield files.problem(
            "same-broker-name", "error", name, element,
            f"{', '.join(apart)} has the brokerName {broker.name!r} too: of bridges to one broker, which "
            "are called by it, the second is refused", "give each broker a name of its own",
            "ActiveMQ rule 26.2",
        )  # fmt: skip
    ids = [b.element.attributes.get("brokerId") for b in files.found.values()]
    own = element.attributes.get("brokerId")
    if own is None:
        yield files.problem(
            "no-broker-id", "warning", name, element,
            "without a brokerId it has a new one after each restart: messages that have been here "
            "may come here again, and go round", 'write brokerId="..."', "amq6 3, Broker ID",
        )  # fmt: skip
    elif ids.count(own) > 1:
        yield files.problem(
            "same-broker-id", "error", name, element,
            f"another broker has the brokerId {own!r} too: each takes the other for itself, and a "
            "connection between them is dropped for good", "give each broker its own",
            "ActiveMQ rule 26.2",
        )  # fmt: skip


def _members(network: Network) -> list[BrokerSettings]:
    return [BrokerSettings.of(broker, network.edition) for broker in network.brokers]


def _ports(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """Ports that two transport connectors of one broker want."""
    seen: set[int] = set()
    for transport in broker.transports:
        try:
            port = parse(transport.uri).port
        except UriError as error:
            yield files.problem(
                "bad-address", "error", name, transport.element,
                f"the broker does not start: {str(error).splitlines()[0]}",
                "write for example tcp://0.0.0.0:61616", "Fuse 2, Example 2.1",
            )  # fmt: skip
            continue
        if port and port in seen:
            yield files.problem(
                "port-twice", "error", name, transport.element,
                f"port {port} is taken by another transport connector: the broker does not start",
                "give each a port of its own", "Fuse 1, Discovery",
            )  # fmt: skip
        seen.update({port} if port else ())


def _addresses(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """Addresses of network connectors that are none, or lead to a closed port or to a host of nobody."""
    for connector in broker.connectors:
        element = connector.element
        try:
            parsed = parse(connector.uri)
        except UriError as error:
            yield files.problem(
                "bad-address", "error", name, element,
                f"the broker does not start: {str(error).splitlines()[0]}",
                "write for example static:(tcp://B:61616)", "Fuse 2, Example 2.1",
            )  # fmt: skip
            continue
        if parsed.scheme not in AGENTS:
            yield files.problem(
                "no-agent", "error", name, element,
                f"{parsed.scheme}: is no discovery agent: the broker does not start",
                f"write static:({connector.uri})", "Fuse 4, Example 4.8",
            )  # fmt: skip
            continue
        if parsed.scheme == "rendezvous" and files.network.edition != "5.5":
            yield files.problem(
                "no-agent", "error", name, element, "rendezvous: is unknown after 5.5",
                "write multicast://default, or a static list", "ActiveMQ rule 7.16",
            )  # fmt: skip
        if " " in connector.uri.strip():
            yield files.problem(
                "bad-address", "error", name, element,
                "there is a blank in the address: the broker does not start", "take it out",
                "ActiveMQ rule 7.5",
            )  # fmt: skip
        yield from _reconnects(files, name, element, parsed)
        leaves = [leaf for leaf in parsed.leaves() if leaf.scheme not in (*HEARD, "vm", "")]
        found = [files.book.find(leaf.host or "", leaf.port, name) for leaf in leaves]
        for leaf, there in zip(leaves, found, strict=True):
            if any(found):  # where nobody is found at all, the rule no-target says so
                yield from _leaf(files, name, element, leaf, there)


def _reconnects(files: FileContext, name: str, element: Element, uri: Uri) -> Iterator[Problem]:
    for part in uri.components:
        if part.scheme == "failover" and part.parameters.get("maxReconnectAttempts") != "0":
            yield files.problem(
                "failover-inside", "warning", name, element,
                "failover: without maxReconnectAttempts=0 reconnects by itself, and the bridge is not made "
                "anew", "write maxReconnectAttempts=0 there, or masterslave:(...)",
                "Fuse 4, Example 4.8",
            )  # fmt: skip


def _leaf(
    files: FileContext, name: str, element: Element, leaf: Uri, there: str | None
) -> Iterator[Problem]:
    if there is None:
        near = "which broker that is, these files do not say"
        if leaf.host in HERE:
            near = f"no broker here listens on port {leaf.port}, or several do"
        yield files.problem(
            "unknown-host", "warning", name, element,
            f"{leaf.text} leads to no broker of these files: {near}",
            "load that broker's file too, or tell hosts={...}", "Fuse 2, Example 2.1",
        )  # fmt: skip
        return
    open_ = [at.port for at in files.book.listeners if at.broker == there]
    if leaf.port is not None and leaf.port not in open_ and None not in open_:
        ports = ", ".join(map(str, open_)) or "none"
        yield files.problem(
            "port-closed", "error", name, element,
            f"{leaf.text} leads to {there}, which listens on {ports}: nothing ever crosses",
            f"write one of its ports: {ports}" if open_ else f"give {there} a transport connector",
            "Fuse 2, Example 2.1",
        )  # fmt: skip


def _placeholders(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """Placeholders that nothing has a value for."""
    for element in broker.element.walk():
        for attribute, given in element.attributes.items():
            for unset in missing(resolve(given, files.values, attribute)):
                yield files.problem(
                    "no-value", "warning", name, element,
                    f"{attribute}: nothing says what ${{{unset}}} is; without it the broker does not start",
                    "give it a value (values=...), or a default as in ${name:default}", SCHEMA,
                )  # fmt: skip


def _policies(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """Policy entries for one pattern, of which only one holds."""
    seen: dict[tuple[str, str], int] = {}
    for entry in broker.element.below(
        "destinationPolicy", "policyMap", "policyEntries", "policyEntry"
    ):
        for kind in ("queue", "topic"):
            pattern = entry.attributes.get(kind)
            if pattern is not None and (kind, pattern) in seen:
                yield files.problem(
                    "policy-twice", "warning", name, entry,
                    f"line {seen[kind, pattern]} has an entry for {kind} {pattern} too: one of the two is "
                    "without effect", "write one entry for both", "ActiveMQ, per destination policies",
                )  # fmt: skip
            elif pattern is not None:
                seen[kind, pattern] = entry.line


def _store(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """A store that a broker has and does not use."""
    adapter = broker.element.first("persistenceAdapter")
    off = broker.element.attributes.get("persistent", "").strip() == "false"
    if off and adapter is not None:
        yield files.problem(
            "store-unused", "error", name, adapter,
            'persistent="false": the store is not used, and all is lost in a restart',
            'take persistent="false" out, or the adapter', "Fuse 4, Example 4.5",
        )  # fmt: skip


def _filter(files: FileContext, name: str, broker: BrokerElement) -> Iterator[Problem]:
    """A destinationFilter of which only the first part is completed."""
    for connector in broker.connectors:
        parts = str(connector.options.get("destination_filter") or "").split(",")
        short = [part for part in parts[1:] if not part.startswith("ActiveMQ.Advisory.")]
        if short:
            yield files.problem(
                "filter-prefix", "error", name, connector.element,
                f"destinationFilter: only the first part gets its prefix; {short[0]!r} is no advisory "
                "topic, and consumers there are never heard of",
                f"write ActiveMQ.Advisory.Consumer.{short[0]}", "article, destinationFilter",
            )  # fmt: skip


RULES: tuple[Rule, ...] = (
    names, children, _identity, _ports, _addresses, _placeholders, _policies, _store, _filter,
)  # fmt: skip
