"""A store and its lock that have changed: edits of the persistence adapter where the change is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab.files.editing import Putting, attribute, holder, removed
from mqlab.files.markup import Document, Edit, Element, tag
from mqlab.products.activemq.files import stores, xml_names
from mqlab.products.activemq.files.policy_edits import attributes, within
from mqlab.products.activemq.files.stores import ADAPTERS, ALIASES, HANDLERS
from mqlab.spec.json_types import JsonObject
from mqlab.spec.network import Broker


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
