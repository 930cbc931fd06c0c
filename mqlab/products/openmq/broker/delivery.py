"""Delivery: from a message's home to the consumers that have room, over the links between them."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import acknowledgement, removal, sending
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
    known = message in message.at.instances[there].leftovers
    known &= home.lab.network.edition != "5.1"
    (taker.stuck if known else taker.buffer).append(claim)
    claim.taker, claim.arrived, claim.delivered, message.waits = taker, False, False, -1
    claim.stale = False
    claim.trips += 1
    if taker.flow is not None:
        credit = taker.flow.own if there is home else taker.flow.credit(home)
        claim.asks = credit.use()
    if len(message.claims) > 1:  # why the others wait is noted anew
        message.at.instances[home].look_at(message)
    if there is home:
        sending.pass_on(claim)
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


def has_room(consumer: Consumer, home: Broker) -> bool:
    """Whether a home may send a consumer one more message (OpenMQ rule 2.3)."""
    flow = consumer.flow
    return flow is None or not (flow.own if consumer.home is home else flow.credit(home)).is_used_up


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
    if claim.taker is None or sending.is_over(trip):
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
        instance = message.at.instances.get(there)
        if instance is not None:
            if instance.removes:
                removal.make_room(instance, message)
            instance.keep_copy(message)
    taker = claim.taker
    claim.arrived = True
    if taker.flow is None or claim in taker.stuck:
        sending.pass_on(claim)
    else:
        taker.flow.here.append(trip)
        sending.send_on(taker)


def release_held(lab: Cluster) -> None:
    """A line is whole again, or a broker goes on: what was under way arrives."""
    held, lab.held = lab.held, []
    for trip in held:
        claim, taker = trip[0], trip[0].taker
        if taker is None or sending.is_over(trip) or claim.message.home.running:
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
        sending.answer(consumer, claim.message.home)
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
        consumer.home.instances[consumer.dest].leftovers[claim.message] = None
    else:
        consumer.failed = [claim]
        consumer.stuck += consumer.buffer
        consumer.buffer.clear()


def upcoming(consumer: Consumer) -> Delivery | None:
    """Return what a consumer takes next, if it can take something now."""
    here, lab = consumer.home, consumer.home.lab
    waits = consumer.allowance == 0 or consumer.gone or consumer.busy_until > lab.clock.now
    failed = consumer.rollback_only and consumer.lost >= 0  # C4106
    if not consumer.open or not consumer.buffer or waits or failed or consumer.between:
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
