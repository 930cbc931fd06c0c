"""A consumer: its prefetch buffer, its acknowledge mode, and what a rollback does.

The modes are those of JMS with ActiveMQ's individual one. What the client has in its hands and will
acknowledge later is reported as delivered, which makes room for more (ActiveMQ rules 27.1, 27.2 and 27.3).
How all this reaches the broker is its transport's: a socket with an address, or a connection of its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import ConsumerInfo, Message
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.products.activemq.transport.openwire import Command, DeliveredAck, MessagePull, PoisonAck
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination, duration
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.activemq.client.calls import PendingCall
    from mqlab.products.activemq.lab import Lab

# Of the prefetch: so many are reported at once, or acknowledged in dups_ok mode. From queues, in that
# mode too, each message is acknowledged by itself (played with 5.5.1 and 5.17.2).
BATCH = 0.5
Delivery = tuple[Message, int, int]  # a message, the row of its dispatch, how often it was delivered before

Calls = Callable[[str], "PendingCall"]  # makes the call of a client that the script may wait for


class MessageConsumer(ABC):
    """Takes messages from its buffer, one after the other, and acknowledges them.

    `allowance` is how many more it may take, None is no limit; `unacknowledged` is what it has received and
    not acknowledged; `by_action` whether it acknowledges only when told to.
    """

    node: int
    durable: tuple[str, str] | None  # (client id, name) of its durable subscription
    share = BATCH
    # Its connection has one session, which acknowledges by itself (`optimizedMessageDispatch`).
    optimized = True
    checks_expiry = True
    acknowledges_alone = False  # each message of a transaction by itself
    holds_back = True  # takes nothing while what was rolled back waits to come again
    wanted_prefetch: int | None  # None is what the broker's policy says
    session_name = ""
    connected = True  # whether there is anybody to ask for messages

    def __init__(
        self, lab: Lab, spec: ConsumerSpec, dest: Destination, by_action: bool, redelivery: Redelivery
    ) -> None:
        self.lab, self.spec, self.name, self.dest = lab, spec, spec.name, dest
        self.by_action, self.redelivery, self.exclusive = by_action, redelivery, spec.exclusive
        self.puts_off = spec.ack_mode == "dups_ok" and not by_action
        self.at_once = not by_action and not (self.puts_off and not dest.is_queue)
        self.allowance: int | None = None if spec.receiving else 0
        self.delay = duration(spec.delay)
        self.sorts = lab.rules.client_sorts
        self.buffer: deque[Delivery] = deque()
        self.busy = 0  # with a message, or with the pause after a rollback
        self.last_wait = 0  # ms: after the last rollback
        self.closed = self.asked = self.pulled = False
        self.count = self.settled = 0  # how many it has received, and had when it acknowledged the last alone
        self.unacknowledged: list[Message] = []
        self.delivered = 0  # how many it has to report (`deliveredCounter` of `ActiveMQMessageConsumer`)
        self.pushed: defaultdict[int, MessageAudit] = defaultdict(MessageAudit)  # what it had, by destination
        self.recorder = lab.recorder

    def info(self) -> ConsumerInfo:
        """Return what its broker, and others, are told of it."""
        spec = self.spec
        dialect = "activemq-5.5" if self.lab.rules.missing_differs else "activemq"
        selector = Selector(spec.selector, dialect) if spec.selector else None
        info = ConsumerInfo(
            self.lab.new_id(), self.dest, spec.priority, selector, self.exclusive, durable=self.durable
        )
        info.browser = spec.browser
        info.not_from = self.connection_name if spec.no_local else None
        return info

    @property
    def connection_name(self) -> str:
        """What its connection is called."""
        return self.spec.connection or self.name

    def set_prefetch(self, prefetch: int | None, own: int | None = None) -> None:
        """Take note of its prefetch, which may be the broker's to say, and of its *own*."""
        self.prefetch = prefetch
        # How many are reported or acknowledged together.
        self.batch = max(1, ((prefetch if own is None else own) or 0) * self.share)

    def comes_from(self, broker: int, node: int, sub: int = -1) -> None:
        """What it takes comes from that broker now; its stamps are the same for every message."""
        self.receipt = pack_prefix(Kind.Received, broker, broker, node, -1, sub)
        self.redelivery_stamp = pack_prefix(Kind.Redelivered, broker, broker, node, -1, sub)

    @abstractmethod
    def send(self, command: Command) -> None:
        """Tell the broker something."""

    @abstractmethod
    def settle(self, count: int | None, call: Calls) -> None:
        """Acknowledge what it was told to: all, or the last *count*; *call* makes the call of a client."""

    @abstractmethod
    def end_transaction(self, how: str, call: Calls) -> None:
        """Commit or roll back its session."""

    @abstractmethod
    def recover(self, call: Calls) -> None:
        """Let what its session has not acknowledged come again."""

    @abstractmethod
    def leave(self, unsubscribe: bool, call: Calls) -> None:
        """Close it at the broker too; with *unsubscribe* its durable subscription ends."""

    @abstractmethod
    def send_acks(self, messages: list[Message]) -> None:
        """Send the acknowledgement of messages."""

    # Taking

    def _best(self) -> Delivery:
        """Take what is next out of the buffer in 5.5: the oldest of the highest JMS priority."""
        best = max(self.buffer, key=lambda one: one[0].headers.get("JMSPriority", 4))
        self.buffer.remove(best)
        return best

    def work(self, come: Delivery | None = None) -> None:
        """Take what may be taken: from the buffer, then what has just *come*, which else waits there."""
        buffer = self.buffer
        if come is not None and buffer:
            buffer.append(come)
            come = None
        while (come or buffer) and self.allowance != 0 and not self.busy and not self.closed:
            message, row, before = come or (self._best() if self.sorts else buffer.popleft())
            come = None
            if (message.expires or message.redeliveries) and self.drops(message):
                continue
            self.take(message, row, before)
        if come is not None:
            buffer.append(come)
        if self.prefetch == 0 and not self.busy and self.allowance != 0 and not self.closed:
            self.ask()

    def ask(self, time: int | None = None) -> None:
        """Pull one message: with prefetch 0 it is sent only on request, or not if *time* (us) is over."""
        if not self.asked:
            self.asked, self.pulled = self.connected, True
            self.send(MessagePull(self.name, time))

    def drops(self, message: Message) -> bool:
        """Whether a message has become too old in the buffer: nobody gets it (ActiveMQ rule 27.5)."""
        if not 0 < message.expires <= self.lab.clock.now or not self.checks_expiry:
            return False
        self.send(PoisonAck(self.name, message, Reason.expired))
        return True

    def take(self, message: Message, row: int, before: int) -> None:
        """Receive one message and work on it."""
        self.count += 1
        if self.allowance:
            self.allowance -= 1
        if before:
            self.receive_again(message, row, before)
        else:
            self.recorder.add_packed(self.receipt, message, message.hops, 0, row)
        message.received = True
        if self.delay:
            self.busy += 1
            self.lab.clock.schedule(self.lab.clock.now + self.delay, self.on_worked, message)
        else:
            self.finish(message)

    def receive_again(self, message: Message, row: int, before: int) -> int:
        """Receive a message that was delivered *before*; return the row of it."""
        row = self.recorder.add_packed(self.redelivery_stamp, message, message.hops, 0, row)
        return self.recorder.add_packed(self.receipt, message, message.hops, 0, row)

    def on_worked(self, message: Message) -> None:
        """The time that the message takes is over."""
        self.busy -= 1
        if not self.closed:
            self.finish(message)
            self.work()

    # Acknowledging

    def finish(self, message: Message) -> None:
        """Be done with the work on a message: acknowledge it at once, with others, or when told to."""
        if self.at_once:
            self.send_acks([message])
            return
        self.unacknowledged.append(message)
        if self.puts_off:
            self.delivered += 1
            if self.delivered >= self.batch or self.is_overdue():
                self.acknowledge()
        else:
            self.report(message)

    def report(self, message: Message) -> None:
        """Count what is acknowledged later; half of the prefetch is reported together (`ackLater`)."""
        if self.acknowledges_alone:
            self.send(DeliveredAck(self.name, message, 1))
            return
        self.delivered += 1
        if self.delivered >= self.batch:
            self.send(DeliveredAck(self.name, message, self.delivered))
            self.delivered = 0

    def is_overdue(self) -> bool:
        """Whether what it has put off has waited long enough."""
        return False

    def acknowledge(self, count: int | None = None) -> None:
        """Acknowledge all, or only the last *count*.

        In individual mode that is the message received last unless told: a second time has no effect.
        """
        if count is None and self.spec.ack_mode == "individual":
            count, self.settled = int(self.count > self.settled), self.count
        first = 0 if count is None else max(0, len(self.unacknowledged) - count)
        done, self.unacknowledged = self.unacknowledged[first:], self.unacknowledged[:first]
        if self.spec.ack_mode != "individual":  # which changes no counter (ActiveMQ rule 27.2)
            self.delivered = max(0, self.delivered - len(done))
        if done:
            self.send_acks(done)

    @abstractmethod
    def count_rollback(self, message: Message) -> int:
        """Return how often a message was delivered that comes again after a rollback."""

    def count_anew(self) -> int:
        """Return how many messages a rollback takes back; they are not reported again (ActiveMQ rule 27.3).

        The client has acknowledged them in the transaction (`beforeEnd`).
        """
        taken = len(self.unacknowledged)
        self.delivered = max(0, self.delivered - taken)
        return 0 if self.lab.edition == "5.5" else taken

    def give_back(self) -> None:
        """Roll back: what was received and not committed comes again."""
        again, self.unacknowledged = self.unacknowledged, []
        self.redeliver(again)

    def redeliver(self, messages: Iterable[Message]) -> None:
        """Take messages again, after the redelivery policy's wait in which nothing is taken, or never.

        The last of them decides for all (`ActiveMQMessageConsumer.rollback`; ActiveMQ rule 27.3).
        """
        policy, clock = self.redelivery, self.lab.clock
        back: list[Delivery] = [(message, message.row, self.count_rollback(message)) for message in messages]
        self.delivered -= len(back)  # so that what it takes back is not reported again
        if not back:
            return
        times = back[-1][2]
        if 0 <= policy.maximum < times:
            self.last_wait = 0
            for message, *_ in back:
                self.send(PoisonAck(self.name, message))
            return
        self.last_wait = policy.wait(times, self.last_wait)
        self.busy += self.holds_back
        if self.lab.edition == "5.5":  # there they wait in the buffer, which a lost connection empties
            self.buffer.extendleft(reversed(back))
            back = []
        clock.schedule(clock.now + self.last_wait * 1000, self.on_again, back)

    def on_again(self, kept: list[Delivery]) -> None:
        """The pause after a rollback is over."""
        self.busy -= self.holds_back
        if not self.closed:
            self.buffer.extendleft(reversed(kept))
        self.work()

    # What its user does

    def allow(self, count: int | None) -> None:
        """Let it take *count* messages from now on; None is all it can."""
        self.allowance = count
        self.work()

    def close(self) -> None:
        """Take nothing more; what dups_ok has put off is acknowledged."""
        if self.puts_off:
            self.acknowledge()
        self.closed = True
        self.buffer.clear()
