"""How many messages may be sent on: from a home to a consumer's broker, and from there to its client.

Whoever sends has a credit. The message that uses the last of it asks for more; so does each that a home says
this of. The client answers as soon as at most half of its limit, or a share of it, waits to be taken, with
the room that it has; its broker shares that out among the homes whose messages have asked (OpenMQ rule 2.3;
6.5.0: `Consumer.resumeFlow`, `ConsumerFlowControlEntry`).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.messages import Delivery
    from mqlab.products.openmq.broker.model import Broker

UNLIMITED = 1 << 60
LARGEST = 1000  # that a home grants itself (imq.cluster.consumerFlowLimit)
SHARED = 5  # most for a consumer of a shared subscription (imq.autocreate.topic.sharedConsumerFlowLimit)


@dataclass(slots=True)
class Credit:
    """How many messages may be sent until word comes from whoever takes them."""

    size: int
    used: int = 0
    is_used_up: bool = False

    def use(self) -> bool:
        """Count a message; returns whether it is the last for now."""
        self.used += 1
        self.is_used_up |= self.used >= self.size
        return self.is_used_up

    def renew(self, size: int) -> None:
        """Word has come; what was not used up goes on being counted against the new size."""
        self.size = size
        if self.is_used_up:
            self.used, self.is_used_up = 0, False


@dataclass(eq=False, slots=True)
class Flow:
    """The flow control of one consumer at its broker, *home*; `first` is the credit that others begin with.

    With 0 no home has a limit: of a topic each sends all to a consumer without a subscription.
    """

    limit: int
    first: int
    percent: int  # of the limit, at which the client answers (`ConsumerFlowControlEntry.thresholdCount`)
    home: InitVar[Broker]
    own: Credit = field(init=False)  # towards the client
    homes: defaultdict[Broker, Credit] = field(init=False)  # of all where messages are at home, the own too
    asking: list[Broker] = field(default_factory=list)  # homes of the messages that asked, as often as they did
    asked: bool = False  # the client knows that it is to answer
    is_due: bool = False  # and does so once what is on its way is there
    here: deque[tuple[Delivery, int]] = field(default_factory=deque)  # come from other homes, not sent on

    def __post_init__(self, home: Broker) -> None:
        self.homes = defaultdict(partial(Credit, self.first or UNLIMITED))
        self.own = Credit(self.limit)
        if self.first:
            self.homes[home] = self.own

    @staticmethod
    def share(limit: int, room: int, brokers: int) -> int:
        """Return the credit that each of so many brokers begins with; *room* is what fits at the consumer's."""
        return max(1, min(limit, max(1, room) if room >= 0 else limit, LARGEST) // brokers)

    def passes(self, asks: bool, home: Broker | None) -> bool:
        """Count a message, of another *home* or none, that is sent on; returns whether it asks for more."""
        last = self.own.use()
        if home is not None and self.first:  # else that sends whatever comes (`Consumer.setFalconRemote`)
            self.asking += [home] * (asks + last)
        return asks or last

    def room(self, unread: int) -> int:
        """Return what the client answers with so many unread messages; 0 if it says nothing."""
        threshold = min(self.limit * self.percent // 100, self.limit - 1)
        return self.limit - unread if self.asked and unread <= threshold else 0

    def grants(self, count: int, waits: bool, room: int) -> Iterator[tuple[Broker, int]]:
        """Yield what each home that has asked may send of *count*; *waits*: local messages wait, too."""
        homes, self.asking = self.asking, []
        each = max(1, count // (len(homes) + waits)) if homes else 0
        total = 0
        for home in dict.fromkeys(homes):
            mine = min(each, max(1, (room or 1) - total)) if room >= 0 else each
            total += mine
            yield home, mine
