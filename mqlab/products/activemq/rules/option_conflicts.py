"""Options of a connector or a policy that have no effect, or a bad one, together.

Sources: ActiveMQ rule 26.1; the article's section on stuck messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mqlab.spec import Broker, Network, NetworkConnector
from mqlab.spec.problem import Problem
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import Destination

_TABLE = "ActiveMQ rule 26.1"
Get = Callable[[str], object]


def check(network: Network) -> Iterator[Problem]:
    """Yield the problems of options that stand beside one another.

    >>> import mqlab as mq
    >>> connector = mq.NetworkConnector("ab", uri="static:(tcp://B:1)", sync_durable_subs=True,
    ...                                 dynamic_only=True)
    >>> [problem.rule for problem in check(mq.Network(mq.Broker("A", connector), mq.Broker("B")))]
    ['no-effect']
    """
    for broker, connector in network.connectors():
        yield from _connector(network, broker, connector)
    for broker in network.brokers:
        yield from _policies(network, broker)
        yield from _transport(network, broker)


def _connector(network: Network, broker: Broker, connector: NetworkConnector) -> Iterator[Problem]:
    where = f"{broker.name}/{connector.name}"

    def get(name: str) -> object:
        return connector.get(name, network.edition)

    for rule, idle, why, remedy in NO_EFFECT:
        if idle in connector.options and connector.options[idle] not in ((), False) and rule(get):
            guide = OPTIONS["networkConnector"][idle].guide
            yield Problem(
                "no-effect", "warning", where, f"{guide} has no effect: {why}", remedy, _TABLE
            )
    both = {"network_ttl", "message_ttl", "consumer_ttl"} & set(connector.options)
    if "network_ttl" in both and len(both) > 1:
        yield Problem(
            "ttl-twice", "warning", where,
            "networkTTL sets messageTTL and consumerTTL, which stand here too: which holds hangs on the "
            "order in which the attributes are read", "write messageTTL and consumerTTL, without networkTTL",
            _TABLE,
        )  # fmt: skip
    excluded = [Destination.parse(text) for text in connector.excluded_destinations]
    for text in connector.statically_included_destinations:
        static = Destination.parse(text)
        if network.edition != "5.5" and any(one.takes(static) for one in excluded):
            yield Problem(
                "excluded-static", "error", where,
                f"{text} is forwarded statically and excluded: excluded wins, and nothing of it crosses",
                "take it out of one of the two lists", "ActiveMQ rule 26.4",
            )  # fmt: skip
        if network.edition == "5.5" and static.has_wildcard:
            yield Problem(
                "static-wildcard", "warning", where,
                f"{text}: the guide of 5.5 allows no wildcards among static destinations",
                "name each destination", "Fuse 2, Static propagation",
            )  # fmt: skip
    for text in connector.dynamically_included_destinations:
        included = Destination.parse(text)
        if any(one.takes(included) for one in excluded):
            yield Problem(
                "excluded-included", "error", where,
                f"{text} is included and excluded: excluded wins, and nothing of it crosses",
                "take it out of one of the two lists", "Fuse 2, Example 2.4",
            )  # fmt: skip


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


# The condition, the option that is idle then, why, what to write.
NO_EFFECT: tuple[tuple[Callable[[Get], bool], str, str, str], ...] = (
    (_static_bridge, "dynamically_included_destinations", "a static bridge listens to no advisories",
     "take staticBridge out, or list them as statically included"),
    (_static_bridge, "destination_filter", "a static bridge listens to no advisories",
     "take one of the two out"),
    (_only_static, "static_bridge", "it has no static destinations, so nothing crosses at all",
     "list statically included destinations"),
    (_no_conduit, "conduit_network_queue_subscriptions", "conduitSubscriptions is false",
     "set conduitSubscriptions to true"),
    (_no_decrease, "consumer_priority_base", "decreaseNetworkConsumerPriority is false",
     "set decreaseNetworkConsumerPriority to true"),
    (_cannot_sync, "sync_durable_subs", "it needs conduitSubscriptions true and dynamicOnly false",
     "set those two so"),
)  # fmt: skip


def _policies(network: Network, broker: Broker) -> Iterator[Problem]:
    for policy in broker.policies:
        pattern = policy.get("queue") or policy.get("topic")
        where = f"broker {broker.name}"
        replays = policy.get("replay_when_no_consumers", False)
        idle = [n for n in ("replay_delay_ms", "replay_rate_limit", "replay_rate_duration_ms",
                            "replay_selector_aware") if policy.get(n)]  # fmt: skip
        if idle and not replays:
            guide = OPTIONS["policyEntry"][idle[0]].guide
            yield Problem(
                "replay-off", "warning", where,
                f"policy {pattern}: {guide} has no effect: replayWhenNoConsumers is false",
                "set replayWhenNoConsumers to true", "article, Stuck messages",
            )  # fmt: skip


def _transport(network: Network, broker: Broker) -> Iterator[Problem]:
    def get(name: str) -> object:
        return broker.transport.get(name, network.edition)

    told = ("update_cluster_clients_on_remove", "update_cluster_filter")
    idle = [name for name in told if get(name)]
    if idle and not (get("update_cluster_clients") or get("rebalance_cluster_clients")):
        guide = OPTIONS["transportConnector"][idle[0]].guide
        yield Problem(
            "update-off", "warning", f"broker {broker.name}",
            f"{guide} has no effect: updateClusterClients is false",
            "set updateClusterClients to true", "Fuse 1, Table 1.1",
        )  # fmt: skip
