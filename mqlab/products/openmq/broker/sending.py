"""From a consumer's broker to its client, and how the client asks for more (OpenMQ rule 2.3)."""

from __future__ import annotations

from mqlab.products.openmq.broker.messages import Delivery
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client.state import Consumer, Trip
from mqlab.trace.kinds import Kind, Reason

BURST = 10_000  # us at most that a home which takes messages in hears later that it may send on (18 plays)
LOOK = 3_000  # us: longer than from one persistent send of a burst to the next

Grant = tuple[Consumer, Broker, int]  # for whose sake a home may send so many messages more


def pass_on(claim: Delivery) -> None:
    """Let a message go from a broker to its consumer."""
    message, taker = claim.message, claim.taker
    if taker is None:
        return
    there = taker.home
    instance = message.at.instances.get(there)
    there.handed[claim.key] += claim not in taker.stuck
    claim.arrived, claim.kept = True, taker.flow is None and instance is not None and instance.paused
    cause = message.copies.get(there, message.row)
    hops = int(there is not message.home)
    claim.row = there.lab.recorder.add_packed(taker.dispatch, message, hops, taker.why, cause)
    taker.from_home.carry(on_delivered, (claim, claim.trips), 0, message.size)


def on_delivered(trip: Trip) -> None:
    """A message has come to its consumer."""
    claim, no = trip
    taker = claim.taker
    if taker is None or claim.trips != no:  # it was released meanwhile
        return
    buffer, flow, lab = taker.buffer, taker.flow, taker.home.lab
    if buffer and buffer[0] is not claim and claim in buffer:
        priority, here = claim.message.priority, buffer.index(claim)
        # A client hands out one of a higher priority first (OpenMQ rule 2.6).
        later = (no for no, c in enumerate(buffer) if not c.delivered or c.message.priority < priority)
        place = next(later, here)
        if here > place:  # it has overtaken one of another home, or of a lower priority
            buffer.remove(claim)
            buffer.insert(place, claim)
    claim.delivered, taker.reached = True, lab.clock.now
    # Another thread answers, behind what comes at once (`FlowControl` of 6.5.0; three of four plays).
    if flow is not None and (claim.asks or flow.is_due):
        flow.asked |= claim.asks
        sent = sum(c.arrived and not c.delivered for c in buffer)
        flow.is_due = sent > sum(c.arrived for c, _ in flow.here)
        if not flow.is_due:
            answer(taker)
    lab.schedule_dispatch(claim.message.at)


def answer(consumer: Consumer) -> None:
    """Let a client say how many messages more it takes, if it was asked and has room."""
    flow = consumer.flow
    if flow is None or not flow.asked:
        return
    count = flow.room(_unread(consumer))
    instance = consumer.at.instances.get(consumer.home)
    if count <= 0 or instance is None or not consumer.open or consumer.home.suspended:
        return
    flow.asked = False
    waits = any(
        claim.taker is None and claim.key in (None, consumer.key)
        for message in instance.offered
        for claim in message.claims
    )
    lab = consumer.home.lab
    for home, size in flow.grants(count, waits, instance.room):
        grant = consumer, home, size
        consumer.to_home.carry(_on_granted, (grant, lab.clock.now, _came(consumer, home), True))
    flow.own.renew(count)
    send_on(consumer)
    lab.schedule_dispatch(consumer.at)
    if consumer.mode == "auto":  # the acknowledgement that it waits for follows on the same connection
        way = consumer.from_home.delay
        consumer.busy_until = max(consumer.busy_until, lab.clock.now + consumer.to_home.delay + way)
        consumer.to_home.carry(lab.schedule_dispatch, consumer.at, way)


def _came(consumer: Consumer, home: Broker) -> int:
    instance = consumer.at.instances.get(home)
    return instance.came if instance is not None else 0


def _on_granted(heard: tuple[Grant, int, int, bool]) -> None:
    """A home hears that it may send on: behind the messages that it is just taking in, and in this order.

    *heard* says since when it is under way, how many messages the home had had by then, and if it comes *now*.
    """
    grant, since, before, comes = heard
    consumer, home, _ = grant
    came, lab, waiting = _came(consumer, home), home.lab, consumer.at.granted
    if comes:
        waiting.append(grant)
    here = consumer.at.instances.get(home)
    again = comes and here is not None and bool(here.again)  # which another thread sends (OpenMQ rule 8.21)
    if again or (came != before and lab.clock.now < since + BURST):
        lab.clock.schedule(lab.clock.now + LOOK, _on_granted, (grant, since, came, False))
    elif grant in waiting:  # else it was heard with a later one
        for one in [one for one in waiting[: waiting.index(grant) + 1] if one[1] is home]:
            waiting.remove(one)
            asks, _, more = one
            if asks.flow is not None:
                instance, shared = asks.at.instances.get(home), bool(asks.step.options.get("shared"))
                most = -1 if instance is None else instance.flow_limit(shared)
                asks.flow.homes[home].renew(more if most < 0 else min(more, most))
                lab.schedule_dispatch(asks.at)
            if one is not grant:  # it sends what it has to this one before it looks at the next
                lab.on_due_at((consumer.at, None, None))


def _unread(consumer: Consumer) -> int:
    """Return how many messages wait in a client: those still on their way to it come last."""
    coming = 0
    for claim in reversed(consumer.buffer):
        if claim.delivered:
            break
        coming += 1
    return len(consumer.buffer) - coming


def is_plain(consumer: Consumer) -> bool:
    """Whether a consumer reads a topic without a subscription: brokers and stores keep nothing for it."""
    return not consumer.dest.is_queue and consumer.key == consumer.name


def send_on(consumer: Consumer, trip: Trip | None = None) -> None:
    """Pass to a client what has come for it, by priority, as far as its broker's credit goes; *trip* comes now.

    A paused broker passes on nothing, so that the client does not ask for more either (OpenMQ rule 3.7; 6.5.0:
    `Consumer.getAndFillNextPacket`); but what is paused of a topic are its subscriptions, not who reads them.
    """
    flow, here = consumer.flow, consumer.at.instances.get(consumer.home)
    if flow is not None and trip is not None:
        line, priority = flow.here, trip[0].message.priority
        if line and line[-1][0].message.priority < priority:
            line.insert(next(no for no, one in enumerate(line) if one[0].message.priority < priority), trip)
        else:
            line.append(trip)
    if here is not None and here.paused and consumer.key == consumer.name:
        return
    while flow is not None and flow.here and not flow.own.is_used_up:
        claim, no = flow.here.popleft()
        if claim.taker is consumer and claim.trips == no:
            home, message = claim.message.home, claim.message
            if here is not None and message not in (here.messages if home is consumer.home else here.copies):
                consumer.buffer.remove(claim)  # it was removed meanwhile (OpenMQ rule 3.3)
                continue
            claim.asks = flow.passes(claim.asks, None if home is consumer.home else home)
            pass_on(claim)


def send_again(consumer: Consumer, taken: list[Delivery]) -> None:
    """What a client has been sent comes once more: what was taken flagged, and what it has not read.

    What is gone, or has expired meanwhile, does not (`RedeliverHandler.redeliver`,
    `Consumer.getAndFillNextPacket` of 6.5.0).
    """
    unread = [claim for claim in consumer.buffer if claim.delivered]
    again, now = [c for c in (*taken, *unread) if not c.is_gone], consumer.home.lab.clock.now
    for claim in taken:
        claim.flagged = True
    for claim in unread:
        consumer.buffer.remove(claim)
    for claim in [c for c in again if 0 < c.message.expires <= now and c.message.is_there]:
        again.remove(claim)
        claim.free()
    consumer.buffer.extendleft(reversed(again))
    for claim in again:
        claim.delivered = False
    if consumer.flow is None:
        for claim in again:
            pass_on(claim)
        return
    consumer.flow.here.extendleft((claim, claim.trips) for claim in reversed(again))
    answer(consumer)  # nothing is unread now
    send_on(consumer)


def purge(consumer: Consumer) -> None:
    """Drop the copies that have not been sent on to a client; their homes keep the messages until it closes.

    The home of one that was to ask for more may send another in its place (OpenMQ rule 3.8).
    """
    flow, there = consumer.flow, consumer.home
    for trip in list(flow.here) if flow is not None else ():
        claim, home = trip[0], trip[0].message.home
        if flow is None or home is there or claim.taker is not consumer or claim.trips != trip[1]:
            continue
        flow.here.remove(trip)
        consumer.buffer.remove(claim)
        consumer.stuck.append(claim)
        claim.arrived = False
        row = claim.message.copies.pop(there, claim.row)
        there.instances[consumer.dest].drop_copy(claim.message)
        there.lab.notes.message(Kind.Discarded, claim.message, there, rule=Reason.purged, cause=row)
        if claim.asks:
            flow.homes[home].renew(1)
