"""A client: one connection over whatever transport its address names, with sessions on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.products.activemq.client import jms, line
from mqlab.products.activemq.client.addressed_consumer import AddressedConsumer
from mqlab.products.activemq.client.addresses import Refused, check_syntax
from mqlab.products.activemq.client.calls import InSession, PendingCall, session_of
from mqlab.products.activemq.client.discovery import open_transport
from mqlab.products.activemq.client.failover_transport import FailoverTransport
from mqlab.products.activemq.client.query import flag, number
from mqlab.products.activemq.client.session import Session
from mqlab.products.activemq.transport.openwire import (
    Command,
    ConnectionControl,
    ConnectionInfo,
    ConsumerCommand,
    DestinationInfo,
    DispatchCommand,
    ProducerInfo,
    PullTimeout,
    Response,
    Send,
    SessionInfo,
)
from mqlab.products.activemq.transport.sockets import Transport
from mqlab.spec import Client as ClientSpec
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.engine.clock import Call
    from mqlab.products.activemq.lab import Lab


class ClientConnection:
    """One client with one connection; calls that wait for an answer are `PendingCall`s."""

    def __init__(self, lab: Lab, spec: ClientSpec) -> None:
        self.lab, self.name, self.uri = lab, spec.name, spec.uri
        self.node = lab.add_node(spec.name, "client")
        own = jms.options(spec.uri)
        self.own, self.prefetch = own, spec.prefetch
        self.always_sync = flag(own, "alwaysSyncSend", False)
        self.use_async = flag(own, "useAsyncSend", False)
        self.send_timeout = number(own, "sendTimeout", 0)  # ms; 0 is none
        self.close_timeout = number(own, "closeTimeout", 15_000)  # ms
        self.closing: PendingCall | None = None  # a close that waits for its broker's answer
        self.transport: Any = None
        self.failover: FailoverTransport | None = None  # that, if it looks for another broker
        self.sessions: dict[str, Session] = {}
        self.consumers: dict[str, AddressedConsumer] = {}
        self.pushed: defaultdict[int, MessageAudit] = defaultdict(MessageAudit)  # by queue
        self.temps: list[Destination] = []
        self.calls: dict[int, PendingCall] = {}
        self.waiting: list[tuple[Call, object]] = []  # what is to happen at the next connection
        self.cache: list[tuple[Send, int]] = []  # unreliable sends, with their sizes
        self.user = (own["userName"], own.get("password", "")) if "userName" in own else None
        self.own_id = spec.client_id or own.get("clientID")
        self.client_id = self.own_id or spec.name
        self.redelivery = spec.redelivery or jms.redelivery(own)
        # the advisories of temporary destinations
        self.watches = spec.watch_topic_advisories and flag(own, "watchTopicAdvisories", True)
        self.deleted: set[Destination] = set()  # of which it was told by them
        self.state, self.started = "new", False  # new, connected, interrupted, failed, closed
        self.runs = bool(spec.options.get("start", True))  # a connection that was not started delivers nothing
        self.refused = False  # its broker has not let it in
        self.attachments = 0
        self.broker_node = -1
        self.error: Refused | None = None

    def session(self, name: str, transacted: bool = False) -> Session:
        """Return the session of that name; it comes into being when it is first named.

        While it is being made each call makes one of its own, and the last stays (Recordings rule 3.3).
        """
        found = self.sessions.get(name)
        if found is None or not found.made:
            own = name if found is None else f"{name} {len(self.sessions)}"
            if found is not None:
                self.sessions[own] = found
            found = self.sessions[name] = Session(self, own, transacted)
            if self.started:
                self.send(SessionInfo(own))
        return found

    def is_making(self, name: str) -> bool:
        """Whether a call makes the session of that name, and waits for a broker."""
        return name in self.sessions and not self.sessions[name].made

    @property
    def connected_to(self) -> str | None:
        """The address in use as the reader knows it, None without one; who leaves it has it until the next."""
        transport = self.transport
        if transport is None or transport.address is None or (transport.away and self.failover is None):
            return None
        return self.lab.directory.shown_target(transport.address)

    # Connecting

    def open(self, call: PendingCall) -> None:
        """Make the transport and say who it is; the call ends with the broker's answer."""
        try:
            check_syntax(self.uri)
        except Refused as error:  # the factory itself does not take it
            self.state = "failed"
            call.fail("IllegalArgumentException", f"Invalid broker URI: {self.uri}", error.kind)
            return
        try:
            self.transport = open_transport(self.lab, self, self.uri)
        except Refused as error:
            self.state = "failed"
            call.fail("JMSException", str(error), error.cause)
            return
        self.failover = self.transport if isinstance(self.transport, FailoverTransport) else None
        self.request(self._introduction(False), call)
        self.transport.start()
        if not self.runs and not call.done:  # nobody waits before a session is opened
            self.calls = {number: other for number, other in self.calls.items() if other is not call}
            call.finish()

    def _introduction(self, again: bool, anew: bool = False) -> ConnectionInfo:
        return ConnectionInfo(self.name, self.failover is not None, again, self.user, self.own_id, anew)

    def with_session(self, call: PendingCall, then: Callable[[], None]) -> None:
        """Do what needs a session; who was refused says once more who it is (`ensureConnectionInfoSent`)."""
        if self.refused and self.state in ("connected", "interrupted"):
            self.request(self._introduction(False, True), line.Introduction(self, call, then))
        else:
            then()

    # Sending

    def request(self, command: Command, call: PendingCall) -> None:
        """Send a command that wants an answer; *call* hears it."""
        if self.refuses(call):
            return
        request = self.lab.new_request()
        self.calls[request] = call
        command.request = request
        self.transport.send(command)

    def send(self, command: Command) -> None:
        """Send a command that wants no answer."""
        if self.transport is not None and self.state not in ("failed", "closed"):
            self.transport.send(command)

    def refuses(self, call: PendingCall) -> bool:
        """End *call* at once when the connection has failed or was closed."""
        if self.state not in ("failed", "closed"):
            return False
        if self.transport is None:  # the factory made no connection, so a program has none to call
            call.fail("NullPointerException", "There is no connection")
        elif isinstance(call.action, ClientSpec) and self.error is not None:
            call.fail("JMSException", "Disposed due to prior exception", self.error.cause)
        elif self._opens_session(call):
            if self.error is None:
                call.fail("ConnectionClosedException", "The connection is already closed")
            else:
                call.fail("ConnectionFailedException", str(self.error), self.error.cause)
        else:
            call.fail("IllegalStateException", "The Session is closed")
        return True

    def _opens_session(self, call: PendingCall) -> bool:
        """Whether a call names a session that was not there before the connection ended."""
        if not isinstance(call.action, InSession):
            return False
        session = self.sessions.get(session_of(self.lab, call.action))
        return session is not None and session.opened_after_close

    def remember(self, command: Send, size: int) -> None:
        """Keep an unreliable send, so that it can be sent again; the oldest make room."""
        transport = self.failover
        if transport is None or not transport.options.track_messages:
            return
        if sum(known for _, known in self.cache) > transport.options.max_cache_size:
            self.cache.pop(0)  # looked at before the new one counts
        self.cache.append((replace(command, request=None), size))

    def forget(self, call: PendingCall) -> None:
        """A call waits for a connection no more."""
        self.waiting = [one for one in self.waiting if getattr(one[0], "__self__", None) is not call]

    # What the transport tells

    def on_attached(self, address: str) -> None:
        """A connection is there."""
        self.attachments += 1
        self.state = "connected" if self.closing is None else self.state
        self.broker_node = self.lab.directory.node_at(address)
        for consumer in self.consumers.values():
            consumer.comes_from(self.broker_node, consumer.node)
        shown = self.lab.directory.shown_target(address)
        way = {"frm": self.node, "to": self.broker_node}
        self.lab.record(Kind.Attached, chain=self, **way, rule=Reason.accepted, detail={"to": shown})
        waiting, self.waiting = self.waiting, []
        for call, argument in waiting:
            self.lab.clock.schedule(self.lab.clock.now, call, argument)
        self.lab.clock.schedule(self.lab.clock.now, self.go_on, None)

    def go_on(self, _: None) -> None:
        """What took messages before takes them again."""
        for consumer in self.consumers.values():
            if consumer.opened:
                consumer.work()

    def on_interrupted(self) -> None:
        """The connection is lost; the transport looks for another."""
        self.state = "interrupted"
        self.lab.record(
            Kind.Interrupted,
            chain=self,
            frm=self.node,
            broker=self.broker_node,
            rule=Reason.connection_lost,
        )
        for session in self.sessions.values():
            session.interrupted()
        for consumer in self.consumers.values():
            consumer.interrupted()

    def replay(self, source: Transport) -> None:
        """Tell a new broker all that it must know, in this order."""
        source.send(self._introduction(True))
        for dest in self.temps:
            source.send(DestinationInfo(dest))
        for consumer in self.consumers.values():
            if consumer.opened and not consumer.closed:
                source.send(ConsumerCommand(consumer, restored=True))
        for session in self.sessions.values():
            source.send(SessionInfo(session.name))
            for dest in session.producers:
                source.send(ProducerInfo(dest))
            if session.committing:
                self._in_doubt(session)
            for command in session.sends:
                source.send(command)
        for command, _ in self.cache:
            source.send(replace(command, resent=True))
        for consumer in self.consumers.values():
            if consumer.pulled:
                consumer.pulls.tell_again(source)

    def _in_doubt(self, session: Session) -> None:
        """Nobody can tell whether the commit took effect: it counts as rolled back."""
        transport = self.failover
        for request, call in list(self.calls.items()):
            if call.session is session and transport is not None and request in transport.requests:
                del self.calls[request], transport.requests[request]
                session.end(session.committing)
                for consumer in session.consumers():
                    consumer.in_doubt()
                call.fail("TransactionRolledBackException", "the commit is in doubt")

    def on_command(self, source: Transport, command: Command) -> None:
        """A command came from the broker."""
        if type(command) is Response:
            call = self.calls.pop(command.request or 0, None)
            if call is not None and call is self.closing:
                line.shut((self, call))
            elif call is not None:
                call.answer(command.error)
            elif command.error is not None:
                self.lab.record_failure(self, command.error, Reason.old_pull)
        elif isinstance(command, DispatchCommand):
            consumer = self.consumers.get(command.consumer)
            if consumer is not None and not consumer.closed:
                consumer.on_delivery(command.delivery)
        elif isinstance(command, PullTimeout):
            consumer = self.consumers.get(command.consumer)
            if consumer is not None and not consumer.closed:
                consumer.pulls.on_answer()
        elif isinstance(command, ConnectionControl):
            self.on_told(command)

    def on_told(self, update: ConnectionControl) -> None:
        """A broker names brokers, or tells the client to go to another."""
        brokers, rebalance, go_to = update.brokers, update.rebalance, update.go_to
        shown = [self.lab.directory.shown_target(address) for address in brokers]
        self.lab.record(
            Kind.Told,
            chain=self,
            frm=update.by,
            to=self.node,
            rule=Reason.cluster_update,
            detail={"brokers": shown, "rebalance": rebalance},
        )
        transport = self.failover
        if transport is None:
            return
        if go_to is not None:
            if transport.options.reconnect_supported:
                transport.go_to(go_to)
        elif brokers:
            transport.update(brokers, rebalance)

    def on_failed(self, error: Refused) -> None:
        """The connection has failed for good: the listener hears it, every waiting call ends."""
        self.state = "failed"
        self.error = error
        for consumer in self.consumers.values():
            consumer.close()
        calls, self.calls, self.waiting = self.calls, {}, []
        for call in calls.values():
            if call is self.closing:
                call.finish()
            call.fail("JMSException", str(error), error.cause)
        self.lab.record_failure(self, error)

    # What its user does

    def open_consumer(self, consumer: AddressedConsumer, call: PendingCall) -> None:
        """Open a consumer; it takes what it can from then on."""
        if consumer.dest.is_temporary and consumer.dest not in self.temps:
            call.fail("InvalidDestinationException", "a temporary destination of another connection")
            return
        consumer.instead_of = self.consumers.get(consumer.name)
        self.consumers[consumer.name] = self.lab.consumers[consumer.name] = consumer
        call.then = consumer
        if self.refuses(call):
            return
        if consumer.durable and not self.own_id and self.lab.by_calls:  # played with 5.17.2
            told = "a durable subscriber needs a clientID of its own"
            line.when_made(consumer.session, call, lambda: call.fail("JMSException", told))
            return
        self.request(ConsumerCommand(consumer), call)

    def make_temp(self, name: str, session: str, call: PendingCall) -> None:
        """Make a temporary queue; every broker it comes to later gets it again."""
        self.session(session)
        dest = Destination("temp-queue", name)
        self.temps.append(dest)
        self.request(DestinationInfo(dest), call)
