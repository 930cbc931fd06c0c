"""Who is on the stage: which nodes of a trace are drawn, at whose side, and what joins them.

Brokers, and addresses at which nobody serves, stand by themselves. Producers and consumers stand at
their broker. A client with a connection of its own, which may move from broker to broker, stands at the
first one it reached; its consumers are drawn as the client itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mqlab.trace.accounts import set_keys
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace
from mqlab.views import stage as stages
from mqlab.views.stage import Stage, Way

STANDING = ("broker", "endpoint")
_MEETS = (Kind.Attached, Kind.Attempted)


@dataclass(frozen=True)
class Cast:
    """The nodes of one trace, and the stage they stand on."""

    trace: Trace

    @cached_property
    def nodes(self) -> list[tuple[str, str]]:
        """(name, role) of each node, by its number."""
        names = self.trace.names
        return list(zip(names["node"], names["node_role"], strict=True))

    def stands(self, node: int) -> bool:
        """Whether a node stands by itself; where there is no broker at all, the clients do."""
        return self.nodes[node][1] in self._standing

    @cached_property
    def _standing(self) -> tuple[str, ...]:
        found = any(role in STANDING for _, role in self.nodes)
        return STANDING if found else ("client", "producer", "consumer")

    @cached_property
    def actors(self) -> dict[int, int]:
        """Node -> the node it is drawn as: what a client has is the client, a line is its broker.

        A consumer that was closed and opened again at the same broker is the one it was.
        """
        clients = {name: no for no, (name, role) in enumerate(self.nodes) if role == "client"}
        brokers = {name: no for no, (name, role) in enumerate(self.nodes) if role == "broker"}
        lines = self.trace.header.get("scenario", {}).get("lines", ())
        leads = {line["name"]: brokers[line["to"]] for line in lines}
        homes, found = self.trace.names["node_home"], {}
        lives: dict[tuple[str, str], int] = {}
        for no, (name, role) in enumerate(self.nodes):
            owned = role == "consumer" or (role == "producer" and homes[no] not in brokers)
            first = lives.setdefault((name, homes[no]), no) if role == "consumer" else no
            found[no] = clients.get(homes[no], first) if owned else no
            if role == "line":
                found[no] = leads[name]
        return found

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """(from, to) of each line: the bridges by their numbers, then clients' connections."""
        names = self.trace.names
        numbers = {name: no for no, (name, role) in enumerate(self.nodes) if role == "broker"}
        bridges = [
            (numbers[frm], numbers[to])
            for frm, to in zip(names["link_from"], names["link_to"], strict=True)
        ]
        columns = (self.trace.column(c) for c in ("kind", "frm", "to"))
        met = [(frm, to) for kind, frm, to in zip(*columns, strict=True)
               if kind == Kind.Attached and to >= 0]  # fmt: skip
        return bridges + list(dict.fromkeys(met))

    @cached_property
    def homes(self) -> dict[int, str]:
        """Node -> the name of the standing node at whose side it is drawn."""
        names, found = self.trace.names, {}
        columns = [self.trace.column(c) for c in ("kind", "frm", "to")]
        for wanted in _MEETS:  # where a client was connected, else whom it tried
            for kind, frm, to in zip(*columns, strict=True):
                if kind == wanted and to >= 0 and self.stands(to):
                    found.setdefault(frm, self.nodes[to][0])
        first = next(name for no, (name, _) in enumerate(self.nodes) if self.stands(no))
        return {
            no: found.get(no, first) if role == "client" else names["node_home"][no]
            for no, (_, role) in enumerate(self.nodes)
            if not self.stands(no) and self.actors[no] == no
        }

    @cached_property
    def stage(self) -> Stage:
        """Where everybody stands."""
        standing = [name for no, (name, _) in enumerate(self.nodes) if self.stands(no)]
        bridges = len(self.trace.names["link"])
        lines = [(self.nodes[a][0], self.nodes[b][0]) for a, b in self.links[:bridges]]
        wished = {
            b["name"]: tuple(b["at"])
            for b in self.trace.header.get("scenario", {}).get("brokers", ()) if b.get("at")
        }  # fmt: skip
        clients = [(f"{no}", home) for no, home in self.homes.items()]
        stage = stages.build(standing, lines, wished, clients, self._sets(standing))
        for frm, to in self.links[bridges:]:
            (x0, y0), (x1, y1) = self._at(stage, frm), self._at(stage, to)
            stage.links.append(Way(x0, y0, (x0 + x1) / 2, (y0 + y1) / 2, x1, y1))
        return stage

    def _sets(self, standing: list[str]) -> list[tuple[str, str]]:
        """Return pairs of brokers that are masters and slaves of one another."""
        if "details" not in self.trace.header:
            return []
        sets: dict[str, list[str]] = {}
        for name, key in set_keys(self.trace):
            if name in standing:
                sets.setdefault(key, []).append(name)
        return [(names[0], other) for names in sets.values() for other in names[1:]]

    @cached_property
    def _shared(self) -> str:
        """The beginning that all names of brokers share."""
        first, *others = self.stage.brokers
        size = 0
        while others and all(name[: size + 1] == first[: size + 1] for name in others):
            size += 1
            if size >= len(first):
                break
        return first[:size]

    def label(self, name: str) -> tuple[str, float]:
        """Return a broker's name as it fits into its circle, and the height of the letters.

        What does not fit loses the beginning that all names share, then its middle.
        """
        radius = self.stage.radius
        if 3.0 * radius / max(2, len(name)) < 8 and len(self._shared) > 2:
            name = name.removeprefix(self._shared) or name
        size = min(16.0, 0.95 * radius, 3.0 * radius / max(2, len(name)))
        if size >= 8:
            return name, size
        room = max(3, int(radius * 3.0 / 8))
        return f"{name[: room - 2]}…{name[-1]}", 8.0

    def point(self, node: int) -> tuple[float, float]:
        """Return where a node stands."""
        return self._at(self.stage, node)

    def _at(self, stage: Stage, node: int) -> tuple[float, float]:
        actor = self.actors[node]
        name, _ = self.nodes[actor]
        return stage.brokers[name] if self.stands(actor) else stage.clients[f"{actor}"]
