"""What a cluster writes into the trace: who there is, what happens to messages, roles and links."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import TYPE_CHECKING

from mqlab.products.openmq.script.operation import Row
from mqlab.spec.json_types import JsonDict
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.record import Recorder, pack_prefix
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.messages import Message
    from mqlab.products.openmq.broker.model import Broker
    from mqlab.products.openmq.client.state import Consumer
    from mqlab.products.openmq.network.state import Cluster
    from mqlab.spec.action import Action

DOWN, WAITING, RUNNING = "down", "waiting for its master", "running"


class Notes:
    """The notebook of one run."""

    def __init__(self, lab: Cluster) -> None:
        self.lab = lab
        self.recorder: Recorder = lab.recorder
        self.details: dict[int, Row] = {}
        self.nodes: dict[tuple[str, str], int] = {}  # by role and name
        self.links: dict[tuple[str, str], int] = {}
        # Of rows on a link, what is always there.
        self.crossing: dict[tuple[str, str], tuple[bytes, bytes]] = {}
        self.up: set[tuple[str, str]] = set()
        self.roles: dict[str, str] = {}

    # Names

    def node(self, name: str, role: str, home: str = "") -> int:
        """Return the number of a broker or client; who moves keeps its number."""
        if (role, name) not in self.nodes:
            self.nodes[role, name] = self.recorder.add_node(name, role, home)
        return self.nodes[role, name]

    def name_links(self, brokers: list[str]) -> None:
        """Name the links between all brokers; one name for each direction of messages."""
        for one, other in permutations(brokers, 2):
            self.links[one, other] = link = self.recorder.name_link(f"{one}-{other}", one, other)
            frm, to = self.nodes["broker", one], self.nodes["broker", other]
            self.crossing[one, other] = (
                pack_prefix(Kind.Forwarded, frm, frm, to, link),
                pack_prefix(Kind.Enqueued, to, frm, to, link),
            )

    def subscription(self, consumer: Consumer) -> int:
        """Return the number of a new subscription, named by what it reads and where."""
        chosen = consumer.step.action.selector
        text = f"{consumer.dest} at {consumer.home.name} by {consumer.name}"
        text += f" where {chosen}" if chosen else ""
        return self.recorder.name_subscription(text)

    # Events

    def add(self, kind: int, told: Row | None = None, **columns: int) -> int:
        """Record an event now, with what no column holds of it; returns its row."""
        row = self.recorder.add(self.lab.clock.now, kind, **columns)
        if told:
            self.details[row] = told
        return row

    def message(
        self,
        kind: int,
        message: Message,
        at: Broker | None = None,
        /,
        *,
        frm: int = -1,
        to: int = -1,
        sub: int = -1,
        rule: int = 0,
        cause: int | None = None,
    ) -> int:
        """Record an event of a message at its home or another broker; returns its row.

        Its cause is the last event of the message at its home, unless another is given.
        """
        now, home = self.lab.clock.now, message.home
        hop = 0 if at is None or at is home else 1
        node, dest, row = (at or home).node, message.at.number, message.row if cause is None else cause
        age = now - message.sent
        # By place: a keyword costs a tenth of the call each.
        return self.recorder.add(now, kind, message.number, node, frm, to, -1, dest, sub, hop, age, rule, row)

    def consumer(self, kind: int, consumer: Consumer, rule: Reason) -> None:
        """Record that a consumer came or left."""
        home = consumer.home.node
        self.add(
            kind,
            broker=home,
            frm=consumer.node,
            to=home,
            sub=consumer.sub,
            rule=rule,
            dest=self.recorder.name_destination(consumer.dest),
        )

    def look(self, cause: int = -1) -> None:
        """Record which brokers have another role than before, and which links went up or down."""
        for name, broker in self.lab.brokers.items():
            role = DOWN if not broker.running else RUNNING if broker.ready else WAITING
            if role != self.roles.get(name, DOWN):
                self.roles[name] = role
                self.add(Kind.RoleChanged, {"role": role}, broker=broker.node, cause=cause)
        for (one, other), link in self.links.items():
            works = self.lab.brokers[one].linked(self.lab.brokers[other])
            if works != ((one, other) in self.up):
                if self.lab.brokers[one].running:
                    self.lab.happens("link_up" if works else "link_down", other, one)
                (self.up.add if works else self.up.discard)((one, other))
                self.add(
                    Kind.Connected if works else Kind.Disconnected,
                    link=link,
                    cause=cause,
                    frm=self.lab.brokers[one].node,
                    to=self.lab.brokers[other].node,
                )

    def trace(self, header: Row, later: Callable[[], JsonDict], script: tuple[Action, ...]) -> Trace:
        """Return all that was recorded, with what no column holds of it."""
        details = [[row, dict(told)] for row, told in self.details.items()]
        return self.recorder.trace({**header, "details": details}, later, script)
