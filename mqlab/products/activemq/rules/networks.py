"""Problems of a network: what a real broker accepts, and what loses, strands or doubles messages.

Each rule looks at the network, and at the actions where they are known. A rule that needs to know the
consumers is silent without actions.
"""

from __future__ import annotations

from itertools import combinations

from mqlab.checks.example import Example, mended
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.activemq.rules.context import CheckContext, Link
from mqlab.products.activemq.rules.examples_at_rest import (
    AB,
    TOPIC,
    odd_name,
    reads,
    row,
    secret,
    sent,
    silent,
    triangle,
    two_names,
)
from mqlab.products.activemq.rules.reachability import overlapping
from mqlab.spec import Network
from mqlab.spec.graph import neighbours
from mqlab.spec.option import EDITIONS
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import Destination

HARM_OF_ZERO = {
    "message_ttl": "nothing is ever forwarded",
    "consumer_ttl": "only consumers of the next broker itself are heard of",
}


@rule(
    "ttl-zero",
    "error",
    finds="a TTL of 0: nothing crosses",
    what="{guide} is 0: {harm}",
    fix="write the greatest distance to a consumer, at least 1",
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


def _passes_topics(link: Link) -> bool:
    included = link.connector.dynamically_included_destinations
    excluded = {Destination.parse(text) for text in link.connector.excluded_destinations}
    if Destination("topic", ">") in excluded:
        return False
    return not included or any(text.startswith("topic://") for text in included)


@rule(
    "conduit-off-topics",
    "error",
    finds="topics without conduit: copies",
    what="with conduitSubscriptions off every topic subscriber beyond gets each message as many times "
    "as there are subscribers",
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
        if not link.get("conduit_subscriptions") and _passes_topics(link):
            yield link.element, {}


def _cycles(network: Network) -> bool:
    """Whether two ways lead from one broker to another; of those that share a store only one serves."""
    onward = neighbours(network)
    sets = {b.name: b.options.get("shared_store") or b.name for b in network.brokers}
    edges = {frozenset((sets[a], sets[b])) for a, there in onward.items() for b in there if sets[a] != sets[b]}
    parent = {name: name for name in sets.values()}

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
    finds="cycles in which topic subscribers get copies",
    what="there are cycles, and advisories of topic subscribers may go round them: subscribers on "
    "several brokers of a cycle get messages more than once",
    fix="set consumerTTL to 1 for topics in a full mesh, or take a connector out of the cycle",
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
        if link.get("consumer_ttl") not in (0, 1) and _passes_topics(link)
    ]
    if long and _cycles(context.network):
        where = ", ".join(element.where for element in long[:4]) + (", ..." if long[4:] else "")
        yield Element(where, long[0].file, long[0].line), {}


@rule(
    "selector-conduit",
    "error",
    finds="a selector behind conduit subscriptions",
    what="conduit subscriptions drop the selector of consumer {consumer}: messages that it does not "
    "want cross and are stuck there",
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
    what="of several routes the one that is heard of first is kept, which may be the long one",
    fix="set decreaseNetworkConsumerPriority to true as well",
    source="Fuse 2, Finding the shortest route",
    unshown="it hangs on which route is heard of first",
)
def _suppress_alone(context: CheckContext) -> Found:
    for link in context.links():
        decreased = link.get("decrease_network_consumer_priority")
        if link.get("suppress_duplicate_queue_subscriptions") and not decreased:
            yield link.element, {}


@rule(
    "static-no-consumer",
    "warning",
    finds="static destinations that nobody reads",
    what="{text} is forwarded without being asked for, and nobody reads it: messages pile up at the far end",
    fix="add a consumer, or leave the destination to dynamic propagation",
    source="Fuse 2, Static propagation",
    example=lambda: mended(
        sent(row("AB", statically_included_destinations=["queue://Q"])),
        {AB: {"statically_included_destinations": []}},
    ),
)
def _static_no_consumer(context: CheckContext) -> Found:
    if not context.known:
        return
    for link in context.links():
        for text in link.connector.statically_included_destinations:
            static = Destination.parse(text)
            taken = any(overlapping(static, consumer.reads) for consumer in context.consumers)
            onward = any(
                text in other.statically_included_destinations
                for home, other in context.network.connectors()
                if home.name in link.connector.targets
            )
            if static.is_queue and not taken and not onward:
                yield link.element, {"text": text}


@rule(
    "advisory-off",
    "error",
    finds="demand of a broker that sends no advisories",
    what="broker {target} sends no advisories: nothing is ever forwarded on demand",
    fix="set advisorySupport to true at {target}, or list static destinations and set staticBridge",
    source="Fuse 2, Dynamic propagation",
    see="advisory_off_dynamic",
    example=lambda: mended(sent(silent(), reads()), {"B": {"advisory_support": True}}),
)
def _advisory_off(context: CheckContext) -> Found:
    network = context.network
    for link in context.links():
        for target in (name for name in link.connector.targets if name in network.names):
            tells = network.broker(target).get("advisory_support", network.edition)
            if not tells and not link.get("static_bridge"):
                yield link.element, {"target": target}


@rule(
    "excluded-wildcard",
    "error",
    finds="wildcard consumer and exclusion",
    what="the bridge takes its share of {text} for the wildcard consumer {consumer}, may not forward it "
    "and holds it for ever",
    fix="let the consumer name its queues, or set staticBridge",
    source="recorded: wildcard_queue_consumer_behind_exclude",
    see="activemq/filters/wildcard_queue_consumer_behind_exclude",
    example=lambda: Example(secret("Q.>"), secret("Q.OPEN")),
)
def _excluded_wildcard(context: CheckContext) -> Found:
    wild = [c for c in context.consumers if c.reads.has_wildcard and c.reads.is_queue]
    for link in context.links():
        for text in link.connector.excluded_destinations:
            excluded = Destination.parse(text)
            for consumer in wild:
                there = consumer.on in link.connector.targets
                if there and overlapping(excluded, consumer.reads):
                    yield link.element, {"text": text, "consumer": consumer.name}


@rule(
    "wildcard-inside",
    "warning",
    finds="> in the middle of a name",
    what="{text}: '>' in the middle of a name is no wildcard but a plain segment",
    fix="put '>' last, or use '*' for one segment",
    source="Fuse 2, Wildcards",
    example=lambda: Example(odd_name("SHOP.>.ORDERS"), odd_name("SHOP.*.ORDERS")),
)
def _wildcard_inside(context: CheckContext) -> Found:
    places = [(Element(f"consumer {c.name}"), str(c.reads)) for c in context.consumers]
    for link in context.links():
        connector = link.connector
        lists = (
            *connector.statically_included_destinations,
            *connector.dynamically_included_destinations,
            *connector.excluded_destinations,
        )
        places += [(link.element, text) for text in lists]
    for element, text in places:
        if ">" in Destination.parse(text.partition("?")[0]).segments[:-1]:
            yield element, {"text": text}


@rule(
    "same-name",
    "error",
    finds="connectors of one name to one broker",
    what="two connectors to {both} are called {name!r}: the second bridge is refused and tried again for ever",
    fix="give each connector a name of its own",
    source="Fuse 2, Figure 2.4",
    example=lambda: Example(two_names(configured_name="link"), two_names()),
)
def _same_name(context: CheckContext) -> Found:
    called: dict[tuple[str, str], list[Link]] = {}
    for link in context.links():
        name = link.get("configured_name") or link.connector.name
        called.setdefault((link.broker.name, str(name)), []).append(link)
    for (_, name), same in called.items():
        for one, other in combinations(same, 2):
            both = set(one.connector.targets) & set(other.connector.targets)
            if both:
                yield one.element, {"both": ", ".join(sorted(both)), "name": name}


@rule(
    "prefetch-zero",
    "error",
    finds="a bridge that cannot pull",
    what="prefetchSize is 0: a bridge cannot pull, so nothing crosses; editions after 5.5 refuse it",
    fix="write 1 or more",
    source="article, table of networkConnector options",
    example=lambda: mended(sent(row("AB", prefetch_size=0), reads()).under("5.5"), {AB: {"prefetch_size": 1}}),
)
def _prefetch_zero(context: CheckContext) -> Found:
    for link in context.links():
        if link.get("prefetch_size") == 0:
            yield link.element, {}


@rule(
    "loopback",
    "warning",
    finds="a connector to its own broker",
    what="a connector to its own broker is dropped as soon as it is up",
    fix="take it out",
    source="ActiveMQ rule 26.2",
    unshown="nothing comes of it: the connector is dropped",
)
def _loopback(context: CheckContext) -> Found:
    for link in context.links():
        if link.broker.name in link.connector.targets:
            yield link.element, {}


@rule(
    "later-option",
    "warning",
    finds="an option that the edition does not have yet",
    what="{option.guide} does not exist in edition {edition}",
    fix="take it out, or use edition {option.since}",
    source="{option.source}",
    unshown="the broker does not start",
)
def _later_option(context: CheckContext) -> Found:
    edition = context.network.edition
    for link in context.links():
        for option in (OPTIONS["networkConnector"][name] for name in link.connector.options):
            if EDITIONS.index(option.since) > EDITIONS.index(edition):
                yield link.element, {"option": option, "edition": edition}
