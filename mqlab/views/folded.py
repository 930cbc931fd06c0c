"""A cast whose brokers stand in groups, each closed but one at most: what it draws of many brokers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from mqlab.views.cast import Client, Link, SceneParts, Store
from mqlab.views.groups import Group


@dataclass(frozen=True)
class CollapsedParts(SceneParts):
    """The parts of a network that are seen. A group has a node of its own, after those of the trace.

    `open` is the node of the group that is open, or -1. A group of one broker is that broker. Clients stand on
    the stage if one of their brokers does; else they are in the group of the first.
    """

    whole: SceneParts
    parts: Sequence[Group]
    open: int = -1

    @cached_property
    def nodes(self) -> list[tuple[str, str]]:
        """(name, role) of each node: those of the trace, then the groups."""
        return [*self.whole.nodes, *((part.name, "group") for part in self.parts)]

    @cached_property
    def groups(self) -> dict[int, Group]:
        """Node -> group, of those of several brokers."""
        first = len(self.whole.nodes)
        return {no: part for no, part in enumerate(self.parts, first) if len(part.members) > 1}

    @cached_property
    def _within(self) -> dict[int, int]:
        """Broker or client -> the closed group in which it is."""
        found = {no: node for node, group in self.groups.items() if node != self.open for no in group.members}
        for client in self.whole.clients:
            if client.homes and all(home in found for home in client.homes):
                found[client.node] = found[client.homes[0]]
        return found

    def clients_in(self, node: int) -> list[int]:
        """Return the clients whose first broker is in a group."""
        members = self.groups[node].members
        return [one.node for one in self.whole.clients if one.homes and one.homes[0] in members]

    def seen_as(self, node: int) -> int:
        """Return the group in which a broker or a client is, where this is closed."""
        return self._within.get(node, node)

    @cached_property
    def standing(self) -> list[int]:
        """Closed groups, and brokers of the open one."""
        return list(dict.fromkeys(map(self.seen_as, self.whole.standing)))

    @cached_property
    def clients(self) -> list[Client]:
        """Clients that stand on the stage, at what is seen of their brokers."""
        return [
            Client(
                one.node, one.name, one.role, tuple(dict.fromkeys(map(self.seen_as, one.homes))), one.consumers
            )
            for one in self.whole.clients
            if one.node not in self._within
        ]

    @cached_property
    def links(self) -> list[Link]:
        """One link for all that join two that are seen; none within a closed group."""
        between: dict[frozenset[int], list[Link]] = {}
        for link in self.whole.links:
            a, b = self.seen_as(link.a), self.seen_as(link.b)
            if a != b:
                between.setdefault(frozenset((a, b)), []).append(link)
        return [self._joined(links) for links in between.values()]

    def _joined(self, links: Sequence[Link]) -> Link:
        first = links[0]
        a, b = self.seen_as(first.a), self.seen_as(first.b)
        many = len(links) > 1
        return Link(
            f"{len(links)} connectors" if many else first.name,
            first.kind,
            a,
            b,
            tuple(bridge for link in links for bridge in link.bridges),
            any(link.both or self.seen_as(link.a) != a for link in links),
            () if many else first.chips,
            len(links),
        )

    @cached_property
    def sets(self) -> list[list[int]]:
        """Masters and slaves of one another that are seen."""
        return [members for members in self.whole.sets if not self._within.keys() & set(members)]

    @cached_property
    def stores(self) -> list[Store]:
        """What is shared by brokers that are seen."""
        return [store for store in self.whole.stores if not self._within.keys() & set(store.members)]

    @cached_property
    def hosts(self) -> dict[str, list[int]]:
        """None: a machine is a group here, or its brokers stand in several."""
        return {}

    @cached_property
    def wishes(self) -> dict[str, tuple[float, float]]:
        """None: a scenario wishes places for all brokers, of which groups leave no room."""
        return {}
