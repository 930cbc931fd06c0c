"""Whether a broker lets a client in: who it says it is, and what becomes of a connection that is refused.

One whose client id another connection has stays open: the client may say once more who it is, and whatever else
it wants fails, as the broker knows no connection of that id. After two seconds the broker closes it
(`TransportConnection.delayedStop` of 5.17.2; 5.5 does not), and a client that fails over is back at once
(ActiveMQ rule 11.17).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.security import CONNECTIONS, TEMPORARY, SecurityContext
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.transport.openwire import (
    Command,
    CommitTransaction,
    ConnectionInfo,
    ConsumerCommand,
    DestinationInfo,
    ProducerInfo,
    RemoveSubscriptionInfo,
    Response,
    RollbackTransaction,
    Send,
    SessionInfo,
)

if TYPE_CHECKING:
    from mqlab.products.activemq.transport.transport_connection import TransportConnection

STOP_AFTER = 2_000_000  # us
UNKNOWN = Refused("JMSException", "the connection had not been registered", "IllegalStateException")
NO_STATE = Refused("JMSException", "the connection has no state", "NullPointerException")
OF_CONNECTIONS = CommitTransaction, RollbackTransaction, DestinationInfo, RemoveSubscriptionInfo
RESTORED = ConsumerCommand, ProducerInfo, DestinationInfo  # of their answers nobody hears at a new broker


def check(connection: TransportConnection, command: ConnectionInfo) -> None:
    """Let a client in, or raise `Refused`; who has not the right is closed once it has heard that."""
    process = connection.process
    if command.user is not None:  # who names no user is let in
        connection.user = SecurityContext(process.broker, *command.user)
        try:
            connection.user.check(("admin", CONNECTIONS), ("read", TEMPORARY))
        except Refused:
            clock = process.lab.clock
            clock.schedule(clock.now + process.lab.timing.link * 3 // 2, connection.socket.reset, None)
            raise
    if command.client_id is not None:
        _check_id(connection, command.client, command.client_id, command.fault_tolerant)


def _check_id(connection: TransportConnection, client: str, id: str, fault_tolerant: bool) -> None:
    process, socket = connection.process, connection.socket
    ends = [other.broker_end for other in process.sockets if other is not socket]
    # One of the client's own that the broker has not seen end makes room ("Killing previous stale connection").
    taken = any(end is not None and end.client_id == id and end.client != client for end in ends)
    if process.lab.edition == "5.5":  # there it takes a client that fails over for the one that was there
        taken = taken and not fault_tolerant  # (`RegionBroker.addConnection` of 5.5.1)
    if connection.client_id == id:  # its own is in its way, and stays so (`RegionBroker.clientIdSet`)
        process.stale_ids.add(id)
        connection.client, connection.client_id = "", None
    elif not taken and id not in process.stale_ids:
        socket.broker_end, connection.client_id = connection, id
        return
    socket.broker_end = UnregisteredConnection(connection)
    if process.lab.edition != "5.5":
        process.later(STOP_AFTER, socket.reset)
    raise Refused("InvalidClientIDException", f"Broker: {process.name} - Client: {id} already connected")


class UnregisteredConnection:
    """The broker's end of a connection while its client id is another's."""

    client, client_id = "", None  # it has none, so nobody else is refused for it

    def __init__(self, home: TransportConnection) -> None:
        self.home = home
        self.begun: set[str] = set()  # transactions, of whose begin the client has been told an error

    def on_command(self, command: Command) -> None:
        """Let the client say again who it is; nothing else is done."""
        home = self.home
        if isinstance(command, ConnectionInfo):
            home.on_command(command)
        elif isinstance(command, SessionInfo):  # it is overlooked (`processAddSession`)
            home.answer(command.request)
        elif command.request is not None:
            home.answer(command.request, NO_STATE if isinstance(command, OF_CONNECTIONS) else UNKNOWN)
        elif not isinstance(command, RESTORED) and home.socket.alive:  # the exception listener hears it
            begun = command.transaction if isinstance(command, Send) else None
            if begun is not None and begun not in self.begun:
                self.begun.add(begun)
                home.socket.reply(Response(NO_STATE, request=0))
            home.socket.reply(Response(UNKNOWN, request=0))

    def on_closed(self, last: int | None = None) -> None:
        """The connection is gone; it held nothing."""
