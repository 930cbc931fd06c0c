"""What clients of Artemis brokers do: connect, receive, send, commit (Recordings rule 7.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mqlab.engine.completion import Completion
from mqlab.products.artemis.broker.broker import Subsystem
from mqlab.products.artemis.client import receive_loop
from mqlab.products.artemis.client.clients import OVER, Client
from mqlab.products.artemis.client.consumers import Consumer
from mqlab.products.artemis.client.receive_call import ReceiveCall
from mqlab.products.artemis.client.reconnection import LOOKS, MS
from mqlab.products.artemis.client.requests import BLOCKED, NO_SESSION, Request
from mqlab.products.artemis.client.sends import SendRequest
from mqlab.products.artemis.client.session_calls import CreateSession, Transaction
from mqlab.spec import action as a
from mqlab.spec.action import Action
from mqlab.spec.artemis.actions import Session, WaitForSends, Xa
from mqlab.spec.artemis.script import in_background, time_option
from mqlab.spec.clients import CloseClient
from mqlab.spec.plural import counted
from mqlab.spec.values import duration
from mqlab.trace.kinds import Reason

# A client that is opened as others begin to send comes behind their first messages: 10 to 30 ms were seen.
OPENING = 5 * MS
RECEIVING = 5000  # ms that a call receives, where nobody says so: as the recorder does
CONNECTING = MS  # a send in the background that opens its connection first comes behind one message of others


class ClientActions(Subsystem):
    """What clients do."""

    @staticmethod
    def _blocking(request: Request) -> Completion:
        return Completion(request.is_over, then=request.tell, told=request.told)

    def do_open_consumer(self, action: a.Consumer) -> Completion:
        """Open a connection, a session and a consumer."""
        consumer = self.lab.clients.consumers[action.name] = Consumer(self.lab, action)
        return self._open(consumer, action, "open_consumer")

    def do_open_session(self, action: Session) -> Completion:
        """Open a client that stays, for sends and transactions."""
        client = self.lab.clients.senders[action.name] = Client(self.lab, action)
        return self._open(client, action, "open_producer")  # as most recordings call it

    def _open(self, client: Client, action: a.Consumer | Session, what: str) -> Completion:
        opening = CreateSession(client, what, time_option(action, "time_limit", BLOCKED * MS))
        if self.lab.clients.began == self.lab.clock.now:
            self.lab.later(OPENING, opening.make)
        else:
            opening.make()
        return Completion() if action.options.get("in_background") else self._blocking(opening)

    def do_close(self, action: a.Close | CloseClient) -> Completion:
        """Close a connection once what its client sends in the background is through: it has one thread."""
        if isinstance(action, CloseClient):
            client = self.lab.clients.named(action.client)
            if client.state == "closed":
                self.lab.tell("the connection was closed already")
        else:
            client = self.lab.clients.consumer(action.consumer)
        if client.state == "new" or self._is_through(client):
            return self._close_now(client)
        return Completion(self._is_through, client, self.lab.clock.now + BLOCKED * MS, then=self._through)

    @staticmethod
    def _is_through(client: Client) -> bool:
        return all(call.answered for call in client.line)

    def _through(self, client: Client) -> None:
        if self._is_through(client):
            self.lab.under_way = self._close_now(client)
        else:
            client.results.append(f"step {self.lab.step_no} close_client: still blocked")
            self.lab.come_to_rest()

    def _close_now(self, client: Client) -> Completion:
        """One that looks for its broker is blocked in it; what its transaction has sent is gone."""
        if isinstance(client, Consumer):
            return receive_loop.behind(client, self._close_consumer, client)
        blocked = client.state == "new"
        client.failovers += ["failover_failed"] * (client.state == "reconnecting")
        if blocked:
            client.results.append(f"step {self.lab.step_no} close_client: still blocked")
        if client.state != "new":  # that call is behind its opening, which goes on
            client.drop(Reason.connection_lost)
            client.state, client.at = "closed", None
        return self._closing(blocked)

    def _close_consumer(self, consumer: Consumer) -> Completion:
        return self._closing(consumer.close())

    def _closing(self, blocked: bool) -> Completion:
        end = self.lab.clock.now + BLOCKED * MS
        return Completion(deadline=end, then=self.lab.come_to_rest) if blocked else Completion()

    def do_receive(self, action: a.Receive) -> Completion:
        """Take so many messages, or what comes in the time."""
        consumer, clients, step = self.lab.clients.consumer(action.consumer), self.lab.clients, self.lab.step_no
        clients.receives = clients.receives[0] if clients.receives[1] == step - 1 else step, step
        wait = time_option(action, "timeout", RECEIVING * MS)
        acknowledges = bool(action.options.get("acknowledge", True))
        reading = ReceiveCall(consumer, action.count, wait, acknowledges, self.lab.acting)
        reading.limit = self.lab.clock.now + BLOCKED * MS
        consumer.stop_loop(consumer.last_call)
        if consumer.refused:
            consumer.results.append(f"step {self.lab.step_no} receive: {NO_SESSION}")
            return Completion()
        if consumer.receiving and consumer.state == "connected":
            return Completion(deadline=reading.limit, argument=reading, then=self._never_taken)
        if consumer.state == "new":  # a client has one thread, and that is in the opening still
            return Completion(
                ReceiveCall.is_open, reading, self.lab.clock.now + BLOCKED * MS, then=self._take_turn
            )
        return self._next_message(reading)

    def _never_taken(self, reading: ReceiveCall) -> None:
        """A call behind the loop that receives everything: it has the client's one thread."""
        reading.consumer.results.append("receive: still blocked")
        self.lab.come_to_rest()

    def _take_turn(self, reading: ReceiveCall) -> None:
        """Receive once the opening is over; the script goes on without it if that takes too long."""
        if reading.is_open():
            self.lab.under_way = self._next_message(reading)
        else:
            self._go_on_behind(reading)

    def _go_on_behind(self, reading: ReceiveCall) -> None:
        consumer = reading.consumer
        consumer.results.append("receive: still blocked")
        consumer.calls, consumer.blocked_since = consumer.calls + 1, reading.limit - BLOCKED * MS
        reading.end = 0  # its time begins anew
        self.lab.later(LOOKS, self._receive_behind, reading)
        self.lab.come_to_rest()

    def _receive_behind(self, reading: ReceiveCall) -> None:
        """Take what comes behind the script, in the time that begins with the end of the opening."""
        if not reading.is_open() or reading.is_blocked():
            self.lab.later(LOOKS, self._receive_behind, reading)
            return
        reading.end_question()
        reading.end = reading.end or self.lab.clock.now + reading.wait
        while reading.goes_on and reading.has_message():
            reading.take_one()
        if reading.goes_on and self.lab.clock.now < reading.end:
            self.lab.later(LOOKS, self._receive_behind, reading)
            return
        self._say_how(reading)
        reading.consumer.calls -= 1
        if reading.consumer.closes and not reading.consumer.calls:
            self.lab.later(LOOKS, self._close, reading.consumer)

    @staticmethod
    def _close(consumer: Consumer) -> None:
        consumer.close()

    def _next_message(self, reading: ReceiveCall) -> Completion:
        if reading.goes_on:
            reading.consumer.flow.ask()
            reading.end = reading.end or self.lab.clock.now + reading.wait
            end = max(reading.end, self.lab.clock.now + MS)  # the last ones are only looked for
            return Completion(ReceiveCall.has_message, reading, end, then=self._receive)
        self._say_how(reading)
        return Completion()

    def _answered(self, reading: ReceiveCall) -> None:
        if reading.is_blocked():
            self._go_on_behind(reading)
            return
        reading.end_question()
        self.lab.under_way = self._next_message(reading)

    def _say_how(self, reading: ReceiveCall) -> None:
        if reading.got < reading.count and reading.consumer.state == "connected":
            reading.consumer.found_nothing()
        self.lab.tell_received(reading.got, reading.count, reading.consumer.name, reading.asked)
        if reading.consumer.state in OVER and not reading.was_answered:
            reading.consumer.see_closed()
        elif reading.got < reading.count:
            reading.consumer.results.append(f"receive: {reading.got} of {reading.count}")

    def _receive(self, reading: ReceiveCall) -> None:
        """Take one; a call whose time is over asks the broker whether there is one, and waits for its answer.

        Source: `ClientConsumerImpl.receive` of 2.4.0, which forces the delivery; Artemis rule 9.8.
        """
        if not reading.consumer.arrived and reading.is_blocked():
            reading.consumer.asks, reading.epoch = True, reading.consumer.epoch
            self.lab.under_way = Completion(
                ReceiveCall.is_answered, reading, reading.limit, then=self._answered
            )
            return
        reading.take_one()
        self.lab.under_way = self._next_message(reading)

    def do_resume(self, action: a.Resume) -> None:
        """Take everything from now on."""
        consumer = self.lab.clients.consumer(action.who)
        consumer.receiving, consumer.since, consumer.last_call = not consumer.refused, self.lab.clock.now, 0
        if consumer.state == "failed":  # the loop of one that is closed ends without a word
            consumer.see_closed()
        self.lab.later(MS, consumer.go_on)  # it reads while the script goes on

    def do_pause(self, action: a.Pause) -> None:
        """Take nothing any more; one that is still to be opened begins to receive behind that."""
        consumer = self.lab.clients.consumer(action.who)
        if consumer.state == "connected" and consumer.receiving:
            consumer.go_on()
            consumer.end_loop()
        elif consumer.state != "new":
            consumer.stuck = consumer.receiving and consumer.state == "reconnecting"
            consumer.receiving = False

    def do_send(self, action: a.Producer) -> Completion:
        """Send messages one by one; the next one when the broker has the last."""
        first = self.lab.clients.announce(action)
        sending = SendRequest(self._sender(action), action, first)
        if in_background(action) and sending.client.stays:  # its one thread: what follows comes behind it
            sending.client.line.append(sending)
        sending.begin(CONNECTING if in_background(action) and action.on in self.lab.brokers else 0)
        if not in_background(action):
            return self._blocking(sending)
        self.lab.clients.began = self.lab.clock.now
        return Completion()

    def _sender(self, action: a.Producer) -> Client:
        if action.on not in self.lab.brokers:
            return self.lab.clients.named(action.on)
        client = self.lab.clients.senders.get(action.name)
        if client is not None and client.state != "closed":
            return client
        if client is None:
            client = self.lab.clients.senders[action.name] = Client(self.lab, action)
            client.stays = False
        else:
            client.begin(action)
        # What becomes of a send in the background is told to no step; that it does not connect is.
        CreateSession(client, "open" if in_background(action) else "send").make()
        return client

    def do_wait_for_sends(self, action: WaitForSends) -> Completion:
        """Wait until sends in the background have ended."""
        end = self.lab.clock.now + duration(action.timeout)
        return Completion(self._has_sent, self.lab.acting, end, then=self._waited_for_sends)

    def _waited_for_sends(self, asked: Action) -> None:
        """Go on; say so if the time was over before."""
        if not self._has_sent(asked):
            self.lab.tell(
                f"{counted(self.lab.clients.sending, 'message')} had not been sent in that time", asked
            )
        self.lab.come_to_rest()

    def _has_sent(self, _: object) -> bool:
        return not self.lab.clients.sending

    # Transactions

    def do_end(self, action: a.Commit | a.Rollback | a.Recover) -> Completion:
        """End a transaction, or let what is not acknowledged come again: a session that only sends has nothing.

        A consumer's one thread takes nothing more until it resumes.
        """
        client, what = self.lab.clients.named(action.who), type(action).__name__.lower()
        if not isinstance(client, Consumer):
            has_none = what == "recover"
            return Completion() if has_none else self._call(Transaction(client, getattr(client, what), what))
        client.stuck = client.receiving and client.state == "reconnecting"
        client.receiving &= client.state == "connected"  # whose loop ends first
        return receive_loop.behind(client, self._call, Transaction(client, getattr(client, what), what))

    def do_xa(self, action: Xa) -> Completion:
        """One call of an XA resource."""
        client, xid = self.lab.clients.named(action.client), action.id or "x1"
        if client.resource is None:
            self.lab.tell(f"{client.name} has no XA session; open it with artemis.Session(..., xa=True)")
            return Completion()
        client.resource.judge(action.act, xid)
        return self._call(Transaction(client, client.resource.call, "xa", action.act, xid))

    def _call(self, request: Request) -> Completion:
        """Make a call; what ends the transaction of a blocked send is of that step, and says nothing."""
        request.make()
        return Completion() if request.client.blocked_step == request.step else self._blocking(request)


DO: dict[type[Action], Callable[[ClientActions, Any], Completion | None]] = {
    a.Consumer: ClientActions.do_open_consumer,
    Session: ClientActions.do_open_session,
    a.Close: ClientActions.do_close,
    CloseClient: ClientActions.do_close,
    a.Receive: ClientActions.do_receive,
    a.Pause: ClientActions.do_pause,
    a.Resume: ClientActions.do_resume,
    a.Producer: ClientActions.do_send,
    WaitForSends: ClientActions.do_wait_for_sends,
    a.Commit: ClientActions.do_end,
    a.Rollback: ClientActions.do_end,
    a.Recover: ClientActions.do_end,
    Xa: ClientActions.do_xa,
}
