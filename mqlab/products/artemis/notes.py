"""What a lab writes into the trace: who there is, what happens to messages, roles and links."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Journal, Message, MessageReference, Queue, StoredMessage
from mqlab.products.artemis.broker.paging_store import LEAVES
from mqlab.spec.json_types import JsonDict
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.site import Site
    from mqlab.spec.action import Action


Told = JsonDict  # what no column of the trace holds
MOVES = frozenset((Kind.Sent, Kind.Forwarded, Kind.Dispatched))  # what arrives somewhere else
ARRIVES = frozenset((Kind.Enqueued, Kind.Received))
# Bound once, as plain numbers: a member of an enumeration costs ten times as much to read, and longer to pack.
ENQUEUED, FORWARDED, SENT = int(Kind.Enqueued), int(Kind.Forwarded), int(Kind.Sent)
UNROUTED = Reason.no_subscription


class TransitRow(int):
    """The row of something that moves, with its `way`: (frm, to, link).

    The way is there for as long as somebody holds the row that what arrives will have for its cause.
    """

    way: tuple[int, int, int]

    def __deepcopy__(self, memo: dict[int, object]) -> TransitRow:
        return self


class EventLog:
    """The notebook of one run."""

    def __init__(self, lab: Site) -> None:
        self.lab, self.recorder, self.clock = lab, lab.recorder, lab.clock
        self.details: dict[int, Told] = {}
        self.links: dict[tuple[str, str], int] = {}
        self.up: set[int] = set()
        self.moved = 0  # when (us) a message last did
        self.on_left: Callable[[], None] | None = None  # is called as a message leaves its address
        for one, other in permutations([server.name for server in lab.network.brokers], 2):
            self.links[one, other] = self.recorder.name_link(f"{one}-{other}", one, other)

    # Events

    def event(
        self,
        kind: Kind,
        broker: Broker | None,
        frm: int = -1,
        to: int = -1,
        link: int = -1,
        sub: int = -1,
        rule: Reason = Reason.none,
        told: Told | None = None,
        dest: Destination | None = None,
        cause: int = -1,
    ) -> int:
        """Record what happened to a broker, a client or a line, with what no column holds of it."""
        at = broker.node if broker is not None else -1
        what = -1 if dest is None else self.recorder.name_destination(dest)
        now = self.clock.now
        row = self.recorder.add(now, kind, -1, at, frm, to, link, what, sub, rule=rule, cause=cause)
        if told:
            self.details[row] = told
        return row

    def message(
        self,
        kind: int,
        message: Message,
        broker: Broker | None,
        frm: int = -1,
        to: int = -1,
        link: int = -1,
        rule: int = 0,
        cause: int = -1,
    ) -> int:
        """Record what happened to a message; what arrives came the way of its cause."""
        now = self.clock.now
        if kind != SENT and rule != UNROUTED:  # else nothing that an operator sees moves
            self.moved = now
        if message.sent < 0:
            message.sent = now
        if type(cause) is TransitRow and kind in ARRIVES:
            frm, to, link = cause.way
        if message.dest_no < 0:
            message.dest_no = self.recorder.name_destination(message.dest)
        at = broker.node if broker is not None else -1
        # By place, without `event` between: a message that crosses has eight of them.
        age, number, dest = now - message.sent, message.number, message.dest_no
        row = self.recorder.add(now, kind, number, at, frm, to, link, dest, -1, 0, age, rule, cause)
        if self.on_left is not None and kind in LEAVES:
            self.on_left()
        if kind in MOVES:
            row = TransitRow(row)
            row.way = frm, to, link
        return row

    # What is told in more than one row

    def forwarded(self, message: Message, frm: Broker, to: Broker, rule: int, cause: int) -> int:
        """A broker hands a message to another one; returns the row of it."""
        link = self.links.get((frm.process_name, to.process_name), -1)
        return self.message(FORWARDED, message, frm, frm.node, to.node, link, rule, cause)

    def returned(self, item: MessageReference, queue: Queue, broker: Broker) -> None:
        """What a consumer held is back in its queue."""
        row = self.message(Kind.Returned, item.message, broker, cause=item.row)
        self.enqueued(item, queue, broker, row, broker.node)

    def enqueued(self, item: MessageReference, queue: Queue, broker: Broker, cause: int, frm: int = -1) -> None:
        """A message is in a queue, where it may have to wait for somebody to take it."""
        item.row = self.message(ENQUEUED, item.message, broker, frm, cause=cause)
        if not queue.wanted(item.message):
            kept = Reason.durable if queue.topic is not None and queue.durable else Reason.nobody_reads
            refused = queue.consumers or self.lab.balancing.selects_none(broker, queue, item.message)
            rule = Reason.selector if refused else kept
            self.message(Kind.Held, item.message, broker, rule=rule, cause=item.row)

    def loaded(self, broker: Broker, live: Journal, since: int) -> None:
        """What another had is here now, served from *since* (us).

        Beside one that serves, or whose copy is a later one, it is there twice.
        """
        before, live.home = live.home, broker
        if before is None or before is broker:
            return
        own = before.stored_journal
        is_later = own is not None and own is not live and own.since > since  # that of the other
        kind = Kind.Enqueued if is_later or before.served_journal is not None else Kind.TakenOver
        kept: list[MessageReference | StoredMessage] = [item for _, item in live.items()]
        kept += [stored for mail in live.store_and_forward.values() for stored in mail]
        for item in kept:
            item.row = self.message(kind, item.message, broker, before.node, broker.node, cause=item.row)
        if before.served_journal is None and own is not None and own.since <= since:
            own.home = broker  # its copy is an old one now

    def forgotten(self, broker: Broker, live: Journal, moved: bool = False) -> None:
        """What was only in memory is gone with its broker; all is, if its data were moved aside or not kept."""
        rule = Reason.moved_aside if moved else Reason.memory_store
        moved = moved or not broker.spec.persists
        gone = [
            (item.message, item.row)
            for queue, item in live.items()
            if moved or not (item.lasts and queue.durable)
        ]
        gone += [
            (mail.message, mail.row)
            for rows in live.store_and_forward.values()
            for mail in rows
            if moved or not mail.message.persistent
        ]
        open_ones = [branch for xid, branch in live.branches.items() if moved or xid not in live.prepared]
        gone += [(message, message.row) for branch in open_ones for message in branch.work]
        for message, row in gone:
            self.message(Kind.Discarded, message, broker, rule=rule, cause=row)

    def role(self, broker: Broker) -> None:
        """A broker has another role; lines between brokers are up while both ends are."""
        told = {"role": broker.role, **({"pair": broker.node_id} if broker.node_id else {})}
        self.event(Kind.RoleChanged, broker, told=told)
        self.lines()

    def lines(self) -> None:
        """Record which lines went up or down."""
        for (one, other), link in self.links.items():
            a, b = self.lab.brokers[one], self.lab.brokers[other]
            works = a.runs and b.runs and self.lab.partitions.joined(one, other)
            if works != (link in self.up):
                (self.up.add if works else self.up.discard)(link)
                self.event(Kind.Connected if works else Kind.Disconnected, None, a.node, b.node, link)

    def trace(self, header: Told, later: Callable[[], JsonDict], script: tuple[Action, ...]) -> Trace:
        """Return all that was recorded."""
        details = [[row, told] for row, told in self.details.items()]
        return self.recorder.trace({**header, "details": details}, later, script)
