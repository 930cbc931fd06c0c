"""Clients: producers and consumers, each with a connection and a session of its own."""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.engine.link import Link
from mqlab.products.openmq.broker.destinations import ClusterDestination
from mqlab.products.openmq.broker.flow import Flow
from mqlab.products.openmq.broker.messages import Delivery
from mqlab.products.openmq.script.operation import ScriptStep
from mqlab.spec import action as a
from mqlab.spec.openmq.actions import OpenProducer
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.model import Broker

PRIORITY = 4  # of a message whose producer is not told another one (JMS)

Opening = a.Consumer | OpenProducer | a.Producer  # what makes a client
Trip = tuple[Delivery, int]  # a claim on its way, and which of its trips that is


@dataclass(eq=False, slots=True)
class Client:
    """A producer or consumer with a connection of its own; `home` is the broker it has or had."""

    name: str
    at: ClusterDestination
    step: ScriptStep[Opening]  # that opened it
    home: Broker
    node: int
    to_home: Link
    from_home: Link
    mode: str = field(init=False)  # its acknowledge mode
    open: bool = True
    cut_off: bool = False  # its destination was destroyed; its connection stays
    closed: bool = False  # by itself, or its process is gone: it looks for no broker any more
    distributed: bool = False  # it has taken something in a branch: outside of one it can acknowledge nothing
    rollback_only: bool = False  # its session lost something: no acknowledgement or commit until recover
    xid: str = ""  # the distributed transaction that it has begun
    xid_state: str = "STARTED"  # COMPLETE when its work in that is over, FAILED when it cannot be prepared
    hung: bool = False  # a call of its session waits for a home that says nothing
    lost: int = -1  # the row with which it last lost its connection
    strays: int = 0  # transactions that end with its connection only
    looks_from: int = -1  # us: when it begins to look for a broker again
    credit: int = 0  # messages that a producer may still send
    time_to_live: int = 0  # us: what a producer was told last, and goes on with
    priority: int | list[int] = PRIORITY
    sending: bytes = b""  # of rows of the trace, what those of its messages have in common
    entry: bytes = b""

    def __post_init__(self) -> None:
        self.mode = self.step.ack_mode

    def stamp(self) -> None:
        """It has a broker: pack what the rows of its messages have in common."""
        home = self.home.node
        self.sending = pack_prefix(Kind.Sent, home, self.node, home)
        self.entry = pack_prefix(Kind.Enqueued, home, self.node, home)

    @property
    def dest(self) -> Destination:
        """What it reads, or sends to."""
        return self.at.dest

    @property
    def in_branch(self) -> bool:
        """Whether its session works for a distributed transaction; outside of one it acknowledges by itself."""
        return bool(self.xid) and self.xid_state == "STARTED"


@dataclass(eq=False, slots=True)
class Consumer(Client):
    """A consumer. `allowance` None takes all it can; `key` names its topic subscription."""

    step: ScriptStep[a.Consumer]
    selector: Selector | None = None
    key: object = None
    flow: Flow | None = None  # None: what a topic has for it is sent at once
    allowance: int | None = None
    delay: int = 0  # us that its application works on a message
    acknowledge: bool = False  # by itself, where its mode is client
    buffer: deque[Delivery] = field(default_factory=deque)
    unread: deque[Delivery] = field(default_factory=deque)  # what it still had when it lost its broker
    taken: list[Delivery] = field(default_factory=list)
    stuck: list[Delivery] = field(default_factory=list)  # of homes that died: its until it closes
    failed: list[Delivery] = field(default_factory=list)  # those of them that come again
    missed: list[Delivery] = field(default_factory=list)  # that it could not take outside of a branch
    received: array[int] = field(default_factory=lambda: array("i"))
    redelivered: list[int] = field(default_factory=list)
    had: int = 0  # how many it had received when it was last let on, or given what it had again
    served_weight: int = 0  # how much it was handed, to find whose turn it is
    pace: float | None = None  # how much longer than most it is busy with a message at the moment
    busy_until: int = 0
    reached: int = 0  # us: when the last message came to its client
    acknowledges_at: int = 0  # us: with the next message, where its session may see duplicates
    unheard_by: set[Broker] = field(default_factory=set)  # to whom its opening, or its end, has not come
    told_to: set[Broker] = field(default_factory=set)  # who came back after its destination was destroyed
    reads: bool = True  # its session has a consumer, and not only messages that one has left
    position: int = 0  # among the consumers of its queue, when it was opened
    let_go: bool = False  # it receives once its recorder's session has looked for calls
    gone: bool = False  # it gave its connection up, which its frozen broker does not know
    sub: int = -1  # its subscription in the trace
    place: int = 0  # in the order of registration
    why: int = 0  # it is handed a message
    dispatch: bytes = b""  # of rows of the trace, what those of its messages have in common
    receipt: bytes = b""

    def stamp(self) -> None:
        """It has a broker: pack what the rows of its messages have in common."""
        home = self.home.node
        self.why = int(Reason.queue_turn if self.dest.is_queue else Reason.every_subscriber)
        self.dispatch = pack_prefix(Kind.Dispatched, home, home, self.node, -1, self.sub)
        self.receipt = pack_prefix(Kind.Received, home, home, self.node, -1, self.sub)

    @property
    def ends_destination(self) -> bool:
        """Whether its temporary destination goes with it: it was on no other connection before."""
        return self.dest.name.startswith("temp:") and self.lost < 0

    @property
    def unacknowledged(self) -> list[Delivery]:
        """All that it has and has not acknowledged."""
        return [*self.taken, *self.stuck, *self.missed, *self.buffer]

    @property
    def misses(self) -> bool:
        """Whether it cannot take what its application reads: it is outside of a branch (OpenMQ rule 1.9).

        So it is in a transaction that has failed (OpenMQ rule 8.21).
        """
        if self.mode == "transacted":
            return self.xid_state == "FAILED"
        return (self.distributed or bool(self.xid)) and not self.in_branch
