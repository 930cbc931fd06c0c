"""A broker that was read and has changed: edits of its file where the change is, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.files.editing import Putting, attribute, removed
from mqlab.files.markup import Document, Edit, Element
from mqlab.products.activemq.files import new_file, policy_edits, security, store_edits, xml_names
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.products.activemq.files.policy_edits import attributes, within
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.network import Broker
from mqlab.spec.values import as_text


def inserted(document: Document, parent: Element, lines: str, first: bool = False) -> Iterator[Edit]:
    """Yield the edits that put lines into an element, at its end or as its *first*."""
    if parent.empty:
        slash = document.text.rindex("/", parent.start, parent.inside)
        name = document.tag(parent)[1:].split()[0].rstrip("/>")
        yield Edit(slash, parent.inside, f">\n{lines}</{name}>")
        return
    end = parent.inside if first else document.text.rindex("<", parent.inside, parent.end)
    if first:
        yield Edit(end, end, "\n" + lines.rstrip("\n"))
        return
    start = document.text.rindex("\n", 0, end) + 1 if "\n" in document.text[:end] else end
    start = start if document.text[start:end].isspace() or start == end else end
    yield Edit(start, start, lines)


def broker(found: BrokerElement, got: Broker, wanted: Broker, address: Mapping[str, str]) -> Iterator[Edit]:
    """Yield the edits by which the file of *got* says what can be said of *wanted*."""
    document, element = found.document, found.element
    before, after = (new_file.attributes(one.options, address) for one in (got, wanted))
    for given in (before, after) if "masterConnectorURI" not in element.attributes else ():
        given.pop("masterConnectorURI", None)
    yield from attributes(document, element, before, after)
    openwire = next((t for t in found.transports if t.openwire), None)
    if openwire is not None:
        yield from _transport(document, openwire.element, got, wanted)
    put = Putting(document)
    yield from store_edits.of_store(document, element, got, wanted, put)
    yield from _destinations(document, element, got, wanted, put)
    if got.policies != wanted.policies:
        yield from policy_edits.of_policies(document, element, got, wanted, put)
    virtual = [(b.composites, b.options.get("virtual_topics")) for b in (got, wanted)]
    if virtual[0] != virtual[1]:
        yield from policy_edits.of_virtual(document, element, got, wanted, put)
    yield from _connectors(found, got, wanted, address, put)
    yield from security.edits(document, element, got, wanted, put)
    yield from put.rest()


def _destinations(
    document: Document, element: Element, got: Broker, wanted: Broker, put: Putting
) -> Iterator[Edit]:
    was, now = (tuple(broker.options.get("destinations") or ()) for broker in (got, wanted))
    there = [one for held in element.all("destinations") for one in held.all("queue", "topic")]
    for name, one in zip(was, there, strict=True):
        if name not in now:
            yield removed(document, one)
    more = tuple(name for name in now if name not in was)
    held = element.first("destinations")
    if more and held is None:
        yield from put(element, new_file.destinations("destinations", more, ""))
    elif more and held is not None:
        for line in new_file.destinations("destinations", more, "").splitlines()[1:-1]:
            yield from put(held, line.strip())


def _transport(document: Document, element: Element, got: Broker, wanted: Broker) -> Iterator[Edit]:
    def told(broker: Broker) -> dict[str, str]:
        options: dict[str, object] = broker.transport.options
        found = xml_names.given(options, xml_names.TRANSPORT)
        audit = broker.options.get("audit_network_producers")
        return found if audit is None else {**found, xml_names.AUDIT: as_text(audit)}

    yield from attributes(document, element, told(got), told(wanted))


def _connectors(
    found: BrokerElement, got: Broker, wanted: Broker, address: Mapping[str, str], put: Putting
) -> Iterator[Edit]:
    document = found.document
    elements = dict(zip((c.name for c in got.connectors), found.connectors, strict=True))
    before = {c.name: c for c in got.connectors}
    after = {c.name: c for c in wanted.connectors}
    for name, place in elements.items():
        if name not in after:
            yield removed(document, place.element)
        elif before[name] != after[name]:
            yield from _connector(document, place.element, before[name], after[name], address)
    new = [c for c in wanted.connectors if c.name not in before]
    if not new:
        return
    lines = "".join(new_file.connector(c, address, "") for c in new)
    yield from within(put, found.element, ("networkConnectors",), lines)


def _connector(
    document: Document,
    element: Element,
    got: NetworkConnector,
    wanted: NetworkConnector,
    address: Mapping[str, str],
) -> Iterator[Edit]:
    if got.uri != wanted.uri:
        name = "uri" if "uri" in element.attributes else "discoveryURI"
        yield from attribute(document, element, name, new_file.uri(wanted.uri, address))
    was, now = (c.options.get("configured_name") or c.name for c in (got, wanted))
    if was != now:
        yield from attribute(document, element, "name", str(now))
    before, after = (xml_names.given(c.options, xml_names.CONNECTOR) for c in (got, wanted))
    yield from attributes(document, element, before, after)
    made = ""
    for word, python in xml_names.LISTS.items():
        was, now = got.options.get(python), wanted.options.get(python)
        if was == now:
            continue
        lines = new_file.destinations(word, now, " " * 8) if now else ""
        listed = element.first(word)
        if listed is None:
            made += lines
        elif lines:
            yield Edit(listed.start, listed.end, lines.strip())
        else:
            yield removed(document, listed)
    if made:
        yield from inserted(document, element, made)
