"""Delivery: from a message's home to the consumers that have room, over the links between them."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import acknowledgement
from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.messages import Delivery, Message, selects
from mqlab.products.openmq.broker.model import Broker, Consumer, Trip
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

# How much later a consumer is free again, as shares of its home's own: fitted to the bounds of
# OpenMQ rule 2.1 (all shares race there; of a burst the local one takes 55 to 119 of 120).
LOCAL, REMOTE, REMOTE_IN_BURST = 1000, 2000, 8000
# With jitter no share is certain: runs of messages go to one consumer or pass it by, then that changes.
LOCAL_SPREAD, REMOTE_SPREAD, CHANGES = 12, 3, 1 / 16
_served_weight = attrgetter("served_weight")


def dispatch(instance: PhysicalDestination) -> bool:
    """Hand out what waits for a destination at its home; True if something went."""
    broker, offered = instance.broker, instance.offered
    takers = instance.active
    if instance.paused or not _have_room(takers, broker):
        return False
    local = [c for c in takers if c.home is broker]
    if local and instance.dest.is_queue and instance.option("LocalDeliveryPreferred"):
        takers = local
    moved, place = False, 0
    while place < len(offered):
        message, waits = offered[place], False
        for claim in message.claims if message in instance.messages and message.transaction is None else ():
            if claim.taker is None:
                if _hand(claim, takers):
                    moved = True
                else:
                    waits = True
        if waits:
            place += 1
            if not _have_room(takers, broker):
                break
        else:
            message.offered = False
            del offered[place]
    if not offered:
        instance.at.waiting.discard(instance)
    return moved


def _have_room(takers: list[Consumer], home: Broker) -> bool:
    # The first one has, as a rule: any() and its generator are two calls more for every message.
    return bool(takers) and (has_room(takers[0], home) or any(has_room(c, home) for c in takers[1:]))


def _hand(claim: Delivery, takers: list[Consumer]) -> bool:
    """Hand a message to whoever is free first.

    A remote consumer is free again after a way between brokers; a producer of non-persistent messages
    sends four times as many meanwhile (OpenMQ rules 2.1 and 10.1).
    """
    message, home = claim.message, claim.message.home
    free = [
        c for c in takers if has_room(c, home) and claim.key in (None, c.key) and selects(c.selector, message)
    ]
    if not free:
        return False
    taker = min(free, key=_served_weight) if len(free) > 1 else free[0]
    there = taker.home
    taker.served_weight += _busy(taker, message)
    # A broker that had a message given back passes it to nobody again (played with 6.5.0).
    known = message.number in message.at.instances[there].leftovers
    known &= home.lab.network.edition != "5.1"
    (taker.stuck if known else taker.buffer).append(claim)
    claim.taker, claim.arrived, claim.delivered, message.waits = taker, False, False, -1
    claim.stale = False
    claim.trips += 1
    if len(message.claims) > 1:  # why the others wait is noted anew
        message.at.instances[home].look_at(message)
    if there is home:
        _pass_on(claim)
    else:
        _forward(claim, there)
    return True


def first_free(lab: Cluster) -> int:
    """Return when a new consumer is free for the first time; with jitter, after others were served."""
    latest = max((consumer.served_weight for consumer in lab.consumers.values()), default=0)
    return latest + (lab.random.randrange(REMOTE_IN_BURST) if lab.jitter else 0)


def _busy(taker: Consumer, message: Message) -> int:
    """Return for how long a consumer that is handed a message is not free, as a share of its home's time."""
    lab, at_home = message.home.lab, taker.home is message.home
    usual = LOCAL if at_home else REMOTE if message.persistent else REMOTE_IN_BURST
    if taker.pace is None or (lab.jitter and lab.random.random() < CHANGES):
        taker.pace = lab.random_duration(1000, LOCAL_SPREAD if at_home else REMOTE_SPREAD) / 1000
    return round(usual * taker.pace)


def _is_over(trip: Trip) -> bool:
    """Whether what was handed out has been released meanwhile."""
    claim, no = trip
    return claim.taker is None or claim.trips != no


def has_room(consumer: Consumer, home: Broker) -> bool:
    """Whether a home may send a consumer one more message: not more than its limit wait in its buffer.

    To another broker one more is on the way after the first has been taken. A home that has sent nothing
    that waits there does not know that others have filled the buffer, and sends one (OpenMQ rule 2.3).
    """
    waiting = len(consumer.buffer)
    if consumer.home is home or waiting < consumer.limit:
        return waiting < consumer.limit
    first = len(consumer.received) == 1 < consumer.limit
    return waiting < consumer.limit + first or all(c.message.home is not home for c in consumer.buffer)


def _forward(claim: Delivery, there: Broker) -> None:
    """Let a message go to the broker of its taker: it crosses only once."""
    message, home, notes = claim.message, claim.message.home, claim.message.home.lab.notes
    if there not in message.copies and there not in message.crossing:
        link = notes.links[home.name, there.name]
        message.crossing[there] = notes.message(
            Kind.Forwarded,
            message,
            frm=home.node,
            to=there.node,
            link=link,
            rule=Reason.home_to_home,
        )
    claim.row = message.copies.get(there, message.crossing.get(there, -1))
    home.lab.lines[home.name, there.name].carry(on_forwarded, (claim, claim.trips), 0, claim.message.size)


def on_forwarded(trip: Trip) -> None:
    """A message comes to the broker of its taker, unless the line is cut or nobody there takes it."""
    claim, _ = trip
    if claim.taker is None or _is_over(trip):
        return
    message, there, home = claim.message, claim.taker.home, claim.message.home
    lab = there.lab
    if there.suspended or lab.is_cut(home, there):
        lab.held.append(trip)
        lab.note_lost(home, there)
        return
    if there in message.crossing:
        message.copies[there] = lab.notes.message(
            Kind.Enqueued,
            message,
            there,
            frm=home.node,
            to=there.node,
            link=lab.notes.links[home.name, there.name],
            cause=message.crossing.pop(there),
        )
    _pass_on(claim)


def _pass_on(claim: Delivery) -> None:
    """Let a message go from a broker to its consumer."""
    message, taker = claim.message, claim.taker
    if taker is None:
        return
    there = taker.home
    instance = message.at.instances.get(there)
    there.handed[claim.key] += claim not in taker.stuck
    claim.arrived, claim.kept = True, instance is not None and instance.paused
    claim.row = there.lab.notes.message(
        Kind.Dispatched,
        message,
        there,
        frm=there.node,
        to=taker.node,
        sub=taker.sub,
        cause=message.copies.get(there, message.row),
    )
    taker.from_home.carry(on_delivered, (claim, claim.trips), 0, claim.message.size)


def on_delivered(trip: Trip) -> None:
    """A message has come to its consumer."""
    claim, _ = trip
    if claim.taker is None or _is_over(trip):
        return
    buffer, claim.delivered = claim.taker.buffer, True
    if buffer and buffer[0] is not claim and claim in buffer:
        place = next((no for no, known in enumerate(buffer) if not known.delivered), len(buffer))
        if buffer.index(claim) > place:  # it has overtaken one of another home
            buffer.remove(claim)
            buffer.insert(place, claim)
    claim.taker.home.lab.schedule_dispatch(claim.message.at)


def release_held(lab: Cluster) -> None:
    """A line is whole again, or a broker goes on: what was under way arrives."""
    held, lab.held = lab.held, []
    for trip in held:
        claim, taker = trip[0], trip[0].taker
        if taker is None or _is_over(trip) or claim.message.home.running:
            on_forwarded(trip)
        elif claim in taker.buffer:  # who sent it is gone, and sends it no more
            taker.buffer.remove(claim)
            claim.free()


def consume(consumer: Consumer) -> bool:
    """Let a consumer take what its application wants; True if it took something."""
    took = False
    while consumer.buffer and (claim := upcoming(consumer)):
        if acknowledgement.is_automatic(consumer) and not consumer.home.linked(claim.message.home):
            _fail(consumer, claim)
            break
        consumer.buffer.popleft()
        _receive(consumer, claim)
        took = True
    return took


def _fail(consumer: Consumer, claim: Delivery) -> None:
    """Taking a message of a dead home fails: its acknowledgement has nowhere to go.

    In 6.5 all that the client had with it is stuck, of living homes too; what comes later is not. 5.1 drops
    the copies, but goes on listing the one that failed (OpenMQ rules 8.5 and 12.1).
    """
    if consumer.home.lab.network.edition == "5.1":
        acknowledgement.drop_lost(consumer)
        consumer.home.instances[consumer.dest].leftovers.add(claim.message.number)
    else:
        consumer.failed = [claim]
        consumer.stuck += consumer.buffer
        consumer.buffer.clear()


def upcoming(consumer: Consumer) -> Delivery | None:
    """Return what a consumer takes next, if it can take something now."""
    here, lab = consumer.home, consumer.home.lab
    waits = consumer.allowance == 0 or consumer.gone or consumer.busy_until > lab.clock.now
    failed = consumer.rollback_only and consumer.lost >= 0  # C4106
    if not consumer.open or not consumer.buffer or waits or failed:
        return None
    claim, home = consumer.buffer[0], consumer.buffer[0].message.home
    silent = here.suspended or home.suspended or not claim.delivered or lab.is_cut(here, home)
    # A paused broker keeps what comes, but its consumers have what came before.
    instance = consumer.at.instances.get(here)
    return None if silent or (claim.kept and instance is not None and instance.paused) else claim


def _receive(consumer: Consumer, claim: Delivery) -> None:
    message, home, lab = claim.message, consumer.home, consumer.home.lab
    if consumer.allowance is not None:
        consumer.allowance -= 1
    consumer.received.append(message.number)
    way = {"frm": home.node, "to": consumer.node, "sub": consumer.sub, "cause": claim.row}
    if claim.flagged:
        consumer.redelivered.append(message.number)
        lab.notes.message(Kind.Redelivered, message, home, **way)
    claim.row = lab.notes.message(Kind.Received, message, home, **way)
    consumer.taken.append(claim)
    if acknowledgement.is_automatic(consumer):
        acknowledgement.acknowledge(consumer, [claim])
    elif consumer.mode == "client" and consumer.keys.get("acknowledge"):
        acknowledgement.acknowledge(consumer, list(consumer.taken))
    elif consumer.mode == "dups_ok":
        if len(consumer.taken) == acknowledgement.DUPS_LIMIT:
            acknowledgement.on_dups(consumer)
        lab.later_at(acknowledgement.DUPS_WAIT, consumer.at, acknowledgement.on_dups, consumer)
    if consumer.keys.get("delay_ms"):  # its application works on it
        work = int(consumer.keys["delay_ms"]) * 1000
        consumer.busy_until = lab.clock.now + work
        lab.later_at(work, consumer.at)
