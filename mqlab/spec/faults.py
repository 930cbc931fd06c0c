"""Faults: what befalls brokers, lines, disks and locks. Actions like all others, of every product.

A line is what lies between two that talk: two brokers, or a client and a broker. With one name, all
lines that lead to a broker are meant. (Fuse 1, "Failover"; Fuse 4, "Master/slave".)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.action import Action
from mqlab.spec.around import MODES

WAYS = ("refuse", "reset_once", "hang", "drop_replies")


@dataclass(frozen=True, slots=True)
class Crash(Action):
    """The process of a broker dies at once, as by SIGKILL: sockets close, file locks are free."""

    broker: str


@dataclass(frozen=True, slots=True)
class Cut(Action):
    """Break the line between two, or with one name all lines by which addresses lead to that broker.

    `how` is one of `WAYS`: connections are reset and new ones refused; reset once; nothing moves and
    nothing is lost; requests pass and answers vanish.
    """

    one: str
    other: str | None = None
    how: str = field(default="refuse", kw_only=True)

    def __post_init__(self) -> None:
        Action.__post_init__(self)
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
        Action.__post_init__(self)
        if self.factor <= 0:
            raise BadValue(f"SlowDisk: factor is {self.factor!r}; write a number above 0")


@dataclass(frozen=True, slots=True)
class DatabaseDown(Action):
    """The database that brokers share cannot be reached; `how` as for `Cut`."""

    how: str = "refuse"

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        if self.how not in WAYS:
            raise UnknownName.of("way to cut", self.how, WAYS, "DatabaseDown")


@dataclass(frozen=True, slots=True)
class DatabaseUp(Action):
    """The database can be reached again."""


@dataclass(frozen=True, slots=True)
class DeleteLock(Action):
    """Somebody deletes the lock file of a shared store."""

    shared_store: str


@dataclass(frozen=True, slots=True)
class TouchLock(Action):
    """Somebody writes into the lock file of a shared store."""

    shared_store: str


@dataclass(frozen=True, slots=True)
class CopyStore(Action):
    """Copy the data directory of one broker to another's place."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class WriteFile(Action):
    """Write a file of addresses, which clients read (updateURIsURL)."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class SetEndpoint(Action):
    """Change what a listener that is no broker does."""

    endpoint: str
    mode: str

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        if self.mode not in MODES:
            raise UnknownName.of("mode", self.mode, MODES, f"endpoint {self.endpoint!r}")


@dataclass(frozen=True, slots=True)
class Advertise(Action):
    """Announce a listener by multicast."""

    endpoint: str
    uri: str


@dataclass(frozen=True, slots=True)
class StopAdvertising(Action):
    """Announce it no more."""

    endpoint: str


@dataclass(frozen=True, slots=True)
class Sniff(Action):
    """Write down the datagrams of a multicast group."""

    uri: str


@dataclass(frozen=True, slots=True)
class SendAway(Action):
    """A broker tells its clients to reconnect to another."""

    broker: str
    to: str
