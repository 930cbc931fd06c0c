"""What clients do on a connection of their own, and what a script waits for.

`options` hold what only some scripts say: a `label` for the outcome, `in_background` for a call that
nobody waits for, `max_ms` for how long somebody does (rows in `steps`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from mqlab.errors import BadValue, shown
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonObject
from mqlab.spec.naming import brokers_of
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.uri import Uri, read

MOST_ORDERS = 1_000_000


class Client(Action):
    """Open a client connection with the `uri` a real client would use.

    `prefetch` None is the default of the destination; `client_id` makes durable subscriptions possible.
    """

    name: str
    uri: str = field(kw_only=True)
    prefetch: int | None = field(default=None, kw_only=True)
    client_id: str | None = field(default=None, kw_only=True)
    redelivery: Redelivery | None = field(default=None, kw_only=True)
    watch_topic_advisories: bool = field(default=True, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)

    def __post_init__(self) -> None:
        if not isinstance(self.uri, str):
            what = f"client {shown(self.name)}: uri={shown(self.uri)}"
            raise BadValue(f"{what}; use e.g. 'failover:(tcp://A:61616)'")
        if isinstance(self.redelivery, Mapping):
            read = Redelivery.read(self.redelivery, f"client {shown(self.name)}")
            object.__setattr__(self, "redelivery", read)
        Action.__post_init__(self)

    @property
    def address(self) -> Uri | None:
        """Its uri as it is read; None for what is none."""
        return read(self.uri)


class CloseClient(Action):
    """A client closes its connection, and with it its sessions and consumers."""

    client: str
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class OpenSession(Action):
    """A client opens a session."""

    client: str
    session: str
    transacted: bool = field(default=False, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class TemporaryQueue(Action):
    """Create a temporary queue on a client's connection; it is deleted with the connection."""

    client: str
    name: str
    session: str | None = field(default=None, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class ReceiveOnce(Action):
    """A consumer asks for one message and waits for it."""

    consumer: str
    timeout: int | float | str | None = field(default=None, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class Unsubscribe(Action):
    """Unsubscribe a client's durable subscription."""

    client: str
    subscription_name: str
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)


class StartBrokers(Action, init=False):
    """Start several brokers at once: ``StartBrokers("A", "B")``, or with one tuple of names."""

    brokers: tuple[str, ...]
    wait: bool = field(default=True, kw_only=True)
    options: Mapping[str, object] = field(default_factory=dict, kw_only=True, hash=False)

    def __init__(
        self,
        *names: str | Sequence[str],
        brokers: Sequence[str] = (),
        wait: bool = True,
        options: Mapping[str, object] | None = None,
        at: int | str | None = None,
    ) -> None:
        object.__setattr__(self, "brokers", brokers_of(*names, brokers))
        object.__setattr__(self, "wait", wait)
        object.__setattr__(self, "options", options or {})
        object.__setattr__(self, "at", at)
        Action.__post_init__(self)


class SampleOrders(Action):
    """Sample the randomised address order of a failover URI `count` times."""

    uri: str
    count: int
    label: str

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        if not 0 <= self.count <= MOST_ORDERS:
            raise BadValue(f"SampleOrders: count is {self.count}; expected 0 to {MOST_ORDERS}")


class WaitUntil(Action):
    """Wait until a condition holds, e.g. ``WaitUntil("role", {"broker": "A", "role": "master"})``.

    `what` is one of master, role, connected, received, bridge, configured, attempts, acts; `about` has the
    keys of that row in `steps`, `max_ms` among them (default: 20 s).
    """

    what: str
    about: JsonObject = field(default_factory=dict, hash=False)
