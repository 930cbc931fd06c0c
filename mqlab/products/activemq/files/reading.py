"""Configuration files to a network: elements become nouns, addresses the names of brokers."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import lru_cache

from mqlab.errors import BadFile, MqlabError
from mqlab.files import parsing
from mqlab.files.apart import told_apart
from mqlab.products.activemq.files import xml_annotations
from mqlab.products.activemq.files.addresses import AddressBook
from mqlab.products.activemq.files.elements import BrokerElement, BrokerReader
from mqlab.spec.around import Around, Endpoint
from mqlab.spec.connector import NetworkConnector, TransportConnector
from mqlab.spec.json_types import JsonDict
from mqlab.spec.network import Broker, Network
from mqlab.spec.option import DEFAULT_EDITION
from mqlab.spec.origin import Origin, SourceFile


def read(
    files: Iterable[SourceFile],
    values: Mapping[str, str] | None = None,
    hosts: Mapping[str, str] | None = None,
) -> Network:
    """Return the network that configuration files make; raises `BadFile` with file and line.

    *values* stand for placeholders, *hosts* tells which broker runs on a host that no file names.
    A host that leads to no broker of these files becomes an endpoint that refuses connections.
    """
    origin = Origin(tuple(files), tuple((values or {}).items()), tuple((hosts or {}).items()))
    found = elements_of(origin)
    if len(found) > 1:
        _warn_of_namesakes(found)
    book = AddressBook(found, hosts or {})
    nowhere: dict[str, None] = {}
    brokers = []
    for name, broker in found.items():
        try:
            brokers.append(_broker(name, broker, book, nowhere))
        except BadFile:
            raise
        except (MqlabError, TypeError, KeyError, AttributeError) as error:
            where = f"{broker.document.where}, line {broker.element.line}, broker {broker.name!r}"
            raise BadFile(f"{where}: {error}") from None
    told: JsonDict = {}
    for broker in found.values():
        told.update(broker.notes.get("network", {}))
    editions = [broker.edition for broker in found.values() if broker.edition]
    edition = told.get("edition") or next(iter(editions), DEFAULT_EDITION)
    order = {name: no for no, name in enumerate(told.get("order", ()))}
    brokers.sort(key=lambda broker: order.get(broker.name, len(order)))
    around = Around(tuple(Endpoint(host) for host in nowhere if host not in found))
    if "around" in told:
        around = xml_annotations.around_of(told["around"])
    known = {*found, *(end.name for end in around.endpoints), *(line for line, _ in around.lines)}
    brokers = [_judged(broker, known) for broker in brokers]
    return Network(*brokers, edition=edition, around=around, origin=origin)


def _warn_of_namesakes(found: Mapping[str, BrokerElement]) -> None:
    """Warn of brokers that are called otherwise than their files say, because several have one name.

    Those of a set, which share a store, are to have one name.
    """
    alike: dict[tuple[str, object], list[str]] = {}
    for name, broker in found.items():
        given = broker.notes.get("name") or broker.name
        alike.setdefault((given, broker.options.get("shared_store", name)), []).append(name)
    for given in dict.fromkeys(given for given, _ in alike):
        apart = [names for (other, _), names in alike.items() if other == given]
        if len(apart) > 1:
            here = ", ".join(name for names in apart for name in names)
            text = (
                f"several files name their broker {given!r}; here these are called {here}, after their folders"
            )
            warnings.warn(text, stacklevel=2)


def sources(network: Network) -> dict[str, BrokerElement]:
    """Return what the files of a network say, by the names of its brokers; nothing for one without files."""
    origin = network.origin
    if origin is None:
        return {}
    return {name: broker for name, broker in elements_of(origin).items() if name in network.names}


@lru_cache(maxsize=16)
def elements_of(origin: Origin) -> dict[str, BrokerElement]:
    """Return what files say of brokers, by the name that each has in the lab.

    That is its own, or if two share one that of its folder. It is asked again to judge their network and to
    write it.
    """
    values = dict(origin.values)
    readers = [BrokerReader(parsing.document_of(file), values) for file in origin.files]
    found = [broker for reader in readers for broker in reader.brokers()]
    given = [broker.notes.get("name") or broker.name for broker in found]
    if len({*given}) < len(given):
        given = told_apart([broker.document.where for broker in found], given)
    names = dict(zip(given, found, strict=True))
    for host, name in origin.hosts:
        if name not in names:
            known = ", ".join(names)
            raise BadFile(f"hosts: {host} is mapped to {name!r}, but no file contains that broker: {known}")
    return names


def _broker(name: str, found: BrokerElement, book: AddressBook, nowhere: dict[str, None]) -> Broker:
    options = dict(found.options)
    if name != found.name:
        options["broker_name"] = found.name
    if found.master:
        uri, missing = book.resolved(f"static:({found.master})", name)
        nowhere.update(dict.fromkeys(missing))
        targets = NetworkConnector.as_written("master", uri).targets
        if targets and targets[0] in (*book.names, *nowhere):
            options["pure_slave_of"] = targets[0]
    connectors = []
    for connector in found.connectors:
        uri, missing = book.resolved(connector.uri, name)
        connectors.append(made := xml_annotations.connected(connector.name, uri, connector.options))
        nowhere.update(dict.fromkeys(missing if made.judged else ()))
    transports = [t for t in found.transports if t.openwire]
    listens = [TransportConnector(t.name, **t.options) for t in transports[:1]]
    given = {"policies": tuple(found.policies), "composites": tuple(found.composites)}
    return xml_annotations.broker(name, connectors, listens, given, options, found.notes)


def _judged(broker: Broker, known: set[str]) -> Broker:
    """Return a broker whose connectors to nobody that is *known* are taken as they are written."""
    if all(target in known for c in broker.connectors for target in c.targets):
        return broker
    connectors = [
        c if set(c.targets) <= known else NetworkConnector.as_written(c.name, c.uri, **c.options)
        for c in broker.connectors
    ]
    return broker.replace(*connectors)
