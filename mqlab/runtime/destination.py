"""Queues and topics of one broker.

A queue gives each message to the first subscription in its list that has room and accepts it; the
list is ordered by priority, then by turn, and whoever got a message goes behind its equals
(Fuse 3; activemq-5.17-observed.md, rule 6). A topic gives every subscription a copy.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mqlab.runtime import virtual
from mqlab.runtime.message import Message
from mqlab.runtime.subscription import Subscription
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.broker import Broker

GROUP = "JMSXGroupID"

# Bound once: reading a member of an enumeration costs ten times as much as a name.
ONLY_TAKER = int(Rule.only_taker)
TURN = int(Rule.turn)
HIGHER_PRIORITY = int(Rule.higher_priority)
EXCLUSIVE = int(Rule.exclusive)


class Queue:
    """A queue: `subs` in dispatch order, `pending` what nobody has taken yet, in order."""

    def __init__(self, broker: Broker, dest: Destination, no: int) -> None:
        self.broker, self.dest, self.no = broker, dest, no
        self.subs: list[Subscription] = []
        self.pending: deque[Message] = deque()
        self.held: dict[Message, None] = {}  # all that is not acknowledged, in order of arrival
        self.enqueued = self.dequeued = self.dispatched = self.forwarded = self.arrivals = 0
        self.virtual = virtual.is_virtual(broker, dest)
        self.numbers: set[int] = set()  # of what is held: the audit drops a second copy
        audit = broker.policy(dest, "enable_audit") is not False
        self.by_priority = broker.policy(dest, "use_consumer_priority") is not False
        self.audits = audit and broker.lab.rules.audits_queues
        self.exclusive: Subscription | None = None
        self.groups: dict[str, Subscription] = {}  # message group -> who owns it

    def join(self, sub: Subscription) -> None:
        """Add a subscription behind those of its priority."""
        self._insert(sub)
        if sub.exclusive and (self.exclusive is None or sub.priority > self.exclusive.priority):
            self.exclusive = sub
        self.dispatch()
        self._note_pending()

    def _insert(self, sub: Subscription) -> None:
        place = len(self.subs)
        if self.by_priority:
            while place and self.subs[place - 1].priority < sub.priority:
                place -= 1
        self.subs.insert(place, sub)

    def leave(self, sub: Subscription) -> None:
        """Remove a subscription; what it has not acknowledged goes back to its place."""
        self.subs.remove(sub)
        self.groups = {group: owner for group, owner in self.groups.items() if owner is not sub}
        if sub is self.exclusive:
            self.exclusive = next((other for other in self.subs if other.exclusive), None)
        back = [message for message in sub.outstanding if message.dest_no == self.no]
        self.put_back(back)
        self.dispatch()
        self._note_pending()

    def restore(self, messages: Iterable[Message]) -> None:
        """Take messages out of the store, as they were before the broker stopped."""
        for message in messages:
            self.arrivals += 1
            message.turn = self.arrivals
            message.held = 0
            self.held[message] = None
            self.pending.append(message)

    def put_back(self, messages: Iterable[Message]) -> None:
        """Give unacknowledged messages back to the head of the queue, in their order."""
        back = sorted(messages, key=lambda message: message.turn)
        if not back:
            return
        for message in back:
            message.received |= self.broker.lab.rules.marks_all_returned
            message.row = self.broker.note(Kind.Returned, message, cause=message.row)
            message.held = 0
        self.pending.extendleft(reversed(back))

    def arrive(self, message: Message) -> None:
        """Take a message over and hand it on if anybody may have it now."""
        if message.number in self.numbers and self.audits:
            self.broker.note(Kind.Discarded, message, rule=Rule.duplicate, cause=message.row)
            return
        self.numbers.add(message.number)
        self.enqueued += 1
        self.arrivals += 1
        message.turn = self.arrivals
        self.held[message] = None
        # What is pending was tried and refused, and nothing has changed since: only this is new.
        if not self.try_one(message):
            self.pending.append(message)

    def expire(self, message: Message) -> bool:
        """Drop *message* if it is too old: to the dead letters, if it is persistent."""
        if not message.expires or self.broker.clock.now < message.expires:
            return False
        self.dequeued += 1
        self.held.pop(message, None)
        self.numbers.discard(message.number)
        self.broker.bury(message)
        return True

    def try_one(self, message: Message) -> bool:
        """Hand *message* to whose turn it is; False if nobody takes it."""
        only = self.exclusive
        if message.properties and GROUP in message.properties:
            only = only or self.groups.get(message.properties[GROUP])
        for sub in self.subs:
            if only is not None and sub is not only:
                continue
            if len(sub.outstanding) - sub.extension < sub.prefetch and not (
                sub.picky and sub.refusal(message)
            ):
                rule = ONLY_TAKER if len(self.subs) == 1 else self._turn(sub)
                if message.properties:
                    self._note_group(message, sub)
                sub.deliver(message, rule)
                return True
        self._note_held(message)
        return False

    def _note_group(self, message: Message, sub: Subscription) -> None:
        """Remember who owns the group of *message*; a negative sequence number closes it."""
        group = message.properties.get(GROUP)
        if group is not None:
            self.groups[group] = sub
            if int(message.properties.get("JMSXGroupSeq", 1)) < 0:
                del self.groups[group]

    def _turn(self, sub: Subscription) -> int:
        """Move the chosen one behind its equals and say why it was chosen."""
        subs, last = self.subs, len(self.subs) - 1
        if sub is self.exclusive:
            return EXCLUSIVE
        place = subs.index(sub)
        alone = True
        priority = sub.priority
        if not self.broker.strict_order(self.dest):
            while place < last and (not self.by_priority or subs[place + 1].priority == priority):
                subs[place] = subs[place + 1]
                place += 1
                alone = False
            subs[place] = sub
        if alone and place < last and (place == 0 or subs[place - 1].priority != priority):
            return HIGHER_PRIORITY
        return TURN

    def _note_held(self, message: Message) -> None:
        rule = self.reason(message)
        if rule != message.held:
            message.held = rule
            self.broker.note(Kind.Held, message, rule=rule, cause=message.row)

    def reason(self, message: Message) -> int:
        """Return the rule for which nobody takes *message*: a full taker first, then a refusal."""
        if not self.subs:
            return Rule.no_subscription
        refusals: list[int] = []
        for sub in self.subs:
            if self.exclusive is not None and sub is not self.exclusive:
                continue
            if sub is not self.groups.get(message.properties.get(GROUP, ""), sub):
                refusals.append(Rule.group_owner)
                continue
            refusal = sub.refusal(message)
            if not refusal:
                return Rule.prefetch_full
            refusals.append(refusal)
        return refusals[-1]

    def dispatch(self) -> None:
        """Offer all that is pending again, in order; what nobody accepts is skipped."""
        skipped: list[Message] = []
        pending = self.pending
        takers = self.subs if self.exclusive is None else [self.exclusive]
        while pending and not all(sub.full for sub in takers):
            message = pending.popleft()
            if not self.expire(message) and not self.try_one(message):
                skipped.append(message)
        pending.extendleft(reversed(skipped))

    def _note_pending(self) -> None:
        for message in self.pending:
            self._note_held(message)

    def acknowledged(self, message: Message, sub: Subscription, room: bool) -> None:
        """Forget *message*; with *room*, its subscription was full and now is not."""
        self.dequeued += 1
        self.forwarded += sub.network
        self.held.pop(message, None)
        self.numbers.discard(message.number)
        if room and self.pending:
            self.dispatch()


class Topic:
    """A topic: every subscription gets a copy, nothing is kept."""

    def __init__(self, broker: Broker, dest: Destination, no: int) -> None:
        self.broker, self.dest, self.no = broker, dest, no
        self.subs: list[Subscription] = []
        self.enqueued = self.dequeued = self.dispatched = self.forwarded = 0
        self.virtual = virtual.is_virtual(broker, dest)

    held: dict[Message, None] = {}  # a topic keeps nothing

    def restore(self, messages: Iterable[Message]) -> None:
        """Take nothing out of the store: topics keep nothing there."""

    def dispatch(self) -> None:
        """Hand on what full subscriptions could not take before."""
        for sub in self.subs:
            sub.refill()

    def join(self, sub: Subscription) -> None:
        """Add a subscription behind the others; a durable one gets what was kept for it."""
        self.subs.append(sub)
        sub.topics += 1
        sub.refill()

    def leave(self, sub: Subscription) -> None:
        """Remove a subscription."""
        self.subs.remove(sub)

    def arrive(self, message: Message) -> None:
        """Give every subscription that wants the message a copy of its own."""
        self.enqueued += 1
        taken = 0
        for sub in list(self.subs):
            copy = message.copy()
            copy.row = message.row
            taken += sub.offer(copy)
        if not taken:
            self.broker.note(
                Kind.Discarded, message, rule=Rule.no_subscription, cause=message.row
            )  # fmt: skip

    def acknowledged(self, message: Message, sub: Subscription, room: bool) -> None:
        """Count a copy as done."""
        # In 5.5 a durable subscriber counts nowhere, another only while it has one topic alone.
        counts = sub.durable is None and sub.topics == 1
        self.dequeued += counts or self.broker.lab.rules.counts_all_topic_acks
        self.forwarded += sub.network
