"""Destination policies and virtual destinations: what a broker does with queues and topics of a name.

Source: ActiveMQ, per destination policies; the article's section on stuck messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqlab.errors import BadFile
from mqlab.files.markup import Element, tag
from mqlab.products.activemq.files import xml_names
from mqlab.products.activemq.files.reader import Reader
from mqlab.products.activemq.files.schema import LATER
from mqlab.products.activemq.files.stores import text
from mqlab.spec.json_types import JsonObject
from mqlab.spec.rows import OPTIONS

VIRTUAL_TOPICS = ("topic://VirtualTopic.>",)
_INTERCEPTORS = ("destinationInterceptors", "virtualDestinationInterceptor", "virtualDestinations")
_PREFIX = "Consumer.*."


def entries(broker: Element) -> list[Element]:
    """Return the policy entries of a broker that are for a pattern."""
    return broker.below("destinationPolicy", "policyMap", "policyEntries", "policyEntry")


def read(reader: Reader, broker: Element) -> list[dict[str, object]]:
    """Return a broker's policies in the lab file's form."""
    found = []
    for entry in entries(broker):
        named = [name for name in ("queue", "topic") if name in entry.attributes]
        patterns: dict[str, object] = {name: reader.text(entry, name) for name in named}
        for child in entry.below("destination"):
            for element in child.all("queue", "topic"):
                patterns[element.name] = reader.destination(element).partition("://")[2]
        if len(patterns) > 1:
            raise BadFile(f"{reader.place(entry)}: it names both a queue and a topic; use one entry for each")
        if patterns:  # an entry for temporary destinations says nothing that the lab plays
            found.append({**patterns, **_options(reader, entry)})
    return found


def _options(reader: Reader, entry: Element) -> dict[str, object]:
    found = reader.options(entry, "policyEntry", xml_names.POLICY)
    replays = [
        *entry.below("networkBridgeFilterFactory", "conditionalNetworkBridgeFilterFactory"),
        *entry.all("conditionalNetworkBridgeFilterFactory"),
    ]
    for element in replays:
        found.update(reader.options(element, "policyEntry", xml_names.REPLAY))
    for kind, name in xml_names.DISPATCH.items():
        if entry.below("dispatchPolicy", name):
            found["dispatch_policy"] = kind
    for kind, name in xml_names.DEAD_LETTERS.items():
        for element in entry.below("deadLetterStrategy", name):
            found["dead_letter_strategy"] = kind
            found.update(reader.options(element, "policyEntry", xml_names.DEAD_LETTER))
    limit = entry.below("pendingMessageLimitStrategy", "constantPendingMessageLimitStrategy")
    for element in limit:
        found.update(reader.options(element, "policyEntry", xml_names.LIMIT))
    return {name: found[name] for name in OPTIONS["policyEntry"] if name in found}


def read_virtual(reader: Reader, broker: Element) -> tuple[list[dict[str, object]], tuple[str, ...] | None]:
    """Return a broker's composite queues and its virtual topics; None for those if it says nothing."""
    if broker.first(_INTERCEPTORS[0]) is None:
        return [], None
    inside = broker.below(*_INTERCEPTORS)
    composites = []
    for element in (e for holder in inside for e in holder.all("compositeQueue")):
        to = element.below("forwardTo", "queue") + element.below("forwardTo", "topic")
        only = reader.text(element, "forwardOnly", "true").strip() == "true"
        name = reader.text(element, "name")
        if to:
            told = [reader.destination(e) for e in to]
            composites.append({"name": name, "forward_to": told, "forward_only": only})
    topics = [
        f"topic://{reader.text(element, 'name', '>')}"
        for holder in inside
        for element in holder.all("virtualTopic")
        if reader.text(element, "prefix", _PREFIX) == _PREFIX
    ]
    return composites, tuple(topics)


def written(policies: Iterable[Mapping[str, object]]) -> str:
    """Return the ``destinationPolicy`` of a broker as lines; nothing without policies."""
    lines = "".join(entry(policy) for policy in policies)
    if not lines:
        return ""
    held = tag("policyMap", {}, tag("policyEntries", {}, lines, " " * 8), " " * 6)
    return tag("destinationPolicy", {}, held, " " * 4)


def entry(policy: JsonObject) -> str:
    """Return a policy as lines."""

    def told(names: Mapping[str, str]) -> dict[str, str]:
        return {a: text(policy[n]) for n, a in names.items() if n in policy}

    given = told({"queue": "queue", "topic": "topic", **xml_names.POLICY})
    given = {name: value for name, value in given.items() if name not in LATER["policyEntry"]}
    inside = ""
    replay = told(xml_names.REPLAY)
    if replay:
        inside += _in("networkBridgeFilterFactory", "conditionalNetworkBridgeFilterFactory", replay)
    if "dispatch_policy" in policy:
        inside += _in("dispatchPolicy", xml_names.DISPATCH[policy["dispatch_policy"]], {})
    letters = told(xml_names.DEAD_LETTER)
    strategy = policy.get("dead_letter_strategy", "shared")
    prefix = letters.pop("queuePrefix", None)
    if strategy == "individual" and prefix is not None:
        letters["queuePrefix"] = prefix
    if letters or "dead_letter_strategy" in policy:
        inside += _in("deadLetterStrategy", xml_names.DEAD_LETTERS[strategy], letters)
    if "pending_message_limit" in policy:
        limit = told(xml_names.LIMIT)
        inside += _in("pendingMessageLimitStrategy", "constantPendingMessageLimitStrategy", limit)
    return tag("policyEntry", given, inside, " " * 10)


def _in(outer: str, inner: str, attributes: Mapping[str, str]) -> str:
    return tag(outer, {}, tag(inner, attributes, "", " " * 14), " " * 12)


def written_virtual(composites: Iterable[JsonObject], topics: tuple[str, ...] | None) -> str:
    """Return the ``destinationInterceptors`` of a broker as lines; nothing if all is as by default.

    With interceptors of its own a broker has no virtual topics but those that are written.
    """
    composites = list(composites)
    if not composites and topics is None:
        return ""
    lines = ""
    for pattern in VIRTUAL_TOPICS if topics is None else topics:
        named = pattern.removeprefix("topic://")
        lines += tag("virtualTopic", {"name": named, "prefix": _PREFIX}, "", " " * 10)
    for composite in composites:
        to = ""
        for place in composite["forward_to"]:
            kind, _, name = place.rpartition("://")
            to += tag(kind or "queue", {"physicalName": name}, "", " " * 14)
        given = {
            "name": composite["name"],
            "forwardOnly": text(composite.get("forward_only", True)),
        }
        lines += tag("compositeQueue", given, tag("forwardTo", {}, to, " " * 12), " " * 10)
    made = lines
    for depth, name in enumerate(reversed(_INTERCEPTORS)):
        made = f"{' ' * (8 - 2 * depth)}<{name}>\n{made}{' ' * (8 - 2 * depth)}</{name}>\n"
    return made
