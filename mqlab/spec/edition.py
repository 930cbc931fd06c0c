"""Editions of the products: in what they differ besides the defaults of options.

An edition stands for the releases that were recorded: 5.5.1, 5.17.2, 5.18.7 and 6.1.8 of ActiveMQ
(ActiveMQ rules 4 to 6), 5.1 and 6.5.0 of OpenMQ, 2.4.0 and 2.5.0 of Artemis.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Self


@dataclass(frozen=True, slots=True)
class EditionRules:
    """Switches, each with its sentence: what it says holds in the editions where the switch is True."""

    def inverted(self, names: Collection[str]) -> Self:
        """Return the rules with those of these *names* the other way round."""
        return replace(self, **{name: not getattr(self, name) for name in names})


def _rule(default: bool, sentence: str, option: str = "") -> bool:
    """Return a switch: what *sentence* says holds in the editions where it is True.

    *option* of a network connector, set to true, does the same.
    """
    return field(default=default, metadata={"sentence": sentence, "option": option})


@dataclass(frozen=True, slots=True)
class ActiveMQRules(EditionRules):
    """In what one edition of ActiveMQ differs from another besides the defaults of options.

    (ActiveMQ rules 4 to 6; the defaults are those of 5.17)
    """

    parent_matches: bool = _rule(True, "the pattern A.> also matches A itself")
    tests_messages: bool = _rule(True, "the connector's destination filters are also applied to each message")
    tests_statics: bool = _rule(True, "an excluded destination is not forwarded even if static")
    merges_network_queues: bool = _rule(
        False,
        "conduit also merges queue consumers of farther brokers into one subscription",
        option="conduit_network_queue_subscriptions",
    )
    minus_one_is_no_limit: bool = _rule(True, "a TTL of -1 means unlimited")
    bare_statics: bool = _rule(False, "a static subscription has the base priority -5 and no path, near or far")
    marks_all_returned: bool = _rule(
        False, "messages returned by a consumer count as redelivered even if it never received them"
    )
    counts_forwarded: bool = _rule(True, "broker statistics include messages dispatched to bridges")
    audits_queues: bool = _rule(True, "a queue drops duplicates of messages it holds")
    hides_duplicates: bool = _rule(False, "a queue counts duplicates that are never delivered")
    forgets_network_durables: bool = _rule(
        True, "a durable subscription removed beyond the connector is removed on this side, too"
    )
    counts_durable_doubles: bool = _rule(False, "a durable subscription counts duplicates as pending forever")
    missing_differs: bool = _rule(False, "a missing property satisfies <> for any value")
    splits_composites: bool = _rule(
        False, "a remote consumer of a composite destination creates one subscription per element"
    )
    counts_all_topic_acks: bool = _rule(True, "topics count what durable and wildcard subscribers acknowledge")
    zero_prefetch_is_silence: bool = _rule(
        False, "a connector's prefetchSize of 0 is accepted, but nothing is forwarded"
    )
    zero_attempts_is_forever: bool = _rule(
        False, "for failover clients maxReconnectAttempts=0 means retry forever"
    )
    pulls_topics: bool = _rule(True, "a topic subscriber with prefetch 0 can pull messages")
    spares_group_owners: bool = _rule(
        True, "among equal consumers, the one owning fewer message groups comes first"
    )
    look_pages_in: bool = _rule(True, "browsing a queue pages in its messages, as a consumer does")
    remembers_topics: bool = _rule(
        True, "a persistent store remembers every topic, not only those with durable subscriptions"
    )
    client_sorts: bool = _rule(False, "a client consumes its prefetched messages by JMS priority")


ACTIVEMQ = {
    "5.5": ActiveMQRules(parent_matches=False, tests_messages=False, tests_statics=False,
                        merges_network_queues=True, minus_one_is_no_limit=False,
                        bare_statics=True, marks_all_returned=True, counts_forwarded=False,
                        audits_queues=False, forgets_network_durables=False,
                        missing_differs=True, client_sorts=True,
                        counts_all_topic_acks=False,
                        hides_duplicates=True, zero_prefetch_is_silence=True,
                        zero_attempts_is_forever=True, counts_durable_doubles=True,
                        remembers_topics=False, look_pages_in=False, pulls_topics=False,
                        spares_group_owners=False),
    "5.17": ActiveMQRules(),
    "5.18": ActiveMQRules(splits_composites=True),
    "6.1": ActiveMQRules(splits_composites=True),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OpenMQRules(EditionRules):
    """In what OpenMQ 5.1 differs from 6.5 (OpenMQ rules 8.5 and 12.1)."""

    keeps_stuck: bool = _rule(
        True, "what a client holds when a home is lost is stuck with it until it closes, instead of going back"
    )
    lists_rolled_back: bool = _rule(
        True, "copies stay listed at the broker of a consumer whose transaction was rolled back as it left"
    )
    stops_at_returned: bool = _rule(
        True, "a broker that gave a message back to its home no longer hands it to consumers of its own"
    )


OPENMQ = {
    "5.1": OpenMQRules(keeps_stuck=False, lists_rolled_back=False, stops_at_returned=False),
    "6.5": OpenMQRules(),
}


@dataclass(frozen=True, slots=True)
class ArtemisRules(EditionRules):
    """In what the editions of Artemis differ (Artemis rules 1.1 and 9.21)."""

    forgets_crashed: bool = _rule(
        True, "voters drop a crashed broker from their topology, and a vote that says no is tried again"
    )
    asks_for_queue: bool = _rule(
        True, "a producer has the queue created where only the address of that name is there"
    )
    scales_down_to_connector: bool = _rule(  # ARTEMIS-4091, `LiveOnlyActivation`; played by 2.31.2
        False, "the connector of a scale-down is its target, not only the way into the cluster"
    )
    has_large_pages: bool = _rule(False, "a page may be as large as all that its address may hold in memory")


ARTEMIS = {
    "2.4": ArtemisRules(forgets_crashed=False, asks_for_queue=False),
    "2.5": ArtemisRules(),
    "2.28": ArtemisRules(scales_down_to_connector=True, has_large_pages=True),
}
