"""Consumers: each on a connection of its own to one broker, or to the first of a failover address."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from mqlab.runtime.activemq import advisory, deadletter
from mqlab.runtime.activemq.clients.local_subscription import LocalSubscription
from mqlab.runtime.activemq.clients.session import Session
from mqlab.runtime.activemq.message import ConsumerInfo, Message
from mqlab.spec import Consumer as ConsumerSpec
from mqlab.spec import uri as uris
from mqlab.spec.selector import Selector
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.activemq.broker import Broker, Premises

TOPIC_PREFETCH_5_5 = 32766

# Bound once: reading a member of an enumeration costs ten times as much as a name.
RECEIVED = int(Kind.Received)


class Consumer:
    """A consumer: takes messages from its buffer, one after the other, and acknowledges them.

    `allowance` is how many more it may take; None is no limit.
    """

    def __init__(self, lab: Premises, spec: ConsumerSpec, broker: Broker) -> None:
        self.lab, self.spec, self.broker = lab, spec, broker
        self.name = spec.name
        self.node = lab.add_node(spec.name, "consumer", broker.name)
        self.link_to, self.link_from = lab.new_link(), lab.new_link()
        self.buffer: deque[tuple[Message, int]] = deque()
        self.allowance: int | None = None if spec.receiving else 0
        self.delay = duration(spec.delay)
        self.busy = self.closed = self.asked = False
        self.count = 0
        self.unconfirmed: set[int] = set()  # received, and the acknowledgement not yet there
        self.had: set[int] = set()  # what was unconfirmed when a broker went
        # Of a queue that lets two copies in, a client sends the second to the dead letters.
        self.looks_twice = spec.reads.is_queue
        self.pushed: set[tuple[int, int]] = set()  # destination and number of each copy it had
        self.session = Session(self)
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
        return LocalSubscription(self.broker, self, info, self._prefetch())

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
        """Connect and subscribe."""
        advisory.of_connection(self.broker, self.name, left=False)
        self.broker.subscribe(self.sub, Rule.local_consumer, self.node)
        if self.spec.browser and self.spec.receiving:
            self.browse()
        self.work()

    def browse(self) -> None:
        """Look at what the queue holds, in order, as far as the prefetch reaches."""
        for dest, destination in self.broker.by_name.items():
            if dest == self.sub.dest or self.broker.fits(self.sub.dest, dest):
                for message in list(destination.held)[: self.sub.prefetch]:
                    self.broker.note(
                        Kind.Browsed,
                        message,
                        self.broker.node,
                        self.node,
                        -1,
                        self.sub.no,
                        0,
                        message.row,
                    )
                    self.count += 1

    def on_message(self, delivery: tuple[Message, int]) -> None:
        """A message has arrived in the prefetch buffer."""
        if delivery[0].number in self.had:
            self.finish(delivery[0])  # only the acknowledgement was lost with the broker
        elif not self.closed and delivery[0] in self.sub.outstanding:
            self.asked = False
            if self.looks_twice and not delivery[0].received:
                which = (delivery[0].dest_no, delivery[0].number)  # one copy of each destination
                if which in self.pushed:
                    self.send_poison_ack(delivery[0])
                    return
                self.pushed.add(which)
            self.buffer.append(delivery)
            if self.lab.rules.client_sorts:  # so that what comes at one time is sorted
                self.lab.clock.at(self.lab.clock.now, self.on_buffered, None)
            else:
                self.work()

    def on_buffered(self, _: None) -> None:
        """All that came at this time is in the buffer."""
        self.work()

    def next_message(self) -> tuple[Message, int]:
        """Return what is next in the buffer: the oldest, in 5.5 of the highest JMS priority."""
        if self.lab.rules.client_sorts:
            best = max(self.buffer, key=lambda one: one[0].headers.get("JMSPriority", 4))
            self.buffer.remove(best)
            return best
        return self.buffer.popleft()

    def work(self) -> None:
        """Take what may be taken from the buffer."""
        while self.buffer and self.allowance != 0 and not self.busy and not self.closed:
            self.take(*self.next_message())
        if self.sub.prefetch == 0 and not self.busy and self.allowance != 0 and not self.closed:
            self.ask()

    def ask(self) -> None:
        """Pull one message: with prefetch 0 the broker sends only on request."""
        if not self.asked:
            self.asked = True
            self.link_from.carry(self.on_asked, None)

    def on_asked(self, _: None) -> None:
        """The request to pull has reached the broker; a plain topic subscription may not heed it."""
        if self.broker.held is not None:
            self.broker.held.append((self.on_asked, _))
            return
        sub = self.sub
        heeds = sub.dest.is_queue or sub.durable or self.lab.rules.pulls_topics
        if heeds and not self.closed:
            self.sub.extension += 1
            for destination in list(self.broker.destinations.values()):
                if self.sub in destination.subs:
                    destination.dispatch()

    def take(self, message: Message, row: int) -> None:
        """Receive one message and work on it."""
        lab = self.lab
        self.count += 1
        if self.allowance is not None:
            self.allowance -= 1
        again = message.received
        message.received = True
        now, at = lab.clock.now, self.broker.node
        about = (message.number, at, at, self.node, -1, message.dest_no, self.sub.no,
                 len(message.path), now - message.sent, 0)  # fmt: skip
        if again:
            row = lab.add(now, Kind.Redelivered, *about, row)
        row = lab.add(now, RECEIVED, *about, row)
        if self.delay:
            self.busy = True
            lab.clock.at(now + self.delay, self.on_worked, message)
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
            self.link_from.carry(self.on_acknowledged, message)
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
        self.link_from.carry(self.on_acknowledged, message)

    def report_delivered(self, message: Message) -> None:
        """Tell the broker that the client has a message in hands."""
        self.link_from.carry(self.on_delivered, message)

    def send_poison_ack(self, message: Message) -> None:
        """Send a message away for good: it came again too often."""
        self.link_from.carry(self.on_poisoned, message)

    def take_again(self, messages: list[Message], wait: int) -> None:
        """Put messages back to the head of the buffer, after *wait* us in which nothing is taken."""
        self.busy = True
        self.lab.clock.at(self.lab.clock.now + wait, self.on_again, messages)

    def on_again(self, messages: list[Message]) -> None:
        """The redelivery delay is over."""
        self.busy = False
        if not self.closed:
            self.buffer.extendleft((m, m.row) for m in reversed(messages))
            self.work()

    def on_poisoned(self, message: Message) -> None:
        """The broker hears that a message is to be a dead letter."""
        if self.broker.held is not None:
            self.broker.held.append((self.on_poisoned, message))
            return
        if message in self.sub.outstanding:
            self.sub.acknowledge(message)
            deadletter.poisoned(self.broker, message)

    def on_acknowledged(self, message: Message) -> None:
        """The acknowledgement has reached the broker."""
        if self.broker.held is not None:
            self.broker.held.append((self.on_acknowledged, message))
            return
        if message in self.sub.outstanding:
            self.unconfirmed.discard(message.number)
            self.sub.acknowledge(message)

    def on_delivered(self, message: Message) -> None:
        """The broker hears that the client has it in hands: this does not use up the prefetch."""
        if self.broker.held is not None:
            self.broker.held.append((self.on_delivered, message))
            return
        extends = self.broker.policy_for(message.dest)["use_prefetch_extension"]
        if message in self.sub.outstanding and extends:
            self.sub.extension += 1
            self.broker.destinations[message.dest_no].dispatch()

    def allow(self, count: int | None) -> None:
        """Let it take *count* messages from now on; None is all it can."""
        self.allowance = count
        self.work()

    def close(self, unsubscribe: bool = False) -> None:
        """Close consumer and connection; what it did not acknowledge goes back."""
        self.session.close()
        rule = Rule.unsubscribed if unsubscribe else Rule.consumer_left
        self.link_from.carry(self.on_closed, rule)
        self.closed = True

    def on_closed(self, rule: int) -> None:
        """The broker hears of the closing."""
        if self.broker.held is not None:
            self.broker.held.append((self.on_closed, rule))
            return
        if self.sub in self.broker.subs:
            self.broker.unsubscribe(self.sub, rule)
            advisory.of_connection(self.broker, self.name, left=True)

    def lose_broker(self) -> None:
        """The broker is going: the connection breaks, what was prefetched is thrown away."""
        self.pushed.difference_update((m.dest_no, m.number) for m, _ in self.buffer)
        self.buffer.clear()
        self.had |= self.unconfirmed
        if not self.spec.others:
            self.closed = True
            return
        passes, pause = self.patience()
        if passes >= 0:
            clock = self.lab.clock
            clock.at(clock.now + passes * pause, self.on_out_of_patience, self.broker)
        self.find_broker()

    def patience(self) -> tuple[int, int]:
        """Return how many passes a failover address is tried, -1 for ever, and the pause (us)."""
        options = uris.parse(f"failover:()?{self.spec.connection_options}").parameters
        passes = int(options.get("maxReconnectAttempts") or -1)
        if passes == 0 and self.lab.rules.zero_attempts_is_forever:
            passes = -1
        return passes, duration(int(options.get("reconnectDelay") or 10))

    def on_out_of_patience(self, lost: Broker) -> None:
        """All passes are made: without a broker by now, the client gives up."""
        if self.broker is lost and not lost.running:
            self.closed = True

    def find_broker(self) -> None:
        """With a failover address: connect to the first broker of it that serves."""
        if self.closed or (self.broker.running and self.sub in self.broker.subs):
            return
        broker = self.lab.serving((self.spec.on, *self.spec.others))
        if broker is not None and self.spec.others:
            self.broker = broker
            self.sub = self._subscription()
            self.open()
