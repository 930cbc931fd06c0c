"""Redistribution: a queue without consumers sends its messages to where there are some (Artemis rule 8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Queue
from mqlab.products.artemis.network import routes, turns
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.network.cluster_connection import ClusterConnection


def begin(cluster: ClusterConnection) -> None:
    """Let what has no consumer be moved after the delay; not with STRICT and OFF.

    What a subscriber's own queue holds goes with it.
    """
    lab = cluster.lab
    for broker in lab.live_brokers():
        if broker.option("message_load_balancing") in ("ON_DEMAND", "OFF_WITH_REDISTRIBUTION"):
            for queue in broker.journal.queues.values():
                if queue.waiting and not queue.consumers and queue.auto_delete != "left":
                    delay = lab.setting(broker, queue.address, "redistribution_delay")
                    if delay >= 0:
                        lab.soon(broker, delay * 1000, _move, cluster, queue)


def _move(broker: Broker, cluster: ClusterConnection, queue: Queue) -> None:
    """Move from the head on; the first message that nobody elsewhere wants blocks the rest."""
    if not broker.serves or queue.consumers:
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
