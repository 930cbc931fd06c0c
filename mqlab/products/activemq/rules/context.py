"""What the rules for ActiveMQ look at: a network, what happens in it, and what its files say of each broker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from mqlab.checks.rule import Element
from mqlab.files import markup
from mqlab.products.activemq.files import sources
from mqlab.products.activemq.files.addresses import AddressBook
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.spec import Broker, Consumer, Network, NetworkConnector, Scenario
from mqlab.spec.member import BrokerSettings
from mqlab.spec.origin import Origin


class CheckContext:
    """A scenario, or a network without actions: then no consumer means nothing, and `known` is false."""

    def __init__(self, what: Network | Scenario) -> None:
        self.known = isinstance(what, Scenario)
        self.network: Network = what.network if isinstance(what, Scenario) else what
        self.actions = what.actions if isinstance(what, Scenario) else ()
        self.consumers = tuple(a for a in self.actions if isinstance(a, Consumer))

    @cached_property
    def found(self) -> dict[str, BrokerElement]:
        """What the files say of each broker; of a network without files nothing."""
        return sources(self.network)

    @cached_property
    def book(self) -> AddressBook:
        """The addresses of the brokers in files."""
        origin = self.network.origin or Origin(())
        return AddressBook(self.found, dict(origin.hosts))

    @cached_property
    def members(self) -> list[BrokerSettings]:
        """What each broker is as one of a set of master and slaves."""
        edition = self.network.edition
        return [BrokerSettings.of(broker, edition) for broker in self.network.brokers]

    @cached_property
    def _lines(self) -> dict[str, tuple[str, int]]:
        """Broker, or broker/connector -> the file and line where it stands."""
        lines: dict[str, tuple[str, int]] = {}
        for name, broker in self.found.items():
            file = broker.document.where
            lines[name] = (file, broker.element.line)
            for connector in broker.connectors:
                lines[f"{name}/{connector.name}"] = (file, connector.element.line)
        return lines

    def broker(self, name: str) -> Element:
        """Return a broker, where it stands."""
        return Element(f"broker {name}", *self._lines.get(name, ()))

    def connector(self, broker: str, name: str) -> Element:
        """Return a network connector, where it stands."""
        where = f"{broker}/{name}"
        return Element(where, *self._lines.get(where, ()))

    def placed(self, where: str) -> Element:
        """Return a broker by its name, or a connector, or another part as it is called."""
        return (
            self.broker(where) if where in self.network.names else Element(where, *self._lines.get(where, ()))
        )

    def links(self) -> Iterator[Link]:
        """Yield every connector."""
        for broker, connector in self.network.connectors():
            element = self.connector(broker.name, connector.name)
            yield Link(broker, connector, self.network, element)


@dataclass(frozen=True, slots=True)
class Link:
    """A network connector of a broker, and where it stands."""

    broker: Broker
    connector: NetworkConnector
    network: Network
    element: Element

    @property
    def edition(self) -> str:
        """The edition of its network."""
        return self.network.edition

    def get(self, option: str) -> object:
        """Return an option's value in the network's edition."""
        return self.connector.get(option, self.edition)

    def called(self, kind: str) -> Link:
        """Return the link with its kind before its name."""
        return replace(self, element=replace(self.element, where=f"{kind} {self.element.where}"))


@dataclass(frozen=True, slots=True)
class BrokerFile:
    """A broker as its file has it."""

    context: CheckContext
    name: str
    broker: BrokerElement

    @property
    def has_others(self) -> bool:
        """Whether other brokers were read beside it, which it may be taken for."""
        return len(self.context.found) > 1

    def at(self, element: markup.Element) -> Element:
        """Return the broker, or its network connector, where something in its file stands."""
        own = element.attributes.get("name")
        connector = own and element.name == "networkConnector"
        where = f"{self.name}/{own}" if connector else f"broker {self.name}"
        return Element(where, self.broker.document.where, element.line)


def files(context: CheckContext) -> Iterator[BrokerFile]:
    """Yield each broker that was read from a file."""
    return (BrokerFile(context, name, broker) for name, broker in context.found.items())
