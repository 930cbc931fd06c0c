"""A queue of one broker.

It gives each message to the first subscription in its list that has room and accepts it; the list
is ordered by priority, then by turn, and whoever got a message goes behind its equals
(Fuse 3; ActiveMQ rule 1.6).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory, dead_letter_strategy, virtual_destinations
from mqlab.products.activemq.broker.memory_usage import MemoryUsage
from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.broker.message_groups import MessageGroups
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker

GROUP, GROUP_SEQUENCE, FIRST_OF_GROUP = "JMSXGroupID", "JMSXGroupSeq", "JMSXGroupFirstForConsumer"
WAIT_FOR_CONSUMERS = 1_000_000  # us, when only their number is given

# Bound once: reading a member of an enumeration costs ten times as much as a name.
PREFETCH_FULL = int(Reason.prefetch_full)
ONLY_TAKER = int(Reason.only_taker)
TURN = int(Reason.turn)
HIGHER_PRIORITY = int(Reason.higher_priority)
EXCLUSIVE = int(Reason.exclusive)
ALREADY_VISITED = int(Reason.already_visited)
HOPS = (ALREADY_VISITED, int(Reason.ttl_used_up))


class Queue:
    """A queue: `subs` in dispatch order, `pending_messages` what nobody has taken yet, in order."""

    def __init__(self, broker: Broker, dest: Destination, no: int) -> None:
        self.broker, self.dest, self.no = broker, dest, no
        self.subs: list[Subscription] = []
        self.shared = False  # whether there are several
        self.pending_messages: deque[Message] = deque()
        self.not_paged_in = 0  # how many at its end came while nobody was there to page them in
        self.messages: dict[Message, None] = {}  # all that is not acknowledged, in order of arrival
        self.enqueued = self.dequeued = self.dispatched = self.forwarded = self.arrivals = 0
        self.virtual = virtual_destinations.is_virtual(broker, dest)
        self.numbers: dict[int, None] = {}  # of what is held: the audit drops a second copy
        self.policy = policy = broker.policy_for(dest)
        self.by_priority: bool = policy["use_consumer_priority"]
        self.takes_turns: bool = not policy["strict_order_dispatch"]
        self.sorts: bool = policy["prioritized_messages"]
        self.max_page_size: int = policy["max_page_size"]
        self.enable_audit: bool = policy["enable_audit"] and broker.lab.rules.audits_queues
        self.hides_duplicates: bool = policy["enable_audit"] and broker.lab.rules.hides_duplicates
        self.hidden_duplicates = 0  # second copies that count as held, and go nowhere
        self.exclusive: Subscription | None = None
        self.groups = MessageGroups()
        self.memory = MemoryUsage(broker, self)
        self.consumers_before_dispatch: int = policy["consumers_before_dispatch_starts"]
        self.waits_for_consumers = False
        self.sweep_at = 0

    def join(self, sub: Subscription) -> None:
        """Add a subscription behind those of its priority."""
        place = len(self.subs)
        while self.by_priority and place and self.subs[place - 1].priority < sub.priority:
            place -= 1
        self.subs.insert(place, sub)
        self.shared = len(self.subs) > 1
        if self.groups.used:
            self._spare_owners()
        if self.not_paged_in:
            self.page_in()
        exclusive = sub.exclusive or self.policy["all_consumers_exclusive_by_default"]
        if exclusive and (self.exclusive is None or sub.priority > self.exclusive.priority):
            self.exclusive = sub
        if self.consumers_before_dispatch:
            self._await_consumers()
        self.dispatch()
        if self.pending_messages:
            self._note_pending()

    def page_in(self) -> None:
        """Take up what came while there was no consumer: what is in the store comes first."""
        pending, count = self.pending_messages, min(self.not_paged_in, len(self.pending_messages))
        if not self.sorts or count == len(pending):
            fresh = [pending.pop() for _ in range(count)]
            live = [message for message in reversed(fresh) if not self.expire(message)]
            pending.extend(live if self.sorts else sorted(live, key=lambda message: not message.persistent))
        self.not_paged_in = 0

    def _await_consumers(self) -> None:
        """Hold back, from the first consumer on, until there are enough or it took too long."""
        if len(self.subs) == 1:
            self.waits_for_consumers = True
            wait = self.policy["time_before_dispatch_starts_ms"] * 1000 or WAIT_FOR_CONSUMERS
            clock = self.broker.clock
            clock.schedule(clock.now + wait, self.on_waited, None)
        elif len(self.subs) >= self.consumers_before_dispatch:
            self.waits_for_consumers = False

    def on_waited(self, _: None) -> None:
        """The time to wait for consumers is over."""
        self.waits_for_consumers = False
        self.dispatch()

    def _spare_owners(self) -> None:
        """Among equals, let those who own fewer message groups come first."""
        if self.broker.lab.rules.spares_group_owners:
            owned = self.groups.owned
            self.subs.sort(key=lambda sub: (-sub.priority * self.by_priority, owned[sub]))

    def leave(self, sub: Subscription, rule: int) -> None:
        """Remove a subscription, by *rule*; what it has not acknowledged goes back to its place."""
        self.subs.remove(sub)
        self.shared = len(self.subs) > 1
        self.groups.forget(sub)
        if sub is self.exclusive:  # whom only a policy makes exclusive does not follow one that asked for it
            every = self.policy["all_consumers_exclusive_by_default"] and not sub.exclusive
            follow = (other for other in self.subs if other.exclusive or every)
            self.exclusive = max(follow, key=lambda other: other.priority, default=None)
        back = [message for message in sub.dispatched if message.dest_no == self.no]
        self.put_back(back, rule, self.broker.lab.rules.marks_all_returned and not sub.has_delivered)
        self.dispatch()
        if self.pending_messages:
            self._note_pending()

    def restore(self, messages: Iterable[Message]) -> None:
        """Take messages out of the store, as they were before the broker stopped."""
        for message in messages:
            message.turn = self.arrivals = self.arrivals + 1
            message.waiting_reason, message.returned = 0, False
            self.messages[message] = None
            self.pending_messages.append(message)
        self._sort()

    def put_back(self, messages: Iterable[Message], rule: int, mark: bool) -> None:
        """Give messages back as they were dispatched, behind those back before; with *mark* as received."""
        pending, before, back = self.pending_messages, [], [*messages]
        while pending and pending[0].returned:
            before.append(pending.popleft())
        for message in back:
            message.received |= mark
            message.row = self.broker.record_message(Kind.Returned, message, rule=rule, cause=message.row)
            message.waiting_reason, message.returned = 0, True
        pending.extendleft(reversed([*before, *back]))
        self._sort()

    def _sort(self) -> None:
        """Order what is pending by JMS priority, if its policy wants that; equals stay in their order."""
        if self.sorts:
            self.pending_messages = deque(sorted(self.pending_messages, key=lambda message: -message.priority))

    def enqueue(self, message: Message) -> None:
        """Take a message over and hand it on if anybody may have it now."""
        number, numbers, pending = message.number, self.numbers, self.pending_messages
        if number in numbers and self._is_second(message):
            return
        numbers[number] = None
        self.enqueued += 1
        message.turn = self.arrivals = self.arrivals + 1
        self.messages[message] = None
        if message.expires and (self.expire(message) or self._sweep_later(message.expires)):
            return
        if pending and self.policy["replay_delay_ms"]:  # some may be old enough by now
            pending.append(message)
            self.dispatch()
            return
        # What is pending was tried and refused, and nothing has changed since: only this is new.
        if (pending and len(pending) >= self.max_page_size) or not self.dispatch_one(message):
            pending.append(message)
            self.not_paged_in += not self.subs
            if self.sorts:
                self._sort()
            elif len(self.pending_messages) > self.max_page_size:
                self._note_held(message)

    def _is_second(self, message: Message) -> bool:
        """Drop a second copy of what is held, if the audit knows of it."""
        knows = self.enable_audit or self.hides_duplicates
        if not knows or (message.path and any(sub.has_come_back(message) for sub in self.subs)):
            return False
        if not self.enable_audit:
            self.enqueued += 1
            self.hidden_duplicates += 1
        self.broker.record_message(Kind.Discarded, message, rule=Reason.duplicate, cause=message.row)
        return True

    # Too old

    def expire(self, message: Message, sub: Subscription | None = None) -> bool:
        """Drop *message* if it is too old: to the dead letters, as the policy says."""
        if not message.expires or self.broker.clock.now < message.expires:
            return False
        self.forwarded += sub is not None and sub.network  # it counts as forwarded (ActiveMQ rule 27.5)
        self.forget(message)
        dead_letter_strategy.expired(self.broker, message)
        return True

    def forget(self, message: Message, sub: Subscription | None = None, was_full: bool = False) -> None:
        """Let go of *message*: it is too old, or *sub* has acknowledged it.

        *was_full*: something is pending, and that subscription was full.
        """
        self.dequeued += 1
        if message in self.messages:
            del self.messages[message]
        if message.number in self.numbers and not self.hides_duplicates:
            del self.numbers[message.number]
        if self.memory.blocked:
            self.memory.left()
        if sub is None:
            return
        if sub.network:
            self.forwarded += 1
            if message.path and not message.answered:  # it may come again
                self.broker.sent_on.add(message.number)
        if self.broker.advisory_subscribers and self.policy["advisory_for_consumed"]:
            advisory.of_message(self.broker, "MessageConsumed", message)
        if self.pending_messages and (was_full or len(self.pending_messages) >= self.max_page_size):
            self.dispatch()

    def _sweep_later(self, due: int) -> bool:
        """See to it that the queue is swept once what falls due then is too old; False."""
        period, clock = self.policy["expire_messages_period_ms"] * 1000, self.broker.clock
        time = -(-due // period) * period if period else 0
        if time and not clock.now < self.sweep_at <= time:
            self.sweep_at = time
            clock.schedule_background(time, self.on_sweep, None)
        return False

    def on_sweep(self, _: None) -> None:
        """Look through what is pending for messages that are too old."""
        if self.broker.running:
            self.pending_messages = deque(m for m in self.pending_messages if not self.expire(m))
            for message in (one for one in self.pending_messages if one.expires):
                self._sweep_later(message.expires)

    # Who gets it

    def dispatch_one(self, message: Message) -> bool:
        """Hand *message* to whose turn it is; False if nobody takes it."""
        if self.waits_for_consumers:
            return False
        only, subs, properties = self.exclusive, self.subs, message.properties
        if properties and GROUP in properties:
            # The first of a sequence frees its group.
            if properties.get(GROUP_SEQUENCE) == 1 and not message.received:
                self.groups.free(properties[GROUP])
            only = only or self.groups.owners.get(properties[GROUP])
        shut: object = self  # the bridge that has just refused it for its way: all its subscriptions do
        for sub in subs if only is None else (only,):
            if len(sub.dispatched) - sub.prefetch_extension < sub.prefetch:
                if sub.may_refuse:
                    if sub.bridge is shut:
                        continue
                    if rule := sub.refusal(message):
                        if rule in HOPS and not self.policy["replay_when_no_consumers"]:
                            shut = sub.bridge
                        continue
                if message.expires and self.expire(message, sub):  # noticed by who takes it (`dispatchPending`)
                    return True
                if properties:
                    self._note_group(message, sub)
                sub.deliver(message, self._turn(sub) if self.shared else ONLY_TAKER)
                return True
        self._note_held(message)
        return False

    def _note_group(self, message: Message, sub: Subscription) -> None:
        """Remember who owns the group of *message*; a negative sequence number closes it."""
        group = message.properties.get(GROUP)
        if group is not None:
            self.groups.used = True
            if group not in self.groups.owners:
                message.properties = {**message.properties, FIRST_OF_GROUP: True}
            self.groups.give(group, sub)
            if int(message.properties.get(GROUP_SEQUENCE, 1)) < 0:
                self.groups.free(group)

    def _turn(self, sub: Subscription) -> int:
        """Move the chosen one behind its equals and say why it was chosen."""
        subs, last = self.subs, len(self.subs) - 1
        if sub is self.exclusive:
            return EXCLUSIVE
        place = subs.index(sub)
        alone = True
        priority = sub.priority
        if self.takes_turns:
            end = last
            while self.by_priority and subs[end].priority != priority:
                end -= 1
            if place < end:  # by the list itself: a ninth of the time with 1,000 consumers
                subs.insert(end, subs.pop(place))
                place, alone = end, False
            if self.groups.used:
                self._spare_owners()
        if alone and place < last and (place == 0 or subs[place - 1].priority != priority):
            return HIGHER_PRIORITY
        return TURN

    def _note_held(self, message: Message) -> None:
        rule = self.reason(message)
        if rule == PREFETCH_FULL:
            for sub in self.subs:
                if sub.full:
                    advisory.of_slow_consumer(self.broker, sub, self.dest)
        if rule != message.waiting_reason:
            message.waiting_reason = rule
            self.broker.record_message(Kind.Held, message, rule=rule, cause=message.row)

    def reason(self, message: Message) -> int:
        """Return the rule for which nobody takes *message*: a full taker first, then a refusal.

        That no bridge takes it back where it has been says least of why it waits here.
        """
        if not self.subs:
            return Reason.no_subscription
        pending, page = self.pending_messages, self.max_page_size
        if len(pending) > page and pending[page - 1].turn < message.turn:
            return Reason.beyond_page
        refusals: list[int] = []
        for sub in self.subs:
            if self.exclusive is not None and sub is not self.exclusive:
                continue
            if sub is not self.groups.owners.get(message.properties.get(GROUP, ""), sub):
                refusals.append(Reason.group_owner)
                continue
            refusal = sub.refusal(message)
            if not refusal:
                return Reason.prefetch_full
            refusals.append(refusal)
        return next((rule for rule in reversed(refusals) if rule != ALREADY_VISITED), refusals[-1])

    def dispatch(self) -> None:
        """Offer all that is pending again, in order; what nobody accepts is skipped."""
        pending, skipped = self.pending_messages, list[Message]()
        takers = self.subs if self.exclusive is None else [self.exclusive]
        while pending and len(skipped) < self.max_page_size and not all(sub.full for sub in takers):
            message = pending.popleft()
            if not self.dispatch_one(message):
                skipped.append(message)
        pending.extendleft(reversed(skipped))

    def _note_pending(self) -> None:
        for message in self.pending_messages:
            self._note_held(message)
