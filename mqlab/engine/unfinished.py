"""What of a lab's script has not happened, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.engine.in_vain import ENDED_BY, SessionState
from mqlab.errors import Call
from mqlab.spec.action import Settle, Snapshot, Start
from mqlab.spec.json_types import JsonDict
from mqlab.spec.naming import called
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time

if TYPE_CHECKING:
    from mqlab.engine.lab import Lab

ADDED = (Settle, Snapshot)  # a run adds them itself: nobody misses them


def unfinished(lab: Lab) -> list[JsonDict]:
    """Return what has not happened yet, or was in vain, as a trace's header has it."""
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
    open_ = [
        _open(name, state)
        for name, state in states
        if state is not None and state.waits and state.held and state.mode in ENDED_BY and not state.gone
    ]
    return [*lab.in_vain, *(_early(lab) if lab.early else ()), *rows, *open_]


def _open(name: str, state: SessionState) -> JsonDict:
    """Return what a session received, or sent, in a transaction that nothing has ended."""
    why, action = ENDED_BY[state.mode]
    call = Call(action, name)
    return {
        "what": f"{counted(state.held, 'message')} of {name}",
        "why": why.format("sent" if state.receiving is None else "received", call),
        "calls": [vars(call)] if action else [],
    }


def _early(lab: Lab) -> Iterator[dict[str, str]]:
    """Yield the actions whose time came while brokers were starting, before others that wait for them."""
    began = "had started" if lab.started_at is None else f"had started, at {told_time(lab.started_at)}"
    for scripted, waiting in lab.early:
        action, other = lab.action_of(scripted), lab.action_of(waiting)
        if not isinstance(other, (*ADDED, Start)):
            why = f"came before {called(other)}, which waited until the brokers {began}"
            yield {"what": called(action), "why": f"{why}; choose a later at=, or give all actions one"}
