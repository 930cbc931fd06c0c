"""Policies and virtual destinations that have changed: edits of their elements where the change is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from textwrap import dedent
from typing import TypeVar

from mqlab.files.editing import Putting, attribute, holder, indent_of, removed
from mqlab.files.markup import Document, Edit, Element, tag
from mqlab.products.activemq.files import policies
from mqlab.products.activemq.files.policies import ENTRIES, INTERCEPTORS, VIRTUAL_TOPICS
from mqlab.spec.json_types import JsonObject
from mqlab.spec.network import Broker

T = TypeVar("T")


def of_policies(
    document: Document, broker: Element, got: Broker, wanted: Broker, put: Putting
) -> Iterator[Edit]:
    """Yield the edits of a broker's destination policies."""

    def pattern(policy: JsonObject) -> object:
        return policy.get("queue"), policy.get("topic")

    def change(entry: Element, was: JsonObject, now: JsonObject) -> Iterator[Edit]:
        yield from _entry(document, entry, was, now, put)

    there = policies.entries(broker)
    yield from _listed(document, there, got.policies, wanted.policies, pattern, change, policies.entry)
    if not there and wanted.policies:
        yield from within(put, broker, ENTRIES, "".join(map(policies.entry, wanted.policies)))


def of_virtual(
    document: Document, broker: Element, got: Broker, wanted: Broker, put: Putting
) -> Iterator[Edit]:
    """Yield the edits of a broker's composite destinations and virtual topics."""
    holders, topics = broker.all(INTERCEPTORS[0]), wanted.options.get("virtual_topics")
    if not wanted.composites and topics is None:
        for interceptors in holders:
            ours = interceptors.all(INTERCEPTORS[1])
            gone = [interceptors] if ours == interceptors.children else ours
            yield from (removed(document, one) for one in gone)
        return
    composites, virtual = policies.virtual(broker)
    before = got.options.get("virtual_topics") or ()
    after = VIRTUAL_TOPICS if topics is None else topics
    yield from _listed(document, virtual, before, after, str, _topic(document), policies.virtual_topic)

    def change(element: Element, was: JsonObject, now: JsonObject) -> Iterator[Edit]:
        yield from attributes(document, element, policies.composed(was), policies.composed(now))
        if was["forward_to"] != now["forward_to"]:
            first, *others = element.all("forwardTo")
            yield Edit(first.start, first.end, policies.forwarded(now).strip())
            yield from (removed(document, other) for other in others)

    yield from _listed(
        document, composites, got.composites, wanted.composites, _name, change, policies.composite
    )
    more = "" if virtual else "".join(map(policies.virtual_topic, after))
    more += "" if composites else "".join(map(policies.composite, wanted.composites))
    if more:
        yield from within(put, broker, INTERCEPTORS, more)


def _name(composite: JsonObject) -> object:
    return composite["name"]


def _topic(document: Document) -> Callable[[Element, str, str], Iterator[Edit]]:
    def change(element: Element, was: str, now: str) -> Iterator[Edit]:
        yield from attributes(document, element, policies.of_topic(was), policies.of_topic(now))

    return change


def attributes(
    document: Document, element: Element, was: Mapping[str, str], now: Mapping[str, str]
) -> Iterator[Edit]:
    """Yield the edits of the attributes that differ."""
    for name in {**was, **now}:
        if was.get(name) != now.get(name):
            yield from attribute(document, element, name, now.get(name))


def within(put: Putting, parent: Element, path: Sequence[str], lines: str) -> Iterator[Edit]:
    """Yield the edits that put lines below a broker, into elements of a path that are made if need be."""
    for depth, name in enumerate(path):
        child = parent.first(name)
        if child is None:
            for missing in reversed(path[depth:]):
                lines = holder(missing, dedent(lines))
            before = None if depth else [one.name for one in parent.children if one.name < name]
            yield from put(parent, lines, before)
            return
        parent = child
    yield from put(parent, dedent(lines))


def _listed(
    document: Document,
    there: Sequence[Element],
    was: Sequence[T],
    now: Sequence[T],
    key: Callable[[T], object],
    change: Callable[[Element, T, T], Iterator[Edit]],
    lines: Callable[[T], str],
) -> Iterator[Edit]:
    """Yield the edits by which elements that stand in a row say *now* for *was*; none without elements."""
    keys = [repr(key(one)) for one in was], [repr(key(one)) for one in now]
    for _, start, end, first, last in SequenceMatcher(None, *keys).get_opcodes():
        both = min(end - start, last - first)
        for element, before, after in zip(there[start:], was[start:], now[first : first + both], strict=False):
            if before != after:
                yield from change(element, before, after)
        yield from (removed(document, element) for element in there[start + both : end])
        more = dedent("".join(map(lines, now[first + both : last]))).strip()
        if more and there:
            space = "\n" + indent_of(document, there[0])
            more = more.replace("\n", space)
            if both or start == len(there):
                yield Edit(there[end - 1].end, there[end - 1].end, space + more)
            else:
                yield Edit(there[start].start, there[start].start, more + space)


def _entry(
    document: Document, entry: Element, was: JsonObject, now: JsonObject, put: Putting
) -> Iterator[Edit]:
    before, after = policies.attributes(was), policies.attributes(now)
    yield from attributes(document, entry, before, after)
    if any(before.get(name) != after.get(name) for name in ("queue", "topic")):
        yield from (removed(document, one) for one in entry.all("destination"))
    inner, wanted = policies.inside(was), policies.inside(now)
    for outer in {**inner, **wanted}:
        if inner.get(outer) != wanted.get(outer):
            given = inner.get(outer, ("", {}))[1]
            yield from _inside(document, entry, outer, given, wanted.get(outer), put)


def _inside(
    document: Document,
    entry: Element,
    outer: str,
    was: Mapping[str, str],
    now: tuple[str, Mapping[str, str]] | None,
    put: Putting,
) -> Iterator[Edit]:
    """Yield the edits of an element in a policy that holds another one with attributes."""
    held = entry.first(outer)
    there = next(
        iter(held.children if held is not None else entry.all("conditionalNetworkBridgeFilterFactory")), None
    )
    if now is None:
        if there is not None and set(there.attributes) - set(was):
            yield from attributes(document, there, was, {})
        elif (gone := there if held is None else held) is not None:
            yield removed(document, gone)
        return
    name, given = now
    if there is None:
        yield from within(put, entry, (outer,), tag(name, given))
    elif there.name == name:
        yield from attributes(document, there, was, given)
    elif there.name in policies.KNOWN:  # what is written in another way stays, and the change is noted
        yield Edit(there.start, there.end, tag(name, given).strip())
