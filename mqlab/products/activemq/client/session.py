"""Sessions and consumers of a client: what they hold, and what a loss does to it.

At a loss everything that was received and not acknowledged is forgotten by the client, because the
broker gives it out again; a transaction that had received anything can only be rolled back
(recordings `client_ack_after_reconnect`, `commit_of_received_after_cut`).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from mqlab.products.activemq.broker.message import Message, MessageDispatch
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.transport.openwire import (
    Command,
    CommitTransaction,
    DeliveredAck,
    MessagePull,
    PoisonAck,
    RemoveInfo,
    RollbackTransaction,
    StandardAck,
)
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination, duration
from mqlab.trace.kinds import Kind
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.activemq.client.calls import PendingCall
    from mqlab.products.activemq.client.connection import ClientConnection


class Session:
    """One session of a connection; a transacted one has an open transaction at most."""

    def __init__(self, client: ClientConnection, name: str, transacted: bool = False) -> None:
        self.client, self.name, self.transacted = client, name, transacted
        self.count = 0
        self.transaction: str | None = None
        self.sends: list[Command] = []
        self.rollback_only = False
        self.committing = False
        self.leaving: list[MessageConsumer] = []  # closed, but their transaction was open
        self.opened_after_close = client.state in (
            "failed",
            "closed",
        )  # there was no connection to open it on

    def begin(self) -> str | None:
        """Return the transaction of this session, a new one if there is none."""
        if self.transacted and self.transaction is None:
            self.count += 1
            self.transaction = f"{self.client.name}/{self.name}:{self.count}"
        return self.transaction

    def end(self) -> None:
        """The transaction is over: what was closed in it leaves its queue now."""
        self.transaction = None
        leaving, self.leaving = self.leaving, []
        for consumer in leaving:
            self.client.send(RemoveInfo(consumer.name, consumer.last))
        self.sends = []
        self.rollback_only = self.committing = False

    def finish(self, how: str, call: PendingCall) -> None:
        """Commit or roll back; what had been received before a loss can only be rolled back."""
        client, transaction = self.client, self.transaction
        call.session = self
        if client.refuses(call):
            return
        if transaction is None and not self.rollback_only:
            client.after_round(call)
            return
        if how == "commit" and transaction is not None and not self.rollback_only:
            self.committing = True
            for consumer in self.consumers():
                consumer.commit(transaction)
            client.request(CommitTransaction(transaction, self.name), call)
            return
        for consumer in self.consumers():
            consumer.give_back()
        self.end()
        if how == "commit":
            call.error_on_reply = Refused("TransactionRolledBackException", "received before a loss")
        client.request(RollbackTransaction(transaction), call)

    def consumers(self) -> list[MessageConsumer]:
        """Return the consumers of this session."""
        return [c for c in self.client.consumers.values() if c.session is self]

    def interrupted(self) -> None:
        """The connection is lost: what it had received cannot be committed any more."""
        if self.transacted and any(consumer.holds for consumer in self.consumers()):
            self.rollback_only = True


class MessageConsumer:
    """A consumer: `unconsumed_messages` is what was pushed to it, `unacknowledged` what it took and has not
    settled.

    `allowance` is how many more it may take; None is no limit.
    """

    def __init__(
        self,
        client: ClientConnection,
        spec: ConsumerSpec,
        dest: Destination,
        session: str,
        loop: bool,
    ) -> None:
        self.client, self.dest, self.name, self.mode = client, dest, spec.name, spec.ack_mode
        self.session = client.session(session, spec.ack_mode == "transacted")
        self.acknowledges = spec.acknowledge is not False
        self.prefetch = client.prefetch if spec.prefetch is None else spec.prefetch
        self.priority, self.exclusive = spec.priority, spec.exclusive
        self.selector = Selector(spec.selector) if spec.selector is not None else None
        durable = spec.subscription_name or (spec.name if spec.durable else None)
        self.durable = (client.client_id, durable) if durable is not None else None
        self.allowance: int | None = None if spec.receiving and loop else 0
        self.loop = loop
        self.delay = duration(spec.delay)
        self.node = client.lab.add_node(self.name, "consumer", client.name)
        self.unconsumed_messages: deque[MessageDispatch] = deque()
        self.unacknowledged: list[Message] = []
        self.last = -1  # the number of what it took last
        self.audit = MessageAudit()  # of what it was given
        # Received before a loss in the transaction that is open; it comes again, but not to the user.
        self.expected: dict[int, Message] = {}
        self.again: set[int] = set()
        # How often what it holds of a transaction was delivered before it came here.
        self.before: dict[int, int] = {}
        self.count = 0  # how many it has received
        self.working: Message | None = None  # what it is busy with
        self.busy = self.closed = self.asked = self.paused = False
        self.opened = False
        self.waiting_receive: Any = None  # the call that waits for one message

    @property
    def holds(self) -> list[Message]:
        """What it took and has not settled, the one it is busy with last."""
        return self.unacknowledged if self.working is None else [*self.unacknowledged, self.working]

    def interrupted(self) -> None:
        """The connection is lost: forget what the broker will give out again.

        What was acknowledged one by one stays known, so that it is not taken a second time; the
        acknowledgement of anything from before has no effect. What a transaction has received is
        received once only, as long as it is open.
        """
        self.audit.discard(delivery.message.number for delivery in self.unconsumed_messages)
        self.unconsumed_messages.clear()
        self.again.clear()
        self.asked = False
        held = {message.number: message for message in self.holds}
        if self.session.transacted:
            self.expected |= held
        elif self.mode == "client":
            self.audit.discard(held)
        self.unacknowledged, self.working = [], None

    def on_delivery(self, delivery: MessageDispatch) -> None:
        """A message was pushed; one that it has had before goes to the dead letters unread."""
        self.asked = False
        number = delivery.message.number
        if number in self.expected:
            self.again.add(number)
            self._note_delivered(delivery.message)
            return
        if self.audit.add(number) and not delivery.message.repeated:
            self.client.send(PoisonAck(self.name, delivery.message))
            return
        self.unconsumed_messages.append(delivery)
        self.work()

    def work(self) -> None:
        """Take what may be taken."""
        while self.unconsumed_messages and not (self.busy or self.closed or self.paused):
            if self.waiting_receive is not None:
                self._serve_pull()
            elif self.allowance != 0:
                self.take(self.unconsumed_messages.popleft())
            else:
                return
        if self.prefetch == 0 and self.allowance != 0 and not self.asked and not self.closed:
            self._ask()

    def _ask(self) -> None:
        """Ask for one message, if there is anybody to ask."""
        transport = self.client.transport
        self.asked = not (transport.away or transport.reconnecting)
        self.client.send(MessagePull(self.name))

    def _serve_pull(self) -> None:
        call, self.waiting_receive = self.waiting_receive, None
        delivery = self.unconsumed_messages.popleft()
        self.take(delivery)
        call.finish(got=delivery.message.number)

    def take(self, delivery: MessageDispatch) -> None:
        """Receive one message and settle it as the acknowledge mode says."""
        message = delivery.message
        if self.allowance:
            self.allowance -= 1
        lab, row = self.client.lab, delivery.row
        count = 1 + delivery.before
        self.count += 1
        self.last = message.number
        if self.session.transacted:
            self.before[message.number] = delivery.before
        if count > 1:
            row = self._record(Kind.Redelivered, message, row)
        row = self._record(Kind.Received, message, row)
        if count > 1:
            lab.details[row] = {"delivery_count": count}
        if self.delay:
            self.busy, self.working = True, message
            lab.clock.schedule(lab.clock.now + self.delay, self.on_worked, message)
        else:
            self.settle(message)

    def _record(self, kind: Kind, message: Message, cause: int) -> int:
        """Record what happens here to a message from the broker that the client is connected to."""
        broker = self.client.broker_node
        way = pack_prefix(kind, broker, broker, self.node)
        return self.client.lab.recorder.add_packed(way, message, 0, cause)

    def on_worked(self, message: Message) -> None:
        """The time that a message takes is over."""
        self.busy = False
        if not self.closed:
            if self.working is message:
                self.settle(message)
            self.work()

    def settle(self, message: Message) -> None:
        """Acknowledge at once, with the transaction, or when told to."""
        self.working = None
        if self.session.transacted:
            self.session.begin()
            self.unacknowledged.append(message)
            self._note_delivered(message)
        elif self.mode in ("client", "individual"):
            self.unacknowledged.append(message)
            self._note_delivered(message)
            if self.mode == "client" and self.acknowledges:
                self.acknowledge()
        else:
            self.client.send(StandardAck(self.name, [message]))

    def _note_delivered(self, message: Message) -> None:
        self.client.send(DeliveredAck(self.name, message))

    def acknowledge(self, count: int | None = None) -> None:
        """Settle all it has had, or the last *count*; in individual mode only the last."""
        if not self.unacknowledged:
            return
        last = count or (1 if self.mode == "individual" else len(self.unacknowledged))
        settled = self.unacknowledged[-last:]
        self.unacknowledged = [message for message in self.unacknowledged if message not in settled]
        self.client.send(StandardAck(self.name, settled))

    def commit(self, transaction: str | None) -> None:
        """Acknowledge with the transaction what it has had."""
        settled, self.unacknowledged = self.unacknowledged, []
        for number in (*self.expected, *(message.number for message in settled)):
            self.before.pop(number, None)
        self.expected, self.again = {}, set()
        if settled:
            self.client.send(StandardAck(self.name, settled, transaction))

    def receive_once(self, call: PendingCall, timeout: int) -> None:
        """Ask for one message and wait; without a connection a pull comes back empty at once."""
        if self.client.refuses(call):
            return
        self.waiting_receive = call
        lab = self.client.lab
        if self.prefetch == 0 and self.client.transport.away:
            self.waiting_receive = None
            self.client.after_round(call, got=None)
            return
        self.work()
        if self.waiting_receive is not None and self.prefetch == 0 and not self.asked:
            self._ask()
        lab.clock.schedule_background(lab.clock.now + timeout, self.on_pull_timeout, call)

    def on_pull_timeout(self, call: PendingCall) -> None:
        """Nothing has come in time."""
        if self.waiting_receive is call:
            self.waiting_receive = None
            call.finish(got=None)

    def give_back(self) -> None:
        """The transaction is rolled back: what it had comes once more, after a pause.

        So does what it had before a loss, if it came again; what did not may come from now on.
        """
        came = [m for number, m in self.expected.items() if number in self.again]
        self.audit.discard(self.expected.keys() - self.again)
        back, self.unacknowledged = [*came, *self.unacknowledged], []
        self.expected, self.again = {}, set()
        policy, clock = self.client.redelivery, self.client.lab.clock
        kept = []
        for message in back:
            before = self.before.pop(message.number, 0) + 1
            if 0 <= policy.maximum < before:
                self.client.send(PoisonAck(self.name, message))
            else:
                kept.append(MessageDispatch(message, before, message.row))
        self.unconsumed_messages.extendleft(reversed(kept))
        if kept:
            self.paused = True
            clock.schedule(clock.now + policy.wait(kept[0].before) * 1000, self.on_again, None)

    def on_again(self, _: None) -> None:
        """The pause after a rollback is over."""
        self.paused = False
        self.work()

    def allow(self, count: int | None) -> None:
        """Let it take *count* more messages; None is all it can."""
        self.allowance = count
        self.work()

    def close(self) -> None:
        """Take nothing more; whoever waits for a message gets none."""
        self.closed = True
        self.unconsumed_messages.clear()
        pull, self.waiting_receive = self.waiting_receive, None
        if pull is not None:
            pull.finish(got=None)
