"""Who is on the stage: the parts of a network as a trace names them, and what joins them.

Brokers, and addresses at which nobody serves, stand by themselves. Producers and consumers stand at their
broker. A client with a connection of its own is a card of its own, in which its consumers have a row each:
it may go from broker to broker. What several brokers share, a store or a database, is a part as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mqlab.spec.json_types import JsonDict
from mqlab.spec.rows import GUIDE_NAMES, OPTIONS
from mqlab.trace.accounts import set_keys
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

STANDING = ("broker", "endpoint")
_MEETS = (Kind.Attached, Kind.Attempted)
_NO_OPTION = ("name", "from", "to", "uri", "uri_kind", "duplex")


@dataclass(frozen=True, slots=True)
class Client:
    """A producer, a consumer or a client, by its node; `homes` are brokers it ever was at or tried."""

    node: int
    name: str
    role: str
    homes: tuple[int, ...]
    consumers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """What joins two brokers: one connection, whichever of the trace's bridges go over it.

    `kind` is connector, cluster or replication; `chips` are options that are not the default. Between groups of
    brokers one line is drawn for `count` of them.
    """

    name: str
    kind: str
    a: int
    b: int
    bridges: tuple[int, ...]
    both: bool
    chips: tuple[str, ...] = ()
    count: int = 1


@dataclass(frozen=True, slots=True)
class Store:
    """What several brokers share: `kind` is files or database."""

    name: str
    kind: str
    members: tuple[int, ...]


@dataclass(frozen=True)
class SceneParts:
    """The parts of one trace's network."""

    trace: Trace

    @cached_property
    def nodes(self) -> list[tuple[str, str]]:
        """(name, role) of each node, by its number."""
        names = self.trace.names
        return list(zip(names["node"], names["node_role"], strict=True))

    @cached_property
    def scenario(self) -> JsonDict:
        """The scenario of the trace's header; empty in traces from elsewhere."""
        return dict(self.trace.header.get("scenario", {}))

    @cached_property
    def standing(self) -> list[int]:
        """Nodes that stand by themselves; where there is no broker at all, the clients do."""
        found = [no for no, (_, role) in enumerate(self.nodes) if role in STANDING]
        if found:
            return found
        roles = ("client", "producer", "consumer")
        return [no for no, (_, role) in enumerate(self.nodes) if role in roles and self.actors[no] == no]

    def seen_as(self, node: int) -> int:
        """Return the node as which a broker or a client is drawn: here itself (but see `folded.Folded`)."""
        return node

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Name -> node of each broker."""
        return {name: no for no, (name, role) in enumerate(self.nodes) if role == "broker"}

    @cached_property
    def actors(self) -> dict[int, int]:
        """Node -> the node as which it is drawn: what a client sends is the client's, a line is its broker.

        A consumer that was closed and opened again at the same broker is the one it was.
        """
        clients = {name: no for no, (name, role) in enumerate(self.nodes) if role == "client"}
        lines = self.scenario.get("lines", ())
        leads = {line["name"]: self.numbers[line["to"]] for line in lines}
        homes, found = self.trace.names["node_home"], {}
        lives: dict[tuple[str, str], int] = {}
        for no, (name, role) in enumerate(self.nodes):
            found[no] = no
            if role == "consumer":
                found[no] = lives.setdefault((name, homes[no]), no)
            elif role == "producer" and homes[no] not in self.numbers:
                found[no] = clients.get(homes[no], no)
            elif role == "line":
                found[no] = leads.get(name, no)
        return found

    def card(self, node: int) -> int:
        """Return the card that a node is drawn on: a consumer of a client on its client's."""
        actor = self.actors.get(node, node)
        return self.owners.get(actor, actor)

    @cached_property
    def owners(self) -> dict[int, int]:
        """Node of a client's consumer -> that of its client."""
        clients = {name: no for no, (name, role) in enumerate(self.nodes) if role == "client"}
        homes = self.trace.names["node_home"]
        return {
            no: clients[homes[no]]
            for no, (_, role) in enumerate(self.nodes)
            if role == "consumer" and self.actors[no] == no and homes[no] in clients
        }

    @cached_property
    def clients(self) -> list[Client]:
        """All clients that do not stand by themselves."""
        homes = self._homes
        return [
            Client(
                no,
                name,
                role,
                tuple(homes.get(no, ())),
                tuple(c for c, owner in self.owners.items() if owner == no),
            )
            for no, (name, role) in enumerate(self.nodes)
            if role in ("client", "producer", "consumer")
            and no not in self.standing
            and self.actors[no] == no
            and no not in self.owners
        ]

    @cached_property
    def _homes(self) -> dict[int, list[int]]:
        """Client -> the brokers it was at, or tried, its home first."""
        found: dict[int, dict[int, None]] = {}
        for no, home in enumerate(self.trace.names["node_home"]):
            if home in self.numbers:
                found.setdefault(self.actors[no], {})[self.numbers[home]] = None
        standing = set(self.standing)
        columns = [self.trace.column(c) for c in ("kind", "frm", "to")]
        met = {(frm, to) for kind, frm, to in zip(*columns, strict=True) if kind in _MEETS}
        for frm, to in sorted(met):
            to = self.actors.get(to, -1)
            if frm >= 0 and to in standing and frm not in standing:
                found.setdefault(self.actors[frm], {})[to] = None
        return {client: list(homes) for client, homes in found.items()}

    @cached_property
    def links(self) -> list[Link]:
        """What joins brokers: a duplex connector is one link, and so is a cluster's pair of bridges."""
        names = self.trace.names
        rows = zip(names["link"], names["link_from"], names["link_to"], strict=True)
        found: dict[tuple[str, frozenset[str]], list[tuple[int, str, str]]] = {}
        product = self.trace.product
        for bridge, (name, frm, to) in enumerate(rows):
            base = name.removesuffix(" (duplex back)") if product == "activemq" else ""
            found.setdefault((base, frozenset((frm, to))), []).append((bridge, frm, to))
        pairs, links = self._pairs, []
        for (base, ends), bridges in found.items():
            _, frm, to = bridges[0]
            kind = "connector" if product == "activemq" else "cluster"
            if kind == "cluster" and ends in pairs:
                kind = "replication"
            owner, _, name = base.rpartition("/")
            both = len({(f, t) for _, f, t in bridges}) > 1
            links.append(
                Link(
                    name or base,
                    kind,
                    self.numbers[frm],
                    self.numbers[to],
                    tuple(bridge for bridge, _, _ in bridges),
                    both,
                    self._chips(owner, name or base),
                )
            )
        joined = {frozenset((link.a, link.b)) for link in links}
        for a, b in self._replicas:
            if frozenset((a, b)) not in joined:
                links.append(Link("replication", "replication", a, b, (), both=False))
        return links

    @cached_property
    def link_of(self) -> dict[int, int]:
        """Bridge of the trace -> the number of its link in `links`."""
        return {bridge: no for no, link in enumerate(self.links) for bridge in link.bridges}

    @cached_property
    def _connectors(self) -> dict[tuple[str, str], JsonDict]:
        return {
            (str(row.get("from")), str(row.get("name"))): row for row in self.scenario.get("connectors", ())
        }

    def _chips(self, owner: str, name: str) -> tuple[str, ...]:
        """Return the options of a connector that are not the default, in the guides' words."""
        known, chips = OPTIONS["networkConnector"], []
        for key, value in self._connectors.get((owner, name), {}).items():
            if key in _NO_OPTION or (key in known and known[key].default == value):
                continue
            chips.append(f"{GUIDE_NAMES.get(key, key)} {_told(value)}")
        return tuple(chips)

    @cached_property
    def sets(self) -> list[list[int]]:
        """Brokers that are masters and slaves of one another, by set; the first began as the master."""
        if "details" not in self.trace.header:
            return []
        found: dict[str, list[int]] = {}
        for name, key in set_keys(self.trace):
            if name in self.numbers:
                members = found.setdefault(key, [])
                if self.numbers[name] not in members:
                    members.append(self.numbers[name])
        taken: set[int] = set()
        sets = []
        for members in found.values():
            fresh = [no for no in members if no not in taken]
            taken.update(fresh)
            if len(fresh) > 1:
                sets.append(fresh)
        return sets

    @cached_property
    def _pairs(self) -> set[frozenset[str]]:
        return {
            frozenset((self.nodes[a][0], self.nodes[b][0]))
            for members in self.sets
            for a in members
            for b in members
            if a != b
        }

    @cached_property
    def _replicas(self) -> list[tuple[int, int]]:
        """(master, slave) of pairs that copy to one another: pure pairs, and those of Artemis."""
        stored = {no for store in self.stores for no in store.members}
        return [
            (members[0], other) for members in self.sets for other in members[1:] if members[0] not in stored
        ]

    @cached_property
    def stores(self) -> list[Store]:
        """What brokers share: directories of files, databases."""
        found: dict[tuple[str, str], list[int]] = {}
        for row in self.scenario.get("brokers", ()):
            if row.get("name") not in self.numbers:
                continue
            node, ha = self.numbers[row["name"]], row.get("ha") or {}
            if row.get("shared_store"):
                found.setdefault((str(row["shared_store"]), "files"), []).append(node)
            elif "jdbc" in row or row.get("store") == "jdbc":
                found.setdefault(("database", "database"), []).append(node)
            elif str(ha.get("policy", "")).startswith("shared"):
                found.setdefault(("shared store", "files"), []).append(node)
        cluster = self.scenario.get("cluster") or {}
        if cluster.get("model") == "enhanced":
            found[("database", "database")] = list(self.numbers.values())
        return [
            Store(name, kind, tuple(members)) for (name, kind), members in found.items() if len(members) > 1
        ]

    @cached_property
    def hosts(self) -> dict[str, list[int]]:
        """Machine -> its brokers; a broker that hosts the backups of others is one as well."""
        found: dict[str, list[int]] = {}
        for row in self.scenario.get("brokers", ()):
            if row.get("host") and row.get("name") in self.numbers:
                found.setdefault(str(row["host"]), []).append(self.numbers[row["name"]])
        for name, node in self.numbers.items():
            owner, slash, _ = name.partition("/")
            if slash and owner in self.numbers:
                found.setdefault(owner, [self.numbers[owner]]).append(node)
        return found

    @cached_property
    def wishes(self) -> dict[str, tuple[float, float]]:
        """Broker -> the place that the scenario wishes for it."""
        rows = self.scenario.get("brokers", ())
        return {row["name"]: (row["at"][0], row["at"][1]) for row in rows if row.get("at")}


def _told(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_told, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_told(inner)}" for key, inner in value.items())
    return str(value)
