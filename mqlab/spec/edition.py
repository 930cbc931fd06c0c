"""Editions of ActiveMQ: in what they differ besides the defaults of options.

An edition stands for the releases that were recorded: 5.5.1, 5.17.2, 5.18.7 and 6.1.8
(ActiveMQ rules 4 to 6).
"""

from __future__ import annotations

from dataclasses import dataclass, field


def _rule(default: bool, sentence: str, option: str = "") -> bool:
    """Return a switch: what *sentence* says holds in the editions where it is True.

    *option* of a network connector, set to true, does the same.
    """
    return field(default=default, metadata={"sentence": sentence, "option": option})


@dataclass(frozen=True, slots=True)
class EditionRules:
    """In what one edition differs from another besides the defaults of options.

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
    redelivered_travels: bool = _rule(False, "the redelivered flag crosses a bridge")
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


RULES = {
    "5.5": EditionRules(parent_matches=False, tests_messages=False, tests_statics=False,
                        merges_network_queues=True, minus_one_is_no_limit=False,
                        bare_statics=True, marks_all_returned=True, counts_forwarded=False,
                        audits_queues=False, forgets_network_durables=False,
                        missing_differs=True, client_sorts=True,
                        counts_all_topic_acks=False, redelivered_travels=True,
                        hides_duplicates=True, zero_prefetch_is_silence=True,
                        zero_attempts_is_forever=True, counts_durable_doubles=True,
                        remembers_topics=False, look_pages_in=False, pulls_topics=False,
                        spares_group_owners=False),
    "5.17": EditionRules(),
    "5.18": EditionRules(splits_composites=True),
    "6.1": EditionRules(splits_composites=True),
}  # fmt: skip
