"""A client that receives: what it takes of its buffer, and how that is acknowledged (Artemis rules 2 and 9)."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker import expiry
from mqlab.products.artemis.broker.messages import MessageReference, Queue, Taker
from mqlab.products.artemis.client.clients import ROLLED_BACK, Client
from mqlab.products.artemis.client.consumer_credits import UNLIMITED, ConsumerCredits
from mqlab.products.artemis.client.reconnection import MS
from mqlab.products.artemis.client.requests import FAILOVER
from mqlab.spec.action import Consumer as Consumes
from mqlab.spec.artemis.script import lasting
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.site import Site

# Bound once: reading a member of an enumeration costs ten times as much as a name.
RECEIVED, ACKNOWLEDGED = int(Kind.Received), int(Kind.Acknowledged)
CALLED = ("client", "individual")  # modes in which a program acknowledges
LOOP = 100 * MS  # how long each call of a loop that receives everything waits
# Until the buffer of a journal is written (`DEFAULT_JOURNAL_BUFFER_TIMEOUT_NIO`: 3.3 ms), and the way there. In
# 20 plays what was acknowledged at once before a kill was lost; 50 ms before, in 10 plays, it was not.
JOURNAL = 10 * MS
BATCH = 1 << 20  # bytes of messages that are acknowledged together with dups_ok (`DEFAULT_ACK_BATCH_SIZE`)


class ReceivingClient(Client, Taker):
    """A session with a buffer, and what it has taken of it."""

    def __init__(self, lab: Site, action: Consumes) -> None:
        super().__init__(lab, action)
        self.dest, self.selector, self.mode = lasting(action.reads), action.selector, action.ack_mode
        # Its acknowledgements take effect by themselves (`autoCommitAcks`).
        self.autocommits = self.mode in ("auto", "dups_ok")
        self.since = 0  # us, when it began to receive everything, or took a message
        self.receiving, self.last_call = action.receiving, 0  # us, when the last call of its loop ends
        self.busy = False  # something is done after a message
        self.round = 0  # counts how often the buffer was given back
        self.flow = ConsumerCredits(self, self.options["consumer_window_size"], self.dest.name)
        self.acknowledges = bool(action.options.get("acknowledge", action.acknowledge is not False))
        self.buffer: list[MessageReference] = []  # also what is on its way to it, at the end
        self.arrived = 0  # how many of the buffer have come
        self.blocked_since = 0  # us, a call that receives, which the script does not wait for
        self.acknowledges_late = 0  # a message (its number), as soon as it is connected
        self.stale: list[MessageReference] = []  # of a buffer that was lost, until it is connected again
        self.unacknowledged: list[MessageReference] = []
        self.acknowledging: list[MessageReference] = []  # acknowledged, and the broker does not know yet
        # What its last calls that receive acknowledged, each with when (us), and the step of the script.
        self.latest: list[tuple[int, MessageReference]] = []
        self.latest_step = -2
        self.received = array("i")
        self.redelivered: list[int] = []
        self.queue: Queue | None = None

    def takes_stale(self) -> bool:
        """Whether a call that receives takes what the lost connection has brought.

        An automatic acknowledgement goes into the dead connection after 30 s (`ChannelImpl.send` of 2.4.0).
        """
        gives_up = 0 < self.blocked_since <= self.lab.clock.now - FAILOVER * MS
        return self.state == "reconnecting" and bool(self.stale) and (self.mode != "auto" or gives_up)

    def acknowledge_stale(self) -> int:
        """Take the message that a call had before its acknowledgement was blocked; it comes again.

        Only an automatic acknowledgement is within the call (`ActiveMQMessageConsumer.getMessage` of 2.4.0).
        """
        stale, self.stale = self.stale[:1] if self.mode == "auto" else [], []
        for item in stale:
            self._take_stale(item)
        return len(stale)

    def _take_stale(self, item: MessageReference) -> None:
        self.received.append(item.message.number)
        self.redelivered += [item.message.number] * (item.delivery_count > 0)
        self.rollback_only |= not self.autocommits
        self.lab.message(RECEIVED, item.message, self.at, to=self.node, cause=item.row)

    def receive_one(self, acknowledge: bool = True) -> bool:
        """Take one message, whatever becomes of its acknowledgement; False if there is none."""
        if self.stale and self.takes_stale():
            item = self.stale.pop(0)
            self._take_stale(item)
            if self.mode == "auto":  # the next one's acknowledgement is blocked as long
                self.blocked_since = self.lab.clock.now
            if acknowledge and self.mode in CALLED:
                self.acknowledges_late, self.stale = item.message.number, []
            return True
        while self.arrived and 0 < self.buffer[0].message.expires <= self.lab.clock.now:
            self.arrived -= 1
            self.acknowledging.append(self.buffer.pop(0))
            self.flow.give_back(self.flow.size(self.acknowledging[-1]))
            self.flow.ask()
            self.uplink.carry(self._on_expired, self.acknowledging[-1])
        if not self.arrived:
            return False
        self.arrived -= 1
        item = self.buffer.pop(0)
        flow, message = self.flow, item.message
        flow.taken += flow.headers + message.size + message.extra
        if flow.taken >= flow.half:
            flow.give_back()
        number, self.since = message.number, self.lab.clock.now
        self.received.append(number)
        if item.delivery_count:
            self.redelivered.append(number)
            self.lab.message(Kind.Redelivered, item.message, self.at, to=self.node, cause=item.row)
        item.row = self.lab.message(RECEIVED, item.message, self.at, cause=item.row)
        self.unacknowledged.append(item)
        if self.mode != "auto" and not self._is_acknowledged(acknowledge):
            return True
        if self.mode in CALLED and self.rollback_only:
            self.results.append(f"step {self.lab.step_no} acknowledge {number}: {ROLLED_BACK}")
            self.undo()
            return True
        items, self.unacknowledged = self.unacknowledged, []
        self.worked = False
        if self.mode == "individual":
            items, self.unacknowledged = [item], items[:-1]
        self.acknowledging += items
        self.uplink.carry(self._on_acknowledged, items)
        return True

    def undo(self) -> None:
        """Roll back, as an acknowledgement is refused."""
        self.roll_back()

    def _is_acknowledged(self, acknowledge: bool) -> bool:
        """Whether the message that was just taken is acknowledged now.

        With dups_ok messages are together, or as the consumer is closed (`ClientConsumerImpl.acknowledge`).
        """
        if self.mode == "dups_ok":
            return sum(map(self.flow.size, self.unacknowledged)) >= BATCH
        self.worked = True
        return acknowledge and self.mode in CALLED

    def found_nothing(self) -> None:
        """A call that receives has ended: its question to the broker counts as work of the session, too.

        So a session that only looked is rolled back by a fail-over (`ClientConsumerImpl.receive`, `workDone`).
        """
        self.worked |= not self.autocommits
        self.flow.end_call()

    def rest(self) -> None:
        """Its session was stopped, and is not started again: nobody gives it more."""
        self.flow.balance, self.full, self.arrived = -UNLIMITED, True, 0
        self.round += 1

    def end_loop(self) -> None:
        """A loop that receives everything ends with the call under way: one message more may come in it.

        Of one that has waited for longer than a call it is not known where it is: half of a call is left.
        """
        now = self.lab.clock.now
        if self.busy:
            self.receiving = False
            return
        since = now - self.since
        self.last_call = now + (LOOP - since if since < LOOP else LOOP // 2)
        self.lab.later(self.last_call - now, self.stop_loop, self.last_call)

    def stop_loop(self, call: int) -> None:
        """That call is over."""
        if call and self.last_call == call:
            self.receiving, self.last_call = False, 0
            self.found_nothing()

    def _on_expired(self, item: MessageReference) -> None:
        """The broker is told of a message that has expired in the buffer."""
        if self.at is not None and self.queue is not None and item in self.acknowledging:
            self.acknowledging.remove(item)
            expiry.end(self.at, self.queue, item)

    def _on_acknowledged(self, items: list[MessageReference]) -> None:
        """The broker forgets what was acknowledged, if it is not to be delivered once more."""
        for item in items:
            if item in self.acknowledging:
                self.acknowledging.remove(item)
                self.lab.message(ACKNOWLEDGED, item.message, self.at, self.node, cause=item.row)
        if not self.receiving:
            if self.latest_step < self.lab.clients.first_receive(self.lab.step_no):
                self.latest = []
            self.latest_step = self.lab.step_no
            self.latest += ((self.lab.clock.now, item) for item in items)

    def late_acknowledgements(self) -> list[MessageReference]:
        """Return what was acknowledged last: it is not in the journal yet, nor in a slave's copy.

        That is in the step before, or in receive steps that follow one another. Nobody waits for it, whatever
        the mode (`ActiveMQMessage.acknowledge` of 2.4.0; Artemis rule 9.24).
        """
        if self.latest_step < self.lab.clients.first_receive(self.lab.step_no - 1):
            return []
        return [item for at, item in self.latest if self.lab.clock.now <= at + JOURNAL]

    def settle(self) -> None:
        """Acknowledge all that was taken, and let what was sent become visible."""
        super().settle()
        for item in self.unacknowledged:
            self.lab.message(Kind.Acknowledged, item.message, self.at, self.node, cause=item.row)
        self.unacknowledged = []
