"""The broker's end of a connection: subscriptions, transactions, temporary queues.

What a broker knows of a connection lives as long as its socket: when that goes, what was not
acknowledged goes back to its queue with one delivery more, open transactions are forgotten and
temporary queues go (ActiveMQ rules 11).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mqlab.products.activemq.broker import advisory, durable, temporary
from mqlab.products.activemq.broker.queue import Queue
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.transport import absent_database, admission, mirrored_work, transaction
from mqlab.products.activemq.transport.client_subscription import ClientSubscription
from mqlab.products.activemq.transport.openwire import (
    Command,
    CommitTransaction,
    ConnectionInfo,
    ConsumerCommand,
    DeliveredAck,
    DestinationInfo,
    MessagePull,
    MirroredWork,
    PoisonAck,
    ProducerInfo,
    RemoveInfo,
    RemoveSubscriptionInfo,
    Response,
    RollbackTransaction,
    Send,
    SessionInfo,
    StandardAck,
    WireFormatInfo,
)
from mqlab.products.activemq.transport.sockets import Socket
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.broker.security import SecurityContext

# How long (us) a client that comes back waits for the first word, and its spread: 4 to 600 ms were seen.
FIRST_WORD = 4_000, 150
UNMATCHED = Refused("JMSException", "Unmatched acknowledge")
MARKED = Refused("JMSException", "Transaction marked rollback only", f"JMSException: {UNMATCHED}")
READING = 1_000  # us until a queue has read its store: what a client restores meanwhile gets its share


class TransportConnection:
    """What a broker knows of one client."""

    def __init__(self, process: BrokerService, socket: Socket) -> None:
        self.process, self.socket = process, socket
        self.subs: dict[str, ClientSubscription] = {}
        self.transactions: dict[str, list[Send | StandardAck]] = {}
        self.marked: set[str] = set()  # transactions that can only be rolled back
        self.temps: list[Destination] = []
        self.producers: list[Destination] = []  # where each sends to
        self.client = ""
        self.client_id: str | None = None  # that nobody else may have meanwhile
        self.user: SecurityContext | None = None  # as whom the client acts, if it says so
        self.fault_tolerant = False
        self.reconnected = False
        self.held_up: list[Command] = []  # while the database is away
        self.unknown: set[Destination] = set()  # temporary queues whose producers came before them
        self.sessions: dict[str, int] = {}  # when each came: a later slave knows nothing of it

    def on_command(self, command: Command) -> None:
        """Do what a client asks for, and answer where it wants an answer."""
        kind = type(command)
        if kind is WireFormatInfo:
            late = self.process.lab.extra_delay(*FIRST_WORD)
            if late:
                self.process.after(late, self.on_first_word)
            else:
                self.on_first_word(None)
            return
        if self.process.in_database and absent_database.holds_up(self, command):
            return
        if self.process.broker.limits_memory and isinstance(command, Send) and self._full_for(command):
            return
        request = command.request
        mirror = self.process.pure_master_slave
        session, work = mirrored_work.of(self, command) if mirror is not None else ("", [])
        try:
            DOES[kind](self, command)
        except Refused as error:
            self.answer(request, error)
            return
        if mirror is not None and mirror.replicate(self.sessions.get(session, 0), work):
            mirror.when_answered(self.answer, request)
        elif request is not None:
            self.process.after(self._cost(command), self.answer, request)

    def _full_for(self, sent: Send) -> bool:
        """Whether a message waits for room at its destination; it comes again then."""
        dest = sent.message.dest.elements()[0]
        if sent.transaction is not None or dest.is_temporary:
            return False
        memory = self.process.broker.destination(dest).memory
        return memory.full_for(sent.message, self.socket.arrive, sent)

    def on_first_word(self, _: None) -> None:
        """Say the first word to whom waits for it."""
        if self.socket.alive:
            self.socket.reply(WireFormatInfo())

    def _cost(self, command: Command) -> int:
        """Return what the machine takes for a command (us)."""
        costs, kind = self.process.costs, type(command)
        if kind is Send or kind is CommitTransaction or kind is RemoveInfo:  # a close comes behind others
            return self.process.on_disk(costs.write)
        return costs.welcome if kind is ConnectionInfo else 0

    def answer(self, request: int | None, error: Refused | None = None) -> None:
        """Answer a command that wants an answer."""
        if request is not None and self.socket.alive:
            self.socket.reply(Response(error, request=request))

    def on_connect(self, command: ConnectionInfo) -> None:
        """A client says who it is; it is told of the other brokers, the first time."""
        if self.client and not command.anew:
            return
        if command.user is not None or command.client_id is not None:
            admission.check(self, command)
        self.client, self.fault_tolerant = command.client, command.fault_tolerant
        self.reconnected = command.reconnected
        self.process.cluster.greet(self)
        advisory.of_connection(self.process.broker, self.client, left=False)
        temporary.tell(self.process.broker, self.client)

    def on_mirrored(self, command: MirroredWork) -> None:
        """A slave has done what its master asked for."""
        if self.process.pure_master_slave is not None:
            self.process.pure_master_slave.mirrored(command.slave, command.count)

    def on_session(self, command: SessionInfo) -> None:
        """A session is opened."""
        self.sessions[command.name] = self.process.lab.new_request()

    def on_remove_durable(self, command: RemoveSubscriptionInfo) -> None:
        """A durable subscription ends."""
        sub = self.process.broker.durables.get((command.client_id, command.name))
        if sub is not None and sub.inactive:
            self.process.broker.unsubscribe(sub, Reason.unsubscribed)
            return
        why = "is in use; close its consumer before" if sub else "does not exist"
        told = f"the durable subscription {command.name} of {command.client_id} at {self.process.name} {why}"
        self.process.lab.tell_in_vain(f"Unsubscribe {self.client}", told)
        raise Refused("JMSException" if sub else "InvalidDestinationException", told)

    def on_subscribe(self, command: ConsumerCommand) -> None:
        """A consumer is opened."""
        consumer, broker = command.consumer, self.process.broker
        if self.user is not None:
            self.user.check(("admin", consumer.dest), ("read", consumer.dest))
        self.subs[consumer.name] = sub = self.subscription(command)
        queue = broker.by_name.get(consumer.dest)
        if command.restored and isinstance(queue, Queue):
            self._await_restored(queue)
        elif isinstance(queue, Queue) and queue.waits_for_consumers:
            queue.on_waited(None)  # who is new comes when those who are back have had what was stored
        broker.subscribe(sub, Reason.local_consumer, consumer.node)
        if sub.info.browser and consumer.spec.receiving:
            sub.browse()

    def _await_restored(self, queue: Queue) -> None:
        """Let a queue deliver its store once that is read, to all who are back (ActiveMQ rule 11.13)."""
        unread = queue.pending_messages and not queue.enqueued  # all of it is from before the start
        if unread and not (queue.subs or queue.waits_for_consumers):
            queue.waits_for_consumers = True
            self.process.after(READING, queue.on_waited)

    def subscription(self, command: ConsumerCommand) -> ClientSubscription:
        """Return the subscription of a consumer."""
        broker, dest = self.process.broker, command.consumer.dest
        if command.consumer.durable is not None and not command.restored:
            durable.check(broker, command.consumer.durable)
        if dest.is_temporary and dest not in broker.by_name:
            raise Refused("InvalidDestinationException", f"{dest} does not exist")
        queue = broker.by_name.get(dest)
        if isinstance(queue, Queue) and not queue.subs:
            # Its store is read before what is only in memory.
            found = sorted(queue.pending_messages, key=lambda m: not (m.received or m.persistent))
            queue.pending_messages = deque(found)
        return ClientSubscription(broker, self.socket, command.consumer)

    def on_unsubscribe(self, command: RemoveInfo) -> None:
        """A consumer is closed; only up to the last that it took in hand counts as delivered."""
        sub = self.subs.pop(command.consumer, None)
        if sub is not None:
            sub.count_delivered(command.last)
            self.end(sub, command.rule)

    def end(self, sub: ClientSubscription, rule: int) -> None:
        """A subscription is over."""
        if sub in sub.broker.subs:
            sub.broker.unsubscribe(sub, rule)

    def on_temp(self, command: DestinationInfo) -> None:
        """A temporary queue is made; it lives as long as this connection."""
        self.temps.append(command.dest)
        temporary.add(self.process.broker, command.dest)

    def on_producer(self, command: ProducerInfo) -> None:
        """A producer is there: its destination comes into being, unless that is a temporary one that has gone.

        See ActiveMQ rules 11.10 and 11.11.
        """
        if command.dest.is_temporary and command.dest not in self.process.broker.by_name:
            self.unknown.add(command.dest)
            raise Refused("DestinationDoesNotExistException", str(command.dest))
        self.unknown.discard(command.dest)
        if self.user is not None:
            self.user.check(("admin", command.dest), ("write", command.dest))
        for dest in command.dest.elements():
            self.process.broker.destination(dest)
        self.producers.append(command.dest)
        advisory.of_producer(self.process.broker, f"{self.client} {len(self.producers)}", command.dest)

    def on_pull(self, command: MessagePull) -> None:
        """With prefetch 0 a consumer asks for each message; one that has closed is an error."""
        sub = self.subs.get(command.consumer)
        if sub is not None:
            sub.pulled(command.time, command.over)
        elif self.reconnected:
            self.answer(0, Refused("IllegalArgumentException", "The subscription does not exist"))

    def on_message(self, command: Send) -> None:
        """A message: into its transaction, or to its queue unless it was here before."""
        if command.transaction is None:
            if self.accepts(command):
                broker = self.process.broker
                broker.take_over_each(command.message, broker.entry(command.node), command.row)
            return
        work = self.transactions.setdefault(command.transaction, [])
        work.append(replace(command, resent=False))
        if not command.message.dest.is_temporary:
            for dest in command.message.dest.elements():
                self.process.broker.destination(dest)  # its producer has made it
                if command.message.persistent:  # the journal names it, however the transaction ends
                    self.process.broker.unindexed.pop(dest, None)

    def accepts(self, sent: Send) -> bool:
        """Whether a message is new; a persistent one that is resent is dropped if known."""
        process, message = self.process, sent.message
        if message.dest.is_temporary:
            temporary.check_send(process.broker, message.dest, self.unknown)
        known = process.producer_audit.add(message.number)
        lasting = process.lasting_audit
        if lasting is not None:
            known |= lasting.add(message.number) if message.persistent else message.number in lasting
        if known and message.persistent:
            process.broker.record_message(Kind.Discarded, message, rule=Reason.duplicate, cause=sent.row)
            return False
        if known and sent.resent:  # the audit of the queue does not know what is resent unreliably
            queue = process.broker.destination(message.dest)
            if isinstance(queue, Queue):
                queue.numbers.pop(message.number, None)
        return True

    def on_ack(self, command: StandardAck) -> None:
        """Messages are acknowledged, now or with their transaction, which ends with one that does not match."""
        sub = self.subs.get(command.consumer)
        if command.unmatched or (sub is not None and not sub.matches(command.messages)):
            self.socket.reply(Response(UNMATCHED, request=0))  # the exception listener hears it
            self.marked.add(command.transaction or "")
        elif command.transaction is None:
            self.settle(command)
        else:
            self.transactions.setdefault(command.transaction, []).append(command)

    def settle(self, command: StandardAck) -> None:
        """Messages are acknowledged now, up to the first with the last one's id (ActiveMQ rule 11.16)."""
        sub = self.subs.get(command.consumer)
        last = command.messages[-1].number if command.messages else -1
        for message in command.messages:
            if sub is not None and message in sub.dispatched:
                sub.acknowledge(message)
            if message.number == last:
                break

    def on_delivered(self, command: DeliveredAck) -> None:
        """The client has messages in hand and acknowledges later: the window widens."""
        if command.consumer in self.subs:
            self.subs[command.consumer].delivered(command.message, command.count)

    def on_poison(self, command: PoisonAck) -> None:
        """The client gives a message up: among the dead letters."""
        if command.consumer in self.subs:
            self.subs[command.consumer].give_up(command.message, command.why)

    def on_commit(self, command: CommitTransaction) -> None:
        """A transaction takes effect, unless it can only be rolled back."""
        if command.transaction in self.marked:
            self.transactions.pop(command.transaction, None)
            raise MARKED
        transaction.commit(self, self.transactions.pop(command.transaction, []))

    def on_rollback(self, command: RollbackTransaction) -> None:
        """A transaction is forgotten; what it had acknowledged takes its place in the window again.

        See ActiveMQ rule 27.3.
        """
        self.transactions.pop(command.transaction or "", None)
        for name, count in command.acknowledged.items():
            if name in self.subs:
                self.subs[name].contract_prefetch_extension(count)

    def on_closed(self, last: int | None = None) -> None:
        """The connection is gone: all it held goes back, counted as delivered.

        After an orderly end only what its consumers had in hand counts: up to the number *last*.
        """
        broker = self.process.broker
        subs, self.subs = self.subs, {}
        for sub in subs.values():
            sub.count_delivered(last)
            self.end(sub, Reason.connection_lost)
        for no, dest in enumerate(self.producers, 1):
            advisory.of_producer(broker, f"{self.client} {no}", dest, True)
        for dest in self.temps:
            temporary.remove(broker, dest)
        advisory.of_connection(broker, self.client, left=True)
        self.temps, self.transactions, self.producers = [], {}, []


DOES: dict[type[Command], Callable[[TransportConnection, Any], None]] = {
    Send: TransportConnection.on_message,
    StandardAck: TransportConnection.on_ack,
    DeliveredAck: TransportConnection.on_delivered,
    MessagePull: TransportConnection.on_pull,
    PoisonAck: TransportConnection.on_poison,
    CommitTransaction: TransportConnection.on_commit,
    RollbackTransaction: TransportConnection.on_rollback,
    ConnectionInfo: TransportConnection.on_connect,
    SessionInfo: TransportConnection.on_session,
    ConsumerCommand: TransportConnection.on_subscribe,
    RemoveInfo: TransportConnection.on_unsubscribe,
    RemoveSubscriptionInfo: TransportConnection.on_remove_durable,
    DestinationInfo: TransportConnection.on_temp,
    ProducerInfo: TransportConnection.on_producer,
    MirroredWork: TransportConnection.on_mirrored,
}
