"""Temporary destinations: they live as long as the connection that brings them (ActiveMQ rules 11 and 20.5).

A bridge with bridgeTempDestinations brings those of the broker beyond: with its own connection, for as long
as it is up (`DemandForwardingBridgeSupport.serviceRemoteConsumerAdvisory` of 5.17.2).
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory
from mqlab.products.activemq.client.addresses import Refused

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.client.connection import ClientConnection
    from mqlab.spec.values import Destination

Path = tuple[str, ...]  # the ids of the brokers from which a bridge has brought it, the first has its client
Advised = tuple["Destination", Path, bool]  # the last: whether it was made, or has gone


def add(broker: Broker, dest: Destination, path: Path = ()) -> None:
    """It is there: clients that watch, and bridges that listen, hear of it.

    Who watches and hears of nothing, as its broker has no advisories, takes those of others for deleted
    (`ActiveMQConnection.isDeleted` of 5.17.2).
    """
    for client in _watchers(broker):
        if broker.advises or dest in client.temps:
            client.deleted.discard(dest)
        else:
            client.deleted.add(dest)
    if dest not in broker.temporary:
        broker.temporary[dest] = path
        broker.destination(dest)
        _tell_bridges(broker, (dest, path, True))


def remove(broker: Broker, dest: Destination) -> None:
    """It goes with whoever brought it."""
    path = broker.temporary.pop(dest, None)
    found = broker.by_name.pop(dest, None)
    if found is not None:
        broker.destinations.pop(found.no, None)
    for client in _watchers(broker):
        client.deleted.add(dest)
    if path is not None:
        advisory.of_destination(broker, dest, left=True)
        _tell_bridges(broker, (dest, path, False))


def check_send(broker: Broker, dest: Destination, unknown: Container[Destination]) -> None:
    """Raise `Refused` for a message to one that has gone, or whose producer came before it (*unknown*)."""
    if dest not in broker.by_name:
        raise Refused("DestinationDoesNotExistException", str(dest))
    if dest in unknown:  # `Queue.send` of 5.17.2
        raise Refused("JMSException", f"Cannot send message to {dest} with invalid (null) producer state")


def tell(broker: Broker, name: str) -> None:
    """A client has connected: it hears of those that are there."""
    client = broker.lab.clients_by_name.get(name)
    if client is None or not client.watches:
        return
    if broker.advises:
        client.deleted.difference_update(broker.temporary)
    else:
        client.deleted.update(dest for dest in broker.temporary if dest not in client.temps)


def _tell_bridges(broker: Broker, advised: Advised) -> None:
    for bridge in broker.listeners if broker.advises else ():
        if bridge.settings.bridge_temp_destinations:
            bridge.link_back.carry(bridge.on_temporary_destination, advised)


def _watchers(broker: Broker) -> list[ClientConnection]:
    """Return the clients that the broker's advisories of temporary queues reach."""
    lab = broker.lab
    ends = [socket.broker_end for socket in lab.processes[broker.name].sockets if socket.broker_end is not None]
    names = {end.client for end in ends} & {*lab.clients_by_name}
    return [lab.clients_by_name[name] for name in sorted(names) if lab.clients_by_name[name].watches]
