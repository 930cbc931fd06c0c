"""A subscription: what a broker knows of one taker of its messages.

A subscription is full when it holds `prefetch` messages that are not acknowledged; messages that
a client has in its hands but will acknowledge later (client acknowledge) extend the window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from mqlab.runtime.activemq.audit import Audit
from mqlab.runtime.activemq.message import SENT_BY, ConsumerInfo, Message
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule
from mqlab.trace.record import stamp

if TYPE_CHECKING:
    from mqlab.runtime.activemq.asks import Laboratory
    from mqlab.runtime.kernel.clock import Clock
    from mqlab.spec import Broker as BrokerSpec
    from mqlab.trace.record import Recorder

# Bound once: reading a member of an enumeration costs ten times as much as a name.
ACKNOWLEDGED = int(Kind.Acknowledged)
EVERY_SUBSCRIBER = int(Rule.every_subscriber)


class Place(Protocol):
    """A queue or topic, as its subscriptions and its broker's other parts see it."""

    dest: Destination
    subs: list[Subscription]
    policy: Mapping[str, Any]
    held: dict[Message, None]
    dispatched: int

    @property
    def pending(self) -> Collection[Message]:
        """What nobody has taken yet."""

    def acknowledged(self, message: Message, sub: Subscription, was_full: bool) -> None:
        """Forget *message*; if something is pending: whether its subscription was full and now is not."""

    def arrive(self, message: Message) -> None:
        """Take a message in."""

    def dispatch(self) -> None:
        """Hand on what waits."""

    def join(self, sub: Subscription) -> None:
        """Add a subscription."""

    def restore(self, messages: Iterable[Message]) -> None:
        """Take what was kept out of the store."""


class Host(Protocol):
    """A broker, as its parts see it."""

    spec: BrokerSpec
    name: str
    id: str
    node: int
    clock: Clock
    running: bool
    advises: bool
    advisory_subscribers: int
    subs: list[Subscription]
    durables: dict[tuple[str, str], Subscription]
    producers: dict[str, Destination]
    recorder: Recorder

    @property
    def lab(self) -> Laboratory:
        """Where it stands."""

    @property
    def destinations(self) -> Mapping[int, Place]:
        """Its queues and topics by number."""

    @property
    def by_name(self) -> Mapping[Destination, Place]:
        """Its queues and topics by name."""

    def note(
        self, kind: int, message: Message, frm: int = -1, to: int = -1, link: int = -1,
        sub: int = -1, rule: int = 0, cause: int = -1,
    ) -> int:  # fmt: skip
        """Write down what happens to a message here."""

    @property
    def client_names(self) -> list[str]:
        """Those that are on it by themselves."""

    def destination(self, dest: Destination) -> Place:
        """Return the destination of that name."""

    def policy_for(self, dest: Destination) -> Mapping[str, Any]:
        """Return every policy option for a destination."""

    def fits(self, pattern: Destination, dest: Destination) -> bool:
        """Whether *dest* is one of those that *pattern* stands for."""

    def entry(self, frm: int, link: int = -1) -> bytes:
        """Return the stamp of what comes from there."""

    def take_over(self, message: Message, entry: bytes, cause: int) -> None:
        """Take a message over."""

    def subscribe(
        self, sub: Subscription, rule: int, frm: int, link: int = -1, cause: int = -1
    ) -> bool:
        """Add a subscription; False if it is durable and in use."""

    def unsubscribe(self, sub: Subscription, rule: int, cause: int = -1) -> None:
        """Remove a subscription."""

    def old_enough(self, message: Message, age: int) -> bool:
        """Whether *message* has been here for *age* us."""

    def on_due(self, message: Message) -> None:
        """Offer a message again."""


class Subscription:
    """The part that consumers and bridges have in common.

    `outstanding` are the messages handed over and not acknowledged, in order; `waiting` those a
    topic keeps for a full subscription.
    """

    inactive = False
    client_name = ""  # of whoever consumes
    has_delivered = False  # whether its client is known to have had a message in hands

    def __init__(
        self, broker: Host, info: ConsumerInfo, prefetch: int, label: str, network: bool = False
    ) -> None:
        self.broker, self.info, self.network = broker, info, network
        self.dest, self.priority, self.exclusive = info.dest, info.priority, info.exclusive
        self.selector: Selector | None = info.selector
        # whether it may refuse a message
        self.picky = network or info.selector is not None or info.not_from is not None
        self.prefetch = prefetch
        self.extension = 0
        self.slow = False  # full while something waits for it
        self.topics = 0  # how many it has joined
        self.durable = info.durable  # (client id, name) of a durable subscription
        self.seen: Audit | None = None  # of what a durable one has had: none comes twice
        self.doubles = 0  # how many did
        self.outstanding: dict[Message, None] = {}
        self.waiting: deque[Message] = deque()
        self.no = broker.lab.name_subscription(label)
        # Made once, as all that happens to every message.
        self.recorder = broker.recorder
        self.acknowledgement = stamp(ACKNOWLEDGED, broker.node, to=broker.node, sub=self.no)

    @property
    def full(self) -> bool:
        """Whether it may not be handed any more."""
        return len(self.outstanding) - self.extension >= self.prefetch

    def refusal(self, message: Message) -> int:
        """Return the rule that keeps *message* from it, 0 if there is none."""
        if self.selector is not None and not self.selector.selects(
            message.headers, message.properties
        ):
            return Rule.selector
        if self.info.not_from is not None and message.headers.get(SENT_BY) == self.info.not_from:
            return Rule.no_local
        return 0

    def deliver(self, message: Message, rule: int) -> None:
        """Hand *message* over, for the reason *rule*."""
        raise AssertionError("a subscription is a consumer's or a bridge's")

    def offer(self, message: Message) -> bool:
        """Take *message* from a topic: now, or later when there is room."""
        if self.refusal(message):
            return False
        if self.seen is not None and self.seen.add(message.number):
            self.doubles += 1
            return False
        self.waiting.append(message)
        self.refill()
        if self.waiting and self.waiting[-1] is message:
            self.keep(message, Rule.durable if self.inactive else Rule.prefetch_full)
        return True

    def keep(self, message: Message, rule: int) -> None:
        """Write down that a topic's message waits for this subscription."""
        self.broker.note(Kind.Held, message, sub=self.no, rule=rule, cause=message.row)

    def refill(self) -> None:
        """Hand over what a topic has kept for it, as far as there is room."""
        while self.waiting and not self.full:
            message = self.waiting.popleft()
            self.broker.destinations[message.dest_no].dispatched += 1
            self.deliver(message, EVERY_SUBSCRIBER)

    def count_delivered(self, last: int | None = None) -> None:
        """Count a delivery more for what is outstanding, or only up to the number *last* of it."""
        for message in self.outstanding:
            if last is None or message.number <= last:
                message.was_out()

    def acknowledge(self, message: Message) -> None:
        """Let go of *message*; what waits for room may follow."""
        destination = self.broker.destinations[message.dest_no]
        outstanding, was_full = self.outstanding, False
        if destination.pending and len(outstanding) - self.extension >= self.prefetch:
            was_full = True
        outstanding.pop(message, None)
        self.slow = False
        if self.extension:
            self.extension -= 1
        self.recorder.stamped(self.acknowledgement, message, 0, message.row)
        destination.acknowledged(message, self, was_full)
        if self.waiting:
            self.refill()
