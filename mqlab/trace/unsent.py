"""Messages that were to be sent and never were, and why their producer did not send them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mqlab.spec.action import Action, Commit, Producer, Rollback
from mqlab.spec.clients import OpenSession
from mqlab.spec.plural import counted
from mqlab.spec.values import duration, told_time
from mqlab.trace.accounts import roles
from mqlab.trace.fates import Fate, down_since
from mqlab.trace.kinds import SLAVE, Kind, Reason

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

GROUPS = ("Client", "Session")  # what consumers and producers are on, besides brokers; by name, as no run
# of one product loads the actions of another
CONNECTS_AGAIN = "a client with failover:(...) in its address connects again"
OPENING = "its producer waits to be opened, which has no limit: timeout limits sends only [ActiveMQ rule 11.11]"


@dataclass(frozen=True, slots=True)
class Unsent:
    """A producer that has sent fewer messages than it was to send: how many it was to, how many it has not.

    `why` is empty where the run does not tell.
    """

    producer: str
    planned: int
    missing: int
    why: str


def unsent(trace: Trace) -> list[Unsent]:
    """Return the producers of a run that have not sent all of their messages, in the order of the script.

    A part of a run does not tell.
    """
    if trace.part:
        return []
    groups = {action.name for action in trace.actions if type(action).__name__ in GROUPS}  # type: ignore[attr-defined]
    planned, product = Counter[str](), trace.product
    on: dict[str, list[tuple[int, Action]]] = {}
    for place, action in enumerate(trace.actions):
        if isinstance(action, Producer):  # Artemis' sessions send under their own name
            name = action.on if product == "artemis" and action.on in groups else action.name
        elif hasattr(action, "sends"):  # OpenMQ's Send, of a producer that is open
            name = action.producer  # type: ignore[attr-defined]
        else:
            continue
        planned[name] += action.sends
        on.setdefault(name, []).append((place, action))
    names, sent = trace.names["node"], Counter[str]()
    for node, numbers in trace.index.sent.items():
        sent[names[node]] += len(numbers)
    found = []
    for name, count in planned.items():
        if count > sent[name]:
            found.append(Unsent(name, count, count - sent[name], _why(trace, name, on[name])))
    return found


def refused(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield the producers whose messages no broker took: how many, and the first reason."""
    names, messages, frm = trace.names["node"], trace.column("msg"), trace.column("frm")
    failed = [row for row in trace.rows(Kind.Failed) if messages[row] >= 0 and frm[row] >= 0]
    taken = {messages[row] for row in trace.rows(Kind.Enqueued)} if failed else set()
    rows: dict[str, dict[int, int]] = {}
    for row in failed:
        if messages[row] not in taken:
            rows.setdefault(names[frm[row]], {}).setdefault(messages[row], row)
    for producer, found in rows.items():
        why = Reason(trace.column("rule")[next(iter(found.values()))]).sentence
        yield producer, f"{counted(len(found), 'message')} not accepted; {why}"


def uncommitted(trace: Trace) -> Iterator[tuple[str, int, str, str | None]]:
    """Yield producer, messages, client and session of what was sent in a transaction that nothing has ended."""
    open_: dict[tuple[str, str | None], Counter[str]] = {}
    for action in _in_time(trace.actions):
        if isinstance(action, OpenSession) and action.transacted:
            open_[action.client, action.session] = Counter()
        elif isinstance(action, Producer) and (sent := open_.get((action.on, action.session))) is not None:
            sent[action.name] += action.sends
        elif isinstance(action, (Commit, Rollback)) and (sent := open_.get((action.who, action.session))):
            sent.clear()
    if not any(open_.values()):
        return
    names, account = trace.names["node"], trace.account()
    never = Counter[str]()
    for node, numbers in trace.index.sent.items():
        fates = [account[number].fate for number in numbers if number in account]
        never[names[node]] = fates.count(Fate.never_accepted)
    for (client, name), sends in open_.items():
        for producer, planned in sends.items():
            if count := min(planned, never[producer]):
                yield producer, count, client, name


def _in_time(actions: Sequence[Action]) -> Sequence[Action]:
    """Return actions in the order of their times, where all have one; else as they are written."""
    timed = [one for one in actions if one.at is not None]
    if len(timed) < len(actions) - 1:  # the start that a run adds has none
        return actions
    return sorted(actions, key=lambda one: 0 if one.at is None else duration(one.at, "at"))


def _why(trace: Trace, name: str, actions: list[tuple[int, Action]]) -> str:
    """Return why a producer stopped: how its call ended, who gave up, what blocks it, which broker is down."""
    clients = {name, *(getattr(action, "on", name) for _, action in actions)}
    names, frm, rules, times = trace.names["node"], *map(trace.column, ("frm", "rule", "t"))
    for row in reversed(trace.rows(Kind.Failed)):
        who = names[frm[row]] if frm[row] >= 0 else ""
        if who in clients and rules[row] == Reason.gave_up:
            return f"{who} gave up at {told_time(times[row])}"
        if who in clients and rules[row] == Reason.not_created:
            return Reason.not_created.sentence
    places = {place for place, _ in actions}
    for call in trace.about.get("calls", ()):  # ActiveMQ's
        for failed in (*call.get("failed", ()), *([call["error"]] if "error" in call else ())):
            if call["step"] in places:
                return str(failed["message"]).rstrip(".")
    refused: list[int] = []
    for operation in trace.about.get("operations", ()):  # OpenMQ's, which counts from 1
        if operation["step"] - 1 in places:
            refused += operation.get("refused", ())
            if operation.get("result") == "blocked" and not (_paused(trace, clients) or _down(trace, clients)):
                return f"{Reason.limit_reached.sentence}: the producer waits for room (FLOW_CONTROL)"
    away = _apart(trace, clients)
    opening = away and name not in {names[number] for (number,) in trace.tallied((Kind.Sent,), "frm")}
    told = f"{away}; {OPENING}" if opening and _has_timeout(trace, clients) else away
    at_end = _blocked(trace, name, refused) or _down(trace, clients) or told or _idle(trace, clients)
    return at_end or _lost(trace, name, actions)


def _has_timeout(trace: Trace, clients: set[str]) -> bool:
    """Whether a client has the option `timeout` of failover in its address."""
    own = [one for one in trace.actions if type(one).__name__ == "Client" and one.name in clients]  # type: ignore[attr-defined]
    return any(re.search(r"[?&]timeout=\d", one.uri) for one in own)  # type: ignore[attr-defined]


def _blocked(trace: Trace, name: str, refused: list[int]) -> str:
    """Return why the last message that a producer sent, or tried to, was accepted by no broker."""
    account, names = trace.account(), trace.names["node"]
    sent = [of[-1] for node, of in trace.index.sent.items() if names[node] == name and len(of)]
    for number in (*sent, *refused[:1]):
        if number in account and account[number].fate == Fate.never_accepted and account[number].rule:
            return account[number].why
    return ""


def _apart(trace: Trace, clients: set[str]) -> str:
    """Return since when a producer's client has no connection; of one that never had any, why."""
    names, frm, rules = trace.names["node"], trace.column("frm"), trace.column("rule")
    roles = zip(names, trace.names["node_role"], strict=True)
    own = {no for no, (name, role) in enumerate(roles) if role == "client" and name in clients}  # no brokers
    last = [row for row in trace.rows(Kind.Attached, Kind.Interrupted) if frm[row] in own][-1:]
    for row in last:
        lost = trace.column("kind")[row] == Kind.Interrupted
        since = told_time(trace.column("t")[row])
        return f"{names[frm[row]]} lost its broker at {since} and has found no other" if lost else ""
    tried = attempts(trace, own)
    return f"{names[frm[tried[-1]]]} never connected: {Reason(rules[tried[-1]]).sentence}" if tried else ""


def attempts(trace: Trace, nodes: set[int]) -> list[int]:
    """Return the rows in which one of some nodes, by number, tried to connect."""
    frm = trace.column("frm")
    return [row for row in trace.rows(Kind.Attempted) if frm[row] in nodes]


def _near(trace: Trace, clients: set[str]) -> set[str]:
    """Return the names of a producer's clients, and of what they were opened on."""
    names, homes = trace.names["node"], trace.names["node_home"]
    return {homes[no] for no, name in enumerate(names) if name in clients} | clients


def _lost(trace: Trace, name: str, actions: list[tuple[int, Action]]) -> str:
    """Return which broker a producer lost for good, though it is up again: one by itself does not come back."""
    names, brokers = trace.names["node"], trace.column("broker")
    homes = {getattr(action, "on", name) for _, action in actions}
    for row in reversed(trace.rows(Kind.Crashed, Kind.Stopped)):
        if names[brokers[row]] in homes:
            why = f"which ended its connection; {CONNECTS_AGAIN}"
            return f"{_ended(trace, row)}, {why}"
    return ""


def _idle(trace: Trace, clients: set[str]) -> str:
    """Return which broker of a producer takes no clients at the end: it is paused, or a slave."""
    last = {name: changes[-1][1] for name, changes in roles(trace).items()}
    slaves = (n for n in sorted(_near(trace, clients)) if last.get(n, "").startswith(("slave", "backup")))
    return _paused(trace, clients) or next((f"{name} {SLAVE}" for name in slaves), "")


def _paused(trace: Trace, clients: set[str]) -> str:
    """Return which broker of a producer is paused at the end, and since when."""
    names, brokers, kinds = trace.names["node"], trace.column("broker"), trace.column("kind")
    last = {names[brokers[row]]: row for row in trace.rows(Kind.Suspended, Kind.Resumed)}
    for name in sorted(_near(trace, clients) & last.keys()):
        if kinds[last[name]] == Kind.Suspended:
            return f"{name} was paused at {told_time(trace.column('t')[last[name]])}"
    return ""


def _down(trace: Trace, clients: set[str]) -> str:
    """Return which broker of a producer is down at the end, and since when."""
    names, near = trace.names["node"], _near(trace, clients)
    for node, row in down_since(trace).items():
        if names[node] in near:
            return _ended(trace, row)
    return ""


def _ended(trace: Trace, row: int) -> str:
    did = "crashed" if trace.column("kind")[row] == Kind.Crashed else "stopped"
    return f"{trace.names['node'][trace.column('broker')[row]]} {did} at {told_time(trace.column('t')[row])}"
