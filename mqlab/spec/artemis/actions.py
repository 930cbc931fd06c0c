"""What only Artemis brokers and their clients do; words that other products share are theirs.

The others are in `mqlab.spec.action` and `mqlab.spec.faults`; `mqlab.spec.artemis.words` says which.
"""

from __future__ import annotations

from dataclasses import field

from mqlab.errors import BadValue
from mqlab.spec import action as shared
from mqlab.spec.action import Action
from mqlab.spec.artemis.options import Options
from mqlab.spec.faults import two_ends
from mqlab.spec.noun import Count
from mqlab.spec.values import Destination


class StartAs(Action):
    """Start a broker with another configuration: what is `written` replaces keys of its definition."""

    broker: str
    written: Options = field(hash=False)


class ForcedFailover(Action):
    """An orderly stop after which the slave takes over, whatever failover-on-shutdown says."""

    broker: str
    wait: bool | None = field(default=None, kw_only=True)


def _take_one(action: Isolate | Rejoin) -> None:
    if isinstance(action.brokers, str):
        object.__setattr__(action, "brokers", (action.brokers,))
    Action.__post_init__(action)
    if not action.brokers:
        raise BadValue(f"{type(action).__name__}: name a broker, e.g. {type(action).__name__}('A')")


class Isolate(Action):
    """Cut brokers off from all other brokers, and from `clients`; `how` is refuse or hang, as for `Cut`."""

    brokers: tuple[str, ...]
    how: str = "refuse"
    clients: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _take_one(self)


class Rejoin(Action):
    """Restore the links of brokers to all others, and to `clients`."""

    brokers: tuple[str, ...]
    clients: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _take_one(self)


class SlowLine(Action):
    """The line between two carries so many bytes a second, until it is healed."""

    one: str
    other: str
    bytes_per_second: Count

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        two_ends(self, self.one, self.other)


class Gateway(Action):
    """The address that network checks ask answers or is silent, for one broker or all."""

    answers: bool
    broker: str | None = None


class WaitForRole(Action):
    """Wait until a broker has a role, such as live, backup_in_sync or live_with_replica; ``a|b`` is either."""

    broker: str
    role: str
    timeout: int | str = field(default="30s", kw_only=True)


class WaitForFailover(Action):
    """Wait until a client has reconnected so often."""

    client: str
    times: Count = 1
    timeout: int | str = field(default="30s", kw_only=True)


class WaitForDepth(Action):
    """Wait until a queue of a broker has just so many messages, those that consumers hold included."""

    broker: str
    queue: str
    depth: int
    timeout: int | str = field(default="15s", kw_only=True)


class WaitForConsumers(Action):
    """Wait until a queue of a broker has at least so many consumers."""

    broker: str
    queue: str
    count: Count = 1
    timeout: int | str = field(default="15s", kw_only=True)


class WaitForSends(shared.WaitForSends):
    """Wait until the sends in the background have ended, or for as long as `timeout`."""

    timeout: int | str = field(default="60s", kw_only=True)


class Settle(shared.Settle):
    """Wait until nothing moves for as long as `quiet`, at most as long as `at_most` (30 s)."""

    quiet: int | str = field(default="1s", kw_only=True)


class Snapshot(shared.Snapshot):
    """Record the state of everything under a label; `topology`: also what each broker believes."""

    topology: bool = False


class Files(Action):
    """Note the names in the data folders of one broker, or of all, under a label."""

    label: str
    broker: str | None = None


class Session(Action):
    """A client opens a session that stays, on a broker; `to` is where it sends what says nothing.

    `others` are further addresses of its URL, `options` those of a client's URL, and `time_limit`.
    """

    name: str
    on: str
    to: Destination | None = None
    transacted: bool = field(default=False, kw_only=True)
    xa: bool = field(default=False, kw_only=True)
    others: tuple[str, ...] = field(default=(), kw_only=True)
    options: Options = field(default_factory=dict, kw_only=True, hash=False)


class Xa(Action):
    """A call of a session's XA resource: start, end, prepare, commit, rollback, recover.

    `id` is that of the branch; brokers know branches by their ids alone.
    """

    client: str
    act: str
    id: str | None = None
