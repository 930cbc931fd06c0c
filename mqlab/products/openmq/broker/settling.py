"""What can move after something has changed: messages to consumers, consumers that take, producers that send.

What happens to messages says where it has changed something (`ClusterDestination.changed`), and only that is
looked at; all else that happens (a step of the script, a broker that starts, a client that comes back) may
concern everything. Both lead to the same: what is looked at in vain changes nothing.
"""

from __future__ import annotations

from heapq import heappop
from operator import attrgetter
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import delivery, physical_destinations, removal
from mqlab.products.openmq.broker.destinations import ClusterDestination, PhysicalDestination
from mqlab.products.openmq.broker.messages import Message
from mqlab.products.openmq.client import producers
from mqlab.products.openmq.client.state import Consumer

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

# A home that has restarted reads what it has stored when a consumer comes: others are faster
# (`Destination.addConsumer`, which loads it, of 6.5.0; three plays).
_order, _place = attrgetter("stored", "broker.place", "place"), attrgetter("place")


def settle(lab: Cluster) -> None:
    """Let everything move that can move now, where only messages have moved."""
    changed: set[ClusterDestination] = set()
    timed = lab.timed
    while timed and timed[0][0] <= lab.clock.now:
        changed.add(heappop(timed)[2])
    again = True
    while again:
        if lab.expiring:
            physical_destinations.expire(lab.expiring)
        changed |= lab.changed
        moved = _move(lab, changed)
        again = moved and bool(lab.changed or lab.expiring)
        if moved and not again:  # a look more is in vain unless something waits
            for at in changed:
                again |= bool(at.waiting)
    if lab.reapable:
        _reap(lab)
    if lab.unnoted:
        _note(lab)


def settle_all(lab: Cluster) -> None:
    """Let everything move that can move now, wherever it is."""
    for instance in lab.physical():
        instance.takers = None
        if instance.limited is not None:  # it keeps a list of who has come and gone
            instance.broker.active(instance.dest)
    lab.timed.clear()  # all is looked at here
    moved = True
    while moved:
        physical_destinations.expire(lab.expiring)
        moved = _move(lab, set(lab.destinations.values()))
    lab.reapable.update(lab.physical())
    _reap(lab)
    lab.unnoted.clear()
    for broker in lab.brokers.values():
        physical_destinations.note_all(broker)


def _move(lab: Cluster, changed: set[ClusterDestination]) -> bool:
    """Let each home, consumer and producer of some destinations do what it can; True if something moved."""
    moved = False
    homes: list[PhysicalDestination] = []
    readers: list[Consumer] = []
    for at in changed:
        homes += at.waiting
        readers += at.consumers
    if homes:
        homes.sort(key=_order)  # broker by broker, whatever order a set had them in
    for instance in homes:
        if instance.broker.serves and delivery.dispatch(instance):
            moved, instance.stored = True, False
    readers.sort(key=_place)  # as they were registered
    for consumer in readers:
        if consumer.buffer and consumer.buffer[0].delivered:
            moved |= delivery.consume(consumer)
        elif consumer.unread:
            moved |= delivery.read_on(consumer)
    lab.changed -= changed  # what producers do from here on is for another look
    for job in [*lab.jobs]:
        if job.producer is None or job.producer.at in changed:
            moved |= producers.go_on(lab, job)
    return moved


def _is_there(instance: PhysicalDestination) -> bool:
    return instance.at.instances.get(instance.broker) is instance


def _reap(lab: Cluster) -> None:
    """Look at destinations that may have become unused, or used again."""
    instances, lab.reapable = lab.reapable, set()
    for instance in sorted(instances, key=_order):
        if _is_there(instance):
            removal.reap(instance)


def _note(lab: Cluster) -> None:
    """Note why messages wait that have come, or come back, since the last look, and were not handed out."""
    waiting: dict[PhysicalDestination, set[Message]] = {}
    new, lab.unnoted = lab.unnoted, []
    for instance, message in new:
        if (message.offered or not instance.broker.running) and _is_there(instance):
            waiting.setdefault(instance, set()).add(message)
    for instance in sorted(waiting, key=_order) if waiting else ():
        physical_destinations.note_waiting(instance, sorted(waiting[instance], key=_place))
