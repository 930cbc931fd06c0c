"""What a broker's connections ask of those around them: the process, its cluster, its mirror, the lab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from mqlab.runtime.activemq.asks import Laboratory
from mqlab.runtime.activemq.audit import Audit
from mqlab.runtime.activemq.clients.addresses import Refused
from mqlab.runtime.activemq.commands import Acknowledge, Send
from mqlab.runtime.activemq.sockets import Connection
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.runtime.activemq.broker import Broker
    from mqlab.runtime.kernel.clock import Call
    from mqlab.runtime.kernel.timing import Costs

Answer = Callable[[int | None, Refused | None], None]  # to the request of that number


class Watcher(Protocol):
    """A client that hears of temporary queues."""

    watches: bool
    deleted: set[Destination]


class Workplace(Laboratory, Protocol):
    """The lab, as connections see it."""

    @property
    def clients_by_name(self) -> Mapping[str, Watcher]:
        """All clients with a connection."""


class Replicator(Protocol):
    """The master's part in a pure pair."""

    def replicate(self, since: int, work: list[Send | Acknowledge]) -> bool:
        """Let the slaves do the same; False if none does."""

    def when_answered(self, answer: Answer, request: int | None) -> None:
        """Answer the client when every slave has the work."""

    def mirrored(self, slave: Any, count: int) -> None:
        """A slave has the work of that number."""


class Greeter(Protocol):
    """Who tells clients of other brokers."""

    def greet(self, connection: Any) -> None:
        """Tell a new client."""


class Serving(Protocol):
    """A broker's process, as connections see it."""

    costs: Costs
    heard: Audit
    sockets: list[Connection]

    @property
    def broker(self) -> Broker:
        """The broker."""

    @property
    def lab(self) -> Workplace:
        """Where it runs."""

    @property
    def cluster(self) -> Greeter:
        """What it tells of other brokers."""

    @property
    def mirror(self) -> Replicator | None:
        """Its part in a pure pair."""

    @property
    def lasting_audit(self) -> Audit:
        """The numbers of the messages that the store remembers as sent."""

    def on_disk(self, time: int) -> int:
        """Return what something takes that goes to the disk."""

    def after(self, us: int, call: Call, argument: object = None) -> None:
        """Let *call* happen in *us*, in this life."""
