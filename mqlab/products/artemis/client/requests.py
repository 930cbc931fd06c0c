"""Requests: what a client asks of its broker, over its line.

A request waits until the client can talk to its broker. One whose connection breaks on the way is
made again. What lies at a broker that hangs is done once that goes on, though nobody waits for it any more
(Artemis rule 9.17). A persistent message goes to the slave that copies the broker, and back, before the broker
answers (AMQ Broker 7.1, 21.1; Artemis rule 2.5).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from mqlab.engine.link import Link
from mqlab.products.artemis.client.reconnection import LOOKS, MS

if TYPE_CHECKING:
    from mqlab.products.artemis.client.clients import Client

NO_ANSWER = "JMSException / ActiveMQConnectionTimedOutException AMQ119014"
NO_SESSION = "NullPointerException"  # of a client whose opening has failed
BLOCKED = 20_000  # ms after which a call counts as blocked
# A call waits so long (ms) for a connection that is lost (`DEFAULT_CALL_FAILOVER_TIMEOUT`). Then it goes into
# the dead one, and is not answered within callTimeout (`ChannelImpl.sendBlocking` of 2.4.0).
FAILOVER = 30_000


class Request(ABC):
    """A request of a client: `act` is what the broker does when it has come."""

    waits = True  # for the broker's answer, so for a slave that copies it, too
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
        if client.is_blocked(self.waits):
            now = self.lab.clock.now
            self.lost = (self.lost or now) if client.state == "reconnecting" else 0
            if self.lost and now >= self.lost + (FAILOVER + client.options["call_timeout"]) * MS:
                self.lost = 0
                if self.times_out():
                    return
            self.lab.later(LOOKS, self._try)
            return
        self.lost = 0
        if self.lab.refuses_sends and not self.has_credits():
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
            self._look((epoch, self.lab.clock.now, False))
            return
        replica = (
            broker.served_journal.replica if broker is not None and broker.served_journal is not None else None
        )
        if broker is None or replica is None or not self.waits:
            self._on_stored(epoch)
        else:
            answer = (self.lab.line(replica, broker), epoch)
            self.lab.line(broker, replica).carry(self._on_replicated, answer, 0, self.size)

    def _look(self, call: tuple[int, int, bool]) -> None:
        """Look if the broker goes on with what lies there since a time (us), or the client has *ended* it."""
        (epoch, since, ended), client = call, self.client
        if client.at is not None and client.epoch == epoch and client.at.role == "paused":
            ended = ended or self.hangs(self.lab.clock.now - since)
            self.lab.later(LOOKS, self._look, (epoch, since, ended))
        elif not ended:
            self.on_request(epoch)
        elif client.epoch == epoch:
            self.act_late()

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
            self.client.blocked_step = self.step
        self.lab.come_to_rest()
