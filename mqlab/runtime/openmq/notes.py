"""What a cluster writes into the trace: who there is, what happens to messages, roles and links.

The lab itself lets everything of one instant happen at once. The trace gives each hop a millisecond,
as the other families do, so that a run can be watched (`hops`).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind
from mqlab.trace.record import Recorder
from mqlab.trace.trace import COLUMNS, Trace

if TYPE_CHECKING:
    from mqlab.runtime.openmq.cluster import Broker
    from mqlab.runtime.openmq.lab import ClusterLab
    from mqlab.runtime.openmq.messages import Consumer, Message

HOP = 1000  # us that a message is on its way from one to the next
_MOVES = (Kind.Sent, Kind.Forwarded, Kind.Dispatched)
_ENDS = (Kind.Acknowledged, Kind.Returned, Kind.Discarded, Kind.DeadLettered, Kind.Held,
         Kind.TakenOver)  # fmt: skip
DOWN, WAITING, RUNNING = "down", "waiting for its master", "running"


class Notes:
    """The notebook of one run."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab
        self.recorder = Recorder()
        self.details: dict[int, dict[str, Any]] = {}
        self.begins: set[int] = set()  # rows with which a step begins
        self.destinations: dict[Destination, int] = {}
        self.nodes: dict[tuple[str, str], int] = {}  # by role and name
        self.links: dict[tuple[str, str], int] = {}
        self.up: set[tuple[str, str]] = set()
        self.roles: dict[str, str] = {}

    @property
    def count(self) -> int:
        """How many events there are."""
        return self.recorder.count

    # Names

    def node(self, name: str, role: str, home: str = "") -> int:
        """Return the number of a broker or client; who moves keeps its number."""
        if (role, name) not in self.nodes:
            names = self.recorder.names
            self.nodes[role, name] = len(names["node"])
            for table, value in (("node", name), ("node_role", role), ("node_home", home)):
                names[table].append(value)
        return self.nodes[role, name]

    def destination(self, dest: Destination) -> int:
        """Return the number of a destination."""
        if dest not in self.destinations:
            self.destinations[dest] = len(self.destinations)
            self.recorder.names["dest"].append(str(dest))
        return self.destinations[dest]

    def name_links(self, brokers: list[str]) -> None:
        """Name the links between all brokers; one name for each direction of messages."""
        names = self.recorder.names
        for one in brokers:
            for other in brokers:
                if one != other:
                    self.links[one, other] = len(self.links)
                    names["link"].append(f"{one}-{other}")
                    names["link_from"].append(one)
                    names["link_to"].append(other)

    def subscription(self, consumer: Consumer) -> int:
        """Return the number of a new subscription, named by what it reads and where."""
        text = f"{consumer.dest} at {consumer.home} by {consumer.name}"
        self.recorder.names["sub"].append(text)
        return len(self.recorder.names["sub"]) - 1

    # Events

    def add(self, kind: int, told: dict[str, Any] | None = None, **columns: int) -> int:
        """Record an event now, with what no column holds of it; returns its row."""
        row = self.recorder.add(self.lab.clock.now, kind, **columns)
        if told:
            self.details[row] = told
        return row

    def message(
        self, kind: int, message: Message, broker: Broker, frm: int = -1, to: int = -1,
        link: int = -1, sub: int = -1, rule: int = 0, cause: int = -1,
    ) -> int:  # fmt: skip
        """Record an event of a message at a broker; returns its row."""
        now = self.lab.clock.now
        return self.recorder.add(
            now, kind, message.number, broker.node, frm, to, link, self.destination(message.dest),
            sub, int(broker.name != message.home), now - message.sent, rule, cause,
        )  # fmt: skip

    def look(self, cause: int = -1) -> None:
        """Record which brokers have another role than before, and which links went up or down."""
        for name, broker in self.lab.brokers.items():
            role = DOWN if not broker.running else RUNNING if broker.ready else WAITING
            if role != self.roles.get(name, DOWN):
                self.roles[name] = role
                self.add(Kind.RoleChanged, {"role": role}, broker=broker.node, cause=cause)
        for (one, other), link in self.links.items():
            works = self.lab.cluster.linked(one, other)
            if works != ((one, other) in self.up):
                (self.up.add if works else self.up.discard)((one, other))
                self.add(Kind.Connected if works else Kind.Disconnected, link=link, cause=cause,
                         frm=self.lab.brokers[one].node, to=self.lab.brokers[other].node)  # fmt: skip

    def trace(self, header: dict[str, Any]) -> Trace:
        """Return all that was recorded, each hop with its time."""
        trace = self.recorder.trace(header)
        columns = {name: trace.column(name) for name in COLUMNS}
        times = hops(columns, self.begins)
        order = sorted(range(len(times)), key=times.__getitem__)
        place = {row: no for no, row in enumerate(order)}
        sent = {columns["msg"][r]: times[r] for r in order if columns["kind"][r] == Kind.Sent}
        found = {name: array(COLUMNS[name], (column[row] for row in order))
                 for name, column in columns.items()}  # fmt: skip
        found["t"] = array("q", (times[row] for row in order))
        found["cause"] = array("i", (place.get(cause, -1) for cause in found["cause"]))
        found["age"] = array(
            "q", (t - sent.get(msg, t) for t, msg in zip(found["t"], found["msg"], strict=True))
        )
        told = sorted([place[row], detail] for row, detail in self.details.items())
        return Trace({**header, "details": told}, trace.names, found)


def hops(columns: dict[str, array[int]], begins: set[int]) -> list[int]:
    """Return a time for each row: a hop takes `HOP`, causes come first, steps do not overlap.

    *begins* are the rows with which steps begin. Producers send one message per `HOP`; what happens
    at one place in an order keeps that order.
    """
    found: list[int] = []
    floor = high = 0
    last: dict[tuple[int, int], int] = {}  # (kind, place) -> time
    of: dict[int, int] = {}  # message -> time
    names = ("t", "kind", "msg", "broker", "frm", "to", "cause")
    rows = zip(*(columns[name] for name in names), strict=True)
    for row, (t, kind, msg, broker, frm, to, cause) in enumerate(rows):
        if row in begins or msg < 0:
            floor = high
        at = max(t, floor)
        if cause >= 0:
            at = max(at, found[cause] + (HOP if columns["kind"][cause] in _MOVES else 0))
        key = (kind, to if kind == Kind.Received else frm if kind == Kind.Sent else broker)
        if key in last:
            at = max(at, last[key] + (HOP if kind == Kind.Sent else 0))
        if kind == Kind.Dispatched:  # room comes from what was received before
            at = max(at, last.get((Kind.Received, to), 0))
        if kind in _ENDS:
            at = max(at, of.get(msg, 0))
        last[key] = at
        of[msg] = max(at, of.get(msg, 0))
        high = max(high, at)
        found.append(at)
    return found
