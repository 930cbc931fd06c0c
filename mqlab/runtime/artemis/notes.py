"""What a lab writes into the trace: who there is, what happens to messages, roles and links.

In the lab all hops of a message are made at one instant. In the trace each takes a millisecond, as in
the other families, so that a run can be watched: causes come first, and steps do not overlap.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.messages import Held, Message, Queue
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule
from mqlab.trace.record import Recorder
from mqlab.trace.trace import COLUMNS, Trace

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab

HOP = 1000  # us that a message is on its way from one to the next
_MOVES = (Kind.Sent, Kind.Forwarded, Kind.Dispatched)


class Notes:
    """The notebook of one run."""

    def __init__(self, lab: HaLab) -> None:
        self.lab, self.recorder = lab, Recorder()
        self.names = self.recorder.names
        self.details: dict[int, dict[str, Any]] = {}
        self.destinations: dict[Destination, int] = {}
        self.links: dict[tuple[str, str], int] = {}
        self.up: set[int] = set()
        self.rows: list[tuple[int, int, tuple[int, int, int]]] = []  # time, kind, (frm, to, link)
        self.floor = self.high = 0
        self.last: dict[tuple[int, int], int] = {}  # (kind, place) -> time

    def node(self, name: str, role: str, home: str = "") -> int:
        """Enter a broker or a client into the trace's names and return its number."""
        for table, value in (("node", name), ("node_role", role), ("node_home", home)):
            self.names[table].append(value)
        return len(self.names["node"]) - 1

    def name_links(self, brokers: list[str]) -> None:
        """Name the lines between all brokers; one name for each direction of messages."""
        for one in brokers:
            for other in brokers:
                if one != other:
                    self.links[one, other] = len(self.links)
                    for table, value in (("link", f"{one}-{other}"), ("link_from", one),
                                         ("link_to", other)):  # fmt: skip
                        self.names[table].append(value)

    def subscription(self, text: str) -> int:
        """Return the number of a new subscription."""
        self.names["sub"].append(text)
        return len(self.names["sub"]) - 1

    # Events

    def event(
        self, kind: Kind, broker: Broker | None, frm: int = -1, to: int = -1, link: int = -1,
        sub: int = -1, rule: Rule = Rule.none, told: dict[str, Any] | None = None,
    ) -> int:  # fmt: skip
        """Record what happened to a broker, a client or a line, with what no column holds of it."""
        self.floor = self.high
        now = max(self.lab.clock.now, self.floor)
        at = broker.node if broker is not None else -1
        row = self.recorder.add(now, kind, -1, at, frm, to, link, -1, sub, rule=rule)
        if told:
            self.details[row] = told
        return self._remember(now, kind, (frm, to, link))

    def message(
        self, kind: Kind, message: Message, broker: Broker | None, frm: int = -1, to: int = -1,
        link: int = -1, rule: Rule = Rule.none, cause: int = -1,
    ) -> int:  # fmt: skip
        """Record what happened to a message; what arrives came the way of its cause."""
        if message.dest not in self.destinations:
            self.destinations[message.dest] = len(self.destinations)
            self.names["dest"].append(str(message.dest))
        at = broker.node if broker is not None else -1
        now = max(self.lab.clock.now, self.floor)
        if cause >= 0:
            time, before, way = self.rows[cause]
            moved = before in _MOVES
            now = max(now, time + HOP * moved)
            if moved and kind in (Kind.Enqueued, Kind.Received):
                frm, to, link = way
        place = to if kind == Kind.Received else frm if kind == Kind.Sent else at
        now = max(now, self.last.get((kind, place), -HOP) + HOP * (kind == Kind.Sent))
        self.last[kind, place] = now
        self.recorder.add(
            now, kind, message.number, at, frm, to, link, self.destinations[message.dest],
            age=max(0, now - message.sent), rule=rule, cause=cause,
        )  # fmt: skip
        return self._remember(now, kind, (frm, to, link))

    def _remember(self, now: int, kind: Kind, way: tuple[int, int, int]) -> int:
        self.high = max(self.high, now)
        self.rows.append((now, kind, way))
        return len(self.rows) - 1

    # What is told in more than one row

    def forwarded(self, message: Message, frm: Broker, to: Broker, rule: Rule, cause: int) -> int:
        """A broker hands a message to another one and forgets it; returns the row of the handing."""
        link = self.links.get((frm.place, to.place), -1)
        row = self.message(Kind.Forwarded, message, frm, frm.node, to.node, link, rule, cause)
        self.message(Kind.Acknowledged, message, frm, to.node, cause=row)
        return row

    def returned(self, item: Held, queue: Queue, broker: Broker) -> None:
        """What a consumer held is back in its queue."""
        row = self.message(Kind.Returned, item.message, broker, cause=item.row)
        self.enqueued(item, queue, broker, row, broker.node)

    def enqueued(self, item: Held, queue: Queue, broker: Broker, cause: int, frm: int = -1) -> None:
        """A message is in a queue; a durable subscription keeps it for who is away."""
        item.row = self.message(Kind.Enqueued, item.message, broker, frm, cause=cause)
        if queue.topic is not None and queue.durable and not queue.consumers:
            self.message(Kind.Held, item.message, broker, rule=Rule.durable, cause=item.row)

    def role(self, broker: Broker) -> None:
        """A broker has another role; lines between brokers are up while both ends are."""
        told = {"role": broker.role, **({"pair": broker.pair} if broker.pair else {})}
        self.event(Kind.RoleChanged, broker, told=told)
        self.look()

    def look(self) -> None:
        """Record which lines went up or down."""
        for (one, other), link in self.links.items():
            a, b = self.lab.brokers[one], self.lab.brokers[other]
            works = a.runs and b.runs and self.lab.net.joined(one, other)
            if works != (link in self.up):
                (self.up.add if works else self.up.discard)(link)
                self.event(
                    Kind.Connected if works else Kind.Disconnected, None, a.node, b.node, link
                )

    def trace(self, header: dict[str, Any]) -> Trace:
        """Return all that was recorded, in the order of its times."""
        trace = self.recorder.trace(header)
        order = sorted(range(len(self.rows)), key=lambda row: self.rows[row][0])
        place = {row: no for no, row in enumerate(order)}
        found = {name: array(code, (trace.column(name)[row] for row in order))
                 for name, code in COLUMNS.items()}  # fmt: skip
        found["cause"] = array("i", (place.get(cause, -1) for cause in found["cause"]))
        told = sorted([place[row], detail] for row, detail in self.details.items())
        return Trace({**header, "details": told}, trace.names, found)
