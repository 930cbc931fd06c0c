"""What Artemis brokers tell of themselves while they run: attributes of MBeans, and no operation.

So consumers are known by their number, and neither selectors nor properties of messages are.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from mqlab.errors import CannotRun
from mqlab.real import gathering, jolokia
from mqlab.real.gathering import Gathered, free, gather, now
from mqlab.real.jolokia import Row
from mqlab.spec.running import (
    Running,
    RunningBridge,
    RunningBroker,
    RunningConnector,
    RunningConsumer,
    RunningQueue,
)

DOMAIN = jolokia.BROKERS["artemis"]
# Kind -> the pattern of its MBeans, and their attributes (ActiveMQServerControl, QueueControl ... of 2.31.2).
ASKED = {
    "brokers": (
        DOMAIN,
        ("Name", "NodeID", "Version", "UptimeMillis", "PersistenceEnabled", "HAPolicy", "Backup"),
    ),
    "clusters": (
        f"{DOMAIN},component=cluster-connections,name=*",
        ("Name", "MessageLoadBalancingType", "MaxHops", "RetryInterval", "Nodes", "MessagesAcknowledged"),
    ),
    "queues": (
        f"{DOMAIN},component=addresses,address=*,subcomponent=queues,routing-type=*,queue=*",
        (
            "Name",
            "Address",
            "MessageCount",
            "DeliveringCount",
            "ConsumerCount",
            "MessagesAdded",
            "MessagesAcknowledged",
            "Paused",
        ),
    ),
}
# Attribute of a cluster connection -> the Python name of its option.
OPTIONS = {
    "MessageLoadBalancingType": "message_load_balancing",
    "MaxHops": "max_hops",
    "RetryInterval": "retry_interval",
}
_OWN = ("$sys.", "$.artemis.", "activemq.notifications", "notif.")  # queues that a broker has for itself


class Answered(gathering.Answered):
    """What one address told of brokers of Artemis; it leads to the other nodes of their cluster."""

    BROKER, NAME, ID = "broker", "Name", "NodeID"

    @property
    def leads(self) -> list[tuple[str, str]]:
        """The other nodes of its cluster: their ids, each with its host."""
        return [(id_, place.rpartition(":")[0]) for _, row in self.of("clusters") for id_, place in nodes(row)]


def nodes(row: Row) -> Iterator[tuple[str, str]]:
    """Yield the id of each node that a cluster connection leads to, with its address: ``host:port``."""
    told = row.attributes.get("Nodes")
    for id_, place in told.items() if isinstance(told, dict) else ():
        yield str(id_), str(place).rpartition("/")[2]


def asked(console: str, seconds: float) -> Answered:
    """Return what the management at an address tells; raises `CannotRun` for none, or for no Artemis."""
    found = Answered(console, *jolokia.rows(console, ASKED, seconds))
    if not found.rows.get("brokers"):
        raise CannotRun(f"{console}: Jolokia answers, but not for a broker of Artemis")
    return found


def read(consoles: Sequence[str]) -> Running:
    """Return what stands in the running cluster that can be read from addresses of management.

    Raises `CannotRun` if none of them can be read; one of several that cannot be is a note.
    """
    begun = time.monotonic()
    gathered = gather(consoles, asked)
    names, bridges = gathered.names(), []
    uptimes = {id_: row.number("UptimeMillis") for id_, row in gathered.of("brokers")}
    for id_, row in gathered.of("clusters"):
        for remote, place in nodes(row):
            name = names.setdefault(remote, free(place, names.values()))
            at_most = min(uptimes[id_], uptimes.get(remote, uptimes[id_]))
            bridges.append(RunningBridge(names[id_], row.text("Name"), name, place, False, None, 0, at_most))
    queues = [(names[id_], row) for id_, row in gathered.of("queues") if not row.text("Name").startswith(_OWN)]
    return Running(
        now(),
        tuple(
            _broker(names[id_], row, one.console) for one in gathered.answered for id_, row in one.of("brokers")
        ),
        tuple(_cluster(names[id_], row) for id_, row in gathered.of("clusters")),
        tuple(bridges),
        tuple(_queue(name, row) for name, row in queues),
        consumers=tuple(one for name, row in queues for one in _consumers(name, row)),
        notes=(*gathered.told(names), *_policies(gathered, names)),
        seconds=time.monotonic() - begun,
    )


def _policies(gathered: Gathered, names: dict[str, str]) -> Iterator[str]:
    for id_, row in gathered.of("brokers"):
        if row.text("HAPolicy") not in ("", "Live Only", "Primary Only"):
            yield f"broker {names[id_]} is {row.text('HAPolicy')}; only its file says how it is played"


def _broker(name: str, row: Row, console: str) -> RunningBroker:
    persistent = row.attributes.get("PersistenceEnabled") is not False
    return RunningBroker(name, row.text("Version"), row.number("UptimeMillis"), persistent, (), console)


def _cluster(broker: str, row: Row) -> RunningConnector:
    told = ((option, row.attributes.get(name)) for name, option in OPTIONS.items())
    return RunningConnector(broker, row.text("Name"), tuple((o, v) for o, v in told if v is not None))


def _consumers(broker: str, row: Row) -> Iterator[RunningConsumer]:
    """Yield the consumers of a queue: management tells how many there are, and what they hold together."""
    count, held = row.number("ConsumerCount"), row.number("DeliveringCount")
    for _ in range(count):
        name = row.text("Name")
        yield RunningConsumer(broker, f"consumer of {name}", f"queue://{name}", held=held // count)


def _queue(broker: str, row: Row) -> RunningQueue:
    return RunningQueue(
        broker,
        row.text("Name"),
        depth=row.number("MessageCount"),
        held=row.number("DeliveringCount"),
        consumers=row.number("ConsumerCount"),
        enqueued=row.number("MessagesAdded"),
        dequeued=row.number("MessagesAcknowledged"),
        paused=row.attributes.get("Paused") is True,
    )
