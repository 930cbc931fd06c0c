"""Several brokers read while they run: those that were named, and those to which their bridges lead."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from mqlab.errors import CannotRun, MqlabError
from mqlab.files import management
from mqlab.products.activemq.live.answers import CONNECTOR_OPTIONS, Answered, Row, asked
from mqlab.spec import uri as uris
from mqlab.spec.running import (
    Running,
    RunningBridge,
    RunningBroker,
    RunningConnector,
    RunningConsumer,
    RunningQueue,
)

FOUND_SECONDS = 3.0  # for a management that was not named, but may be where a bridge leads to
_USER = re.compile(r"//[^@/()]*@")
_STOMP = "convert_string_expressions:"  # before a selector of a STOMP client


@dataclass(slots=True)
class _Gathered:
    """What was told so far."""

    answered: list[Answered] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tried: set[str] = field(default_factory=set)

    @property
    def ids(self) -> dict[str, str]:
        """The brokers that were read: id -> name."""
        return {id_: row.text("BrokerName") for one in self.answered for id_, row in one.of("brokers")}


def read(consoles: Sequence[str]) -> Running:
    """Return what stands in the running network that can be read from addresses of management.

    Raises `CannotRun` if none of them can be read; one of several that cannot be is a note.
    """
    begun, gathered = time.monotonic(), _Gathered()
    for console in dict.fromkeys(consoles):
        gathered.tried.add(console)
        try:
            _take(gathered, asked(console))
        except CannotRun as error:
            if len(set(consoles)) == 1:
                raise
            gathered.notes.append(str(error))
    if not gathered.answered:
        raise CannotRun("; ".join(gathered.notes))
    _follow(gathered)
    return replace(_running(gathered), seconds=time.monotonic() - begun)


def _take(gathered: _Gathered, answered: Answered) -> None:
    """Add what an address told, unless its broker was read at another one."""
    known = gathered.ids
    new = [row for id_, row in answered.of("brokers") if id_ not in known]
    if new:
        gathered.answered.append(answered)
        gathered.notes += answered.notes
    else:
        names = ", ".join(row.text("BrokerName") for row in answered.rows["brokers"])
        gathered.notes.append(f"{answered.console}: broker {names} was read at another address")


def _follow(gathered: _Gathered) -> None:
    """Read the brokers to which bridges lead, where they have their management at the same port and path."""
    place = 0
    while place < len(gathered.answered):
        answered = gathered.answered[place]
        place += 1
        for _, row in answered.of("bridges"):
            remote, known = row.text("RemoteBrokerId"), gathered.ids
            console = management.at_host(answered.console, _host(row) or management.host_of(answered.console))
            if remote in known or console in gathered.tried:
                continue
            gathered.tried.add(console)
            try:
                _take(gathered, asked(console, FOUND_SECONDS))
            except MqlabError as error:
                gathered.notes.append(str(error))


def _host(row: Row) -> str:
    try:
        return uris.parse(row.text("RemoteAddress")).host or ""
    except MqlabError:
        return ""


def _running(gathered: _Gathered) -> Running:
    names = _names(gathered)
    uptimes = {id_: row.number("UptimeMillis") for one in gathered.answered for id_, row in one.of("brokers")}
    bridges: list[RunningBridge] = []
    for one in gathered.answered:
        for id_, row in one.of("bridges"):
            remote = row.text("RemoteBrokerId")
            name = names.setdefault(remote, _free(row.text("RemoteBrokerName"), names.values()))
            bridges.append(_bridge(names[id_], name, row, min(uptimes[id_], uptimes.get(remote, uptimes[id_]))))
    rows = [
        (names[id_], kind, row) for one in gathered.answered for kind in one.rows for id_, row in one.of(kind)
    ]
    return Running(
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        tuple(
            _broker(names[id_], row, one.console) for one in gathered.answered for id_, row in one.of("brokers")
        ),
        tuple(
            RunningConnector(name, row.text("Name"), _options(row))
            for name, kind, row in rows
            if kind == "connectors"
        ),
        tuple(bridges),
        tuple(_queue(name, row) for name, kind, row in rows if kind == "queues"),
        tuple(_consumer(name, row) for name, kind, row in rows if kind == "consumers" and _counts(row)),
        (*gathered.notes, *_unread(gathered, names), *_namesakes(gathered, names)),
    )


def _names(gathered: _Gathered) -> dict[str, str]:
    """Return id -> name of the brokers that were read; of two with one name the second has another here."""
    names: dict[str, str] = {}
    for id_, name in gathered.ids.items():
        names[id_] = _free(name, names.values())
    return names


def _free(name: str, taken: Iterable[str]) -> str:
    used, number, free = set(taken), 1, name
    while free in used:
        number += 1
        free = f"{name}-{number}"
    return free


def _unread(gathered: _Gathered, names: dict[str, str]) -> list[str]:
    read = gathered.ids
    return [
        f"broker {name} was not read: a bridge leads to it, and its management was not found; it is here by "
        "its name alone. Give its address (jolokia:...) or its file"
        for id_, name in names.items()
        if id_ not in read
    ]


def _namesakes(gathered: _Gathered, names: dict[str, str]) -> list[str]:
    renamed = [(own, names[id_]) for id_, own in gathered.ids.items() if names[id_] != own]
    return [f"two brokers are called {own!r}; the second is called {name!r} here" for own, name in renamed]


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
