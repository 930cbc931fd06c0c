"""A network to configuration files: what was read and has not changed stays as it was, to the letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from mqlab.files.editing import removed
from mqlab.files.markup import Edit, edited, prefixed
from mqlab.products.activemq.files import edits, new_file, placing, xml_annotations
from mqlab.products.activemq.files.addresses import AddressBook
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.products.activemq.files.new_file import Place
from mqlab.products.activemq.files.reading import elements_of, read
from mqlab.spec import uri as uris
from mqlab.spec.network import Network
from mqlab.spec.origin import Origin, SourceFile

__all__ = ["Place", "write"]


def write(network: Network, places: Mapping[str, Place] | None = None) -> dict[str, str]:
    """Return file name -> text of the configuration files of a network.

    Reading the texts gives an equal network; the host of a new broker is called like the broker. With
    *places* each broker has a file for just that place: its own with nothing but ports, addresses and folders
    changed, or a new one.
    """
    if places is not None:
        return _placed(network, places)
    origin = network.origin or Origin(())
    made = _kept(network, origin)
    there = set(_found(made, origin))
    for broker in network.brokers:
        if broker.name not in there:
            text = new_file.broker(broker, {}, Place())
            own = broker.name.strip()
            if broker.options.get("broker_name") or own != broker.name or "${" in own:
                text = _with_notes(text, {broker.name: {"name": broker.name}}, Origin(()))
            made[_file_name(broker.name, made)] = text
    return _noted(network, made, origin)


def _placed(network: Network, places: Mapping[str, Place]) -> dict[str, str]:
    address = {name: f"{place.host}:{place.port}" for name, place in places.items()}
    origin = network.origin or Origin(())
    own = placing.texts(_found(_kept(network, origin), origin), dict(origin.hosts), places)
    made: dict[str, str] = {}
    for broker in network.brokers:
        new = own.get(broker.name) or new_file.broker(broker, address, places[broker.name])
        made[_file_name(broker.name, made)] = new
    return made


def _file_name(name: str, taken: Iterable[str]) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:80]
    number, free = 1, f"{plain}/activemq.xml"
    while free.lower() in {other.lower() for other in taken}:
        number += 1
        free = f"{plain}-{number}/activemq.xml"
    return free


def _found(texts: Mapping[str, str], origin: Origin) -> dict[str, BrokerElement]:
    """Return the brokers of texts by the name that each has in the lab."""
    files = [SourceFile(name, text) for name, text in texts.items()]
    return elements_of(replace(origin, files=tuple(files)))


def _read(texts: Mapping[str, str], origin: Origin) -> Network:
    files = [SourceFile(name, text) for name, text in texts.items()]
    return read(files, dict(origin.values), dict(origin.hosts))


def _kept(network: Network, origin: Origin) -> dict[str, str]:
    """Return the files that a network was read from, edited where it has changed since."""
    texts = {file.name: file.text for file in origin.files}
    if not texts:
        return {}
    before, found = _read(texts, origin), _found(texts, origin)
    address = _written_addresses(found, dict(origin.hosts))
    wanted = {broker.name: broker for broker in network.brokers}
    made = {}
    for file, text in texts.items():
        here = {n: b for n, b in found.items() if b.document.where == file}
        if here and not set(here) & set(wanted):
            continue  # all its brokers have gone
        changes: list[Edit] = []
        for name, broker in here.items():
            if name not in wanted:
                changes.append(removed(broker.document, broker.element))
            elif before.broker(name) != wanted[name]:
                own = edits.broker(broker, before.broker(name), wanted[name], address)
                changes += prefixed(broker.document, broker.element, own)
        made[file] = edited(text, changes)
    return made


def _written_addresses(found: Mapping[str, BrokerElement], hosts: Mapping[str, str]) -> dict[str, str]:
    """Return how the files themselves address each broker: host and port."""
    book = AddressBook(found, hosts)
    known: dict[str, str] = {}
    for home, broker in found.items():
        for connector in broker.connectors:
            address = uris.read(connector.uri)
            for leaf in address.leaves() if address is not None else ():
                name = book.find(leaf.host or "", leaf.port, home)
                if name is not None and leaf.host and name not in known:
                    known[name] = leaf.host + (f":{leaf.port}" if leaf.port else "")
    return known


def _noted(network: Network, texts: dict[str, str], origin: Origin) -> dict[str, str]:
    """Return texts in which all that ActiveMQ has no place for is noted."""
    if not texts:
        return texts
    got, found = _read(texts, origin), _found(texts, origin)
    told = {}
    for wanted in network.brokers:
        keys = [connector.name for connector in found[wanted.name].connectors]
        told[wanted.name] = xml_annotations.needed(wanted, got.broker(wanted.name), keys)
    whole = xml_annotations.of_network(network, got)
    if whole:
        first = next(iter(found))
        told[first] = {**told.get(first, {}), "network": whole}
    return {
        file: _with_notes(text, told, origin, texts, file) if any(told.values()) else text
        for file, text in texts.items()
    }


def _with_notes(
    text: str,
    told: Mapping[str, xml_annotations.Notes],
    origin: Origin,
    texts: Mapping[str, str] | None = None,
    file: str = "",
) -> str:
    """Return a text with notes put into its brokers, beside what is noted there."""
    changes: list[Edit] = []
    for name, broker in _found(texts or {file: text}, origin).items():
        note = told.get(name) or (told[next(iter(told))] if texts is None else None)
        if not note or broker.document.where != file:
            continue
        line = xml_annotations.written(xml_annotations.merged(broker.notes, note))
        if broker.note is not None:
            changes.append(Edit(broker.note.start, broker.note.end, line))
        else:
            changes += edits.inserted(broker.document, broker.element, f"    {line}\n", first=True)
    return edited(text, changes)
