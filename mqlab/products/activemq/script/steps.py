"""A script: its steps, and what is under way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mqlab.products.activemq.client.calls import PendingCall
from mqlab.spec.action import Action
from mqlab.spec.clients import WaitUntil


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """An action of the script with its place in it."""

    no: int
    action: Action
    at: int | str | None  # when it happens


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


def script_option(action: Action, key: str, usual: object = None) -> Any:
    """Return what only a script says of an action, under a name of its own (rows in `spec.steps`)."""
    says: Mapping[str, object] = (
        action.about if isinstance(action, WaitUntil) else getattr(action, "options", {})
    )
    return says.get(key, usual)
