"""Faults: what befalls brokers, lines, disks and locks. Actions like all others, of every product.

A line is what lies between two that talk: two brokers, or a client and a broker. With one name, all
lines that lead to a broker are meant. (Fuse 1, "Failover"; Fuse 4, "Master/slave".)
"""

from __future__ import annotations

from dataclasses import field

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.action import Action
from mqlab.spec.around import MODES
from mqlab.spec.noun import AnyText, Factor

WAYS = ("refuse", "reset_once", "hang", "drop_replies")


def two_ends(action: Action, one: str, other: str | None) -> None:
    """Raise `BadValue` for a link from a party to itself."""
    if one == other:
        raise BadValue(f"{type(action).__name__}: a link has two different ends; {one!r} was given twice")


class Crash(Action):
    """Kill a broker process (SIGKILL): sockets close, file locks are released.

    Without `at` the next action waits until the network is at rest, and a producer in the background has sent
    all. With times, such as ``Crash("A", at="2s")`` and ``Restart("A", at="5s")``, they go by the clock.
    """

    broker: str


class Cut(Action):
    """Cut the link between two parties, or, given one name, all links to that broker.

    `how` is "refuse" (connections are reset and new ones refused), "reset_once" (they are reset, and the link
    is as it was before), "hang" (no data passes, but nothing is lost) or "drop_replies" (requests pass,
    replies are lost).
    """

    one: str
    other: str | None = None
    how: str = field(default="refuse", kw_only=True)

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        if self.how not in WAYS:
            raise UnknownName.of("way to cut", self.how, WAYS, "Cut")
        two_ends(self, self.one, self.other)


class Heal(Action):
    """Restore a link; data held back is delivered first."""

    one: str
    other: str | None = None

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        two_ends(self, self.one, self.other)


class HostDown(Action):
    """Crash all brokers of a `host`."""

    host: str


class SlowDisk(Action):
    """Slow the disk of a broker or of a shared store down by `factor` (1 = normal)."""

    of: str
    factor: Factor


class DatabaseDown(Action):
    """The database that brokers share cannot be reached; `how` as for `Cut`."""

    how: str = "refuse"

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        if self.how not in WAYS:
            raise UnknownName.of("way to cut", self.how, WAYS, "DatabaseDown")


class DatabaseUp(Action):
    """The database can be reached again."""


class DeleteLock(Action):
    """Delete the lock file of a shared store."""

    shared_store: str


class TouchLock(Action):
    """Modify the lock file of a shared store."""

    shared_store: str


class CopyStore(Action):
    """Copy one broker's data directory over another's."""

    source: str
    target: str

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        if self.source == self.target:
            raise BadValue(f"CopyStore: a store is copied from one broker to another; both are {self.source!r}")


class WriteFile(Action):
    """Write a file of addresses, which clients read (updateURIsURL)."""

    name: str
    text: AnyText


class SetEndpoint(Action):
    """Change the behaviour of an endpoint."""

    endpoint: str
    mode: str

    def __post_init__(self) -> None:
        Action.__post_init__(self)
        if self.mode not in MODES:
            raise UnknownName.of("mode", self.mode, MODES, f"endpoint {self.endpoint!r}")


class Advertise(Action):
    """Advertise a listener by multicast."""

    endpoint: str
    uri: str


class StopAdvertising(Action):
    """Stop advertising it."""

    endpoint: str


class Sniff(Action):
    """Capture the datagrams of a multicast group."""

    uri: str


class SendAway(Action):
    """Make a broker tell its clients to reconnect elsewhere."""

    broker: str
    to: str  # the broker itself, too: its clients connect again
