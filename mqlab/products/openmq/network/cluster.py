"""Brokers that start and end, the record of changes, and what a returning broker learns.

The change record is the history of destinations and durable subscriptions: kept by the master broker,
in the peers' database, or in the store of an enhanced cluster. Whoever was away reads it before it takes
part, then hears of the others' consumers (Technical Overview 4, "Conventional Clusters").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mqlab.products.openmq.broker import acknowledgement, physical_destinations, reaping, removal, transactions
from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.model import ENDED, Broker, DurableSubscription, Key
from mqlab.products.openmq.client import clients
from mqlab.spec.openmq.options import PROPERTIES, Options
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster
    from mqlab.products.openmq.script.operation import ScriptStep
    from mqlab.spec.action import Consumer

SECOND = 1_000_000
# us that a temporary destination waits for its client after a restart: five times 10 s (OpenMQ rule 4.8).
RETURN_WINDOW = 5 * 10 * SECOND

# The change record


def _create(broker: Broker, dest: Destination, options: Options) -> None:
    mine = broker.instances.get(dest)  # it keeps what it has created itself, with all the new properties
    usual = {name: PROPERTIES.get(name) for name in mine.options} if mine is not None else {}
    # In an enhanced cluster one store knows a destination as what it was first.
    others = broker.lab.brokers.values() if broker.lab.enhanced else ()
    was_auto = any(b.instances[dest].created_by == "auto" for b in others if dest in b.instances)
    broker.add(dest, "auto" if was_auto else "admin", options).set({**usual, **options} if mine else {})


def _update(broker: Broker, dest: Destination, options: Options) -> None:
    if dest in broker.instances:
        broker.instances[dest].update(options)


def _destroy(broker: Broker, dest: Destination) -> None:
    gone = broker.drop(dest)
    for message in gone.messages if gone else ():
        removal.count_removed(message)
        removal.discard(message, Reason.asked)
    for key in [key for key, durable in broker.durables.items() if durable.dest == dest]:
        del broker.durables[key]
        broker.handed.pop(key, None)
    removal.cut_off(broker, dest)


def _subscribe(broker: Broker, durable: DurableSubscription) -> None:
    broker.durables[durable.key] = durable
    broker.find(durable.dest)


def _unsubscribe(broker: Broker, key: Key) -> None:
    broker.durables.pop(key, None)
    broker.handed.pop(key, None)
    acknowledgement.forget(broker, key, Reason.asked)


def _unsubscribed_while_away(broker: Broker, key: Key) -> None:
    """A home that was away learns that a subscription has ended: what it has for it stays, for nobody."""
    for instance in broker.instances.values():
        for message in instance.messages:
            for claim in message.claims:
                claim.key = ENDED if claim.key == key else claim.key
    _unsubscribe(broker, key)


CHANGES: dict[str, Callable[..., None]] = {
    "create": _create,
    "update": _update,
    "destroy": _destroy,
    "subscribe": _subscribe,
    "unsubscribe": _unsubscribe,
}


def change(broker: Broker, what: str, *values: Any) -> bool:
    """Make an administrative change on all brokers; False if it is refused at the broker asked.

    Without the record it is refused, and leaves traces all the same: a creation on the other brokers, an
    update and a new subscription on the one asked (OpenMQ rule 6.2). A peer whose database was away finds out
    by the first change that its connection is broken (OpenMQ rule 7.2).
    """
    lab, peers = broker.lab, broker.peers
    if not broker.serves:
        return False
    broker.tell_all()
    if can_change(broker):
        lab.change_record.append((what, values))
        for peer in (broker, *peers):
            if lab.is_cut(broker, peer):  # which it hears of when the line is whole again
                lab.news.append((frozenset((broker.name, peer.name)), peer, len(lab.change_record)))
            else:
                hear(peer, len(lab.change_record))
        return True
    if lab.network.model in ("master", "peer"):
        if what == "subscribe":
            values[0].refused = True
        for peer in {"create": peers, "update": [broker], "subscribe": [broker]}.get(what, ()):
            CHANGES[what](peer, *values)
        broker.lost_database = False
    return False


def hear(broker: Broker, place: int) -> None:
    """A broker hears of the change that is the *place*-th of the record."""
    what, values = broker.lab.change_record[place - 1]
    CHANGES[what](broker, *values)
    broker.seen = max(broker.seen, place)


def subscribe(broker: Broker, key: Key, dest: Destination, selector: str | None) -> bool:
    """Make a durable subscription, or take up the one that is there; another selector is another."""
    known = broker.durables.get(key)
    if known and _is_alike(known, dest, selector):
        for peer in broker.peers:  # without a change record one may not know it
            peer.durables.setdefault(key, known)
        return True
    if known and not change(broker, "unsubscribe", key):
        return False
    return change(broker, "subscribe", DurableSubscription(key, dest, selector))


def _is_alike(known: DurableSubscription, dest: Destination, selector: str | None) -> bool:
    return not known.refused and (known.selector, known.dest) == (selector, dest)


def is_subscribed(broker: Broker, step: ScriptStep[Consumer]) -> bool:
    """Whether a broker knows the durable subscription that a consumer takes up: nothing changes then."""
    known = broker.durables.get(clients.subscription(step))
    return known is not None and _is_alike(known, step.dest, step.action.selector)


def can_change(broker: Broker) -> bool:
    """Whether the change record can be written to from a broker."""
    lab = broker.lab
    if lab.network.model == "master":
        return broker.linked(lab.brokers[str(broker.named_master)])
    return lab.network.model == "none" or (lab.database_up and not broker.lost_database)


def waits_for_database(broker: Broker) -> bool:
    """Whether a change at a peer waits until its database is back, which it knows to be away."""
    lab = broker.lab
    return lab.network.model == "peer" and broker.serves and not (lab.database_up or broker.lost_database)


def stored(broker: Broker, dest: Destination) -> PhysicalDestination | None:
    """Return a destination that a broker of an enhanced cluster finds in the store that they share."""
    found = (peer.instances[dest] for peer in broker.peers if dest in peer.instances)
    return next(found, None) if broker.lab.enhanced else None


def begin_subscription(broker: Broker, step: ScriptStep[Consumer]) -> None:
    """A new durable subscription waits for the record: its broker lists it already, without a consumer."""
    key = clients.subscription(step)
    if key not in broker.durables and broker.find(step.dest):
        selector = step.action.selector
        broker.durables[key] = DurableSubscription(key, step.dest, selector, refused=True)


def create_unrecorded(broker: Broker, dest: Destination, options: Options) -> None:
    """Create a destination on all brokers, whose record has to wait for the database."""
    for peer in (broker, *broker.peers):
        _create(peer, dest, options)


def record(broker: Broker, what: str, *values: Any) -> None:
    """Write a change that was made already into the record."""
    broker.lab.change_record.append((what, values))
    for peer in (broker, *broker.peers):
        peer.seen = len(broker.lab.change_record)


def hands_over(broker: Broker) -> bool:
    """Whether a broker is the master, and may make another one that."""
    flag = str(broker.option("imq.cluster.dynamicChangeMasterBrokerEnabled", "false")).lower()
    return flag == "true" and broker.master == broker.name


# Coming and going


def start(broker: Broker) -> None:
    """Start a broker: what it kept is there again; without its master it serves nobody."""
    lab = broker.lab
    broker.running, broker.linked_before = True, set()
    lab.looked_at.discard(broker)
    broker.handed.clear()
    broker.unnoticed.clear()
    _look_whom_it_reaches(broker)
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
        elif instance.created_by == "temporary" or reaping.is_unused(broker, dest):
            broker.drop(dest)  # nor does an empty auto-created one survive
    refresh(lab)


def _look_whom_it_reaches(broker: Broker) -> None:
    """A broker starts: it has no link to one that is frozen or behind a cut, which knows its former life."""
    lab = broker.lab
    lab.unlinked = {pair for pair in lab.unlinked if broker.name not in pair}
    for other in lab.brokers.values():
        cut = lab.is_cut(broker, other)
        if not cut:
            other.unnoticed.discard(broker)
        if other is not broker and other.running and (other.suspended or cut):
            lab.unlinked.add(frozenset((broker.name, other.name)))


def on_retry(what: tuple[Cluster, frozenset[str]]) -> None:
    """The next attempt at a link that was found broken: it is made if both brokers are there."""
    lab, pair = what
    one, other = (lab.brokers[name] for name in sorted(pair))
    silent = one.suspended or other.suspended or lab.is_cut(one, other)
    if pair in lab.unlinked and one.running and other.running and not silent:
        lab.unlinked.discard(pair)
        if one.linked(other):
            tell_each_other(one, other)
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
            catch_up(broker)
            acknowledgement.home_returns(broker)
    for broker in lab.brokers.values():
        broker.linked_before |= set(broker.peers)
    lab.notes.look()
    lab.dispatch_all()


def catch_up(broker: Broker) -> None:
    """A broker joins: changes by the record, and what is in use on either side."""
    lab = broker.lab
    _make_what_was_updated(broker)
    for what, values in lab.change_record[broker.seen :]:
        if lab.network.model != "none":  # without a record it keeps and lacks what it did
            (_unsubscribed_while_away if what == "unsubscribe" else CHANGES[what])(broker, *values)
    broker.seen = len(lab.change_record)
    for peer in broker.peers:
        tell_each_other(broker, peer)


def _make_what_was_updated(broker: Broker) -> None:
    """An update in the record makes a destination that is not there (OpenMQ rule 6.11)."""
    lab = broker.lab
    found: dict[Destination, dict[str, Any]] = {}
    by: dict[Destination, str] = {}
    for what, values in lab.change_record if lab.network.model in ("master", "peer") else ():
        if what == "update":
            found.setdefault(values[0], {}).update(values[1])
        elif what in ("create", "destroy"):
            found.pop(values[0], None)
            by[values[0]] = "admin" if what == "create" else "auto"
    for dest in [dest for dest in found if dest not in broker.instances]:
        broker.add(dest, by.get(dest, "auto"), found[dest])


def tell_each_other(one: Broker, other: Broker) -> None:
    """Two brokers learn of the consumers that the other knows, with their destinations and subscriptions."""
    for knows, learns in ((other, one), (one, other)):
        for dest, mine in knows.instances.items():
            owner = one.lab.consumers.get(str(mine.owner))
            if owner is not None and owner.home is knows:  # its own temporary ones, with a consumer or without
                learns.add(dest, mine.created_by, mine.options, mine.owner)
        used = {c.key: c.dest for dest in knows.instances for c in knows.consumers(dest)}
        for key, dest in used.items():
            mine = knows.instances[dest]
            learns.add(dest, mine.created_by, mine.options, mine.owner)
            learns.durables.update((k, d) for k, d in knows.durables.items() if k == key)


def down(broker: Broker, kind: int) -> None:
    """A broker ends or dies: what was not persistent is gone, its clients lose it."""
    lab = broker.lab
    row = broker.ended = lab.notes.add(kind, broker=broker.node)
    for peer in broker.peers:
        if lab.is_cut(peer, broker):  # no word of its end comes through: its FIN is sent again
            peer.unnoticed.add(broker)
            lab.note_lost(broker, peer)
    lab.news = [news for news in lab.news if news[1] is not broker] if lab.news else lab.news
    broker.running = broker.ready = False
    broker.orderly = kind == Kind.Stopped
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
            clients.lose(client, row)
    transactions.forget(lab, broker)
    clients.let_on(broker)
    for consumer in lab.consumers.values():
        if consumer.flow is not None:
            consumer.flow.homes.pop(broker, None)
    for instance in broker.instances.values():
        instance.takers = None
    physical_destinations.note_all(broker)
