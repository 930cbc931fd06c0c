"""What only Open Message Queue knows, as actions; words that other products share are theirs.

The others are in `mqlab.spec.action` and `mqlab.spec.faults`; `mqlab.spec.openmq.words` says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.action import Action
from mqlab.spec.headers import check_headers
from mqlab.spec.naming import brokers_of
from mqlab.spec.openmq.options import Options
from mqlab.spec.values import Destination

EVENTS = (  # that a cluster notes, of brokers and of clients
    "suspect", "cleared", "found_dead", "takeover_lock_acquired", "takeover_complete", "store_taken",
    "takeover_processed", "ready", "stopped", "client_connection_lost", "client_exception_listener",
    "client_reconnected", "link_up", "link_down",
)  # fmt: skip


def _check_event(event: str, where: str) -> None:
    if event not in EVENTS:
        raise UnknownName.of("event", event, EVENTS, where)


# Every step


class Call(Action):
    """An action with a named result, or with a time limit `limit` (30 s).

    After one `in_background` the script of a recorder goes on when `lead` is over (300 ms).
    """

    action: Action
    id: str | None = None
    limit: int | float | str | None = field(default=None, kw_only=True)
    in_background: bool = field(default=False, kw_only=True)
    lead: int | float | str | None = field(default=None, kw_only=True)


# Brokers


class StartBrokers(Action, init=False):
    """Start some brokers of the cluster, one after the other: ``StartBrokers("b1", "b2")``."""

    brokers: tuple[str, ...]

    def __init__(
        self,
        *names: str | Sequence[str],
        brokers: Sequence[str] = (),
        at: int | str | None = None,
    ) -> None:
        object.__setattr__(self, "brokers", brokers_of(*names, brokers))
        object.__setattr__(self, "at", at)


class CrashAndRestart(Action):
    """Kill a broker and start it again; `until` as for `StartBroker`."""

    broker: str
    until: str = field(default="linked", kw_only=True)
    options: Options = field(default_factory=dict, kw_only=True, hash=False)


class StartBroker(Action):
    """Start one broker and wait `until` it is linked, ready, or for nothing (none).

    `options` change properties for good.
    """

    broker: str
    until: str = field(default="linked", kw_only=True)
    options: Options = field(default_factory=dict, kw_only=True, hash=False)


class Shutdown(Action):
    """Stop a broker in an orderly way, so that an enhanced cluster does not take it over."""

    broker: str
    no_failover: bool = True


class CrashOwner(Action):
    """Crash the broker that took over from another."""

    of: str


class ChangeMaster(Action):
    """Make another broker the master, by a command to the present one."""

    on: str
    to: str


class TakeOver(Action):
    """Let a broker take over a dead one, by command."""

    on: str
    target: str


class Reload(Action):
    """Let a broker read the cluster's configuration again."""

    on: str


class Quiesce(Action):
    """Quiesce a broker: accept no new clients."""

    on: str


class Unquiesce(Action):
    """Unquiesce a broker: accept new clients again."""

    on: str


# Destinations


class OfDestination(Action):
    """What one broker is asked of a destination."""

    destination: Destination
    on: str


class CreateDestination(OfDestination):
    """Create a destination, asked of one broker; `options` are rows."""

    options: Options = field(default_factory=dict, kw_only=True, hash=False)


class UpdateDestination(OfDestination):
    """Change properties of a destination."""

    options: Options = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        if not self.options:
            raise BadValue("UpdateDestination: no option is given; use e.g. options={'max_num_msgs': 10}")


class DestroyDestination(OfDestination):
    """Destroy a destination with all its messages."""


class PurgeDestination(OfDestination):
    """Remove the messages that one broker has of a destination, but those that a consumer has in hands."""


class PauseDestination(OfDestination):
    """Pause one broker's instance of a destination."""


class ResumeDestination(OfDestination):
    """Resume a paused destination instance."""


class Browse(OfDestination):
    """Browse a queue's messages at one broker."""


class Unsubscribe(Action):
    """End a durable subscription."""

    client_id: str
    subscription_name: str
    on: str


# Clients


class OpenProducer(Action):
    """Open a producer on a connection of its own, for `Send`; `others` are further addresses."""

    name: str
    on: str
    to: Destination
    others: tuple[str, ...] = field(default=(), kw_only=True)
    options: Options = field(default_factory=dict, kw_only=True, hash=False)


class Send(Action):
    """Let an open producer send messages one by one; with `stop_at_error` only up to the first refused one.

    It keeps the `jms_priority` and the `time_to_live` that it was told last: at first 4, and 0 for no end.
    """

    producer: str
    sends: int
    persistent: bool = field(default=True, kw_only=True)
    properties: Options = field(default_factory=dict, kw_only=True, hash=False)
    jms_priority: int | list[int] | None = field(default=None, kw_only=True)
    time_to_live: int | float | str | None = field(default=None, kw_only=True)
    size: int = field(default=100, kw_only=True)
    stop_at_error: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        priority = 4 if self.jms_priority is None else self.jms_priority
        check_headers(f"producer {shown(self.producer)}", priority, self.properties)
        Action.__post_init__(self)


class CloseProducer(Action):
    """Close a producer and its connection."""

    producer: str


class KillClient(Action):
    """Kill the process of a consumer that has one."""

    consumer: str


class Receive(Action):
    """Let a held consumer take `count` messages, for `within` at most, then hold it again."""

    consumer: str
    count: int = 1
    within: int | float | str = field(default=5000, kw_only=True)


class Xa(Action):
    """A step of a distributed transaction, of a client `who` or asked of a broker `on`.

    What is not prepared is committed in `one_phase`.
    """

    action: str
    xid: str = ""
    who: str | None = field(default=None, kw_only=True)
    on: str | None = field(default=None, kw_only=True)
    one_phase: bool = field(default=False, kw_only=True)


class Connect(Action):
    """Open and close a connection to see which broker is reached."""

    on: str
    others: tuple[str, ...] = ()


class Knock(Action):
    """Open connections on brokers again and again until an event is logged."""

    brokers: tuple[str, ...]
    until: str
    every: int | float | str = field(default=500, kw_only=True)

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        _check_event(self.until, "Knock")


# Waiting and looking


class WaitFor(Action):
    """Wait for an event since the last fault, such as ``takeover_complete``, and `settle` after it.

    `about` is the broker that it is about, `by` the broker or client that noted it.
    """

    event: str
    about: str | None = None
    by: str | None = field(default=None, kw_only=True)
    settle: int | float | str = field(default=1000, kw_only=True)

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        _check_event(self.event, "WaitFor")


class WaitForReceived(Action):
    """Wait until a consumer has so many messages."""

    consumer: str
    count: int


class Look(Action):
    """Record the state of everything under a label, with properties of destinations."""

    label: str
    properties: tuple[str, ...]
