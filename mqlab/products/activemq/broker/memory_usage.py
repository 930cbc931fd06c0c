"""Producer flow control: a destination with a memory limit lets its senders wait.

Whoever sends to a full destination gets no receipt, and so sends nothing more, until something
has left (policies `memoryLimit` and `producerFlowControl`).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory
from mqlab.products.activemq.broker.message import Message
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.engine.clock import Call
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.broker.queue import Queue
    from mqlab.products.activemq.broker.topic import Topic


class MemoryUsage:
    """The memory of one destination, and who waits for it to have room."""

    __slots__ = ("blocked", "broker", "limit", "of")

    def __init__(self, broker: Broker, of: Queue | Topic) -> None:
        self.broker, self.of = broker, of
        policy = of.policy
        self.limit: int = policy["memory_limit"] if policy["producer_flow_control"] else 0
        self.blocked: deque[tuple[Call, object]] = deque()

    def used(self) -> int:
        """Return the bytes held; a topic holds what its slowest subscriber has not done with."""
        if self.of.dest.is_queue:
            return sum(message.size for message in self.of.messages)
        backlogs = ([*sub.dispatched, *sub.waiting] for sub in self.of.subs)
        return max((sum(m.size for m in backlog) for backlog in backlogs), default=0)

    def full_for(self, message: Message, again: Call, argument: object) -> bool:
        """Whether *message* has to wait; if so *again* is called once there is room."""
        if not self.limit or self.used() < self.limit:
            return False
        self.broker.record_message(Kind.Held, message, rule=Reason.memory_full, cause=message.row)
        self.blocked.append((again, argument))
        if self.of.policy["advisory_for_fast_producers"]:
            advisory.of_message(self.broker, "FastProducer", message)
        if self.of.policy["advisory_when_full"]:
            advisory.of_message(self.broker, "FULL", message)
        return True

    def left(self) -> None:
        """Something has left: let in who waited longest."""
        if self.blocked and self.used() < self.limit:
            again, argument = self.blocked.popleft()
            self.broker.clock.schedule(self.broker.clock.now, again, argument)
