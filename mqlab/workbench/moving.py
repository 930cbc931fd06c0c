"""Faults that are moved in time: when each happened, and how the run ends with one at another time."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.errors import BadValue, MqlabError, shown
from mqlab.experiments import Outcome
from mqlab.experiments.changes import about, told
from mqlab.experiments.rerun import play
from mqlab.products import inputs
from mqlab.spec import Scenario
from mqlab.spec.json_types import JsonDict
from mqlab.spec.values import duration, told_time
from mqlab.trace.kinds import Kind
from mqlab.workbench.branch import AT_ONCE, MOST_EVENTS, Branch

# The actions that can be moved, and the event by which one is seen to have happened.
HAPPENED = {
    "Crash": (Kind.Crashed,),
    "Stop": (Kind.Stopped,),
    "Restart": (Kind.Started, Kind.Restarted),
    "Cut": (Kind.Partitioned,),
    "Heal": (Kind.Healed,),
    "Pause": (Kind.Suspended,),
    "Resume": (Kind.Resumed,),
}
MENDS = ("Restart", "Heal", "Resume")


def faults(branch: Branch) -> list[JsonDict]:
    """Return the faults of a run that can be moved: number of the action, what it is, when it happened (ms).

    `mends` says that it takes one back, as a restart does. The first start of a broker is none of them.
    """
    found: list[JsonDict] = []
    last = 0  # us
    for no, action in enumerate(branch.body.get("actions", ())):
        if not _is_fault(branch, no):
            continue
        at = duration(action["at"], "at") if "at" in action else _seen(branch, action, last)
        if at is not None:
            last = max(last, at)
            mends = action["do"] in MENDS
            found.append({"action": no, "text": _called(action), "ms": at / 1000, "mends": mends})
    return found


def _is_fault(branch: Branch, number: int) -> bool:
    actions = branch.body["actions"]
    if actions[number]["do"] != "Restart":
        return actions[number]["do"] in HAPPENED
    names = about(actions[number])
    return any(one["do"] in ("Crash", "Stop") and about(one) & names for one in actions[:number])


def _seen(branch: Branch, action: JsonDict, since: int) -> int | None:
    """Return when an action of the script happened (us), as the first event of its kind since then tells."""
    names = about(action)
    for row in branch.trace.rows(*HAPPENED[action["do"]]):
        event = branch.trace.event(row)
        if event.t >= since and names & {event.broker, event.frm, event.to}:
            return int(event.t)
    return None


def _called(action: JsonDict) -> str:
    return told({key: value for key, value in action.items() if key != "at"})


def ends(branch: Branch, number: int, times: Sequence[int]) -> JsonDict:
    """Return how a run ends with a fault at each of the times (us), until a moment is over: at least the first.

    `text` is what differs from the run itself, `lost` and `twice` count messages; `error`: it cannot be played.
    """
    _action(branch, number)  # what is no fault is an error of the question, not of one moment
    own, played = Outcome.of(branch.trace), 0
    found: list[JsonDict] = []
    for at in times:
        try:
            trace = play(_with(branch, number, at), branch.setting, MOST_EVENTS)
        except MqlabError as error:
            found.append({"ms": at / 1000, "text": str(error), "lost": 0, "twice": 0, "error": True})
            continue
        outcome = Outcome.of(trace)
        text = own.difference(outcome)
        found.append(
            {"ms": at / 1000, "text": text, "lost": outcome.lost, "twice": outcome.twice, "error": False}
        )
        played += len(trace)
        if played > AT_ONCE:
            break
    return {"found": found}


def moved(branch: Branch, number: int, at: int) -> Branch:
    """Return the run in which a fault happens at another time (us)."""
    text = f"{_called(_action(branch, number))} at {told_time(at)}"
    return branch.then(text, _with(branch, number, at), text)


def _with(branch: Branch, number: int, at: int) -> Scenario:
    actions = [*branch.body["actions"]]
    actions[number] = {**_action(branch, number), "at": f"{at}us"}
    return inputs.scenario_of({**branch.body, "actions": actions})


def _action(branch: Branch, number: int) -> JsonDict:
    actions = branch.body.get("actions", ())
    if not isinstance(number, int) or not 0 <= number < len(actions) or actions[number]["do"] not in HAPPENED:
        raise BadValue(f"action {shown(number)} is not a fault that can be moved")
    found: JsonDict = actions[number]
    return found
