"""What ways through a network do to messages: time-to-live, topics without conduit or in cycles, selectors.

A rule that needs to know the consumers is silent without actions.
"""

from __future__ import annotations

import re

from mqlab.checks.example import mended
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.activemq.rules.context import CheckContext, Link
from mqlab.products.activemq.rules.examples_at_rest import AB, TOPIC, reads, row, sent, triangle
from mqlab.spec import Network
from mqlab.spec.graph import neighbours, way_round
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import Destination

HARM_OF_ZERO = {
    "message_ttl": "nothing is ever forwarded",
    "consumer_ttl": "only consumers attached to the next broker are seen, over a duplex connector none",
}


@rule(
    "broker-name",
    "warning",
    finds="a broker name with characters that ActiveMQ replaces",
    what="ActiveMQ calls this broker {real!r}: of a name it keeps letters, digits and . _ - : only",
    fix="call it {real!r}",
    source="ActiveMQ 5.17.2, BrokerService.setBrokerName",
    unshown="the same run, under another name",
)
def _broker_name(context: CheckContext) -> Found:
    for name in context.network.names:
        real = re.sub(r"[^a-zA-Z0-9._:-]", "_", name)
        if real != name:
            yield context.broker(name), {"real": real}


@rule(
    "ttl-zero",
    "error",
    finds="a TTL of 0: nothing is forwarded",
    what="{guide} is 0: {harm}",
    fix="set it to the largest distance to a consumer, at least 1",
    source="Fuse 2, Time-to-live",
    see="activemq/hops_and_ttl/chain3_ttl_zero",
    example=lambda: mended(sent(row("AB", network_ttl=0), reads()), {AB: {"network_ttl": 1}}),
)
def _ttl_zero(context: CheckContext) -> Found:
    for link in context.links():
        zero = next((name for name in HARM_OF_ZERO if link.get(name) == 0), None)
        if zero:
            guide = OPTIONS["networkConnector"][zero].guide
            yield link.element, {"guide": guide, "harm": HARM_OF_ZERO[zero]}


def _passes(link: Link, kind: str) -> bool:
    """Whether a connector lets through any destination of a kind: queue or topic."""
    included = link.connector.dynamically_included_destinations
    excluded = {Destination.parse(text) for text in link.connector.excluded_destinations}
    if Destination(kind, ">") in excluded:
        return False
    return not included or any(text.startswith(f"{kind}://") for text in included)


@rule(
    "conduit-off-topics",
    "error",
    finds="topics without conduit subscriptions: duplicates",
    what="with conduitSubscriptions off, each remote topic subscriber receives every message once per "
    "subscriber",
    fix="use one connector for queues (off) and one for topics (on), with included destinations "
    "queue://> and topic://>",
    source="Fuse 2, Example 2.5",
    see="activemq/conduit_topics/conduit_off_topic_two_subscribers",
    example=lambda: mended(
        sent(
            row("AB", conduit_subscriptions=False),
            *(reads(name, reads=TOPIC) for name in ("C1", "C2")),
            to=TOPIC,
        ),
        {AB: {"conduit_subscriptions": True}},
    ),
)
def _conduit_off_topics(context: CheckContext) -> Found:
    for link in context.links():
        if not link.get("conduit_subscriptions") and _passes(link, "topic"):
            yield link.element, {}


def _merged(network: Network) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return broker -> its set, and what leads to what; of those that share a store only one serves."""
    sets = {b.name: str(b.options.get("shared_store") or b.name) for b in network.brokers}
    onward: dict[str, dict[str, None]] = {name: {} for name in sets.values()}
    for broker, targets in neighbours(network).items():
        onward[sets[broker]] |= {sets[target]: None for target in targets if sets[target] != sets[broker]}
    return sets, {name: tuple(targets) for name, targets in onward.items()}


def _cycles(network: Network) -> bool:
    """Whether two ways lead from one broker to another."""
    _, onward = _merged(network)
    edges = {frozenset((a, b)) for a, there in onward.items() for b in there}
    parent = {name: name for name in onward}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    for a, b in map(tuple, edges):
        if root(a) == root(b):
            return True
        parent[root(a)] = root(b)
    return False


@rule(
    "topic-cycle",
    "warning",
    finds="cycles in which topic subscribers receive duplicates",
    what="the network has cycles, and a topic's messages may travel around them: subscribers in a cycle may "
    "receive duplicates",
    fix="set networkTTL to 1 where every broker has a connector to every other, or remove a connector from the "
    "cycle",
    source="recorded: topic_triangle, topic_complete_graph4_ttl3",
    see="topic_triangle",
    example=lambda: mended(
        sent(triangle(), reads("C1", reads=TOPIC), reads("C2", "C", TOPIC), to=TOPIC),
        {"*/*": {"network_ttl": 1}},
    ),
)
def _topic_cycle(context: CheckContext) -> Found:
    long = [
        link.element
        for link in context.links()
        if link.get("message_ttl") not in (0, 1) and _passes(link, "topic")
    ]
    if long and _cycles(context.network):
        where = ", ".join(element.where for element in long[:4]) + (", ..." if long[4:] else "")
        yield Element(where, long[0].file, long[0].line), {}


@rule(
    "queue-cycle",
    "warning",
    finds="cycles in which messages of a queue get stuck",
    what="demand travels around a cycle: a message may leave the broker of its consumer by the long way, and "
    "it is stuck at the last broker before it comes back",
    fix="set decreaseNetworkConsumerPriority to true, or networkTTL to {less}",
    source="Fuse 2, Finding the shortest route",
    example=lambda: mended(
        sent(triangle(), reads("C1", "A"), reads("C2", "B")),
        {"*/*": {"decrease_network_consumer_priority": True}},
    ),
)
def _queue_cycle(context: CheckContext) -> Found:
    if not _cycles(context.network):
        return
    sets, onward = _merged(context.network)
    for link in context.links():
        if link.get("decrease_network_consumer_priority") or not _passes(link, "queue"):
            continue
        if link.get("suppress_duplicate_queue_subscriptions"):
            continue
        ttl, own = link.get("consumer_ttl"), sets[link.broker.name]
        most = ttl if isinstance(ttl, int) and ttl != -1 else len(onward)
        if most < 2:
            continue
        for target in {sets[name]: None for name in link.connector.targets if sets.get(name, own) != own}:
            if 2 <= (way := way_round(onward, target, own)) <= most:
                yield link.element, {"less": way - 1}
                return


@rule(
    "selector-conduit",
    "error",
    finds="a selector behind conduit subscriptions",
    what="conduit subscriptions drop the selector of consumer {consumer}: non-matching messages "
    "are forwarded and get stuck there",
    fix="set conduitSubscriptions to false for this queue",
    source="Fuse 2, Figure 2.17",
    see="activemq/selectors/selector_conduit_same_broker",
    example=lambda: mended(
        sent(
            row("AB"),
            reads("C1", "A"),
            reads("C2", selector="n = 1"),
            properties={"n": [1, 2]},
        ),
        {AB: {"conduit_subscriptions": False, "excluded_destinations": ["topic://>"]}},
    ),
)
def _selector_conduit(context: CheckContext) -> Found:
    for link in context.links():
        if not link.get("conduit_subscriptions"):
            continue
        for consumer in context.consumers:
            there = consumer.on in link.connector.targets or (
                link.get("duplex") and consumer.on == link.broker.name
            )
            if consumer.selector and consumer.reads.is_queue and there:
                yield link.element, {"consumer": consumer.name}


@rule(
    "suppress-alone",
    "warning",
    finds="duplicates suppressed without decreased priorities: the long route may stay",
    what="of several routes the first one announced is kept, even if it is longer",
    fix="set decreaseNetworkConsumerPriority to true as well",
    source="Fuse 2, Finding the shortest route",
    unshown="it depends on which route is announced first",
)
def _suppress_alone(context: CheckContext) -> Found:
    for link in context.links():
        decreased = link.get("decrease_network_consumer_priority")
        if link.get("suppress_duplicate_queue_subscriptions") and not decreased:
            yield link.element, {}
