"""A cluster connection spreads messages over the brokers (Artemis rules 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker import diverts, duplicates, expiry, last_values
from mqlab.products.artemis.broker.broker import Broker, Refused, Subsystem
from mqlab.products.artemis.broker.messages import Message, Queue, StoredMessage, Taker, selects
from mqlab.products.artemis.network import echo, routes, turns
from mqlab.products.artemis.network.routes import BridgedMessage
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.site import Site
    from mqlab.products.artemis.client.consumers import Consumer

# Bound once: reading a member of an enumeration costs ten times as much as a name.
ACKNOWLEDGED, ENQUEUED = int(Kind.Acknowledged), int(Kind.Enqueued)
BROKER_TURN, QUEUE_TURN = int(Reason.broker_turn), int(Reason.queue_turn)

Binding = tuple[Broker, Queue]
Ways = dict[Broker, list[Broker]]  # to whom -> by whom, from the first to the last


class ClusterConnection(Subsystem):
    """Where a message goes: to a queue here, or to one of another broker."""

    # Who is there

    def __init__(self, lab: Site) -> None:
        super().__init__(lab)
        self.bridged = lab.network.bridged()
        self.echoes = any(lab.network.option(spec, "max_hops") > 1 for spec in lab.network.brokers)
        self.outdated = True  # what follows, since something has changed
        self.paused = False  # whether a broker was when it was found
        self.ways: dict[Broker, Ways] = {}
        self.groups: dict[tuple[Broker, str, bool], list[list[Binding]]] = {}
        self.talks: dict[tuple[Broker, Broker], bool] = {}

    def _forget(self) -> None:
        """Forget what was found before a role, node id, queue or cut changed: to find it is most of a run."""
        self.outdated = False
        self.paused = any(broker.role == "paused" for broker in self.lab.brokers.values())
        self.ways.clear()
        self.groups.clear()
        self.talks.clear()

    def remote(self, broker: Broker) -> Ways:
        """Return the brokers within max-hops that seem to serve, each with the way to it."""
        if self.outdated or self.paused:
            self._forget()
        if broker not in self.ways:
            self.ways[broker] = routes.find(self, broker)
        return self.ways[broker]

    def _talk(self, frm: Broker, onto: Broker) -> bool:
        """Whether two brokers can talk now."""
        if self.outdated or self.paused:
            self._forget()
        if (frm, onto) not in self.talks:
            self.talks[frm, onto] = frm.reaches(onto)
        return self.talks[frm, onto]

    def bindings(self, broker: Broker, wanted: Callable[[Queue], bool]) -> list[Binding]:
        """Return the queues, here and elsewhere, in the order in which the broker learned of them."""
        places = [broker, *self.remote(broker)]
        found = [
            (max(queue.made, at.served_journal.since), at, queue)
            for at in places
            if at.served_journal is not None
            for queue in at.served_journal.queues.values()
            if wanted(queue)
        ]
        if broker.lost or broker.kept:
            found = [row for row in found if routes.is_told(self, broker, *row[1:])]
            found += [row for row in routes.remembered(broker, places) if wanted(row[2])]
        found.sort(key=lambda row: max(broker.journal.since, row[0]))
        if self.echoes:
            return [(at, queue) for _, at, queue in found if echo.is_told(self, broker, at, queue)]
        return [(at, queue) for _, at, queue in found]

    def is_both_ways(self, one: Broker, other: Broker) -> bool:
        """Whether two brokers that serve have bridges to each other."""
        return all(len(self.remote(a).get(b, ())) == 2 for a, b in ((one, other), (other, one)))

    # A message comes from a client

    def route(self, broker: Broker, message: Message, rejects_duplicates: bool = True) -> None:
        """Give a message of a client to its address; raises `Refused` where the product does."""
        name = message.dest.name
        if message.dest.kind == "queue" and name not in broker.journal.queues and self.lacks(broker, name):
            self.lab.queue(broker, name)
        if self.lab.detects_duplicates and duplicates.drops(broker, message, rejects_duplicates):
            return
        if self.lab.adjusts_expiry and message.routed is None:
            expiry.adjust(broker, message)
        if not ("diverts" in broker.spec.keys and diverts.divert(broker, message)):
            self.deliver_to(broker, message)

    def lacks(self, broker: Broker, name: str) -> bool:
        """Whether a producer of a queue has it made: in 2.4 only if its address is not there either.

        Source: `ActiveMQSession.createProducer` (Artemis rule 9.21).
        """
        queues = broker.journal.queues
        if name in queues or self.lab.rules.asks_for_queue:
            return name not in queues
        return name not in broker.journal.addresses and all(queue.address != name for queue in queues.values())

    def plan(self, broker: Broker, message: Message) -> None:
        """Choose the queues of a message in an open transaction; raises `Refused` where the product does.

        They are chosen as it comes, and it is in them only with the commit (Artemis rule 9.19).
        """
        if self.lab.detects_duplicates and duplicates.knows(broker, message):
            raise Refused(duplicates.REFUSED, Reason.duplicate_id)
        if message.dest.is_queue and self.lacks(broker, message.dest.name):
            self.lab.queue(broker, message.dest.name)
        if self.lab.adjusts_expiry:
            expiry.adjust(broker, message)
        message.routed = self._choose(broker, message)
        if self.lab.paging.limits:
            self.lab.paging.plan(broker, message)

    def _choose(self, broker: Broker, message: Message) -> list[Binding]:
        groups = self._groups(broker, message.dest.name, message.dest.kind == "queue")
        chosen = [turns.choose(self, broker, message, bindings) for bindings in groups]
        return [binding for binding in chosen if binding is not None]

    def deliver_to(self, broker: Broker, message: Message) -> None:
        """Give a message to the queues of its address.

        Queues of one name on many brokers take turns; a subscriber's own queue has its name alone.
        """
        if self.lab.paging.limits and self.lab.paging.drops(broker, message):
            return
        if message.routed is None:
            chosen = self._choose(broker, message)
        else:
            chosen, message.routed = [*routes.as_now(broker, message.routed)], None
        for binding in chosen:  # all of them are found before one is used
            if binding.__class__ is echo.Echo:
                self._forward(echo.passage(broker, binding, message))
            else:
                self.deliver(broker, *binding, message, message.row, BROKER_TURN)
        message.paged = None
        if not chosen:
            bound = self.is_bound(broker, message.dest.name, message.dest.is_queue)
            if message.dest.is_queue or not bound:
                rule = Reason.selector if bound else Reason.no_subscription
                self.lab.message(Kind.Discarded, message, broker, rule=rule, cause=message.row)

    def is_bound(self, broker: Broker, address: str, is_queue: bool = True) -> bool:
        """Whether a broker knows a queue of an address, or of a topic, here or elsewhere."""
        return bool(self._groups(broker, address, is_queue))

    def selects_none(self, broker: Broker, queue: Queue, message: Message) -> bool:
        """Whether a queue has consumers, here or elsewhere, none of which selects a message."""
        groups = self._groups(broker, queue.address, queue.topic is None)
        others = [of for bindings in groups for _, of in bindings if of.routing_name == queue.routing_name]
        return any(of.consumers for of in others) and not any(of.wanted(message) for of in others)

    def _groups(self, broker: Broker, name: str, is_queue: bool) -> list[list[Binding]]:
        """Return the queues of an address, here and elsewhere: those that take turns, each beside the other."""
        if self.outdated or self.paused:
            self._forget()
        address = broker, name, is_queue
        if address not in self.groups:
            found: dict[tuple[str, object], list[Binding]] = {}
            for at, queue in self.bindings(
                broker, lambda of: (of.address, of.topic is None) == (name, is_queue)
            ):
                own = queue if queue.auto_delete == "left" else None
                found.setdefault((queue.routing_name, own), []).append((at, queue))
            groups = [*found.values()]
            for bindings in groups if broker.option("max_hops") > 1 else ():
                echo.add(self, broker, bindings)
            self.groups[address] = groups
            if any(of[0] is not broker or of.__class__ is echo.Echo for bindings in groups for of in bindings):
                broker.balanced.add(name)
        return self.groups[address]

    def deliver(self, broker: Broker, at: Broker, queue: Queue, message: Message, row: int, rule: int) -> None:
        """Bring a message to a queue; what is for another broker lies here until that has it."""
        if at is broker:
            self.lab.enqueue(at, queue, message, row)
            return
        if rule == BROKER_TURN:
            row = self.lab.message(ENQUEUED, message, broker, cause=row)
        way = self.remote(broker).get(at) or routes.known(broker, at)
        self._pass_on(way, queue, queue.name, message, row, rule)

    def _pass_on(
        self, way: Sequence[Broker], to: Queue | None, queue: str, message: Message, row: int, rule: int
    ) -> None:
        """Store a message for the last broker of a way, and send it on as soon as the next one is there."""
        broker, at = way[0], way[-1]
        stored = StoredMessage(at.node_id, queue, message, row, to=to)
        if len(way) > 2:
            stored.way, stored.since = tuple(way), self.lab.clock.now
        broker.journal.store_and_forward.setdefault(at.node_id, []).append(stored)
        if message.due > self.lab.clock.now:  # it lies here until its time
            self.lab.later(message.due - self.lab.clock.now, self.lab.deliver)
        elif self._talk(broker, way[1]):
            self._forward(BridgedMessage(stored, tuple(way), to, rule))
        else:
            self.lab.message(Kind.Held, message, broker, rule=Reason.on_the_way, cause=row)

    def _forward(self, passage: BridgedMessage) -> None:
        stored, (frm, onto, *_) = passage.stored, passage.way
        stored.under_way = True
        passage.row = self.lab.notes.forwarded(stored.message, frm, onto, passage.rule, stored.row)
        wait = echo.DETOUR if frm is passage.way[-1] else 0
        self.lab.line(frm, onto).carry(self._on_forwarded, passage, wait, stored.message.size)

    def _on_forwarded(self, passage: BridgedMessage) -> None:
        """A broker has a message from another, which forgets it: for a queue here, or to pass on."""
        stored, (frm, onto, *_), at = passage.stored, passage.way, passage.way[-1]
        stored.under_way = False
        if frm.served_journal is None or stored not in frm.served_journal.store_and_forward.get(
            stored.pair, ()
        ):
            return  # its broker ended meanwhile: what it kept is sent once more
        if not (onto.serves and self._talk(frm, onto)):
            self.lab.message(Kind.Held, stored.message, frm, rule=Reason.on_the_way, cause=stored.row)
            return
        if self.lab.paging.limits and onto is at and self.lab.paging.turns_away(at, frm, stored):
            return
        frm.served_journal.store_and_forward[stored.pair].remove(stored)
        self.lab.message(ACKNOWLEDGED, stored.message, frm, onto.node, cause=passage.row)
        if onto is at:
            queue = passage.queue or at.journal.queues.get(stored.queue)
            if self.lab.paging.limits and self.lab.paging.drops(at, stored.message, passage.row):
                return
            if queue is not None:
                if self.lab.adjusts_expiry:
                    stored.message = replace(stored.message)  # others of a topic have one of their own
                    expiry.adjust(at, stored.message)
                self.lab.enqueue(at, queue, stored.message, passage.row)
                return
            # A subscriber's own queue has not come back with its broker.
            self.lab.message(Kind.Discarded, stored.message, at, rule=Reason.no_subscription, cause=passage.row)
            return
        if onto.journal.since > stored.since:
            # Begun anew, it knows the queue by another id (`bindingNotFound`).
            row, unknown = passage.row, Reason.no_subscription
            self.lab.message(Kind.Discarded, stored.message, onto, rule=unknown, cause=row)
            return
        row = self.lab.message(Kind.Enqueued, stored.message, onto, cause=passage.row)
        self._pass_on(passage.way[1:], passage.queue, stored.queue, stored.message, row, passage.rule)

    def forward_stored(self) -> None:
        """What was for a pair that could not be reached goes to who is live of it now."""
        for broker in self.lab.live_brokers():
            for at in self.lab.live_brokers():
                there = at is not broker and broker.reaches(at)
                for stored in broker.journal.store_and_forward.get(at.node_id, ()) if there else ():
                    if self._is_ready(stored) and not stored.way:
                        to = stored.to if stored.to in at.journal.queues.values() else None
                        self._forward(BridgedMessage(stored, (broker, at), to, Reason.broker_turn))
            for stored, way in routes.stored_beyond(broker) if broker.option("max_hops") > 1 else ():
                if self._is_ready(stored):
                    self._forward(BridgedMessage(stored, way, stored.to, Reason.broker_turn))

    def _is_ready(self, stored: StoredMessage) -> bool:
        return not stored.under_way and stored.message.due <= self.lab.clock.now

    # To the consumers of a broker

    def dispatch(self, broker: Broker, stopped: Consumer | None = None) -> None:
        """Hand out what waits: consumers of a queue take turns, without one whose session rests."""
        for queue in [*broker.journal.queues.values()] if broker.serves else ():
            if queue.scheduled and self.lab.keeps_last_values:
                last_values.fall_due(broker, queue)
            if queue.consumers and queue.waiting:
                self.dispatch_queue(broker, queue, stopped, rounds=0)

    def dispatch_queue(
        self, broker: Broker, queue: Queue, stopped: Consumer | None = None, rounds: int = 1
    ) -> None:
        """Hand out what waits in a queue of a broker that serves.

        Where nobody takes the rest, a round has ended with whoever was before the first of it: it is that one's
        turn, whoever took something (`QueueImpl.deliver` of 2.4.0; Artemis rule 9.26).
        """
        now, paging, start = self.lab.clock.now, self.lab.paging, queue.turn
        due = queue.due(now)
        for item in paging.depaged(broker, queue, due) if paging.limits else due:
            if 0 < item.message.expires <= now and item in queue.waiting:
                queue.remove(item)
                expiry.end(broker, queue, item)
                continue
            taker: Taker | None = None
            turns, group = queue.consumers[queue.turn :] + queue.consumers[: queue.turn], item.message.group
            pinned = None if group is None else queue.groups.get(group)
            for consumer in turns if pinned is None else [pinned]:
                selector = consumer.selector
                if consumer is stopped or consumer.full:
                    continue
                if selector is None or selects(selector, item.message):
                    taker = consumer
                    break
            if taker is None and pinned is not None and (pinned is stopped or pinned.full):
                return  # what is behind it waits, too (`QueueImpl.deliver` of 2.4.0)
            if taker is None or item not in queue.waiting:  # a rollback may have come between
                continue
            if pinned is None:  # a message of a group leaves the turn as it is (`QueueImpl.deliver` of 2.4.0)
                queue.turn = (queue.consumers.index(taker) + 1) % len(queue.consumers)
                if group is not None:
                    queue.groups[group] = taker
            queue.waiting.remove(item)
            if queue.latest:
                queue.forget(item)
            way = broker.node, taker.node, taker.link
            item.row = self.lab.message(taker.handed, item.message, broker, *way, QUEUE_TURN, item.row)
            taker.take(item)
        if rounds and queue.waiting and len(queue.consumers) > 1 and len(queue.waiting) > queue.scheduled:
            queue.turn = (start - rounds) % len(queue.consumers)
