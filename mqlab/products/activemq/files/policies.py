"""Destination policies and virtual destinations: what a broker does with queues and topics of a name.

Source: ActiveMQ, per destination policies; the article's section on stuck messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqlab.errors import BadFile
from mqlab.files.markup import Element, tag
from mqlab.products.activemq.files import xml_names
from mqlab.products.activemq.files.reader import Reader
from mqlab.spec.json_types import JsonObject
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import as_text
from mqlab.spec.virtual_topic import ATTRIBUTES, PREFIX

VIRTUAL_TOPICS = ("topic://VirtualTopic.>",)
INTERCEPTORS = ("destinationInterceptors", "virtualDestinationInterceptor", "virtualDestinations")
ENTRIES = ("destinationPolicy", "policyMap", "policyEntries")
KNOWN = (*xml_names.DISPATCH.values(), *xml_names.DEAD_LETTERS.values())
_TARGETS = (*xml_names.QUEUES, "filteredDestination")
_COMPOSITES = {"compositeQueue": "", "compositeTopic": "topic://"}  # and how their names begin in the lab


def entries(broker: Element) -> list[Element]:
    """Return the policy entries of a broker that are for queues or topics of a pattern.

    One for temporary destinations says nothing that the lab plays.
    """
    return [
        entry
        for entry in broker.below(*ENTRIES, "policyEntry")
        if {"queue", "topic"} & set(entry.attributes) or _patterns(entry)
    ]


def _patterns(entry: Element) -> list[Element]:
    return [one for child in entry.all("destination") for one in child.all("queue", "topic")]


def read(reader: Reader, broker: Element) -> list[dict[str, object]]:
    """Return a broker's policies in the lab file's form."""
    found = []
    for entry in entries(broker):
        named = [name for name in ("queue", "topic") if name in entry.attributes]
        patterns: dict[str, object] = {name: reader.named(entry, name) for name in named}
        for element in _patterns(entry):
            patterns[element.name] = reader.destination(element).partition("://")[2]
        if len(patterns) > 1:
            raise BadFile(f"{reader.place(entry)}: it names both a queue and a topic; use one entry for each")
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


def virtual(broker: Element) -> tuple[list[Element], list[Element]]:
    """Return the elements of a broker's composite destinations, and those of its virtual topics."""
    inside = [element for holder in broker.below(*INTERCEPTORS) for element in holder.children]
    composites = [one for one in inside if one.name in _COMPOSITES and one.below("forwardTo")]
    return composites, [one for one in inside if one.name == "virtualTopic"]


def read_virtual(reader: Reader, broker: Element) -> tuple[list[dict[str, object]], tuple[str, ...] | None]:
    """Return a broker's composite destinations and its virtual topics; None for those if it says nothing."""
    if not broker.below(INTERCEPTORS[0]):
        return [], None
    composites, topics = virtual(broker)
    return [_composite(reader, one) for one in composites], tuple(_virtual_topic(reader, one) for one in topics)


def _composite(reader: Reader, element: Element) -> dict[str, object]:
    to = [_target(reader, one) for holder in element.below("forwardTo") for one in holder.all(*_TARGETS)]
    found: dict[str, object] = {
        "name": f"{_COMPOSITES[element.name]}{reader.named(element, 'name')}",
        "forward_to": to,
        "forward_only": reader.truth(element, "forwardOnly", True),
    }
    more = reader.truth(element, "sendWhenNotMatched")
    return {**found, "send_when_not_matched": True} if more else found


def _target(reader: Reader, element: Element) -> str | dict[str, str]:
    if element.name != "filteredDestination":
        return reader.destination(element)
    kind = next((kind for kind in ("queue", "topic") if kind in element.attributes), None)
    if kind is None:
        raise BadFile(f"{reader.place(element)}: it names no destination; add queue= or topic=")
    to = f"{kind}://{reader.named(element, kind)}"
    return {
        "to": to,
        **({"selector": reader.text(element, "selector")} if "selector" in element.attributes else {}),
    }


def _virtual_topic(reader: Reader, element: Element) -> str:
    """Return a virtual topic as the option has it: its name, and what differs from the defaults."""
    given = {name: reader.text(element, name).strip() for name in ATTRIBUTES if name in element.attributes}
    for name in given:
        if ATTRIBUTES[name] == "false":
            given[name] = str(reader.truth(element, name)).lower()
    query = "&".join(f"{name}={value}" for name, value in given.items() if value != ATTRIBUTES[name])
    name = reader.named(element, "name") if "name" in element.attributes else ">"
    return f"topic://{name}{'?' if query else ''}{query}"


def written(policies: Iterable[Mapping[str, object]]) -> str:
    """Return the ``destinationPolicy`` of a broker as lines; nothing without policies."""
    lines = "".join(entry(policy) for policy in policies)
    if not lines:
        return ""
    held = tag("policyMap", {}, tag("policyEntries", {}, lines, " " * 8), " " * 6)
    return tag("destinationPolicy", {}, held, " " * 4)


def attributes(policy: JsonObject) -> dict[str, str]:
    """Return the attributes of a policy's element."""
    return xml_names.given(policy, {"queue": "queue", "topic": "topic", **xml_names.POLICY})


def inside(policy: JsonObject) -> dict[str, tuple[str, dict[str, str]]]:
    """Return what stands in a policy: element -> the element in it, with its attributes."""
    found: dict[str, tuple[str, dict[str, str]]] = {}
    if replay := xml_names.given(policy, xml_names.REPLAY):
        found["networkBridgeFilterFactory"] = "conditionalNetworkBridgeFilterFactory", replay
    if "dispatch_policy" in policy:
        found["dispatchPolicy"] = xml_names.DISPATCH[policy["dispatch_policy"]], {}
    letters = xml_names.given(policy, xml_names.DEAD_LETTER)
    if letters or "dead_letter_strategy" in policy:
        strategy = policy.get("dead_letter_strategy", "shared")
        if strategy != "individual":
            letters.pop("queuePrefix", None)
        found["deadLetterStrategy"] = xml_names.DEAD_LETTERS[strategy], letters
    if "pending_message_limit" in policy:
        limit = xml_names.given(policy, xml_names.LIMIT)
        found["pendingMessageLimitStrategy"] = "constantPendingMessageLimitStrategy", limit
    return found


def entry(policy: JsonObject) -> str:
    """Return a policy as lines."""
    lines = "".join(
        tag(outer, {}, tag(inner, given, "", " " * 14), " " * 12)
        for outer, (inner, given) in inside(policy).items()
    )
    return tag("policyEntry", attributes(policy), lines, " " * 10)


def written_virtual(composites: Iterable[JsonObject], topics: tuple[str, ...] | None) -> str:
    """Return the ``destinationInterceptors`` of a broker as lines; nothing if all is as by default.

    With interceptors of its own a broker has no virtual topics but those that are written.
    """
    composites = list(composites)
    if not composites and topics is None:
        return ""
    lines = "".join(map(virtual_topic, VIRTUAL_TOPICS if topics is None else topics))
    made = lines + "".join(map(composite, composites))
    for depth, name in enumerate(reversed(INTERCEPTORS)):
        made = f"{' ' * (8 - 2 * depth)}<{name}>\n{made}{' ' * (8 - 2 * depth)}</{name}>\n"
    return made


def virtual_topic(pattern: str) -> str:
    """Return a virtual topic as lines."""
    return tag("virtualTopic", of_topic(pattern), "", " " * 10)


def of_topic(pattern: str) -> dict[str, str]:
    """Return the attributes of a virtual topic's element."""
    named, _, query = pattern.removeprefix("topic://").partition("?")
    own = dict(pair.split("=", 1) for pair in query.split("&") if pair)
    return {"name": named, "prefix": PREFIX, **own}


def composite(composite: JsonObject) -> str:
    """Return a composite destination as lines."""
    element = "compositeTopic" if composite["name"].startswith("topic://") else "compositeQueue"
    return tag(element, composed(composite), forwarded(composite), " " * 10)


def composed(composite: JsonObject) -> dict[str, str]:
    """Return the attributes of a composite destination's element."""
    name = composite["name"].rpartition("://")[2]
    given = {"name": name, "forwardOnly": as_text(composite.get("forward_only", True))}
    return {**given, "sendWhenNotMatched": "true"} if composite.get("send_when_not_matched") else given


def forwarded(composite: JsonObject) -> str:
    """Return where a composite destination forwards to as lines."""
    return tag("forwardTo", {}, "".join(map(_written_target, composite["forward_to"])), " " * 12)


def _written_target(target: str | JsonObject) -> str:
    to, selector = (target, None) if isinstance(target, str) else (target["to"], target.get("selector"))
    kind, _, name = to.rpartition("://")
    if selector is None:
        return tag(kind or "queue", {"physicalName": name}, "", " " * 14)
    return tag("filteredDestination", {kind or "queue": name, "selector": selector}, "", " " * 14)
