"""Delivery: from a message's home to the consumers that have room, over the links between them."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import acknowledgement, home_return, lazy_acknowledgement, removal, sending
from mqlab.products.openmq.broker.destinations import ClusterDestination, PhysicalDestination
from mqlab.products.openmq.broker.messages import Branch, Delivery, Message, selects
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.client.state import Client, Consumer, Trip
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

# How much later a consumer is free again, as shares of its home's own: fitted to the bounds of
# OpenMQ rule 2.1 (all shares race there; of a burst the local one takes 55 to 119 of 120).
LOCAL, REMOTE, REMOTE_IN_BURST = 1000, 2000, 8000
# With jitter no share is certain: runs of messages go to one consumer or pass it by, then that changes.
LOCAL_SPREAD, REMOTE_SPREAD, CHANGES = 12, 3, 1 / 16
HOME_TO_HOME = Reason.home_to_home  # bound once: a member of an enumeration costs ten times as much
_served_weight = attrgetter("served_weight")


def dispatch(instance: PhysicalDestination, to: Consumer | None = None) -> bool:
    """Hand out what waits for a destination at its home, if given *to* one only; True if something went."""
    if instance.paused:
        return False
    broker, offered = instance.broker, instance.offered
    moved = bool(instance.again) and home_return.send_again(instance)
    takers = instance.preferred if instance.prefers_local else instance.active
    takers = [c for c in takers if has_room(c, broker) and to in (None, c)]
    place = 0
    while takers and place < len(offered):
        message, waits = offered[place], False
        for claim in message.claims if message in instance.messages and message.transaction is None else ():
            if claim.taker is None:
                if _hand(claim, takers):
                    moved = True
                else:
                    waits = True
        if waits:
            place += 1
        else:
            message.offered = False
            del offered[place]
    if not (offered or instance.again):
        instance.at.waiting.discard(instance)
    return moved


def _hand(claim: Delivery, takers: list[Consumer]) -> bool:
    """Hand a message to whoever is free first; who has no room for another is no taker any more.

    A remote consumer is free again after a way between brokers; a producer of non-persistent messages
    sends four times as many meanwhile (OpenMQ rules 2.1 and 10.1).
    """
    message, home = claim.message, claim.message.home
    free = [
        c for c in takers if claim.key in (None, c.key) and (c.selector is None or selects(c.selector, message))
    ]
    if not free:
        return False
    taker = min(free, key=_served_weight)
    there = taker.home
    taker.served_weight += _busy(taker, message)
    # A broker that had a message given back passes it to nobody again (played with 6.5.0).
    at = message.at.instances
    known = home.lab.rules.stops_at_returned and there in at and message in at[there].leftovers
    (taker.stuck if known else taker.buffer).append(claim)
    claim.taker, claim.arrived, claim.delivered, message.waits = taker, False, False, -1
    claim.stale = False
    claim.trips += 1
    if taker.flow is not None:
        claim.asks = taker.flow.homes[home].use()
        if claim.asks:
            takers.remove(taker)
    if claim.key is not None:  # why the others wait is noted anew
        home.lab.unnoted.append((message.at.instances[home], message))
    if there is not home:
        _forward(claim, there)
    elif taker.flow is None or taker.flow.first:
        sending.pass_on(claim)
    else:  # one of a topic has a line there
        sending.send_on(taker, (claim, claim.trips))
    return True


def first_free(at: ClusterDestination) -> int:
    """Return when a new consumer is free for the first time; with jitter, after others were served."""
    latest = max((consumer.served_weight for consumer in at.consumers), default=0)
    return latest + (at.lab.random.randrange(REMOTE_IN_BURST) if at.lab.jitter else 0)


def _busy(taker: Consumer, message: Message) -> int:
    """Return for how long a consumer that is handed a message is not free, as a share of its home's time."""
    lab, at_home = message.home.lab, taker.home is message.home
    usual = LOCAL if at_home else REMOTE if message.persistent else REMOTE_IN_BURST
    if taker.pace is None or (lab.jitter and lab.random.random() < CHANGES):
        taker.pace = lab.random_duration(1000, LOCAL_SPREAD if at_home else REMOTE_SPREAD) / 1000
    return round(usual * taker.pace)


def has_room(consumer: Consumer, home: Broker) -> bool:
    """Whether a home may send a consumer one more message (OpenMQ rule 2.3)."""
    return consumer.flow is None or not consumer.flow.homes[home].is_used_up


def _forward(claim: Delivery, there: Broker) -> None:
    """Let a message go to the broker of its taker: it crosses only once."""
    message, home = claim.message, claim.message.home
    lab, way = home.lab, (home.name, there.name)
    if there in message.copies:
        claim.row = message.copies[there]
    else:
        if there not in message.crossing:
            stamp = lab.notes.crossing[way][0]
            message.crossing[there] = lab.recorder.add_packed(stamp, message, 0, HOME_TO_HOME, message.row)
        claim.row = message.crossing[there]
    lab.lines[way].carry(on_forwarded, (claim, claim.trips), 0, message.size)


def on_forwarded(trip: Trip) -> None:
    """A message comes to the broker of its taker, unless the line is cut or nobody there takes it."""
    claim, no = trip
    taker = claim.taker
    if taker is None or claim.trips != no:  # it was released meanwhile
        return
    message, there, home = claim.message, taker.home, claim.message.home
    lab = there.lab
    cut = lab.is_cut(home, there)
    if cut or not there.answers:
        (lab.held if cut else lab.unread).append(trip)
        lab.note_lost(home, there)
        return
    if there in message.crossing:
        stamp, cause = lab.notes.crossing[home.name, there.name][1], message.crossing.pop(there)
        message.copies[there] = lab.recorder.add_packed(stamp, message, 1, 0, cause)
        if taker.told_to:  # its own broker has it no more
            there.find(message.dest)
        instance = message.at.instances.get(there)
        if instance is not None:
            if instance.removes:
                removal.make_room(instance, message)
            instance.keep_copy(message)
    claim.arrived = True
    if taker.flow is None or claim in taker.stuck:
        sending.pass_on(claim)
    else:
        sending.send_on(taker, trip)


def release_held(lab: Cluster) -> None:
    """A line is whole again, or a broker goes on: what was under way arrives."""
    late, lab.late = lab.late, []
    for consumer, claim in late:
        lazy_acknowledgement.finish_at_home(consumer, claim)
    unread, lab.unread = lab.unread, []
    for trip in unread:  # it has come, be its home there or not, and nobody has looked (OpenMQ rule 8.16)
        on_forwarded(trip)
    held, lab.held = lab.held, []
    for trip in held:
        claim, taker = trip[0], trip[0].taker
        if taker is None or claim.trips != trip[1] or claim.message.home.running:
            on_forwarded(trip)
        elif claim in taker.buffer:  # who sent it is gone, and sends it no more
            taker.buffer.remove(claim)
            claim.free()


def consume(consumer: Consumer) -> bool:
    """Let a consumer take what its application wants; True if it took something."""
    took, automatic = False, acknowledgement.is_automatic(consumer)
    if consumer.hung and consumer.acknowledge and not acknowledgement.waits(consumer):
        consumer.hung = False
        acknowledgement.acknowledge(consumer, list(consumer.taken))
    while consumer.buffer and consumer.buffer[0].delivered and (claim := upcoming(consumer)):
        expired = 0 < claim.message.expires <= consumer.home.lab.clock.now
        if automatic and not (expired or consumer.cut_off or consumer.home.linked(claim.message.home)):
            _fail(consumer, claim)
            took = True
            continue
        if expired and claim.message.is_there and not claim.echo:
            break  # which the next look finds (`physical_destinations.expire`)
        consumer.buffer.popleft()
        again = claim.echo and (consumer.in_branch or consumer.mode == "transacted")
        if again or (consumer.xid_state != "STARTED" and consumer.misses):
            _miss(consumer, claim)
        elif claim.echo and automatic:
            pass  # its acknowledgement fails, as that of the first has not
        elif expired and not consumer.home.linked(claim.message.home):
            consumer.stuck.append(claim)  # nobody hears that it is dropped
        elif expired:
            _drop(claim)
        else:
            _receive(consumer, claim, automatic)
        took = True
        if automatic:
            sending.answer(consumer)
    if not automatic and took:  # another thread answers, when its application has gone on
        sending.answer(consumer)
    return took


def read_on(consumer: Consumer) -> bool:
    """Let a client that has lost its broker take what it has, until it looks for another (OpenMQ rule 8.22).

    No broker hears of that. Whose application acknowledges each message waits with the first.
    """
    took, now = False, consumer.home.lab.clock.now
    while consumer.unread and not (consumer.closed or clients.is_reconnecting(consumer)):
        if consumer.allowance == 0 or consumer.busy_until > now:
            break
        claim = consumer.unread.popleft()
        if not 0 < claim.message.expires <= now:
            _receive(consumer, claim, automatic=False)
            took = True
            if consumer.acknowledge and consumer.mode == "client":
                consumer.unread.clear()
    return took


def go_on(consumer: Consumer) -> None:
    """Its broker is not frozen any more: a call that waited takes its message, and the client asks for more."""
    if consumer.hung and consumer.mode not in clients.TELL_LATER and not acknowledgement.is_automatic(consumer):
        consumer.hung, consumer.allowance = False, 1 if consumer.allowance == 0 else consumer.allowance
    sending.answer(consumer)


def _drop(claim: Delivery) -> None:
    """A client drops what has expired, and its broker the copy: its home has it no more (OpenMQ rule 3.9)."""
    claim.message.claims = [other for other in claim.message.claims if other is not claim]
    acknowledgement.drop_copies(claim.message, Kind.Discarded, Reason.expired)
    if claim.echo and claim.message.is_there:  # though its client has taken the first of both
        removal.move_to_dmq(claim.message, Reason.expired)


def _fail(consumer: Consumer, claim: Delivery) -> None:
    """Taking a message of a dead home fails: its acknowledgement has nowhere to go.

    In 6.5 all that the client had of other homes is stuck, of living ones too; what comes later is not. What it
    had of its own broker's goes to whoever is there, as it makes its consumer anew. 5.1 drops the copies, but
    goes on listing the one that failed (OpenMQ rules 8.5 and 12.1).
    """
    if not consumer.home.lab.rules.keeps_stuck:
        acknowledgement.drop_lost(consumer)
        consumer.home.instances[consumer.dest].leftovers[claim.message] = None
    else:
        consumer.failed = [claim]
        own = [c for c in consumer.buffer if c.message.home is consumer.home]
        consumer.stuck += [c for c in consumer.buffer if c not in own]
        consumer.buffer.clear()
        consumer.served_weight = first_free(consumer.at)
        consumer.home.lab.register(consumer)
        for instance in consumer.at.instances.values():
            instance.takers = None
        for one in own:
            acknowledgement.release(one, Reason.consumer_left, seen=False)


def _miss(consumer: Consumer, claim: Delivery) -> None:
    """What an application reads outside of its session's branches is lost: nobody gets it until that closes.

    A branch that is over, or prepared, fails with it, and then it comes again with the rollback. So does one
    that takes what is part of another (`transactions._send_again`), or any transaction that takes
    once more what its home has sent again.
    """
    branches: list[Client | Branch] = [b for b in consumer.home.lab.prepared.values() if b.client is consumer]
    for branch in [consumer] if consumer.xid or consumer.mode == "transacted" else branches:
        branch.xid_state, claim.flagged = "FAILED", True
    if not claim.echo:
        consumer.missed.append(claim)


def upcoming(consumer: Consumer) -> Delivery | None:
    """Return what a consumer takes next, if it can take something now."""
    here, lab = consumer.home, consumer.home.lab
    automatic = consumer.mode == "auto" and not consumer.xid
    automatic &= consumer.xid_state == "STARTED" or not consumer.misses
    held = not automatic if consumer.hung else consumer.allowance == 0
    waits = held or consumer.gone or consumer.busy_until > lab.clock.now
    failed = consumer.rollback_only and consumer.lost >= 0  # C4106
    if not consumer.open or not consumer.buffer or waits or failed:
        return None
    claim, home = consumer.buffer[0], consumer.buffer[0].message.home
    if not claim.delivered:
        return None
    # Its call ends with the acknowledgement, which both brokers look for in the list of destinations; in a
    # transaction with the answer of its own.
    silent = here.suspended or (automatic and (here.hangs or not home.answers or lab.is_cut(here, home)))
    if silent and consumer.mode not in clients.TELL_LATER:
        consumer.hung = True
        return None
    if claim.kept:  # a paused broker keeps what comes, but its consumers have what came before
        instance = consumer.at.instances.get(here)
        return None if instance is not None and instance.paused else claim
    return claim


def _receive(consumer: Consumer, claim: Delivery, automatic: bool) -> None:
    message, home, lab = claim.message, consumer.home, consumer.home.lab
    if consumer.allowance:
        consumer.allowance -= 1
    consumer.hung = False
    if consumer.xid:
        consumer.distributed = True
    consumer.received.append(message.number)
    if claim.flagged:
        consumer.redelivered.append(message.number)
        way = {"frm": home.node, "to": consumer.node, "sub": consumer.sub, "cause": claim.row}
        lab.notes.message(Kind.Redelivered, message, home, **way)
    hops = int(home is not message.home)
    claim.row = lab.recorder.add_packed(consumer.receipt, message, hops, 0, claim.row)
    if automatic and not consumer.rollback_only:
        acknowledgement.finish(claim)
    elif consumer.open:
        consumer.taken.append(claim)
        _acknowledge(consumer, automatic)
    if work := consumer.delay:  # its application works on it
        consumer.busy_until = lab.clock.now + work
        lab.later_at(work, consumer.at)


def _acknowledge(consumer: Consumer, automatic: bool) -> None:
    """Acknowledge the message just taken, as the session's mode is."""
    if automatic:
        acknowledgement.acknowledge(consumer, consumer.taken[-1:])
    elif consumer.mode == "client" and consumer.acknowledge:
        consumer.hung = acknowledgement.waits(consumer)
        if not consumer.hung:
            acknowledgement.acknowledge(consumer, list(consumer.taken))
    elif consumer.mode == "dups_ok":
        lazy_acknowledgement.take_lazily(consumer)
