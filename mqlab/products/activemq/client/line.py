"""Calls that stand in line at a transport, and the close of a connection, which does so too.

One at a time is in the transport (`MutexTransport` of 5.17.2): what waits there for a connection holds up all
that comes after it (ActiveMQ rule 11.7).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.client.calls import PendingCall
from mqlab.products.activemq.transport.openwire import RemoveInfo, SessionInfo
from mqlab.spec import Client as ClientSpec

if TYPE_CHECKING:
    from mqlab.products.activemq.client.connection import ClientConnection
    from mqlab.products.activemq.client.session import Session


class Introduction(PendingCall):
    """A client that was refused says once more who it is; then *call* goes on, or ends with the error."""

    def __init__(self, client: ClientConnection, call: PendingCall, then: Callable[[], None]) -> None:
        super().__init__(client.lab, call.no, call.action, client.name)
        self.user, self.call, self.goes_on = client, call, then

    def answer(self, error: Refused | None) -> None:
        """The broker has answered."""
        if error is not None:
            self.fail(error.kind, str(error), error.other_cause)
            return
        self.user.refused, self.user.started = False, True
        self.goes_on()

    def fail(self, kind: str, message: str, cause: str = "") -> None:
        """There is no session."""
        if self.call.session is not None:
            self.user.sessions.pop(self.call.session.name, None)
        self.call.fail(kind, message, cause)


def when_made(session: Session, call: PendingCall, then: Callable[[], None]) -> None:
    """Do what needs a session that is made; one of a connection that has ended refuses by itself."""
    client = session.client
    if session.made or session.opened_after_close:
        then()
    else:
        client.request(SessionInfo(session.name), Introduction(client, call, then))


def after_round(client: ClientConnection, call: PendingCall, **found: object) -> None:
    """End *call* well, as soon as no round holds the transport, nor what waits there."""
    transport = client.failover
    if transport is not None and has_line(client):
        transport.after_reconnect.append((call, found))
    elif transport is not None and transport.reconnecting:
        transport.after_round.append((call, found))
    else:
        call.finish(**found)


def has_line(client: ClientConnection) -> bool:
    """Whether calls wait for a connection, and others behind them."""
    transport = client.failover
    return transport is not None and not transport.first and bool(transport.waiting or client.waiting)


def close(client: ClientConnection, call: PendingCall) -> None:
    """Close the connection, behind calls that wait for one; a round under way is waited for.

    Transactions that are open are rolled back before, one by one (`ActiveMQSession.dispose` of 5.17.2), and
    that waits for a connection, too.
    """
    if client.transport is None and client.refuses(call):
        return
    connected = client.state == "connected"
    for session in client.sessions.values() if connected else ():
        session.abandon()
    for consumer in client.consumers.values():
        consumer.close()  # what it has put off is acknowledged (`deliverAcks`)
    client.state = "closed"
    impaired = connected and getattr(client.transport.source, "impaired", False)
    begun = sum(session.transaction is not None for session in client.sessions.values())
    rolls_back = begun > 0 and client.failover is not None and client.failover.away
    if impaired or rolls_back or has_line(client):
        number, client.closing = client.lab.new_request(), call
        client.calls[number] = call
        client.transport.send(RemoveInfo("", -1, request=number))
        if impaired:  # up to closeTimeout (`ActiveMQConnection.close` of 5.17.2)
            client.lab.pause((1 + begun) * client.close_timeout * 1000, shut, (client, call))
    else:
        _shut(client, call)


def shut(closing: tuple[ClientConnection, PendingCall]) -> None:
    """The broker has answered, or closeTimeout is over: close the connection."""
    client, call = closing
    if client.closing is call:
        client.closing = None
        _shut(client, call)


def _shut(client: ClientConnection, call: PendingCall) -> None:
    calls, client.calls = client.calls, {}
    for other in (one for one in calls.values() if one is not call):
        if client.attachments or isinstance(other.action, ClientSpec):
            other.fail("JMSException", "Stopped.", "IOException")
        else:  # it waits for the connection, before its session (`ensureConnectionInfoSent`)
            other.fail("ConnectionClosedException", "The connection is already closed")
    after_round(client, call)
    if client.transport is not None:
        if not client.transport.reconnecting and client.transport.source is not None:
            last = max((consumer.last for consumer in client.consumers.values()), default=-1)
            client.transport.source.last_delivered_sequence_id = last
        client.transport.stop()
