"""What a broker removes by itself: messages over a limit or expired, and destinations that go or are unused."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from mqlab.products.openmq.broker import acknowledgement
from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.messages import Delivery, Message
from mqlab.products.openmq.broker.model import DEAD, Broker
from mqlab.products.openmq.client.state import Consumer
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

# us: what is acknowledged at another broker counts so much longer for a burst (18 bursts; OpenMQ rule 3.2).
ANSWERED = 7_000


def goes_beyond(instance: PhysicalDestination, message: Message) -> bool:
    """Whether a message, with those on their way, is beyond a limit; also one that nobody wants.

    Only a destination that refuses looks at the size of each, too (`SimpleNFLHashMap.put` of 6.5.0).
    """
    leaving = _leaving(instance) if instance.let_go else 0
    many = 0 < instance.most < instance.held + leaving + instance.admitted + 1
    weight = instance.held_bytes + instance.admitted_bytes + message.weight
    beyond = many or 0 < instance.most_bytes < weight or 0 < instance.largest < message.weight
    return beyond and _is_queued(instance, message)


def _leaving(instance: PhysicalDestination) -> int:
    """Return how many messages still count for a burst, though they were acknowledged at another broker."""
    lab, let_go = instance.broker.lab, instance.let_go
    over = max(lab.clock.now - ANSWERED, lab.burst)
    while let_go and let_go[0] <= over:
        let_go.popleft()
    return len(let_go)


def _is_queued(instance: PhysicalDestination, message: Message) -> bool:
    """Whether limits are looked at: a topic without subscribers drops what is sent (`Topic.queueMessage`)."""
    broker, dest = instance.broker, instance.dest
    reads = dest.is_queue or broker.consumers(dest) or broker.unused_durables(dest)
    return bool(reads) or message.transaction is not None


def make_room(instance: PhysicalDestination, message: Message) -> None:
    """Before a message comes to a full destination, remove the oldest, or the oldest of the least important.

    A copy of another home's message dies at its home (OpenMQ rule 3.3).
    """
    if not (instance.is_full and _is_queued(instance, message)):
        return
    low = instance.behaviour == "REMOVE_LOW_PRIORITY"
    for least in sorted((*instance.messages, *instance.remote), key=lambda m: (m.priority * low, m.number)):
        if least in instance.remote:
            instance.leftovers.pop(least, None)
            instance.drop_copy(least)
            least.copies.pop(instance.broker, None)
        home = least.at.instances.get(least.home)
        if home is not None and least in home.messages:
            move_to_dmq(least, Reason.limit_reached)
        if instance.room and (instance.room_bytes < 0 or instance.room_bytes > message.weight):
            break


def move_to_dmq(message: Message, rule: int) -> None:
    """Move a message to the dead messages of its broker, if its destination uses them."""
    home, instance = message.home, message.home.instances[message.dest]
    instance.remove(message)
    there = home.add(DEAD, "auto") if instance.option("UseDMQ") else None
    if there is None or (there.behaviour == "REJECT_NEWEST" and goes_beyond(there, message)):
        count_removed(message)
        message.claims.clear()  # copies stay where they are
        home.lab.notes.message(Kind.Discarded, message, rule=rule)
        return
    row = home.lab.notes.message(Kind.DeadLettered, message, rule=rule)
    at = home.lab.destination(DEAD)
    # What an open transaction has sent ends with that, dead or not (OpenMQ rule 1.10).
    dead = replace(
        message, at=at, dest_no=at.number, claims=[], copies={}, crossing={}, expires=0, offered=False
    )
    dead.claims.append(Delivery(dead))
    message.died = dead
    dead.row = home.lab.notes.message(Kind.Enqueued, dead, frm=home.node, to=home.node, cause=row)
    if there.removes:
        make_room(there, dead)
    there.keep(dead)


def cut_off(broker: Broker, dest: Destination) -> None:
    """A destination goes: its clients here, and those that have no broker, are cut off from it for good."""
    lab = broker.lab
    there = [
        client
        for client in (*lab.consumers.values(), *lab.producers.values())
        if client.dest == dest and (client.home is broker or not client.home.running)
    ]
    for client in there:
        client.cut_off = True
        if isinstance(client, Consumer):
            client.told_to.clear()
            client.buffer = deque(claim for claim in client.buffer if claim.delivered)
    for job in list(lab.jobs):  # a send that waits for room is not told
        if job.left and job.producer in there:
            lab.end_job(job)


def discard(message: Message, rule: int) -> None:
    """Note that a message is gone which its destination does not hold any more, and its copies."""
    message.claims.clear()
    acknowledgement.drop_copies(message, Kind.Discarded, rule)
    message.home.lab.notes.message(Kind.Discarded, message, rule=rule)


def count_removed(message: Message) -> None:
    """A transaction goes on counting what it has sent, wherever that is (OpenMQ rule 1.10)."""
    if message.transaction is not None:
        message.home.lab.removed[message.transaction] += 1


# Auto-created destinations that nobody uses any more


def is_unused(broker: Broker, dest: Destination) -> bool:
    """Whether an auto-created destination has no messages, clients or subscriptions left."""
    instance = broker.instances[dest]
    return instance.created_by == "auto" and not (
        instance.messages
        or instance.leftovers
        or broker.consumers(dest)
        or broker.producers(dest)
        or broker.unused_durables(dest)
    )


def reap(instance: PhysicalDestination) -> None:
    """Remove an auto-created destination that nobody has used for long enough."""
    broker, dest, now = instance.broker, instance.dest, instance.broker.lab.clock.now
    if not broker.running or not is_unused(broker, dest):
        instance.idle_since = None
        return
    if instance.idle_since is None:
        instance.idle_since = now
        broker.lab.later(_after(broker))
    elif is_due_by(instance, now):
        broker.drop(dest)


def is_due_by(instance: PhysicalDestination, time: int) -> bool:
    """Whether a destination that nobody uses goes until then (us), if that stays so."""
    since = instance.idle_since
    return since is not None and time >= since + _after(instance.broker)


def _after(broker: Broker) -> int:
    return round(float(broker.option("imq.autocreate.reaptime", 120)) * 1_000_000)
