"""Credits: how many bytes a broker may send to a consumer before that takes some (`consumerWindowSize`).

A broker sends while any are left, so that its last message goes beyond. The client gives back what it has taken
once that is half of the window. With 0 it asks for one message with each call that receives, and buffers none.

Source: `ClientConsumerImpl`, `ServerConsumerImpl` and `ActiveMQSessionContext` of 2.4.0, and windows of 0, 1,
1,000, 3,000 and 30,000 bytes that it was asked with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.message_sizes import ON_THE_WAY

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.messages import MessageReference
    from mqlab.products.artemis.client.receiving_client import ReceivingClient

UNLIMITED = 1 << 62


class ConsumerCredits:
    """What a consumer's broker may send it (`balance`), and what its client has taken since it gave some back.

    All in bytes; `headers` is what each message of its address takes beside its body and its properties.
    """

    def __init__(self, consumer: ReceivingClient, window: int, address: str) -> None:
        self.consumer, self.window = consumer, window
        self.half = window if window < 2 else window // 2
        self.headers = ON_THE_WAY + 2 * len(address)
        self.balance = self.taken = 0
        self.granted = False

    def open(self) -> None:
        """The session is new: with the whole window, and later half of it (`recreateConsumerOnServer`)."""
        first, self.granted = not self.granted, True
        self.balance = UNLIMITED if self.window < 0 else self.window if first else max(self.half, 1)
        self.taken = 0
        self.consumer.full = self.balance <= 0

    def size(self, item: MessageReference) -> int:
        """Return how many bytes a message takes."""
        return self.headers + item.message.size + item.message.extra

    def give_back(self, dropped: int = 0) -> None:
        """The client has taken as much as half of the window, or has *dropped* so many bytes of its buffer."""
        self.taken += dropped
        if self.taken and self.taken >= self.half >= 0:
            given, self.taken = self.taken - (self.half == 0), 0
            self._send(given)

    def ask(self) -> None:
        """A call receives: without a buffer it asks for one message."""
        if self.window == 0:
            self._send(1)

    def end_call(self) -> None:
        """A call has received nothing: without a buffer it wants nothing any more."""
        if self.window == 0:
            self.balance, self.consumer.full = 0, True

    def _send(self, credits: int) -> None:
        consumer = self.consumer
        if consumer.state == "connected":
            consumer.uplink.carry(self._on_credits, (consumer.epoch, credits))

    def _on_credits(self, given: tuple[int, int]) -> None:
        consumer, (epoch, credits) = self.consumer, given
        if consumer.epoch != epoch or consumer.at is None:
            return
        self.balance += credits
        if consumer.full and self.balance > 0:
            consumer.full = False
            if consumer.queue is not None and consumer.at.serves:
                consumer.lab.balancing.dispatch_queue(consumer.at, consumer.queue)
