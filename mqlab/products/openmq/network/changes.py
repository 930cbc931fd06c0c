"""The change record: the history of destinations and durable subscriptions, which all brokers agree upon.

It is kept by the master broker, in the peers' database, or in the store of an enhanced cluster. Whoever was
away reads it before it takes part (Technical Overview 4, "Conventional Clusters").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mqlab.products.openmq.broker import acknowledgement, removal
from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.model import ENDED, Broker, DurableSubscription, Key
from mqlab.products.openmq.client import clients
from mqlab.spec.openmq.options import PROPERTIES, Options
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster
    from mqlab.products.openmq.script.operation import ScriptStep
    from mqlab.spec.action import Consumer


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
    if (gone := broker.instances.get(dest)) is not None:
        for message in list(gone.messages):  # producers that wait may send again, as it empties
            gone.remove(message)
            removal.count_removed(message)
            removal.discard(message, Reason.purged)
    broker.drop(dest)
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
    acknowledgement.forget(broker, key, Reason.unsubscribed)


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


def subscribe(broker: Broker, wanted: DurableSubscription) -> bool:
    """Make a durable subscription, or take up the one that is there; another selector or topic is another.

    One that is shared cannot be taken up by who does not share it, nor the other way round (OpenMQ rule 5.4).
    That of a local-only topic stays with its broker (OpenMQ rule 1.6).
    """
    key, known = wanted.key, broker.durables.get(wanted.key)
    alone = broker.instances[wanted.dest].option("LocalOnly")
    if known and known.shared != wanted.shared:
        return False
    if alone and not (known and _is_alike(known, wanted)):
        _unsubscribe(broker, key)
        _subscribe(broker, wanted)
    if alone:
        return True
    if known and _is_alike(known, wanted):
        for peer in broker.peers:  # without a change record one may not know it
            peer.durables.setdefault(key, known)
        return True
    if known and not change(broker, "unsubscribe", key):
        return False
    return change(broker, "subscribe", wanted)


def asked_for(step: ScriptStep[Consumer]) -> DurableSubscription:
    """Return the durable subscription that a consumer asks for."""
    key, shared = clients.subscription(step), bool(step.options.get("shared"))
    return DurableSubscription(key, step.dest, step.action.selector, shared, step.action.no_local)


def _is_alike(known: DurableSubscription, wanted: DurableSubscription) -> bool:
    mine, others = ((one.selector, one.dest, one.no_local) for one in (known, wanted))
    return not known.refused and mine == others


def is_subscribed(broker: Broker, step: ScriptStep[Consumer]) -> bool:
    """Whether a broker knows the durable subscription that a consumer takes up: nothing changes then."""
    known = broker.durables.get(clients.subscription(step))
    return known is not None and _is_alike(known, asked_for(step))


def can_change(broker: Broker) -> bool:
    """Whether the change record can be written to from a broker."""
    lab = broker.lab
    if lab.network.model == "master":
        return broker.linked(lab.brokers[str(broker.named_master)])
    return lab.network.model == "none" or (lab.database_up and not broker.lost_database)


def has_database(asked: tuple[Cluster, *tuple[object, ...]]) -> bool:
    """Whether the database that a change waits for is back."""
    return asked[0].database_up


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
    new = replace(asked_for(step), refused=True)
    if new.key not in broker.durables and broker.find(step.dest):
        broker.durables[new.key] = new


def hands_over(broker: Broker) -> bool:
    """Whether a broker is the master, and may make another one that."""
    flag = str(broker.option("imq.cluster.dynamicChangeMasterBrokerEnabled", "false")).lower()
    return flag == "true" and broker.master == broker.name


def read(broker: Broker) -> None:
    """A broker that was away makes the changes that the record has and it lacks."""
    lab = broker.lab
    _make_what_is_recorded(broker)
    news = lab.change_record[broker.seen :] if lab.network.model != "none" else []
    again = {values[0].key for what, values in news if what == "subscribe"}
    for what, values in news:  # without a record it keeps and lacks what it did
        if what == "unsubscribe" and values[0] in again:  # what it has for that name goes on waiting for it
            broker.durables.pop(values[0], None)
        else:
            (_unsubscribed_while_away if what == "unsubscribe" else CHANGES[what])(broker, *values)
    broker.seen = len(lab.change_record)


def _make_what_is_recorded(broker: Broker) -> None:
    """A creation or an update in the record makes a destination that is not there (OpenMQ rule 6.11)."""
    lab = broker.lab
    found: dict[Destination, dict[str, Any]] = {}
    by: dict[Destination, str] = {}
    for what, values in lab.change_record if lab.network.model in ("master", "peer") else ():
        if what == "create":
            found[values[0]], by[values[0]] = dict(values[1]), "admin"
        elif what == "update":
            found.setdefault(values[0], {}).update(values[1])
        elif what == "destroy":
            found.pop(values[0], None)
            by.pop(values[0], None)
    for dest in [dest for dest in found if dest not in broker.instances]:
        broker.add(dest, by.get(dest, "auto"), found[dest])
