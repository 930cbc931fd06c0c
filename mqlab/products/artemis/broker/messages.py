"""Messages, queues and what a broker holds of them (AMQ Broker 7.1, chapter 21).

A queue is bound to an address, of its own name if nothing else is said; a topic's queues are bound to that.
What outlives a broker are persistent messages in durable queues (Artemis rule 2.6).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from mqlab.engine.clock import NEVER
from mqlab.spec.artemis.broker import AddressQueue
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.broker import Broker
    from mqlab.products.artemis.broker.site import Site


@dataclass(eq=False, slots=True)
class Message:
    """A message. `sent` is when (us), `due` the time (us) before which it is not delivered.

    `expires` is when it does (us); 0 is never.
    """

    number: int
    dest: Destination
    persistent: bool
    properties: Mapping[str, object]
    size: int
    due: int = 0
    row: int = -1  # of the trace: where it was sent
    sent: int = -1
    dest_no: int = -1  # of the trace, once it is in that
    expires: int = 0
    group: str | None = None  # JMSXGroupID
    extra: int = 0  # bytes of its properties
    delayed: bool = False  # whether it was sent with a delay
    routed: list[tuple[Broker, Queue]] | None = None  # its queues, in an open transaction
    paged: bool | None = None  # whether it lies in a page, in an open transaction


LAST_VALUE = "_AMQ_LVQ_NAME"  # a property of messages that replace one another in a last-value queue
_PRIORITY = {"JMSPriority": 4, "AMQPriority": 4}  # which no producer of this product sets


def selects(text: str | None, message: Message) -> bool:
    """Whether a selector's text lets a message pass."""
    mode, kept = ("PERSISTENT", "DURABLE") if message.persistent else ("NON_PERSISTENT", "NON_DURABLE")
    headers = {**_PRIORITY, "JMSDeliveryMode": mode, "AMQDurable": kept}
    return text is None or Selector(text).selects(headers, message.properties)


@dataclass(eq=False, slots=True)
class MessageReference:
    """A message in one queue. `delivery_count`: how often a consumer of this broker has had it in vain."""

    message: Message
    place: int
    delivery_count: int = 0
    row: int = -1  # of the trace: what happened to it last here
    due: int = 0  # us, before which it is not delivered; 0 once that is over
    paged: bool = False  # it lies in a page file
    was_read: bool = False  # from that, and waits in memory

    @property
    def lasts(self) -> bool:
        """Whether it outlives its broker, if its queue does."""
        return self.message.persistent or self.paged


class Taker(ABC):
    """Who takes from a queue: a consumer, or a bridge to another broker; and what it holds of it."""

    handed = int(Kind.Dispatched)  # what the trace says of it
    link = -1
    full = False  # its broker may not send it more
    lab: Site
    node: int
    selector: str | None
    acknowledging: list[MessageReference]
    unacknowledged: list[MessageReference]
    buffer: list[MessageReference]

    @abstractmethod
    def take(self, item: MessageReference) -> None:
        """Take a message."""


@dataclass(eq=False, slots=True)
class Queue:
    """One broker's queue: what waits, in order, and what its consumers hold.

    `auto_delete` says when it is deleted: never, when its last consumer leaves it empty (one that was made
    for a client), or when its subscriber leaves. `made` is since when it is there (us). One that `purges` takes
    nothing without consumers, and is emptied when the last one leaves. At most `most` consumers can be there.
    Those of one `routing_name` take turns: queues of an address for anycast, of one name for a topic
    (`LocalQueueBinding.getRoutingName` of 2.4.0).
    """

    name: str
    topic: str | None = None
    durable: bool = True
    selector: str | None = None
    auto_delete: str = "never"
    made: int = 0
    address: str = ""
    routing_name: str = ""
    purges: bool = False
    most: int | None = None
    key: str = ""  # among the queues of its broker, where subscribers' own share a name
    waiting: list[MessageReference] = field(default_factory=list)
    consumers: list[Taker] = field(default_factory=list)
    groups: dict[str, Taker] = field(default_factory=dict)  # which consumer a message group is pinned to
    latest: dict[object, MessageReference] = field(default_factory=dict)  # what the next of a value replaces
    enqueued: int = 0
    replaced: int = 0  # messages that took the place of another
    turn: int = 0
    echoed: int = 0  # since when (us) a neighbour tells its broker of it (max-hops)
    scheduled: int = 0  # of what waits, as far as it was looked at
    redistributor: int = NEVER  # since when (us) what comes is moved to where it is wanted, or will be
    stranded: list[MessageReference] = field(default_factory=list)  # see `strand`

    def __post_init__(self) -> None:
        self.address = self.topic or self.address or self.name
        self.routing_name = self.address if self.topic is None else self.name
        self.key = self.key or self.name

    def add(self, message: Message, delivery_count: int = 0, row: int = -1) -> MessageReference:
        """Append a message at the tail; one whose delay was over elsewhere comes to the head."""
        self.enqueued += 1
        place = self.enqueued + self.replaced
        item = MessageReference(message, place, delivery_count, row, message.due)
        if message.delayed and not message.due:
            self.waiting.insert(0, item)
        else:
            self.waiting.append(item)
        self.scheduled += message.due > 0
        return item

    def remove(self, item: MessageReference) -> None:
        """Take out what waits."""
        self.waiting.remove(item)
        self.forget(item)

    def forget(self, item: MessageReference) -> None:
        """What has waited is gone: the next of its last value replaces nothing."""
        self.latest.pop(item.message.properties.get(LAST_VALUE), None)

    def next_place(self) -> int:
        """Return the place of a message that replaces one that waits."""
        self.replaced += 1
        return self.enqueued + self.replaced

    def schedule(self, item: MessageReference, due: int) -> None:
        """Let a message that waits be delivered only later (us)."""
        self.scheduled += not item.due
        item.due = due

    @property
    def held(self) -> list[MessageReference]:
        """What its consumers have."""
        return [item for c in self.consumers for item in (*c.acknowledging, *c.unacknowledged, *c.buffer)]

    def remove_consumer(self, taker: Taker) -> None:
        """A consumer leaves, and with it its groups; behind the last one the turn is that one's.

        Source: `QueueImpl.removeConsumer` of 2.4.0.
        """
        self.consumers.remove(taker)
        self.turn = max(0, min(self.turn, len(self.consumers) - 1))
        self.groups = {name: pinned for name, pinned in self.groups.items() if pinned is not taker}

    def requeue(self, items: list[MessageReference]) -> None:
        """Put what a consumer held at the head, before what was sent earlier."""
        self.waiting[:0] = items

    @property
    def depth(self) -> int:
        """How many messages it has."""
        return len(self.waiting) + len(self.held) + len(self.stranded)

    def strand(self, items: Iterable[MessageReference]) -> None:
        """Keep messages that could not be moved: counted as being delivered, until the broker begins anew."""
        for item in items:
            item.due = NEVER
            self.stranded.append(item)

    def items(self) -> list[MessageReference]:
        """All messages in the order of their places."""
        return sorted(self.waiting + self.held + self.stranded, key=lambda item: item.place)

    def due(self, now: int) -> list[MessageReference]:
        """What waits, without the messages whose time has not come.

        When it comes, one goes to the head; those of one time in their order (Artemis rule 9.9).
        """
        if self.scheduled:
            ready = [item for item in self.waiting if 0 < item.due <= now]
            self.scheduled -= len(ready)
            self.waiting = [item for item in self.waiting if item not in ready]
            for _, together in groupby(sorted(ready, key=lambda item: item.due), lambda item: item.due):
                items = [*together]
                self.waiting[:0] = items
                for item in items:
                    item.due = item.message.due = 0
        return [item for item in self.waiting if not item.due] if self.scheduled else [*self.waiting]

    def wanted(self, message: Message, afar: bool = False) -> bool:
        """Whether a consumer's selector lets a message pass; *afar*: whether another broker believes so.

        That keeps the number of consumers and their selectors apart: where some have one, a consumer without
        does not count (`RemoteQueueBindingImpl.isHighAcceptPriority` of 2.4.0).
        """
        alike = apart = False  # consumers without a selector, and with one
        for consumer in self.consumers:  # a loop: asked twice for every message
            if consumer.selector is None:
                alike = True
            elif selects(consumer.selector, message):
                return True
            else:
                apart = True
        return alike and not (afar and apart)


@dataclass(eq=False, slots=True)
class StoredMessage:
    """A message for a queue (its name) of another pair, kept until that has it.

    With a way of several lines: by whom it goes there, and since when (us) it lies here.
    """

    pair: str
    queue: str
    message: Message
    row: int
    under_way: bool = False
    to: Queue | None = None  # that queue, in this life of its broker: subscribers' own share a name
    way: tuple[Broker, ...] = ()
    since: int = 0


@dataclass(eq=False, slots=True)
class Branch:
    """A branch of a distributed transaction, of a client (its name), with what was sent in it.

    `state`: active, refused, prepared or rolled back. One that is `lost` is not the broker's.
    """

    client: str
    work: list[Message] = field(default_factory=list)
    state: str = "active"
    lost: bool = False


@dataclass(eq=False, slots=True)
class Journal:
    """What a broker has, or what is on a disk: queues, branches of transactions by id, mail for others.

    `node_id` is the node id; `home` the broker where the trace last saw the messages. While it is served,
    `replica` is the slave that copies it and `positions` are whose turn it is, per queue name.
    """

    node_id: str
    home: Broker | None = None
    queues: dict[str, Queue] = field(default_factory=dict)
    branches: dict[str, Branch] = field(default_factory=dict)
    store_and_forward: dict[str, list[StoredMessage]] = field(default_factory=dict)  # for other pairs
    since: int = 0
    positions: dict[str, int] = field(default_factory=dict)
    replica: Broker | None = None
    ids: dict[str, set[object]] = field(default_factory=dict)  # address -> duplicate ids that it has had
    addresses: set[str] = field(default_factory=set)  # made for clients, and read since: they stay (rule 9.21)
    # Address -> its page files: of whose (a queue's key) messages there is which (its number) in each.
    pages: dict[str, list[dict[tuple[str, int], Message]]] = field(default_factory=dict)

    def open(self, queues: Iterable[AddressQueue], now: int) -> None:
        """It is served from now on, with the configured queues.

        Scheduled messages whose time has passed by then are in their place, as others are (Artemis rule 9.6).
        """
        self.since = now
        for kept in self.queues.values():
            for item in kept.waiting if kept.scheduled else ():
                if 0 < item.due <= now:
                    kept.scheduled -= 1
                    item.due = item.message.due = 0
        for queue in queues:
            made = Queue(queue.name, queue.topic, queue.durable, queue.filter, address=queue.address or "")
            made.purges, made.most = queue.purge_on_no_consumers, queue.max_consumers
            self.queues.setdefault(queue.name, made)

    @property
    def prepared(self) -> dict[str, Branch]:
        """Its branches that are in doubt."""
        return {xid: branch for xid, branch in self.branches.items() if branch.state == "prepared"}

    def items(self) -> Iterator[tuple[Queue, MessageReference]]:
        """Yield every message that lies in a queue, with its queue."""
        for queue in self.queues.values():
            yield from ((queue, item) for item in queue.items())

    def persisted(self, orderly: bool = False) -> Journal:
        """Return what outlives it; an orderly end also counts what consumers hold as tried."""
        kept = Journal(self.node_id, self.home, since=self.since)
        kept.ids = {address: set(known) for address, known in self.ids.items()}
        kept.pages = {address: [*map(dict, pages)] for address, pages in self.pages.items()}
        kept.addresses = self.addresses | {
            one.address for one in self.queues.values() if one.auto_delete == "empty"
        }
        for xid, branch in self.prepared.items():
            kept.branches[xid] = Branch(branch.client, list(branch.work), branch.state)
        for name, old in self.queues.items():
            if old.durable:
                kept.queues[name] = queue = Queue(
                    name, old.topic, True, old.selector, old.auto_delete, address=old.address
                )
                queue.purges, queue.most = old.purges, old.most
                held = old.held
                for item in (i for i in old.items() if i.lasts):
                    # Of what lies in a page the journal has neither (`QueueImpl.checkRedelivery` of 2.4.0).
                    tried = 0 if item.paged else item.delivery_count + (orderly and item in held)
                    message = item.message
                    if message.delayed and not item.paged:  # a journal that is read has lost that property
                        message = replace(message, delayed=False)
                    again = queue.add(message, tried, item.row)
                    again.paged = item.paged
                    if 0 < item.due < NEVER and not item.paged:  # a redelivery-delay is in the journal, too
                        queue.schedule(again, item.due)
        kept.store_and_forward = {
            pair: [replace(m, under_way=False, to=None) for m in mail if m.message.persistent]
            for pair, mail in self.store_and_forward.items()
        }
        return kept
