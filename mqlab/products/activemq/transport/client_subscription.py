"""A broker's subscription for a consumer at the other end of a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory, dead_letter_strategy
from mqlab.products.activemq.broker.broker import DEFAULTS, NO_POLICY
from mqlab.products.activemq.broker.message import ConsumerInfo, Message, MessageDispatch
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.products.activemq.transport.openwire import DispatchCommand, PullTimeout
from mqlab.products.activemq.transport.sockets import Socket
from mqlab.spec.json_types import JsonObject
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.client.message_consumer import MessageConsumer

TOPIC_PREFETCH_5_5 = 32766
BESIDE_OTHERS = 100  # prefetch of a durable subscriber that is not its connection's only session


class ClientSubscription(Subscription):
    """What is pushed goes over the socket; the consumer is known by its name."""

    def __init__(self, broker: Broker, socket: Socket, consumer: MessageConsumer) -> None:
        info, prefetch = consumer.info(), consumer.wanted_prefetch
        own = prefetch
        if prefetch is None:  # what a policy makes of the usual one its client is not told (ActiveMQ rule 1.8)
            prefetch, own = prefetch_of(broker, info), prefetch_of(broker, info, usual=True)
            if info.durable and not consumer.optimized:
                own, prefetch = BESIDE_OTHERS, BESIDE_OTHERS if prefetch == own else prefetch
        super().__init__(broker, info, prefetch, f"{info.dest} at {broker.name} by {consumer.name}")
        consumer.set_prefetch(prefetch, own)
        self.socket, self.consumer, self.client_name = socket, consumer, consumer.name
        self.may_refuse = self.may_refuse or info.browser
        self.dispatches = 0  # how many messages it has pushed
        # In 5.5 a window that has widened stays wide (ActiveMQ rule 5.20).
        by_one = consumer.spec.ack_mode == "individual" or prefetch == 0
        self.contracts = broker.lab.edition != "5.5" or by_one or not (info.dest.is_queue or info.durable)

    def refusal(self, message: Message) -> int:
        """Return why the client may not have *message*: a browser takes nothing away."""
        return Reason.browsing if self.info.browser else super().refusal(message)

    def deliver(self, message: Message, rule: int) -> None:
        """Push *message* to the client."""
        self.dispatched[message] = None
        self.dispatches += 1
        node = self.broker.node
        row = self.broker.record_message(
            Kind.Dispatched, message, node, self.consumer.node, -1, self.no, rule, message.row
        )
        delivery = MessageDispatch(message, row, message.redeliveries)
        self.socket.reply(DispatchCommand(self.client_name, delivery))
        self.advise(message)

    def advise(self, message: Message) -> None:
        """Tell who listens that *message* was handed over."""
        broker = self.broker
        if broker.advisory_subscribers and broker.policy_for(message.dest)["advisory_for_dispatched"]:
            advisory.of_message(broker, "MessageDispatched", message)

    def browse(self) -> None:
        """Let the client look at what the queue holds, in order, as far as the prefetch reaches."""
        broker, consumer = self.broker, self.consumer
        for dest, destination in broker.by_name.items():
            if dest == self.dest or broker.fits(self.dest, dest):
                for message in list(destination.messages)[: self.prefetch]:
                    way = broker.node, consumer.node, -1, self.no
                    broker.record_message(Kind.Browsed, message, *way, cause=message.row)
                    consumer.count += 1

    # What comes from the client

    def pulled(self, time: int | None = None, over: bool = False) -> None:
        """With prefetch 0 a consumer asks for each message; a plain topic subscription may not heed it.

        What comes when its time is *over* is not for this pull (`PrefetchSubscription.pullTimeout`). Whatever
        it has in hand, one pull is for one message (ActiveMQ rule 27.1).
        """
        counts, before = self.broker.lab.edition == "5.5", self.dispatches
        if over:
            self.prefetch_extension = 0 if counts else len(self.dispatched)
        elif self.dest.is_queue or self.durable or self.broker.lab.rules.pulls_topics:
            self.prefetch_extension = 1 + (self.prefetch_extension if counts else len(self.dispatched))
            for destination in list(self.broker.destinations.values()):
                if self in destination.subs:
                    destination.dispatch()
        if time is not None and self.dispatches == before and self.socket.process is not None:
            self.socket.process.later(time, self.on_pull_timeout, before)

    def on_pull_timeout(self, before: int) -> None:
        """The time of a pull is over: the client hears it, unless anything was dispatched since."""
        if self.dispatches == before:
            self.pulled(over=True)
            self.socket.reply(PullTimeout(self.client_name))

    def delivered(self, message: Message, count: int) -> None:
        """The client has messages in hand and acknowledges later: they do not use up the prefetch.

        5.17.2 goes by how many the client says, 5.5.1 by the last one's place (`PrefetchSubscription`).
        """
        if message in self.dispatched and self.broker.policy_for(message.dest)["use_prefetch_extension"]:
            if self.broker.lab.edition == "5.5":
                place = list(self.dispatched).index(message) + 1
                self.prefetch_extension = max(self.prefetch_extension, place)
            elif self.prefetch:  # who pulls has no window (`expandPrefetchExtension`)
                self.prefetch_extension += count
            self.broker.destinations[message.dest_no].dispatch()
            if self.several:
                self.look_elsewhere(self.broker.destinations[message.dest_no])

    def matches(self, messages: list[Message]) -> bool:
        """Whether an acknowledgement is of what it has in hand, or comes before it has dispatched anything.

        Only acknowledgements of a range are looked at, of a queue or a durable subscription
        (`assertAckMatchesDispatched` of 5.17.2; ActiveMQ rule 11.19).
        """
        if not (self.dispatches and messages and (self.dest.is_queue or self.durable)):
            return True
        alone = self.consumer.spec.ack_mode == "individual" or self.consumer.acknowledges_alone
        return alone or (messages[0] in self.dispatched and messages[-1] in self.dispatched)

    def contract_prefetch_extension(self, count: int) -> None:
        """Let *count* messages that the client has in hand use up the prefetch again."""
        if self.prefetch:
            self.prefetch_extension = max(0, self.prefetch_extension - count)

    def give_up(self, message: Message, why: int) -> None:
        """A message is to be a dead letter: it came too often, is too old, or may have been had before.

        A non-durable subscription only forgets it (`TopicSubscription.acknowledge` of 5.17.2 counts what has
        expired, and a poison acknowledgement like any other): others of the topic may have it.
        """
        if message in self.dispatched:
            self.acknowledge(message)
            expired = why == Reason.expired
            if expired and self.durable:  # no topic counts that (`DurableTopicSubscription` of 5.17.2)
                counted = self.broker.lab.rules.counts_all_topic_acks
                self.broker.destinations[message.dest_no].dequeued -= counted
            if self.dest.is_queue or self.durable:
                bury = dead_letter_strategy.expired if expired else dead_letter_strategy.poisoned
                bury(self.broker, message)
            elif expired:
                self.broker.record_message(Kind.Expired, message, rule=why, cause=message.row)


def prefetch_of(broker: Broker, info: ConsumerInfo, usual: bool = False) -> int:
    """Return what the destination's policy gives a consumer of its kind that asks for nothing else.

    With *usual* it is what such a client itself goes by.
    """
    kind = "topic"
    if info.dest.is_queue:
        kind = "queue_browser" if info.browser else "queue"
    elif info.durable:
        kind = "durable_topic"
    policy: JsonObject = {**DEFAULTS, **NO_POLICY} if usual else broker.policy_for(info.dest)
    prefetch: int = policy[f"{kind}_prefetch"]
    if kind == "topic" and broker.lab.edition == "5.5":
        return min(prefetch, TOPIC_PREFETCH_5_5)
    return prefetch
