"""Actions whose time comes while brokers are still starting, before others that wait for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mqlab.checks.rule import Element, Found, Rule, rule
from mqlab.spec.action import Action, Settle, Snapshot, Start
from mqlab.spec.naming import called
from mqlab.spec.values import duration, told_time


def early_rule(id: str) -> Callable[[Callable[..., Found]], Rule]:
    """Make a rule of actions before brokers have started, of the function below: it yields `early`."""
    return rule(
        id,
        "warning",
        finds="an action whose time comes before the brokers have started, where others wait for that",
        what="it comes before {waiting}, which waits until the brokers have started, at {starts}",
        fix="choose a later at=, or give all actions one",
        source="mq.run",
        unshown="the run does what the script says, in another order than it is written",
    )


def early(actions: Sequence[Action], starts: int) -> Found:
    """Yield the actions of a script that come before *starts* ms, if others wait until the brokers are up."""
    waiting = [one for one in actions if one.at is None and not isinstance(one, (Start, Settle, Snapshot))]
    if not waiting or not actions or not isinstance(actions[0], Start):
        return
    for action in actions:
        if action.at is not None and 0 < duration(action.at, "at") < starts * 1000:
            yield Element(called(action)), {"waiting": called(waiting[0]), "starts": told_time(starts * 1000)}
