"""What every part asks of its lab: time, chance, numbers, addresses, and where things are written.

Parts know the lab by this face alone, so that none of them depends on the lab that puts it together.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from mqlab.runtime.activemq.multicast import Lan
from mqlab.runtime.kernel.clock import Clock
from mqlab.runtime.kernel.link import Link
from mqlab.runtime.kernel.timing import Timing
from mqlab.spec.edition import EditionRules
from mqlab.spec.values import Destination
from mqlab.trace.record import Recorder


class Addresses(Protocol):
    """Where addresses lead."""

    def address_of(self, name: str) -> str:
        """Return the address of a broker or endpoint."""

    def shown_url(self, address: str) -> str:
        """Return an address as recordings show it in full."""

    def shown_target(self, address: str | None) -> str | None:
        """Return an address as recordings show it: the name."""

    def node_at(self, address: str) -> int:
        """Return the node of whom an address leads to."""

    def answers(self, user: str, address: str) -> bool:
        """Whether a try of *user* at *address* would find a broker that answers."""

    def dial(self, client_end: Any, address: str) -> Any:
        """Open a connection; raises `Refused`."""


class Laboratory(Protocol):
    """The lab as its parts see it."""

    clock: Clock
    random: Random
    timing: Timing
    jitter: int
    edition: str
    by_calls: bool
    rules: EditionRules
    recorder: Recorder
    lan: Lan
    advisories: int
    last: dict[object, int]
    details: dict[int, dict[str, object]]
    files: dict[str, str]
    disks: dict[str, float]

    @property
    def takes(self) -> Callable[..., int]:
        """Return how long something takes of which no rule says it."""

    @property
    def late(self) -> Callable[..., int]:
        """Return how much longer than usual something takes of which no rule says it."""

    @property
    def chance(self) -> Callable[[float], bool]:
        """Whether something happens that real machines did in a share of their runs."""

    @property
    def directory(self) -> Addresses:
        """Where addresses lead."""

    @property
    def add(self) -> Callable[..., int]:
        """Record a row."""

    @property
    def add_node(self) -> Callable[..., int]:
        """Return the number of a new node."""

    @property
    def name_destination(self) -> Callable[[Destination], int]:
        """Return the number of a destination."""

    @property
    def name_link(self) -> Callable[[str, str, str], int]:
        """Return the number of a link."""

    @property
    def name_subscription(self) -> Callable[[str], int]:
        """Return the number of a subscription."""

    def note(
        self,
        kind: int,
        detail: dict[str, object] | None = None,
        chain: object = None,
        **columns: int,
    ) -> int:
        """Record what happened, with *chain*'s last row as its cause."""

    def blame(self, near: object, row: int) -> None:
        """Let *row* be the cause of what happens next to whoever opened a socket."""

    def problem(self, text: str) -> None:
        """Note what went wrong for a client."""

    def new_link(self, one: str, other: str) -> Link:
        """Return one direction of a new connection of two."""

    def new_id(self) -> int:
        """Return an id that no other consumer has."""

    def new_request(self) -> int:
        """Return the number of a command that wants an answer."""

    def reserve_numbers(self, count: int) -> int:
        """Return the first of *count* message numbers."""

    def broker_name(self, id: str) -> str:
        """Return the name of the broker with that id."""
