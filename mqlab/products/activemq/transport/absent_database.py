"""Commands that need a database that is away: each fails as its attempt to connect does (ActiveMQ rule 16.7).

A master whose lease goes on, or that has not looked yet, serves what it has in memory. A connection has one
thread, so what comes behind such a command waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.ha.jdbc import RECONNECT
from mqlab.products.activemq.transport.openwire import (
    Command,
    CommitTransaction,
    ConsumerCommand,
    ProducerInfo,
    Send,
    StandardAck,
)
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.products.activemq.transport.transport_connection import TransportConnection

UNREACHABLE = Refused("JMSException", "Connection is broken: connection refused: database", "ConnectException")


def holds_up(connection: TransportConnection, command: Command) -> bool:
    """Whether a command waits, for an attempt to reach the database or for one that does."""
    process = connection.process
    if not connection.held_up:
        if not process.lab.database.away or not _needs_it(connection, command):
            return False
        process.after(RECONNECT, on_tried, connection)
    connection.held_up.append(command)
    return True


def on_tried(connection: TransportConnection) -> None:
    """An attempt is over: what wanted it fails; an acknowledgement goes on trying."""
    held, process = connection.held_up, connection.process
    if process.lab.database.away:
        if isinstance(held[0], StandardAck):
            process.after(RECONNECT, on_tried, connection)
            return
        failed = held.pop(0)
        if isinstance(failed, CommitTransaction):
            connection.transactions.pop(failed.transaction, None)
        connection.answer(failed.request, UNREACHABLE)
    connection.held_up = []
    for command in held:
        connection.on_command(command)


def _needs_it(connection: TransportConnection, command: Command) -> bool:
    """Whether a command makes a destination or a durable subscription, or changes what is stored."""
    broker = connection.process.broker
    if isinstance(command, CommitTransaction):
        return any(_stores(connection, work) for work in connection.transactions.get(command.transaction, ()))
    if isinstance(command, (Send, StandardAck)):
        return command.transaction is None and _stores(connection, command)
    if isinstance(command, ConsumerCommand):
        consumer = command.consumer
        new = consumer.durable is not None and consumer.durable not in broker.durables
        return new or _is_new(connection, consumer.dest)
    return isinstance(command, ProducerInfo) and _is_new(connection, command.dest)


def _stores(connection: TransportConnection, work: Send | StandardAck) -> bool:
    """Whether persistent messages of a queue, or of a topic with durable subscriptions, come or go."""
    messages = [work.message] if isinstance(work, Send) else work.messages
    remembered = {key.dest for key in connection.process.broker.durables.values()}
    kept = (m.dest for m in messages if m.persistent and not m.dest.is_temporary)
    return any(dest.is_queue or dest in remembered for dest in kept)


def _is_new(connection: TransportConnection, dest: Destination) -> bool:
    lasting = not (dest.is_temporary or dest.is_advisory or dest.is_pattern)
    return lasting and dest not in connection.process.broker.by_name
