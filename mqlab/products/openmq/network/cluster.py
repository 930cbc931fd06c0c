"""Brokers that start and end, and what a returning broker learns: the record of changes, then who consumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import home_return, physical_destinations, removal, transactions
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client import consumer_flow, reconnection
from mqlab.products.openmq.network import changes
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

# us that a temporary destination waits for its client after a restart: five times 10 s (OpenMQ rule 4.8).
RETURN_WINDOW = 5 * 10_000_000
RETRY = 5_000_000  # us between two attempts at a broker that is away
OPENS = 900_000  # us until a broker that starts can be called (ready after 0.85 to 2.5 s in ten plays)


def start(broker: Broker) -> None:
    """Start a broker: what it kept is there again; without its master it serves nobody."""
    lab = broker.lab
    broker.running, broker.linked_before = True, set()
    lab.looked_at.discard(broker)
    broker.handed.clear()
    lab.committed.pop(broker, None)
    lab.listed_commits.pop(broker, None)
    broker.unnoticed.clear()
    _look_whom_it_reaches(broker)
    broker.since = lab.clock.now
    broker.suspended = broker.hangs = broker.lost_database = broker.quiesced = broker.quiet = False
    broker.lives += 1
    lab.notes.add(Kind.Restarted if broker.lives > 1 else Kind.Started, broker=broker.node)
    for dest, instance in list(broker.instances.items()):
        instance.load()
        for message in [m for m in instance.messages if 0 < m.expires <= lab.clock.now]:
            removal.move_to_dmq(message, Reason.expired)  # as it is loaded (OpenMQ rule 3.9)
        instance.unlisted = instance.paused = False  # a pause is not kept (`Destination.state` is transient)
        owner = lab.consumers.get(str(instance.owner))
        if instance.created_by == "temporary" and owner and owner.step.options.get("reconnect"):
            lab.later(RETURN_WINDOW, on_window_over, (broker, dest, len(lab.moved.get(owner.name, ()))))
        elif instance.created_by == "temporary" or removal.is_unused(broker, dest):
            broker.drop(dest)  # nor does an empty auto-created one survive
    refresh(lab)


def _look_whom_it_reaches(broker: Broker) -> None:
    """A broker starts: it has no link to one that is frozen or behind a cut, which knows its former life.

    One that is later in the list calls it, at the next of its attempts (OpenMQ rule 8.16).
    """
    lab = broker.lab
    lab.unlinked = {pair for pair in lab.unlinked if broker.name not in pair}
    lab.uncalled &= lab.unlinked
    for other in lab.brokers.values():
        cut, pair = lab.is_cut(broker, other), frozenset((broker.name, other.name))
        if not cut:
            other.unnoticed.discard(broker)
        if other is broker or not other.running:
            continue
        calls = broker.lives and other.place > broker.place and not lab.enhanced
        if other.suspended or cut or calls:
            lab.unlinked.add(pair)
        if calls and not (other.suspended or cut):
            lab.uncalled.add(pair)
            known = max(broker.since, other.since)
            lab.later(RETRY - (lab.clock.now + OPENS - known) % RETRY + OPENS, on_retry, (lab, pair))


def on_retry(what: tuple[Cluster, frozenset[str]]) -> None:
    """The next attempt at a link that was found broken: it is made if both brokers are there."""
    lab, pair = what
    one, other = (lab.brokers[name] for name in sorted(pair))
    silent = one.suspended or other.suspended or lab.is_cut(one, other)
    if pair in lab.unlinked and one.running and other.running and not silent:
        lab.unlinked.discard(pair)
        lab.uncalled.discard(pair)
        if one.linked(other):
            meet(one, other)
            home_return.home_returns(one, [other])
            home_return.home_returns(other, [one])
        refresh(lab)


def on_window_over(what: tuple[Broker, Destination, int]) -> None:
    """If the client of a temporary destination has not come back that goes, here only.

    *what* says how many brokers the client had had when the window began.
    """
    broker, dest, before = what
    instance = broker.instances.get(dest)
    homes = broker.lab.moved.get(str(instance.owner), [])[before:] if instance else []
    if broker.name not in homes and not broker.consumers(dest):
        broker.drop(dest)


def refresh(lab: Cluster) -> None:
    """Let every broker become ready that can, and catch up with the others."""
    for broker in sorted(lab.brokers.values(), key=lambda b: b.named_master != b.name):
        if broker.running and not broker.ready and not broker.waits_for_master:
            broker.ready = True
            lab.happens("ready", broker.name)
            changes.read(broker)
            for peer in broker.peers:  # what is in use on either side
                meet(broker, peer)
            home_return.home_returns(broker, broker.peers)
    for broker in lab.brokers.values():
        broker.linked_before |= set(broker.peers)
    lab.notes.look()
    lab.dispatch_all()


def meet(one: Broker, other: Broker) -> None:
    """Two brokers have a new link: each is told what it may send to the other's consumers, and who is there."""
    others = {one: other, other: one}
    for consumer in one.lab.consumers.values():
        if consumer.home in others:
            consumer.unheard_by.discard(others[consumer.home])
            consumer_flow.begin(consumer, others[consumer.home])
    tell_each_other(one, other)


def tell_each_other(one: Broker, other: Broker) -> None:
    """Two brokers learn of the consumers that the other knows, with their destinations and subscriptions."""
    for knows, learns in ((other, one), (one, other)):
        for dest, mine in knows.instances.items():
            owner = one.lab.consumers.get(str(mine.owner))
            if owner is not None and owner.home is knows:  # its own temporary ones, with a consumer or without
                learns.add(dest, mine.created_by, mine.options, mine.owner)
        told = [dest for dest, mine in knows.instances.items() if not mine.option("LocalOnly")]
        used = {c.key: c.dest for dest in told for c in knows.consumers(dest) if not c.cut_off}
        for key, dest in used.items():
            mine = knows.instances[dest]
            learns.add(dest, mine.created_by, mine.options, mine.owner)
            learns.durables.update((k, d) for k, d in knows.durables.items() if k == key)
        for consumer in [c for c in one.lab.consumers.values() if c.cut_off and c.open and c.home is knows]:
            if not consumer.step.action.durable:  # whose subscription ended with it (OpenMQ rule 4.11)
                learns.find(consumer.dest)
                consumer.told_to.add(learns)


def down(broker: Broker, kind: int) -> None:
    """A broker ends or dies: what was not persistent is gone, its clients lose it."""
    lab = broker.lab
    row = broker.ended = lab.notes.add(kind, broker=broker.node)
    for peer in broker.peers:
        if lab.is_cut(peer, broker):  # no word of its end comes through: its FIN is sent again
            peer.unnoticed.add(broker)
            lab.note_lost(broker, peer)
    lab.news = [news for news in lab.news if news[1] is not broker] if lab.news else lab.news
    broker.running = broker.ready = broker.suspended = False
    broker.orderly, broker.since = kind == Kind.Stopped, lab.clock.now
    lab.happens("stopped", broker.name)
    lab.notes.look(row)
    for instance in broker.instances.values():
        instance.leftovers.clear()
        for message in list(instance.messages):
            # What a topic has for subscribers without a durable subscription is not stored.
            message.claims = [
                claim
                for claim in message.claims
                if message.persistent and claim.key in (None, *broker.durables)
            ]
            prepared = message.persistent and message.transaction in lab.prepared
            if lab.is_open(message.transaction) or not (message.claims or prepared):
                instance.remove(message)
                lab.notes.message(Kind.Discarded, message, rule=Reason.memory_store, cause=row)
    for branch in lab.prepared.values():  # its copies of what is at home elsewhere are gone
        for claim in branch.taken if branch.home is broker else ():
            if claim.message.copies.pop(broker, None) is not None:
                claim.message.at.instances[broker].drop_copy(claim.message)
    for client in (*lab.consumers.values(), *lab.producers.values()):
        if client.open and client.home is broker:
            reconnection.lose(client, row)
    transactions.forget(lab, broker)
    reconnection.let_on(broker)
    for instance in broker.instances.values():
        instance.takers = None
    physical_destinations.note_all(broker)
