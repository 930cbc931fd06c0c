"""A producer: what its messages are made of, whatever way they go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import SENT_BY, Message
from mqlab.spec import Producer as ProducerSpec
from mqlab.spec.headers import NOT_OUT_YET, dealt
from mqlab.spec.values import Destination, duration

if TYPE_CHECKING:
    from mqlab.products.activemq.lab import Lab


class MessageProducer:
    """Makes messages with numbers from `first` on, for one destination."""

    dest_no: int

    def __init__(
        self,
        lab: Lab,
        spec: ProducerSpec,
        dest: Destination,
        connection: str,
        headers: Mapping[str, object] | None = None,
    ) -> None:
        self.lab, self.spec, self.dest = lab, spec, dest
        self.first = lab.numbers + 1
        lab.numbers += spec.sends
        self.interval, self.time_to_live = duration(spec.every), duration(spec.time_to_live)
        mode = "PERSISTENT" if spec.persistent else "NON_PERSISTENT"
        self.properties: Mapping[str, object] = spec.properties
        self.headers: Mapping[str, object] = {
            "JMSPriority": spec.jms_priority,
            "JMSDeliveryMode": mode,
            **NOT_OUT_YET,
            SENT_BY: connection,
            **(headers or {}),
        }
        # Values in a list are dealt out in turn.
        self.varies = any(
            isinstance(value, list) for value in (*self.properties.values(), *self.headers.values())
        )

    def make(self, place: int) -> Message:
        """Return the message at *place*, sent now."""
        spec, now = self.spec, self.lab.clock.now
        properties, headers = self.properties, self.headers
        if self.varies:
            properties, headers = dealt(properties, place), dealt(headers, place)
        if self.time_to_live:
            headers = {**headers, "JMSExpiration": (now + self.time_to_live) // 1000}
        return Message(
            self.first + place,
            self.dest,
            self.dest_no,
            now,
            spec.persistent,
            properties,
            headers,
            (),
            now + self.time_to_live if self.time_to_live else 0,
            spec.size,
        )
