"""Consumers: each on a connection of its own to one broker, or to the first of a failover address."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import ConsumerInfo, Message
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.products.activemq.client.acknowledgements import Acknowledgements
from mqlab.products.activemq.client.direct_client import DirectClient, LocalConnection
from mqlab.products.activemq.client.local_subscription import LocalSubscription, Push
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec import uri as uris
from mqlab.spec.selector import Selector
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.lab import Lab

TOPIC_PREFETCH_5_5 = 32766


class DirectConsumer(DirectClient):
    """A consumer: takes messages from its buffer, one after the other, and acknowledges them.

    `allowance` is how many more it may take; None is no limit.
    """

    def __init__(self, lab: Lab, spec: ConsumerSpec, broker: Broker) -> None:
        self.spec = spec
        super().__init__(lab, spec, broker, lab.add_node(spec.name, "consumer", broker.name))
        self.buffer: deque[Push] = deque()
        self.allowance: int | None = None if spec.receiving else 0
        self.delay = duration(spec.delay)
        self.sorts = lab.rules.client_sorts
        self.busy = self.closed = self.asked = False
        self.count = 0
        self.unconfirmed: set[int] = set()  # received, and the acknowledgement not yet there
        self.had: set[int] = set()  # what was unconfirmed when a broker went
        # Of a queue that lets two copies in, a client sends the second to the dead letters.
        self.looks_twice = spec.reads.is_queue
        self.pushed: defaultdict[int, MessageAudit] = defaultdict(MessageAudit)  # what it had, by destination
        self.session = Acknowledgements(self)
        self.sub = self._subscription()

    def _subscription(self) -> LocalSubscription:
        spec = self.spec
        dialect = "activemq-5.5" if self.lab.rules.missing_differs else "activemq"
        selector = Selector(spec.selector, dialect) if spec.selector else None
        key = (spec.client_id or spec.name, spec.subscription_name or spec.name)
        info = ConsumerInfo(
            self.lab.new_id(),
            spec.reads,
            spec.priority,
            selector,
            spec.exclusive,
            durable=key if spec.durable else None,
        )
        info.browser = spec.browser
        info.not_from = (spec.connection or spec.name) if spec.no_local else None
        return LocalSubscription(self.broker, self, info, self._prefetch(), self.connection)

    def _prefetch(self) -> int:
        """Return its own prefetch, or what the destination's policy gives its kind."""
        spec = self.spec
        if spec.prefetch is not None:
            return spec.prefetch
        kind = "topic"
        if spec.reads.is_queue:
            kind = "queue_browser" if spec.browser else "queue"
        elif spec.durable:
            kind = "durable_topic"
        prefetch: int = self.broker.policy_for(spec.reads)[f"{kind}_prefetch"]
        if kind == "topic" and self.lab.edition == "5.5":
            return min(prefetch, TOPIC_PREFETCH_5_5)
        return prefetch

    def open(self) -> None:
        """Subscribe over its connection; where that was refused, it has failed."""
        if not self.connection.alive:
            self.closed = True
            self.lab.problem(f"{self.name}: {self.why_refused}")
        else:
            self.sub.subscribe(None)

    def browse(self) -> None:
        """Look at what the queue holds, in order, as far as the prefetch reaches."""
        for dest, destination in self.broker.by_name.items():
            if dest == self.sub.dest or self.broker.fits(self.sub.dest, dest):
                for message in list(destination.messages)[: self.sub.prefetch]:
                    way = self.broker.node, self.node, -1, self.sub.no
                    self.broker.record_message(Kind.Browsed, message, *way, cause=message.row)
                    self.count += 1

    def on_message(self, push: Push) -> None:
        """A message has arrived in the prefetch buffer, if nothing holds or swallows it."""
        message, _, connection = push
        if connection.impaired and not connection.lets_pass(True, self.on_message, push):
            return
        connection.last_heard_us = self.lab.clock.now
        if self.had and message.number in self.had:
            self.finish(message)  # only the acknowledgement was lost with the broker
        elif not self.closed and message in self.sub.dispatched:
            self.asked = False
            looks = self.looks_twice and not message.received
            if looks and self.pushed[message.dest_no].add(message.number):
                self.send_poison_ack(message)
                return
            self.buffer.append(push)
            if self.sorts:  # so that what comes at one time is sorted
                self.lab.clock.schedule(self.lab.clock.now, self.on_buffered, None)
            else:
                self.work()

    def on_buffered(self, _: None) -> None:
        """All that came at this time is in the buffer."""
        self.work()

    def _best(self) -> Push:
        """Take what is next out of the buffer in 5.5: the oldest of the highest JMS priority."""
        best = max(self.buffer, key=lambda one: one[0].headers.get("JMSPriority", 4))
        self.buffer.remove(best)
        return best

    def work(self) -> None:
        """Take what may be taken from the buffer."""
        while self.buffer and self.allowance != 0 and not self.busy and not self.closed:
            message, row, _ = self._best() if self.sorts else self.buffer.popleft()
            self.take(message, row)
        if self.sub.prefetch == 0 and not self.busy and self.allowance != 0 and not self.closed:
            self.ask()

    def ask(self) -> None:
        """Pull one message: with prefetch 0 the broker sends only on request."""
        if not self.asked:
            self.asked = True
            self.connection.out.carry(self.sub.on_asked, None)

    def take(self, message: Message, row: int) -> None:
        """Receive one message and work on it."""
        self.count += 1
        if self.allowance is not None:
            self.allowance -= 1
        again = message.received
        message.received = True
        sub = self.sub
        if again:
            way = self.broker.node, self.node, -1, sub.no
            row = self.broker.record_message(Kind.Redelivered, message, *way, cause=row)
        sub.recorder.add_packed(sub.receipt, message, 0, row)
        if self.delay:
            self.busy = True
            self.lab.clock.schedule(self.lab.clock.now + self.delay, self.on_worked, message)
        else:
            self.finish(message)

    def on_worked(self, message: Message) -> None:
        """The time that the message takes is over."""
        self.busy = False
        if not self.closed:
            self.finish(message)
            self.work()

    def finish(self, message: Message) -> None:
        """Be done with the work on a message."""
        if self.session.at_once:
            self.unconfirmed.add(message.number)  # as `acknowledge` does; a call less for each
            self.connection.out.carry(self.sub.acknowledged, message)
        else:
            self.session.received(message)

    def settle(self, count: int | None) -> None:
        """Acknowledge or commit what was received: all of it, or the last *count*."""
        self.session.acknowledge(count)

    def give_back(self) -> None:
        """Roll back: what was received and not committed comes again."""
        self.session.roll_back()

    # What its session asks for

    def acknowledge(self, message: Message) -> None:
        """Send the acknowledgement of a message."""
        self.unconfirmed.add(message.number)
        self.connection.out.carry(self.sub.on_acknowledged, message)

    def report_delivered(self, message: Message) -> None:
        """Tell the broker that the client has a message in hands."""
        self.connection.out.carry(self.sub.on_delivered, message)

    def send_poison_ack(self, message: Message) -> None:
        """Send a message away for good: it came again too often."""
        self.connection.out.carry(self.sub.on_poisoned, message)

    def take_again(self, messages: list[Message], wait: int) -> None:
        """Put messages back to the head of the buffer, after *wait* us in which nothing is taken."""
        self.busy = True
        self.lab.clock.schedule(self.lab.clock.now + wait, self.on_again, messages)

    def on_again(self, messages: list[Message]) -> None:
        """The redelivery delay is over."""
        self.busy = False
        if not self.closed:
            self.buffer.extendleft((m, m.row, self.connection) for m in reversed(messages))
            self.work()

    def allow(self, count: int | None) -> None:
        """Let it take *count* messages from now on; None is all it can."""
        self.allowance = count
        self.work()

    def close(self, unsubscribe: bool = False) -> None:
        """Close consumer and connection; what it did not acknowledge goes back."""
        self.session.close()
        rule = Reason.unsubscribed if unsubscribe else Reason.consumer_left
        self.connection.out.carry(self.sub.on_left, rule)
        self.closed = True

    def on_lost(self) -> None:
        """The connection is gone, and with it what was prefetched; with a list there may be another."""
        for message, *_ in self.buffer:
            self.pushed[message.dest_no].discard([message.number])
        self.buffer.clear()
        self.had |= self.unconfirmed
        if not self.fails_over:
            self.closed = True
            return
        passes, pause = self.patience()
        if passes >= 0:
            clock = self.lab.clock
            clock.schedule(clock.now + passes * pause, self.on_out_of_patience, self.connection)
        self.find_broker()

    def patience(self) -> tuple[int, int]:
        """Return how many passes a failover address is tried, -1 for ever, and the pause (us)."""
        options = uris.parse(f"failover:()?{self.spec.connection_options}").parameters
        passes = int(options.get("maxReconnectAttempts") or -1)
        if passes == 0 and self.lab.rules.zero_attempts_is_forever:
            passes = -1
        return passes, duration(int(options.get("reconnectDelay") or 10))

    def on_out_of_patience(self, lost: LocalConnection) -> None:
        """All passes are made: without another connection by now, the client gives up."""
        if self.connection is lost:
            self.closed = True

    def find_broker(self) -> None:
        """With a list of brokers: connect to the first that it can reach."""
        if not self.closed and not self.connection.alive and self.reconnect():
            self.sub = self._subscription()
            self.open()
