"""What one `broker.xml` says: the elements below ``core``, in the lab file's form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from mqlab.errors import BadFile, UriError, shown
from mqlab.files.markup import Document, Element, Note, text_of
from mqlab.products.artemis.files.policy import PolicyReader
from mqlab.spec import uri as uris
from mqlab.spec.artemis.options import OPTIONS
from mqlab.spec.json_types import JsonDict

NAMESPACES = ("urn:activemq:core", "urn:activemq", "")
NOTE = "mqlab"
SHARED, JOURNAL = "/shared/", "/journal"
ANYWHERE = ("0.0.0.0", "localhost", "127.0.0.1", "")


@dataclass(slots=True)
class Core:
    """The ``core`` of one file: its broker's name, its connectors and acceptors as addresses."""

    document: Document
    element: Element
    name: str
    connectors: dict[str, str]
    acceptors: list[str]
    notes: JsonDict = field(default_factory=dict)
    note: Note | None = None

    @property
    def line(self) -> int:
        """The line of its policy, or else that of the core."""
        policy = self.element.first("ha-policy")
        return self.element.line if policy is None else policy.line

    def body(self, others: Mapping[str, Core], hosts: Mapping[str, str]) -> JsonDict:
        """Return the broker with its queues and address settings; *others* are all brokers by name."""

        def named(connector: str, element: Element) -> str:
            return self.leads_to(connector, element, others, hosts)

        reader = PolicyReader(self.document, named)
        item: dict[str, object] = {"name": self.name}
        policy = reader.read(self.element)
        if policy not in ({}, {"policy": "live_only"}):
            item["ha"] = policy
        cluster = self.cluster(reader, others, hosts)
        if cluster:
            item["cluster"] = cluster
        core = self.options(reader, "core")
        if core:
            item["core"] = core
        for child in self.element.all("cluster-password"):
            item["cluster_password"] = text_of(child)
        journal = self.element.first("journal-directory")
        if journal is not None and policy.get("policy") == "shared_store":
            item["shared_store"] = text_of(journal).removesuffix(JOURNAL).removeprefix(SHARED)
        return {"broker": item, "queues": self.queues(), "addresses": self.addresses(reader)}

    def leads_to(
        self, connector: str, element: Element, others: Mapping[str, Core], hosts: Mapping[str, str]
    ) -> str:
        """Return the broker that a connector of this file leads to; raises `BadFile` for nobody."""
        place = f"{self.document.where}, line {element.line}"
        if connector not in self.connectors:
            raise BadFile(f"{place}: no <connector> of this file is called {shown(connector)}; write one")
        host, port = _host(self.connectors[connector])
        if host in hosts:
            return hosts[host]
        for name, core in others.items():
            for own_host, own_port in map(_host, core.acceptors):
                if own_host == host and own_port == port and host not in ANYWHERE:
                    return name
        if host in others:
            return host
        local = [
            name
            for name, core in others.items()
            for own_host, own_port in map(_host, core.acceptors)
            if own_port == port and own_host in ANYWHERE
        ]
        if host in ANYWHERE and len(local) == 1:
            return local[0]
        raise BadFile(
            f"{place}: connector {connector} leads to {host}:{port}, where no broker of these files "
            "listens; load that broker's file too, or pass hosts={...}"
        )

    def cluster(
        self, reader: PolicyReader, others: Mapping[str, Core], hosts: Mapping[str, str]
    ) -> dict[str, object]:
        """Return the options of the first cluster connection."""
        connections = self.element.below("cluster-connections", "cluster-connection")
        found: dict[str, object] = {}
        for connection in connections[:1]:
            rows = {row.guide: row for row in OPTIONS["cluster-connection"].values()}
            for child in connection.children:
                row = rows.get(child.name)
                if row is not None and row.type in (bool, int, str) and row.name != "discovery":
                    found[row.name] = reader.value(row, child)
            if connection.first("discovery-group-ref") is not None:
                found["discovery"] = True
            for listed in connection.all("static-connectors"):
                if listed.attributes.get("allow-direct-connections-only", "").strip() == "true":
                    found["allow_direct_connections_only"] = True
                refs = listed.all("connector-ref")
                to = [self.leads_to(text_of(ref), ref, others, hosts) for ref in refs]
                if set(to) != set(others) - {self.name}:
                    found["to"] = to
        return found

    def options(self, reader: PolicyReader, section: str) -> dict[str, object]:
        """Return the options of a section that stand below ``core`` itself."""
        rows = {row.guide: row for row in OPTIONS[section].values()}
        return {
            rows[child.name].name: reader.value(rows[child.name], child)
            for child in self.element.children
            if child.name in rows
        }

    def addresses(self, reader: PolicyReader) -> dict[str, object]:
        """Return the settings of all addresses."""
        rows = {row.guide: row for row in OPTIONS["address-setting"].values()}
        settings = self.element.below("address-settings", "address-setting")
        return {
            rows[child.name].name: reader.value(rows[child.name], child)
            for setting in settings
            if setting.attributes.get("match") == "#"
            for child in setting.children
            if child.name in rows
        }

    def queues(self) -> list[JsonDict]:
        """Return the queues that are listed."""
        found = []
        for address in self.element.below("addresses", "address"):
            called = address.attributes.get("name", "")
            for routing in address.all("anycast", "multicast"):
                for queue in routing.all("queue"):
                    name = queue.attributes.get("name", "")
                    made = {"name": name}
                    made |= {"routing": "multicast"} if routing.name == "multicast" else {}
                    made |= {"address": called} if called != name else {}
                    found.append(made)
        return found


def _host(address: str) -> tuple[str, int | None]:
    try:
        parsed = uris.parse(address.strip())
    except UriError:
        return "", None
    return unquote(parsed.host or ""), parsed.port


def found_core(document: Document) -> Core:
    """Return the ``core`` of a document; raises `BadFile` for one without."""
    root = document.root
    element = root if root.name == "core" else root.first("core")
    if element is None or element.namespace not in NAMESPACES:
        what = "holds no core" if element is None else f"its core is of {shown(element.namespace)}"
        raise BadFile(f'{document.where}, line {root.line}: {what}; write <core xmlns="urn:activemq:core">')
    name = element.first("name")
    if name is None or not text_of(name):
        raise BadFile(f"{document.where}, line {element.line}: the broker has no <name>; write one")
    core = Core(
        document,
        element,
        text_of(name),
        _listed(element, "connectors", "connector"),
        list(_listed(element, "acceptors", "acceptor").values()),
    )
    for note in element.notes:
        if note.target == NOTE:
            core.note = note
            try:
                core.notes = json.loads(note.data)
            except (ValueError, RecursionError):
                core.notes = {"": None}
            if not isinstance(core.notes, dict) or set(core.notes) - {"broker", "network"}:
                raise BadFile(
                    f"{document.where}, line {note.line}: the content of <?{NOTE} ...?> was not written by "
                    "mqlab; remove it"
                )
    return core


def _listed(core: Element, holder: str, kind: str) -> dict[str, str]:
    found = core.below(holder, kind)
    return {element.attributes.get("name", ""): text_of(element) for element in found}
