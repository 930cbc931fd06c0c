"""Consumers: what they hold, take, acknowledge, give back (Artemis rules 2 and 9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.engine.clock import NEVER
from mqlab.products.artemis.broker import last_values, redelivery
from mqlab.products.artemis.broker.broker import Broker, Refused
from mqlab.products.artemis.broker.messages import MessageReference, Queue
from mqlab.products.artemis.client import receive_loop
from mqlab.products.artemis.client.clients import CLOSED, OVER, ROLLED_BACK, SESSION_CLOSED
from mqlab.products.artemis.client.receiving_client import CALLED, LOOP, ReceivingClient
from mqlab.products.artemis.network import redistribution
from mqlab.spec.action import Consumer as Consumes
from mqlab.spec.values import duration
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.site import Site

TOO_MANY = "JMSException / ActiveMQQueueMaxConsumerLimitReached AMQ119200"


class Consumer(ReceivingClient):
    """A consumer with a connection and a session of its own."""

    role = "consumer"

    def __init__(self, lab: Site, action: Consumes) -> None:
        super().__init__(lab, action)
        self.delay, self.commits_each = duration(action.delay), bool(action.options.get("commit_each"))
        self.loops = bool(self.delay or self.commits_each)  # something is done after each message
        durable = action.durable or action.subscription_name
        self.client_id, name = action.client_id, action.subscription_name or action.name
        self.subscription = f"{action.client_id}.{name}" if durable else ""
        self.sub, self.refused = -1, False  # by its broker
        self.calls = 0  # that wait behind its opening
        self.closes = False  # as soon as they are over
        self.asks = False  # a call that receives waits for the connection

    def opened(self) -> None:
        """Subscribe, or go on in the session that stayed."""
        assert self.at is not None
        self._end_waiting()
        if self.queue is None and not self.refused:
            try:
                queue = self._queue(self.at)
            except Refused as refused:
                self._refused(str(refused), Reason.not_created)
                return
            if queue.most is not None and queue.most <= len(queue.consumers):
                self._refused(TOO_MANY, Reason.most_consumers)
                return
            self.queue = queue
            queue.consumers.append(self)
            queue.redistributor = NEVER
            self.flow.open()
            self.sub = self.lab.notes.recorder.name_subscription(
                f"{self.dest} at {self.at.name} by {self.name}"
                + (f" where {self.selector}" if self.selector else "")
            )
            to, rule = self.at.node, Reason.local_consumer
            self.lab.event(Kind.Subscribed, self.at, self.node, to, sub=self.sub, rule=rule, dest=self.dest)
            self.lab.balancing.dispatch_queue(self.at, queue, rounds=2)  # as it gives credits, as it starts
            redistribution.begin(self.lab.balancing, queue)
        if self.closes and not self.calls:
            self.close()
        self.since = self.lab.clock.now
        self.go_on()

    def _refused(self, said: str, rule: Reason) -> None:
        """The program has a connection and a session, which fail over like any, and no consumer."""
        self.lab.event(Kind.Failed, self.at, frm=self.node, rule=rule, dest=self.dest)
        self.results.append(f"step {self.lab.step_no} open_consumer: {said}")
        self.refused, self.receiving = True, False

    def _queue(self, broker: Broker) -> Queue:
        """Return the queue, that of the durable subscription, or a new one of its own."""
        name = self.dest.name
        if self.dest.is_queue:
            return self.lab.queue(broker, name)
        if self.subscription:
            found = broker.journal.queues.get(self.subscription)
            if found is not None and (found.topic, found.selector) != (name, self.selector):
                self._delete(broker, found)  # another topic or selector: a new subscription
            return self.lab.queue(broker, self.subscription, name, self.selector)
        own = f"temporary:{name}", name, False, self.selector, "left", f"temporary of {self.name}"
        return self.lab.new_queue(broker, *own)

    def end_session(self, tried: bool) -> None:
        """Its session is gone: what it held goes back to its place."""
        if self.receiving and self.lab.clock.now >= self.since + LOOP:
            self.found_nothing()
        self.rollback_only |= self.worked
        self.stale = [replace(item) for item in self.buffer[: self.arrived]]
        self.leave(taken=tried, buffered=tried, rule=Reason.connection_lost)
        super().end_session(tried)

    def take(self, item: MessageReference) -> None:
        """A message is sent to the client's buffer."""
        self.buffer.append(item)
        flow, message = self.flow, item.message
        flow.balance -= flow.headers + message.size + message.extra
        self.full = flow.balance <= 0
        self.downlink.carry(self._on_message, self.round, 0, item.message.size)

    def _on_message(self, round: int) -> None:
        """A message is in the buffer; a receiving client takes it at once."""
        if round == self.round:
            self.arrived += 1
            self.go_on()

    def go_on(self, _: object = None) -> None:
        """Take what is there, while receiving."""
        while self.receiving and not self.busy:
            # As `ReceiveCall.has_message` says; a call less for each message.
            if not (self.arrived and self.state == "connected") and not (self.stale and self.takes_stale()):
                break
            if not self.receive_one(self.acknowledges):
                return
            if self.last_call:
                self.receiving, self.last_call = False, 0
            if self.loops and not self.busy:
                receive_loop.work(self)
        if self.full and self.receiving and not self.busy:
            self.flow.ask()

    def _end_waiting(self) -> None:
        """The connection is up: what a call or the loop has waited for is over, and all comes again."""
        if self.acknowledges_late:
            said = f"step {self.lab.step_no} acknowledge {self.acknowledges_late}: {ROLLED_BACK}"
            self.results.append(said)
            self.acknowledges_late, self.rollback_only, self.worked = 0, False, False
        if self.receiving or self.stuck:
            had = not self.busy and self.acknowledge_stale()
            self.stale, self.stuck = [], False
            if had and self.loops:
                receive_loop.work(self)

    def undo(self) -> None:
        """Roll back, as an acknowledgement is refused: while it receives everything others go on."""
        if self.receiving:
            receive_loop.roll_back(self)
        else:
            super().undo()

    def roll_back(self) -> None:
        """Everything comes again, here only what others do not take; what was taken counts as tried."""
        super().roll_back()
        self._give_back(first=False)

    def _give_back(self, first: bool) -> None:
        self.rollback_only = False
        for item in self.buffer:  # one after the other: only with half of the window they go to the broker
            self.flow.give_back(self.flow.size(item))
        self.requeue(taken=True, buffered=False, rule=Reason.rolled_back, delayed=True, first=first)
        if self.at is not None and self.queue is not None:
            for stopped in (self, None):
                self.lab.balancing.dispatch_queue(self.at, self.queue, stopped)

    def recover(self, step: int) -> None:
        """What was taken and not acknowledged comes again; a transacted session cannot (JMS 2.0, 6.2.10).

        What would have been taken next counts as tried, too (`considerLastMessageAsDelivered` of 2.4.0).
        """
        if self.mode == "dups_ok":
            self.settle()
        if self.mode == "transacted":
            self.results.append(f"step {step} recover: IllegalStateException")
        elif self.state in OVER:
            self.results.append(f"step {step} recover: {SESSION_CLOSED}")
        else:
            self._give_back(first=True)

    def requeue(
        self, taken: bool, buffered: bool, rule: Reason, *, delayed: bool = False, first: bool = False
    ) -> None:
        """What it holds goes back to its place, counted as tried or not, if it was not tried too often."""
        items = [*self.unacknowledged, *self.buffer]
        if self.mode == "individual":  # its broker knows of what was taken only as it is acknowledged
            tried = items if buffered else items[:first]
        else:
            tried = [*self.unacknowledged] * taken + (self.buffer if buffered else self.buffer[:first])
        self.unacknowledged, self.buffer, self.arrived = [], [], 0
        self.round += 1
        if self.queue is not None and self.at is not None:
            for item in tried:
                item.delivery_count += 1
            dead, back = redelivery.sort_out(self.at, self.queue, items)
            if dead and redelivery.breaks_off(self.at, self.queue, dead):
                self.queue.strand(items)
                return
            if self.lab.keeps_last_values:
                back = last_values.returned(self.at, self.queue, back)
            self.queue.requeue(back)
            late = back if delayed else [item for item in back if item in tried]
            redelivery.delay(self.at, self.queue, late)
            for item in back:
                self.lab.notes.returned(item, self.queue, self.at, rule)
            dead_letters = Kind.DeadLettered, "dead_letter_address", Reason.delivered_too_often
            for item in dead:
                redelivery.move(self.at, self.queue, item, *dead_letters)

    def leave(self, taken: bool, buffered: bool, rule: Reason) -> None:
        """Leave the queue, after giving back what is held, counted as tried or not."""
        queue, broker = self.queue, self.at
        if queue is None or broker is None:
            return
        queue.remove_consumer(self)
        self.unacknowledged, self.acknowledging = [*self.acknowledging, *self.unacknowledged], []
        self.requeue(taken, buffered, rule)
        self.queue = None
        if not queue.consumers:
            redistribution.add(self.lab.balancing, broker, queue)
        empty = not queue.consumers and not queue.depth
        if queue.auto_delete == "left" or (queue.auto_delete == "empty" and empty):
            self._delete(broker, queue)
        elif queue.purges and not queue.consumers:
            self._empty(broker, queue, Reason.nobody_reads)

    def _delete(self, broker: Broker, queue: Queue) -> None:
        queues = broker.journal.queues
        queues.pop(next(key for key, found in queues.items() if found is queue))
        self.lab.balancing.outdated = True
        if self.lab.balancing.is_bound(broker, queue.address, queue.topic is None):
            broker.journal.addresses.add(queue.address)
        self._empty(broker, queue, Reason.no_subscription)

    def _empty(self, broker: Broker, queue: Queue, rule: Reason) -> None:
        for item in queue.waiting:
            self.lab.message(Kind.Discarded, item.message, broker, rule=rule, cause=item.row)
        queue.waiting.clear()
        queue.latest.clear()
        queue.scheduled = 0

    def close(self) -> bool:
        """Close its connection; returns whether that is blocked, while it looks for its broker.

        Its client does one thing after the other: a close waits for the opening, and behind a receiver until a
        broker is found. Else it ends the search, unless a client-acknowledge session has messages to give back.
        """
        broker, away = self.at, self.state == "reconnecting"
        self.go_on()
        receive_loop.finish(self)
        if self.mode == "dups_ok" and broker is not None:
            self.settle()
        blocked = self.state == "new" or (away and self.mode in CALLED and self.rollback_only)
        if (self.calls and self.state in ("new", "reconnecting")) or (away and (self.receiving or self.stuck)):
            self.closes, self.receiving = True, False
            self.results.append(f"step {self.lab.step_no} close_consumer: still blocked")
            return True
        self._on_acknowledged(list(self.acknowledging))
        self.drop(Reason.connection_lost)
        self.leave(taken=True, buffered=False, rule=Reason.consumer_left)
        self.state, self.at = "closed", None
        if broker is not None and not self.refused:
            self.lab.event(Kind.Unsubscribed, broker, frm=self.node, sub=self.sub, dest=self.dest)
        self.failovers += ["failover_failed"] * away
        if blocked:
            self.results.append(f"step {self.lab.step_no} close_consumer: still blocked")
        self.lab.deliver()
        return blocked

    def on_attempts_exhausted(self) -> None:
        """A receiver sees that its connection is closed."""
        super().on_attempts_exhausted()
        if self.receiving:
            if not self.busy:
                self.acknowledge_stale()
            self.see_closed()

    def see_closed(self) -> None:
        """Each call that receives from a connection that was given up, or closed, is told so."""
        if self.state in OVER and self.epoch:
            self.results.append(CLOSED)
