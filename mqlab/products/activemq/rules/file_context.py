"""What the rules for files look at: a network of ActiveMQ, and what its files say of each broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mqlab.files.markup import Element
from mqlab.products.activemq.files import sources
from mqlab.products.activemq.files.addresses import AddressBook
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.spec import Network
from mqlab.spec.origin import Origin
from mqlab.spec.problem import Problem

SCHEMA = "the schema of ActiveMQ 5.17"


@dataclass(frozen=True, slots=True)
class FileContext:
    """What the rules look at: a network, and what its files say of each broker."""

    network: Network
    found: dict[str, BrokerElement]
    book: AddressBook
    values: dict[str, str]

    def problem(
        self,
        rule: str,
        level: str,
        name: str,
        element: Element,
        what: str,
        remedy: str,
        source: str,
    ) -> Problem:
        """Return a problem of an element in a broker's file."""
        own = element.attributes.get("name")
        where = f"{name}/{own}" if own and element.name == "networkConnector" else f"broker {name}"
        file = self.found[name].document.where
        return Problem(rule, level, where, what, remedy, source, file, element.line)


Rule = Callable[[FileContext, str, BrokerElement], Iterator[Problem]]


def filed(network: Network) -> FileContext:
    """Return what the rules look at; of a network without files nothing is found."""
    found, origin = sources(network), network.origin or Origin(())
    return FileContext(network, found, AddressBook(found, dict(origin.hosts)), dict(origin.values))
