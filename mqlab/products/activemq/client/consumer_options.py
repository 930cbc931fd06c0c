"""What the address of a connection says of the consumers on it (``jms.`` options)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqlab.products.activemq.client import jms, query
from mqlab.products.activemq.client.query import flag

if TYPE_CHECKING:
    from mqlab.products.activemq.client.addressed_consumer import AddressedConsumer

OPTIMIZED = 0.65  # of the prefetch: so many are acknowledged together with optimizeAcknowledge
ONE_BY_ONE = "transactedIndividualAck", "nonBlockingRedelivery", "messagePrioritySupported"
PATIENCE = 300  # ms: optimizeAcknowledgeTimeOut (`ActiveMQConnectionFactory` of 5.17.2)


def take(consumer: AddressedConsumer, own: Mapping[str, str], durable: bool) -> None:
    """Let a new consumer go by the options of its connection's address."""
    spec, asked, transacted = consumer.spec, consumer.client.prefetch, consumer.session.transacted
    asked = jms.prefetch(own, consumer.dest, durable) if asked is None else asked
    consumer.wanted_prefetch = asked if spec.prefetch is None else spec.prefetch
    consumer.patience = consumer.interval = 0
    if flag(own, "optimizeAcknowledge", False) and spec.ack_mode == "auto" and consumer.at_once:
        consumer.at_once, consumer.puts_off, consumer.share = False, True, OPTIMIZED
        consumer.patience = 1000 * query.number(own, "optimizeAcknowledgeTimeOut", PATIENCE)
        consumer.interval = 1000 * query.number(own, "optimizedAckScheduledAckInterval", 0)
    # One by one, as they are taken (`immediateIndividualTransactedAck` of 5.17.2).
    consumer.acknowledges_alone = any(flag(own, name, False) for name in ONE_BY_ONE) and transacted
    checks = transacted and consumer.lab.edition != "5.5"
    consumer.counts_before = checks and flag(own, "redeliveryPolicy.preDispatchCheck", True)
    consumer.set_prefetch(consumer.wanted_prefetch)
    consumer.looks_twice = flag(own, "checkForDuplicates", True)
    consumer.sorts |= flag(own, "messagePrioritySupported", False)
    consumer.checks_expiry = flag(own, "consumerExpiryCheckEnabled", True)
    consumer.holds_back = not flag(own, "nonBlockingRedelivery", False)
    consumer.exclusive |= flag(own, "exclusiveConsumer", False)
