"""How the options of the rows are written in `activemq.xml`: namespaces, elements, the words for choices.

Source: the schema of ActiveMQ 5.17 (`schema`); Fuse 2, Examples 2.1 to 2.5; ActiveMQ, pluggable storage
lockers.
"""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.products.activemq.files.schema import LATER, SCHEMA
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import as_text

BEANS = "http://www.springframework.org/schema/beans"
NOTE = "mqlab"  # the processing instruction for what ActiveMQ has no place for

QUEUES = {"queue": "queue", "topic": "topic", "tempQueue": "temp-queue", "tempTopic": "temp-topic"}


def _attributes(element: str) -> dict[str, str]:
    """Return Python name -> attribute, of the options that are attributes of their own element."""
    schema = SCHEMA.row(element)
    known = {*(schema.attributes if schema is not None else ()), *LATER.get(element, ())}
    rows = OPTIONS[element].values()
    return {row.name: row.guide for row in rows if row.xml is None and row.guide in known}


def _below(element: str, child: str) -> dict[str, str]:
    """Return Python name -> attribute, of the options that stand in a child of their element."""
    places = {name: (row.xml or "").partition("/") for name, row in OPTIONS[element].items()}
    return {name: attribute for name, (at, _, attribute) in places.items() if at == child}


# Python name -> attribute, of each element.
BROKER = _attributes("broker")
CONNECTOR = _attributes("networkConnector")
TRANSPORT = _attributes("transportConnector")
POLICY = _attributes("policyEntry")
(AUDIT,) = _below("broker", "transportConnector").values()
ADAPTER = _below("broker", "persistenceAdapter")
LOCKER = _below("broker", "locker")
HANDLER = _below("broker", "ioExceptionHandler")
REPLAY = _below("policyEntry", "networkBridgeFilterFactory")
DEAD_LETTER = _below("policyEntry", "deadLetterStrategy")
LIMIT = _below("policyEntry", "pendingMessageLimitStrategy")
# Element in a connector -> Python name.
LISTS = {row.guide: row.name for row in OPTIONS["networkConnector"].values() if row.type is tuple}
DISPATCH = {
    "simple": "simpleDispatchPolicy",
    "round_robin": "roundRobinDispatchPolicy",
    "strict_order": "strictOrderDispatchPolicy",
    "priority": "priorityDispatchPolicy",
    "priority_network": "priorityNetworkDispatchPolicy",
}
DEAD_LETTERS = {
    "shared": "sharedDeadLetterStrategy",
    "individual": "individualDeadLetterStrategy",
    "discarding": "discarding",
}
LOCKERS = {"file": "shared-file-locker", "database": "database-locker", "lease": "lease-database-locker"}
FILE_STORES = (
    "kahaDB",
    "amqPersistenceAdapter",
    "mKahaDB",
    "levelDB",
    "replicatedLevelDB",
    "kahaPersistenceAdapter",
    "journalPersistenceAdapter",
    "journaledJDBC",
)


def given(options: Mapping[str, object], names: Mapping[str, str]) -> dict[str, str]:
    """Return attribute -> text, of the options that are given; *names* are those of one element.

    What came after the schema is noted, as a broker that holds to it does not start with such a name.
    """
    later = {name for known in LATER.values() for name in known}
    there = {name: attribute for name, attribute in names.items() if name in options and attribute not in later}
    return {attribute: as_text(options[name]) for name, attribute in there.items()}
