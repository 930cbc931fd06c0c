"""What one `broker.xml` says: the elements below ``core``, in the lab file's form."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from urllib.parse import unquote

from mqlab.errors import BadFile, shown
from mqlab.files.markup import Document, Element, Note, text_of
from mqlab.files.placeholders import resolve
from mqlab.products.artemis.files.policy import PolicyReader
from mqlab.products.artemis.files.schema import NAMESPACES
from mqlab.spec import uri as uris
from mqlab.spec.artemis.options import OPTIONS
from mqlab.spec.json_types import JsonDict
from mqlab.spec.option import Option

NOTE = "mqlab"
UNNAMED = "localhost"  # what the product calls a broker without a <name>
SHARED, JOURNAL = "/shared/", "/journal"
ANYWHERE = ("0.0.0.0", "localhost", "127.0.0.1", "::", "::1", "")
PARTS = {"diverts": "divert", "bridges": "bridge"}  # holder -> element of each, which is a section of options
CONNECTIONS = ("cluster-connection", "cluster-connection-uri")
# What a cluster connection has in elements of its own, or as the broker's name for the other end.
_OF_THE_LAB = ("discovery", "to", "allow_direct_connections_only", "clustered")
PLAIN = {name: row for name, row in OPTIONS["cluster-connection"].items() if name not in _OF_THE_LAB}
# A parameter of a cluster connection that is one address -> its option. Most are called as the elements are.
_IN_URI = {
    "check_period": "clientFailureCheckPeriod",
    "connection_ttl": "connectionTTL",
    "message_load_balancing": "messageLoadBalancingType",
}


def _camel(guide: str) -> str:
    first, *rest = guide.split("-")
    return first + "".join(part.capitalize() for part in rest)


URI = {_IN_URI.get(name, _camel(row.guide)): row for name, row in PLAIN.items()}


@dataclass(slots=True)
class Core:
    """The ``core`` of one file: what its broker is called here and there, its connectors and acceptors."""

    document: Document
    element: Element
    name: str
    values: Mapping[str, str] = field(default_factory=dict)
    connectors: dict[str, str] = field(default_factory=dict)
    acceptors: list[str] = field(default_factory=list)
    notes: JsonDict = field(default_factory=dict)
    note: Note | None = None

    @property
    def line(self) -> int:
        """The line of its policy, or else that of the core."""
        policy = self.element.first("ha-policy")
        return self.element.line if policy is None else policy.line

    def text(self, element: Element) -> str:
        """Return an element's text with its placeholders replaced."""
        return resolve(text_of(element), self.values, f"{self.document.where}, line {element.line}")

    def attribute(self, element: Element, name: str) -> str:
        """Return an attribute with its placeholders replaced; empty if it is not there."""
        given = element.attributes.get(name, "")
        return resolve(given, self.values, f"{self.document.where}, line {element.line}").strip()

    @property
    def connection(self) -> Element | None:
        """The first cluster connection, which is the one that the lab plays."""
        holders = self.element.all("cluster-connections")
        return next((c for holder in holders for c in holder.all(*CONNECTIONS)), None)

    def refs(self, holder: Element) -> list[tuple[str, Element]]:
        """Return the names of connectors that stand in an element."""
        return [(self.text(ref), ref) for ref in holder.all("connector-ref")]


@dataclass(frozen=True, slots=True)
class Directory:
    """Who listens where: all brokers of the files, by name, and who runs on hosts that no file names."""

    cores: Mapping[str, Core]
    hosts: Mapping[str, str]

    def broker_at(self, address: str) -> str | None:
        """Return the broker that an address leads to; None if that is nobody here."""
        host, port = parsed(address)
        if host in self.hosts:
            return self.hosts[host]
        for name, core in self.cores.items():
            if host not in ANYWHERE and (host, port) in map(parsed, core.acceptors):
                return name
        if host not in ANYWHERE:
            return host if host in self.cores else None
        local = [
            name
            for name, core in self.cores.items()
            if any(own == port and at in ANYWHERE for at, own in map(parsed, core.acceptors))
        ]
        return local[0] if len(local) == 1 else None

    def leads_to(self, core: Core, connector: str) -> str | None:
        """Return the broker that a connector of a file leads to, or None."""
        address = core.connectors.get(connector)
        return None if address is None else self.broker_at(address)

    def nowhere(self, core: Core) -> Iterator[tuple[Element, str, str]]:
        """Yield the references of a file to connectors that lead to no broker here: element, name, address.

        The address is empty for a name that no connector has.
        """
        for holder in core.element.walk():
            if holder.name in ("static-connectors", "connectors") and holder.all("connector-ref"):
                for name, ref in core.refs(holder):
                    if self.leads_to(core, name) is None:
                        yield ref, name, core.connectors.get(name, "")
            elif holder.name == CONNECTIONS[1]:
                for address in static_in(core.attribute(holder, "address")):
                    if self.broker_at(address) is None:
                        yield holder, core.attribute(holder, "name"), address


@dataclass(frozen=True, slots=True)
class CoreReader:
    """Reads what a file says of its broker."""

    core: Core
    directory: Directory

    @property
    def policy(self) -> PolicyReader:
        """What reads the policy, and options in their types."""
        return PolicyReader(self.core.document, self._named, self.core.text)

    def _named(self, connector: str, element: Element) -> str | None:
        return self.directory.leads_to(self.core, connector)

    def body(self) -> JsonDict:
        """Return the broker in the lab file's form."""
        core, element, reader = self.core, self.core.element, self.policy
        item: JsonDict = {"name": core.name}
        policy = reader.read(element)
        if policy not in ({}, {"policy": "live_only"}):
            item["ha"] = policy
        if cluster := self.cluster():
            item["cluster"] = cluster
        if own := self.leaves(element, OPTIONS["core"]):
            item["core"] = own
        for child in element.all("cluster-password"):
            item["cluster_password"] = core.text(child)
        journal = element.first("journal-directory")
        if journal is not None and policy.get("policy") == "shared_store":
            item["shared_store"] = core.text(journal).removesuffix(JOURNAL).removeprefix(SHARED)
        if settings := self.settings():
            item["address_settings"] = settings
        item |= {holder: parts for holder in PARTS if (parts := self.parts(holder))}
        return item

    def leaves(self, holder: Element, rows: Mapping[str, Option]) -> JsonDict:
        """Return the options of rows that stand in an element."""
        by_guide = {row.guide: row for row in rows.values()}
        return {
            by_guide[child.name].name: self.policy.value(by_guide[child.name], child)
            for child in holder.children
            if child.name in by_guide
        }

    def cluster(self) -> JsonDict:
        """Return the options of the first cluster connection."""
        connection = self.core.connection
        if connection is None:
            return {"clustered": False}
        others = set(self.directory.cores) - {self.core.name}
        if connection.name == CONNECTIONS[1]:
            found, to = self._by_uri(connection)
            if found.get("discovery"):
                return found
        else:
            found = self.leaves(connection, PLAIN)
            if connection.first("discovery-group-ref") is not None:
                return {**found, "discovery": True}
            to = []
            for listed in connection.all("static-connectors"):
                if self.core.attribute(listed, "allow-direct-connections-only") == "true":
                    found["allow_direct_connections_only"] = True
                to += [self.directory.leads_to(self.core, name) for name, _ in self.core.refs(listed)]
        known = [name for name in dict.fromkeys(to) if name is not None and name != self.core.name]
        return found if set(known) == others else {**found, "to": known}

    def _by_uri(self, connection: Element) -> tuple[JsonDict, list[str | None]]:
        """Return options and brokers of a connection that is written as one address, such as
        ``static://(tcp://b:61616)?maxHops=1``.
        """
        address = self.core.attribute(connection, "address")
        found: JsonDict = {
            URI[key].name: self.policy.read_text(URI[key], text, connection)
            for key, text in in_uri(address)[1].items()
            if key in URI
        }
        if not address.startswith("static:"):
            found["discovery"] = True
        return found, [self.directory.broker_at(one) for one in static_in(address)]

    def settings(self) -> JsonDict:
        """Return match -> options of addresses; of two with one match the first holds."""
        found: JsonDict = {}
        for setting in self.core.element.below("address-settings", "address-setting"):
            match = self.core.attribute(setting, "match")
            options = self.leaves(setting, OPTIONS["address-setting"])
            if options and match not in found:
                found[match] = options
        return found

    def parts(self, holder: str) -> JsonDict:
        """Return name -> options of diverts or bridges."""
        found: JsonDict = {}
        kind = PARTS[holder]
        for one in self.core.element.below(holder, kind):
            options = self.leaves(one, leaf_rows(kind))
            for element in one.all("filter"):
                options["filter"] = self.core.attribute(element, "string")
            for listed in one.all("static-connectors"):
                to = (self.directory.leads_to(self.core, name) for name, _ in self.core.refs(listed))
                options["to"] = [name for name in to if name is not None]
            found.setdefault(self.core.attribute(one, "name"), options)
        return found


@cache
def leaf_rows(kind: str) -> dict[str, Option]:
    """Return the options of a divert or bridge that are an element's text."""
    return {name: row for name, row in OPTIONS[kind].items() if name not in ("filter", "to")}


def in_uri(address: str) -> tuple[str, dict[str, str]]:
    """Return what stands before the parameters of a connection that is one address, and the parameters."""
    head, _, query = address.partition("?")
    parts = (part.partition("=") for part in query.replace(";", "&").split("&") if part.strip())
    return head, {key.strip(): text.strip() for key, _, text in parts}


def static_in(address: str) -> list[str]:
    """Return the addresses in a connection that is one address, such as ``static://(tcp://b:1)``."""
    head = in_uri(address)[0] if address.startswith("static:") else ""
    inside = head.partition("(")[2].rpartition(")")[0] or head.partition("://")[2]
    return [one for one in inside.split(",") if one.strip()]


@lru_cache(maxsize=4096)
def parsed(address: str) -> tuple[str, int | None]:
    """Return host and port of an address; no host for what is none."""
    found = uris.read(address.strip().strip("()").split(",")[0])
    if found is None:
        return "?", None
    return unquote(found.host or "").strip("[]"), found.port


def found_core(document: Document, values: Mapping[str, str]) -> Core:
    """Return the ``core`` of a document; raises `BadFile` for one without."""
    root = document.root
    element = root if root.name == "core" else root.first("core")
    if element is None or element.namespace not in NAMESPACES:
        what = "holds no core" if element is None else f"its core is of {shown(element.namespace)}"
        raise BadFile(f'{document.where}, line {root.line}: {what}; write <core xmlns="urn:activemq:core">')
    core = Core(document, element, "", values)
    name = element.first("name")
    core.name = (core.text(name) if name is not None else "") or UNNAMED
    core.connectors = _listed(core, "connectors", "connector")
    core.acceptors = list(_listed(core, "acceptors", "acceptor").values())
    for note in element.notes:
        if note.target == NOTE:
            core.note, core.notes = note, _noted(document, note)
    return core


def _noted(document: Document, note: Note) -> JsonDict:
    try:
        notes = json.loads(note.data)
    except (ValueError, RecursionError):
        notes = None
    if not isinstance(notes, dict) or set(notes) - {"name", "broker", "network"}:
        raise BadFile(
            f"{document.where}, line {note.line}: the content of <?{NOTE} ...?> was not written by "
            "mqlab; remove it"
        )
    return notes


def _listed(core: Core, holder: str, kind: str) -> dict[str, str]:
    found = core.element.below(holder, kind)
    return {core.attribute(element, "name"): core.text(element) for element in found}
