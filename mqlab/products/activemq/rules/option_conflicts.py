"""Options of a connector or a policy that have no effect, or a bad one, together.

Sources: ActiveMQ rule 26.1; the article's section on stuck messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from mqlab.checks.example import Example, mended
from mqlab.checks.rule import Found, rule
from mqlab.products.activemq.network.bridge_configuration import heard
from mqlab.products.activemq.rules import examples_in_time as ex
from mqlab.products.activemq.rules.context import CheckContext, Link
from mqlab.products.activemq.rules.examples_at_rest import (
    AB,
    all_in_one,
    forwards,
    reads,
    row,
    sent,
    virtual_demand,
)
from mqlab.spec import Broker
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import Destination, matches
from mqlab.spec.virtual_topic import PREFIX, VirtualTopic

_TABLE = "ActiveMQ rule 26.1"
Get = Callable[[str], object]
Home = tuple[CheckContext, Broker]


def links(context: CheckContext) -> Iterator[Link]:
    """Yield each connector."""
    return context.links()


def brokers(context: CheckContext) -> Iterator[Home]:
    """Yield each broker."""
    return ((context, broker) for broker in context.network.brokers)


def _static_bridge(get: Get) -> bool:
    return get("static_bridge") is True


def _only_static(get: Get) -> bool:
    return get("static_bridge") is True and not get("statically_included_destinations")


def _no_conduit(get: Get) -> bool:
    return get("conduit_subscriptions") is False


def _no_decrease(get: Get) -> bool:
    return get("decrease_network_consumer_priority") is False


def _cannot_sync(get: Get) -> bool:
    return get("conduit_subscriptions") is False or get("dynamic_only") is True


# The option that is idle -> under which conditions: each with why, and what to write.
_ADVISORIES = "a static bridge ignores advisories"
IDLE: dict[str, tuple[Callable[[Get], bool], str, str]] = {
    "dynamically_included_destinations": (
        _static_bridge,
        _ADVISORIES,
        "remove staticBridge, or list them as statically included",
    ),
    "destination_filter": (_static_bridge, _ADVISORIES, "remove one of the two"),
    "dynamic_only": (  # `DurableConduitBridge.setupStaticDestinations` of 5.17.2
        _static_bridge,
        f"{_ADVISORIES}, and makes no durable subscriptions; one of its store is not restored",
        "remove one of the two",
    ),
    "static_bridge": (
        _only_static,
        "it has no static destinations, so nothing is forwarded",
        "list statically included destinations",
    ),
    "conduit_network_queue_subscriptions": (
        _no_conduit,
        "conduitSubscriptions is false",
        "set conduitSubscriptions to true",
    ),
    "consumer_priority_base": (
        _no_decrease,
        "decreaseNetworkConsumerPriority is false",
        "set decreaseNetworkConsumerPriority to true",
    ),
    "sync_durable_subs": (
        _cannot_sync,
        "it needs conduitSubscriptions true and dynamicOnly false",
        "set conduitSubscriptions=true and dynamicOnly=false",
    ),
}


@rule(
    "no-effect",
    "warning",
    finds="an option disabled by another option",
    what="{guide} has no effect: {why}",
    fix="{fix}",
    source=_TABLE,
    example=lambda: mended(
        sent(row("AB", static_bridge=True), reads()),
        {AB: {"statically_included_destinations": ["queue://Q"]}},
    ),
    of=(links,),
)
def _no_effect(link: Link) -> Found:
    options = link.connector.options
    for idle, (holds, why, fix) in IDLE.items():
        if idle in options and options[idle] not in ((), False) and holds(link.get):
            guide = OPTIONS["networkConnector"][idle].guide
            yield link.element, {"guide": guide, "why": why, "fix": fix}


@rule(
    "ttl-twice",
    "warning",
    finds="networkTTL beside messageTTL or consumerTTL",
    what="networkTTL sets messageTTL and consumerTTL, which are also set here: which value wins depends "
    "on the order in which the attributes are read",
    fix="set messageTTL and consumerTTL, without networkTTL",
    source=_TABLE,
    unshown="it depends on the order in which the broker reads them",
    of=(links,),
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
    example=lambda: forwards("statically_included_destinations"),
    of=(links,),
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
    of=(links,),
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
    example=lambda: forwards("dynamically_included_destinations"),
    of=(links,),
)
def _excluded_included(link: Link) -> Found:
    for text in link.connector.dynamically_included_destinations:
        if _excluded(link, text):
            yield link.element, {"text": text}


REPLAY = (
    "replay_delay_ms",
    "replay_rate_limit",
    "replay_rate_duration_ms",
    "replay_selector_aware",
)


@rule(
    "replay-off",
    "warning",
    finds="replay options without replayWhenNoConsumers",
    what="policy {pattern}: {guide} has no effect: replayWhenNoConsumers is false",
    fix="set replayWhenNoConsumers to true",
    source="article, Stuck messages",
    unshown="no effect: the option is ignored",
    of=(brokers,),
)
def _replay_off(of: Home) -> Found:
    context, broker = of
    for policy in broker.policies:
        idle = next((name for name in REPLAY if policy.get(name)), None)
        if idle and not policy.get("replay_when_no_consumers", False):
            pattern = policy.get("queue") or policy.get("topic")
            guide = OPTIONS["policyEntry"][idle].guide
            yield context.broker(broker.name), {"pattern": pattern, "guide": guide}


@rule(
    "update-off",
    "warning",
    finds="client update options without updateClusterClients",
    what="{guide} has no effect: updateClusterClients is false",
    fix="set updateClusterClients to true",
    source="Fuse 1, Table 1.1",
    example=lambda: Example(
        ex.crash(ex.told(update_cluster_clients_on_remove=True), ex.ONE),
        ex.crash(ex.told(update_cluster_clients=True), ex.ONE),
    ),
    of=(brokers,),
)
def _update_off(of: Home) -> Found:
    context, broker = of

    def get(name: str) -> object:
        return broker.transport.get(name, context.network.edition)

    told = ("update_cluster_clients_on_remove", "update_cluster_filter")
    idle = next((name for name in told if get(name)), None)
    if idle and not (get("update_cluster_clients") or get("rebalance_cluster_clients")):
        guide = OPTIONS["transportConnector"][idle].guide
        yield context.broker(broker.name), {"guide": guide}


@rule(
    "virtual-dest-subs",
    "warning",
    finds="useVirtualDestSubs at a connector, and not at the broker it leads to",
    what="useVirtualDestSubs has no effect: broker {target} has not set its own",
    fix="set useVirtualDestSubs to true at {target}, too",
    source=_TABLE,
    example=lambda: virtual_demand(),
    of=(links,),
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
        *REPLAY,
        "replay_when_no_consumers",
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
    example=lambda: all_in_one(),
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
        sent(row("AB", destination_filter="Topic.>"), reads()), {AB: {"destination_filter": "Queue.>"}}
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
