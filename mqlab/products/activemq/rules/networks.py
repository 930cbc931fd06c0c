"""Problems of a network: what a real broker accepts, and what loses, strands or doubles messages.

Each rule looks at the network (and at the actions, where they are known) and yields problems: where,
what will happen, what to write instead, and where the guides say it. A rule that needs to know the
consumers is silent without actions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from mqlab.products.activemq.rules.reachability import overlapping
from mqlab.spec import Broker, Consumer, Network, NetworkConnector, Scenario
from mqlab.spec.graph import neighbours
from mqlab.spec.option import EDITIONS
from mqlab.spec.problem import Problem
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import Destination


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the rules look at."""

    network: Network
    consumers: tuple[Consumer, ...]
    known: bool  # whether the actions were given: without them no consumer means nothing

    def links(self) -> Iterator[tuple[Broker, NetworkConnector, str]]:
        """Yield every connector with its broker and a place name."""
        for broker, connector in self.network.connectors():
            yield broker, connector, f"{broker.name}/{connector.name}"

    def get(self, element: NetworkConnector | Broker, option: str) -> object:
        """Return an option's value in the network's edition."""
        return element.get(option, self.network.edition)


Rule = Callable[[CheckContext], Iterator[Problem]]


def check(what: Network | Scenario) -> list[Problem]:
    """Return the problems of a network or a scenario, errors first.

    >>> import mqlab as mq
    >>> net = mq.Network(mq.Broker("A", mq.NetworkConnector(
    ...     "ab", uri="static:(tcp://B)", network_ttl=0)), mq.Broker("B"))
    >>> [problem.rule for problem in check(net)]
    ['ttl-zero']
    """
    scenario = what if isinstance(what, Scenario) else Scenario(what, ())
    subject = CheckContext(
        scenario.network,
        tuple(a for a in scenario.actions if isinstance(a, Consumer)),
        isinstance(what, Scenario),
    )
    found = [problem for rule in RULES for problem in rule(subject)]
    return sorted(found, key=lambda problem: problem.level != "error")


def _ttl_zero(subject: CheckContext) -> Iterator[Problem]:
    for _, connector, where in subject.links():
        for option in ("message_ttl", "consumer_ttl"):
            if subject.get(connector, option) == 0:
                yield Problem(
                    "ttl-zero", "error", where,
                    f"{OPTIONS['networkConnector'][option].guide} is 0: "
                    + ("nothing is ever forwarded" if option == "message_ttl" else
                       "only consumers of the next broker itself are heard of"),
                    "write the greatest distance to a consumer, at least 1",
                    "Fuse 2, Time-to-live",
                )  # fmt: skip
                break


def _passes_topics(subject: CheckContext, connector: NetworkConnector) -> bool:
    included = connector.dynamically_included_destinations
    excluded = {Destination.parse(text) for text in connector.excluded_destinations}
    if Destination("topic", ">") in excluded:
        return False
    return not included or any(text.startswith("topic://") for text in included)


def _conduit_off_with_topics(subject: CheckContext) -> Iterator[Problem]:
    for _, connector, where in subject.links():
        if not subject.get(connector, "conduit_subscriptions") and _passes_topics(
            subject, connector
        ):
            yield Problem(
                "conduit-off-topics", "error", where,
                "with conduitSubscriptions off every topic subscriber beyond gets each message as "
                "many times as there are subscribers",
                "use one connector for queues (off) and one for topics (on), with included "
                "destinations queue://> and topic://>",
                "Fuse 2, Example 2.5",
            )  # fmt: skip


def _cycles(network: Network) -> bool:
    """Whether two ways lead from one broker to another; of those that share a store only one serves."""
    onward = neighbours(network)
    sets = {b.name: b.options.get("shared_store") or b.name for b in network.brokers}
    edges = {
        frozenset((sets[a], sets[b]))
        for a, there in onward.items()
        for b in there
        if sets[a] != sets[b]
    }
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


def _topic_cycles(subject: CheckContext) -> Iterator[Problem]:
    long = [
        where for _, c, where in subject.links()
        if subject.get(c, "consumer_ttl") not in (0, 1) and _passes_topics(subject, c)
    ]  # fmt: skip
    if long and _cycles(subject.network):
        yield Problem(
            "topic-cycle", "warning", ", ".join(long[:4]) + (", ..." if len(long) > 4 else ""),
            "there are cycles, and advisories of topic subscribers may go round them: subscribers on "
            "several brokers of a cycle get messages more than once",
            "set consumerTTL to 1 for topics in a full mesh, or take a connector out of the cycle",
            "recorded: topic_triangle, topic_complete_graph4_ttl3",
        )  # fmt: skip


def _selector_under_conduit(subject: CheckContext) -> Iterator[Problem]:
    for broker, connector, where in subject.links():
        if not subject.get(connector, "conduit_subscriptions"):
            continue
        for consumer in subject.consumers:
            there = consumer.on in connector.targets or (
                subject.get(connector, "duplex") and consumer.on == broker.name
            )
            if consumer.selector and consumer.reads.is_queue and there:
                yield Problem(
                    "selector-conduit", "error", where,
                    f"conduit subscriptions drop the selector of consumer {consumer.name}: messages "
                    "that it does not want cross and are stuck there",
                    "set conduitSubscriptions to false for this queue",
                    "Fuse 2, Figure 2.17",
                )  # fmt: skip


def _suppress_without_decrease(subject: CheckContext) -> Iterator[Problem]:
    for _, connector, where in subject.links():
        if subject.get(connector, "suppress_duplicate_queue_subscriptions") and not subject.get(
            connector, "decrease_network_consumer_priority"
        ):
            yield Problem(
                "suppress-alone", "warning", where,
                "of several routes the one that is heard of first is kept, which may be the long "
                "one",
                "set decreaseNetworkConsumerPriority to true as well",
                "Fuse 2, Finding the shortest route",
            )  # fmt: skip


def _static_without_consumer(subject: CheckContext) -> Iterator[Problem]:
    if not subject.known:
        return
    for _, connector, where in subject.links():
        for text in connector.statically_included_destinations:
            static = Destination.parse(text)
            taken = any(overlapping(static, consumer.reads) for consumer in subject.consumers)
            onward = any(
                text in other.statically_included_destinations
                for b, other, _ in subject.links() if b.name in connector.targets
            )  # fmt: skip
            if static.is_queue and not taken and not onward:
                yield Problem(
                    "static-no-consumer", "warning", where,
                    f"{text} is forwarded without being asked for, and nobody reads it: messages "
                    "pile up at the far end",
                    "add a consumer, or leave the destination to dynamic propagation",
                    "Fuse 2, Static propagation",
                )  # fmt: skip


def _advisories_off(subject: CheckContext) -> Iterator[Problem]:
    for _, connector, where in subject.links():
        for target in (name for name in connector.targets if name in subject.network.names):
            off = not subject.get(subject.network.broker(target), "advisory_support")
            if off and not subject.get(connector, "static_bridge"):
                yield Problem(
                    "advisory-off", "error", where,
                    f"broker {target} sends no advisories: nothing is ever forwarded on demand",
                    f"set advisorySupport to true at {target}, or list static destinations and "
                    "set staticBridge",
                    "Fuse 2, Dynamic propagation",
                )  # fmt: skip


def _excluded_and_wildcard(subject: CheckContext) -> Iterator[Problem]:
    for _, connector, where in subject.links():
        for text in connector.excluded_destinations:
            excluded = Destination.parse(text)
            for consumer in subject.consumers:
                wild = consumer.reads.has_wildcard and consumer.reads.is_queue
                if (
                    wild
                    and consumer.on in connector.targets
                    and overlapping(excluded, consumer.reads)
                ):
                    yield Problem(
                        "excluded-wildcard", "error", where,
                        f"the bridge takes its share of {text} for the wildcard consumer "
                        f"{consumer.name}, may not forward it and holds it for ever",
                        "let the consumer name its queues, or set staticBridge",
                        "recorded: wildcard_queue_consumer_behind_exclude",
                    )  # fmt: skip


def _odd_wildcard(subject: CheckContext) -> Iterator[Problem]:
    places = [(f"consumer {c.name}", str(c.reads)) for c in subject.consumers]
    for _, connector, where in subject.links():
        for option in ("statically", "dynamically"):
            lists = connector.get(f"{option}_included_destinations")
            places += [(where, text) for text in lists]
        places += [(where, text) for text in connector.excluded_destinations]
    for where, text in places:
        segments = Destination.parse(text.partition("?")[0]).segments
        if ">" in segments[:-1]:
            yield Problem(
                "wildcard-inside", "warning", where,
                f"{text}: '>' in the middle of a name is no wildcard but a plain segment",
                "put '>' last, or use '*' for one segment",
                "Fuse 2, Wildcards",
            )  # fmt: skip


def _same_name(subject: CheckContext) -> Iterator[Problem]:
    called: dict[tuple[str, str], list[tuple[NetworkConnector, str]]] = {}
    for broker, connector, where in subject.links():
        name = subject.get(connector, "configured_name") or connector.name
        called.setdefault((broker.name, str(name)), []).append((connector, where))
    for (_, name), same in called.items():
        for (a, where), (b, _) in combinations(same, 2):
            both = set(a.targets) & set(b.targets)
            if both:
                yield Problem(
                    "same-name", "error", where,
                    f"two connectors to {', '.join(sorted(both))} are called {name!r}: the second "
                    "bridge is refused and tried again for ever",
                    "give each connector a name of its own",
                    "Fuse 2, Figure 2.4",
                )  # fmt: skip


def _zero_prefetch(subject: CheckContext) -> Iterator[Problem]:
    for _, connector, where in subject.links():
        if subject.get(connector, "prefetch_size") == 0:
            yield Problem(
                "prefetch-zero", "error", where,
                "prefetchSize is 0: a bridge cannot pull, so nothing crosses; editions after 5.5 "
                "refuse it",
                "write 1 or more", "article, table of networkConnector options",
            )  # fmt: skip


def _loopback(subject: CheckContext) -> Iterator[Problem]:
    for broker, connector, where in subject.links():
        if broker.name in connector.targets:
            yield Problem(
                "loopback", "warning", where,
                "a connector to its own broker is dropped as soon as it is up",
                "take it out", "ActiveMQ rule 26.2",
            )  # fmt: skip


def _not_in_edition(subject: CheckContext) -> Iterator[Problem]:
    edition = EDITIONS.index(subject.network.edition)
    for _, connector, where in subject.links():
        for option in connector.options:
            row = OPTIONS["networkConnector"][option]
            if EDITIONS.index(row.since) > edition:
                yield Problem(
                    "later-option", "warning", where,
                    f"{row.guide} does not exist in edition {subject.network.edition}",
                    f"take it out, or use edition {row.since}", row.source,
                )  # fmt: skip


RULES: tuple[Rule, ...] = (
    _ttl_zero, _conduit_off_with_topics, _topic_cycles, _selector_under_conduit,
    _suppress_without_decrease, _static_without_consumer, _advisories_off,
    _excluded_and_wildcard, _odd_wildcard, _same_name, _zero_prefetch, _loopback, _not_in_edition,
)  # fmt: skip
