"""Messages, clients and destinations of an OpenMQ cluster.

A message lives at its home, the broker of its producer, until every subscription that is to have it has
acknowledged it. It goes straight to the home of a consumer that has room (Technical Overview, chapter 4,
"Message delivery"; reference/openmq-observed.md, sections 1 and 2).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mqlab.spec.openmq import PROPERTIES
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.runtime.openmq.broker import Broker

DEAD = Destination("queue", "mq.sys.dmq")  # of the dead messages of each broker
OVERHEAD = 160  # bytes of a message besides its text: 5 of 400 fit into 3000 (observed, section 3)

Keys = Mapping[str, Any]
Key = tuple[str, str]  # (client id, subscription name) of a durable or shared subscription


@dataclass(eq=False, slots=True)
class Claim:
    """What one subscription is owed of a message; a queue's message has one, for whoever comes."""

    message: Message
    key: object = None  # of a topic's subscription
    taker: Consumer | None = None  # who has it in hands
    flagged: bool = False  # comes with the redelivered flag
    arrived: bool = True  # not while it is lost in a silent cut
    row: int = -1  # of the last event on its way to the consumer


@dataclass(eq=False, slots=True)
class Message:
    """A message at its home. `transaction` is the name of the open transaction it is part of."""

    number: int
    home: Broker
    dest: Destination
    persistent: bool
    priority: int
    properties: Keys
    size: int
    sent: int
    claims: list[Claim] = field(default_factory=list)
    transaction: str | None = None
    row: int = -1
    copies: dict[Broker, int] = field(default_factory=dict)  # where it was forwarded to -> row
    waits: int = -1  # the rule by which it was last noted as waiting


@dataclass(eq=False, slots=True)
class Client:
    """A producer or consumer with a connection of its own; `home` is the broker it has or had."""

    name: str
    dest: Destination
    keys: Keys
    home: Broker
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
class Consumer(Client):
    """A consumer. `allowance` None takes all it can; `key` names its topic subscription."""

    selector: Selector | None = None
    key: object = None
    limit: float = 1000
    allowance: int | None = None
    buffer: deque[Claim] = field(default_factory=deque)
    taken: list[Claim] = field(default_factory=list)
    stuck: list[Claim] = field(default_factory=list)  # of homes that died: its until it closes
    received: list[int] = field(default_factory=list)
    redelivered: list[int] = field(default_factory=list)
    served: int = 0  # how much it was handed, to find whose turn it is
    busy_until: int = 0
    gone: bool = False  # it gave its connection up, which its frozen broker does not know
    broken: bool = False  # it failed to take a message whose home is gone: nothing more comes
    sub: int = -1  # its subscription in the trace

    @property
    def hands(self) -> list[Claim]:
        """All that it has and has not acknowledged."""
        return [*self.taken, *self.stuck, *self.buffer]


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
        return self.options.get(name, PROPERTIES.get(name))

    def limits(self, name: str, number: int) -> bool:
        """Whether a number is beyond a limit; -1 is none."""
        return 0 <= int(self.option(name)) < number


def destination_of(keys: Keys) -> Destination:
    """Return the destination that a step names."""
    kind = "queue" if "queue" in keys else "topic"
    return Destination(kind, keys[kind])


def selects(selector: Selector | None, message: Message) -> bool:
    """Whether a selector lets a message pass; its home asks, not the consumer's broker."""
    return selector is None or selector.selects(
        {"JMSPriority": message.priority}, message.properties
    )
