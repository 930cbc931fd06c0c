"""A call that receives: what it waits for, and what it has taken (Artemis rule 9.8)."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.products.artemis.client.consumers import Consumer
from mqlab.products.artemis.client.reconnection import LOOKS
from mqlab.spec.action import Action


@dataclass(eq=False, slots=True)
class ReceiveCall:
    """A call that takes so many messages more, all in at most `wait` us."""

    consumer: Consumer
    count: int
    wait: int
    acknowledges: bool
    asked: Action
    got: int = 0
    ended: bool = False
    end: int = 0  # us, of its time
    limit: int = 0  # us, when the script goes on without it
    epoch: int = 0  # of the connection over which it has asked
    was_answered: bool = False  # it was blocked in its question, until the connection was up or given up

    @property
    def goes_on(self) -> bool:
        """Whether it takes another message."""
        return self.got < self.count and not self.ended

    def is_open(self) -> bool:
        """Whether the opening of its consumer is over."""
        return self.consumer.state != "new"

    def has_message(self) -> bool:
        """Whether there is one that it takes now."""
        consumer = self.consumer
        return (consumer.arrived > 0 and consumer.state == "connected") or consumer.takes_stale()

    def take_one(self) -> None:
        """Take one; where it has expired the call ends."""
        if self.consumer.receive_one(self.acknowledges):
            self.got += 1
        else:
            self.ended = True

    def is_blocked(self) -> bool:
        """Whether it waits for its connection: to acknowledge what it had, or to ask whether there is more."""
        consumer = self.consumer
        if consumer.state == "connected":  # nothing answers over a line that is cut silently, or from who hangs
            return not consumer.arrived and consumer.at is not None and not consumer.reaches(consumer.at)
        return consumer.state == "reconnecting" and not consumer.takes_stale()

    def is_answered(self) -> bool:
        """Whether it is not blocked any more."""
        return not self.is_blocked()

    def end_question(self) -> None:
        """Its connection is up again, and brings what there is; or it was given up, and the call ends."""
        consumer = self.consumer
        if consumer.asks and consumer.state != "reconnecting":
            self.got += consumer.acknowledge_stale()
            consumer.asks, self.was_answered = False, consumer.state == "failed"
            self.ended |= self.was_answered
            window = 2 * LOOKS if consumer.epoch != self.epoch else 0  # of the old one it was answered
            self.wait, self.end = window, consumer.lab.clock.now + window
