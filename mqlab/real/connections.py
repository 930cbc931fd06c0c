"""Connections to real brokers over STOMP: where they lead, what is sent to them."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from mqlab.errors import CannotRun, MissingExtra

if TYPE_CHECKING:
    from stomp import Connection12
    from stomp.utils import Frame

# Headers: by which a message is known, when it was sent (us), by whom, to which broker.
NUMBER, SENT, PRODUCER, HOME = "mqlabNumber", "mqlabSent", "mqlabProducer", "mqlabHome"
RESENT = "mqlabResent"  # set on what is sent again, as nobody answered the first time
PATH = "BrokerPath"  # the brokers that it came by, as ActiveMQ tells them
USER = "guest"  # and its password, too: Open Message Queue asks, others without security do not look
LIMIT_SECONDS = 20
FIRST_WAIT, LONGEST_WAIT = 0.01, 1.0  # s between two rounds of addresses


class StompEndpoint(NamedTuple):
    """Where STOMP clients of a broker connect."""

    broker: str
    host: str
    port: int


Places = Sequence[StompEndpoint]  # in the order in which they are tried


class Gone(CannotRun):
    """The connection has ended."""


class Refused(CannotRun):
    """The broker has answered with an error."""


def library() -> ModuleType:
    """Return stomp.py; raises `MissingExtra` without it."""
    try:
        return import_module("stomp")
    except ImportError:
        raise MissingExtra.of("stomp.py", "real") from None


def answers(host: str, port: int) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def connect(places: Places, client_id: str | None = None) -> tuple[Connection12, str]:
    """Return a connection to the first place that answers, and its broker; raises `CannotRun` for none.

    They are tried in their order, round by round, with the waits of ``failover:`` between (its client's
    defaults, but never longer than a second).
    """
    stomp = library()
    headers = {"client-id": client_id} if client_id else {}
    wait, limit = FIRST_WAIT, time.monotonic() + LIMIT_SECONDS
    told = f"no answer at {', '.join(f'{host}:{port}' for _, host, port in places)}"
    while True:
        for broker, host, port in (place for place in places if answers(place.host, place.port)):
            connection = stomp.Connection12([(host, port)], reconnect_attempts_max=1, timeout=LIMIT_SECONDS)
            try:
                connection.connect(USER, USER, wait=True, headers=headers)
                return connection, broker
            except (stomp.exception.StompException, OSError) as error:
                told = f"no connection to {host}:{port}: {error}"
        if time.monotonic() > limit:
            raise CannotRun(told)
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


def address(step: Mapping[str, object]) -> str:
    """Return the STOMP destination of a step's queue or topic, or of several with commas between them."""
    kind = "queue" if "queue" in step else "topic"
    parts = [part.strip().rpartition("://") for part in str(step[kind]).split(",")]
    return ",".join(f"/{own or kind}/{name}" for own, _, name in parts)


class Frames:
    """What a connection is sent: frames in order, receipts, and the last error."""

    def __init__(self) -> None:
        self.there = threading.Condition()
        self.messages: list[Frame] = []
        self.receipts: set[str] = set()
        self.error = ""
        self.gone = False

    def on_message(self, frame: Frame) -> None:
        """Keep a message."""
        with self.there:
            self.messages.append(frame)
            self.there.notify_all()

    def on_receipt(self, frame: Frame) -> None:
        """Keep a receipt."""
        with self.there:
            self.receipts.add(frame.headers.get("receipt-id", ""))
            self.there.notify_all()

    def on_error(self, frame: Frame) -> None:
        """Keep an error's words."""
        with self.there:
            self.error = str(frame.headers.get("message") or frame.body)[:300]
            self.there.notify_all()

    def on_disconnected(self) -> None:
        """Keep that the connection has ended."""
        with self.there:
            self.gone = True
            self.there.notify_all()

    def wait_for(self, what: str, seconds: float = LIMIT_SECONDS) -> None:
        """Wait for a receipt; raises `Refused` for an error, `CannotRun` when none comes, `Gone` at an end."""
        with self.there:
            if not self.there.wait_for(lambda: what in self.receipts or self.error or self.gone, seconds):
                raise CannotRun(f"the broker does not answer within {seconds} s")
            if self.error:
                raise Refused(f"the broker returned an error: {self.error}")
            if what not in self.receipts:
                raise Gone("the connection has ended")


def close(connection: Connection12) -> None:
    """Close a connection that may have gone already."""
    stomp = library()
    try:
        if connection.is_connected():
            connection.disconnect()
    except (stomp.exception.StompException, OSError):
        pass  # its broker has gone
