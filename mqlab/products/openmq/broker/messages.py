"""Messages, and what each subscription is owed of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.spec.condition import OtherType
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination

HEADER = 72  # bytes of a packet that are always there (`Packet.HEADER_SIZE` of 6.5.0)
FIELD = 4  # of the type and the length of a field of the variable header
CLASS = len("com.sun.messaging.BasicQueue")  # as long as that of a topic
ROLLED_BACK = "ROLLED_BACK"  # the state of a branch that its broker has ended by itself, and lists no more
NUMBERED = {"n": 0}  # the property with the number that each message has here

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.destinations import ClusterDestination
    from mqlab.products.openmq.broker.model import Broker
    from mqlab.products.openmq.client.state import Client, Consumer
    from mqlab.spec.openmq.options import Options


@dataclass(eq=False, slots=True)
class Delivery:
    """What one subscription is owed of a message; a queue's message has one, for whoever comes."""

    message: Message = field(repr=False)
    key: object = None  # of a topic's subscription
    taker: Consumer | None = field(default=None, repr=False)  # who has it in hands
    flagged: bool = False  # comes with the redelivered flag
    trips: int = 0  # how often it was handed out, or back
    arrived: bool = False  # at the broker of its taker: not while it is lost in a silent cut
    delivered: bool = False  # at its taker
    kept: bool = False  # it came to a paused broker
    echo: bool = False  # what a client still has of one that was sent again
    stale: bool = False  # it was taken in a transaction before its home came back
    replaced: bool = False  # its home, which has come back, has sent it once more
    noted: bool = False  # its home's store has it as handed out
    asks: bool = False  # with it whoever sent it on asks for more credit
    row: int = -1  # of the last event on its way to the consumer

    @property
    def is_gone(self) -> bool:
        """Whether its message has been removed, and is not among the dead either (OpenMQ rule 3.3)."""
        died = self.message.died
        there = died and died.at.instances.get(died.home)
        buried = died is not None and not (there and died in there.messages)
        return not self.echo and (buried or self not in self.message.claims)

    def free(self) -> None:
        """Nobody has it in hands any more: it waits at its home."""
        message, self.taker = self.message, None
        self.trips += 1
        instance = message.at.instances.get(message.home)
        if instance is not None and message in instance.messages:
            instance.offer(message)


@dataclass(eq=False, slots=True)
class Message:
    """A message at its home. `transaction` is the name of the open transaction it is part of."""

    number: int
    home: Broker
    at: ClusterDestination
    dest_no: int  # in the trace
    persistent: bool
    priority: int
    properties: Options
    size: int
    sent: int
    claims: list[Delivery] = field(default_factory=list)
    transaction: str | None = None
    row: int = -1
    crossing: dict[Broker, int] = field(default_factory=dict)  # where it is on its way to -> row
    copies: dict[Broker, int] = field(default_factory=dict)  # where it was forwarded to -> row
    waits: int = -1  # the rule by which it was last noted as waiting
    weight: int = 0  # bytes of its packet, which is what limits count
    admitted: bool = False  # it is on its way, and counted there
    asks: bool = False  # with it its producer has used its credit up
    expires: int = 0  # us; 0 is never
    place: int = 0  # in the order in which its home's instance got its messages
    offered: bool = False  # whether it is among those that wait to be handed out
    died: Message | None = field(default=None, repr=False)  # what it is among the dead messages

    @property
    def dest(self) -> Destination:
        """Where it was sent to."""
        return self.at.dest

    def read(self) -> None:
        """A broker reads it in its store: what had been handed out comes flagged."""
        for claim in self.claims:
            claim.flagged |= claim.noted

    @property
    def is_there(self) -> bool:
        """Whether its home has it still, and serves."""
        instance = self.at.instances.get(self.home)
        return self.home.serves and instance is not None and self in instance.messages

    @property
    def is_free(self) -> bool:
        """Whether somebody could be handed it."""
        if self.transaction is not None:
            return False
        return None in [claim.taker for claim in self.claims]


@dataclass(eq=False, slots=True)
class Branch:
    """A distributed transaction that its session has left: if prepared it outlives its home.

    One that is not, without a `client`, whose connection is closed, may be ended by any session at its home.
    """

    home: Broker  # or whoever has taken that one over
    taken: list[Delivery]
    client: Client | None  # whose session it was of
    xid_state: str
    life: int = field(init=False)  # of its home at the time

    def __post_init__(self) -> None:
        self.life = self.home.lives

    @property
    def known(self) -> list[Delivery]:
        """What its home knows that it has taken: after a restart only what is at home there."""
        again = self.home.lives != self.life
        return [claim for claim in self.taken if not (again and claim.message.home is not self.home)]


def packet_size(message: Message) -> int:
    """Return how many bytes the packet of a text message has (6.5.0: `Packet`, `PacketProperties`).

    Its variable header has the ids of its producer and of the transaction that it is sent in, the name of its
    destination and its class, and is filled up to a multiple of four.
    """
    name = len(message.at.dest.name) + message.home.lab.longer_names
    ids = 2 if message.transaction is not None else 1
    fields = ids * (FIELD + 8) + FIELD + name + FIELD + CLASS + 2
    own = message.properties
    values = _bytes({**NUMBERED, **own}) if own else NUMBER
    return HEADER + fields + 4 - fields % 4 + 8 + values + message.size


def _bytes(properties: Options) -> int:
    return sum(
        2 + len(key) + 2 + (4 if isinstance(value, int) else 2 + len(str(value)))
        for key, value in properties.items()
    )


NUMBER = _bytes(NUMBERED)


def selects(selector: Selector | None, message: Message) -> bool:
    """Whether a selector lets a message pass; its home asks, not the consumer's broker."""
    if selector is None:
        return True
    mode = "PERSISTENT" if message.persistent else "NON_PERSISTENT"
    headers = {"JMSPriority": message.priority, "JMSDeliveryMode": mode, "n": message.number}
    headers |= {"JMSMessageID": f"ID:{message.number}", "JMSTimestamp": 1 + message.sent // 1000}
    try:
        return selector.selects(headers, message.properties)
    except OtherType:  # that of a queue passes it over (`SelectorFilter.test` of 6.5.0)
        if message.at.is_queue:
            return False
        raise
