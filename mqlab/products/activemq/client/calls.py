"""Calls of clients: what they wait for, and how they end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.client.message_producer import MessageProducer
from mqlab.products.activemq.transport.openwire import ProducerInfo, Send
from mqlab.spec import Client as ClientSpec
from mqlab.spec import Commit, Consumer, OpenSession, Producer, Recover, Rollback, TemporaryQueue
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonDict
from mqlab.spec.steps import SMALLEST
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.spans import spans

if TYPE_CHECKING:
    from mqlab.products.activemq.client.addressed_consumer import AddressedConsumer
    from mqlab.products.activemq.client.connection import ClientConnection
    from mqlab.products.activemq.client.session import Session
    from mqlab.products.activemq.lab import Lab
    from mqlab.spec.values import Destination

# us: what the session and producer of a sender with pauses, or beside the script, take before its first
# message, and what a pause takes longer (5 to 40 sends that nobody answers took 6 to 14 ms longer)
OPENING, LATE = 2_500, 200
CHECK = 100  # ms: so often a sender without a connection looks at the clock


# what names a session, and makes it where it is not there
InSession = Consumer | Producer | OpenSession | TemporaryQueue | Commit | Rollback | Recover


def session_of(lab: Lab, action: InSession) -> str:
    """Return the name of the session that an action means.

    Who consumes or sends and names none has one of its own, but not in the recordings.
    """
    if action.session is not None:
        return action.session
    own = not lab.by_calls
    return f"of {action.name}" if own and isinstance(action, (Consumer, Producer)) else "session"


def is_beside(action: object) -> bool:
    """Whether the script goes on at once, without waiting for the call that an action makes."""
    return bool(getattr(action, "in_background", getattr(action, "options", {}).get("in_background")))


class PendingCall:
    """One call of a client's user: an action that waits for an answer."""

    def __init__(self, lab: Lab, no: int, action: Action, client: str) -> None:
        self.lab, self.no, self.action, self.client = lab, no, action, client
        self.began = lab.clock.now
        self.done = False
        self.row: dict[str, object] = {}
        self.took = 0
        self.then: AddressedConsumer | None = None
        self.session: Session | None = None
        self.error_on_reply: Refused | None = None  # how it ends when the broker has answered well

    def answer(self, error: Refused | None) -> None:
        """The broker has answered."""
        if isinstance(self.action, Commit) and self.session is not None:  # also if it has failed
            self.session.on_committed(error is None)
        if error is not None:
            self.fail(error.kind, str(error), error.other_cause)
            return
        if self.error_on_reply is not None:
            self.fail(self.error_on_reply.kind, str(self.error_on_reply))
            return
        consumer, self.then = self.then, None
        self.finish()
        if consumer is not None:
            consumer.opened = True
            consumer.work()

    def finish(self, **found: object) -> None:
        """It has come back well."""
        self._end({"ok": True, **found})

    def fail(self, kind: str, message: str, cause: str = "") -> None:
        """It has come back with an error."""
        error = {"class": kind, "message": message}
        if cause:
            error["cause"] = f"{cause}: {message}"
        if self.then is not None:
            self.then.give_way()
        self._end({"ok": False, "error": error})

    def _end(self, row: JsonDict) -> None:
        if self.done:
            return
        self.done = True
        self.row = row
        self.took = (self.lab.clock.now - self.began) // 1000
        user = self.lab.clients_by_name[self.client]
        if isinstance(self.action, ClientSpec):  # who could not start gets nothing
            user.started, user.runs, user.refused = row["ok"], user.runs and row["ok"], not row["ok"]
        self.lab.record(
            Kind.Answered,
            cause=self.lab.last.get(user, -1),
            frm=user.node,
            age=self.lab.clock.now - self.began,
            rule=Reason.asked if row["ok"] else Reason.gave_up,
        )


class SendJob(PendingCall, MessageProducer):
    """Messages sent one after the other; a reliable one waits for the broker's answer."""

    session: Session  # it always has one

    def __init__(
        self,
        lab: Lab,
        no: int,
        spec: Producer,
        client: ClientConnection,
        dest: Destination,
        session: Session,
    ) -> None:
        PendingCall.__init__(self, lab, no, spec, client.name)
        MessageProducer.__init__(self, lab, spec, dest, client.name)
        self.user = client
        self.session = session
        self.size = SMALLEST + (0 if spec.size == SMALLEST else spec.size)
        own = spec.name != client.name  # the recordings know no producers beside their clients
        self.node = lab.producer_node(spec.name, client.name) if own else client.node
        self.place = 0
        self.sent = 0  # how many have gone well
        self.failed: list[dict[str, object]] = []
        self.longest = self.started = 0
        self.message: Message | None = None
        self.in_line = False  # whether the message under way was given to the transport
        self.waited = False  # for another sender of its session
        self.lines_up = False  # it had no connection at first: calls are made as they came (ActiveMQ rule 11.7)

    def next(self, _: None = None) -> None:
        """Send the next one."""
        if self.place >= self.spec.sends:
            self._report()
            return
        self.started = self.lab.clock.now
        number = self.first + self.place
        self.place += 1
        user, session = self.user, self.session
        if not self._has_producer():
            self.place -= 1
            return
        if self not in session.senders:
            session.senders.append(self)
        if session.senders[0] is not self:
            self.place, self.waited = self.place - 1, True
            self.dest_no = self.lab.name_destination(self.dest)
            return
        if user.deleted and self.dest in user.deleted:
            self._failed(number, "InvalidDestinationException", "a deleted destination", "")
            return
        self.message = self.make(self.place - 1) if self.waited else None
        if user.refuses(self):  # a closed session makes no message (`ActiveMQSession.createTextMessage`)
            return
        if self.message is None:
            if self.place == 1:
                self.dest_no = self.lab.name_destination(self.dest)
            self.message = self.make(self.place - 1)
        self.in_line = False
        transaction = session.begin()
        if session.rollback_only:  # `ActiveMQSession.send` of 5.17.2
            self._failed(number, "IllegalStateException", "transaction marked rollback only", "")
            return
        row = self.lab.add(
            self.lab.clock.now,
            Kind.Sent,
            number,
            user.broker_node,
            self.node,
            user.broker_node,
            -1,
            self.message.dest_no,
        )
        command = Send(self.message, row, self.node, transaction, session.name)
        waits = user.always_sync or user.send_timeout > 0 or (self.spec.persistent and not user.use_async)
        if transaction is None and waits:  # for the broker's answer
            self.in_line = True
            user.request(command, self)
            if user.transport.away or user.transport.reconnecting:
                self._watch_time()
                user.waiting.append((self._goes, command))
            else:
                self._goes(command)
        elif user.transport.away or user.transport.reconnecting:
            self._wait_for_connection(command)
        else:
            user.send(command)
            self._goes_one_way(command)

    def _has_producer(self) -> bool:
        """Whether the session has a producer for the destination; it is made by the first send.

        Without a connection that waits for one, without a limit; what fails then is the making, not a
        message (ActiveMQ rule 11.11).
        """
        user, session = self.user, self.session
        if self.dest in session.producers:
            return True
        if user.refuses(self):
            return False
        if user.transport.away or user.transport.reconnecting:
            number = self.lab.new_request()
            user.calls[number] = self
            user.waiting.append((self._make_producer, number))
            return False
        if self.lab.by_calls or user.user is not None:  # a broker may refuse it
            if self.lab.edition != "5.5":
                opening = OPENING if (self.interval or self.spec.in_background) and not self.lines_up else 0
                self.lab.clock.schedule(self.lab.clock.now + opening, self._ask_for_producer, None)
                return False
            user.send(ProducerInfo(self.dest))  # nobody waits for it (`ActiveMQMessageProducer` of 5.5.1)
        session.producers.append(self.dest)
        return True

    def _ask_for_producer(self, _: None) -> None:
        self.user.request(ProducerInfo(self.dest), self)

    def _make_producer(self, number: int) -> None:
        if self.user.calls.pop(number, None) is not None and not self.done:
            self.lines_up = True
            self.next()

    def _goes_one_way(self, command: Send) -> None:
        """What nobody answers is under way: in a transaction, or unreliably."""
        if command.transaction is not None:
            self.session.sends.append(command)
        else:
            self.user.remember(command, self.size)
        self._went()

    # Without a connection

    def _wait_for_connection(self, command: Send) -> None:
        number = self.lab.new_request()
        self.user.calls[number] = self  # nobody answers it, but it fails with the connection
        self.user.send(command)  # what is called after it, such as a commit, comes after it
        self.user.waiting.append((self._on_connection, (number, command)))
        self._watch_time()

    def _on_connection(self, waited: tuple[int, Send]) -> None:
        number, command = waited
        self.user.calls.pop(number, None)
        if self.message is command.message and not self.done:
            self._goes_one_way(command)

    def _watch_time(self) -> None:
        transport = self.user.failover
        if transport is not None and transport.options.timeout > 0:
            after = -(-transport.options.timeout // CHECK) * CHECK
            self.lab.pause(after * 1000, self.on_time, self.message)

    def on_time(self, message: Message) -> None:
        """The option timeout is over: what still waits for a connection has failed."""
        transport = self.user.failover
        if message is not self.message or self.done or transport is None or not transport.away:
            return
        waiting = [c for c in transport.waiting if isinstance(c, Send) and c.message is message]
        for command in waiting:
            transport.waiting.remove(command)
            self.user.calls.pop(command.request or 0, None)
        if not waiting and self.in_line:
            return  # it was sent: only its answer is missing, and that has no limit
        self.user.forget(self)
        text = f"Failover timeout of {transport.options.timeout} ms reached."
        self._failed(message.number, "JMSException", text, "IOException")

    def _goes(self, command: Send) -> None:
        """It is in the line, and tracked from now on; its answer may take as long as sendTimeout says."""
        if goes := command.message is self.message and not self.done:
            self.user.remember(command, self.size)
        if goes and self.user.send_timeout > 0:
            after = self.lab.clock.now + self.user.send_timeout * 1000
            self.lab.clock.schedule_background(after, self.on_send_timeout, command.message)

    def on_send_timeout(self, message: Message) -> None:
        """The answer has not come in the time of sendTimeout; the message may still arrive."""
        if message is self.message and not self.done:
            calls = self.user.calls
            for number in [number for number, call in calls.items() if call is self]:
                del calls[number]
            text = f"Request timed out after {self.user.send_timeout} ms"
            self._failed(message.number, "JMSException", text, "RequestTimedOutIOException")

    # How one, and how all, end

    def fail(self, kind: str, message: str, cause: str = "") -> None:
        """The connection has failed: so has the message under way, or the step before its first."""
        if self.message is None:
            super().fail(kind, message, cause)
        else:
            self._failed(self.message.number, kind, message, cause)

    def answer(self, error: Refused | None) -> None:
        """The broker has answered for one message, or for the producer before the first."""
        if self.message is None and error is None:
            self.session.producers.append(self.dest)
            self.next()
        elif error is not None:
            self.fail(error.kind, str(error), error.other_cause)
        else:
            self._went()

    def _went(self) -> None:
        assert self.message is not None
        self.sent += 1
        self._go_on()

    def _go_on(self) -> None:
        self.message = None
        self.longest = max(self.longest, self.lab.clock.now - self.started)
        late = LATE if self.interval and self.lab.by_calls else 0
        if self.interval:
            self.session.let_others_send(self)
        self.lab.clock.schedule(self.lab.clock.now + self.interval + late, self.next, None)

    def _end(self, row: JsonDict) -> None:
        super()._end(row)
        self.session.let_others_send(self)

    def _failed(self, number: int, kind: str, text: str, cause: str) -> None:
        row: dict[str, object] = {"n": number, "class": kind, "message": text}
        if cause:
            row["cause"] = f"{cause}: {text}"
        row["ms"] = [(self.lab.clock.now - self.started) // 1000] * 3
        self.message = None
        self.failed.append(row)
        if self.spec.options.get("continue_on_error"):
            self._go_on()
        else:
            self._report()

    def _report(self) -> None:
        failed = {row["n"] for row in self.failed}
        tried = range(self.first, self.first + self.sent + len(failed))
        sent = spans(number for number in tried if number not in failed)
        found: dict[str, object] = {"ok": not self.failed, "sent": sent}
        found |= {"failed": self.failed} if self.failed else {}
        found["longest_send_ms"] = [self.longest // 1000] * 3
        self._end(found)
