"""Redistribution: a queue without consumers sends its messages to where there are some (Artemis rule 8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.engine.clock import NEVER
from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Queue
from mqlab.products.artemis.network import routes, turns
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.network.cluster_connection import ClusterConnection


def begin(cluster: ClusterConnection, joined: Queue | None = None) -> None:
    """Let what has no consumer be moved after the delay, if somebody elsewhere takes it.

    A consumer that opens on a queue elsewhere (*joined*) lets a delay that is not over begin anew. What a
    subscriber's own queue holds goes with it.
    """
    for broker in cluster.lab.live_brokers() if cluster.lab.redistributes else ():
        for queue in broker.journal.queues.values():
            if queue.consumers or queue is joined:
                continue
            anew = joined is not None and joined.routing_name == queue.name
            if queue.redistributor <= cluster.lab.clock.now:
                move(broker, cluster, queue)
            elif anew or (queue.redistributor == NEVER and _is_wanted(cluster, broker, queue)):
                add(cluster, broker, queue)


def _is_wanted(cluster: ClusterConnection, broker: Broker, queue: Queue) -> bool:
    """Whether a queue elsewhere has consumers."""
    bindings = cluster.bindings(broker, lambda other: other.routing_name == queue.name)
    return any(other.consumers for at, other in bindings if at is not broker)


def add(cluster: ClusterConnection, broker: Broker, queue: Queue) -> None:
    """Let a queue be redistributed after its delay, until it has a consumer (`QueueImpl.addRedistributor`).

    Not with STRICT and OFF.
    """
    delay = cluster.lab.setting(broker, queue.address, "redistribution_delay")
    redistributes = broker.option("message_load_balancing") in ("ON_DEMAND", "OFF_WITH_REDISTRIBUTION")
    if delay >= 0 and redistributes and queue.auto_delete != "left":
        queue.redistributor = cluster.lab.clock.now + delay * 1000
        cluster.lab.soon(broker, delay * 1000, move, cluster, queue)


def move(broker: Broker, cluster: ClusterConnection, queue: Queue) -> None:
    """Move from the head on; the first message that nobody elsewhere wants blocks the rest."""
    if not broker.serves or queue.redistributor > cluster.lab.clock.now:
        return
    for item in queue.due(cluster.lab.clock.now):
        if item.message.group is not None:  # it stays where its group is (`Redistributor.handle` of 2.4.0)
            continue
        bindings = cluster.bindings(broker, lambda other: other.routing_name == queue.name)
        if not bindings:  # by its own name it knows none where its address has another (`redistribute`)
            return
        near = (broker, *cluster.remote(broker))
        takers = [
            (at, other)
            for at, other in turns.in_turn(broker, bindings)
            if other is not queue
            and (
                other.wanted(item.message, at is not broker)
                if at in near
                else routes.was_wanted(broker, other, item.message)
            )
        ]
        if not takers:
            return
        turns.end(broker, bindings, takers[0])
        queue.remove(item)
        cluster.deliver(broker, *takers[0], item.message, item.row, Reason.redistribution)
