"""A user's own files, made ready to run on this machine: ports, addresses and folders change.

Who may log in and do what is not asked for either: the clients of a comparison have no users.
What a real broker does with them tells what the reader of the lab has overlooked; a file that the lab has
written anew could not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from mqlab.files.editing import attribute, holder, put_in, removed
from mqlab.files.markup import Edit, edited, prefixed, tag
from mqlab.products.activemq.files import security
from mqlab.products.activemq.files.addresses import AddressBook, rewritten
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.products.activemq.files.new_file import Place
from mqlab.spec.uri import Uri

_FOLDERS = ("directory", "dataDirectory", "directoryArchive", "indexDirectory")
_AT = re.compile(r"(?<=://)[^/?,)]*")
_PLUGIN = "traceBrokerPathPlugin"
_SECURITY = re.compile("[aA]uth(entication|orization)Plugin")


def texts(
    found: Mapping[str, BrokerElement], hosts: Mapping[str, str], places: Mapping[str, Place]
) -> dict[str, str]:
    """Return broker -> its file for its place; of a file with several brokers each has a copy with its own."""
    book = AddressBook(found, hosts)
    return {
        name: edited(
            broker.document.text,
            prefixed(broker.document, broker.element, _edits(name, broker, found, book, places)),
        )
        for name, broker in found.items()
        if name in places
    }


def _edits(
    name: str,
    broker: BrokerElement,
    found: Mapping[str, BrokerElement],
    book: AddressBook,
    places: Mapping[str, Place],
) -> Iterator[Edit]:
    document, element, place = broker.document, broker.element, places[name]

    def address(leaf: Uri) -> str | None:
        there = places.get(book.find(leaf.host or "", leaf.port, name) or "")
        return None if there is None else f"{there.host}:{there.port}"

    yield from attribute(document, element, "brokerId", name)
    yield from attribute(document, element, "useJmx", "false")  # several brokers on one machine
    if broker.master and "masterConnectorURI" in element.attributes:
        yield from attribute(document, element, "masterConnectorURI", rewritten(broker.master, address))
    for connector in broker.connectors:
        key = "uri" if "uri" in connector.element.attributes else "discoveryURI"
        uri = rewritten(connector.uri, address)
        if uri != connector.uri:
            yield from attribute(document, connector.element, key, uri)
    yield from _transports(broker, place)
    for one in element.walk():
        for key in _FOLDERS:
            folder = one.attributes.get(key, "").removeprefix("file:")
            if folder.startswith("/"):
                plain = re.sub(r"[^A-Za-z0-9_-]", "_", folder.strip("/"))
                yield from attribute(document, one, key, f"{place.shared}/{plain}")
    for plugin in element.below("plugins"):
        for one in plugin.children:
            if _SECURITY.search(one.name) and not security.kept(one, plugin):
                yield removed(document, one)
            elif one.name == security.PLUGINS["users"]:  # where mqlab's clients are users, too
                yield from put_in(document, one.all("users")[0], security.guest(broker.options))
    if place.stamped:
        yield from _stamp(broker)
    # A web console has one port for the whole machine, and what else is imported lies elsewhere.
    yield from (removed(document, one) for one in document.root.all("import"))
    others = [b for b in found.values() if b.document is document and b is not broker]
    yield from (removed(document, other.element) for other in others)


def _transports(broker: BrokerElement, place: Place) -> Iterator[Edit]:
    """Yield the edits after which a broker listens at its place for OpenWire and STOMP, and nowhere else."""
    document = broker.document
    kept = next((one for one in broker.transports if one.openwire and not one.uri.startswith("vm:")), None)
    stomp = tag("transportConnector", {"name": "stomp", "uri": f"stomp://{place.host}:{place.stomp}"})
    if kept is None:
        own = tag("transportConnector", {"name": "openwire", "uri": f"tcp://{place.host}:{place.port}"})
        yield from (removed(document, one) for one in broker.element.all("transportConnectors"))
        yield from put_in(document, broker.element, holder("transportConnectors", own + stomp))
        return
    uri = _AT.sub(f"{place.host}:{place.port}", kept.uri, count=1)
    yield from attribute(document, kept.element, "uri", uri)
    yield from (removed(document, one.element) for one in broker.transports if one is not kept)
    parent = next(one for one in broker.element.walk() if any(c is kept.element for c in one.children))
    if all(one is kept for one in broker.transports):
        yield from put_in(document, parent, stomp)
    else:  # the last one is taken out: behind it there is no place
        yield Edit(kept.element.end, kept.element.end, "\n" + stomp.rstrip("\n"))


def _stamp(broker: BrokerElement) -> Iterator[Edit]:
    """Yield the edit that lets a broker write its name onto each message; ActiveMQ orders elements by name."""
    document, element = broker.document, broker.element
    plugins = element.first("plugins")
    if (
        plugins is not None and plugins.children
    ):  # the last ones may be taken out: behind them there is no place
        yield Edit(plugins.inside, plugins.inside, f"\n{tag(_PLUGIN, {}).rstrip()}")
        return
    if plugins is not None:
        yield from put_in(document, plugins, tag(_PLUGIN, {}))
        return
    before = [child.name for child in element.children if child.name < "plugins"]
    yield from put_in(document, element, holder("plugins", tag(_PLUGIN, {})), before)
