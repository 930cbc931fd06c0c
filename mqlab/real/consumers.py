"""Consumers at real brokers over STOMP: they hold what comes, or take it.

Options are STOMP headers, as ActiveMQ reads them: ``activemq.prefetchSize``, ``activemq.priority`` and so on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from mqlab.errors import CannotRun
from mqlab.real import connections
from mqlab.real.observed import ObservedMessage
from mqlab.spec.json_types import JsonObject


class Consumer:
    """A consumer that takes what comes, or holds it until it is told to take some.

    With several places it goes to the next one when its broker ends; what it held then comes again from there.
    What it has taken and comes again is acknowledged and not counted, as the audit of a JMS client does it.
    Of *partners* it hears from the broker to which it connects first: it may go there later.
    """

    def __init__(
        self,
        places: connections.Places,
        step: JsonObject,
        prefetch: int = 1000,
        partners: connections.Places = (),
    ) -> None:
        self.places, self.step, self.frames = places, step, connections.Frames()
        self.prefetch = step.get("prefetch", prefetch)
        self.taken: list[int] = []
        self.redelivered: list[int] = []
        self.seen: list[ObservedMessage] = []
        self.given = 0  # frames that were taken
        self.allowed = 0 if step.get("receiving") is False else None
        self.delay = step.get("delay_ms", 0) / 1000  # s that it works on each message
        self.durable = bool(step.get("durable") or step.get("durable_name"))
        self.subscription = step.get("durable_name") or step.get("subscription_name") or step["consumer"]
        # A plain subscriber of a topic acknowledges nothing: of two copies of a message, which have one id, the
        # broker refuses the second acknowledgement, and its ERROR frame may fall into the middle of another.
        plain = "topic" in step and not self.durable and not {"prefetch", "receiving"} & set(step)
        self.acknowledges = not plain or "ack_mode" in step or "acknowledge" in step
        self.closed = False
        self.broker = ""  # where it is connected
        # Number and destination of what was taken on earlier connections, and up to now.
        self.before, self.now = frozenset[tuple[str, str]](), set[tuple[str, str]]()
        if any(connections.answers(place.host, place.port) for place in places) or not partners:
            self.open()
            self.places = [*places, *partners]
        else:  # a backup, which may be live later
            threading.Thread(target=self.await_first, args=(partners,), daemon=True).start()

    def await_first(self, partners: connections.Places) -> None:
        """Connect for the first time, whenever that is possible."""
        while not self.closed:
            with suppress(CannotRun):
                self.open()
                self.places = [*self.places, *partners]
                return

    def open(self) -> None:
        """Connect and subscribe, and wait until the broker has it; what was held and not taken is forgotten."""
        with self.frames.there:
            del self.frames.messages[self.given :]
            self.frames.receipts.discard("subscribed")
            self.frames.gone = False
            self.before = frozenset(self.now)
        client_id = self.step.get("client_id") or self.step["consumer"] if self.durable else None
        self.connection, self.broker = connections.connect(self.places, client_id)
        self.connection.set_listener("frames", self)
        self.owed: list[str] = []
        transacted = self.step.get("ack_mode") == "transacted"
        self.transaction = self.connection.begin() if transacted else ""
        try:
            self.subscribe()
        except connections.Refused:
            self.closed = True
            connections.close(self.connection)
            raise

    def on_disconnected(self) -> None:
        """Go to the next place, unless it is closed or has only one; a step may say otherwise."""
        self.frames.on_disconnected()
        if not self.closed and self.step.get("reconnect", len(self.places) > 1):
            threading.Thread(target=self.reopen, daemon=True).start()

    def reopen(self) -> None:
        """Connect again; where nobody answers in time it stays away."""
        with suppress(CannotRun):
            self.open()

    def wait_until_open(self, seconds: float = connections.LIMIT_SECONDS) -> None:
        """Wait until it is subscribed somewhere, or time is over."""
        with self.frames.there:
            self.frames.there.wait_for(
                lambda: not self.frames.gone and "subscribed" in self.frames.receipts, seconds
            )

    def subscribe(self) -> None:
        """Subscribe as the step says, and wait until the broker has it."""
        step, durable = self.step, self.durable
        headers = {
            "receipt": "subscribed",
            "activemq.prefetchSize": str(self.prefetch),
        }
        if durable:
            headers |= self.named()
        if "selector" in step:
            headers["selector"] = step["selector"]
        for key in ("priority", "exclusive"):
            if key in step:
                headers[f"activemq.{key}"] = str(step[key]).lower()
        ack = "client-individual" if self.acknowledges else "auto"
        self.connection.subscribe(connections.address(step), id="0", ack=ack, headers=headers)
        self.frames.wait_for("subscribed")

    def named(self) -> dict[str, str]:
        """Return the headers that name its durable subscription: to ActiveMQ, and to the others."""
        return {
            "activemq.subscriptionName": self.subscription,
            "durable-subscriber-name": self.subscription,
        }

    def on_message(self, frame: object) -> None:
        """Take a message, or hold it."""
        self.frames.on_message(frame)
        self.take()

    def note(self, headers: Mapping[str, str]) -> None:
        """Note the way of a message that was taken, and when; one which is not ours has no number."""
        told = headers.get(connections.PATH) or f"{headers.get(connections.HOME, '')},{self.broker}"
        names = [name for name in told.split(",") if name]
        path = tuple(name for no, name in enumerate(names) if names[no - 1 : no] != [name])
        if connections.NUMBER in headers and path:
            _, kind, name = headers["destination"].split("/", 2)
            self.seen.append(
                ObservedMessage(
                    int(headers[connections.NUMBER]),
                    f"{kind}://{name}",
                    path,
                    headers[connections.PRODUCER],
                    self.step["consumer"],
                    int(headers[connections.SENT]),
                    time.time_ns() // 1000,
                )
            )

    def on_receipt(self, frame: object) -> None:
        """Keep a receipt."""
        self.frames.on_receipt(frame)

    def on_error(self, frame: object) -> None:
        """Keep an error."""
        self.frames.on_error(frame)

    def take(self) -> None:
        """Acknowledge what may be taken, in the order in which it came."""
        with self.frames.there:
            while self.given < len(self.frames.messages) and self.allowed != 0 and not self.frames.gone:
                frame = self.frames.messages[self.given]
                self.given += 1
                if self.acknowledges:
                    self._acknowledge(frame.headers["ack"])
                if not self._again(frame.headers):
                    self._count(frame.headers)
                time.sleep(self.delay)
            self.frames.there.notify_all()

    def _acknowledge(self, id_: str) -> None:
        """Acknowledge a message: at once, in the transaction that is open, or when a step says so."""
        if self.step.get("acknowledge") is not False:
            self.connection.ack(id_)
        elif self.transaction:
            self.connection.ack(id_, transaction=self.transaction)
        else:
            self.owed.append(id_)

    def acknowledge(self, count: int | None = None) -> None:
        """Acknowledge what was taken and is not yet, or the last *count* of it."""
        with self.frames.there:
            said = self.owed[:] if count is None else self.owed[-count:]
            del self.owed[len(self.owed) - len(said) :]
            for id_ in said:
                self.connection.ack(id_)

    def commit(self) -> None:
        """End the transaction, and begin the next."""
        with self.frames.there:
            self.connection.commit(self.transaction)
            self.transaction = self.connection.begin()

    def _again(self, headers: Mapping[str, str]) -> bool:
        """Whether a message was taken on an earlier connection, or is one that was sent again.

        What a JMS client sends again has the id that it had, and the broker drops it if it has the first one;
        of a STOMP client it has both.
        """
        mark = (headers.get(connections.NUMBER, ""), headers["destination"])
        known = mark in (self.now if connections.RESENT in headers else self.before)
        self.now.add(mark)
        return known

    def _count(self, headers: Mapping[str, str]) -> None:
        self.note(headers)
        self.allowed = None if self.allowed is None else self.allowed - 1
        number = int(headers.get(connections.NUMBER, 0))
        self.taken.append(number)
        if headers.get("redelivered") == "true":
            self.redelivered.append(number)

    def allow(self, count: int | None) -> None:
        """Let it take so many more, or (None) all that comes."""
        with self.frames.there:
            self.allowed = None if count is None else (self.allowed or 0) + count
        self.take()

    def hold(self) -> None:
        """Let it take nothing more."""
        with self.frames.there:
            self.allowed = 0

    def wait_for(self, count: int, seconds: float = connections.LIMIT_SECONDS) -> None:
        """Wait until it has taken so many, or time is over."""
        with self.frames.there:
            self.frames.there.wait_for(lambda: len(self.taken) >= count, seconds)

    def close(self, unsubscribe: bool = False) -> None:
        """Close its connection; with *unsubscribe* its durable subscription ends, too."""
        self.closed = True
        if not self.broker:
            return
        if unsubscribe:
            self.connection.unsubscribe(id="0")
            time.sleep(0.2)
            self.connection.unsubscribe(id="0", headers=self.named())
        connections.close(self.connection)
