"""A broker that was read and has changed: edits of its file where the change is, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import dedent

from mqlab.files.editing import Putting, attribute, holder, removed, written
from mqlab.files.markup import Edit, Element, plain, quoted, tag
from mqlab.products.artemis.files import new_file
from mqlab.products.artemis.files import policy as policies
from mqlab.products.artemis.files.core import (
    CONNECTIONS,
    JOURNAL,
    PARTS,
    PLAIN,
    SHARED,
    Core,
    Directory,
    leaf_rows,
    parsed,
)
from mqlab.products.artemis.files.policy import POLICIES, ROLES, SPOKEN, leaf
from mqlab.products.artemis.files.queues import more, queue_edits
from mqlab.products.artemis.files.side import Side
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS
from mqlab.spec.json_types import JsonObject
from mqlab.spec.option import Option
from mqlab.spec.values import as_text

# The elements of a cluster connection in the order of the older schemas.
_ORDER = (
    "address", "connector-ref", "check-period", "connection-ttl", "min-large-message-size", "call-timeout",
    "retry-interval", "retry-interval-multiplier", "max-retry-interval", "initial-connect-attempts",
    "reconnect-attempts", "use-duplicate-detection", "forward-when-no-consumers", "message-load-balancing",
    "max-hops", "confirmation-window-size", "producer-window-size", "call-failover-timeout",
    "notification-interval", "notification-attempts", "scale-down-connector", "static-connectors",
    "discovery-group-ref",
)  # fmt: skip
_LATER = {guide: now for now, guide in SPOKEN.items()}
_MANY = ("scale_down", "excludes", "manager", "master", "slave")  # elements that hold more than a text


@dataclass(slots=True)
class Edits:
    """The edits by which the file of *was* says what can be said of *now*."""

    core: Core
    directory: Directory
    was: Side
    now: Side
    connectors: dict[str, str] = field(default_factory=dict)  # those that are missing, with their address
    put: Putting = field(init=False)

    def __post_init__(self) -> None:
        self.put = Putting(self.core.document)

    def all(self) -> list[Edit]:
        """Return all edits."""
        found = [
            *self._own(),
            *self._policy(),
            *self._cluster(),
            *self._settings(),
            *(edit for whole in PARTS for edit in self._parts(whole)),
            *queue_edits(self.core, self.put, self.was.queues, self.now.queues),
        ]
        return [*self._connectors(), *found, *self.put.rest()]

    # Leaves

    def _leaf(
        self, parent: Element, names: tuple[str, ...], value: object, after: tuple[str, ...] | None = None
    ) -> Iterator[Edit]:
        """Yield the edits by which an element has a child with a text; a new one has the last of *names*."""
        there = parent.first(*names)
        if value is None:
            if there is not None:
                yield removed(self.core.document, there)
        elif there is None:
            yield from self.put(parent, leaf(names[-1], value, ""), after)
        else:
            yield from written(self.core.document, there, as_text(value))

    def _leaves(
        self, parent: Element, rows: Mapping[str, Option], was: JsonObject, now: JsonObject
    ) -> Iterator[Edit]:
        for name, row in rows.items():
            if was.get(name) != now.get(name):
                yield from self._leaf(parent, (row.guide,), now.get(name))

    def _own(self) -> Iterator[Edit]:
        was, now = self.was.broker.keys, self.now.broker.keys
        yield from self._leaves(
            self.core.element, OPTIONS["core"], was.get("core") or {}, now.get("core") or {}
        )
        if was.get("cluster_password") != now.get("cluster_password"):
            yield from self._leaf(self.core.element, ("cluster-password",), now.get("cluster_password"))
        store = now.get("shared_store")
        if was.get("shared_store") != store:
            path = None if store is None else (store if store.startswith("/") else SHARED + store) + JOURNAL
            yield from self._leaf(self.core.element, ("journal-directory",), path)

    # The policy

    def _policy(self) -> Iterator[Edit]:
        was, now, there = self.was.broker, self.now.broker, self.core.element.first("ha-policy")
        if (was.policy, was.role, was.elements) == (now.policy, now.role, now.elements):
            return
        role = None if there is None else _role(there)
        if there is not None and role is not None and (was.policy, was.role) == (now.policy, now.role):
            yield from self._elements(role, was.elements, now.elements)
            return
        lines = dedent(policies.written(now))
        self._refer(now.scale_down or {})
        yield from self._replaced(self.core.element, there, lines)

    def _elements(self, role: Element, was: JsonObject, now: JsonObject) -> Iterator[Edit]:
        for name, row in ELEMENTS.items():
            if was.get(name) == now.get(name):
                continue
            names = (_LATER.get(row.guide, row.guide), row.guide)
            there, value = role.first(*names), now.get(name)
            if name not in _MANY:
                yield from self._leaf(role, names, value)
            elif there is not None and value is not None and name in ("master", "slave"):
                yield from self._elements(there, was.get(name) or {}, value)
            else:
                self._refer(value if name == "scale_down" and value else {})
                lines = "" if value is None else self._named(dedent(policies.elements({name: value}, "")))
                yield from self._replaced(role, there, lines)

    def _replaced(self, parent: Element, there: Element | None, lines: str) -> Iterator[Edit]:
        if there is None:
            yield from self.put(parent, lines) if lines else ()
        elif lines:
            start = self.core.document.text.rfind("\n", 0, there.start) + 1
            before = self.core.document.text[start : there.start]  # how far its place is indented
            beside = lines.strip().replace("\n", "\n" + (before if not before.strip() else ""))
            yield Edit(there.start, there.end, beside)
        else:
            yield removed(self.core.document, there)

    def _refer(self, scale_down: JsonObject) -> None:
        for ref in scale_down.get("connectors", ()):
            self._to(str(ref).removeprefix("to_"))

    def _named(self, lines: str) -> str:
        """Return lines with the file's own names for connectors to brokers."""
        for name in self.now.network.names:
            ours = leaf("connector-ref", f"to_{name}", "").strip()
            if ours in lines:
                lines = lines.replace(ours, leaf("connector-ref", self._to(name), "").strip())
        return lines

    # Connectors

    def _to(self, broker: str) -> str:
        """Return the connector of the file that leads to a broker; one that is missing is added."""
        for name in self.core.connectors:
            if self.directory.leads_to(self.core, name) == broker:
                return name
        own = broker if broker == self.core.name else f"to_{broker}"
        while own in self.core.connectors:
            own += "-"
        self.connectors[own] = self._address(broker)
        return own

    def _address(self, broker: str) -> str:
        """Return an address that leads to a broker: where it listens, or a host that is called like it."""
        there = self.directory.cores.get(broker)
        for acceptor in there.acceptors if there is not None else ():
            host, port = parsed(acceptor)
            for one in (host, "localhost"):
                address = f"tcp://{one}:{port}"
                if port is not None and self.directory.broker_at(address) == broker:
                    return address
        hosts = [host for host, name in self.directory.hosts.items() if name == broker]
        return f"tcp://{new_file.host(hosts[0] if hosts else broker)}:{new_file.PORT}"

    def _connectors(self) -> Iterator[Edit]:
        lines = "".join(
            f"<connector name={quoted(name)}>{plain(address)}</connector>\n"
            for name, address in self.connectors.items()
        )
        yield from more(self.core, self.put, "connectors", lines)

    # The cluster connection

    def _cluster(self) -> Iterator[Edit]:
        was, now, there = self.was, self.now, self.core.connection
        if was.clustered and not now.clustered and there is not None:
            for connections in self.core.element.all("cluster-connections"):
                yield removed(self.core.document, connections)
        elif now.clustered and there is None:
            if not was.clustered or now.cluster != was.cluster:
                yield from self.put(self.core.element, self._connection())
        elif now.clustered and there is not None and there.name == CONNECTIONS[0]:
            for name, row in PLAIN.items():
                if was.cluster.get(name) != now.cluster.get(name):
                    yield from self._leaf(there, (row.guide,), now.cluster.get(name), _before(row.guide))
            yield from self._static(there)

    def _connection(self) -> str:
        """Return a new cluster connection, in the file's own names for connectors."""
        lines = dedent(new_file.cluster(self.now.network, self.now.broker, self.now.to))
        ours = leaf("connector-ref", self.core.name, "").strip()
        lines = lines.replace(ours, leaf("connector-ref", self._to(self.core.name), "").strip(), 1)
        return self._named(lines)

    def _static(self, there: Element) -> Iterator[Edit]:
        """Yield the edits of who is listed, or found by a discovery group."""
        document, listed = self.core.document, there.first("static-connectors")
        ref = there.first("discovery-group-ref")
        found, finds = (bool(side.cluster.get("discovery")) for side in (self.was, self.now))
        if finds:
            if not found:
                yield from self._groups()
                given = {"discovery-group-name": new_file.GROUP}
                lines = tag("discovery-group-ref", given)
                yield from self._replaced(there, listed if listed is not None else ref, lines)
            return
        only = [bool(side.cluster.get("allow_direct_connections_only")) for side in (self.was, self.now)]
        if found or (listed is None and (self.now.to or only[1])):
            refs = "".join(leaf("connector-ref", self._to(name), "") for name in self.now.to)
            given = {"allow-direct-connections-only": "true"} if only[1] else {}
            yield from self._replaced(there, ref, holder("static-connectors", refs, given))
            return
        if listed is None:
            return
        if only[0] != only[1]:
            name = "allow-direct-connections-only"
            yield from attribute(document, listed, name, "true" if only[1] else None)
        for name, element in self.core.refs(listed):
            leads = self.directory.leads_to(self.core, name)
            if leads in self.was.to and leads not in self.now.to:
                yield removed(document, element)
        more = [name for name in self.now.to if name not in self.was.to]
        refs = "".join(leaf("connector-ref", self._to(name), "") for name in more)
        yield from self.put(listed, refs) if refs else ()

    def _groups(self) -> Iterator[Edit]:
        """Yield the edits that add the groups by which brokers find each other."""
        for lines in new_file.groups(self._to(self.core.name), [new_file.GROUP]):
            name = dedent(lines)[1:].partition(">")[0]
            there = self.core.element.first(name)
            if there is None:
                yield from self.put(self.core.element, dedent(lines))
            else:
                inside = dedent("".join(dedent(lines).splitlines(keepends=True)[1:-1]))
                yield from self.put(there, inside)

    # Addresses

    def _settings(self) -> Iterator[Edit]:
        rows = OPTIONS["address-setting"]
        there = self.core.element.below("address-settings", "address-setting")
        by_match = {self.core.attribute(setting, "match"): setting for setting in reversed(there)}
        made = ""
        for match in {**self.was.settings, **self.now.settings}:
            was, now = self.was.settings.get(match, {}), self.now.settings.get(match, {})
            if was == now:
                continue
            if match in by_match:
                yield from self._leaves(by_match[match], rows, was, now)
            else:
                lines = "".join(leaf(rows[n].guide, value, "") for n, value in now.items() if value is not None)
                made += holder("address-setting", lines, {"match": match}) if lines else ""
        yield from more(self.core, self.put, "address-settings", made)

    def _there(self, names: Iterable[str]) -> list[str]:
        """Return which brokers are still there: what leads to another stays as it is written."""
        return [name for name in names if name in self.now.network.names]

    def _parts(self, whole: str) -> Iterator[Edit]:
        kind = PARTS[whole]
        was, now = (side.broker.parts(whole) for side in (self.was, self.now))
        there = {self.core.attribute(one, "name"): one for one in self.core.element.below(whole, kind)[::-1]}
        added: dict[str, JsonObject] = {}
        for name in {**was, **now}:
            element, options = there.get(name), now.get(name)
            if element is None or was.get(name) == options:
                added |= {name: options} if name not in was and options is not None else {}
            elif options is None:
                yield removed(self.core.document, element)
            else:
                yield from self._leaves(element, leaf_rows(kind), was[name], options)
                where, to = options.get("filter"), options.get("to")
                if was[name].get("filter") != where:
                    lines = "" if where is None else tag("filter", {"string": where})
                    yield from self._replaced(element, element.first("filter"), lines)
                before = was[name].get("to")
                if to != before and (to is None or before is None or to != self._there(before)):
                    lines = "" if to is None else holder("static-connectors", new_file.refs(to))
                    yield from self._replaced(element, element.first("static-connectors"), self._named(lines))
        lines = self._named(dedent(new_file.parts(whole, added)))
        yield from more(self.core, self.put, whole, lines)


def _before(guide: str) -> tuple[str, ...]:
    """Return what stands before an element of a cluster connection."""
    return _ORDER[: _ORDER.index(guide)] if guide in _ORDER else _ORDER


def _role(there: Element) -> Element | None:
    """Return the element of a policy that has its options: that of the role, or the policy itself."""
    for policy in there.children:
        if POLICIES.get(policy.name) == "live_only":
            return policy
        roles = {SPOKEN.get(role.name, role.name): role for role in reversed(policy.children)}
        return next((roles[name] for name in ROLES if name in roles), None)
    return None
