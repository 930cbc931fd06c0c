"""Delivery: from a message's home to the consumers that have room, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.openmq.model import Broker, Claim, Consumer, Message, selects
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab

DUPS_LIMIT, DUPS_WAIT = (
    10,
    7_000_000,
)  # messages, and us after the last, until they are acknowledged

# Out


def dispatch(broker: Broker, dest: Destination) -> bool:
    """Hand out what waits for a destination at its home; True if something went."""
    instance, takers = broker.instances[dest], broker.active(dest)
    if not takers or instance.paused:
        return False
    local = [c for c in takers if c.home is broker]
    if local and dest.is_queue and instance.option("LocalDeliveryPreferred"):
        takers = local
    moved = False
    for message in in_order(instance.messages):
        for claim in message.claims if message.transaction is None else ():
            moved |= claim.taker is None and _hand(claim, takers)
    return moved


def in_order(messages: list[Message]) -> list[Message]:
    """Return messages as they are to be handed out: by priority, then as they came."""
    return sorted(messages, key=lambda m: (-m.priority, m.number))


def _hand(claim: Claim, takers: list[Consumer]) -> bool:
    """Hand a message to whoever is free first.

    A remote consumer is free again after a way between brokers; a producer of non-persistent messages
    sends four times as many meanwhile (observed, sections 2 and 10).
    """
    message, home = claim.message, claim.message.home
    free = [c for c in takers if len(c.buffer) < c.limit
            and claim.key in (None, c.key) and selects(c.selector, message)]  # fmt: skip
    if not free:
        return False
    taker = min(free, key=lambda consumer: consumer.served)
    there = taker.home
    taker.served += 1 if there is home else 2 if message.persistent else 8
    claim.taker, claim.arrived, claim.delivered, message.waits = taker, False, False, -1
    claim.stale = False
    claim.trips += 1
    if there is home:
        _pass_on(claim)
    else:
        _forward(claim, there)
    # A broker that had a message given back passes it to nobody again (played with 6.5.0).
    known = message.number in there.instances[message.dest].leftovers
    known &= home.lab.scenario.version != "5.1"
    (taker.stuck if known else taker.buffer).append(claim)
    there.handed[claim.key] += not known
    return True


Trip = tuple[Claim, int]


def _is_over(trip: Trip) -> bool:
    """Whether what was handed out has been released meanwhile."""
    claim, no = trip
    return claim.taker is None or claim.trips != no


def _forward(claim: Claim, there: Broker) -> None:
    """Let a message go to the broker of its taker: it crosses only once."""
    message, home, notes = claim.message, claim.message.home, claim.message.home.lab.notes
    if there not in message.copies and there not in message.crossing:
        link = notes.links[home.name, there.name]
        message.crossing[there] = notes.message(
            Kind.Forwarded, message, frm=home.node, to=there.node, link=link, rule=Rule.home_to_home
        )
    claim.row = message.copies.get(there, message.crossing.get(there, -1))
    home.lab.lines[home.name, there.name].carry(on_forwarded, (claim, claim.trips))


def on_forwarded(trip: Trip) -> None:
    """A message comes to the broker of its taker, unless the line is cut or nobody there takes it."""
    claim, _ = trip
    if claim.taker is None or _is_over(trip):
        return
    message, there, home = claim.message, claim.taker.home, claim.message.home
    lab = there.lab
    if there.frozen or lab.is_cut(home, there):
        lab.held.append(trip)
        return
    if there in message.crossing:
        cause = message.crossing.pop(there)
        link = lab.notes.links[home.name, there.name]
        way = {"frm": home.node, "to": there.node, "link": link, "cause": cause}
        message.copies[there] = lab.notes.message(Kind.Enqueued, message, there, **way)
    _pass_on(claim)


def _pass_on(claim: Claim) -> None:
    """Let a message go from a broker to its consumer."""
    message, taker = claim.message, claim.taker
    if taker is None:
        return
    there = taker.home
    instance = there.instances.get(message.dest)
    claim.arrived, claim.kept = True, instance is not None and instance.paused
    claim.row = there.lab.notes.message(
        Kind.Dispatched, message, there, frm=there.node, to=taker.node, sub=taker.sub,
        cause=message.copies.get(there, message.row),
    )  # fmt: skip
    taker.from_home.carry(on_delivered, (claim, claim.trips))


def on_delivered(trip: Trip) -> None:
    """A message has come to its consumer."""
    claim, _ = trip
    if claim.taker is None or _is_over(trip):
        return
    buffer, claim.delivered = claim.taker.buffer, True
    place = next((no for no, known in enumerate(buffer) if not known.delivered), len(buffer))
    if claim in buffer and buffer.index(claim) > place:  # it has overtaken one of another home
        buffer.remove(claim)
        buffer.insert(place, claim)
    claim.taker.home.lab.stir()


def release_held(lab: ClusterLab) -> None:
    """A line is whole again, or a broker goes on: what was under way arrives."""
    held, lab.held = lab.held, []
    for trip in held:
        on_forwarded(trip)


def drop_copies(message: Message, kind: int, rule: int) -> None:
    """Note that copies of a message have gone from brokers where nobody holds it any more."""
    there = {claim.taker.home for claim in message.claims if claim.taker}
    message.crossing = {b: row for b, row in message.crossing.items() if b in there}
    for broker in [broker for broker in message.copies if broker not in there]:
        row = message.copies.pop(broker)
        broker.lab.notes.message(kind, message, broker, rule=rule, cause=row)


def consume(consumer: Consumer) -> bool:
    """Let a consumer take what its application wants; True if it took something."""
    took = False
    while claim := upcoming(consumer):
        if _is_automatic(consumer) and not consumer.home.linked(claim.message.home):
            _fail(consumer, claim)
            break
        consumer.buffer.popleft()
        _receive(consumer, claim)
        took = True
    return took


def _fail(consumer: Consumer, claim: Claim) -> None:
    """Taking a message of a dead home fails: its acknowledgement has nowhere to go.

    In 6.5 all that the client had with it is stuck, of living homes too; what comes later is not. 5.1 drops
    the copies, but goes on listing the one that failed (observed, sections 8 and 12).
    """
    if consumer.home.lab.scenario.version == "5.1":
        _drop_lost(consumer)
        consumer.home.instances[consumer.dest].leftovers.add(claim.message.number)
    else:
        consumer.failed = [claim]
        consumer.stuck += consumer.buffer
        consumer.buffer.clear()


def upcoming(consumer: Consumer) -> Claim | None:
    """Return what a consumer takes next, if it can take something now."""
    here, lab = consumer.home, consumer.home.lab
    waits = consumer.allowance == 0 or consumer.gone or consumer.busy_until > lab.clock.now
    failed = consumer.refuses and consumer.lost >= 0  # C4106
    if not consumer.open or not consumer.buffer or waits or failed:
        return None
    claim, home = consumer.buffer[0], consumer.buffer[0].message.home
    silent = here.frozen or home.frozen or not claim.delivered or lab.is_cut(here, home)
    # A paused broker keeps what comes, but its consumers have what came before.
    return None if silent or (claim.kept and here.instances[consumer.dest].paused) else claim


def _is_automatic(consumer: Consumer) -> bool:
    return consumer.mode == "auto" and not consumer.keys.get("xa")


def _receive(consumer: Consumer, claim: Claim) -> None:
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
    if _is_automatic(consumer):
        acknowledge(consumer, [claim])
    elif consumer.mode == "client" and consumer.keys.get("acknowledge"):
        acknowledge(consumer, list(consumer.taken))
    elif consumer.mode == "dups_ok":
        if len(consumer.taken) == DUPS_LIMIT:
            on_dups(consumer)
        lab.later(DUPS_WAIT, on_dups, consumer)
    if consumer.keys.get("delay_ms"):  # its application works on it
        work = int(consumer.keys["delay_ms"]) * 1000
        consumer.busy_until = lab.now + work
        lab.later(work)


# Back


def on_dups(consumer: Consumer) -> None:
    """A session that may see duplicates acknowledges what it has taken, if the homes are there."""
    if all(consumer.home.linked(claim.message.home) for claim in consumer.taken):
        acknowledge(consumer, list(consumer.taken))


def acknowledge(consumer: Consumer, done: list[Claim]) -> bool:
    """Acknowledge what was taken; False if the session lost something, or a home is away."""
    if consumer.refuses or any(c.stale or not consumer.home.linked(c.message.home) for c in done):
        _refuse(consumer)
        return False
    consumer.taken = [claim for claim in consumer.taken if claim not in done]
    for claim in done:
        finish(claim)
    return True


def _refuse(consumer: Consumer) -> None:
    """An acknowledgement or commit fails: a transaction is rolled back, others wait for recover.

    If a home is away, 5.1 gives the messages back. In 6.5 they are stuck with this consumer. If its own
    broker was lost they are back at the homes already.
    """
    waits, first = consumer.mode == "client", not consumer.refuses
    if first and consumer.home.lab.scenario.version == "5.1":
        _drop_lost(consumer)
    consumer.refuses = waits
    if not waits:
        (_stick if first else redeliver)(consumer)


def _stick(consumer: Consumer) -> None:
    """All that a consumer has stays with it until it closes: 5.1 has given it back."""
    if consumer.home.lab.scenario.version != "5.1":
        consumer.stuck += [*consumer.taken, *consumer.buffer]
        consumer.taken.clear()
        consumer.buffer.clear()


def _drop_lost(consumer: Consumer) -> None:
    """Let what a consumer took, and all it has of dead homes, come again as soon as the home is back."""
    for claim in consumer.hands:
        if claim in consumer.taken or not consumer.home.linked(claim.message.home):
            (consumer.taken if claim in consumer.taken else consumer.buffer).remove(claim)
            release(claim, Rule.broker_stopped)


def home_returns(broker: Broker) -> None:
    """A home is back: what is stuck at a consumer is listed there for good.

    The message that it failed to take comes again, flagged, if its home has kept it. So does all that
    was taken in a session that may see duplicates.
    """
    for consumer in broker.lab.consumers.values():
        if not consumer.open or consumer.home is broker:
            continue
        lost = [c for c in consumer.stuck if c.message.home is broker]
        for claim in consumer.taken if consumer.mode == "transacted" else ():
            claim.stale |= claim.message.home is broker
        again = [c for c in consumer.failed if c in lost and c in c.message.claims]
        if lost:
            listed = {c.message.number for c in lost if c not in again[1:]}
            consumer.home.instances[consumer.dest].leftovers |= listed
        consumer.stuck = [c for c in consumer.stuck if c not in again]
        if again or consumer.mode == "dups_ok":
            consumer.taken += again
            redeliver(consumer)
        sent = [c for c in consumer.buffer if c.message.home is broker]
        consumer.home.handed[consumer.key] += len(sent)


def finish(claim: Claim) -> None:
    """A subscription is done with a message; when all are, it is gone."""
    message = claim.message
    if claim in message.claims:
        message.claims.remove(claim)
    drop_copies(message, Kind.Acknowledged, Rule.none)
    instance = message.home.instances.get(message.dest)
    if not message.claims and instance is not None and message in instance.messages:
        instance.messages.remove(message)
        message.home.lab.notes.message(Kind.Acknowledged, message, cause=claim.row)


def release(claim: Claim, rule: int, seen: bool = True) -> None:
    """A message waits at its home again, flagged if its taker may have seen it."""
    claim.taker, claim.flagged = None, claim.flagged or seen
    drop_copies(claim.message, Kind.Discarded, rule)
    claim.message.home.lab.notes.message(Kind.Returned, claim.message, rule=rule, cause=claim.row)


def let_go(consumer: Consumer, rule: int) -> None:
    """A consumer has closed, or lost its broker: what it had waits at its homes again.

    Only its own broker knows, if it still lives, what of its messages the consumer never saw; its store
    knows what was handed out, but for a consumer that acknowledges each message only of the next one
    (of a queue's all, when it is stopped in an orderly way).
    The copies of other homes stay listed; in 5.1 not those of a transaction, which is rolled back.
    """
    home, dest = consumer.home, consumer.dest
    noted = _is_automatic(consumer) and not (home.orderly and dest.is_queue)
    head = list(consumer.buffer)[: 1 if noted else None]
    old = home.lab.scenario.version == "5.1"
    for claim in consumer.hands:
        remote = claim.message.home is not home
        rolled_back = old and consumer.mode == "transacted" and claim in consumer.taken
        if remote and claim.arrived and home.running and dest in home.instances and not rolled_back:
            home.instances[dest].leftovers.add(claim.message.number)
        unseen = claim in consumer.buffer and (home.running or claim not in head)
        release(claim, rule, (remote and claim.arrived) or not unseen)
    consumer.taken, consumer.stuck = [], []
    consumer.buffer.clear()
    ends = not dest.is_queue and consumer.key == consumer.name
    for broker in home.lab.brokers.values() if ends else ():
        forget(broker, consumer.key, rule)


def recover(consumer: Consumer) -> None:
    """Recover or roll back.

    If an acknowledgement has failed with the home of a message, the buffer is stuck. All that was taken
    comes again when the home is back, but only the first message if it is back already.
    """
    taken = consumer.taken
    if consumer.refuses and consumer.lost < 0 and taken:
        consumer.failed = list(taken)
        _stick(consumer)
        if all(consumer.home.linked(claim.message.home) for claim in consumer.failed):
            consumer.taken = consumer.failed[:1]
            consumer.stuck.remove(consumer.failed[0])
    redeliver(consumer)


def redeliver(consumer: Consumer) -> None:
    """What was taken comes again, flagged, before what is in the buffer."""
    again, consumer.taken, consumer.refuses = consumer.taken, [], False
    for claim in reversed(again):
        claim.flagged = True
        consumer.buffer.appendleft(claim)


def forget(broker: Broker, key: object, rule: int) -> None:
    """A topic's subscription has ended: nothing waits for it any more."""
    for instance in broker.instances.values():
        for message in list(instance.messages):
            kept = [claim for claim in message.claims if claim.key != key]
            ends = kept != message.claims and not kept
            message.claims = kept
            drop_copies(message, Kind.Discarded, rule)
            if ends:
                instance.messages.remove(message)
                broker.lab.notes.message(Kind.Discarded, message, rule=rule)
