"""A broker: destinations, subscriptions, and the consumer advisories that it tells its bridges.

Whoever subscribes (a client, or a bridge on behalf of a consumer elsewhere) is announced to every
bridge that listens to this broker's advisories; that is how demand travels through a network
against the direction of the messages (Fuse 2, "Dynamic propagation").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory, durable, virtual_destinations
from mqlab.products.activemq.broker.message import ConsumerInfo, Message
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.products.activemq.broker.queue import Queue
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.products.activemq.broker.topic import Topic
from mqlab.spec import Broker as BrokerSpec
from mqlab.spec.json_types import JsonObject
from mqlab.spec.rows import OPTIONS
from mqlab.spec.values import Destination, matches
from mqlab.spec.virtual_topic import Composite
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.activemq.ha.persistence_adapter import PersistenceAdapter
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.network.network_bridge import NetworkBridge

# Bound once: reading a member of an enumeration costs ten times as much as a name.
ENQUEUED = int(Kind.Enqueued)
DEFAULTS = {name: option.default for name, option in OPTIONS["policyEntry"].items()}
CHECKPOINT = 5_000_000  # us from one checkpoint of KahaDB to the next: checkpointInterval
# Where no policy entry matches, a durable subscriber keeps the prefetch that its client asks for.
NO_POLICY = {"durable_topic_prefetch": 1000}


class Broker:
    """One broker. `bridges` are those it is home to, `listeners` those that hear its advisories."""

    # Python finds attributes quicker where an instance has fewer than thirty others.
    __slots__ = ("__dict__", "__weakref__", "composites", "secured", "served", "unindexed")

    def __init__(self, lab: Lab, spec: BrokerSpec, store: PersistenceAdapter) -> None:
        self.lab, self.spec, self.name = lab, spec, spec.name
        self.clock = lab.clock
        self.id = spec.name
        self.node = lab.add_node(spec.name, "broker")
        self.recorder = lab.recorder
        self.running = False
        self.served = 0  # since when (us) its store is open
        self.incarnations = 0
        self.taken = 0  # us: until then it is busy with what bridges have brought
        self.advises: bool = spec.get("advisory_support", lab.edition)
        self.entries: dict[tuple[int, int], bytes] = {}  # see `entry`
        self.bridges: list[NetworkBridge] = []
        self.listeners: list[NetworkBridge] = []
        self.policies: dict[Destination, Mapping[str, object]] = {}
        self.secured = spec.get("users") is not None or spec.get("authorization") is not None
        self.limits_memory = any("memory_limit" in policy for policy in spec.policies)
        self.audits_network: bool = spec.get("audit_network_producers", lab.edition)
        self.composites = tuple(map(Composite.of, spec.composites))
        self.store = store
        self.clear()

    def clear(self) -> None:
        """Forget everything, as a broker does that keeps all in memory."""
        self.destinations: dict[int, Queue | Topic] = {}
        self.by_name: dict[Destination, Queue | Topic] = {}
        self.subs: list[Subscription] = []
        self.pattern_subs: list[Subscription] = []  # those of them that may stand for several destinations
        self.durables: dict[durable.Key, Subscription] = {}
        self.producers: dict[str, Destination] = {}
        self.unindexed: dict[Destination, int] = {}  # since when: no message has gone to the store for them
        self.temporary: dict[Destination, tuple[str, ...]] = {}  # and the way each has come: see `temporary`
        self.advisory_subscribers = 0  # subscriptions to advisory topics
        self.sent_on = MessageAudit()  # what bridges took: an audit forgets that (`removeMessage` of 5.17)

    # Coming and going

    def start(self, new_id: bool = False) -> None:
        """Begin to serve, under a new broker id if asked."""
        self.incarnations += 1
        if new_id:
            self.id = f"{self.name}#{self.incarnations}"
        if self.store.acquire(self):
            self.serve()

    def serve(self) -> None:
        """Serve clients and bridges, with what the store holds."""
        self.running, self.served = True, self.clock.now
        self.record(Kind.Restarted if self.incarnations > 1 else Kind.Started)
        if self.spec.get("delete_all_messages_on_startup", self.lab.edition):
            self.store.delete(self)
        self.store.restore(self)
        for text in self.spec.get("destinations") or ():
            for dest in Destination.parse(text).elements():
                self.destination(dest)

    def stop(self, row: int = -1, crashed: bool = False) -> None:
        """End: bridges first; what was in memory is gone. *row* is its end, if written down."""
        if not self.running:
            self.store.release(self)
            return
        for bridge in [*self.bridges, *self.listeners]:
            bridge.stop()
        self.running = False
        for client in self.lab.clients_of(self):
            client.connection.abandon()
            client.on_lost()
        stopped = row if row >= 0 else self.record(Kind.Stopped, rule=Reason.asked)
        unindexed = self.unindexed_queues(crashed)
        for message in self.store.keep(self, unindexed):
            self.record_message(Kind.Discarded, message, rule=Reason.memory_store, cause=stopped)
        for sub in self.subs:
            sub.dispatched.clear()  # what is still on its way to an answer finds nobody
        self.clear()
        self.store.release(self)

    def unindexed_queues(self, crashed: bool) -> set[Destination]:
        """Return the queues that an end takes away, as its store does not know them (ActiveMQ rule 11.14).

        A database knows a queue by the rows of its messages (`getFindAllDestinationsStatement` of 5.17.2).
        A queue comes into KahaDB's index with its first message. Without one it comes there when it is made,
        but the index is written at checkpoints: a crash takes it away.
        """
        store = self.spec.get("store", self.lab.edition)
        if store == "jdbc":
            queues = {dest: found for dest, found in self.by_name.items() if dest.is_queue}
            return {dest for dest in queues if not any(m.persistent for m in queues[dest].messages)}
        if not crashed or store != "kahadb":
            return set()
        written = self.clock.now - (self.clock.now - self.served) % CHECKPOINT
        fresh = (dest for dest in self.by_name if dest.is_queue and self.unindexed.get(dest, -1) >= written)
        stored = {d.dest for d in self.by_name.values() if d.dequeued or any(m.persistent for m in d.messages)}
        return {*fresh} - stored  # what was taken counts as stored

    # Writing down what happens here

    def record(self, kind: int, **columns: int) -> int:
        """Record that something happened at this broker."""
        return self.lab.add(self.lab.clock.now, kind, broker=self.node, **columns)

    def record_message(
        self,
        kind: int,
        message: Message,
        frm: int = -1,
        to: int = -1,
        link: int = -1,
        sub: int = -1,
        rule: int = 0,
        cause: int = -1,
    ) -> int:
        """Record that something happened to a message at this broker."""
        way = pack_prefix(kind, self.node, frm, to, link, sub)
        return self.recorder.add_packed(way, message, message.hops, rule, cause)

    # Messages

    def entry(self, frm: int, link: int = -1) -> bytes:
        """Return the stamp of what comes from a producer, or over a *link* from another broker."""
        if (frm, link) not in self.entries:
            self.entries[frm, link] = pack_prefix(ENQUEUED, self.node, frm, self.node, link)
        return self.entries[frm, link]

    def take_over(self, message: Message, entry: bytes, cause: int) -> None:
        """Take over a message that has come by an `entry`."""
        message.row = self.recorder.add_packed(entry, message, message.hops, 0, cause)
        message.arrived = self.clock.now
        try:
            destination = self.destinations[message.dest_no]
        except KeyError:
            destination = self.destination(message.dest)
        if self.advisory_subscribers and destination.policy["advisory_for_delivery"]:
            advisory.of_message(self, "MessageDelivered", message)
        if destination.virtual and virtual_destinations.intercept(self, destination, message):
            return
        destination.enqueue(message)

    def take_over_each(self, message: Message, entry: bytes, cause: int) -> None:
        """Take over a copy of a message for each element of its destination, which may be composite."""
        for dest in message.dest.elements():
            copy = message.copy()
            if dest is not message.dest:
                copy.dest, copy.dest_no = dest, self.lab.name_destination(dest)
            self.take_over(copy, entry, cause)

    def has_had(self, copy: Message) -> bool:
        """Whether a persistent copy that another broker sends has come before.

        After a loss a queue is sent again what was not known to have arrived; the way of such a copy is
        the same but for who sent it last (ActiveMQ rules 19.6 and 23.2). It is the queue's cursor that knows
        (`AbstractPendingMessageCursor.recordUniqueId`), so that `enable_audit` of its policy decides. With
        `audit_network_producers` whatever has come over any bridge is dropped.
        """
        if not copy.persistent:
            return False
        if self.audits_network:
            return self.store.audit.add(copy.number)
        came = (copy.number, copy.dest_no, *copy.path[:-1])
        known = came in self.store.seen and copy.number not in self.sent_on
        return known and bool(self.policy_for(copy.dest)["enable_audit"])

    def on_due(self, message: Message) -> None:
        """Something about *message* may have changed with time: offer it again."""
        destination = self.destinations.get(message.dest_no)
        if destination is not None and message in destination.messages:
            destination.dispatch()

    def destination(self, dest: Destination) -> Queue | Topic:
        """Return the destination of that name; it comes into being when it is first named."""
        found = self.by_name.get(dest)
        if found is None:
            no = self.lab.name_destination(dest)
            found = Queue(self, dest, no) if dest.is_queue else Topic(self, dest, no)
            self.by_name[dest] = self.destinations[no] = found
            self.unindexed[dest] = self.clock.now
            for sub in self.pattern_subs:  # a name stands for itself alone
                if (sub.dest != dest or dest.is_pattern) and self.fits(sub.dest, dest):
                    found.join(sub)
            if self.advisory_subscribers:
                advisory.of_destination(self, dest)
        return found

    def fits(self, pattern: Destination, dest: Destination, is_there: bool = False) -> bool:
        """Whether *dest* is one of those that *pattern* stands for.

        Whoever subscribes finds by its map what is there, so A.> finds A in every edition (ActiveMQ rule 5.7).
        """
        parent = is_there or self.lab.rules.parent_matches
        return any(
            element.kind == dest.kind and matches(element.name, dest.name, parent)
            for element in pattern.elements()
        )

    def policy_for(self, dest: Destination) -> JsonObject:
        """Return every policy option for a destination, from its closest policy or by default.

        An exact name is closer than a pattern, and of patterns the longer one.
        """
        found = self.policies.get(dest)
        if found is None:
            key = "queue" if dest.is_queue else "topic"
            fitting = [p for p in self.spec.policies if matches(p.get(key, ""), dest.name)]
            ranks = [(p[key] == dest.name, len(p[key].split(".")), not p[key].endswith(">")) for p in fitting]
            closest = fitting[ranks.index(max(ranks))] if ranks else NO_POLICY
            found = self.policies[dest] = {**DEFAULTS, **closest}
        return found

    # Subscriptions

    def _record_sub(self, kind: int, sub: Subscription, rule: int, cause: int, **way: int) -> int:
        about = {"sub": sub.no, "dest": self.lab.name_destination(sub.dest)}
        return self.record(kind, **about, rule=rule, cause=cause, **way)

    def subscribe(self, sub: Subscription, rule: int, frm: int, link: int = -1, cause: int = -1) -> bool:
        """Add a subscription, let it take what waits, and tell the bridges that listen.

        False if it is durable and somebody uses it already.
        """
        dest = sub.dest
        if sub.durable and not durable.join(self, sub):
            self.lab.problem(f"durable subscription {sub.durable} at {self.name} is in use")
            return False
        way = {"frm": frm, "to": self.node, "link": link}
        row = self._record_sub(Kind.Subscribed, sub, rule, cause, **way)
        if not dest.is_pattern or virtual_destinations.is_made(self, dest):
            self.destination(dest)
        if not sub.info.browser and not dest.is_advisory:
            self.tell(sub.info, row)
        self.join(sub)
        if (dest.is_pattern or dest.is_advisory) and advisory.is_read(dest):
            self.advisory_subscribers += 1
            advisory.replay(self, sub)
        if self.advisory_subscribers:
            advisory.of_consumer(self, sub, left=False)
        return True

    def join(self, sub: Subscription) -> None:
        """Put a subscription in the list, and in those of the destinations that it stands for."""
        dest = sub.dest
        self.subs.append(sub)
        if dest.is_pattern:
            self.pattern_subs.append(sub)
        else:
            self.destination(dest)
        for name in list(self.by_name) if dest.is_pattern else (dest,):
            if name == dest or self.fits(dest, name, True):
                self.by_name[name].join(sub)

    def unsubscribe(self, sub: Subscription, rule: int, cause: int = -1) -> None:
        """Remove a subscription and tell the bridges that listen."""
        row = self._record_sub(Kind.Unsubscribed, sub, rule, cause)
        if sub.durable and rule != Reason.unsubscribed:
            durable.deactivate(self, sub)
            if self.advisory_subscribers:
                advisory.of_consumer(self, sub, left=True)
            for bridge in self.listeners if self.advises else ():
                bridge.link_back.carry(
                    bridge.on_durable_consumer_inactive, (sub.info.remote_subscription_id, row)
                )
            return
        self.subs.remove(sub)
        if sub.dest.is_pattern:
            self.pattern_subs.remove(sub)
        self.advisory_subscribers -= self.advisory_subscribers > 0 and advisory.is_read(sub.dest)
        self.durables.pop(sub.durable or ("", ""), None)
        for destination in list(self.by_name.values()):
            if sub in destination.subs:
                destination.leave(sub, rule)
        for bridge in self.listeners if self.advises else ():
            bridge.link_back.carry(bridge.on_consumer_gone, (sub.info.remote_subscription_id, row))
        if self.advisory_subscribers:
            advisory.of_consumer(self, sub, left=True)

    def tell(self, info: ConsumerInfo, cause: int) -> None:
        """Announce a consumer to every bridge that listens."""
        if self.advises:
            for bridge in self.listeners:
                bridge.link_back.carry(bridge.on_consumer_advisory, (info, cause))
                for dest in (
                    virtual_destinations.sources(self, info.dest)
                    if bridge.settings.use_virtual_dest_subs
                    else ()
                ):
                    bridge.link_back.carry(bridge.on_consumer_advisory, (info.on(dest), cause))
