"""Requests: what a client asks of its broker, over its line, and the messages that one step sends.

A request waits until the client can talk to its broker. One whose connection breaks on the way is
made again. A persistent message goes to the slave that copies the broker, and back, before the broker
answers (AMQ Broker 7.1, 21.1; Artemis rule 2.5).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from mqlab.engine.link import Link
from mqlab.products.artemis.broker import duplicates
from mqlab.products.artemis.broker.messages import Message
from mqlab.products.artemis.client import hanging
from mqlab.products.artemis.client.clients import SESSION_CLOSED
from mqlab.products.artemis.client.consumer_credits import bytes_of
from mqlab.products.artemis.client.producer_credits import FULL, ProducerCredits
from mqlab.products.artemis.client.reconnection import LOOKS
from mqlab.spec.action import Producer
from mqlab.spec.artemis.script import lasting, time_option
from mqlab.spec.headers import dealt
from mqlab.spec.steps import GROUP
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.client.clients import Client

MS = 1000
NO_ANSWER = "JMSException / ActiveMQConnectionTimedOutException AMQ119014"
NO_SESSION = "NullPointerException"  # of a client whose opening has failed
SENT = int(Kind.Sent)  # bound once, as in `notes`
BLOCKED = 20_000  # ms after which a call counts as blocked
# A call waits so long (ms) for a connection that is lost (`DEFAULT_CALL_FAILOVER_TIMEOUT`). Then it goes into
# the dead one, and is not answered within callTimeout (`ChannelImpl.sendBlocking` of 2.4.0).
FAILOVER = 30_000


class Request(ABC):
    """A request of a client: `act` is what the broker does when it has come."""

    persistent = True
    size = 0  # bytes of the message in it

    def __init__(self, client: Client, what: str, limit: int = BLOCKED * MS) -> None:
        self.client, self.what = client, what
        self.lab, self.step = client.lab, client.lab.step_no
        self.limit = limit
        self.answered = False
        self.lost = 0  # us, since when it waits for a connection that is lost
        client.calling = self.lab.clock.now

    @abstractmethod
    def act(self) -> None:
        """What the broker does."""

    def make(self, _: object = None) -> None:
        """Ask as soon as the client can."""
        self.client.calling = self.lab.clock.now
        self._try()

    def _try(self, _: object = None) -> None:
        client = self.client
        if client.state == "failed" and not client.epoch and self.ends_unconnected():
            return
        if (client.line or client.state == "new") and self.waits_in_line():
            self.lab.later(LOOKS, self._try)
            return
        if client.is_blocked(self.persistent):
            now = self.lab.clock.now
            self.lost = (self.lost or now) if client.state == "reconnecting" else 0
            if self.lost and now >= self.lost + (FAILOVER + client.options["call_timeout"]) * MS:
                self.lost = 0
                if self.times_out():
                    return
            self.lab.later(LOOKS, self._try)
            return
        self.lost = 0
        if self.lab.paging.limits and not self.has_credits():
            return
        self.leave()
        if client.at is None:  # it was given up, and the client's own library answers
            self.act()
            self.on_answered()
        else:
            client.uplink.carry(self.on_request, client.epoch, 0, self.size)

    def ends_unconnected(self) -> bool:
        """Whether the request ends because its client has never connected."""
        return False

    def waits_in_line(self) -> bool:
        """Whether a call that was blocked in the opening comes before this one: a client has one thread."""
        line = self.client.line
        while line and line[0].answered:
            line.pop(0)
        if self not in line and (line or self.client.state == "new"):
            line.append(self)
        return bool(line) and line[0] is not self

    def times_out(self) -> bool:
        """Whether the request ends as its connection has been lost for too long."""
        return False

    def hangs(self, since: int) -> bool:
        """Whether the client has ended a call that a broker which hangs does not answer, since so long (us)."""
        return False

    def act_late(self) -> None:
        """What the broker does once it goes on: nobody waits for it."""
        self.act()

    def has_credits(self) -> bool:
        """Whether it can leave; else it goes on by itself."""
        return True

    def leave(self) -> None:
        """The request leaves the client."""

    def on_request(self, epoch: int) -> None:
        """The broker has it; a slave that copies it has to have it too."""
        broker = self.client.at
        if broker is not None and broker.role == "paused":
            hanging.wait(self, epoch)
            return
        replica = (
            broker.served_journal.replica if broker is not None and broker.served_journal is not None else None
        )
        if broker is None or replica is None or not self.persistent:
            self._on_stored(epoch)
        else:
            answer = (self.lab.line(replica, broker), epoch)
            self.lab.line(broker, replica).carry(self._on_replicated, answer, 0, self.size)

    def _on_replicated(self, answer: tuple[Link, int]) -> None:
        answer[0].carry(self._on_stored, answer[1])

    def _on_stored(self, epoch: int) -> None:
        if self.client.epoch != epoch:
            self._try()
            return
        self.act()
        self.client.downlink.carry(self.on_answered, None)

    def on_answered(self, _: object = None) -> None:
        """The client has the answer."""
        self.answered = True

    # Who waits for it

    def is_over(self, _: object = None) -> bool:
        """Whether it is answered, or has been blocked for too long."""
        return self.answered or self.lab.clock.now - self.client.calling > self.limit

    def told(self, _: object = None) -> int:
        """Return until when (us) whoever ends it halts the clock."""
        return -1

    def tell(self, _: object = None) -> None:
        """Say how it ended: blocked for too long it goes on behind the script."""
        if not self.answered:
            self.client.results.append(f"step {self.step} {self.what}: still blocked")
        self.lab.come_to_rest()


class SendRequest(Request):
    """The messages of one step, one by one: the next one when the broker has the last."""

    def __init__(self, client: Client, action: Producer, first: int) -> None:
        super().__init__(client, "send", time_option(action, "time_limit", BLOCKED * MS))
        self.first, self.persistent, self.properties = first, action.persistent, action.properties
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
        if self.count and self.client.state == "failed":
            said = SESSION_CLOSED if self.client.epoch else NO_SESSION
            self.client.results.append(f"step {self.step} send: {said}")
            self.lab.clients.sending -= self.count
            self._end()
        elif self.count and self.client.at is not None and self.client.at.role == "paused":
            hanging.query(self)
        elif self.count:
            self.lab.later(wait, self.make)
        else:
            self._end()

    def refuse_query(self) -> None:
        """The program cannot make its producer: the broker says nothing of the address."""
        self.client.results.append(f"step {self.step} {self.what}: {NO_ANSWER}")
        self.lab.clients.sending -= self.count
        self._end()

    def hangs(self, since: int) -> bool:
        """Who sends a message that is not persistent does not wait for an answer; else it is not sent."""
        assert self.message is not None  # it has left
        if self.persistent and since < self.client.options["call_timeout"] * MS:
            return False
        self.late.append(self.message)
        if self.persistent:
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
        self.lab.clients.sending -= self.count
        self._end()
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
            if client.state != "failed":
                to = client.at.node if client.at is not None else -1
                self.message.row = self.lab.message(SENT, self.message, client.at, client.node, to)
                self.dest_no = self.message.dest_no

    def has_credits(self) -> bool:
        """Whether the client has credits for an address that can be full; one that gets none may not send."""
        client, window = self.client, int(self.client.options["producer_window_size"])
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
            self.lab.clients.sending -= self.count - self.sent
            self._end()
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

    def _end(self) -> None:
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
        self.began = now if self.persistent or self.interval or not place else self.began
        made.due = self.began + self.delay if self.delay else 0
        made.expires = now + self.time_to_live if self.time_to_live else 0
        return made
