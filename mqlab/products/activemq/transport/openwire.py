"""The commands that go over a socket, one small value for each (what OpenWire calls its commands).

A command with a `request` wants an answer: a `Response` with the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message, MessageDispatch
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.client.addresses import Refused
    from mqlab.products.activemq.client.message_consumer import MessageConsumer
    from mqlab.products.activemq.ha.pure_master_slave import PureMasterSlave


@dataclass(slots=True, eq=False)
class Command:
    """What goes over a socket."""

    request: int | None = field(default=None, kw_only=True)

    @property
    def size(self) -> int:
        """The bytes of the messages in it."""
        return 0


# From whoever opened the socket


@dataclass(slots=True, eq=False)
class WireFormatInfo(Command):
    """The first word of whoever opened a socket, and the answer to it."""


@dataclass(slots=True, eq=False)
class ConnectionInfo(Command):
    """A client says who it is."""

    client: str
    fault_tolerant: bool
    reconnected: bool
    user: tuple[str, str] | None = None  # and password, if its address names one
    client_id: str | None = None  # of its own; one that the client makes up is nobody else's
    anew: bool = False  # said once more, as the broker had refused it


@dataclass(slots=True, eq=False)
class SessionInfo(Command):
    """A session is opened."""

    name: str


@dataclass(slots=True, eq=False)
class DestinationInfo(Command):
    """A temporary queue is made."""

    dest: Destination


@dataclass(slots=True, eq=False)
class ProducerInfo(Command):
    """A producer is told of again, to a broker that a client has failed over to."""

    dest: Destination


@dataclass(slots=True, eq=False)
class ConsumerCommand(Command):
    """A consumer is opened, or told again to a broker that its client has failed over to."""

    consumer: MessageConsumer
    restored: bool = False


@dataclass(slots=True, eq=False)
class RemoveInfo(Command):
    """A consumer is closed; `last` is the number of what it took in hand last, *rule* why it leaves."""

    consumer: str
    last: int
    rule: int = Reason.consumer_left


@dataclass(slots=True, eq=False)
class RemoveSubscriptionInfo(Command):
    """A durable subscription ends."""

    client_id: str
    name: str


@dataclass(slots=True, eq=False)
class Send(Command):
    """A message, perhaps in a transaction; `row` is its sending, `node` its sender."""

    message: Message
    row: int
    node: int
    transaction: str | None = None
    session: str = ""
    resent: bool = False

    @property
    def size(self) -> int:
        """The bytes of the message."""
        return self.message.size


@dataclass(slots=True, eq=False)
class ForOneConnection(Command):
    """What is worth nothing without the connection it is about."""

    consumer: str


@dataclass(slots=True, eq=False)
class MessagePull(ForOneConnection):
    """With prefetch 0 a consumer asks for each message; after `time` (us) its broker says that none has come.

    Without a time it never does; a pull that is `over` takes the last one back.
    """

    time: int | None = None
    over: bool = False


@dataclass(slots=True, eq=False)
class StandardAck(ForOneConnection):
    """Messages are acknowledged, now or with their transaction."""

    messages: list[Message]
    transaction: str | None = None
    unmatched: bool = False  # its count is not that of the messages


@dataclass(slots=True, eq=False)
class DeliveredAck(ForOneConnection):
    """The client has *count* messages in hand, of which *message* came last, and acknowledges later."""

    message: Message
    count: int


@dataclass(slots=True, eq=False)
class PoisonAck(ForOneConnection):
    """A client gives a message up, for a reason of `Reason`: it has had it too often, or it is too old."""

    message: Message
    why: int = Reason.redelivered_too_often


@dataclass(slots=True, eq=False)
class CommitTransaction(Command):
    """A transaction of a session takes effect."""

    transaction: str
    session: str


@dataclass(slots=True, eq=False)
class RollbackTransaction(Command):
    """A transaction is forgotten; `acknowledged` says how many messages were in it, of which consumers."""

    transaction: str | None
    acknowledged: dict[str, int] = field(default_factory=dict)


# From the broker


@dataclass(slots=True, eq=False)
class Response(Command):
    """The answer to a request: well, or an error."""

    error: Refused | None


@dataclass(slots=True, eq=False)
class DispatchCommand(Command):
    """A message is pushed to a consumer."""

    consumer: str
    delivery: MessageDispatch

    @property
    def size(self) -> int:
        """The bytes of the message."""
        return self.delivery.message.size


@dataclass(slots=True, eq=False)
class PullTimeout(Command):
    """Nothing was dispatched to a consumer in the time of its pull: the null message of 5.17.2."""

    consumer: str


@dataclass(slots=True, eq=False)
class ConnectionControl(Command):
    """A broker names brokers, or tells its client to go to another."""

    by: int
    brokers: list[str]
    rebalance: bool = False
    go_to: str | None = None


# Between master and slave of a pure pair


@dataclass(slots=True, eq=False)
class MirroredWork(Command):
    """What a slave is to do as its master did; from the slave, without work, that it is done."""

    slave: PureMasterSlave
    count: int
    work: Sequence[Send | StandardAck | ConsumerCommand]
