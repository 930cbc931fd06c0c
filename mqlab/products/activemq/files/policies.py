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
from mqlab.spec.virtual_topic import ATTRIBUTES, PREFIX

VIRTUAL_TOPICS = ("topic://VirtualTopic.>",)
_INTERCEPTORS = ("destinationInterceptors", "virtualDestinationInterceptor", "virtualDestinations")
_COMPOSITES = {"compositeQueue": "", "compositeTopic": "topic://"}  # and how their names begin in the lab


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
    """Return a broker's composite destinations and its virtual topics; None for those if it says nothing."""
    if broker.first(_INTERCEPTORS[0]) is None:
        return [], None
    inside = [element for holder in broker.below(*_INTERCEPTORS) for element in holder.children]
    composites = [
        _composite(reader, element)
        for element in inside
        if element.name in _COMPOSITES and element.below("forwardTo")
    ]
    topics = tuple(_virtual_topic(reader, element) for element in inside if element.name == "virtualTopic")
    return composites, topics


def _composite(reader: Reader, element: Element) -> dict[str, object]:
    def truth(name: str, default: str) -> bool:
        return reader.text(element, name, default).strip() == "true"

    to = [_target(reader, one) for holder in element.below("forwardTo") for one in holder.children]
    name = f"{_COMPOSITES[element.name]}{reader.text(element, 'name')}"
    found: dict[str, object] = {"name": name, "forward_to": to, "forward_only": truth("forwardOnly", "true")}
    return {**found, "send_when_not_matched": True} if truth("sendWhenNotMatched", "false") else found


def _target(reader: Reader, element: Element) -> str | dict[str, str]:
    if element.name != "filteredDestination":
        return reader.destination(element)
    kind = next((kind for kind in ("queue", "topic") if kind in element.attributes), None)
    if kind is None:
        raise BadFile(f"{reader.place(element)}: it names no destination; add queue= or topic=")
    to = f"{kind}://{reader.text(element, kind)}"
    return {
        "to": to,
        **({"selector": reader.text(element, "selector")} if "selector" in element.attributes else {}),
    }


def _virtual_topic(reader: Reader, element: Element) -> str:
    """Return a virtual topic as the option has it: its name, and what differs from the defaults."""
    given = {name: reader.text(element, name).strip() for name in ATTRIBUTES if name in element.attributes}
    query = "&".join(f"{name}={value}" for name, value in given.items() if value != ATTRIBUTES[name])
    return f"topic://{reader.text(element, 'name', '>')}{'?' if query else ''}{query}"


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
        named, _, query = pattern.removeprefix("topic://").partition("?")
        own = dict(pair.split("=", 1) for pair in query.split("&") if pair)
        lines += tag("virtualTopic", {"name": named, "prefix": PREFIX, **own}, "", " " * 10)
    for composite in composites:
        to = "".join(_written_target(one) for one in composite["forward_to"])
        kind, _, name = composite["name"].rpartition("://")
        given = {"name": name, "forwardOnly": text(composite.get("forward_only", True))}
        if composite.get("send_when_not_matched"):
            given["sendWhenNotMatched"] = "true"
        element = "compositeTopic" if kind == "topic" else "compositeQueue"
        lines += tag(element, given, tag("forwardTo", {}, to, " " * 12), " " * 10)
    made = lines
    for depth, name in enumerate(reversed(_INTERCEPTORS)):
        made = f"{' ' * (8 - 2 * depth)}<{name}>\n{made}{' ' * (8 - 2 * depth)}</{name}>\n"
    return made


def _written_target(target: str | JsonObject) -> str:
    to, selector = (target, None) if isinstance(target, str) else (target["to"], target.get("selector"))
    kind, _, name = to.rpartition("://")
    if selector is None:
        return tag(kind or "queue", {"physicalName": name}, "", " " * 14)
    return tag("filteredDestination", {kind or "queue": name, "selector": selector}, "", " " * 14)
