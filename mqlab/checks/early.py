"""Actions whose time comes while brokers are still starting, before others that wait for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mqlab.checks.rule import Element, Found
from mqlab.spec.action import Action, Settle, Snapshot, Start
from mqlab.spec.naming import called
from mqlab.spec.values import duration


def early(actions: Sequence[Action], starts: int) -> Found:
    """Yield the actions of a script that come before *starts* ms, if others wait until the brokers are up."""
    waiting = [one for one in actions if one.at is None and not isinstance(one, (Start, Settle, Snapshot))]
    if not waiting or not actions or not isinstance(actions[0], Start):
        return
    for action in _timed(actions):
        if 0 < duration(action.at or 0, "at") < starts * 1000:
            yield Element(called(action)), {"waiting": called(waiting[0]), "starts": starts}


def _timed(actions: Sequence[Action]) -> Iterator[Action]:
    return (action for action in actions if action.at is not None)
