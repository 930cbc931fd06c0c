"""What actions that need addresses or time act on: the lab as they see it, and what is under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqlab.products.activemq.client.calls import PendingCall
from mqlab.spec.action import Action
from mqlab.spec.clients import WaitUntil
from mqlab.spec.network_names import DATABASE

if TYPE_CHECKING:
    from mqlab.products.activemq.ha.jdbc import Database
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.transport.sockets import NetworkPath


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """An action of the script with its place in it."""

    no: int
    action: Action

    @property
    def at(self) -> int | str | None:
        """When it happens."""
        return self.action.at


@dataclass(slots=True)
class RunningStep:
    """An action under way: its place in the script, and what it waits for."""

    no: int
    action: Action
    start: int  # us
    call: PendingCall | None = None
    until: int | None = None  # us
    life: int = 0  # of the broker that it has started
    goal: int = 0  # how many messages its consumer is to have
    due: int | None = None  # us, when something has been there for long enough


class Stage:
    """`now` is the action that begins, `calls` are all that clients have made."""

    now: RunningStep

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.calls: list[PendingCall] = []
        self.rows: list[dict[str, Any]] = []  # results that are no calls
        self.named: set[str] = set()  # the brokers that have been started at least once

    def call(self, client: str) -> PendingCall:
        """Return the call of a client that the action makes; the script waits for it, unless told."""
        return self.wait_for(PendingCall(self.lab, self.now.no, self.now.action, client))

    def wait_for(self, call: PendingCall) -> PendingCall:
        """Let the script wait for a call, unless its action says that nobody does."""
        self.calls.append(call)
        if not call.in_background:
            self.now.call = call
        return call

    def is_due(self, waiting: RunningStep, due: int) -> bool:
        """Whether the time *due* (us) has come; if not, see to it that somebody looks then."""
        clock = self.lab.clock
        if clock.now < due and due != waiting.due:
            waiting.due = due
            clock.schedule_background(due, self.on_due, None)
        return clock.now >= due

    def on_due(self, _: None) -> None:
        """Time has come to look again."""

    def lines(self, one: str, other: str | None) -> Sequence[NetworkPath | Database]:
        """Return the line of two, all that lead to one, or that to the database."""
        if one == DATABASE:
            return [self.lab.database]
        directory = self.lab.directory
        return directory.lines_to(one) if other is None else [directory.join(one, other)]


def script_option(action: Action, key: str, usual: Any = None) -> Any:
    """Return what only a script says of an action, under a name of its own (rows in `spec.steps`)."""
    says: Mapping[str, object] = (
        action.about if isinstance(action, WaitUntil) else getattr(action, "options", {})
    )
    return says.get(key, usual)
