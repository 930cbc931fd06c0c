"""By whom messages go to other brokers, and what a broker keeps of those it has lost (Artemis rule 8.6)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker import bridges
from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Message, Queue, StoredMessage

if TYPE_CHECKING:
    from mqlab.products.artemis.network.cluster_connection import ClusterConnection, Ways

Row = tuple[int, Broker, Queue]  # since when (us) a queue is known, of which broker


@dataclass(eq=False, slots=True)
class BridgedMessage:
    """A message on its way from broker to broker; `row` of the trace is its last forwarding."""

    stored: StoredMessage
    way: tuple[Broker, ...]
    queue: Queue | None  # the last one's; None: by its name
    rule: int  # a `Reason`
    row: int = -1


@dataclass(eq=False, slots=True)
class KeptWay:
    """A way that has broken: to whose queues, as they were, and whether its first line has.

    Who is beyond a neighbour hears only from that: it goes on sending where another line has broken, until that
    is whole.
    """

    way: list[Broker]
    rows: list[Row]
    is_own: bool
    since: int  # us


def find(cluster: ClusterConnection, broker: Broker) -> Ways:
    """Return the brokers within max-hops that seem to serve, each with the way to it."""
    latest, found = {broker: [broker]}, {broker: [broker]}
    for _ in range(min(broker.option("max_hops"), len(cluster.lab.brokers))):
        further: Ways = {}
        for at, way in latest.items():
            for other in _neighbours(cluster, at):
                if other not in found:
                    further[other] = found[other] = [*way, other]
        latest = further
    del found[broker]
    if broker.kept:
        _forget(broker, found)
    return found


def _forget(broker: Broker, found: Ways) -> None:
    """Go on along ways that have broken; of what is behind those that lead on again it does not learn anew."""
    for at, kept in broker.kept.items():
        if at in found and broker.lab.clock.now > kept.since:
            kept.rows, kept.is_own = [], True
        if not kept.is_own:
            found[at] = kept.way


def is_told(cluster: ClusterConnection, broker: Broker, at: Broker, queue: Queue) -> bool:
    """Whether a broker knows a queue: beyond a way that has broken only one that was made since that leads on.

    Each tells its neighbours of a queue that is added (`PostOfficeImpl.onNotification` of 2.4.0).
    """
    way = cluster.remote(broker).get(at, ()) if at in broker.kept and broker.kept[at].is_own else ()
    return len(way) < 3 or queue.made > max(connected(one, other) for one, other in pairwise(way))


def connected(one: Broker, other: Broker) -> int:
    """Return since when (us) two brokers that serve are connected."""
    line = frozenset((one.process_name, other.process_name))
    healed = one.lab.partitions.healed.get(line, 0)
    return max(one.journal.since, other.journal.since, healed)


def _neighbours(cluster: ClusterConnection, broker: Broker) -> list[Broker]:
    listed, seems = cluster.bridged.get(broker.name, ()), cluster.lab.partitions.seems_whole
    return [
        other
        for other in cluster.lab.brokers.values()
        if other is not broker
        and other.node_id != broker.node_id  # a second live one of its node id: each knows itself alone
        and other.option("clustered")
        and (other.serves or _hangs(broker, other))
        and (other.name in listed or other.node_id in listed)
        and seems(broker.process_name, other.process_name)
    ]


def _hangs(broker: Broker, other: Broker) -> bool:
    """Whether a live broker hangs, and another has not noticed it yet."""
    role, since = other.suspended
    return other.role == "paused" and role == "live" and broker.lab.clock.now <= since + broker.patience


def _rows(of: Broker) -> list[Row]:
    live = of.served_journal
    return [(max(queue.made, live.since), of, queue) for queue in live.queues.values()] if live else []


def lose(cluster: ClusterConnection, gone: Broker, others: Collection[Broker], orderly: bool = False) -> None:
    """Others are about to lose a broker: without a goodbye they keep what they know."""
    rows = _rows(gone)
    for broker in others:
        if orderly:
            broker.lost.pop(gone.node_id, None)
        elif broker.serves and len(cluster.remote(broker).get(gone, ())) == 2:
            broker.lost[gone.node_id] = rows
            broker.lost_takers |= {queue: [*queue.consumers] for _, _, queue in rows}
        if broker.bridges:
            bridges.lost(broker, gone)
    for broker in cluster.lab.live_brokers():
        if broker is not gone and broker.option("max_hops") > 1:
            _keep(cluster, broker, gone, () if orderly else others)
    cluster.outdated = True


def lose_each_other(cluster: ClusterConnection, one: Broker, other: Broker) -> None:
    """Two brokers are about to notice that they cannot reach each other."""
    lose(cluster, one, [other])
    lose(cluster, other, [one])


def _keep(cluster: ClusterConnection, broker: Broker, gone: Broker, others: Collection[Broker]) -> None:
    """Keep the ways of two lines or more that break with a broker; with its goodbye nothing of them is kept."""
    if not others:
        broker.kept = {at: kept for at, kept in broker.kept.items() if gone not in kept.way}
    for at, way in cluster.remote(broker).items() if others else ():
        broken = [(a is gone and b in others) or (b is gone and a in others) for a, b in pairwise(way)]
        if len(way) > 2 and any(broken):
            # What it knows of consumers stays as it is, too.
            rows = [(made, of, copy(queue)) for made, of, queue in _rows(at)]
            for _, _, queue in rows:
                queue.consumers = [*queue.consumers]
            broker.kept[at] = KeptWay(way, rows, broken[0], cluster.lab.clock.now)


def remembered(broker: Broker, places: Collection[Broker]) -> Iterator[Row]:
    """Yield the queues that a broker knows of those it has lost; what is there again it forgets."""
    for at in places:
        if at.served_journal is not None:
            broker.lost.pop(at.node_id, None)
    for rows in broker.lost.values():
        yield from rows
    for at, kept in broker.kept.items():
        if at.served_journal is None or at not in places:
            yield from kept.rows


def was_wanted(broker: Broker, queue: Queue, message: Message) -> bool:
    """Whether a lost broker had consumers for a message: who redistributes does not ask if it is there."""
    then = copy(queue)
    then.consumers = broker.lost_takers.get(queue, [])
    return then.wanted(message, afar=True)


def known(broker: Broker, at: Broker) -> list[Broker]:
    """Return the way to a broker that was lost."""
    return broker.kept[at].way if at in broker.kept else [broker, at]


def as_now(broker: Broker, chosen: list[tuple[Broker, Queue]]) -> Iterator[tuple[Broker, Queue]]:
    """Yield queues that were chosen earlier, perhaps in another life of their broker; none that is gone."""
    for binding in chosen:
        at, queue = binding
        queues = broker.journal.queues
        if at.node_id != broker.node_id or queue in queues.values():
            yield binding
        elif queue.durable and queue.name in queues:  # read from the journal, by it or by its slave
            yield broker, queues[queue.name]


def stored_beyond(broker: Broker) -> Iterator[tuple[StoredMessage, tuple[Broker, ...]]]:
    """Yield what lies here for a broker behind the next one, with its way by who is that now."""
    lives = broker.lab.live_brokers()
    for mail in broker.journal.store_and_forward.values():
        for stored in mail:
            pair = stored.way[1].node_id if stored.way else ""
            onto = next((live for live in lives if live.node_id == pair and broker.reaches(live)), None)
            if stored.way and onto is not None:
                yield stored, (broker, onto, *stored.way[2:])
