"""What ActiveMQ's management is asked, and its answers as they come: attributes of MBeans.

A question has a pattern, so one bulk request reads a broker, however many queues it has. Attributes are named
one by one: those with users and passwords are none of them.
"""

from __future__ import annotations

from mqlab.errors import CannotRun
from mqlab.real import gathering, jolokia
from mqlab.spec import uri as uris
from mqlab.spec.rows import OPTIONS

DOMAIN = jolokia.BROKERS["activemq"]
_CONNECTORS = ",connector=networkConnectors,networkConnectorName=*"
_BRIDGES = ",connector=*,networkConnectorName=*,networkBridge=*"
# What management calls the options of a network connector, by their rows.
SECRET = ("user_name", "password")  # which nobody asks for
CONNECTOR_OPTIONS = {
    row.guide[0].upper() + row.guide[1:]: row
    for row in OPTIONS["networkConnector"].values()
    if row.name not in SECRET
}
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


class Answered(gathering.Answered):
    """What one address told of brokers of ActiveMQ."""

    BROKER, NAME, ID = "brokerName", "BrokerName", "BrokerId"

    @property
    def leads(self) -> list[tuple[str, str]]:
        """Where its bridges lead to: ids of brokers, each with its host."""
        return [(row.text("RemoteBrokerId"), _host(row.text("RemoteAddress"))) for _, row in self.of("bridges")]


def asked(console: str, seconds: float = jolokia.SECONDS) -> Answered:
    """Return what the management at an address tells; raises `CannotRun` for none, or for no ActiveMQ."""
    patterns = {kind: (DOMAIN + pattern, attributes) for kind, (pattern, attributes) in ASKED.items()}
    found = Answered(console, *jolokia.rows(console, patterns, seconds))
    if not found.rows.get("brokers"):
        raise CannotRun(f"{console}: Jolokia answers, but not for a broker; ActiveMQ's is at /api/jolokia")
    return found


def _host(uri: str) -> str:
    found = uris.read(uri)
    return (found.host or "") if found is not None else ""
