"""The messages that one step of the script sends, one by one, in one client's session."""

from __future__ import annotations

from mqlab.products.artemis.broker import duplicates, message_sizes
from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.message_sizes import DELAY, bytes_of
from mqlab.products.artemis.broker.messages import Message
from mqlab.products.artemis.broker.site import NO_QUEUE
from mqlab.products.artemis.client.clients import OVER, SESSION_CLOSED, Client
from mqlab.products.artemis.client.producer_credits import FULL, ProducerCredits
from mqlab.products.artemis.client.reconnection import LOOKS, MS
from mqlab.products.artemis.client.requests import BLOCKED, NO_ANSWER, NO_SESSION, Request
from mqlab.spec.action import Producer
from mqlab.spec.artemis.script import lasting, time_option
from mqlab.spec.headers import dealt
from mqlab.spec.steps import GROUP
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Reason

SENT = int(Kind.Sent)  # bound once, as in `notes`


class SendRequest(Request):
    """The messages of one step, one by one: the next one when the broker has the last."""

    def __init__(self, client: Client, action: Producer, first: int) -> None:
        super().__init__(client, "send", time_option(action, "time_limit", BLOCKED * MS))
        self.first, self.persistent, self.properties = first, action.persistent, action.properties
        # In a transaction nothing does (`ClientSessionImpl.internalCreateProducer` of 2.4.0).
        self.waits = self.persistent and client.at_once
        self.count, self.sent = action.sends, 0
        self.interval, self.time_to_live = duration(action.every), duration(action.time_to_live)
        self.delay = time_option(action, "delivery_delay", 0)
        self.size = action.size
        self.stops = bool(action.options.get("stop_at_failure"))  # with the first that cannot be sent
        self.dest, self.dest_no = lasting(action.to), -1  # and its number in the trace
        self.message: Message | None = None
        self.late: list[Message] = []  # which nobody waits for any more
        self.left = self.began = 0  # when (us) the last message left, and what is delayed together
        client.sending += 1

    def begin(self, wait: int = 0) -> None:
        """Send the first message after *wait* us, or end: of a closed session no producer is made."""
        if self.count and self.client.state in OVER:
            said = SESSION_CLOSED if self.client.epoch else NO_SESSION
            self.client.results.append(f"step {self.step} send: {said}")
            self._end(self.count)
        elif self.count and self.client.at is not None and self.client.at.role == "paused":
            self._query(self.lab.clock.now)
        elif self.count:
            self.lab.later(wait, self.make)
        else:
            self._end()

    def _query(self, since: int) -> None:
        """Make a producer on a broker that hangs: the program asks for the address since a time (us)."""
        if self.client.at is None or self.client.at.role != "paused":
            self.make()
        elif self.lab.clock.now >= since + self.client.options["call_timeout"] * MS:
            self.refuse_query()
        else:
            self.lab.later(LOOKS, self._query, since)

    def refuse_query(self, said: str = NO_ANSWER) -> None:
        """The program cannot make its producer: the broker says nothing of the address, or lacks it."""
        self.client.results.append(f"step {self.step} {self.what}: {said}")
        self._end(self.count)

    def hangs(self, since: int) -> bool:
        """Who sends a message that is not persistent does not wait for an answer; else it is not sent."""
        assert self.message is not None  # it has left
        if self.waits and since < self.client.options["call_timeout"] * MS:
            return False
        self.late.append(self.message)
        if self.waits:
            self.client.failed.append(f"{self.message.number} {NO_ANSWER}")
        else:
            self.client.sent.append(self.message.number)
        self.lab.clients.sending -= 1
        self.on_answered()
        return True

    def act_late(self) -> None:
        """The broker has a message that its client has given up."""
        number = len(self.client.sent)
        self.client.send(self.late.pop(0))
        del self.client.sent[number:]

    def ends_unconnected(self) -> bool:
        """Nothing is sent, and the step ends."""
        self._end(self.count)
        return True

    def times_out(self) -> bool:
        """The program cannot make its producer, or this message is not sent, and the next is."""
        left = self.count - self.sent
        if self.sent:
            self.leave()
            assert self.message is not None  # it is made as it leaves
            self.client.failed.append(f"{self.message.number} {NO_ANSWER}")
            left = 1
            self.on_answered()
        else:
            self._end()
        self.lab.clients.sending -= left
        return True

    def leave(self) -> None:
        """A message leaves the client; one that is sent again is the same."""
        client, self.left = self.client, self.lab.clock.now
        if self.message is None:
            self.message = self._message(self.first + self.sent, self.sent)
            if client.state not in OVER:
                to = client.at.node if client.at is not None else -1
                self.message.row = self.lab.message(SENT, self.message, client.at, client.node, to)
                self.dest_no = self.message.dest_no

    @property
    def cost(self) -> int:
        """How many bytes of credits its next message takes."""
        own = dealt(self.properties, self.sent) if self.properties else {}
        extra = bytes_of(own) + (DELAY if self.delay else 0)
        return message_sizes.SENT + 2 * len(self.dest.name) + self.size + extra

    def has_credits(self) -> bool:
        """Whether the client has credits for an address that can be full; one that gets none may not send."""
        client, window = self.client, int(self.client.options["producer_window_size"])
        if client.at is not None and not self.sent and self._lacks_queue(client.at):
            self.lab.event(Kind.Failed, client.at, frm=client.node, rule=Reason.not_created, dest=self.dest)
            self.refuse_query(NO_QUEUE)
            return False
        store = self.lab.paging.store(client.at, self.dest.name) if client.at is not None else None
        if store is None or store.policy in ("DROP", "PAGE") or window < 0:
            return True
        credits = client.credits.get(self.dest.name)
        if credits is None or credits.epoch != client.epoch:
            credits = client.credits[self.dest.name] = ProducerCredits(client, store, window)
        if not credits.acquire(self):
            return False
        if credits.fails():
            self._refuse()
            return False
        return True

    def _lacks_queue(self, broker: Broker) -> bool:
        name, lab = self.dest.name, self.lab
        allowed = not lab.limits_creation or lab.setting(broker, name, "auto_create_queues")
        return not allowed and self.dest.is_queue and lab.balancing.lacks(broker, name)

    def hold(self) -> None:
        """The client has no credits as the address is full: its message waits."""
        self.leave()
        assert self.message is not None  # it is made as it leaves
        self.lab.message(
            Kind.Held, self.message, self.client.at, rule=Reason.address_full, cause=self.message.row
        )

    def _refuse(self) -> None:
        """The client's own library sends nothing to an address that is full."""
        self.leave()
        assert self.message is not None
        message, at = self.message, self.client.at
        self.client.failed.append(f"{message.number} {FULL}")
        self.lab.message(
            Kind.Failed, message, at, self.client.node, rule=Reason.address_full, cause=message.row
        )
        self.lab.clients.sending -= 1
        self.on_answered()

    def act(self) -> None:
        """The broker has a message."""
        assert self.message is not None  # it has left
        self.client.send(self.message)
        self.lab.clients.sending -= 1

    def on_answered(self, _: object = None) -> None:
        """Go on with the next message, an interval after this one."""
        failed, self.message = self.stops and self._has_failed(), None
        self.sent += 1
        if self.sent < self.count and failed:
            self._end(self.count - self.sent)
        elif self.sent < self.count:
            wait = self.interval
            self.client.calling += wait
            # A pause between two sends ends in any case, so the run's end waits for it.
            (self.lab.pause if self.interval else self.lab.later)(wait, self.make, None)
        else:
            self._end()

    def _has_failed(self) -> bool:
        """Whether its message could not be sent: none is to be sent after it."""
        last = self.client.failed[-1:]
        return self.message is not None and any(said.startswith(f"{self.message.number} ") for said in last)

    def told(self, _: object = None) -> int:
        """Return when it would have been blocked for too long: its end is told (us)."""
        return int(self.client.calling + self.limit)

    def _end(self, unsent: int = 0) -> None:
        self.lab.clients.sending -= unsent
        self.answered = True
        self.lab.clock.halt()
        self.client.sending -= 1
        if not self.client.stays and not self.client.sending:  # its connection was for this step
            self.client.state, self.client.at = "closed", None

    def _message(self, number: int, place: int) -> Message:
        own = dealt(self.properties, place) if self.properties else {}
        now = self.lab.clock.now
        made = Message(number, self.dest, self.persistent, own, self.size, dest_no=self.dest_no)
        if own:
            made.extra, made.group = bytes_of(own), str(own[GROUP]) if GROUP in own else None
            self.lab.detects_duplicates |= duplicates.ID in own
        # Who does not wait for the broker sends all within a millisecond, and they become due together.
        self.began = now if self.waits or self.interval or not place else self.began
        if self.delay:
            made.due, made.delayed = self.began + self.delay, True
            made.extra += DELAY
        made.expires = now + self.time_to_live if self.time_to_live else 0
        return made
