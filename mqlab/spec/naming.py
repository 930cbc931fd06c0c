"""What an action is called, in a few words."""

from __future__ import annotations

from dataclasses import fields

from mqlab.spec.action import Action


def bare(action: Action) -> Action:
    """Return an action without what `openmq.Call` says around it."""
    inner = getattr(action, "action", None)
    return inner if isinstance(inner, Action) else action


def called(action: Action) -> str:
    """Return an action in short: its kind, what it is of first, its time.

    >>> from mqlab.spec.action import Stop
    >>> called(Stop("A", at="2s"))
    'Stop A at 2s'
    """
    inner = bare(action)
    first = next((str(getattr(inner, one.name)) for one in fields(inner) if one.name != "at"), "")
    at = "" if action.at is None else f" at {action.at}"
    return f"{type(inner).__name__} {first}".strip() + at
