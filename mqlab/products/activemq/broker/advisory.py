"""Advisory topics: what a broker tells those who subscribe to ``ActiveMQ.Advisory.>``.

The bridges hear of consumers by a way of their own (`Broker.tell`); here the same, and more,
become messages that an ordinary consumer can read (ActiveMQ rule 27.9). They are made only where somebody
listens (`Broker.advisory_subscribers`), and their numbers stay apart from those of sent messages.
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
    from mqlab.products.activemq.network.network_bridge import NetworkBridge

FIRST_NUMBER = 1_000_000_000
MASTER = "MasterBroker"


def is_read(dest: Destination) -> bool:
    """Whether who reads *dest* reads advisories: the topic of some, or a pattern as wide as ``>``."""
    wide = dest.is_pattern and not dest.is_queue
    return dest.is_advisory or (wide and any(matches(e.name, ADVISORIES + MASTER) for e in dest.elements()))


def fire(broker: Broker, suffix: str, path: tuple[str, ...] = (), **properties: object) -> None:
    """Tell those who listen that something happened; *suffix* names the topic."""
    if broker.advisory_subscribers and broker.advises and broker.running:
        message = _message(broker, suffix, properties)
        message.path, message.hops = path, len(path)
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
    if not message.dest.is_advisory:
        fire(broker, _topic(what, message.dest), orignalMessageId=message.number)


def of_consumer(broker: Broker, sub: Subscription, left: bool) -> None:
    """Tell that a consumer subscribed, or left."""
    if broker.advisory_subscribers and not sub.dest.is_advisory:
        suffix, properties = _consumer(broker, sub)
        # Bridges do not carry on what is told of one that stands for a consumer beyond (`NetworkBridgeFilter`).
        fire(broker, suffix, sub.info.path if sub.network else (), **properties, removed=left)


def _consumer(broker: Broker, sub: Subscription) -> tuple[str, dict[str, object]]:
    """Return what is told of a consumer: of several destinations it is the first that makes an advisory."""
    dest = sub.dest.elements()[0]
    known = broker.by_name.get(dest)
    return _topic("Consumer", dest), {"consumerCount": len(known.subs) if known else 0}


def of_slow_consumer(broker: Broker, sub: Subscription, dest: Destination) -> None:
    """Tell that a subscription is full while something waits for it; once, until it has room."""
    if not sub.slow:
        sub.slow = True
        if broker.advisory_subscribers and broker.policy_for(dest)["advisory_for_slow_consumers"]:
            fire(broker, _topic("SlowConsumer", dest), consumerId=sub.info.id)


def of_bridge(bridge: NetworkBridge, started: bool) -> None:
    """Tell that a bridge came up or went down, at the broker that is home to it.

    What comes in over a duplex connector has a connection of its own (`startLocalBridge` of 5.17.2).
    """
    home, remote, mirror = bridge.local_broker, bridge.remote_broker, bridge.is_duplex_reverse
    fire(home, "NetworkBridge", remoteBrokerName=remote.name, started=started, createdByDuplex=mirror)
    ways = [(home, "inbound"), (remote, "outbound")] + [(home, "inbound_duplex")] * bridge.settings.duplex
    for broker, way in ways:
        of_connection(broker, f"{home.name}_{way}", not started)


def of_producer(broker: Broker, name: str, dest: Destination, left: bool = False) -> None:
    """Note that a producer began to send to a destination, or has ended, and tell it."""
    if left:
        broker.producers.pop(name, None)
    else:
        broker.producers[name] = dest
    for element in dest.elements() if broker.advisory_subscribers else ():
        count = sum(d == element for d in broker.producers.values())
        fire(broker, _topic("Producer", element), producerCount=count, removed=left)


def of_connection(broker: Broker, client: str, left: bool) -> None:
    """Tell that a client connected, or went; one without a name has not said who it is."""
    if client:
        fire(broker, "Connection", clientId=client, removed=left)


def of_destination(broker: Broker, dest: Destination, left: bool = False) -> None:
    """Tell that a destination has come into being, or has gone."""
    if not dest.is_advisory:
        fire(broker, _kind(dest), destination=str(dest), removed=left)


def _kind(dest: Destination) -> str:
    return ("Temp" if dest.is_temporary else "") + ("Queue" if dest.is_queue else "Topic")


def replay(broker: Broker, sub: Subscription) -> None:
    """Tell a new listener, and only it, what there is already, in the order it came.

    A pattern is to begin with what it is about, but for the last word of a master, which all get (`Topic`).
    """
    if not broker.advises:
        return
    for suffix, properties in list(_state(broker)):
        about = ADVISORIES + ("" if suffix == MASTER else suffix.partition(".")[0])
        names = [element.name for element in sub.dest.elements()]
        if any(matches(n, ADVISORIES + suffix) for n in names if n.startswith(about) or suffix == MASTER):
            message = _message(broker, suffix, properties)
            broker.destination(message.dest)
            sub.add(message)


def _state(broker: Broker) -> Iterator[tuple[str, dict[str, object]]]:
    yield MASTER, {}
    ends = [socket.broker_end for socket in broker.lab.processes[broker.name].sockets]
    names = [*(c.name for c in broker.lab.clients_of(broker)), *(end.client for end in ends if end)]
    for bridge in (*broker.bridges, *broker.listeners):
        own = bridge.settings.duplex and bridge.local_broker is broker
        names += [bridge.local_broker.name] * (1 + own)
    for name in filter(None, names):
        yield "Connection", {"clientId": name}
    for dest in broker.by_name:
        if not dest.is_advisory:
            yield _kind(dest), {"destination": str(dest)}
    for sub in broker.subs:
        if not (sub.inactive or sub.dest.is_advisory):
            yield _consumer(broker, sub)
    for bridge in broker.bridges:
        yield "NetworkBridge", {"remoteBrokerName": bridge.remote_broker.name, "started": True}
    for dest in broker.producers.values():
        yield _topic("Producer", dest), {"producerCount": 1}
