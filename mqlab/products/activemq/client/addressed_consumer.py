"""A consumer on a client's connection: what it holds, and what a loss does to it (ActiveMQ rules 11)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message, MessageDispatch
from mqlab.products.activemq.client import consumer_options, line
from mqlab.products.activemq.client.message_consumer import Calls, Delivery, MessageConsumer
from mqlab.products.activemq.client.pulls import Pulls
from mqlab.products.activemq.transport.openwire import (
    Command,
    DeliveredAck,
    PoisonAck,
    RemoveInfo,
    RemoveSubscriptionInfo,
    StandardAck,
)
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.products.activemq.client.connection import ClientConnection


class AddressedConsumer(MessageConsumer):
    """A consumer on a client's connection, with a session that may be transacted."""

    # what the connection's address says (`consumer_options.take`)
    looks_twice: bool
    counts_before: bool  # gives up what comes too often before anybody has it
    patience: int  # how long (us) what it puts off may wait, 0 is for ever
    interval: int  # us: so often it acknowledges what it has put off

    def __init__(
        self,
        client: ClientConnection,
        spec: ConsumerSpec,
        dest: Destination,
        session: str,
        loop: bool,
    ) -> None:
        by_action = spec.acknowledge is False or spec.ack_mode in ("individual", "transacted")
        super().__init__(client.lab, spec, dest, by_action, client.redelivery)
        self.client, self.session_name = client, session
        self.session = client.session(session, spec.ack_mode == "transacted")
        if dest.is_queue:
            self.pushed = client.pushed
        durable = spec.subscription_name or (spec.name if spec.durable else None)
        consumer_options.take(self, client.own, durable is not None)
        self.optimized = len(client.sessions) == 1 and spec.ack_mode == "auto"
        self.durable = (client.client_id, durable) if durable is not None else None
        if not loop:
            self.allowance = 0
        self.busy = int(not client.runs)
        self.node = client.lab.add_node(self.name, "consumer", client.name)
        self.comes_from(client.broker_node, self.node)
        self.last = -1  # the number of what it took last
        # Received before a loss in the transaction that is open; it comes again, but not to the user.
        self.expected: dict[int, Message] = {}
        self.again: set[int] = set()
        self.rolled_back: set[int] = set()  # the numbers of what comes again without its broker
        self.committed: list[Message] = []  # what the last commit was to acknowledge
        self.counts: dict[int, int] = {}  # and how often it was delivered before
        # How often what it holds of a transaction was delivered before it came here.
        self.before: dict[int, int] = {}
        self.working: Message | None = None  # what it is busy with
        self.opened = False  # its opening has succeeded
        self.instead_of: AddressedConsumer | None = None  # the one of its name that was there before
        self.acknowledged_at = self.made = client.lab.clock.now  # when it acknowledged last
        self.pulls = Pulls(self)

    @property
    def connection_name(self) -> str:
        """What its connection is called."""
        return self.client.name

    @property
    def connected(self) -> bool:  # type: ignore[override]
        """Whether there is anybody to ask for messages."""
        transport = self.client.transport
        return not (transport.away or transport.reconnecting)

    def send(self, command: Command) -> None:
        """Tell the broker something."""
        self.client.send(command)

    def send_acks(self, messages: list[Message]) -> None:
        """Send the acknowledgement of messages, in the transaction if there is one."""
        for message in messages:
            self.before.pop(message.number, None)
        if self.patience:
            self.acknowledged_at = self.lab.clock.now
        # In dups_ok mode it counts those from before a loss, too: a durable subscription refuses that.
        surplus = self.puts_off and self.spec.ack_mode == "dups_ok" and self.delivered > 0
        self.delivered = 0 if self.puts_off else self.delivered
        self.send(StandardAck(self.name, messages, self.session.transaction, surplus and bool(self.durable)))

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
        self._forget(delivery[0] for delivery in self.buffer)
        self.buffer.clear()
        self.again.clear()
        self.asked = self.pulls.nothing = False
        held = self.holds
        if self.session.transacted:
            self.expected |= {message.number: message for message in held}
        elif self.spec.ack_mode == "client" and self.lab.edition != "5.5":
            self._forget(held)
        self.unacknowledged, self.working = [], None

    def _forget(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.pushed[message.dest_no].discard([message.number])

    def on_delivery(self, delivery: MessageDispatch) -> None:
        """A message was pushed; one that it has had before goes to the dead letters unread.

        A connection knows the messages of a queue for all its consumers, if its address is a failover one
        (5.17.2: `ConnectionAudit`, with `Transport.isFaultTolerant`); what another one's open transaction has
        received before a loss is delivered (ActiveMQ rule 11.5). Outside of a transaction 5.5 acknowledges
        what it has had before, in client mode too (`ActiveMQMessageConsumer.dispatch` of 5.5.1).
        """
        self.asked = False
        message, old = delivery.message, self.lab.edition == "5.5"
        self.rolled_back.discard(message.number)
        looks = self.client.failover is not None and self.looks_twice
        if not (looks and self.pushed[message.dest_no].add(message.number)):
            self.buffer.append(delivery)
            self.work()
        elif message.number in self.expected:
            self.again.add(message.number)
            self.expected[message.number] = message
            if old:  # 5.17.2 tells of each alone
                self.report(message)
            else:
                self.send(DeliveredAck(self.name, message, 1))
        elif old and not self.session.transacted:
            self.send(StandardAck(self.name, [message]))
        elif not old and any(message.number in c.expected for c in self.client.consumers.values()):
            self.buffer.append(delivery)
            self.work()
        else:
            self.send(PoisonAck(self.name, message))

    def work(self, come: Delivery | None = None) -> None:
        """Take what may be taken, for a call that waits first."""
        if come is not None:
            self.buffer.append(come)
        if self.pulls.call is not None and self.buffer and not self.busy and not self.closed:
            message, row, before = self.buffer.popleft()
            if self.drops(message):
                if self.prefetch == 0:
                    self.ask()
                self.work()
                return
            call, self.pulls.call = self.pulls.call, None
            self.take(message, row, before)
            call.finish(got=message.number)
        super().work()

    def drops(self, message: Message) -> bool:
        """Whether nobody gets a message: one that a transaction is given too often is not, either.

        Only what its broker has counted counts (`redeliveryExceeded` of 5.17.2; ActiveMQ rule 27.3).
        """
        fresh = message.number not in self.rolled_back
        if self.counts_before and fresh and 0 <= self.redelivery.maximum < message.redeliveries:
            self.send(PoisonAck(self.name, message))
            return True
        return super().drops(message)

    def take(self, message: Message, row: int, before: int) -> None:
        """Receive one message and work on it."""
        self.last = message.number
        self.working = message
        super().take(message, row, before)
        if self.delay and self.lab.by_calls:  # the recorders' consumers work once `receive` has come back
            self.finish(message)

    def receive_again(self, message: Message, row: int, before: int) -> int:
        """Receive a message that was delivered *before*; return the row of it."""
        row = super().receive_again(message, row, before)
        self.lab.details[row] = {"delivery_count": 1 + before}
        self.before[message.number] = before
        return row

    def finish(self, message: Message) -> None:
        """Be done with the work on a message; one from before a loss is not its own any more."""
        if self.working is not message:
            return
        self.working = None
        if self.session.transacted:
            self.session.begin()
        super().finish(message)
        if self.at_once:
            if self.spec.ack_mode == "client":
                self.session.acknowledge()
        elif self.interval > 0 and len(self.unacknowledged) == 1:
            clock = self.lab.clock
            due = clock.now + self.interval - (clock.now - self.made) % self.interval
            clock.schedule_background(due, self.on_interval, None)

    def on_interval(self, _: None) -> None:
        """Acknowledge what it has put off: so often it looks (`setOptimizedAckScheduledAckInterval`)."""
        if not self.closed:
            self.acknowledge()

    def is_overdue(self) -> bool:
        """Whether what it has put off has waited long enough."""
        return 0 < self.patience <= self.lab.clock.now - self.acknowledged_at

    def commit(self) -> None:
        """Acknowledge with the transaction what it has had."""
        self.counts = dict(self.before)
        for number in self.expected:
            self.before.pop(number, None)
        self.unacknowledged = self.committed = [*self.expected.values(), *self.unacknowledged]
        self.expected, self.again = {}, set()
        self.last_wait = 0
        self.acknowledge()

    def allow(self, count: int | None) -> None:
        """Let it take *count* messages from now on; who is held pulls no more (`Taker` of the recorders)."""
        super().allow(count)
        if count == 0:
            self.pulls.end()

    def in_doubt(self) -> None:
        """Nobody knows whether its last commit took effect: what comes again is taken (ActiveMQ rule 7.7)."""
        self._forget(self.committed)

    def take_back_committed(self) -> None:
        """Its last commit has failed: what that was to acknowledge comes once more, after a pause."""
        self.in_doubt()
        self.before = dict(self.counts)
        self.rolled_back.update(message.number for message in self.committed)
        self.redeliver(self.committed)

    def count_rollback(self, message: Message) -> int:
        """Return how often a message was delivered that comes again after a rollback."""
        return self.before.pop(message.number, 0) + 1

    def give_back(self) -> None:
        """The transaction is rolled back: what it had comes once more, after a pause.

        So does what it had before a loss, if it came again; what did not may come from now on.
        """
        came = [m for number, m in self.expected.items() if number in self.again]
        self._forget([*self.expected.values(), *self.unacknowledged])
        back, self.unacknowledged = [*came, *self.unacknowledged], []
        self.expected, self.again = {}, set()
        self.rolled_back.update(message.number for message in back)
        self.redeliver(back)

    def settle(self, count: int | None, call: Calls) -> None:
        """Acknowledge what it was told to, by its last message: without any it cannot."""
        pending = call(self.client.name)
        if not self.count:
            pending.fail("NullPointerException", "it has received no message that it could acknowledge")
        elif self.closed and self.spec.ack_mode in ("client", "individual"):
            pending.fail("IllegalStateException", "The Consumer is closed")
        elif not self.client.refuses(pending):
            if self.spec.ack_mode == "client" and count is None:
                self.session.acknowledge()
            elif self.spec.ack_mode in ("client", "individual"):  # of others it has no effect (JMS)
                self.acknowledge(count)
            line.after_round(self.client, pending)

    def recover(self, call: Calls) -> None:
        """Let what its session has not acknowledged come again."""
        self.session.recover(call(self.client.name))

    def end_transaction(self, how: str, call: Calls) -> None:
        """Commit or roll back its session; one with client acknowledge has no transaction, and recovers."""
        if how == "rollback" and not self.session.transacted:
            self.recover(call)
        else:
            self.session.finish(how, call(self.client.name))

    def leave(self, unsubscribe: bool, call: Calls) -> None:
        """Close it at the broker too, once its transaction is over."""
        client, transport = self.client, self.client.transport
        pending = call(client.name)
        if self.session.transaction is not None and (self.unacknowledged or self.expected):
            self.allowance = 0
            self.session.leaving.append(self)
            pending.finish()
            return
        self.close()
        if transport is None or transport.away:
            line.after_round(client, pending)
        else:  # nobody waits for the broker's answer (`ActiveMQMessageConsumer.doClose` of 5.17.2)
            client.send(RemoveInfo(self.name, self.last))
            pending.finish()
        if unsubscribe and self.durable is not None:
            client.send(RemoveSubscriptionInfo(*self.durable))

    def give_way(self) -> None:
        """Its opening has failed: who had its name before has it again."""
        self.close()
        if self.instead_of is not None and self.client.consumers.get(self.name) is self:
            self.client.consumers[self.name] = self.lab.consumers[self.name] = self.instead_of

    def close(self) -> None:
        """Take nothing more, and forget what others will get; whoever waits for a message gets none."""
        self._forget([*(message for message, *_ in self.buffer), *self.expected.values()])
        if self.spec.ack_mode in ("client", "individual"):
            self._forget(self.holds)
        super().close()
        call, self.pulls.call = self.pulls.call, None
        if call is not None:
            call.finish(got=None)
