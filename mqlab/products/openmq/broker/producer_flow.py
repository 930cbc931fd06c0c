"""How many messages the producers of a destination may send on (OpenMQ rule 3.4).

Each producer has a credit, the batch of its destination. The message that uses the last of it asks for more:
its producer waits behind those who wait already, and each in turn goes on whose batch still fits in beside the
batches of those who may send (6.5.0: `Destination.ProducerFlow`, `DestinationList.calcProducerBatchCnt`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.destinations import PhysicalDestination
    from mqlab.products.openmq.client.state import Client

LARGEST = 1000  # that a batch may be, and is without a limit (imq.producer.maxBatch)
UNLIMITED_PRODUCERS = 100  # that a limit is divided by where the number of producers has none


@dataclass(eq=False, slots=True)
class ProducerFlow:
    """The producers of one broker's instance of a destination: those who may send, and those who wait."""

    instance: PhysicalDestination = field(repr=False)
    active: dict[Client, None] = field(default_factory=dict)
    waiting: dict[Client, None] = field(default_factory=dict)  # in their order
    let_on: set[Client] = field(default_factory=set)  # with the message that comes, on other connections

    @property
    def batch(self) -> int:
        """How many messages a producer may send until it has to ask."""
        most = self.instance.most
        limited = self.instance.controls_flow and most > 0
        return max(1, min(most // self._producers, LARGEST)) if limited else LARGEST

    @property
    def _producers(self) -> int:
        most = int(self.instance.option("MaxNumProducers"))
        return most if most > 0 else UNLIMITED_PRODUCERS

    def open(self, producer: Client) -> None:
        """A producer is there."""
        producer.credit = 0
        self.waiting[producer] = None
        self.check()

    def close(self, producer: Client) -> None:
        """A producer is here no more."""
        self.active.pop(producer, None)
        self.waiting.pop(producer, None)
        self.check()

    def ask(self, producer: Client) -> None:
        """A producer has used its credit up."""
        if producer in self.active:
            del self.active[producer]
            self.waiting[producer] = None
        before = {producer, *self.active}
        self.check()
        self.let_on = {other for other in self.active if other not in before}

    def stop(self) -> None:
        """All wait: the destination is full, or paused.

        Who was let go on with the message that fills it has sent another already, if it had one
        (10 of 12 plays).
        """
        sending = {job.producer for job in self.instance.at.lab.jobs if job.left} if self.let_on else set()
        for producer in self.active:
            producer.credit = int(producer in self.let_on and producer in sending)
        self.let_on.clear()
        self.waiting |= self.active
        self.active.clear()

    def check(self) -> None:
        """Let those go on for whom there is room."""
        here = self.instance
        if here.paused:
            self.stop()
        for producer in [*self.waiting] if not here.paused else ():
            if here.controls_flow and not self._has_room():
                break
            del self.waiting[producer]
            self.active[producer] = None
            producer.credit = self.batch
            here.at.changed()

    def _has_room(self) -> bool:
        room, room_bytes, others = self.instance.room, self.instance.room_bytes, len(self.active)
        return (room < 0 or room > others * self.batch) and (
            room_bytes < 0 or room_bytes > others * max(1, self.instance.most_bytes // self._producers)
        )

    def update(self, batch: int, controlled: bool, full: bool) -> None:
        """Properties have changed; what they were: *batch*, whether flow was controlled, and it was full."""
        here = self.instance
        if controlled and here.controls_flow and here.is_full != full:
            (self.stop if here.is_full else self.check)()
        if here.controls_flow and (not controlled or batch != self.batch):
            for producer in self.active:
                producer.credit = self.batch
            here.at.changed()
