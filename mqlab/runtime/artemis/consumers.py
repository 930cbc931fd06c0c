"""Consumers: what they hold, take, acknowledge, give back (artemis-observed.md, sections 2 and 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mqlab.runtime.artemis.clients import CLOSED, ROLLED_BACK, Client
from mqlab.runtime.artemis.messages import Held, Message, Queue
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab


class Consumer(Client):
    """A consumer with a connection and a session of its own."""

    role = "consumer"

    def __init__(self, lab: HaLab, name: str, keys: Mapping[str, Any]) -> None:
        super().__init__(lab, name, keys)
        self.dest = Destination(*(("queue", keys["queue"]) if "queue" in keys
                                  else ("topic", keys["topic"])))  # fmt: skip
        self.selector = keys.get("selector")
        self.mode = keys.get("ack_mode", "auto")
        self.receiving = bool(keys.get("receiving", True))
        self.acknowledges = bool(keys.get("acknowledge", True))
        self.queue: Queue | None = None
        self.sub = -1
        self.buffer: list[Held] = []
        self.taken: list[Held] = []
        self.received: list[int] = []
        self.redelivered: list[int] = []

    @property
    def has_work(self) -> bool:
        """Whether it holds messages that it has taken and not acknowledged."""
        return self.mode != "auto" and bool(self.taken)

    def wants(self, message: Message) -> bool:
        """Whether its selector lets a message pass."""
        return self.lab.selects(self.selector, message)

    def opened(self) -> None:
        """Subscribe: to the queue, to the durable subscription, or with a queue of its own."""
        assert self.at is not None
        name = self.dest.name
        if self.dest.is_queue:
            self.queue = self.lab.queue(self.at, name)
        elif "durable_name" in self.keys:
            name = f"{self.keys['client_id']}.{self.keys['durable_name']}"
            self.queue = self.lab.queue(self.at, name, self.dest.name, self.selector)
        else:
            self.queue = self.lab.temporary(self.at, self.dest.name, self.selector)
        self.queue.consumers.append(self)
        self.sub = self.lab.notes.recorder.name_subscription(
            f"{self.dest} at {self.at.name} by {self.name}"
            + (f" where {self.selector}" if self.selector else "")
        )
        self.lab.event(Kind.Subscribed, self.at, frm=self.node, to=self.at.node, sub=self.sub,
                       rule=Rule.local_consumer, dest=self.dest)  # fmt: skip
        self.lab.balancing.dispatch(self.at)
        self.lab.balancing.redistribute()

    def take(self, item: Held) -> None:
        """A message is in the client's buffer; a receiving one takes it at once."""
        self.buffer.append(item)
        self.go_on()

    def go_on(self) -> None:
        """Take what is there, while receiving."""
        while self.receiving and self.buffer and self.state == "connected":
            if not self.receive_one(self.acknowledges):
                return

    def receive_one(self, acknowledge: bool = True, step: int | None = None) -> bool:
        """Take one message; False if there is none, or if its acknowledgement rolled all back."""
        if not self.buffer:
            return False
        item = self.buffer.pop(0)
        number = item.message.number
        self.received.append(number)
        if item.tries:
            self.redelivered.append(number)
            self.lab.message(Kind.Redelivered, item.message, self.at, to=self.node, cause=item.row)
        item.row = self.lab.message(Kind.Received, item.message, self.at, cause=item.row)
        self.taken.append(item)
        if self.mode == "transacted" or not acknowledge:
            return True
        if self.mode == "client" and self.spoilt:
            now = self.lab.step if step is None else step
            self.results.append(f"step {now} acknowledge {number}: {ROLLED_BACK}")
            self.roll_back()
            return False
        self.settle()
        return True

    def settle(self) -> None:
        """Acknowledge all that was taken."""
        for item in self.taken:
            if self.queue is not None and item in self.queue.held:
                self.queue.held.remove(item)
                self.lab.message(
                    Kind.Acknowledged, item.message, self.at, self.node, cause=item.row
                )
        self.taken = []

    def give_back(self, taken: bool, buffered: bool) -> None:
        """What it holds goes back to its place, counted as tried or not."""
        rows = [(item, taken) for item in self.taken] + [(item, buffered) for item in self.buffer]
        self.taken, self.buffer = [], []
        for item, tried in rows:
            if self.queue is not None and self.at is not None and item in self.queue.held:
                self.queue.give_back(item, tried)
                self.lab.notes.returned(item, self.queue, self.at)

    def roll_back(self) -> None:
        """Everything comes again; what had been taken counts as tried."""
        self.spoilt = False
        self.give_back(taken=True, buffered=False)
        if self.at is not None:
            self.lab.balancing.dispatch(self.at)

    def commit(self, step: int, what: str = "commit") -> None:
        """Commit what was taken; after a lost connection it is rolled back."""
        if self.spoilt:
            self.results.append(f"step {step} {what}: {ROLLED_BACK}")
            self.roll_back()
        else:
            self.settle()
            self.results.append(f"step {step} {what}: ok")

    def rollback(self, step: int, what: str = "rollback") -> None:
        """Give back what was taken."""
        self.roll_back()
        self.results.append(f"step {step} {what}: ok")

    def detach(self, flagged: bool) -> None:
        """Leave the queue: what it held goes back to its place; a queue of its own ends with it."""
        self.leave(taken=flagged, buffered=flagged)

    def leave(self, taken: bool, buffered: bool) -> None:
        """Leave the queue, after giving back what is held, counted as tried or not."""
        if self.queue is not None and self in self.queue.consumers:
            self.queue.consumers.remove(self)
        self.give_back(taken, buffered)
        queue, self.queue = self.queue, None
        if queue is None or self.at is None:
            return
        if queue.own and self.at.live is not None:
            self.at.live.queues.pop(queue.name, None)
            for item in queue.items():
                self.lab.message(Kind.Discarded, item.message, self.at, rule=Rule.no_subscription,
                                 cause=item.row)  # fmt: skip

    def gave_up(self) -> None:
        """A receiver sees that its connection is closed."""
        super().gave_up()
        if self.receiving:
            self.results.append(CLOSED)

    def counted(self) -> dict[str, Any]:
        """Return what it sent, or got."""
        return {"count": len(self.received), "received": self.received}
