"""Names that actions have in common: of brokers one by one or in a row, and what an action is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from mqlab.errors import BadValue
from mqlab.spec.action import Action, Start
from mqlab.spec.values import Destination

DESTINATIONS = ("destination", "reads", "to")  # fields that name one
BEGIN = Start()  # of a script that does not write its start: errors count what was written


def bare(action: Action) -> Action:
    """Return an action without what `openmq.Call` says around it."""
    inner = getattr(action, "action", None)
    return inner if isinstance(inner, Action) else action


def destination_in(action: Action) -> Destination | None:
    """Return the destination that an action names; None if it names none."""
    named = (getattr(action, name, None) for name in DESTINATIONS)
    return next((one for one in named if isinstance(one, Destination)), None)


def called(action: Action) -> str:
    """Return an action in short: its kind, what it is of first, its time.

    >>> from mqlab.spec.faults import Cut
    >>> called(Start(at="2s")), called(Cut("A", "B"))
    ('Start at 2s', 'Cut A B')
    """
    inner = bare(action)
    given = next((getattr(inner, one.name) for one in fields(inner) if one.name not in ("at", "how")), "")
    first = " ".join(map(str, given)) if isinstance(given, tuple) else str(given)
    other = getattr(inner, "other", None)  # the far end of a line
    at = "" if action.at is None else f" at {action.at}"
    return " ".join(filter(None, (type(inner).__name__, first, other))) + at


def brokers_of(*given: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names that are given one by one or in a row; raises `BadValue` for none.

    >>> brokers_of("A", "B"), brokers_of(("A", "B"))
    (('A', 'B'), ('A', 'B'))
    """
    rows = (part if isinstance(part, (tuple, list)) else (part,) for part in given)
    names = tuple(name for row in rows for name in row)
    if not names or not all(isinstance(name, str) for name in names):
        raise BadValue(f'StartBrokers: {names!r}; expected the brokers\' names, such as "A", "B"')
    return names
