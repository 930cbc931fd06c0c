"""What the rules for Artemis look at: a set-up, and where in the files its brokers stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mqlab.checks.rule import Element
from mqlab.products.artemis.files.core import Core, Directory
from mqlab.products.artemis.files.sources import sources_of
from mqlab.spec.action import Action
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.needs import Idle
from mqlab.spec.scenario import Scenario


@dataclass(frozen=True, slots=True)
class SetUp:
    """A set-up, and what the file of each broker says, by its name."""

    network: ArtemisNetwork
    script: tuple[Action, ...]  # as a lab plays it
    cores: dict[str, Core]
    actions: tuple[Action, ...] = ()

    @staticmethod
    def of(scenario: Scenario) -> SetUp:
        """Return a set-up beside the files that it was read from."""
        origin = scenario.network.origin
        cores = sources_of(origin) if origin else {}
        return SetUp(scenario.network, scenario.script, cores, scenario.actions)

    def element(self, broker: Broker, within: str = "") -> Element:
        """Return a broker at its policy in its file, or at an element *within*, else at the whole."""
        where, core = f"broker {broker.name}", self.cores.get(broker.name)
        if core is None:
            return Element(where)
        if not within:
            return Element(where, core.document.where, core.line)
        found = core.element.first(within)
        return Element(where, core.document.where, (found or core.element).line)

    def option(self, broker: Broker, idle: Idle) -> Element:
        """Return a broker where an option without effect stands in its file."""
        core = self.cores.get(broker.name)
        if idle.part and (element := self.setting(broker, idle.part[1], idle.guide)) is not None:
            return element
        found = () if core is None else (one for one in core.element.walk() if one.name == idle.guide)
        line = next((one.line for one in found), 0)
        whole = self.element(broker)
        return replace(whole, line=line) if line else whole

    def setting(self, broker: Broker, match: str, guide: str) -> Element | None:
        """Return an element of an address setting in a broker's file; None where it makes its own queues."""
        core = self.cores.get(broker.name)
        there = [] if core is None else core.element.below("address-settings", "address-setting")
        for setting in there if core is not None else ():
            own = {child.name: child for child in setting.children}
            if core is not None and core.attribute(setting, "match") == match and guide in own:
                made = own.get(f"auto-create-{guide.removesuffix('address')}resources")
                if made is not None and core.text(made) == "true":
                    return None
                return Element(f"broker {broker.name}", core.document.where, own[guide].line)
        return self.element(broker)

    def replicated(self, *roles: str) -> list[Broker]:
        """Return the brokers, and the halves of colocated ones, that replicate in one of the roles."""
        return [
            half
            for server in self.network.brokers
            for half in (server, *server.halves())
            if half.policy == "replication" and half.role in roles and self.network.option(server, "clustered")
        ]

    @property
    def directory(self) -> Directory:
        """Who listens where."""
        origin = self.network.origin
        return Directory(self.cores, dict(origin.hosts) if origin else {})

    def is_whole(self) -> bool:
        """Whether all brokers are known: no file leads to others that were not given, nor stands alone."""
        nowhere = (one for core in self.cores.values() for one in self.directory.nowhere(core))
        return len(self.cores) != 1 and not any(nowhere)


@dataclass(frozen=True, slots=True)
class Server:
    """One broker of a set-up."""

    set_up: SetUp
    broker: Broker

    @property
    def element(self) -> Element:
        """The broker, where it stands."""
        return self.set_up.element(self.broker)

    @property
    def others(self) -> list[Broker]:
        """All other brokers."""
        return [other for other in self.set_up.network.brokers if other is not self.broker]


def servers(set_up: SetUp) -> Iterator[Server]:
    """Yield each broker of a set-up."""
    return (Server(set_up, broker) for broker in set_up.network.brokers)
