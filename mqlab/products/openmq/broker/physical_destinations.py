"""What the brokers' destinations hold: whether a message is taken, for whom, and why it waits."""

from __future__ import annotations

from collections.abc import Iterable

from mqlab.products.openmq.broker import acknowledgement, delivery, sending
from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.messages import Delivery, Message, selects
from mqlab.products.openmq.broker.model import ENDED, Broker
from mqlab.products.openmq.broker.removal import count_removed, discard, goes_beyond, make_room, move_to_dmq
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.client.state import Client, Consumer
from mqlab.spec.condition import OtherType
from mqlab.spec.selector import Selector
from mqlab.trace.kinds import Kind, Reason


def admit(message: Message, producer: Client) -> str:
    """Say whether a home takes a message: "ok", "refused", "dropped", or "blocked": it has to wait.

    What is not persistent is dropped silently where another would be refused.
    """
    lab, instance = message.home.lab, message.at.instances.get(message.home)
    rejected, rule, counts = instance is None, Reason.limit_reached, False
    if instance is not None:
        if lab.store_down and message.persistent:
            return "blocked"
        producer.credit -= 1
        message.asks = not producer.credit
        rejected = instance.behaviour == "REJECT_NEWEST" and goes_beyond(instance, message)
        try:
            counts = message.transaction is not None or message.at.is_queue or claims(message, producer) != []
        except OtherType:  # which fails the whole call, for all subscribers (`Topic.routeNewMessage`)
            rejected, rule = message.persistent, Reason.selector_fails
    if instance is None or (rejected and message.persistent):
        if instance is not None and message.asks:
            instance.producers.ask(producer)
        way = {"frm": producer.node, "to": message.home.node}
        lab.notes.message(Kind.Failed, message, rule=rule, **way)
        return "refused"
    message.row = lab.recorder.add_packed(producer.sending, message, 0, 0, -1)
    if rejected:
        return "dropped"
    if counts:
        message.admitted = True
        instance.admitted += 1
        instance.admitted_bytes += message.weight
    return "ok"


def take_in(message: Message, producer: Client) -> bool:
    """A message that was admitted has come to its home; False if that is gone meanwhile."""
    lab, home = message.home.lab, message.home
    instance = message.at.instances.get(home)
    if instance is not None and message.admitted:
        message.admitted = False
        instance.admitted -= 1
        instance.admitted_bytes -= message.weight
    if instance is None or not home.running:
        way = {"frm": producer.node, "to": home.node}
        lab.notes.message(Kind.Failed, message, rule=Reason.broker_stopped, **way)
        return False
    if instance.removes:
        make_room(instance, message)
    if message.transaction is None and not find_claims(message, producer):
        return True
    instance.keep(message)
    message.row = lab.recorder.add_packed(producer.entry, message, 0, 0, message.row)
    return True


def find_claims(message: Message, sender: Client | None) -> bool:
    """Note for whom a message is, once it is sent for good; nobody wants it if False.

    A transaction's messages are for those who are there at its commit, not when they were sent; until
    then its home keeps them, whoever may want them (OpenMQ rule 1.10).
    """
    rule = Reason.no_consumer
    try:
        message.claims = claims(message, sender)
    except OtherType:  # what was sent in a transaction stays, for nobody (OpenMQ rule 1.13)
        instance = message.at.instances.get(message.home)
        stays = instance is not None and message in instance.messages
        message.claims, rule = [Delivery(message, ENDED)] * stays, Reason.selector_fails
    if not message.claims:
        message.home.lab.notes.message(Kind.Discarded, message, rule=rule)
    return bool(message.claims)


def claims(message: Message, sender: Client | None) -> list[Delivery]:
    """Say for whom a message is; a topic's is for each subscription that selects it.

    One with no_local does not want what comes from its client id (`Topic.routeNewMessage` of 6.5.0).
    """
    if message.at.is_queue:
        return [Delivery(message)]
    broker, dest = message.home, message.dest
    keys = {c.key: None for c in broker.consumers(dest) if selects(c.selector, message)}
    for durable in broker.durables.values():
        selector = Selector(durable.selector, "openmq") if durable.selector else None
        own = durable.no_local and sender is not None and clients.client_id(sender.step) == durable.key[0]
        if durable.dest == dest and not (own or durable.refused) and selects(selector, message):
            keys[durable.key] = None
    return [Delivery(message, key) for key in keys]


def next_sweep(message: Message) -> int:
    """Return when its home first looks for expired messages once a message has expired (us).

    It looks at intervals that begin with the first message that can expire where there was none
    (`Destination.MsgExpirationReaper` of 6.5.0).
    """
    every = round(float(message.home.option("imq.message.expiration.interval", 60)) * 1_000_000)
    begin = message.at.instances[message.home].expires_from
    return begin + max(1, -(-(message.expires - begin) // every)) * every


def may_expire(message: Message) -> None:
    """A message that has come to its home can expire there; the home will look for it."""
    lab, instance = message.home.lab, message.at.instances[message.home]
    instance.expires_from = instance.expires_from if instance.expiring else lab.clock.now
    instance.expiring += 1
    lab.expiring.append(message)
    lab.later_at(next_sweep(message) - lab.clock.now, message.at)


def expire(messages: list[Message]) -> None:
    """Let messages die whose time to live is over.

    Nobody sees that until a consumer is about to take one, which then never gets it, or would be handed
    it, or its broker looks for such messages (6.5.0).
    """
    for message in list(messages):
        home, now = message.home, message.home.lab.clock.now
        instance = message.at.instances.get(home)
        if instance is None or message not in instance.messages:
            messages.remove(message)
            if instance is not None:
                instance.expiring -= 1
            continue
        if now < message.expires or not home.serves or message.transaction is not None:
            continue  # what is in a transaction does not expire before its commit
        dropped = [c for c in message.claims if (delivery.upcoming(c.taker) is c if c.taker else _is_wanted(c))]
        for claim in dropped:
            _drop(claim)
        if 0 < len(dropped) < len(message.claims):  # the others have not seen it
            message.claims = [claim for claim in message.claims if claim not in dropped]
            dropped = []
        in_hands = any(claim.taker for claim in message.claims)
        if dropped or (now >= next_sweep(message) and not in_hands):
            messages.remove(message)
            instance.expiring -= 1
            acknowledgement.drop_copies(message, Kind.Discarded, Reason.expired)
            move_to_dmq(message, Reason.expired)


def _drop(claim: Delivery) -> None:
    """A client is about to take a message that has expired: it drops it, and has room for another."""
    taker = claim.taker
    if taker is not None:
        claim.free()
        claim.message.at.changed()
        taker.buffer.popleft()
        sending.answer(taker)


def _is_wanted(claim: Delivery) -> bool:
    """Whether a consumer would be handed it now: one that passes it over or is full does not see it expire."""
    message, home = claim.message, claim.message.home
    return any(
        claim.key in (None, consumer.key)
        and delivery.has_room(consumer, home)
        and selects(consumer.selector, message)
        for consumer in home.active(message.dest)
    )


def purge(instance: PhysicalDestination) -> None:
    """Remove the messages at home in an instance that are in delivery to no consumer.

    One consumer that has a topic's message in hands keeps it for all its subscriptions, unless it has no
    subscription and is on another broker; what an open transaction has sent goes, too (OpenMQ rule 3.8).
    """
    broker = instance.broker
    for message in list(instance.messages):
        takers = [c.taker for c in message.claims if c.taker and (c.arrived or c.taker.home is not broker)]
        if all(sending.is_plain(taker) and taker.home is not broker for taker in takers):
            instance.remove(message)
            count_removed(message)
            if not takers:
                discard(message, Reason.purged)
    for consumer in instance.at.consumers:
        if consumer.home is broker and consumer.open:
            sending.purge(consumer)


# Why it waits


def note_all(broker: Broker) -> None:
    """Note of all messages of a broker why they wait."""
    for instance in broker.instances.values():
        if instance.messages:
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
    return Reason.no_consumer if instance.at.is_queue and not takers else Reason.none


def _why_it_waits(message: Message, takers: list[Consumer]) -> Reason:
    if message.dest.is_queue:
        wanted = any(selects(c.selector, message) for c in takers)
        return Reason.buffers_full if wanted else Reason.selected_by_none
    free = [claim.key for claim in message.claims if claim.taker is None]
    return Reason.buffers_full if any(c.key in free for c in takers) else Reason.durable
