"""Destinations: each broker's instance with its messages, and what the whole cluster knows of it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from mqlab.products.openmq.broker.active_consumers import ActiveConsumers
from mqlab.products.openmq.broker.flow import SHARED
from mqlab.products.openmq.broker.producer_flow import ProducerFlow
from mqlab.spec.openmq.options import PROPERTIES, Options
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.messages import Delivery, Message
    from mqlab.products.openmq.broker.model import Broker, Properties
    from mqlab.products.openmq.client.state import Consumer
    from mqlab.products.openmq.network.state import Cluster

# Properties of the dead message queues of 6.5.0.
OF_DEAD = {
    "LocalOnly": True, "MaxNumMsgs": 1000, "MaxTotalMsgBytes": 10 << 20, "UseDMQ": False,
    "LimitBehavior": "REMOVE_OLDEST",
}  # fmt: skip


CONSUMER_LIMITS = {"MaxNumActiveConsumers", "MaxNumBackupConsumers", "LocalDeliveryPreferred"}
UNLIMITED_AT_ZERO = ("MaxNumMsgs", "MaxTotalMsgBytes", "MaxBytesPerMsg")  # where 0 is another word for -1


@dataclass(eq=False, slots=True)
class ClusterDestination:
    """A destination as the whole cluster has it: who reads it, and which brokers have messages to hand out.

    What changes is said to it (`changed`), so that nobody has to look at the other destinations.
    """

    lab: Cluster = field(repr=False)
    dest: Destination
    number: int  # in the trace
    instances: dict[Broker, PhysicalDestination] = field(default_factory=dict)
    consumers: list[Consumer] = field(default_factory=list)  # in order of registration
    waiting: set[PhysicalDestination] = field(default_factory=set)  # that have something to hand out
    granted: list[tuple[Consumer, Broker, int]] = field(default_factory=list)  # what homes have not acted upon
    is_queue: bool = field(init=False)

    def __post_init__(self) -> None:
        self.is_queue = self.dest.is_queue

    def changed(self) -> None:
        """Something has come or gone: it is looked at when the cluster settles next."""
        self.lab.changed.add(self)


def turn(message: Message) -> tuple[int, int]:
    """Return the key by which messages are handed out: by priority, then as they came to their home."""
    return -message.priority, message.place


@dataclass(eq=False, slots=True)
class PhysicalDestination:
    """One broker's instance of a destination: its properties, and the messages at home here.

    `copies` are other homes' messages that are here for its consumers. `leftovers` are those of them that
    were given back, or whose home died meanwhile: the broker lists them until it ends.
    """

    at: ClusterDestination
    broker: Broker = field(repr=False)
    created_by: str
    options: Properties
    owner: str | None = None  # the consumer whose temporary destination it is
    place: int = 0  # in the order in which brokers got their instances
    messages: dict[Message, None] = field(default_factory=dict)  # as they came
    count: int = 0  # of its messages and of copies
    bytes: int = 0  # that these have
    copies: dict[Message, None] = field(default_factory=dict)
    offered: list[Message] = field(default_factory=list)  # what waits, and perhaps more, in order
    came: int = 0  # messages so far
    places: int = 0  # that messages have taken in its line so far
    limited: ActiveConsumers | None = None  # since the number of those who may get messages has a limit
    takers: list[Consumer] | None = None  # who gets messages, as long as nothing else than messages moves
    again: list[Delivery] = field(default_factory=list)  # what it sends once more, as it was away
    admitted: int = 0  # messages on their way from producers, for which there is room
    admitted_bytes: int = 0
    let_go: deque[int] = field(default_factory=deque)  # us: when what is gone was acknowledged elsewhere
    leftovers: dict[Message, None] = field(default_factory=dict)
    paused: bool = False
    idle_since: int | None = None
    expiring: int = 0  # messages at home here that can expire
    expires_from: int = 0  # us: since when it looks for those, at intervals
    stored: bool = False  # its broker has restarted, and handed out nothing of it since
    unanswered: int = 0  # consumers that are to be opened once all brokers have answered
    unlisted: bool = False  # a temporary one that not all brokers have answered for in time
    producers: ProducerFlow = field(init=False, repr=False)
    behaviour: str = field(init=False, repr=False)  # at its limits
    controls_flow: bool = field(init=False, repr=False)  # whether producers wait where others would be refused
    removes: bool = field(init=False, repr=False)  # whether others go where it is full
    most: int = field(init=False, repr=False)  # messages; -1 is any number, of bytes too
    most_bytes: int = field(init=False, repr=False)
    largest: int = field(init=False, repr=False)  # bytes that a message may have
    prefers_local: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.producers = ProducerFlow(self)
        self.set({})

    def set(self, options: Options) -> None:
        """Some of its properties are others now."""
        self.options.update(options)
        self.options.update((name, -1) for name in UNLIMITED_AT_ZERO if self.options.get(name) == 0)
        self.behaviour = str(self.option("LimitBehavior"))  # each message asks for all of these
        self.most, self.most_bytes = int(self.option("MaxNumMsgs")), int(self.option("MaxTotalMsgBytes"))
        self.largest = int(self.option("MaxBytesPerMsg"))
        self.prefers_local = bool(self.option("LocalDeliveryPreferred"))
        if self.limited is None and int(self.option("MaxNumActiveConsumers")) >= 0:
            self.limited = ActiveConsumers(self)
        self.controls_flow = self.behaviour == "FLOW_CONTROL"
        self.removes = self.behaviour.startswith("REMOVE")

    @property
    def dest(self) -> Destination:
        """Of which destination it is one broker's instance."""
        return self.at.dest

    @property
    def active(self) -> list[Consumer]:
        """Who gets messages."""
        if self.takers is None:
            self.takers = self.broker.active(self.dest)
        return self.takers

    @property
    def preferred(self) -> list[Consumer]:
        """Who of them gets messages before others, where those of this broker's own clients are preferred."""
        if self.limited is not None:
            return [consumer for consumer in self.active if consumer not in self.limited.passed_over]
        return [consumer for consumer in self.active if consumer.home is self.broker] or self.active

    def update(self, options: Options) -> None:
        """An administrator changes properties: who gets messages, and who may send, may be others at once."""
        if limits := CONSUMER_LIMITS & options.keys():
            self.limited = self.limited or ActiveConsumers(self)
            self.broker.active(self.dest)  # by what has been in force
        before = self.producers.batch, self.controls_flow, self.is_full
        self.set(options)
        self.producers.update(*before)
        if limits and self.limited is not None:
            self.limited.change()

    def load(self) -> None:
        """Its broker starts: messages are in line as they were sent, and consumers are not known yet."""
        self.limited, self.stored = None, True
        self.set({})
        for message in sorted(self.messages, key=attrgetter("number")):
            message.read()
            was_offered = message.offered
            self.queue_up(message)
            if was_offered:
                self.offer(message)

    def keep(self, message: Message) -> None:
        """A message has its home here."""
        if not self.messages:
            self.at.lab.reapable.add(self)
        self.came += 1
        self.queue_up(message)
        self._put(self.messages, message)
        self.offer(message)

    def queue_up(self, message: Message) -> None:
        """A message goes to the end of the line: when it comes, or is committed."""
        if message.offered:
            message.offered = False
            del self.offered[bisect_left(self.offered, turn(message), key=turn)]
        self.places += 1
        message.place = self.places

    def keep_copy(self, message: Message) -> None:
        """A message of another home is here."""
        if message not in self.copies:
            self._put(self.copies, message)

    def _put(self, there: dict[Message, None], message: Message) -> None:
        was_full = self.controls_flow and self.is_full
        there[message] = None
        self.count += 1
        self.bytes += message.weight
        if self.controls_flow and self.is_full and not was_full:
            self.producers.stop()
        if self.producers.let_on:
            self.producers.let_on.clear()

    def drop_copy(self, message: Message) -> None:
        """A message of another home is not here any more."""
        if message in self.copies:
            del self.copies[message]
            self.count -= 1
            self.bytes -= message.weight
            if self.paused or self.producers.waiting:
                self.producers.check()

    def remove(self, message: Message) -> None:
        """A message is here no more."""
        del self.messages[message]
        self.count -= 1
        self.bytes -= message.weight
        if not self.messages:
            self.at.lab.reapable.add(self)
        if message.offered:
            message.offered = False
            del self.offered[bisect_left(self.offered, turn(message), key=turn)]
        if self.paused or self.producers.waiting:
            self.producers.check()
        self.at.lab.changed.add(self.at)

    def offer(self, message: Message) -> None:
        """A message here may wait to be handed out."""
        self.at.lab.unnoted.append((self, message))
        if not message.offered:
            message.offered = True
            if self.offered:
                insort(self.offered, message, key=turn)
            else:
                self.offered.append(message)
            self.at.waiting.add(self)
        self.at.lab.changed.add(self.at)

    def option(self, name: str) -> Any:
        """Return a property by its administration name."""
        return self.options[name] if name in self.options else PROPERTIES.get(name)

    def flow_limit(self, shared: bool) -> int:
        """Return how many messages a consumer may be sent in advance; -1 is any number."""
        return SHARED if shared else int(self.option("ConsumerFlowLimit"))

    @property
    def held(self) -> int:
        """How many messages count against its limit: at home here, or copies (OpenMQ rule 3.1)."""
        return self.count + sum(m not in self.copies for m in self.leftovers) if self.leftovers else self.count

    @property
    def held_bytes(self) -> int:
        """How many bytes these have."""
        more = sum(m.weight for m in self.leftovers if m not in self.copies) if self.leftovers else 0
        return self.bytes + more

    @property
    def remote(self) -> dict[Message, None]:
        """The messages of other homes that it lists."""
        return {**self.copies, **self.leftovers} if self.leftovers else self.copies

    @property
    def room(self) -> int:
        """How many messages still fit in; -1: any number."""
        return max(0, self.most - self.held) if self.most > 0 else -1

    @property
    def room_bytes(self) -> int:
        """How many bytes still fit in; -1: any number."""
        return max(0, self.most_bytes - self.held_bytes) if self.most_bytes > 0 else -1

    @property
    def is_full(self) -> bool:
        """Whether it has as many messages, or bytes, as it may have; with more bytes than that, too."""
        return self.room == 0 or self.room_bytes == 0
