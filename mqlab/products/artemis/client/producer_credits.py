"""Credits: how many bytes a client may send to an address before its broker grants more (`producerWindowSize`).

A client asks for more while it still has some, so it sends beyond the limit of an address that is full.
Of the product's `ClientProducerCreditsImpl`; played by 2.31.2 with windows of 1, 1,024, 2,048 and 65,536 bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.paging_store import PagingStore
    from mqlab.products.artemis.client.clients import Client
    from mqlab.products.artemis.client.sends import SendRequest

FULL = "JMSException / ActiveMQAddressFullException AMQ119058"


class ProducerCredits:
    """The credits of a client for one address of its broker, in one of its epochs."""

    def __init__(self, client: Client, store: PagingStore, window: int) -> None:
        self.client, self.store, self.epoch = client, store, client.epoch
        self.window = window // 2
        self.balance = self.arriving = 0
        self.refused = False  # the address is full, and its policy is FAIL
        self.waiting: SendRequest | None = None
        self.acquired = False  # by who waited
        self.blocked = False  # the broker grants them once there is room
        self._ask_for(self.window)

    def acquire(self, request: SendRequest) -> bool:
        """Whether a message can be sent now; if not its request goes on once there are credits."""
        cost = request.cost
        if self.acquired:
            self.acquired = False
            return True
        self._ask_for(cost)
        if self.balance < cost and not self.refused:
            self.waiting = request
            if self.blocked:
                request.hold()
            return False
        self.balance -= min(cost, self.balance)
        return True

    def fails(self) -> bool:
        """Whether the client refuses to send, as the broker has granted no credits; it then asks anew."""
        refused, self.refused = self.refused, False
        if refused:
            self.balance = self.arriving = 0
        return refused

    def _ask_for(self, cost: int) -> None:
        needed = max(cost, self.window)
        if self.balance + self.arriving < needed:
            asked = needed - self.arriving
            self.arriving += asked
            self.client.uplink.carry(self._on_asked, asked)

    def _on_asked(self, asked: int) -> None:
        """The broker grants them, or as soon as there is room: with FAIL, too, though it has said no."""
        if not self.store.is_full():
            self._grant(asked)
            return
        self.store.wait(self._grant, asked)
        if self.store.policy == "FAIL":
            self.client.downlink.carry(self._on_refused, asked)
            return
        self.blocked = True
        if self.waiting is not None:
            self.waiting.hold()

    def _grant(self, asked: int) -> None:
        self.blocked = False
        self.client.downlink.carry(self._on_granted, asked)

    def _on_granted(self, credits: int) -> None:
        self.balance += credits
        self.arriving -= credits
        self._go_on()

    def _on_refused(self, credits: int) -> None:
        """The client has them all the same, so that it does not wait."""
        self.refused = True
        self._on_granted(credits)

    def _go_on(self) -> None:
        request = self.waiting
        cost = 0 if request is None else request.cost
        if request is not None and (self.refused or self.balance >= cost):
            self.balance -= min(cost, self.balance)
            self.waiting, self.acquired = None, self.epoch == self.client.epoch
            request.make()
