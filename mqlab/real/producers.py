"""Producers at real brokers over STOMP, and browsers of their queues."""

from __future__ import annotations

import time
from collections.abc import Mapping

from mqlab.errors import CannotRun
from mqlab.real import connections
from mqlab.spec.headers import dealt_one
from mqlab.spec.json_types import JsonObject


def send(places: connections.Places, step: JsonObject, first: int, partners: connections.Places = ()) -> int:
    """Send a step's messages on one connection; returns how many the broker has taken.

    A persistent message waits for the broker; others go in a burst. With several places it goes to the next one
    when its broker ends, and sends there what has not been answered. Of *partners* it hears from the first.
    """
    sender = _Sender(places)
    sender.places = [*places, *partners]
    persistent = bool(step.get("persistent", True))
    count = int(step["count"])
    for no in range(count):
        headers = _headers(step, no, first)
        if persistent or no == count - 1:
            headers["receipt"] = f"sent-{no}"
        sender.send(connections.address(step), str(first + no).ljust(step.get("size", 0), "."), headers)
        time.sleep(step.get("interval_ms", 0) / 1000)
    connections.close(sender.connection)
    return count


class _Sender:
    """A connection that messages are sent on, and the next one when it ends."""

    def __init__(self, places: connections.Places) -> None:
        self.places = places
        self.open()

    def open(self) -> None:
        """Connect."""
        self.frames = connections.Frames()
        self.connection, self.broker = connections.connect(self.places)
        self.connection.set_listener("frames", self.frames)

    def send(self, to: str, body: str, headers: Mapping[str, str]) -> None:
        """Send a message, again on each new connection until it is answered if it asks for that."""
        stomp = connections.library()
        for attempt in range(1 + len(self.places)):
            try:
                again = {connections.RESENT: "true"} if attempt else {}
                own = {**headers, connections.HOME: self.broker, **again}
                self.connection.send(to, body=body, headers=own)
                if "receipt" in headers:
                    self.frames.wait_for(headers["receipt"])
                return
            except (connections.Gone, stomp.exception.NotConnectedException, OSError) as error:
                if len(self.places) == 1:
                    raise CannotRun(f"the connection has ended: {error}") from None
                self.open()
        raise CannotRun("every connection has ended")


def _headers(step: JsonObject, no: int, first: int) -> dict[str, str]:
    """Return the headers of the message of a step with this number (from 0)."""
    headers = {
        connections.NUMBER: str(first + no),
        connections.SENT: str(time.time_ns() // 1000),
        connections.PRODUCER: step.get("producer") or step.get("name") or "P",
        "persistent": str(bool(step.get("persistent", True))).lower(),
    }
    headers |= {name: str(dealt_one(value, no)) for name, value in step.get("properties", {}).items()}
    if "jms_priority" in step:
        headers["priority"] = str(step["jms_priority"])
    if "time_to_live_ms" in step:
        headers["expires"] = str(int(time.time() * 1000) + int(step["time_to_live_ms"]))
    return headers


def browse(places: connections.Places, queue: str) -> list[int]:
    """Return the numbers of the messages that lie in a queue."""
    frames, (connection, _) = connections.Frames(), connections.connect(places)
    connection.set_listener("frames", frames)
    headers = {"browser": "true", "activemq.prefetchSize": "1000"}
    connection.subscribe(f"/queue/{queue}", id="0", ack="auto", headers=headers)

    def ended() -> bool:
        return bool(frames.messages) and frames.messages[-1].headers.get("browser") == "end"

    with frames.there:
        frames.there.wait_for(ended, connections.LIMIT_SECONDS)
        found = [frame for frame in frames.messages if frame.headers.get("browser") != "end"]
    connections.close(connection)
    return [int(frame.headers.get(connections.NUMBER, 0)) for frame in found]
