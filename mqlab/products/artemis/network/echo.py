"""A broker's own queue as a neighbour tells it of: one binding more with max-hops of 2 (Artemis rule 8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Message, Queue, StoredMessage
from mqlab.products.artemis.network.routes import BridgedMessage, connected
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.network.cluster_connection import Binding, ClusterConnection

DETOUR = 10_000  # us: what goes there and back comes behind a burst of six (echo_of_two, echo_of_three)


class Echo(tuple[Broker, Queue]):
    """Its turn: a message goes to the neighbour and back."""

    via: Broker
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


def add(cluster: ClusterConnection, broker: Broker, bindings: list[Binding]) -> None:
    """Put the echo of a broker's own queue behind the queue of the neighbour that it comes from.

    A neighbour tells of all queues (`PostOfficeImpl.sendQueueInfoToQueue` of 2.4.0). Only the first one's is
    taken: when the others come the name is bound already (`ClusterConnectionImpl.doBindingAdded`).
    """
    knows = (at for at, way in cluster.remote(broker).items() if len(way) == 2 and broker in cluster.remote(at))
    via = min(knows, key=lambda at: at.journal.since, default=None)
    own = next((queue for at, queue in bindings if at is broker), None)
    if via is not None and own is not None:
        echo = Echo((broker, own))
        echo.via = via
        places = [at for at, _ in bindings]
        bindings.insert(places.index(via) + 1 if via in places else len(bindings), echo)


def passage(broker: Broker, echo: Echo, message: Message) -> BridgedMessage:
    """Return the way of a message whose turn it is; it lies here until the neighbour has it."""
    way = (broker, echo.via, broker)
    now = broker.lab.clock.now
    stored = StoredMessage(broker.node_id, echo[1].name, message, message.row, way=way, since=now)
    broker.journal.store_and_forward.setdefault(broker.node_id, []).append(stored)
    return BridgedMessage(stored, way, echo[1], Reason.broker_turn)


def note(cluster: ClusterConnection) -> None:
    """Note which queues have an echo by now: their brokers tell of these as if they were two lines away.

    The echo takes the place of what a broker says of its own queue, and takes that with it as it goes
    (`PostOfficeImpl.onNotification` of 2.4.0 keeps both by one name).
    """
    lives = cluster.lab.live_brokers() if cluster.echoes else []
    for broker in lives:
        links = [other for other in lives if other is not broker and cluster.is_both_ways(broker, other)]
        for queue in broker.journal.queues.values() if links else ():
            queue.echoed = queue.echoed or cluster.lab.clock.now


def is_told(cluster: ClusterConnection, viewer: Broker, at: Broker, queue: Queue) -> bool:
    """Whether a broker has been told of another one's queue: who connects after its echo came is not.

    It hears of it from a neighbour that knew it before. With more than two hops it is told all the same.
    """
    if viewer is at or not queue.echoed or not at.serves or viewer.option("max_hops") > 2:
        return True
    way = cluster.remote(viewer).get(at, ())
    if len(way) > 2:
        return is_told(cluster, way[-2], at, queue)
    if connected(viewer, at) <= queue.echoed:
        return True
    lives = cluster.lab.live_brokers()
    return any(
        other not in (viewer, at) and connected(other, at) <= queue.echoed
        for other in lives
        if cluster.is_both_ways(other, at) and cluster.is_both_ways(viewer, other)
    )
