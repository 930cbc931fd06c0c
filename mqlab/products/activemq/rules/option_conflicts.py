"""Options of a connector or a policy that have no effect, or a bad one, together.

Sources: ActiveMQ rule 26.1; the article's section on stuck messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from mqlab.checks.example import mended
from mqlab.checks.rule import Found, no_effect, rule
from mqlab.products.activemq.client.read_otherwise import idle_options
from mqlab.products.activemq.network.bridge_configuration import heard
from mqlab.products.activemq.rules import examples_at_rest as ex
from mqlab.products.activemq.rules.context import CheckContext, Link
from mqlab.spec import Broker
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import Destination, matches
from mqlab.spec.virtual_topic import PREFIX, VirtualTopic

_TABLE = "ActiveMQ rule 26.1"
Home = tuple[CheckContext, Broker]


def brokers(context: CheckContext) -> Iterator[Home]:
    """Yield each broker."""
    return ((context, broker) for broker in context.network.brokers)


@no_effect("no-effect", source=_TABLE)
def _no_effect(context: CheckContext) -> Found:
    for where, idle in idle_options(context.network, context.actions):
        yield context.placed(where), {"idle": idle}


@rule(
    "static-nothing",
    "warning",
    finds="a static bridge without static destinations",
    what="staticBridge: it has no static destinations, so nothing is forwarded",
    fix="list statically included destinations",
    source=_TABLE,
    example=lambda: mended(
        ex.sent(ex.row("AB", static_bridge=True), ex.reads()),
        {ex.AB: {"statically_included_destinations": ["queue://Q"]}},
    ),
    of=(CheckContext.links,),
)
def _static_nothing(link: Link) -> Found:
    if link.get("static_bridge") and not link.get("statically_included_destinations"):
        yield link.element, {}


@rule(
    "ttl-twice",
    "warning",
    finds="networkTTL beside messageTTL or consumerTTL",
    what="networkTTL sets messageTTL and consumerTTL, which are also set here: which value wins depends "
    "on the order in which the attributes are read",
    fix="set messageTTL and consumerTTL, without networkTTL",
    source=_TABLE,
    unshown="it depends on the order in which the broker reads them",
    of=(CheckContext.links,),
)
def _ttl_twice(link: Link) -> Found:
    given = link.connector.options
    if "network_ttl" in given and ("message_ttl" in given or "consumer_ttl" in given):
        yield link.element, {}


def _excluded(link: Link, text: str) -> bool:
    excluded = map(Destination.parse, link.connector.excluded_destinations)
    return any(one.takes(Destination.parse(text)) for one in excluded)


@rule(
    "excluded-static",
    "error",
    finds="a destination both static and excluded",
    what="{text} is both statically included and excluded: exclusion wins and nothing is forwarded",
    fix="remove it from one of the two lists",
    source="ActiveMQ rule 26.4",
    example=lambda: ex.forwards("statically_included_destinations"),
    of=(CheckContext.links,),
)
def _excluded_static(link: Link) -> Found:
    for text in link.connector.statically_included_destinations:
        if link.edition != "5.5" and _excluded(link, text):
            yield link.element, {"text": text}


@rule(
    "static-wildcard",
    "warning",
    finds="wildcards among static destinations in 5.5",
    what="{text}: the guide of 5.5 allows no wildcards among static destinations",
    fix="name each destination",
    source="Fuse 2, Static propagation",
    unshown="in mqlab all messages arrive anyway",
    of=(CheckContext.links,),
)
def _static_wildcard(link: Link) -> Found:
    for text in link.connector.statically_included_destinations:
        if link.edition == "5.5" and Destination.parse(text).has_wildcard:
            yield link.element, {"text": text}


@rule(
    "excluded-included",
    "error",
    finds="a destination both included and excluded",
    what="{text} is both included and excluded: exclusion wins and nothing is forwarded",
    fix="remove it from one of the two lists",
    source="Fuse 2, Example 2.4",
    example=lambda: ex.forwards("dynamically_included_destinations"),
    of=(CheckContext.links,),
)
def _excluded_included(link: Link) -> Found:
    for text in link.connector.dynamically_included_destinations:
        if _excluded(link, text):
            yield link.element, {"text": text}


@rule(
    "virtual-dest-subs",
    "warning",
    finds="useVirtualDestSubs at a connector, and not at the broker it leads to",
    what="useVirtualDestSubs has no effect: broker {target} has not set its own",
    fix="set useVirtualDestSubs to true at {target}, too",
    source=_TABLE,
    example=lambda: ex.virtual_demand(),
    of=(CheckContext.links,),
)
def _virtual_dest_subs(link: Link) -> Found:
    there = [name for name in link.connector.targets if name in link.network.names]
    for target in there if link.get("use_virtual_dest_subs") else ():
        if not link.network.broker(target).get("use_virtual_dest_subs", link.edition):
            yield link.element, {"target": target}


# The options of a policy for destinations of one kind alone, as `PolicyEntry` sets them at a Queue or a Topic.
OF_ONE_KIND = {
    "queue": (
        "strict_order_dispatch",
        "use_consumer_priority",
        "queue_prefetch",
        "queue_browser_prefetch",
        "all_consumers_exclusive_by_default",
        "consumers_before_dispatch_starts",
        "time_before_dispatch_starts_ms",
        "replay_when_no_consumers",
        "replay_delay_ms",
        "replay_rate_limit",
        "replay_rate_duration_ms",
        "replay_selector_aware",
    ),
    "topic": ("topic_prefetch", "durable_topic_prefetch", "pending_message_limit", "dispatch_policy"),
}


@rule(
    "other-kind",
    "warning",
    finds="an option of queues in a policy for topics, or of topics in one for queues",
    what="policy {pattern}: {guide} has no effect: it is for {kind}s, and these are {other}s",
    fix="move it into a policy for {kind}s",
    source="ActiveMQ, per destination policies",
    unshown="no effect: the option is ignored",
    of=(brokers,),
)
def _other_kind(of: Home) -> Found:
    context, broker = of
    for policy in broker.policies:
        other = "queue" if "queue" in policy else "topic"
        (kind,) = {*OF_ONE_KIND} - {other}
        for option in (name for name in OF_ONE_KIND[kind] if name in policy):
            guide = OPTIONS["policyEntry"][option].guide
            facts = {"pattern": policy.get(other), "guide": guide, "kind": kind, "other": other}
            yield context.broker(broker.name), facts


@rule(
    "virtual-prefix",
    "warning",
    finds="a virtual topic whose prefix has no *",
    what="virtual topic {text}: its prefix has no *, so all its consumers share one queue, {queue}",
    fix="write prefix={prefix}, where * stands for the name of each consumer",
    source="ActiveMQ, virtual destinations",
    example=lambda: ex.all_in_one(),
    of=(brokers,),
)
def _virtual_prefix(of: Home) -> Found:
    context, broker = of
    for text in broker.get("virtual_topics", context.network.edition) or ():
        topic = VirtualTopic.of(text)
        if "*" not in f"{topic.prefix}{topic.postfix}":
            prefix = f"{topic.prefix.rstrip('.')}.*." if topic.prefix.strip(".") else PREFIX
            facts = {"text": topic.topics.name, "queue": topic.queues("NAME"), "prefix": prefix}
            yield context.broker(broker.name), facts


@rule(
    "filter-deaf",
    "warning",
    finds="a consumer whose advisories a destinationFilter does not let in",
    what="destinationFilter {filter!r} lets in no advisory of consumer {consumer} of {reads}: "
    "it makes no demand",
    fix="use {right!r}, or no destinationFilter",
    source="ActiveMQ rule 26.2",
    example=lambda: mended(
        ex.sent(ex.row("AB", destination_filter="Topic.>"), ex.reads()),
        {ex.AB: {"destination_filter": "Queue.>"}},
    ),
)
def _filter_deaf(context: CheckContext) -> Found:
    for link in context.links():
        text = str(link.get("destination_filter") or "")
        patterns = heard(text) if text and not link.get("static_bridge") else None
        for consumer in (one for one in context.consumers if one.on in link.connector.targets):
            static = map(Destination.parse, link.connector.statically_included_destinations)
            if any(one.takes(dest) for one in static for dest in consumer.reads.elements()):
                continue
            names = [f"{dest.kind.title()}.{dest.name}" for dest in consumer.reads.elements()]
            if patterns is not None and not any(matches(*both) for both in product(patterns, names)):
                facts = {"filter": text, "consumer": consumer.name, "reads": consumer.reads, "right": names[0]}
                yield link.element, facts
