"""A bridge's subscription at its home broker: what it asks for, what it carries on, how long it stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import durable
from mqlab.products.activemq.broker.message import ConsumerInfo, Message
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.activemq.network.network_bridge import NetworkBridge

# Bound once: reading a member of an enumeration costs ten times as much as a name.
FORWARDED = int(Kind.Forwarded)
ALREADY_VISITED = int(Reason.already_visited)
TTL_USED_UP = int(Reason.ttl_used_up)


USUAL_PREFETCH = 1000  # that a broker takes for "not set" and replaces by its policy's (ActiveMQ rule 27.1)


class DemandSubscription(Subscription):
    """A subscription that a bridge holds at its home broker, on behalf of consumers beyond.

    `remote_subscription_ids` are those it stands for, consumers by id and durable subscriptions by key:
    when the last of those that keep it goes, it goes. A static one has an interest of its own that never
    does.
    """

    bridge: NetworkBridge

    def __init__(self, bridge: NetworkBridge, info: ConsumerInfo, static: bool) -> None:
        settings = bridge.settings
        come_through = ">".join(bridge.lab.broker_name(id) for id in info.path)
        label = f"{info.dest} at {bridge.local_broker.name} by {bridge.name}, consumer path {come_through}"
        prefetch = settings.advisory_prefetch_size if info.dest.is_advisory else settings.prefetch_size
        if prefetch == USUAL_PREFETCH and (info.dest.is_queue or info.durable):  # as with any client's
            kind = "queue" if info.dest.is_queue else "durable_topic"
            prefetch = bridge.local_broker.policy_for(info.dest)[f"{kind}_prefetch"]
        super().__init__(bridge.local_broker, info, prefetch, label, network=True)
        self.bridge, self.static = bridge, static
        home, remote = bridge.local_broker.node, bridge.remote_broker.node
        self.passage = pack_prefix(FORWARDED, home, home, remote, bridge.no, self.no)
        self.tests_messages, self.ttl = settings.tests_messages, settings.message_ttl
        self.on_forwarded, self.on_answered = bridge.on_forwarded, bridge.on_answered
        self.remote_subscription_ids: set[int | durable.Key] = set()
        self.replayed = (0, 0)  # the window of replays that goes on, and how many it has had

    @property
    def outlives(self) -> bool:
        """Whether it is a conduit's own durable one: it stays while those it stands for are away."""
        return self.durable is not None and self.bridge.settings.conduit_subscriptions

    def is_kept(self) -> bool:
        """Whether one is left that keeps it.

        Only its own kind does, durable or not: others that joined it are served as long as it is
        there. In 5.5 all do, and the durable subscription of a conduit stays for ever.
        """
        settings = self.bridge.settings
        if not settings.rules.forgets_network_durables:
            return bool(self.remote_subscription_ids) or self.outlives
        lasting = self.durable is not None
        forced = settings.among(settings.durable_forced, self.dest)
        return any(forced or isinstance(who, tuple) == lasting for who in self.remote_subscription_ids)

    def refusal(self, message: Message) -> int:
        """Return why the bridge may not carry *message* on: hops, loops, then the selector."""
        path, rule = message.path, 0
        if path and self.bridge.remote_broker.id in path:
            rule = ALREADY_VISITED
        elif message.hops >= self.ttl:
            rule = TTL_USED_UP
        # Only what goes back is let through whatever its hops (ActiveMQ rule 1.13).
        if rule and not (rule == ALREADY_VISITED and self.broker.spec.policies and replays(self, message)):
            return rule
        if self.selector is not None:
            return super().refusal(message)
        return 0

    def add(self, message: Message) -> bool:
        """Take *message* from a topic.

        What may not be carried on, a durable one takes all the same and lets go at once, unless it has had
        it before (ActiveMQ rule 26.3).
        """
        if self.durable is not None and self.refusal(message) in (ALREADY_VISITED, TTL_USED_UP):
            if self.seen is None or not self.seen.add(message.number):
                topic = self.broker.destinations[message.dest_no]
                topic.dispatched += 1
                topic.forget(message, self)
            return False
        return super().add(message)

    def deliver(self, message: Message, rule: int) -> None:
        """Forward *message*; the lists are applied once more, to the message itself."""
        self.dispatched[message] = None
        message.crossed = False
        bridge = self.bridge
        if self.tests_messages and not bridge.settings.permits(message.dest):
            bridge.on_not_permitted(self, message)
            return
        row = self.recorder.add_packed(self.passage, message, message.hops, rule, message.row)
        passage = (self, message, row)
        bridge.link.carry(self.on_forwarded, passage, 0, message.size)
        if not (message.persistent or bridge.settings.always_sync_send):
            clock = bridge.lab.clock
            clock.schedule(clock.now, self.on_answered, (self, message, message))

    def has_come_back(self, message: Message) -> bool:
        """Acknowledge what has crossed and comes back at once: its answer has overtaken it.

        An answer takes one thread of the other broker, what that sends on a queue's and a bridge's as well,
        so that the audit, which forgets what a bridge has acknowledged, lets it pass: in 17 of 18 cases
        (`Queue.removeMessage` of 5.17.2; ActiveMQ rule 1.13, recording replayed_at_once). Where the other
        broker writes it to a disk first, the answer comes later (`Queue.doMessageSend`; replayed_from_disk).
        """
        over, beyond = self.bridge.transport, self.bridge.remote_broker
        if message.persistent and beyond.store.persistent:
            return False
        if message.path[-1] != beyond.id or (over is not None and over.impaired):
            return False
        sent = [one for one in self.dispatched if one.number == message.number and one.crossed]
        for one in sent:
            self.acknowledge(one)
        return bool(sent)


def replays(demand: DemandSubscription, message: Message) -> bool:
    """Whether *message* may leave by *demand* for a broker it has been at (article, "Stuck messages").

    So it may by `replay_when_no_consumers`, whatever its hops, as long as the queue has no consumer of the
    broker's own; one of those, even a full one, stops it (ActiveMQ rule 1.13).
    """
    broker = demand.broker
    if not message.dest.is_queue:
        return False
    policy = broker.policy_for(message.dest)
    if not policy["replay_when_no_consumers"]:
        return False
    aware = policy["replay_selector_aware"]
    for sub in broker.destinations[message.dest_no].subs:
        if not sub.network and not sub.info.browser and not (aware and sub.refusal(message)):
            return False
    delay = policy["replay_delay_ms"]
    if delay and broker.lab.clock.now < message.arrived + delay * 1000:  # nothing wakes its queue then
        return False
    return not policy["replay_rate_limit"] or _in_rate(
        demand, message, policy["replay_rate_limit"], policy["replay_rate_duration_ms"] * 1000
    )


def _in_rate(demand: DemandSubscription, message: Message, limit: int, window: int) -> bool:
    """Whether fewer than *limit* messages went in this window (us); if not, it is offered later."""
    now = demand.broker.clock.now
    begun, count = demand.replayed
    if now >= begun + window:
        begun, count = now, 0
    if count >= limit:
        demand.broker.clock.schedule(begun + window, demand.broker.on_due, message)
        return False
    demand.replayed = (begun, count + 1)
    return True
