"""What the brokers' destinations hold: whether a message is taken, for whom, and why it waits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mqlab.products.openmq.broker import acknowledgement, delivery
from mqlab.products.openmq.broker.destinations import OVERHEAD, PhysicalDestination
from mqlab.products.openmq.broker.messages import Delivery, Message, selects
from mqlab.products.openmq.broker.model import DEAD, Broker, Consumer
from mqlab.spec.selector import Selector
from mqlab.trace.kinds import Kind, Reason


def admit(message: Message, producer: int) -> str:
    """Say whether a home takes a message: "ok", "refused", "dropped", or "blocked": it has to wait.

    What is not persistent is dropped silently where another would be refused.
    """
    lab, instance = message.home.lab, message.at.instances.get(message.home)
    way = {"frm": producer, "to": message.home.node}
    full, behaviour = False, "REJECT_NEWEST"
    if instance is not None:
        coming = instance.admitted, instance.admitted_bytes
        kept = message.transaction is not None or message.dest.is_queue or bool(claims(message))
        full = kept and _is_full(instance, message, *coming)
        behaviour = instance.option("LimitBehavior")
        waits = instance.paused or (lab.store_down and message.persistent)
        if waits or (full and behaviour == "FLOW_CONTROL"):
            return "blocked"
    too_big = instance is None or instance.limits("MaxBytesPerMsg", message.size + OVERHEAD)
    rejected = too_big or (full and behaviour == "REJECT_NEWEST")
    if instance is None or (rejected and message.persistent):
        lab.notes.message(Kind.Failed, message, rule=Reason.limit_reached, **way)
        return "refused"
    message.row = lab.notes.message(Kind.Sent, message, **way)
    if rejected:
        return "dropped"
    instance.admitted += 1
    instance.admitted_bytes += message.size + OVERHEAD
    return "ok"


def take_in(message: Message, producer: int) -> bool:
    """A message that was admitted has come to its home; False if that is gone meanwhile."""
    lab, home = message.home.lab, message.home
    instance = message.at.instances.get(home)
    way = {"frm": producer, "to": home.node}
    if instance is not None:
        instance.admitted -= 1
        instance.admitted_bytes -= message.size + OVERHEAD
    if instance is None or not home.running:
        lab.notes.message(Kind.Failed, message, rule=Reason.broker_stopped, **way)
        return False
    if message.transaction is None and not find_claims(message):
        return True
    if str(instance.option("LimitBehavior"))[:6] == "REMOVE" and _is_full(instance, message):
        _make_room(instance)
    instance.keep(message)
    message.row = lab.notes.message(Kind.Enqueued, message, **way)
    return True


def find_claims(message: Message) -> bool:
    """Note for whom a message is, once it is sent for good; nobody wants it if False.

    A transaction's messages are for those who are there at its commit, not when they were sent; until
    then its home keeps them, whoever may want them (OpenMQ rule 1.10).
    """
    message.claims = claims(message)
    if not message.claims:
        message.home.lab.notes.message(Kind.Discarded, message, rule=Reason.no_consumer)
    return bool(message.claims)


def claims(message: Message) -> list[Delivery]:
    """Say for whom a message is; a topic's is for each subscription that selects it."""
    broker, dest = message.home, message.dest
    if dest.is_queue:
        return [Delivery(message)]
    keys = {c.key: None for c in broker.consumers(dest) if selects(c.selector, message)}
    for durable in broker.durables.values():
        selector = Selector(durable.selector) if durable.selector else None
        if durable.dest == dest and not durable.refused and selects(selector, message):
            keys[durable.key] = None
    return [Delivery(message, key) for key in keys]


def _is_full(instance: PhysicalDestination, message: Message, more: int = 0, more_bytes: int = 0) -> bool:
    many = instance.limits("MaxNumMsgs", len(instance.messages) + more + 1)
    weight = instance.bytes + message.size + OVERHEAD + more_bytes
    return many or instance.limits("MaxTotalMsgBytes", weight)


def _make_room(instance: PhysicalDestination) -> None:
    """Remove the oldest, or the oldest of the least important."""
    low = instance.option("LimitBehavior") == "REMOVE_LOW_PRIORITY"
    if instance.messages:
        least = min(instance.messages, key=lambda m: (m.priority * low, m.number))
        count_removed(least)
        move_to_dmq(least, Reason.limit_reached)


def move_to_dmq(message: Message, rule: int) -> None:
    """Move a message to the dead messages of its broker, if its destination uses them."""
    home, instance = message.home, message.home.instances[message.dest]
    instance.remove(message)
    if not instance.option("UseDMQ"):
        discard(message, rule)
        return
    row = home.lab.notes.message(Kind.DeadLettered, message, rule=rule)
    at = home.lab.destination(DEAD)
    dead = replace(
        message, at=at, claims=[], copies={}, crossing={}, expires=0, transaction=None, offered=False
    )
    dead.claims.append(Delivery(dead))
    dead.row = home.lab.notes.message(Kind.Enqueued, dead, frm=home.node, to=home.node, cause=row)
    home.add(DEAD, "auto").keep(dead)


def next_sweep(message: Message) -> int:
    """Return when its home first looks for expired messages once a message has expired (us)."""
    every = round(float(message.home.option("imq.message.expiration.interval", 60)) * 1_000_000)
    return -(-message.expires // every) * every


def expire(messages: list[Message]) -> None:
    """Let messages die whose time to live is over.

    Nobody sees that until a consumer is about to take one, which then never gets it, or would be handed
    it, or its broker looks for such messages (6.5.0).
    """
    for message in list(messages):
        home, now = message.home, message.home.lab.clock.now
        instance = message.at.instances.get(home)
        if now < message.expires or not home.serves:
            continue
        for claim in message.claims:
            if claim.taker and delivery.upcoming(claim.taker) is claim:
                claim.taker.buffer.popleft()
                claim.free()
                message.at.changed()
        in_hands = any(claim.taker for claim in message.claims)
        if instance is None or message not in instance.messages:
            messages.remove(message)
        elif not in_hands and (_is_wanted(message) or now >= next_sweep(message)):
            messages.remove(message)
            acknowledgement.drop_copies(message, Kind.Discarded, Reason.expired)
            move_to_dmq(message, Reason.expired)


def _is_wanted(message: Message) -> bool:
    """Whether a consumer would be handed it now: one that passes it over or is full does not see it expire."""
    home = message.home
    return any(
        selects(consumer.selector, message) and delivery.has_room(consumer, home)
        for consumer in home.active(message.dest)
    )


def discard(message: Message, rule: int) -> None:
    """Note that a message is gone which its destination does not hold any more, and its copies."""
    message.claims.clear()
    acknowledgement.drop_copies(message, Kind.Discarded, rule)
    message.home.lab.notes.message(Kind.Discarded, message, rule=rule)


def count_removed(message: Message) -> None:
    """A transaction goes on counting what it has sent, wherever that is (OpenMQ rule 1.10)."""
    if message.transaction is not None:
        message.home.lab.removed[message.transaction] += 1


def purge(instance: PhysicalDestination) -> None:
    """Remove the messages at home in an instance that are in delivery to no consumer.

    One consumer that has a topic's message in hands keeps it for all its subscriptions; what an open
    transaction has sent goes, too (OpenMQ rule 3.8).
    """
    for message in list(instance.messages):
        if not any(claim.taker for claim in message.claims):
            instance.remove(message)
            count_removed(message)
            discard(message, Reason.asked)


# Why it waits


def note_all(broker: Broker) -> None:
    """Note of all messages of a broker why they wait."""
    for instance in broker.instances.values():
        instance.new.clear()
        note_waiting(instance, instance.messages)


def note_waiting(instance: PhysicalDestination, messages: Iterable[Message]) -> None:
    """Note of each message that nobody can take now why it waits, once for each reason."""
    broker, takers = instance.broker, instance.active
    common = _why_all_wait(broker, instance, takers)
    for message in messages:
        if message.waits == common or message not in instance.messages:
            continue
        free = not broker.running or message.is_free
        rule = (common or _why_it_waits(message, takers)) if free else Reason.none
        if rule not in (Reason.none, message.waits):
            message.waits = rule
            cause = message.row if broker.running else broker.ended
            broker.lab.notes.message(Kind.Held, message, rule=rule, cause=cause)


def _why_all_wait(broker: Broker, instance: PhysicalDestination, takers: list[Consumer]) -> Reason:
    if not broker.running:
        return Reason.broker_stopped
    if instance.paused:
        return Reason.paused
    return Reason.no_consumer if instance.dest.is_queue and not takers else Reason.none


def _why_it_waits(message: Message, takers: list[Consumer]) -> Reason:
    if message.dest.is_queue:
        wanted = any(selects(c.selector, message) for c in takers)
        return Reason.buffers_full if wanted else Reason.selected_by_none
    free = [claim.key for claim in message.claims if claim.taker is None]
    return Reason.buffers_full if any(c.key in free for c in takers) else Reason.durable
