"""Messages and consumers of an OpenMQ cluster.

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

# Properties of destinations (Administration Guide, chapter 18): what they are if nobody sets them.
DEFAULTS = {"MaxNumMsgs": -1, "MaxTotalMsgBytes": -1, "MaxBytesPerMsg": -1, "MaxNumProducers": 100,
            "LimitBehavior": "REJECT_NEWEST", "MaxNumActiveConsumers": -1,
            "MaxNumBackupConsumers": 0, "ConsumerFlowLimit": 1000,
            "LocalDeliveryPreferred": False, "UseDMQ": True}  # fmt: skip
AUTO_CREATED = {"MaxNumMsgs": 100_000, "MaxTotalMsgBytes": 10_485_760, "MaxBytesPerMsg": 10_240}

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
    properties: Mapping[str, Any]
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


@dataclass(eq=False, slots=True)
class Consumer:
    """A consumer with a connection of its own. `allowance` None takes all it can."""

    name: str
    home: str
    dest: Destination
    keys: Mapping[str, Any]
    selector: Selector | None
    key: object  # of its topic subscription
    order: int
    node: int
    limit: int = 1000
    allowance: int | None = None
    buffer: deque[Held] = field(default_factory=deque)
    taken: list[Held] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    redelivered: list[int] = field(default_factory=list)
    open: bool = True
    served: int = 0  # when it was last handed something, for taking turns
    renewed: bool = False  # in 5.1: it had a refused acknowledgement, what came again is not listed
    broken: bool = False  # it took a message whose home is gone: nothing more comes from there
    reopened: bool = False  # its own broker took over what it holds: its session is a new one
    refuses: bool = False  # its next acknowledgement or commit is refused
    killed: bool = False  # it was closed, or its process is gone: it looks for no broker any more
    sub: int = -1  # its subscription in the trace
    lost: int = -1  # the row with which it last lost its connection

    @property
    def mode(self) -> str:
        """The acknowledge mode."""
        return str(self.keys.get("ack_mode", "auto"))

    @property
    def has_room(self) -> bool:
        """Whether its buffer takes another message."""
        return self.open and len(self.buffer) < self.limit

    def wants(self, message: Message) -> bool:
        """Whether its selector lets a message pass."""
        if self.selector is None:
            return True
        return self.selector.selects({"JMSPriority": message.priority}, message.properties)


@dataclass(eq=False, slots=True)
class Durable:
    """A durable subscription: known in the whole cluster, whether or not somebody uses it."""

    key: Key
    dest: Destination
    selector: str | None
    shared: bool = False
    refused: bool = False  # the trace of a refused creation: listed, and no consumer


@dataclass(eq=False, slots=True)
class Instance:
    """One broker's instance of a destination: its properties, and the messages at home here.

    `ghosts` are copies of messages of other homes that were given back and are listed all the same.
    """

    dest: Destination
    created_by: str
    options: dict[str, Any]
    messages: list[Message] = field(default_factory=list)
    ghosts: int = 0
    paused: bool = False
    blocked: deque[Any] = field(default_factory=deque)
    idle_since: int | None = None
    owner: str | None = None  # the consumer whose temporary destination it is

    def option(self, name: str, default: Any) -> Any:
        """Return a property by its administration name."""
        return self.options.get(name, default)

    def shown(self, name: str) -> str:
        """Return a property as an administrator sees it, with its default."""
        defaults = {**DEFAULTS, **(AUTO_CREATED if self.created_by == "auto" else {})}
        return str(self.options.get(name, defaults.get(name)))


DEAD = Destination("queue", "mq.sys.dmq")  # of the dead messages of each broker

# How a step ends.
OK: dict[str, Any] = {"result": "ok"}
REFUSED: dict[str, Any] = {"result": "refused"}


def destination_of(keys: Mapping[str, Any]) -> Destination:
    """Return the destination that a step names."""
    return Destination(*("queue", keys["queue"]) if "queue" in keys else ("topic", keys["topic"]))
