"""The options of the connection factory in a client's address: those that begin with ``jms.``.

One that the factory does not have, or whose value it cannot read, stays in the address and is then
an unknown option of the transport (played with 5.17.2).
"""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.products.activemq.client import query
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.values import Destination

_POLICY = "prefetchPolicy."
_AGAIN = "redeliveryPolicy."
FACTORY: Mapping[str, object] = {
    **dict.fromkeys(("copyMessageOnSend", "disableTimeStampsByDefault", "optimizedMessageDispatch",
                     "useAsyncSend", "watchTopicAdvisories", "alwaysSyncSend", "useRetroactiveConsumer",
                     "exclusiveConsumer", "sendAcksAsync", "messagePrioritySupported", "useCompression",
                     "objectMessageSerializationDefered", "dispatchAsync", "alwaysSessionAsync",
                     "optimizeAcknowledge", "nestedMapAndListEnabled", "statsEnabled",
                     "useDedicatedTaskRunner", "checkForDuplicates", "transactedIndividualAck",
                     "nonBlockingRedelivery", "rmIdFromConnectionId", "consumerExpiryCheckEnabled",
                     "trustAllPackages", f"{_AGAIN}useCollisionAvoidance",
                     f"{_AGAIN}useExponentialBackOff", f"{_AGAIN}preDispatchCheck"), False),
    **dict.fromkeys(("sendTimeout", "closeTimeout", "optimizeAcknowledgeTimeOut", "producerWindowSize",
                     "warnAboutUnstartedConnectionTimeout", "auditDepth", "auditMaximumProducerNumber",
                     "consumerFailoverRedeliveryWaitPeriod", "maxThreadPoolSize",
                     "optimizedAckScheduledAckInterval", "connectResponseTimeout",
                     f"{_POLICY}durableTopicPrefetch", f"{_POLICY}queuePrefetch",
                     f"{_POLICY}queueBrowserPrefetch", f"{_POLICY}topicPrefetch",
                     f"{_POLICY}optimizeDurableTopicPrefetch", f"{_POLICY}maximumPendingMessageLimit",
                     f"{_POLICY}all", f"{_AGAIN}collisionAvoidancePercent",
                     f"{_AGAIN}initialRedeliveryDelay", f"{_AGAIN}maximumRedeliveryDelay",
                     f"{_AGAIN}maximumRedeliveries", f"{_AGAIN}redeliveryDelay"), 0),
    "blobTransferPolicy.bufferSize": 0, f"{_AGAIN}backOffMultiplier": 0.0,
    **dict.fromkeys(("blobTransferPolicy.uploadUrl", "blobTransferPolicy.brokerUploadUrl",
                     "blobTransferPolicy.defaultUploadUrl", "clientID", "clientIDPrefix", "connectionIDPrefix",
                     "userName", "password", "brokerURL"), ""),
}  # fmt: skip


def knows(key: str, value: str) -> bool:
    """Whether an option of an address is one that the factory takes for itself."""
    name = key.removeprefix("jms.")
    return name != key and name in FACTORY and query.value_of(value, FACTORY[name]) is not None


def options(uri: str) -> dict[str, str]:
    """Return what a client's address says about the connection itself."""
    return query.prefixed(query.options(uri[uri.rfind(")") + 1 :].partition("?")[2]), "jms.")


def without(address: str) -> str:
    """Return *address* without the options that the factory takes for itself."""
    place, _, given = address.partition("?")
    kept = [f"{key}={value}" for key, value in query.options(given).items() if not knows(key, value)]
    return f"{place}?{'&'.join(kept)}" if kept else place


def prefetch(given: Mapping[str, str], dest: Destination, durable: bool) -> int | None:
    """Return the prefetch that these options ask for, for consumers of a kind; None if they do not."""
    kind = "queue" if dest.is_queue else "durableTopic" if durable else "topic"
    for name in (f"{_POLICY}{kind}Prefetch", f"{_POLICY}all"):
        if given.get(name, "").isdecimal():
            return int(given[name])
    return None


def redelivery(given: Mapping[str, str]) -> Redelivery:
    """Return the redelivery policy that these options make (`RedeliveryPolicy` of 5.17.2)."""
    own, usual = query.prefixed(given, _AGAIN), Redelivery()
    multiplier = query.value_of(own.get("backOffMultiplier", ""), usual.multiplier)
    return Redelivery(
        maximum=max(-1, query.number(own, "maximumRedeliveries", usual.maximum)),
        initial_delay=max(0, query.number(own, "initialRedeliveryDelay", usual.initial_delay)),
        delay=max(0, query.number(own, "redeliveryDelay", usual.delay)),
        exponential=query.flag(own, "useExponentialBackOff", usual.exponential),
        multiplier=max(1.0, multiplier) if isinstance(multiplier, float) else usual.multiplier,
        maximum_delay=max(-1, query.number(own, "maximumRedeliveryDelay", usual.maximum_delay)),
    )
