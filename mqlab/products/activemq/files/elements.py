"""What the elements of one `activemq.xml` say: a broker with its connectors, before addresses are matched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from mqlab.errors import BadFile, shown
from mqlab.files.markup import Document, Element, Note
from mqlab.products.activemq.files import policies, security, stores, xml_names
from mqlab.products.activemq.files.reader import Reader
from mqlab.products.activemq.files.schema import CORE, CORES, SCHEMA
from mqlab.spec.json_types import JsonDict

OPENWIRE = (
    "tcp",
    "nio",
    "ssl",
    "nio+ssl",
    "auto",
    "auto+ssl",
    "auto+nio",
    "auto+nio+ssl",
    "vm",
    "http",
    "https",
    "",
)
SPRING = ("beans", "blueprint")  # the root elements around a broker
_VERSION = re.compile(r"activemq-core-(\d+)\.(\d+)")


@dataclass(slots=True)
class ConnectorElement:
    """A network connector as its file has it."""

    element: Element
    name: str
    uri: str
    options: dict[str, object]


@dataclass(slots=True)
class TransportElement:
    """A transport connector as its file has it."""

    element: Element
    name: str
    uri: str
    options: JsonDict
    openwire: bool


@dataclass(slots=True)
class BrokerElement:
    """A broker as its file has it; `notes` is what mqlab wrote there for itself."""

    document: Document
    element: Element
    name: str
    edition: str | None
    options: JsonDict = field(default_factory=dict)
    connectors: list[ConnectorElement] = field(default_factory=list)
    transports: list[TransportElement] = field(default_factory=list)
    policies: list[dict[str, object]] = field(default_factory=list)
    composites: list[dict[str, object]] = field(default_factory=list)
    master: str | None = None  # the address of a pure slave's master
    notes: JsonDict = field(default_factory=dict)
    note: Note | None = None


class BrokerReader(Reader):
    """Reads the brokers of a document."""

    def brokers(self) -> Iterator[BrokerElement]:
        """Yield the brokers of the document; raises `BadFile` if there is none."""
        count = 0
        for element in self.document.root.walk():
            if element.name == "broker" and element.namespace in CORES:
                count += 1
                yield self.broker(element)
        if count:
            return
        alike = [e for e in self.document.root.walk() if e.name == "broker"]
        if alike:
            raise BadFile(
                f"{self.place(alike[0])}: its namespace {shown(alike[0].namespace)} is not ActiveMQ's; "
                f'write xmlns="{CORE}"'
            )
        root = self.document.root
        parts = SCHEMA.row("broker")
        if root.name not in (*SPRING, *SCHEMA.rows, *(parts.elements if parts else ())):
            told = "not a configuration of ActiveMQ, Artemis or OpenMQ"
            raise BadFile(
                f"{self.document.where}, line {root.line}: {told}, as its root element is {shown(root.name)}"
            )
        raise BadFile(
            f"{self.document.where}, line {root.line}: {root.name} holds no broker; write "
            f'<broker xmlns="{CORE}" brokerName="A"> around what a broker has'
        )

    def broker(self, element: Element) -> BrokerElement:
        """Return what a broker element says."""
        name = self.text(element, "brokerName", "localhost").strip() or "localhost"
        found = BrokerElement(self.document, element, name, self.edition())
        found.options = self.options(element, "broker", xml_names.BROKER)
        found.options.update(stores.read(self, element))
        found.transports = [
            self.transport(e) for e in element.below("transportConnectors", "transportConnector")
        ]
        listed = [one for held in element.below("destinations") for one in held.all("queue", "topic")]
        if listed:
            found.options["destinations"] = tuple(map(self.destination, listed))
        if any(self.truth(t.element, xml_names.AUDIT) for t in found.transports):
            found.options["audit_network_producers"] = True
        connectors = element.below("networkConnectors", "networkConnector")
        for connector in connectors:
            found.connectors.append(self.connector(connector, [c.name for c in found.connectors]))
        found.policies = policies.read(self, element)
        found.composites, virtual = policies.read_virtual(self, element)
        if virtual is not None:
            found.options["virtual_topics"] = virtual
        masters = element.below("services", "masterConnector")
        found.master = self.text(element, "masterConnectorURI") or next(
            (self.text(master, "remoteURI") for master in masters), None
        )
        if element.below("plugins"):
            found.options.update(security.read(self, element))
        for note in element.notes:
            if note.target == xml_names.NOTE:
                found.note, found.notes = note, self.note(note)
        return found

    def edition(self) -> str | None:
        """Return the edition that the schema's name tells, if it does."""
        located = self.document.root.attributes.get(
            "{http://www.w3.org/2001/XMLSchema-instance}schemaLocation", ""
        )
        version = _VERSION.search(located)
        if version is None:
            return None
        release = (int(version[1]), int(version[2]))
        if release < (5, 9):
            return "5.5"
        return "5.17" if release < (5, 18) else "5.18" if release < (6, 0) else "6.1"

    def transport(self, element: Element) -> TransportElement:
        """Return what a transport connector says."""
        uri = self.text(element, "uri")
        name = self.text(element, "name", "openwire").strip() or "openwire"
        options = self.options(element, "transportConnector", xml_names.TRANSPORT)
        return TransportElement(element, name, uri, options, uri.partition(":")[0] in OPENWIRE)

    def connector(self, element: Element, taken: list[str]) -> ConnectorElement:
        """Return what a network connector says; one whose name is *taken* gets another in the lab."""
        options = self.options(element, "networkConnector", xml_names.CONNECTOR)
        for listed in (child for child in element.children if child.name in xml_names.LISTS):
            there = [self.destination(e) for e in listed.all(*xml_names.QUEUES)]
            if there:
                options[xml_names.LISTS[listed.name]] = tuple(there)
        name = given = self.text(element, "name", "NC").strip() or "NC"
        while name in taken:
            number = name.removeprefix(f"{given}-")
            name = f"{given}-{int(number) + 1 if number != name and number.isdecimal() else 2}"
        if name != given:
            options["configured_name"] = given
        uri = self.text(element, "uri") or self.text(element, "discoveryURI")
        return ConnectorElement(element, name, uri, options)

    def note(self, note: Note) -> dict[str, object]:
        """Return what mqlab noted; raises `BadFile` for what is no note of its own."""
        try:
            value = json.loads(note.data)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise BadFile(
                f"{self.document.where}, line {note.line}: the content of <?{xml_names.NOTE} ...?> was not "
                "written by mqlab; remove it"
            )
        return value
