"""Enhanced clusters: suspicion, and takeover by one winner.

A broker whose heartbeats are missed is suspect; at the monitor.threshold-th tick of the monitor after
that (the third, by default) it is found dead, and the first to get the lock takes over what it held
(Technical Overview 4, "Enhanced clusters"; OpenMQ rules 9).
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import removal, sending
from mqlab.products.openmq.broker.model import DEAD, Broker
from mqlab.products.openmq.client import reconnection
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

SECOND = 1_000_000
TAKES = 3 * SECOND // 2  # us from the lock to the end of a takeover
# How many heartbeat intervals pass until a broker is suspect: a dead process answers with a refused
# datagram, which is noticed sooner than silence. A shorter threshold bounds both.
KILLED, SILENT = 1.5, 2.5

# Suspicion


def fault(broker: Broker, orderly: bool = False, failover: bool = True) -> None:
    """A broker is about to go: in an enhanced cluster the others will find it dead."""
    if broker.lab.enhanced and failover:
        silence = SILENT if broker.running and _is_silent(broker) else KILLED
        interval = float(broker.option("imq.cluster.heartbeat.interval", 5))
        threshold = float(broker.option("imq.cluster.heartbeat.threshold", 3))
        due = round(interval * min(silence, threshold) * SECOND)
        broker.lab.later(due, on_suspect, (broker, broker.lives, orderly))


def _is_silent(broker: Broker) -> bool:
    return broker.suspended or any(broker.name in line for line in broker.lab.cuts)


def on_suspect(who: tuple[Broker, int, bool]) -> None:
    """Heartbeats are missing: the monitor counts its ticks, unless the broker has come back."""
    broker, life, orderly = who
    heard = broker.running and not _is_silent(broker)
    if broker.lives == life and not heard and broker.taken_over_by is None:
        broker.lab.happens("suspect", broker.name)
        ticks = 1 if orderly else int(broker.option("imq.cluster.monitor.threshold", 3))
        broker.lab.later(_tick(broker, ticks), on_dead, (broker, life))


def _tick(broker: Broker, count: int) -> int:
    """Return how long it is until the monitor ticks for the *count*th time (us)."""
    every = round(float(broker.option("imq.cluster.monitor.interval", 30)) * SECOND)
    return count * every - broker.lab.clock.now % every


def is_coming(lab: Cluster) -> bool:
    """Whether a broker is gone, was found suspect or will be, and another is there that takes it over."""
    if not lab.database_up:
        return False
    for call, who in (due for called, due in lab.clock.later() if called == lab.on_due):
        dead: Broker | None = who[0] if call in (on_suspect, on_dead) else who[1] if call is on_taken else None
        if dead is None or dead.serves or dead.taken_over_by is not None:
            continue
        if any(b.serves and b.knows(dead) for b in lab.brokers.values()):
            return True
    return False


def on_dead(who: tuple[Broker, int]) -> None:
    """The monitor has found a broker dead: the first to get the lock takes it over.

    Who writes to the store is cleared. Without a survivor or the store the next tick tries again.
    """
    dead, life = who
    lab = dead.lab
    if dead.serves or dead.lives != life:
        lab.happens("cleared", dead.name)
        return
    if dead.taken_over_by or dead.taking_over_broker:
        return
    alive = [b for b in lab.brokers.values() if b.serves and b.knows(dead)]
    if not alive or not lab.database_up:
        lab.later(_tick(dead, 1), on_dead, who)
        return
    winner = dead.taking_over_broker = lab.random.choice(alive)
    for event in ("found_dead", "takeover_lock_acquired"):
        lab.happens(event, dead.name, winner.name)
    lab.notes.add(
        Kind.Locked,
        {"takes over": dead.name},
        broker=winner.node,
        frm=dead.node,
        to=winner.node,
        rule=Reason.first_to_lock,
        cause=dead.ended,
    )
    lab.later(TAKES, on_taken, (winner, dead, life))


# Takeover


def on_taken(what: tuple[Broker, Broker, int]) -> None:
    """The winner has read the store; if it died meanwhile, the others go on counting."""
    winner, dead, life = what
    dead.taking_over_broker = None
    if winner.serves:
        take(winner, dead)
    else:
        wait = max(60, 2 * float(dead.option("imq.cluster.monitor.interval", 30)))
        dead.barred_until = dead.lab.clock.now + round(wait * SECOND)
        dead.lab.later(_tick(dead, 1), on_dead, (dead, life))


def take(winner: Broker, dead: Broker) -> None:
    """Let *winner* have all that *dead* held; open transactions are rolled back."""
    lab = dead.lab
    dead.taken_over_by, dead.barred_until = winner, 0
    # Its store keeps what was committed (`TransactionList`).
    lab.listed_commits[winner] += lab.committed.pop(dead, 0) + lab.listed_commits.pop(dead, 0)
    _tell_holders(winner, dead)
    for dest, instance in sorted(dead.instances.items(), key=lambda one: one[0] != DEAD):
        if not (instance.messages or dest in winner.instances):
            continue  # only those of its own messages are read (`JDBCStore.takeOverBrokerStore` of 6.5.0)
        # All know what an administrator created, unless it was destroyed meanwhile (`loadTakeoverMsgs`).
        if instance.created_by == "admin" and not winner.find(dest):
            continue
        mine = winner.add(dest, instance.created_by, instance.options)
        for message in sorted(instance.messages, key=attrgetter("number")):  # as they were sent
            if lab.is_open(message.transaction):
                removal.discard(message, Reason.broker_stopped)
                instance.remove(message)
                continue
            instance.remove(message)
            message.read()
            message.home = winner
            message.copies.pop(winner, None)
            mine.drop_copy(message)
            message.crossing.pop(winner, None)
            if mine.removes:  # it comes like others (OpenMQ rule 9.6)
                removal.make_room(mine, message)
            message.row = lab.notes.message(Kind.TakenOver, message, frm=dead.node, to=winner.node)
            mine.keep(message)
            mine.leftovers.pop(message, None)
    winner.durables.update(dead.durables)
    for branch in lab.prepared.values():
        branch.home = winner if branch.home is dead else branch.home
    for event in ("takeover_complete", "store_taken", "takeover_processed"):
        lab.happens(event, dead.name, winner.name)


def _tell_holders(winner: Broker, dead: Broker) -> None:
    """What consumers hold of a dead broker's messages and take only now comes flagged.

    The winner closes the connections of its own consumers that hold some; they come back later.
    """
    for consumer in list(dead.lab.consumers.values()):
        held = [claim for claim in consumer.unacknowledged if claim.message.home is dead]
        for claim in held:
            claim.flagged |= claim in consumer.buffer
        if held and not sending.is_plain(consumer) and consumer.home is winner and consumer.open:
            for claim in consumer.buffer:  # its own broker cannot know what of them it has seen
                claim.flagged |= claim.delivered
            reconnection.lose(consumer, dead.ended)


# Return


def may_start(broker: Broker) -> bool:
    """Whether a broker may join: one that was taken over does, without its messages.

    If its taker died meanwhile it may not come back for a minute or two (Administration Guide; not
    recorded). Nor may a second one of the same id.
    """
    lab, own = broker.lab, broker.option("imq.brokerid")
    ids = [b.option("imq.brokerid") for b in lab.brokers.values() if b.running and b is not broker]
    if broker.taking_over_broker or lab.clock.now < broker.barred_until or (own and own in ids):
        return False
    broker.taken_over_by = None  # from now on it may be taken over again
    return True
