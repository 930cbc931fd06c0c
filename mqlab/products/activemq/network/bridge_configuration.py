"""What an edition and a connector's options come to, ready to be asked for every message."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from mqlab.errors import BadValue
from mqlab.spec import NetworkConnector
from mqlab.spec.edition import ActiveMQRules
from mqlab.spec.values import CONSUMER_ADVISORIES, Destination, matches

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.subscription import Subscription


class NetworkBridgeConfiguration:
    """The options of one connector under one edition; attributes are the options' names."""

    def __init__(self, connector: NetworkConnector, edition: str, rules: ActiveMQRules) -> None:
        get = partial(connector.get, edition=edition)
        self.rules = rules
        # How many brokers a TTL lets through; -1 is no limit where the edition knows of it.
        unlimited = sys.maxsize if rules.minus_one_is_no_limit else -1
        ttls = (get("message_ttl"), get("consumer_ttl"))
        self.message_ttl, self.consumer_ttl = (unlimited if ttl == -1 else ttl for ttl in ttls)
        self.user_name, self.password = get("user_name"), get("password")
        self.duplex = bool(get("duplex"))
        self.conduit_subscriptions = bool(get("conduit_subscriptions"))
        self.decrease_network_consumer_priority = bool(get("decrease_network_consumer_priority"))
        self.consumer_priority_base = int(get("consumer_priority_base"))
        self.suppress_duplicate_queue_subscriptions = bool(get("suppress_duplicate_queue_subscriptions"))
        self.suppress_duplicate_topic_subscriptions = bool(get("suppress_duplicate_topic_subscriptions"))
        self.static_bridge = bool(get("static_bridge"))
        self.dynamic_only = bool(get("dynamic_only"))
        self.prefetch_size = int(get("prefetch_size"))
        if self.prefetch_size == 0 and not rules.zero_prefetch_is_silence:
            raise BadValue(
                f"networkConnector {connector.name!r}: prefetchSize: 0 is refused since 5.6; expected 1 or more"
            )
        self.advisory_prefetch_size = int(get("advisory_prefetch_size")) or self.prefetch_size
        self.always_sync_send = bool(get("always_sync_send"))
        self.sync_durable_subs = bool(get("sync_durable_subs"))
        self.use_virtual_dest_subs = bool(get("use_virtual_dest_subs"))
        self.bridge_temp_destinations = bool(get("bridge_temp_destinations"))
        self.statically_included_destinations = get("statically_included_destinations")
        included = [t.partition("?") for t in get("dynamically_included_destinations")]
        self.dynamically_included_destinations = [Destination.parse(name) for name, _, _ in included]
        forced = [name for name, _, options in included if options.lower() == "forcedurable=true"]
        # Topics whose demand is made durable, whatever the consumer is.
        self.durable_forced = [dest for dest in map(Destination.parse, forced) if not dest.is_queue]
        self.excluded_destinations = [Destination.parse(t) for t in get("excluded_destinations")]
        # In 5.5 only the other end of a duplex connector looks, and never answers for what it may not take
        # (`DemandForwardingBridgeSupport.serviceRemoteCommand` of 5.5.1).
        self.tests_messages = (rules.tests_messages or self.duplex) and bool(
            self.dynamically_included_destinations or self.excluded_destinations
        )
        self.tests_statics = rules.tests_statics
        self.merges_network_queues = rules.merges_network_queues or bool(
            get("conduit_network_queue_subscriptions")
        )
        text = get("destination_filter")
        self._heard = heard(text) if text else None
        static = self.statically_included_destinations if rules.tests_statics else []  # 5.5 does not look there
        self._static = [Destination.parse(text) for text in static]
        self._permitted: dict[Destination, bool] = {}

    def syncs(self, sub: Subscription) -> bool:
        """Whether a durable subscription that nobody uses is made known when the bridge starts.

        Only what dynamicallyIncludedDestinations name is (ActiveMQ rule 18.3).
        """
        return (
            self.sync_durable_subs
            and sub.durable is not None
            and self.among(self.dynamically_included_destinations, sub.dest)
        )

    def hears(self, dest: Destination) -> bool:
        """Whether the bridge listens to advisories about consumers of *dest*."""
        name = f"{'Queue' if dest.is_queue else 'Topic'}.{dest.name}"
        return self._heard is None or any(matches(pattern, name) for pattern in self._heard)

    def permits(self, dest: Destination) -> bool:
        """Whether the lists let *dest* pass: excluded, then static, then included."""
        found = self._permitted.get(dest)
        if found is None:
            if dest.is_temporary:
                found = self.bridge_temp_destinations
            else:
                included = self.dynamically_included_destinations
                listed = not included or self.among(self._static, dest) or self.among(included, dest)
                found = listed and not self.among(self.excluded_destinations, dest)
            self._permitted[dest] = found
        return found

    def among(self, patterns: list[Destination], dest: Destination) -> bool:
        """Whether one of a list's patterns stands for *dest*."""
        parent = self.rules.parent_matches
        return any(p.kind == dest.kind and matches(p.name, dest.name, parent) for p in patterns)


def heard(text: str) -> list[str]:
    """Return the patterns of a destination filter; only its first element may lack the prefix."""
    first, *others = text.split(",")
    return [first.removeprefix(CONSUMER_ADVISORIES)] + [
        text.strip().removeprefix(CONSUMER_ADVISORIES)
        for text in others
        if text.strip().startswith(CONSUMER_ADVISORIES)
    ]
