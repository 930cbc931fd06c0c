"""Several brokers read while they run: those that were named, and those to which their bridges lead.

A question to their management has a pattern, so one bulk request reads a broker, however many queues it has.
Attributes are named one by one: those with users and passwords are none of them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace

from mqlab.errors import CannotRun
from mqlab.real import gathering, jolokia
from mqlab.real.gathering import Gathered, free, gather, now
from mqlab.real.jolokia import Row
from mqlab.spec import uri as uris
from mqlab.spec.rows import OPTIONS
from mqlab.spec.running import (
    Running,
    RunningBridge,
    RunningBroker,
    RunningConnector,
    RunningConsumer,
    RunningQueue,
)

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


_USER = re.compile(r"//[^@/()]*@")
_STOMP = "convert_string_expressions:"  # before a selector of a STOMP client


def read(consoles: Sequence[str]) -> Running:
    """Return what stands in the running network that can be read from addresses of management.

    Raises `CannotRun` if none of them can be read; one of several that cannot be is a note.
    """
    begun = time.monotonic()
    found = _running(gather(consoles, asked))
    return replace(found, seconds=time.monotonic() - begun)


def _running(gathered: Gathered) -> Running:
    names = gathered.names()
    uptimes = {id_: row.number("UptimeMillis") for id_, row in gathered.of("brokers")}
    bridges: list[RunningBridge] = []
    for id_, row in gathered.of("bridges"):
        remote = row.text("RemoteBrokerId")
        name = names.setdefault(remote, free(row.text("RemoteBrokerName"), names.values()))
        bridges.append(_bridge(names[id_], name, row, min(uptimes[id_], uptimes.get(remote, uptimes[id_]))))
    return Running(
        now(),
        tuple(
            _broker(names[id_], row, one.console) for one in gathered.answered for id_, row in one.of("brokers")
        ),
        tuple(
            RunningConnector(names[id_], row.text("Name"), _options(row))
            for id_, row in gathered.of("connectors")
        ),
        tuple(bridges),
        tuple(_queue(names[id_], row) for id_, row in gathered.of("queues")),
        tuple(_consumer(names[id_], row) for id_, row in gathered.of("consumers") if _counts(row)),
        tuple(gathered.told(names)),
    )


def _broker(name: str, row: Row, console: str) -> RunningBroker:
    listed = row.attributes.get("TransportConnectors")
    transports = listed.items() if isinstance(listed, dict) else ()
    return RunningBroker(
        name,
        row.text("BrokerVersion"),
        row.number("UptimeMillis"),
        row.attributes.get("Persistent") is not False,
        tuple((str(own), without_user(str(uri))) for own, uri in transports),
        console,
    )


def without_user(uri: str) -> str:
    """Return an address without user and password."""
    return _USER.sub("//", uri)


def _options(row: Row) -> tuple[tuple[str, object], ...]:
    told = ((option, row.attributes.get(name)) for name, option in CONNECTOR_OPTIONS.items())
    return tuple((option.name, value) for option, value in told if isinstance(value, (bool, int)))


def _bridge(broker: str, remote: str, row: Row, at_most: int) -> RunningBridge:
    return RunningBridge(
        broker,
        row.properties["networkConnectorName"],
        remote,
        without_user(row.text("RemoteAddress")),
        row.attributes.get("CreatedByDuplex") is True,
        row.number("DequeueCounter"),
        row.number("ReceivedCounter"),
        at_most,
    )


def _queue(broker: str, row: Row) -> RunningQueue:
    return RunningQueue(
        broker,
        row.text("Name"),
        depth=row.number("QueueSize"),
        held=row.number("InFlightCount"),
        consumers=row.number("ConsumerCount"),
        enqueued=row.number("EnqueueCount"),
        dequeued=row.number("DequeueCount"),
        dispatched=row.number("DispatchCount"),
        forwarded=row.number("ForwardCount"),
        paused=row.attributes.get("Paused") is True,
    )


def _counts(row: Row) -> bool:
    """Whether a subscription is to messages of clients: advisories and temporary destinations are no demand."""
    name = row.text("DestinationName")
    plain = row.attributes.get("DestinationTemporary") is not True
    return bool(name) and plain and not name.startswith("ActiveMQ.Advisory.")


def _consumer(broker: str, row: Row) -> RunningConsumer:
    kind = "topic" if row.attributes.get("DestinationTopic") is True else "queue"
    return RunningConsumer(
        broker,
        row.text("ClientId") or "unnamed",
        f"{kind}://{row.text('DestinationName')}",
        row.text("Selector").removeprefix(_STOMP) or None,
        row.attributes.get("Network") is True,
        row.number("PrefetchSize"),
        row.number("Priority"),
        row.attributes.get("Exclusive") is True,
        row.text("SubscriptionName") or None,
        row.attributes.get("Active") is not False,
        row.number("MessageCountAwaitingAcknowledge") or row.number("DispatchedQueueSize"),
        row.number("DequeueCounter"),
    )
