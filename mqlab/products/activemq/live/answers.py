"""What ActiveMQ's management is asked, and its answers as they come: attributes of MBeans.

A question has a pattern, so one bulk request reads a broker, however many queues it has. Attributes are named
one by one: those with users and passwords are none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mqlab.errors import CannotRun
from mqlab.real import jolokia
from mqlab.spec.json_types import JsonDict
from mqlab.spec.rows import OPTIONS

DOMAIN = "org.apache.activemq:type=Broker,brokerName=*"
_CONNECTORS = ",connector=networkConnectors,networkConnectorName=*"
_BRIDGES = ",connector=*,networkConnectorName=*,networkBridge=*"
# What management calls the options of a network connector, by their rows.
CONNECTOR_OPTIONS = {row.guide[0].upper() + row.guide[1:]: row for row in OPTIONS["networkConnector"].values()}
# Kind -> the pattern of its MBeans, and their attributes (BrokerViewMBean, QueueViewMBean ... of 5.16.7).
ASKED = {
    "brokers": (
        "",
        ("BrokerName", "BrokerId", "BrokerVersion", "UptimeMillis", "Persistent", "TransportConnectors"),
    ),
    "connectors": (_CONNECTORS, ("Name", *CONNECTOR_OPTIONS)),
    "bridges": (
        _BRIDGES,
        (
            "RemoteBrokerName", "RemoteBrokerId", "RemoteAddress", "CreatedByDuplex", "DequeueCounter",
            "ReceivedCounter",
        ),
    ),
    "queues": (
        ",destinationType=Queue,destinationName=*",
        (
            "Name", "QueueSize", "InFlightCount", "ConsumerCount", "EnqueueCount", "DequeueCount",
            "DispatchCount", "ForwardCount", "Paused",
        ),
    ),
    "consumers": (
        ",destinationType=*,destinationName=*,endpoint=Consumer,clientId=*,consumerId=*",
        (
            "ClientId", "DestinationName", "DestinationQueue", "DestinationTopic", "DestinationTemporary",
            "Selector", "Network", "PrefetchSize", "Priority", "Exclusive", "Durable", "SubscriptionName",
            "Active", "MessageCountAwaitingAcknowledge", "DispatchedQueueSize", "DequeueCounter",
        ),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """An MBean: the properties of its name, and its attributes."""

    properties: dict[str, str]
    attributes: JsonDict

    def number(self, name: str) -> int:
        """Return a count; 0 where this version has none."""
        value = self.attributes.get(name)
        return value if isinstance(value, int) else 0

    def text(self, name: str) -> str:
        """Return a text; empty where there is none."""
        value = self.attributes.get(name)
        return value if isinstance(value, str) else ""


@dataclass(slots=True)
class Answered:
    """What one address told: its rows by kind, and what it did not tell."""

    console: str
    rows: dict[str, list[Row]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def of(self, kind: str) -> Iterator[tuple[str, Row]]:
        """Yield the id of its broker and a row, for all rows of a kind."""
        ids = {row.properties.get("brokerName"): row.text("BrokerId") for row in self.rows["brokers"]}
        for row in self.rows.get(kind, ()):
            broker = ids.get(row.properties.get("brokerName"))
            if broker is not None:
                yield broker, row


def asked(console: str, seconds: float = jolokia.SECONDS) -> Answered:
    """Return what the management at an address tells; raises `CannotRun` for none, or for no ActiveMQ."""
    questions = [
        {"type": "read", "mbean": DOMAIN + pattern, "attribute": list(attributes)}
        for pattern, attributes in ASKED.values()
    ]
    found = Answered(console)
    for kind, answer in zip(ASKED, jolokia.ask(console, questions, seconds), strict=True):
        status, value = answer.get("status"), answer.get("value")
        if status == 200 and isinstance(value, dict):
            found.rows[kind] = [
                Row(_properties(name), attributes)
                for name, attributes in sorted(value.items())
                if isinstance(attributes, dict)
            ]
        elif status != 404:  # there are none
            found.notes.append(f"{console}: {kind} could not be read: {str(answer.get('error'))[:120]}")
    if not found.rows.get("brokers"):
        raise CannotRun(f"{console}: {_who(console, seconds)}")
    return found


def _properties(name: str) -> dict[str, str]:
    """Return the properties of an MBean's name; the broker itself writes other signs for commas in them."""
    pairs = (pair.partition("=") for pair in name.partition(":")[2].split(","))
    return {key: value for key, _, value in pairs}


def _who(console: str, seconds: float) -> str:
    """Return what Jolokia belongs to, where it is no broker of ActiveMQ."""
    question: dict[str, Any] = {"type": "search", "mbean": "org.apache.activemq.artemis:broker=*"}
    (answer,) = jolokia.ask(console, [question], seconds)
    if answer.get("value"):
        return "this is a broker of Artemis; only brokers of ActiveMQ (5.8 or later) are read while they run"
    return "Jolokia answers, but not for a broker of ActiveMQ; its own is at http://HOST:8161/api/jolokia"
