"""One event as a sentence: the time, what happened, and the reason with its source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from mqlab.explain import groups
from mqlab.spec.json_types import JsonDict
from mqlab.spec.network_names import DATABASE
from mqlab.spec.values import told_time
from mqlab.trace import accounts, questions
from mqlab.trace.event import Event
from mqlab.trace.fates import BURIED
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.questions import BLOCKS
from mqlab.trace.trace import Trace

SERVING = ("live", "master")
_SAID = dict.fromkeys((Kind.Stopped, Kind.Crashed), Reason.broker_stopped)
IN_TURN = (Reason.queue_turn, Reason.broker_turn)
BALLOTS = {"yes": "voted for it", "no": "voted against it", "no answer": "did not answer"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """What happened, when (us), and why, each by itself until it is printed.

    `source` is the guide and section behind the reason; what has no reason may cite one, too.
    """

    text: str  # without a full stop
    t: int | None = None
    reason: Reason = Reason.none
    source: str = ""

    def __str__(self) -> str:
        return self.said() if self.t is None else f"{told_time(self.t)}  {self.said()}"

    def said(self, *, cited: bool = True) -> str:
        """Return it without the time, and without the source unless it is *cited*."""
        why = f": {self.reason.sentence}" if self.reason else ""
        return f"{self.text}{why}{f' [{self.source}]' if cited and self.source else ''}."


Line = Sentence | str  # of an answer; what is of no single moment may be plain text
Tell = Callable[[Trace, Event, JsonDict], Line]


def sentence(trace: Trace, event: Event) -> Sentence | None:
    """Return one event as a sentence; None for what tells a reader nothing."""
    tell = SENTENCES[event.kind]
    if not tell:
        return None
    detail = dict(trace.detail(event.row))
    if isinstance(tell, str):
        who = event.frm or event.broker
        told: Line = tell.format(e=event, over=_over(event), who=who, age=told_time(event.age))
    else:
        told = tell(trace, event, detail)
    if isinstance(told, str):
        # That somebody asked for it is no reason but of what became of a message; _SAID is told already.
        untold = event.message is None and event.rule in (Reason.asked, _SAID.get(event.kind))
        reason = Reason.none if untold else event.rule
        if reason in IN_TURN and str(event.destination).startswith("topic://"):
            reason = Reason.every_subscriber  # each has a queue of its own, in which nobody else takes turns
        told = Sentence(told, reason=reason, source=cited(trace, reason))
    rest = ", ".join(f"{key} {value}" for key, value in detail.items() if not isinstance(value, dict))
    return replace(told, t=event.t, text=f"{told.text} ({rest})" if rest else told.text)


def cited(trace: Trace, reason: Reason) -> str:
    """Return the source of a reason; none if it is a guide of another product."""
    others = {"activemq": (), "artemis": ("Fuse", "ActiveMQ")}.get(
        trace.product, ("Fuse", "ActiveMQ", "Artemis")
    )
    return "" if reason.source.startswith(others) else reason.source


def _over(event: Event) -> str:
    return f" over {event.link}" if event.link else ""


# A function takes out of an event's details what its sentence says; the others follow in brackets.


def _refused(trace: Trace, event: Event, detail: JsonDict) -> str:
    if event.message is None:
        return f"{event.to} created no subscription to {event.destination}{_over(event)}"
    return f"{event.broker} does not forward it{_over(event)}"


def _enqueued(trace: Trace, event: Event, detail: JsonDict) -> Line:
    if event.frm not in (event.broker, None):
        return f"{event.broker} enqueued it, received from {event.frm}{_over(event)}"
    before = None if event.cause is None else trace.column("kind")[event.cause]
    if before in BURIED or before == Kind.Returned:
        return f"{event.broker} enqueued it {'again' if before == Kind.Returned else f'in {event.destination}'}"
    text = f"{event.broker} copied it to {event.destination} (virtual destination)"
    return Sentence(text, source="ActiveMQ, virtual destinations")


def _of_group(trace: Trace, event: Event, text: str) -> Line:
    """Add to a dispatch the message group that decided, or that its taker owns from now on."""
    owned = groups.owner(trace, event)
    if owned is None:
        return text
    if owned.row == event.row:
        return f"{text}, which owns message group {owned.group} from now on"
    return Sentence(
        f"{text}, which has owned message group {owned.group} since {owned.since}",
        source=groups.SOURCES[trace.product],
    )


def _held(trace: Trace, event: Event, detail: JsonDict) -> Line:
    if event.rule in BLOCKS:  # for which its producer waits
        return f"{event.broker} has not accepted it yet"
    owned = groups.holder(trace, event)
    text = f"it stays at {event.broker}"
    return Sentence(f"{text}: {owned}", source=groups.SOURCES[trace.product]) if owned else text


def _forwarded(trace: Trace, event: Event, detail: JsonDict) -> Line:
    text = f"{event.frm} forwarded it to {event.to}{_over(event)}"
    if event.to in questions.route(trace, event.row):  # it has been there, and may go back
        return Sentence(text, reason=Reason.replay, source=Reason.replay.source)
    return _of_group(trace, event, text)


def _discarded(trace: Trace, event: Event, detail: JsonDict) -> Line:
    """Tell that a message is gone, or if queues have copies of it, that no consumer reads its topic."""
    kinds, causes = trace.column("kind"), trace.column("cause")
    for row in trace.rows_of(event.message) if event.rule == Reason.no_subscription and event.message else ():
        if kinds[row] == Kind.Enqueued and causes[row] == event.cause:
            return Sentence(f"{event.broker} has no consumer of {event.destination} itself")
    return f"it was dropped at {event.broker}"


def _redelivered(trace: Trace, event: Event, detail: JsonDict) -> Line:
    """Tell why the same consumer has it once more, unless it has been back in its queue, which says so."""
    text = f"{event.to} received it again, with the redelivered flag set"
    kinds, to = trace.column("kind"), trace.column("to")
    rows = trace.rows_of(event.message) if event.message else ()
    for row in reversed([row for row in rows if row < event.row]):
        if kinds[row] == Kind.Received and to[row] == to[event.row]:
            return Sentence(text, reason=Reason.rolled_back)
        if kinds[row] in (Kind.Returned, Kind.Enqueued, Kind.TakenOver):
            break
    return text


def _failed(trace: Trace, event: Event, detail: JsonDict) -> Line:
    if event.rule == Reason.start_failed and detail.get("message"):  # which says more than the rule does
        del detail["class"]
        return Sentence(f"{event.broker} did not start: {detail.pop('message')}")
    if event.frm:
        return f"a call by {event.frm} failed"
    return f"{event.broker} could not carry out the request"


def _locked(trace: Trace, event: Event, detail: JsonDict) -> str:
    taken = detail.pop("takes over", "")
    return f"{event.broker} takes over {taken}" if taken else f"{event.broker} acquired the lock"


def _role_changed(trace: Trace, event: Event, detail: JsonDict) -> str:
    if "role" not in detail:
        return f"{event.broker} changed role"
    return f"{event.broker} is now {str(detail.pop('role')).replace('_', ' ')}"


def _partitioned(trace: Trace, event: Event, detail: JsonDict) -> str:
    return f"{_line(event, detail)} was cut"


def _healed(trace: Trace, event: Event, detail: JsonDict) -> str:
    return f"{_line(event, detail)} was restored"


def _line(event: Event, detail: JsonDict) -> str:
    if "between" in detail:
        return f"the link between {detail.pop('between')}"
    if event.frm and event.to:
        return f"the link between {event.frm} and {event.to}"
    end = detail.pop("line", event.broker or event.to)
    return f"the link to {'the database' if end == DATABASE else end}"


def _voted(trace: Trace, event: Event, detail: JsonDict) -> Line:
    """Tell that a slave asked for votes, or a master whether it is in the majority, and who voted how."""
    ballots = detail.get("ballots")
    cast = ballots.items() if isinstance(ballots, dict) else ()
    said = {word: [name for name, ballot in cast if ballot == word] for word in BALLOTS}
    votes = "".join(f"; {', '.join(names)} {BALLOTS[word]}" for word, names in said.items() if names)
    if accounts.role_at(trace, event.broker or "", event.t) not in SERVING:
        return f"{event.broker} started a quorum vote{votes}"
    if event.rule == Reason.vote_won:
        outcome = "it is, and keeps serving"
    else:
        ends = (trace.event(row) for row in trace.rows(Kind.Stopped) if row > event.row)
        stops = any(end.broker == event.broker for end in ends)
        outcome = f"it is not, and {'stops' if stops else 'keeps serving nevertheless'}"
    asked = "which lost its replica, started a vote on whether it is still in the majority"
    return Sentence(f"{event.broker}, {asked}: {outcome}{votes}")


def _attached(trace: Trace, event: Event, detail: JsonDict) -> str:
    detail.pop("to", None)
    return f"{event.frm} is connected to {event.to}"


def _intervened(trace: Trace, event: Event, detail: JsonDict) -> Line:
    return str(detail.pop("what", "the environment of the brokers was changed"))


# Every kind has its sentence here: a text (`e` is the event), a function, or "" where a reader learns nothing.
SENTENCES: dict[Kind, str | Tell] = {
    Kind.Started: "{e.broker} started",
    Kind.Stopped: "{e.broker} stopped",
    Kind.Connected: "bridge {e.link} is up, {e.frm} to {e.to}",
    Kind.Disconnected: "bridge {e.link} is down",
    Kind.Subscribed: "{e.broker} created subscription {e.subscription}",
    Kind.Unsubscribed: "{e.broker} removed subscription {e.subscription}",
    Kind.Advised: "{e.to} received the consumer advisory for {e.destination} from {e.frm}{over}",
    Kind.Refused: _refused,
    Kind.Merged: "{e.to} adds the consumer to {e.subscription}",
    Kind.Sent: "{e.frm} sent it to {e.destination} at {e.to}",
    Kind.Enqueued: _enqueued,
    Kind.Dispatched: lambda trace, event, _: _of_group(
        trace, event, f"{event.broker} dispatched it to {event.to}"
    ),
    Kind.Forwarded: _forwarded,
    Kind.Received: "{e.to} received it, {age} after it was sent",
    Kind.Acknowledged: "",
    Kind.Held: _held,
    Kind.Returned: "it was returned to its queue at {e.broker}",
    Kind.Discarded: _discarded,
    Kind.Expired: "it expired at {e.broker}",
    Kind.DeadLettered: "{e.broker} took it out as a dead letter",
    Kind.Redelivered: _redelivered,
    Kind.Failed: _failed,
    Kind.Crashed: "{e.broker} crashed",
    Kind.Restarted: "{e.broker} restarted",
    Kind.Partitioned: _partitioned,
    Kind.Healed: _healed,
    Kind.Locked: _locked,
    Kind.RoleChanged: _role_changed,
    Kind.Replicated: "{e.to} is in sync with {who}",
    Kind.TakenOver: "{e.broker} recovered it from the store",
    Kind.FailedOver: "{e.frm} failed over to another broker",
    Kind.Redirected: "",
    Kind.Voted: _voted,
    Kind.Attempted: "{e.frm} tried to reach {e.to}",
    Kind.Attached: _attached,
    Kind.Interrupted: "{e.frm} has lost its connection",
    Kind.Told: "{e.frm} sent {e.to} the list of brokers in the cluster",
    Kind.Waited: "{who} waits {age} before the next attempt",
    Kind.Announced: "",
    Kind.Suspended: "{e.broker} was suspended",
    Kind.Resumed: "{e.broker} resumed",
    Kind.Answered: "",
    Kind.LockLost: "{e.broker} has lost its lock",
    Kind.BridgeUp: "{e.frm} established a bridge",
    Kind.BridgeDown: "{e.frm} lost a bridge",
    Kind.Browsed: "{e.to} browsed it",
    Kind.Intervened: _intervened,
}
