"""A broker that was read and has changed: edits of its file where the change is, its store and lock too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.files.editing import Putting, attribute, holder, removed
from mqlab.files.markup import Document, Edit, Element, tag
from mqlab.products.activemq.files import (
    new_file,
    policy_edits,
    security,
    stores,
    xml_names,
)
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.products.activemq.files.policy_edits import attributes, within
from mqlab.products.activemq.files.stores import ADAPTERS, ALIASES, HANDLERS
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.json_types import JsonObject
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
    yield from of_store(document, element, got, wanted, put)
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


def of_store(document: Document, element: Element, got: Broker, wanted: Broker, put: Putting) -> Iterator[Edit]:
    """Yield the edits by which a broker keeps its messages, and locks its store, as is wanted."""
    was, now = _options(got), _options(wanted)
    kinds = {stores.kind(was), stores.kind(now)}
    if was == now or kinds == {"memory"}:  # what a store in memory is locked with is noted
        return
    there = stores.adapter_of(element)
    if len(kinds) > 1 or (there is None and _of_adapter(was) != _of_adapter(now)):
        yield from _another(document, element, now, put)
    elif there is not None:
        yield from _adapter(document, there, was, now, put)
    yield from _handler(document, element, was, now, put)


def _options(broker: Broker) -> JsonObject:
    names = {"store", "shared_store", "locker", "io_exception_handler"}
    names |= {*xml_names.HANDLER, *xml_names.ADAPTER, *xml_names.LOCKER}
    return {name: value for name, value in broker.options.items() if name in names}


def _of_adapter(options: JsonObject) -> JsonObject:
    gone = {"io_exception_handler", *xml_names.HANDLER}
    return {name: value for name, value in options.items() if name not in gone}


def _another(document: Document, broker: Element, now: JsonObject, put: Putting) -> Iterator[Edit]:
    """Yield the edits that give a broker a store of another kind."""
    lines, there = stores.adapter(now, None), broker.first("persistenceAdapter", *ADAPTERS)
    if stores.kind(now) == "memory":
        yield from attribute(document, broker, "persistent", "false")
    elif broker.attributes.get("persistent", "true").lower() != "true":
        yield from attribute(document, broker, "persistent", None)
    if there is None:
        yield from within(put, broker, ("persistenceAdapter",), lines) if lines else ()
    elif not lines:
        yield removed(document, there)
    elif there.name == "persistenceAdapter":
        yield Edit(there.start, there.end, holder(there.name, lines).strip())
    else:
        yield Edit(there.start, there.end, lines.strip())


def _adapter(
    document: Document, adapter: Element, was: JsonObject, now: JsonObject, put: Putting
) -> Iterator[Edit]:
    """Yield the edits of an adapter that stays: its folder, its attributes and its lock."""
    if was.get("shared_store") != now.get("shared_store"):
        yield from attribute(document, adapter, "directory", stores.folder(now, None))
    for name, guide in xml_names.ADAPTER.items():
        if was.get(name) != now.get(name):
            known = (guide, *(alias for alias, of in ALIASES.items() if of == name))
            there = next((one for one in known if one in adapter.attributes), guide)
            yield from attribute(document, adapter, there, stores.said(now, name))
    before, after = stores.locker(was), stores.locker(now)
    if before == after:
        return
    elements = [one for one in adapter.all("locker") if one.first(*xml_names.LOCKERS.values())]
    own = elements[-1].first(*xml_names.LOCKERS.values()) if elements else None
    aliases = {alias: of for alias, of in ALIASES.items() if alias in adapter.attributes}
    if own is None and after is not None and before is not None and aliases:
        for alias, name in aliases.items():
            if was.get(name) != now.get(name):
                yield from attribute(document, adapter, alias, stores.said(now, name))
    elif after is None:
        yield from (removed(document, one) for one in elements)
    elif own is None:
        yield from within(put, adapter, ("locker",), tag(*after))
    elif own.name == after[0]:
        given: Mapping[str, str] = {} if before is None else before[1]
        yield from attributes(document, own, given, after[1])
    else:
        yield Edit(own.start, own.end, tag(*after).strip())


def _handler(
    document: Document, broker: Element, was: JsonObject, now: JsonObject, put: Putting
) -> Iterator[Edit]:
    """Yield the edits of what a broker does about errors of its store."""
    before, after = stores.handler(was), stores.handler(now)
    if before == after:
        return
    there = broker.first(HANDLERS)
    own = None if there is None else there.first(stores.LEASE_HANDLER)
    if after is None:
        yield from (removed(document, one) for one in broker.all(HANDLERS))
    elif own is not None:
        yield from attributes(document, own, before or {}, after)
    elif there is not None:
        yield Edit(there.start, there.end, holder(HANDLERS, tag(stores.LEASE_HANDLER, after)).strip())
    else:
        yield from within(put, broker, (HANDLERS,), tag(stores.LEASE_HANDLER, after))
