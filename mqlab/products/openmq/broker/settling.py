"""What can move after something has changed: messages to consumers, consumers that take, producers that send.

What happens to messages says where it has changed something (`ClusterDestination.changed`), and only that is
looked at; all else that happens (a step of the script, a broker that starts, a client that comes back) may
concern everything. Both lead to the same: what is looked at in vain changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop
from operator import attrgetter
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import delivery, physical_destinations
from mqlab.products.openmq.broker.destinations import ClusterDestination, PhysicalDestination
from mqlab.products.openmq.broker.model import Consumer
from mqlab.products.openmq.client import producers
from mqlab.products.openmq.network import cluster

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

_order, _place = attrgetter("order"), attrgetter("place")


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
        # A look more is in vain unless something waits (of 4 looks for each message it spares 2).
        # A list, not any(): a third of the calls, and it is asked twice for each message.
        again = _move(lab, changed) and bool(
            lab.changed or lab.expiring or [at for at in changed if at.waiting]
        )
    if lab.reapable:
        _reap(lab)
    if lab.unnoted:
        _note(lab)


def settle_all(lab: Cluster) -> None:
    """Let everything move that can move now, wherever it is."""
    for instance in _instances(lab):
        instance.takers = None
    lab.timed.clear()  # all is looked at here
    moved = True
    while moved:
        physical_destinations.expire(lab.expiring)
        moved = _move(lab, lab.destinations.values())
    lab.reapable.update(_instances(lab))
    _reap(lab)
    lab.unnoted.clear()
    for broker in lab.brokers.values():
        physical_destinations.note_all(broker)


def _instances(lab: Cluster) -> list[PhysicalDestination]:
    return [instance for broker in lab.brokers.values() for instance in broker.instances.values()]


def _move(lab: Cluster, changed: Iterable[ClusterDestination]) -> bool:
    """Let each home, consumer and producer of some destinations do what it can; True if something moved."""
    moved = False
    for instance in _waiting(changed):
        if _is_there(instance):
            if instance.broker.serves:
                moved |= delivery.dispatch(instance)
        else:
            instance.at.waiting.discard(instance)
    for consumer in _readers(changed):
        if consumer.buffer:
            moved |= delivery.consume(consumer)
    lab.changed.difference_update(changed)  # what producers do from here on is for another look
    for job in [*lab.jobs]:
        if job.producer is None or job.producer.at in changed:
            moved |= producers.go_on(lab, job)
    return moved


def _readers(changed: Iterable[ClusterDestination]) -> list[Consumer]:
    """Return the consumers of some destinations in order of registration."""
    found: list[Consumer] = []
    for at in changed:
        found += at.consumers
    return sorted(found, key=_place) if len(found) > 1 else found


def _waiting(changed: Iterable[ClusterDestination]) -> list[PhysicalDestination]:
    """Return the homes of some destinations where messages wait, broker by broker."""
    found: list[PhysicalDestination] = []
    for at in changed:
        found += at.waiting
    return sorted(found, key=_order) if len(found) > 1 else found


def _in_order(instances: Iterable[PhysicalDestination]) -> list[PhysicalDestination]:
    """Return instances broker by broker, whatever order a set had them in."""
    found = list(instances)
    return sorted(found, key=_order) if len(found) > 1 else found


def _is_there(instance: PhysicalDestination) -> bool:
    return instance.at.instances.get(instance.broker) is instance


def _reap(lab: Cluster) -> None:
    """Look at destinations that may have become unused, or used again."""
    instances, lab.reapable = lab.reapable, set()
    for instance in _in_order(instances):
        if _is_there(instance):
            cluster.reap(instance)


def _note(lab: Cluster) -> None:
    """Note why messages wait that have come, or come back, since the last look."""
    instances, lab.unnoted = lab.unnoted, set()
    for instance in _in_order(instances):
        new, instance.new = instance.new, []
        if _is_there(instance):
            if len(new) > 1:
                new = sorted(set(new), key=_place)
            physical_destinations.note_waiting(instance, new)
