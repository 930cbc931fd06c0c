"""Messages, clients and destinations of an OpenMQ cluster.

A message lives at its home, the broker of its producer, until every subscription that is to have it has
acknowledged it. It goes straight to the home of a consumer that has room (Technical Overview, chapter 4,
"Message delivery"; reference/openmq-observed.md, sections 1 and 2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination

# Properties of destinations: what they are if nobody sets them (Administration Guide, chapter 18).
DEFAULTS = {"MaxNumMsgs": -1, "MaxTotalMsgBytes": -1, "MaxBytesPerMsg": -1, "MaxNumProducers": 100,
            "LimitBehavior": "REJECT_NEWEST", "MaxNumActiveConsumers": -1,
            "MaxNumBackupConsumers": 0, "ConsumerFlowLimit": 1000, "LocalOnly": False,
            "LocalDeliveryPreferred": False, "UseDMQ": True}  # fmt: skip

# The same for auto-created ones, with the names by which brokers are told (chapter 17).
AUTO_CREATED = {
    "MaxNumMsgs": ("destination.maxNumMsgs", 100_000),
    "MaxTotalMsgBytes": ("destination.maxTotalMsgBytes", 10_485_760),
    "MaxBytesPerMsg": ("destination.maxBytesPerMsg", 10_240),
    "MaxNumProducers": ("destination.maxNumProducers", 100),
    "LimitBehavior": ("destination.limitBehavior", "REJECT_NEWEST"),
    "MaxNumActiveConsumers": ("queue.maxNumActiveConsumers", -1),
    "MaxNumBackupConsumers": ("queue.maxNumBackupConsumers", 0),
    "ConsumerFlowLimit": ("queue.consumerFlowLimit", 1000),
}
DEAD = Destination("queue", "mq.sys.dmq")  # of the dead messages of each broker
OVERHEAD = 160  # bytes of a message besides its text: 5 of 400 fit into 3000 (observed, section 3)

# How most steps end.
OK, REFUSED, BLOCKED = "ok", "refused", "blocked"

Keys = Mapping[str, Any]
Key = tuple[str, str]  # (client id, subscription name) of a durable or shared subscription


@dataclass(eq=False, slots=True)
class Target:
    """What one subscription is owed of a message; a queue's message has one, for whoever comes."""

    key: object = None  # of a topic's subscription
    taker: Consumer | None = None
    flagged: bool = False  # comes with the redelivered flag


@dataclass(eq=False, slots=True)
class Message:
    """A message at its home. `transaction` is the name of the open transaction it is part of."""

    number: int
    home: str
    dest: Destination
    persistent: bool
    priority: int
    properties: Keys
    size: int
    sent: int
    targets: list[Target] = field(default_factory=list)
    transaction: str | None = None
    row: int = -1
    copies: dict[str, int] = field(default_factory=dict)  # broker it was forwarded to -> row
    waits: int = -1  # the rule by which it was last noted as waiting


@dataclass(eq=False, slots=True)
class Held:
    """A message in the hands of a consumer: in its buffer, or taken and not acknowledged."""

    message: Message
    target: Target
    row: int = -1  # of the last event on its way to the consumer
    arrived: bool = True  # not while it is lost in a silent cut


@dataclass(eq=False, slots=True)
class Client:
    """A producer or consumer with a connection of its own; `home` is the broker it has or had."""

    name: str
    dest: Destination
    keys: Keys
    home: str
    node: int
    open: bool = True
    closed: bool = False  # by itself, or its process is gone: it looks for no broker any more
    refuses: bool = False  # its session lost something: no acknowledgement or commit until recover
    xid: str = ""  # the distributed transaction that it has begun
    lost: int = -1  # the row with which it last lost its connection

    @property
    def mode(self) -> str:
        """The acknowledge mode."""
        return str(self.keys.get("ack_mode", "auto"))


@dataclass(eq=False, slots=True)
class Producer(Client):
    """A producer; a step that sends at a broker has one for itself."""


@dataclass(eq=False, slots=True)
class Consumer(Client):
    """A consumer. `allowance` None takes all it can; `key` names its topic subscription."""

    selector: Selector | None = None
    key: object = None
    limit: float = 1000
    allowance: int | None = None
    buffer: deque[Held] = field(default_factory=deque)
    taken: list[Held] = field(default_factory=list)
    stuck: list[Held] = field(default_factory=list)  # of homes that died: its until it closes
    received: list[int] = field(default_factory=list)
    redelivered: list[int] = field(default_factory=list)
    served: int = 0  # how much it was handed, to find whose turn it is
    busy_until: int = 0
    broken: bool = False  # it failed to take a message whose home is gone: nothing more comes
    sub: int = -1  # its subscription in the trace

    @property
    def hands(self) -> list[Held]:
        """All that it has and has not acknowledged."""
        return [*self.taken, *self.stuck, *self.buffer]

    def wants(self, message: Message) -> bool:
        """Whether its selector lets a message pass."""
        return self.selector is None or selects(self.selector, message)


def selects(selector: Selector, message: Message) -> bool:
    """Whether a selector lets a message pass; its home asks, not the consumer's broker."""
    return selector.selects({"JMSPriority": message.priority}, message.properties)


@dataclass(eq=False, slots=True)
class Durable:
    """A durable subscription: known in the whole cluster, whether or not somebody uses it."""

    key: Key
    dest: Destination
    selector: str | None
    refused: bool = False  # the trace of a refused creation: listed, and no consumer


@dataclass(eq=False, slots=True)
class Instance:
    """One broker's instance of a destination: its properties, and the messages at home here.

    `leftovers` are numbers of copies of other homes' messages that were given back, or whose home died
    meanwhile: the broker lists them until it ends.
    """

    dest: Destination
    created_by: str
    options: dict[str, Any]
    owner: str | None = None  # the consumer whose temporary destination it is
    messages: list[Message] = field(default_factory=list)
    leftovers: set[int] = field(default_factory=set)
    paused: bool = False
    idle_since: int | None = None

    def option(self, name: str) -> Any:
        """Return a property by its administration name."""
        return self.options.get(name, DEFAULTS.get(name))

    def limits(self, name: str, number: int) -> bool:
        """Whether a number is beyond a limit; -1 is none."""
        return 0 <= int(self.option(name)) < number


def destination_of(keys: Keys) -> Destination:
    """Return the destination that a step names."""
    kind = "queue" if "queue" in keys else "topic"
    return Destination(kind, keys[kind])
