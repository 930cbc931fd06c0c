"""The addresses of clients of brokers that were read from files, and ports that no broker listens on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mqlab.errors import UnknownName
from mqlab.products.activemq.files.addresses import PORT, AddressBook
from mqlab.products.activemq.files.reading import sources
from mqlab.spec.action import Action
from mqlab.spec.clients import Client
from mqlab.spec.network import Network
from mqlab.spec.uri import Uri

Ports = Mapping[str, list[int]]  # broker -> the ports that it is known to listen on


def _book(network: Network) -> AddressBook:
    return AddressBook(sources(network), dict(network.origin.hosts) if network.origin else {})


def addressed(network: Network, actions: tuple[Action, ...]) -> tuple[Action, ...]:
    """Return actions whose clients have brokers' names for the hosts that the files of a network listen on.

    Raises `UnknownName` for a client whose host is not one of theirs.
    """
    if network.origin is None or not any(isinstance(action, Client) for action in actions):
        return actions
    book, others = _book(network), [end.name for end in network.around.endpoints]
    made: list[Action] = []
    for action in actions:
        if isinstance(action, Client) and not any(other in action.uri for other in others):
            try:
                action = replace(action, uri=book.of_client(action.uri))
            except UnknownName as error:
                raise UnknownName(f"client {action.name!r}: {error}") from None
        made.append(action)
    return tuple(made)


def ports(network: Network) -> Ports:
    """Return what brokers listen on: the usual port without files, and nothing where files do not say."""
    if network.origin is None:
        return {name: [PORT] for name in network.names}
    book = _book(network)
    return {name: own for name in network.names if (own := book.ports(name))}


def closed(uri: Uri, known: Ports) -> Iterator[tuple[Uri, int]]:
    """Yield each part of an address whose port its broker does not listen on, with a port that is right."""
    for leaf in uri.leaves():
        there = known.get(leaf.host or "", [])
        if leaf.port is not None and there and leaf.port not in there:
            yield leaf, there[0]
