"""One event as a sentence: the time, what happened, and the rule with its source."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from mqlab.spec.scenario import DATABASE
from mqlab.trace import accounts, questions
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace

SERVING = ("live", "master")


@cache
def because(rule: Reason) -> str:
    """Return the rule and its source as the end of a sentence; empty for none."""
    if not rule.sentence:
        return ""
    return f": {rule.sentence}" + (f" [{rule.source}]" if rule.source else "")


def ms(time: int) -> str:
    """Return a time (us) as it is read: ``12.5 ms``."""
    return f"{time / 1000:g} ms"


def sentence(trace: Trace, event: Event) -> str:
    """Return one event as a sentence; empty for what tells a reader nothing."""
    tell = _TELL.get(event.kind)
    if tell is None:
        return ""
    detail = dict(trace.detail(event.row))
    what, rule = tell(event), event.rule
    if event.kind == Kind.RoleChanged and "role" in detail:
        what = f"{event.broker} is now {str(detail.pop('role')).replace('_', ' ')}"
    elif (
        event.kind == Kind.Voted and accounts.role_at(trace, event.broker or "", event.t) in SERVING
    ):
        what, rule = _vote_of_master(trace, event), Reason.none
    elif event.kind == Kind.Forwarded and event.to in questions.route(trace, event.row):
        rule = Reason.replay  # it has been there, and may go back
    elif event.kind in (Kind.Partitioned, Kind.Healed):
        what = f"{_line(event, detail)} {what}"
    if event.rule == Reason.asked and event.message is None:
        rule = Reason.none  # somebody did it: that is no reason
    if event.kind == Kind.Voted:
        what += _ballots(detail.get("ballots"))
    told = ", ".join(
        f"{key} {value}" for key, value in detail.items() if not isinstance(value, dict)
    )
    return f"{ms(event.t)}  {what}{f' ({told})' * bool(told)}{because(rule)}."


def _line(event: Event, detail: dict[str, object]) -> str:
    """Name the line that is cut or healed, and take its name out of what else is told of it."""
    if "between" in detail:
        return f"the line between {detail.pop('between')}"
    if event.frm and event.to:
        return f"the line between {event.frm} and {event.to}"
    end = detail.pop("line", event.broker or event.to)
    return f"the line to {'the database' if end == DATABASE else end}"


def _ballots(ballots: object) -> str:
    """Tell who cast which vote, where a trace knows."""
    if not isinstance(ballots, dict):
        return ""
    said = {word: [name for name, ballot in ballots.items() if ballot == word] for word in _CAST}
    return "".join(f"; {', '.join(names)} {_CAST[word]}" for word, names in said.items() if names)


def _vote_of_master(trace: Trace, event: Event) -> str:
    """Tell how a master that serves asked whether it is in the majority, and what it did then."""
    asked = (
        f"{event.broker}, which has lost its slave, asked the cluster whether it is in the majority"
    )
    if event.rule == Reason.vote_won:
        return f"{asked}: it is, and goes on serving"
    ends = (trace.event(row) for row in trace.rows(Kind.Stopped) if row > event.row)
    stops = any(end.broker == event.broker for end in ends)
    return f"{asked}: it is not, and {'stops' if stops else 'serves on all the same'}"


def _via(event: Event) -> str:
    return f" over {event.link}" if event.link else ""


_CAST = {"yes": "voted for it", "no": "voted against it", "no answer": "did not answer"}

_TELL: dict[Kind, Callable[[Event], str]] = {
    Kind.Started: lambda e: f"{e.broker} started",
    Kind.Restarted: lambda e: f"{e.broker} started again",
    Kind.Stopped: lambda e: f"{e.broker} stopped",
    Kind.Connected: lambda e: f"bridge {e.link} is up, {e.frm} to {e.to}",
    Kind.Disconnected: lambda e: f"bridge {e.link} is down",
    Kind.Subscribed: lambda e: f"{e.broker} has the subscription {e.subscription}",
    Kind.Unsubscribed: lambda e: f"{e.broker} drops the subscription {e.subscription}",
    Kind.Advised: lambda e: f"{e.to} gets the consumer advisory of {e.destination} from {e.frm}{_via(e)}",
    Kind.Refused: lambda e: (
        f"{e.to}: no subscription of {e.destination}{_via(e)}" if e.message is None
        else f"{e.broker} may not forward it{_via(e)}"
    ),
    Kind.Merged: lambda e: f"{e.to} adds the consumer to {e.subscription}",
    Kind.Sent: lambda e: f"{e.frm} sent it to {e.destination} at {e.to}",
    Kind.Enqueued: lambda e: (
        f"{e.broker} put a copy into {e.destination}: so its virtual destination says "
        "[ActiveMQ, virtual destinations]" if e.frm == e.broker
        else f"{e.broker} took it over from {e.frm}{_via(e)}"
    ),
    Kind.Dispatched: lambda e: f"{e.broker} dispatched it to {e.to}",
    Kind.Forwarded: lambda e: f"{e.frm} forwarded it to {e.to}{_via(e)}",
    Kind.Received: lambda e: f"{e.to} received it, {ms(e.age)} after it was sent",
    Kind.Redelivered: lambda e: f"{e.to} gets it again, marked as redelivered",
    Kind.Held: lambda e: f"nobody at {e.broker} can take it now",
    Kind.Returned: lambda e: f"it went back to its queue at {e.broker}",
    Kind.Discarded: lambda e: f"it was dropped at {e.broker}",
    Kind.Browsed: lambda e: f"{e.to} looked at it",
    Kind.Attempted: lambda e: f"{e.frm} tried to reach {e.to}",
    Kind.Attached: lambda e: f"{e.frm} is connected to {e.to}",
    Kind.Interrupted: lambda e: f"{e.frm} has lost its connection",
    Kind.Waited: lambda e: f"{e.frm or e.broker} waits {ms(e.age)} before the next try",
    Kind.Told: lambda e: f"{e.frm} names brokers to {e.to}",
    Kind.Suspended: lambda e: f"{e.broker} stands still",
    Kind.Resumed: lambda e: f"{e.broker} goes on",
    Kind.Crashed: lambda e: f"{e.broker} crashed",
    Kind.Locked: lambda e: f"{e.broker} has the lock",
    Kind.LockLost: lambda e: f"{e.broker} has lost its lock",
    Kind.Voted: lambda e: f"{e.broker} asked the cluster for its votes",
    Kind.Replicated: lambda e: f"{e.to} has copied {e.frm or e.broker}",
    Kind.RoleChanged: lambda e: f"{e.broker} has another role",
    Kind.Partitioned: lambda e: "is cut",
    Kind.Healed: lambda e: "is whole again",
    Kind.BridgeUp: lambda e: f"{e.frm} has a bridge",
    Kind.BridgeDown: lambda e: f"{e.frm} has lost a bridge",
    Kind.TakenOver: lambda e: f"{e.broker} has it out of the store",
    Kind.FailedOver: lambda e: f"{e.frm} went to another broker",
    Kind.Failed: lambda e: (
        f"a call of {e.frm} ended in an error" if e.frm
        else f"{e.broker} could not do what it was asked for"
    ),
    Kind.Expired: lambda e: f"it expired at {e.broker}",
    Kind.DeadLettered: lambda e: f"it became a dead letter at {e.broker}",
}  # fmt: skip
