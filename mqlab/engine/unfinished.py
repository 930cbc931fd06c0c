"""What of a lab's script has not happened, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.engine.in_vain import ENDED_BY
from mqlab.spec.action import Settle, Snapshot, Start
from mqlab.spec.naming import called
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time

if TYPE_CHECKING:
    from mqlab.engine.lab import Lab

ADDED = (Settle, Snapshot)  # a run adds them itself: nobody misses them


def unfinished(lab: Lab) -> list[dict[str, str]]:
    """Return what has not happened yet, or was in vain, as a trace's header has it: what, and why."""
    left = [(action, "before its turn") for action in lab.script]
    left += [(action, "before its time") for action in lab.appointments]
    if lab.latest is not None and lab.under_way is not None and not lab.is_over(lab.under_way):
        left.insert(0, (lab.latest, "before it was over"))
    rows = [
        {"what": called(action), "why": f"the run ended at {told_time(lab.clock.now)}, {when}"}
        for action, when in ((lab.action_of(scripted), when) for scripted, when in left)
        if not isinstance(action, ADDED)
    ]
    if lab.cut_at is not None and not rows and not lab.resting:
        why = f"the run ended at {told_time(lab.clock.now)}"
        rows.append({"what": "Messages or clients were still moving", "why": why})
    states = ((name, lab.session_state(name)) for name in lab.named)
    open_ = [  # what sessions received, or sent, in transactions that nothing has ended
        {
            "what": f"{counted(state.held, 'message')} of {name}",
            "why": ENDED_BY[state.mode].format("sent" if state.receiving is None else "received", name),
        }
        for name, state in states
        if state is not None and state.waits and state.held and state.mode in ENDED_BY and not state.gone
    ]
    return [*lab.in_vain, *(_early(lab) if lab.early else ()), *rows, *open_]


def _early(lab: Lab) -> Iterator[dict[str, str]]:
    """Yield the actions whose time came while brokers were starting, before others that wait for them."""
    began = "had started" if lab.started_at is None else f"had started, at {told_time(lab.started_at)}"
    for scripted, waiting in lab.early:
        action, other = lab.action_of(scripted), lab.action_of(waiting)
        if not isinstance(other, (*ADDED, Start)):
            why = f"came before {called(other)}, which waited until the brokers {began}"
            yield {"what": called(action), "why": f"{why}; choose a later at=, or give all actions one"}
