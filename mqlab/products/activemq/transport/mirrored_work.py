"""What a command of a client changes at its broker, of which a pure slave of 5.5 is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mqlab.products.activemq.transport.openwire import (
    Command,
    CommitTransaction,
    ConsumerCommand,
    PoisonAck,
    Send,
    StandardAck,
)

if TYPE_CHECKING:
    from mqlab.products.activemq.transport.transport_connection import TransportConnection


Work = Send | StandardAck | ConsumerCommand


def of(connection: TransportConnection, command: Command) -> tuple[str, Sequence[Work]]:
    """Return what a command changes, and in which session: a transaction's with its commit."""
    if isinstance(command, CommitTransaction):
        return command.session, connection.transactions.get(command.transaction, [])
    if isinstance(command, Send) and command.transaction is None:
        return command.session, [command]
    if isinstance(command, StandardAck) and command.transaction is None:
        sub = connection.subs.get(command.consumer)
        return ("", []) if sub is None else (sub.consumer.session_name, [command])
    if isinstance(command, PoisonAck) and command.consumer in connection.subs:  # what it buries stays there
        session = connection.subs[command.consumer].consumer.session_name
        return session, [StandardAck(command.consumer, [command.message])]
    if isinstance(command, ConsumerCommand):
        return command.consumer.session_name, [command]
    return "", []
