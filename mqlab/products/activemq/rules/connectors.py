"""What is written at a network connector and does harm: destinations, names, prefetch, a later option."""

from __future__ import annotations

from itertools import combinations

from mqlab.checks.example import Example, mended
from mqlab.checks.rule import Element, Found, rule
from mqlab.products.activemq.client.read_otherwise import too_new
from mqlab.products.activemq.rules import examples_at_rest as ex
from mqlab.products.activemq.rules.context import CheckContext, Link
from mqlab.products.activemq.rules.reachability import overlapping
from mqlab.spec.values import Destination

LISTS = ("dynamically_included_destinations", "excluded_destinations", "statically_included_destinations")


@rule(
    "static-no-consumer",
    "warning",
    finds="static destinations without a consumer",
    what="{text} is forwarded statically but has no consumer: messages pile up at the remote end",
    fix="add a consumer, or leave the destination to dynamic propagation",
    source="Fuse 2, Static propagation",
    example=lambda: mended(
        ex.sent(ex.row("AB", statically_included_destinations=["queue://Q"])),
        {ex.AB: {"statically_included_destinations": []}},
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
    finds="dynamic demand expected from a broker without advisory support",
    what="broker {target} has advisorySupport off: nothing is ever forwarded dynamically",
    fix="set advisorySupport to true at {target}, or list static destinations and set staticBridge",
    source="Fuse 2, Dynamic propagation",
    see="advisory_off_dynamic",
    example=lambda: mended(ex.sent(ex.silent(), ex.reads()), {"B": {"advisory_support": True}}),
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
    what="the bridge's subscription for wildcard consumer {consumer} also matches the excluded {text}; "
    "its share is dispatched to the bridge and held forever",
    fix="let the consumer list its queues, or set staticBridge",
    source="recorded: wildcard_queue_consumer_behind_exclude",
    see="activemq/filters/wildcard_queue_consumer_behind_exclude",
    example=lambda: Example(ex.secret("Q.>"), ex.secret("Q.OPEN")),
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
    finds="> in the middle of a name, or a wildcard that is only a part of a segment",
    what="{text}: {sign!r} here is a literal part of the name, not a wildcard",
    fix="put '>' last, or use '*' for one whole segment",
    source="Fuse 2, Wildcards",
    example=lambda: Example(ex.odd_name("SHOP.>.ORDERS"), ex.odd_name("SHOP.*.ORDERS")),
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
        *inside, last = Destination.parse(text.partition("?")[0]).segments
        odd = [word for word in (*inside, last) if word not in "*>" and any(sign in word for sign in "*>#")]
        if ">" in inside or odd:
            yield element, {"text": text, "sign": [*odd, ">"][0]}


@rule(
    "same-name",
    "error",
    finds="two connectors of the same name to one broker",
    what="two connectors to {both} have the same name {name!r}: the second bridge is refused and "
    "retried forever",
    fix="give each connector a name of its own",
    source="Fuse 2, Figure 2.4",
    example=lambda: Example(ex.two_names(configured_name="link"), ex.two_names()),
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
    "bridges-twice",
    "warning",
    finds="a connector in the direction that another broker's duplex connector has, too",
    what="{other} leads from {way} already: with two bridges topics may be duplicated, and queues give "
    "them double weight",
    fix="remove one of the two, or its duplex, or list other destinations",
    source="recorded: duplex_and_reverse_duplex",
    see="activemq/connectors/duplex_and_reverse_duplex",
    unshown="duplicates depend on suppressDuplicateTopicSubscriptions",
)
def _bridges_twice(context: CheckContext) -> Found:
    first: dict[tuple[object, ...], Link] = {}
    for link in context.links():
        home, lists = link.broker.name, tuple(link.get(name) for name in LISTS)
        there = [name for name in link.connector.targets if name != home]
        ways = [(home, name) for name in there] + [(name, home) for name in there if link.get("duplex")]
        others = {way: first.setdefault((*way, *lists), link) for way in ways}
        for way, other in others.items():
            if other.broker is not link.broker:  # of one broker the guide has several, for their throughput
                yield link.element, {"other": other.element.where, "way": " to ".join(way)}
                break


@rule(
    "prefetch-zero",
    "error",
    finds="a bridge that cannot pull",
    what="prefetchSize is 0: a bridge cannot pull, so nothing is forwarded; versions after 5.5 reject "
    "this value",
    fix="use 1 or more",
    source="article, table of networkConnector options",
    example=lambda: mended(
        ex.sent(ex.row("AB", prefetch_size=0), ex.reads()).under("5.5"), {ex.AB: {"prefetch_size": 1}}
    ),
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
    fix="remove it",
    source="ActiveMQ rule 26.2",
    unshown="no effect: the connector is dropped",
)
def _loopback(context: CheckContext) -> Found:
    for link in context.links():
        if link.broker.name in link.connector.targets:
            yield link.element, {}


@rule(
    "later-option",
    "warning",
    finds="an option that the version does not have yet",
    what="{option.guide} does not exist in version {edition}",
    fix="remove it, or use version {option.since} or later",
    source="{option.source}",
    unshown="the broker does not start",
)
def _later_option(context: CheckContext) -> Found:
    for where, option in too_new(context.network):
        yield context.placed(where), {"option": option, "edition": context.network.edition}
