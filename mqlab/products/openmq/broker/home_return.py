"""A home that comes back: what consumers elsewhere have of its messages, and what it sends them once more."""

from __future__ import annotations

from dataclasses import replace

from mqlab.products.openmq.broker import acknowledgement, sending
from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.client.state import Consumer


def home_returns(broker: Broker, peers: list[Broker]) -> None:
    """A home is linked to others again: what is stuck at a consumer is listed there for good.

    The message that it failed to take comes again, flagged, if its home has kept it. So does all that
    was taken in a session that may see duplicates.
    """
    for consumer in broker.lab.consumers.values():
        if not consumer.open or consumer.home not in peers:
            continue
        lost = [c for c in consumer.stuck if c.message.home is broker and c.arrived]  # not what was purged
        for claim in consumer.taken if consumer.mode == "transacted" else ():
            claim.stale |= claim.message.home is broker
        again = [c for c in consumer.failed if c in lost and c in c.message.claims]
        if lost:
            listed = dict.fromkeys(c.message for c in lost if c not in again[1:])
            consumer.home.instances[consumer.dest].leftovers |= listed
        consumer.stuck = [c for c in consumer.stuck if c not in again]
        if again:
            consumer.taken += again
            acknowledgement.redeliver(consumer)
        elif not (consumer.rollback_only or consumer.failed or sending.is_plain(consumer)):
            _come_again(consumer, broker)
            continue
        failed = consumer.taken if consumer.rollback_only else ()  # to acknowledge it has failed
        sent = [c for c in (*consumer.buffer, *failed) if c.message.home is broker and c not in again]
        consumer.home.handed[consumer.key] += len(sent)


def _come_again(consumer: Consumer, home: Broker) -> None:
    """A home is back: what a client has of it, and what it has kept, comes again, flagged (OpenMQ rule 8.21).

    So that is there twice, and only once acknowledged.
    """
    instance = home.instances.get(consumer.dest)
    for claim in [*(consumer.taken if consumer.mode in clients.TELL_LATER else ()), *consumer.buffer]:
        if instance is not None and claim.message.home is home:
            instance.again.append(claim)
            instance.at.waiting.add(instance)


def send_again(instance: PhysicalDestination) -> bool:
    """A home sends once more what it has been told nothing of, as far as its credit goes; True if something.

    What was acknowledged before that it sends, too: it has looked that up among what it had sent
    (`BrokerConsumers.acknowledgeMessageFromRemote` of 6.5.0).
    """
    waits, home = instance.again, instance.broker
    instance.again = []
    for claim in waits:
        consumer, message = claim.taker, claim.message
        if consumer is None or claim not in message.claims or not message.is_there:
            continue
        had, flow, asks = claim in consumer.unacknowledged, consumer.flow, False
        if not (had or consumer.open):
            claim.free()
            continue
        if flow is not None and flow.homes[home].is_used_up:
            instance.again.append(claim)
            continue
        if flow is not None and flow.first:
            asks = flow.homes[home].use()
        if had and not claim.delivered:  # it is in line here, only once
            claim.asks |= asks
            continue
        claim.replaced |= had
        again = replace(claim, echo=had, flagged=True, delivered=False, asks=asks, trips=claim.trips + 1)
        if not had:
            message.claims[message.claims.index(claim)] = again
        consumer.buffer.append(again)
        there = consumer.home
        if there not in message.copies and there.find(message.dest):  # which it has dropped meanwhile
            message.copies[there] = message.row
            there.instances[message.dest].keep_copy(message)
        if flow is not None and flow.first:
            sending.send_on(consumer, (again, again.trips))
        else:
            sending.pass_on(again)
    return len(instance.again) < len(waits)
