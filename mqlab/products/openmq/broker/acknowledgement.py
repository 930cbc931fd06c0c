"""Acknowledgement: what ends with it, and what comes back to the homes of messages without it."""

from __future__ import annotations

from collections import deque

from mqlab.products.openmq.broker import sending
from mqlab.products.openmq.broker.messages import Delivery, Message
from mqlab.products.openmq.broker.model import ENDED, Broker
from mqlab.products.openmq.client.state import Consumer
from mqlab.trace.kinds import Kind, Reason

# Bound once: reading a member of an enumeration costs ten times as much as a name.
ACKNOWLEDGED, NONE = Kind.Acknowledged, Reason.none
NEAR = 16  # messages below its limit, from where on a destination asks when what has gone was acknowledged


def is_automatic(consumer: Consumer) -> bool:
    """Whether a session acknowledges each message as it is taken."""
    return consumer.mode == "auto" and not (consumer.xid and consumer.in_branch)


def is_silent(consumer: Consumer, home: Broker) -> bool:
    """Whether a home does not answer an acknowledgement: it is frozen, or behind a cut (OpenMQ rule 8.20).

    Nor does one that waits for others while it holds its list of destinations (OpenMQ rule 8.13).
    """
    return consumer.home.suspended or not home.answers or home.lab.is_cut(consumer.home, home)


def waits(consumer: Consumer) -> bool:
    """Whether a session cannot end its work yet, since a home of what it has taken is silent.

    Where it acknowledges by itself, one message after the other, that fails at the first whose home is away.
    """
    for claim in consumer.taken:
        if is_silent(consumer, claim.message.home):
            return True
        if consumer.mode == "client" and not consumer.home.linked(claim.message.home):
            return False
    return False


def acknowledge(consumer: Consumer, done: list[Delivery]) -> bool:
    """Acknowledge what was taken; False if the session lost something, or a home is away.

    What was taken in a transaction, and is gone or of a destroyed destination, rolls that back (B4297).
    """
    if consumer.cut_off and consumer.mode == "transacted":
        many = len(consumer.taken)
        drop_all(consumer)
        if len(consumer.taken) < many:
            return False
    if any(claim.echo for claim in done):
        _acknowledge_echoes(consumer, done)
        return False
    away = [] if consumer.cut_off else [c for c in done if not consumer.home.linked(c.message.home)]
    if consumer.rollback_only or away or any(c.stale for c in done):
        _refuse(consumer)
        return False
    if consumer.mode == "transacted" and consumer.xid_state == "FAILED":
        return False
    if consumer.mode == "transacted" and any(claim.is_gone for claim in done):
        redeliver(consumer)  # a commit cannot find it, so that its client rolls back (B4297)
        return False
    consumer.taken = [claim for claim in consumer.taken if claim not in done]
    for claim in done:
        finish(claim)
    consumer.home.lab.committed[consumer.home] += consumer.mode == "transacted"
    return True


def _refuse(consumer: Consumer) -> None:
    """An acknowledgement or commit fails: a transaction is rolled back, others wait for recover.

    If a home is away, 5.1 gives the messages back. In 6.5 they are stuck with this consumer. If its own
    broker was lost they are back at the homes already.
    """
    waits, first = consumer.mode == "client", not consumer.rollback_only
    if first and not consumer.home.lab.rules.keeps_stuck:
        drop_lost(consumer)
    consumer.rollback_only = waits
    if not waits:
        consumer.xid_state = "STARTED"
        (stick if first else redeliver)(consumer)


def stick(consumer: Consumer) -> None:
    """All that a consumer has stays with it until it closes: 5.1 has given it back."""
    if consumer.home.lab.rules.keeps_stuck:
        consumer.stuck += [*consumer.taken, *consumer.buffer]
        consumer.taken.clear()
        consumer.buffer.clear()


def drop_all(consumer: Consumer) -> None:
    """A consumer whose destination was destroyed has nothing of that any more: nothing waits at its homes.

    A home that is away keeps what it had until it hears of that.
    """
    for claim in consumer.unacknowledged:
        if not (claim.is_gone or consumer.home.linked(claim.message.home)):
            release(claim, Reason.broker_stopped)
    consumer.taken, consumer.stuck = [c for c in consumer.taken if c.taker and not c.is_gone], []
    consumer.buffer = deque(claim for claim in consumer.buffer if claim.taker and not claim.is_gone)


def drop_lost(consumer: Consumer) -> None:
    """Let what a consumer took, and all it has of dead homes, come again as soon as the home is back."""
    for claim in consumer.unacknowledged:
        if claim in consumer.taken or not consumer.home.linked(claim.message.home):
            (consumer.taken if claim in consumer.taken else consumer.buffer).remove(claim)
            release(claim, Reason.broker_stopped)


def _acknowledge_echoes(consumer: Consumer, done: list[Delivery]) -> None:
    """Acknowledge what came again with what was there before: its home hears it, and the call fails.

    What was taken behind a second one stays with the consumer.
    """
    consumer.taken = [claim for claim in consumer.taken if claim not in done]
    fails = next((no for no, claim in enumerate(done) if claim.echo and claim.replaced), len(done))
    consumer.stuck += [claim for claim in done[fails:] if not claim.echo]
    for message in dict.fromkeys(claim.message for claim in done[:fails]):
        for claim in [claim for claim in message.claims if claim.taker is consumer]:
            finish(claim)


def finish(claim: Delivery) -> None:
    """A subscription is done with a message; when all are, it is gone.

    A home that is away does not hear of it from a consumer whose destination was destroyed.
    """
    message, taker = claim.message, claim.taker
    if taker is not None and taker.cut_off and not taker.home.linked(message.home):
        release(claim, Reason.broker_stopped)
        return
    instance = message.at.instances.get(message.home)
    if instance is not None and instance.again and claim in instance.again:
        leave_copy(claim)  # its home does not listen before it has sent that again (OpenMQ rule 8.21)
        return
    if claim in message.claims:
        message.claims.remove(claim)
    drop_copies(message, ACKNOWLEDGED, NONE)
    if not message.claims and instance is not None and message in instance.messages:
        instance.remove(message)
        home = message.home
        near = 0 < instance.most <= instance.count + NEAR
        if near and instance.behaviour == "REJECT_NEWEST" and taker is not None and taker.home is not home:
            instance.let_go.append(home.lab.clock.now)
        home.lab.recorder.add_packed(home.gone[ACKNOWLEDGED], message, 0, 0, claim.row)


def release(claim: Delivery, rule: int, seen: bool = True) -> None:
    """A message waits at its home again, flagged if its taker may have seen it."""
    claim.free()
    claim.flagged |= seen
    drop_copies(claim.message, Kind.Discarded, rule)
    claim.message.home.lab.notes.message(Kind.Returned, claim.message, rule=rule, cause=claim.row)


def requeue(consumer: Consumer, rule: int) -> None:
    """A consumer has closed, or lost its broker: what it had waits at its homes again.

    Only its own broker knows, if it still lives, what of its messages the consumer never saw; its store
    knows what was handed out, but for a consumer that acknowledges each message only of the next one
    (of a queue's all, when it is stopped in an orderly way).
    The copies of other homes stay listed; in 5.1 not those of a transacted session (OpenMQ rule 12.1).
    """
    home, dest = consumer.home, consumer.dest
    if consumer.cut_off:
        drop_all(consumer)
    _drop_echoes(consumer)
    consumer.buffer.extendleft(reversed(consumer.missed))
    consumer.missed.clear()
    noted = consumer.mode == "auto" and not (home.orderly and dest.is_queue)
    head = [*consumer.taken, *consumer.buffer][: 1 if noted else None]
    if consumer.step.options.get("xa") and consumer.received:  # what is prepared is not with it any more
        head = consumer.taken[:1]
    lists = home.lab.rules.lists_rolled_back
    last = _is_last_of_shared(consumer)
    unheard = [c for c in consumer.unacknowledged if consumer.closed and home.lab.is_cut(home, c.message.home)]
    for claim in [claim for claim in consumer.unacknowledged if claim not in unheard]:
        remote = claim.message.home is not home
        claim.key = ENDED if last else claim.key
        claim.noted |= claim in head and not remote
        rolled_back = not lists and consumer.mode == "transacted"
        if remote and claim.arrived and home.running and dest in home.instances and not rolled_back:
            home.instances[dest].leftovers[claim.message] = None
        unseen = claim in consumer.buffer if home.running else claim not in head
        # What is lost in a cut, or with this broker, counts as handed out at its home, too.
        left = claim.arrived or not home.running or home.lab.is_cut(home, claim.message.home)
        release(claim, rule, (remote and left) or not unseen)
    if dest in home.instances:
        home.instances[dest].leftovers |= dict.fromkeys(claim.message for claim in unheard if claim.arrived)
    consumer.taken, consumer.stuck = [], unheard
    consumer.buffer.clear()
    ends = sending.is_plain(consumer) or (last and not dest.is_queue)
    for broker in home.lab.brokers.values() if ends else ():
        forget(broker, consumer.key, rule)


def leave_unread(consumer: Consumer) -> None:
    """What a consumer has not read of other homes stays listed there and here, and nobody gets it."""
    left = [claim for claim in consumer.buffer if claim.message.home is not consumer.home]
    consumer.buffer = deque(claim for claim in consumer.buffer if claim not in left)
    here = consumer.home.instances.get(consumer.dest)
    if here is not None:
        here.leftovers |= dict.fromkeys(claim.message for claim in left if claim.arrived)


def _drop_echoes(consumer: Consumer) -> None:
    consumer.taken = [claim for claim in consumer.taken if not claim.echo]
    consumer.buffer = deque(claim for claim in consumer.buffer if not claim.echo)


def return_unread(consumer: Consumer) -> bool:
    """A consumer closes before its session: others get first what it has not taken of its own broker's.

    What it has taken follows with the session (`SessionOp.close`; OpenMQ rule 1.7). True if there was some.
    """
    if consumer.cut_off or _is_last_of_shared(consumer):
        return False
    unread = [claim for claim in consumer.buffer if claim.message.home is consumer.home]
    for claim in unread:
        consumer.buffer.remove(claim)
        release(claim, Reason.consumer_left, seen=False)
        claim.noted = True
    return bool(unread)


def hear_of_end(consumer: Consumer, home: Broker) -> None:
    """A home learns that a consumer has closed: what it had sent it comes again, flagged (OpenMQ rule 8.19)."""
    for claim in [claim for claim in consumer.unacknowledged if claim.message.home is home]:
        (consumer.stuck if claim in consumer.stuck else consumer.buffer).remove(claim)
        release(claim, Reason.consumer_left)


def _is_last_of_shared(consumer: Consumer) -> bool:
    """Whether a shared subscription that is not durable ends with a consumer.

    What that has in hands stays at its home for nobody, what waits there is gone (OpenMQ rule 5.6).
    """
    if consumer.dest.is_queue or not consumer.step.options.get("shared") or consumer.step.action.durable:
        return False
    others = (c for c in consumer.home.lab.consumers.values() if c.open and c is not consumer)
    return all((c.key, c.dest) != (consumer.key, consumer.dest) for c in others)


def recover(consumer: Consumer) -> None:
    """Recover or roll back.

    If an acknowledgement has failed with the home of a message, the buffer is stuck. All that was taken
    comes again when the home is back, but only the first message if it is back already; the others stay
    with the consumer until it closes (OpenMQ rule 8.5).
    """
    taken = consumer.taken
    if consumer.mode == "transacted":
        consumer.xid_state = "STARTED"
        unread = [claim.message for claim in consumer.buffer if claim.echo]
        for claim in [claim for claim in (*taken, *consumer.buffer) if claim.message in unread]:
            claim.flagged, claim.replaced = True, False  # what its home has sent again comes in its place
        consumer.stuck += [claim for claim in taken if claim.replaced]
        taken[:] = [claim for claim in taken if not claim.replaced]
    if consumer.cut_off:
        drop_all(consumer)
    if consumer.rollback_only and consumer.lost < 0 and taken:
        consumer.failed = list(taken)
        stick(consumer)
        if all(consumer.home.linked(claim.message.home) for claim in consumer.failed):
            consumer.taken = [first] = consumer.failed[:1]
            consumer.stuck.remove(first)
            if first.arrived:  # its copy stays
                consumer.home.instances[consumer.dest].leftovers[first.message] = None
    redeliver(consumer)


def redeliver(consumer: Consumer) -> None:
    """What was taken comes again, flagged, before what is in the buffer."""
    _drop_echoes(consumer)
    again, consumer.taken, consumer.rollback_only = consumer.taken, [], False
    if not consumer.reads:  # its session has no consumer any more: others get it (`RedeliverHandler` of 6.5.0)
        for claim in again:
            release(claim, Reason.rolled_back)
        return
    sending.send_again(consumer, again)


def forget(broker: Broker, key: object, rule: int) -> None:
    """A topic's subscription has ended: nothing waits for it any more."""
    for instance in broker.instances.values():
        for message in list(instance.messages):
            kept = [claim for claim in message.claims if claim.key != key]
            ends = kept != message.claims and not kept
            message.claims = kept
            drop_copies(message, Kind.Discarded, rule)
            if ends:
                instance.remove(message)
                broker.lab.notes.message(Kind.Discarded, message, rule=rule)


def leave_copy(claim: Delivery) -> None:
    """A consumer's broker has done with its copy of a message, and the home has not."""
    message, taker = claim.message, claim.taker
    if taker is not None and message.copies.pop(taker.home, None) is not None:
        message.at.instances[taker.home].drop_copy(message)


def drop_copies(message: Message, kind: Kind, rule: int) -> None:
    """Note that copies of a message have gone from brokers where nobody holds it any more."""
    if not message.copies and not message.crossing:
        return
    there = {claim.taker.home for claim in message.claims if claim.taker} if message.claims else ()
    if message.crossing:
        message.crossing = {b: row for b, row in message.crossing.items() if b in there}
    for broker in [*message.copies]:
        if broker in there:
            continue
        row = message.copies[broker]
        del message.copies[broker]
        instance = message.at.instances.get(broker)
        if instance is not None:
            instance.drop_copy(message)
        broker.lab.recorder.add_packed(broker.gone[kind], message, 1, rule, row)
