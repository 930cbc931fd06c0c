"""Faults, and what clients do on a connection of their own: actions like all others, of every product.

A line is what lies between two that talk: two brokers, or a client and a broker. With one name, all
lines that lead to a broker are meant. (Fuse 1, "Failover"; Fuse 4, "Master/slave".)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.action import Action
from mqlab.spec.redelivery import Redelivery

WAYS = ("refuse", "reset_once", "hang", "drop_replies")


@dataclass(frozen=True, slots=True)
class Client(Action):
    """A client opens a connection, by the `uri` that a real client would write.

    `prefetch` None is the default of the destination; `client_id` makes durable subscriptions possible;
    without `waits` the script goes on while it still connects.
    """

    name: str
    uri: str = field(kw_only=True)
    prefetch: int | None = field(default=None, kw_only=True)
    client_id: str | None = field(default=None, kw_only=True)
    redelivery: Redelivery | None = field(default=None, kw_only=True)
    watch_topic_advisories: bool = field(default=True, kw_only=True)
    waits: bool = field(default=True, kw_only=True)


@dataclass(frozen=True, slots=True)
class CloseClient(Action):
    """A client closes its connection, and with it its sessions and consumers."""

    client: str


@dataclass(frozen=True, slots=True)
class Crash(Action):
    """The process of a broker dies at once, as by SIGKILL: sockets close, file locks are free."""

    broker: str


@dataclass(frozen=True, slots=True)
class Cut(Action):
    """Break the line between two, or with one name all lines that lead to that broker.

    `how` is one of `WAYS`: connections are reset and new ones refused; reset once; nothing moves and
    nothing is lost; requests pass and answers vanish.
    """

    one: str
    other: str | None = None
    how: str = field(default="refuse", kw_only=True)

    def __post_init__(self) -> None:
        if self.how not in WAYS:
            raise UnknownName.of("way to cut", self.how, WAYS, "Cut")
        if self.one == self.other:
            raise BadValue(f"Cut: a line joins two; {self.one!r} is given twice")


@dataclass(frozen=True, slots=True)
class Heal(Action):
    """Make a line whole again: what was held moves on first."""

    one: str
    other: str | None = None


@dataclass(frozen=True, slots=True)
class HostDown(Action):
    """All brokers of a `host` die at once."""

    host: str


@dataclass(frozen=True, slots=True)
class SlowDisk(Action):
    """The disk of a broker or of a shared store takes `factor` times as long; 1 is its usual speed."""

    of: str
    factor: float

    def __post_init__(self) -> None:
        wrong = isinstance(self.factor, bool) or not isinstance(self.factor, (int, float))
        if wrong or self.factor <= 0:
            raise BadValue(f"SlowDisk: factor is {self.factor!r}; write a number above 0")


@dataclass(frozen=True, slots=True)
class DatabaseDown(Action):
    """The database that brokers share cannot be reached; `how` as for `Cut`."""

    how: str = "refuse"

    def __post_init__(self) -> None:
        if self.how not in WAYS:
            raise UnknownName.of("way to cut", self.how, WAYS, "DatabaseDown")


@dataclass(frozen=True, slots=True)
class DatabaseUp(Action):
    """The database can be reached again."""


@dataclass(frozen=True, slots=True)
class DeleteLock(Action):
    """Somebody deletes the lock file of a shared store."""

    shared_store: str
