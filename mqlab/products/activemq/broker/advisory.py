"""Advisory topics: what a broker tells those who subscribe to ``ActiveMQ.Advisory.>``.

The bridges hear of consumers by a way of their own (`Broker.tell`); here the same, and more,
become messages that an ordinary consumer can read (ActiveMQ rule 27.9). A broker
asks for them only where somebody listens (`Broker.advisory_subscribers`), and their numbers stay apart from
those of sent messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message
from mqlab.spec.values import ADVISORIES, Destination, matches
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.broker.subscription import Subscription

FIRST_NUMBER = 1_000_000_000


def fire(broker: Broker, suffix: str, **properties: object) -> None:
    """Tell those who listen that something happened; *suffix* names the topic."""
    if broker.advises and broker.running:
        message = _message(broker, suffix, properties)
        broker.destination(message.dest).enqueue(message)


def _message(broker: Broker, suffix: str, properties: Mapping[str, object]) -> Message:
    lab = broker.lab
    dest = Destination("topic", ADVISORIES + suffix)
    lab.advisories += 1
    message = Message(
        FIRST_NUMBER + lab.advisories,
        dest,
        lab.name_destination(dest),
        lab.clock.now,
        False,
        {"originBrokerName": broker.name, "originBrokerId": broker.id, **properties},
        {},
    )
    message.arrived = lab.clock.now
    message.row = broker.record_message(Kind.Enqueued, message, broker.node, broker.node)
    return message


def _topic(of: str, dest: Destination) -> str:
    return f"{of}.{'Queue' if dest.is_queue else 'Topic'}.{dest.name}"


def of_message(broker: Broker, what: str, message: Message) -> None:
    """Tell what became of a message; nothing is told about advisories themselves."""
    if broker.advisory_subscribers and not message.dest.is_advisory:
        fire(broker, _topic(what, message.dest), orignalMessageId=message.number)


def of_consumer(broker: Broker, sub: Subscription, left: bool) -> None:
    """Tell that a consumer subscribed, or left."""
    if not sub.dest.is_advisory:
        for dest in sub.dest.elements():
            fire(broker, _topic("Consumer", dest), **_consumer(broker, dest, left))


def _consumer(broker: Broker, dest: Destination, left: bool = False) -> dict[str, object]:
    known = broker.by_name.get(dest)
    return {"consumerCount": len(known.subs) if known else 0, "removed": left}


def of_slow_consumer(broker: Broker, sub: Subscription, dest: Destination) -> None:
    """Tell that a subscription is full while something waits for it; once, until it has room."""
    if not sub.slow:
        sub.slow = True
        if broker.advisory_subscribers and broker.policy_for(dest)["advisory_for_slow_consumers"]:
            fire(broker, _topic("SlowConsumer", dest), consumerId=sub.info.id)


def of_bridge(home: Broker, remote: Broker, started: bool, mirror: bool) -> None:
    """Tell that a bridge came up or went down, at the broker that is home to it."""
    fire(home, "NetworkBridge", remoteBrokerName=remote.name, started=started, createdByDuplex=mirror)


def of_producer(broker: Broker, dest: Destination, left: bool) -> None:
    """Tell that a producer began to send to a destination, or has ended."""
    count = sum(d == dest for d in broker.producers.values())
    fire(broker, _topic("Producer", dest), producerCount=count, removed=left)


def of_connection(broker: Broker, client: str, left: bool) -> None:
    """Tell that a client connected, or went."""
    fire(broker, "Connection", clientId=client, removed=left)


def of_destination(broker: Broker, dest: Destination) -> None:
    """Tell that a destination has come into being."""
    if not dest.is_advisory:
        fire(broker, _kind(dest), destination=str(dest))


def _kind(dest: Destination) -> str:
    return ("Temp" if dest.is_temporary else "") + ("Queue" if dest.is_queue else "Topic")


def replay(broker: Broker, sub: Subscription) -> None:
    """Tell a new listener, and only it, what there is already, in the order it came."""
    if not broker.advises:
        return
    for suffix, properties in list(_state(broker)):
        wanted = (element.name for element in sub.dest.elements())
        if any(matches(name, ADVISORIES + suffix) for name in wanted):
            sub.add(_message(broker, suffix, properties))


def _state(broker: Broker) -> Iterator[tuple[str, dict[str, object]]]:
    for client in broker.lab.clients_of(broker):
        yield "Connection", {"clientId": client.name}
    for dest in broker.by_name:
        if not dest.is_advisory:
            yield _kind(dest), {"destination": str(dest)}
    for sub in broker.subs:
        if not sub.dest.is_advisory:
            for dest in sub.dest.elements():
                yield _topic("Consumer", dest), _consumer(broker, dest)
    for dest in broker.producers.values():
        yield _topic("Producer", dest), {"producerCount": 1}
