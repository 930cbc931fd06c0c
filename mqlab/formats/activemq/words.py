"""How the options of the rows are written in `activemq.xml`: namespaces, elements, the words for choices.

Source: the schema of ActiveMQ 5.17 (`schema`); Fuse 2, Examples 2.1 to 2.5; Fuse 4, Tables 4.2 to 4.4.
"""

from __future__ import annotations

from mqlab.formats.activemq.schema import ATTRIBUTES
from mqlab.spec.rows import OPTIONS

CORE = "http://activemq.apache.org/schema/core"
CORES = (CORE, "http://activemq.org/config/1.0")
BEANS = "http://www.springframework.org/schema/beans"
NOTE = "mqlab"  # the processing instruction for what ActiveMQ has no place for

DESTINATION_LISTS = (
    "staticallyIncludedDestinations", "dynamicallyIncludedDestinations", "excludedDestinations",
)  # fmt: skip
QUEUES = {"queue": "queue", "topic": "topic", "tempQueue": "temp-queue", "tempTopic": "temp-topic"}


def _plain(element: str, *more: str) -> dict[str, str]:
    """Return Python name -> attribute, of the options that are attributes of an element."""
    known = ATTRIBUTES[element] | set(more)
    return {n: row.guide for n, row in OPTIONS[element].items() if row.guide in known}


# Python name -> attribute, of each element.
BROKER = {
    **{n: a for n, a in _plain("broker").items() if a not in ("ioExceptionHandler", "brokerName")},
    "pure_slave_of": "masterConnectorURI",
}
CONNECTOR = {
    name: attribute
    for name, attribute in _plain("networkConnector", "autoStart").items()
    if name != "configured_name"
}
TRANSPORT = _plain("transportConnector")
AUDIT = "auditNetworkProducers"  # of a broker in the rows, of a transport connector in its files
POLICY = {
    name: attribute
    for name, attribute in _plain("policyEntry", "advisoryForDispatched").items()
    if attribute not in ("dispatchPolicy", "deadLetterStrategy")
}
REPLAY = {
    name: row.guide
    for name, row in OPTIONS["policyEntry"].items()
    if row.guide in ATTRIBUTES["conditionalNetworkBridgeFilterFactory"]
}
DISPATCH = {
    "simple": "simpleDispatchPolicy", "round_robin": "roundRobinDispatchPolicy",
    "strict_order": "strictOrderDispatchPolicy", "priority": "priorityDispatchPolicy",
    "priority_network": "priorityNetworkDispatchPolicy",
}  # fmt: skip
DEAD_LETTERS = {"shared": "sharedDeadLetterStrategy", "individual": "individualDeadLetterStrategy",
                "discarding": "discarding"}  # fmt: skip
DEAD_LETTER = {
    "process_expired": "processExpired",
    "process_non_persistent": "processNonPersistent",
}
LOCKERS = {"file": "shared-file-locker", "database": "database-locker",
           "lease": "lease-database-locker"}  # fmt: skip
# Of the persistence adapter, and of the locker in it.
ADAPTER = {"lock_keep_alive_period_ms": "lockKeepAlivePeriod", "use_lock": "useLock",
           "stop_on_error": "stopOnError"}  # fmt: skip
LOCKER = {
    "lock_acquire_sleep_interval_ms": "lockAcquireSleepInterval", "fail_if_locked": "failIfLocked",
    "lease_holder_id": "leaseHolderId",
    "max_allowable_diff_from_db_time_ms": "maxAllowableDiffFromDBTime",
    "database_lock_timeout_ms": "queryTimeout",
}  # fmt: skip
FILE_STORES = ("kahaDB", "amqPersistenceAdapter", "mKahaDB", "levelDB", "replicatedLevelDB",
               "kahaPersistenceAdapter", "journalPersistenceAdapter",
               "journaledJDBC")  # fmt: skip
