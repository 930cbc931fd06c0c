"""A session: when a consumer acknowledges what it receives, and what it does not keep.

The modes are those of JMS with ActiveMQ's individual one. What the client has in its hands and
will acknowledge later is reported as delivered, which makes room for more
(ActiveMQ rules 27.1, 27.2 and 27.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message

if TYPE_CHECKING:
    from mqlab.products.activemq.client.direct_consumer import DirectConsumer

# Of the prefetch: so many are reported at once, or acknowledged in dups_ok mode. From queues, in that
# mode too, each message is acknowledged by itself (played with 5.5.1 and 5.17.2).
BATCH = 0.5


class Acknowledgements:
    """The session of one consumer; `unacked` is what it has received and not acknowledged."""

    def __init__(self, consumer: DirectConsumer) -> None:
        self.consumer = consumer
        self.mode = consumer.spec.ack_mode
        self.by_action = consumer.spec.acknowledge is False
        lazily = self.mode == "dups_ok" and not consumer.spec.reads.is_queue
        self.at_once = not self.by_action and not lazily
        self.unacked: list[Message] = []
        self.reported: set[Message] = set()
        self.fresh: list[Message] = []  # received, neither acknowledged nor reported

    def received(self, message: Message) -> None:
        """A message has been worked on, which is not acknowledged at once."""
        self.unacked.append(message)
        batch = max(1, self.consumer.sub.prefetch * BATCH)
        if not self.by_action:
            if len(self.unacked) >= batch:
                self.acknowledge(None)
        elif message not in self.reported:
            self.fresh.append(message)
            if len(self.fresh) >= batch:
                self.reported.update(self.fresh)
                for one in self.fresh:
                    self.consumer.report_delivered(one)
                self.fresh.clear()

    def acknowledge(self, count: int | None) -> None:
        """Acknowledge all, or only the last *count*; a commit does the first."""
        first = 0 if count is None else max(0, len(self.unacked) - count)
        done, self.unacked = self.unacked[first:], self.unacked[:first]
        for message in done:
            self.reported.discard(message)
            if message in self.fresh:
                self.fresh.remove(message)
            self.consumer.acknowledge(message)

    def roll_back(self) -> None:
        """Give all back: it comes again after the redelivery policy's wait, or never."""
        again, self.unacked = self.unacked, []
        policy = self.consumer.spec.redelivery
        kept = []
        for message in again:
            message.redeliveries += 1
            if 0 <= policy.maximum < message.redeliveries:
                self.consumer.send_poison_ack(message)
            else:
                kept.append(message)
        if kept:
            self.consumer.take_again(kept, policy.wait(kept[0].redeliveries) * 1000)

    def close(self) -> None:
        """The consumer closes: what dups_ok has put off is acknowledged."""
        if self.mode == "dups_ok" and not self.by_action:
            self.acknowledge(None)
