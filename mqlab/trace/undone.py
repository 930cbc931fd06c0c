"""What was asked of a run and not done: actions, clients that never connected, messages never sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mqlab.errors import Call
from mqlab.spec.action import Action, Consumer, Producer, Wait
from mqlab.spec.clients import Client
from mqlab.spec.json_types import JsonDict
from mqlab.spec.naming import called
from mqlab.spec.plural import counted
from mqlab.spec.values import duration, told_time
from mqlab.trace.accounts import role_at, roles
from mqlab.trace.fates import failed_starts
from mqlab.trace.kinds import SLAVE, Kind, Reason
from mqlab.trace.never import idle_fields, never
from mqlab.trace.unsent import GROUPS, attempts, refused, uncommitted, unsent

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

STARTS_ONE = ("Restart", "StartBroker", "StartAs")  # by name, as no run of one product loads all actions
STARTS = ("Start", "StartBrokers", *STARTS_ONE)
BY_THEMSELVES = ("auto", "dups_ok")  # modes in which a client acknowledges by itself (JMS 2.0, 6.2.10)
NOT_UP = ("down", "starting", "stopped")  # roles of who has not come up yet
_ENDS = {"Crash": Kind.Crashed, "Stop": Kind.Stopped, "Pause": Kind.Suspended}


@dataclass(frozen=True, slots=True)
class Undone:
    """Something that was asked for and did not happen, and why (empty: unknown); `calls` are what to write."""

    what: str
    why: str = ""
    calls: tuple[Call, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.what}: {self.why}" if self.why else self.what


def undone(trace: Trace) -> tuple[Undone, ...]:
    """Return what a run was asked for and has not done, in the order of the script; empty if all was done.

    Of a part of a run nothing can be said; of what was read from logs, what they do not tell.
    """
    if "scenario" not in trace.header or trace.part:
        return tuple(_row(**row) for row in trace.header.get("unknown", ()))
    rows = [_row(**row) for row in trace.header.get("undone", ())]
    found = [
        *rows,
        *_nothing(trace),
        *_links(trace),
        *_not_started(trace),
        *_failed_starts(trace),
        *_faults(trace, {row.what for row in rows}),
        *(clients := [*_clients(trace, {row.what for row in rows})]),
        *_late(trace),
        *_no_database(trace),
        *_held_up(trace),
        *(Undone(f"Producer {name}", why) for name, why in refused(trace)),
        *(Undone(what, why) for what, why in never(trace)),
        *(missing := [*_messages(trace)]),
        *_problems(trace, {row.what for row in (*missing, *clients)}),
        *(Undone(row["what"], row["why"]) for row in trace.header.get("not_played", ())),
    ]
    return tuple(dict.fromkeys(found))


def _row(what: str, why: str, calls: Iterable[JsonDict] = ()) -> Undone:
    return Undone(what, why, tuple(Call(one["noun"], *one["given"], **one["named"]) for one in calls))


def _nothing(trace: Trace) -> Iterator[Undone]:
    """Yield a network without a broker, and what asks of a queue that it be durable."""
    if "broker" not in trace.names["node_role"]:
        yield Undone("Network", "it has no broker, so nothing can happen; add one, e.g. mq.Broker('A')")
    for action in trace.actions:
        if isinstance(action, (Consumer, Producer)):
            yield from (Undone(f"{type(action).__name__} {action.name}", why) for why in idle_fields(action))
        if isinstance(action, Consumer) and action.subscription_name and not _is_durable(trace, action):
            why = "subscription_name names a durable or shared subscription, and this is none; add durable=True"
            yield Undone(f"Consumer {action.name}", why)
        if isinstance(action, Consumer) and action.acknowledge is False and action.ack_mode in BY_THEMSELVES:
            why = f"ack_mode={action.ack_mode!r} acknowledges by itself, whatever acknowledge says"
            if not _acknowledges(trace, action.name):
                why = f"a real client acknowledges by itself with ack_mode={action.ack_mode!r}; mqlab does not"
            yield Undone(f"Consumer {action.name}", f"{why}; use ack_mode='client' or 'transacted'")


def _acknowledges(trace: Trace, consumer: str) -> bool:
    """Whether all that a consumer has received has been acknowledged."""
    names, to, messages = trace.names["node"], trace.column("to"), trace.column("msg")
    received = {messages[row] for row in trace.rows(Kind.Received) if names[to[row]] == consumer}
    return received <= {messages[row] for row in trace.rows(Kind.Acknowledged)}


def _is_durable(trace: Trace, consumer: Consumer) -> bool:
    """Whether a subscription that has a name is one that has names: on a client each is durable."""
    on_a_client = consumer.on not in _brokers(trace) or trace.product == "artemis"
    return consumer.durable or on_a_client or bool(consumer.options.get("shared"))


def _brokers(trace: Trace) -> set[str]:
    nodes = zip(trace.names["node"], trace.names["node_role"], strict=True)
    return {name for name, what in nodes if what == "broker"}


def _problems(trace: Trace, told: set[str]) -> Iterator[Undone]:
    """Yield what a lab could not do, but for the clients that are *told* of: their rows say why."""
    for problem in trace.header.get("problems", ()):
        who, _, what = problem.partition(": ")
        down = what.endswith(("is not running", SLAVE))
        if told.isdisjoint((f"Consumer {who}", f"Producer {who}" if down else "")):
            yield Undone(problem)


def _links(trace: Trace) -> Iterator[Undone]:
    """Yield the links with properties of their own that lead to a name which nothing has."""
    there = set(trace.names["node"])
    for one, other, _ in trace.header.get("links", {}).get("between", ()):
        for name in (one, other):
            if name not in there:
                yield Undone(f"Link {one} - {other}", f"nothing in this run is called {name}")


def _not_started(trace: Trace) -> Iterator[Undone]:
    """Yield the brokers that a script starts none of, as it begins with the start of another one."""
    start = Call("Start")
    began = _named(trace, Kind.RoleChanged, "broker") | _named(trace, Kind.Started, "broker")
    if trace.actions and not began and not any(type(one).__name__ in STARTS for one in trace.actions):
        yield Undone("Network", f"no broker was started, as this script begins without {start}", (start,))
    if not trace.actions or type(trace.actions[0]).__name__ not in STARTS_ONE:
        return
    roles = zip(trace.names["node"], trace.names["node_role"], strict=True)
    for broker in (name for name, role in roles if role == "broker" and name not in began):
        told = f"never started, as a script that begins with {called(trace.actions[0])} starts no other broker"
        yield Undone(f"Broker {broker}", f"{told}; begin it with {start}", (start,))


def _failed_starts(trace: Trace) -> Iterator[Undone]:
    """Yield the brokers of ActiveMQ whose start ended in an error, which it writes down."""
    brokers, names = trace.column("broker"), trace.names["node"]
    for row in failed_starts(trace, names):
        said = trace.detail(row).get("message", "")
        yield Undone(f"Broker {names[brokers[row]]}", f"it did not start: {said}")


def _clients(trace: Trace, told: set[str]) -> Iterator[Undone]:
    """Yield the consumers that never subscribed, and clients never connected, but those that *told* has."""
    there = {
        "Consumer": _named(trace, Kind.Subscribed, "frm"),
        **dict.fromkeys(GROUPS, _named(trace, Kind.Attached, "frm")),
    }
    browsed = _named(trace, Kind.Browsed, "to") | _named(trace, Kind.Received, "to")
    for action in trace.actions:
        kind = type(action).__name__
        known = kind not in there or not told.isdisjoint((called(action), f"{kind} {action.name}"))  # type: ignore[attr-defined]
        if known or action.name in there[kind] | browsed:  # type: ignore[attr-defined]
            continue
        done = "never subscribed" if kind == "Consumer" else "never connected"
        why = failure(trace, action.name)  # type: ignore[attr-defined]
        if isinstance(action, Client):
            why = _refusal(trace, action.name) + _slave(trace, action.uri)
        yield Undone(f"{kind} {action.name}", f"{done}; {why}" if why else done)  # type: ignore[attr-defined]


def failure(trace: Trace, name: str) -> str:
    """Return why a consumer, or another client, got an error at last; empty if it did not."""
    names, frm, rules = trace.names["node"], trace.column("frm"), trace.column("rule")
    failed = [rules[row] for row in trace.rows(Kind.Failed) if frm[row] >= 0 and names[frm[row]] == name]
    said = dict(problem.partition(": ")[::2] for problem in trace.header.get("problems", ()))
    return Reason(failed[-1]).sentence if failed else said.get(name, "")


def _slave(trace: Trace, uri: str) -> str:
    """Return that a client's address leads to a slave, if it does."""
    known = {broker for broker, changes in roles(trace).items() if changes[-1][1] == "slave"}
    host = uri.partition("//")[2].partition(":")[0]
    told = f"; {host} {SLAVE}: name its master, too, in failover:(...)"
    return told if host in known and "(" not in uri else ""


def _refusal(trace: Trace, client: str) -> str:
    """Return why a client never connected: how its call ended, else what came of its last attempt."""
    for call in trace.header.get("calls", ()):
        if call.get("do") == "connect" and call.get("client") == client and "error" in call:
            return str(call["error"]["message"])
    if tried := attempts(trace, {no for no, name in enumerate(trace.names["node"]) if name == client}):
        return Reason(trace.column("rule")[tried[-1]]).sentence
    return "no address of it is one that a client can try, such as tcp://A:61616"


def _faults(trace: Trace, told: set[str]) -> Iterator[Undone]:
    """Yield crashes, stops and pauses of brokers that were not running, and starts that never ended.

    *told* are actions that did not begin. An event belongs to the action whose time is the last before it.
    """
    brokers = _brokers(trace)
    happened = {kind: _times(trace, kind) for kind in (*_ENDS.values(), Kind.Started)}
    asked: dict[tuple[Kind, str], list[tuple[int, Action]]] = {}
    for action in trace.actions:
        broker = getattr(action, "broker", getattr(action, "who", None))
        if broker not in brokers or called(action) in told:
            continue
        if type(action).__name__ == "Restart" and broker not in happened[Kind.Started]:
            if role_at(trace, broker, trace.end) in NOT_UP:  # a slave that waits has done what was asked
                yield Undone(called(action), "the run ended before it had started")
        elif type(action).__name__ in _ENDS:
            time = 0 if action.at is None else duration(action.at, "at")
            asked.setdefault((_ENDS[type(action).__name__], broker), []).append((time, action))
    for (kind, broker), timed in asked.items():
        for end in happened[kind].get(broker) or _downs(trace, broker, happened):
            before = [one for one in timed if one[0] <= end]
            if before:
                timed.remove(max(before, key=lambda one: one[0]))
        paused = kind == Kind.Suspended and broker in happened[kind]
        for _, action in timed:
            yield Undone(called(action), f"the broker was {'paused already' if paused else 'not running'}")


def _downs(trace: Trace, broker: str, happened: dict[Kind, dict[str, list[int]]]) -> list[int]:
    """Return when a broker that served nobody, such as a slave, went down: only its role tells that."""
    known = {time for times in happened.values() for time in times.get(broker, ())}
    own = roles(trace).get(broker, ())
    return [time for time, role in own if role in ("down", "stopped") and time not in known]


def _times(trace: Trace, kind: Kind) -> dict[str, list[int]]:
    names, numbers, times = trace.names["node"], trace.column("broker"), trace.column("t")
    found: dict[str, list[int]] = {}
    for row in trace.rows(kind):
        found.setdefault(names[numbers[row]], []).append(times[row])
    return found


def _late(trace: Trace) -> Iterator[Undone]:
    """Yield the consumers that opened after messages of a producer that comes later in the script.

    An action without `at` waits until the network is at rest, one with `at` does not: mixed, the order changes.
    """
    opened = _first(trace, Kind.Subscribed)
    sent = _first(trace, Kind.Sent)
    before: list[Consumer] = []
    for action in trace.actions:
        if isinstance(action, Consumer) and action.at is None:
            before.append(action)
        elif isinstance(action, Producer) and action.at is not None and action.name in sent:
            for consumer in before:
                time, reads = opened.get(consumer.name, 0), consumer.reads.elements()
                if time > sent[action.name] and any(one.takes(action.to) for one in reads):
                    yield Undone(
                        f"Consumer {consumer.name}",
                        f"subscribed at {told_time(time)}, after {action.name} had sent to {action.to} at "
                        f"{told_time(sent[action.name])}, because actions without at= wait for rest; "
                        "give it at='0s'",
                    )


def _no_database(trace: Trace) -> Iterator[Undone]:
    """Yield a database that was away while brokers of ActiveMQ took messages that are kept in it."""
    specs = trace.header["scenario"].get("brokers", ()) if trace.product == "activemq" else ()
    stores = {broker["name"] for broker in specs if broker.get("store") == "jdbc"}
    lost = {one.name for one in trace.actions if isinstance(one, Producer) and not one.persistent}
    rows = [*trace.rows(Kind.Partitioned, Kind.Healed, Kind.Sent, Kind.Enqueued)] if stores else []
    kinds, names, messages = trace.column("kind"), trace.names["node"], trace.column("msg")
    brokers, frm = trace.column("broker"), trace.column("frm")
    away, stored, kept = False, set[int](), set[int]()
    for row in rows:
        if kinds[row] == Kind.Sent:
            if names[frm[row]] not in lost:
                kept.add(messages[row])
        elif kinds[row] != Kind.Enqueued:
            told = trace.detail(row)
            if told.get("line") == "database":
                away = told.get("how", "reset_once") != "reset_once"
        elif away and names[brokers[row]] in stores and messages[row] in kept:
            stored.add(messages[row])
    if stored:
        what = f"{counted(len(stored), 'persistent message')} stored while it was away"
        yield Undone(
            "DatabaseDown", f"{what}: mqlab plays no store errors, and a real broker cannot store them"
        )


def _held_up(trace: Trace) -> Iterator[Undone]:
    """Yield the stops of brokers after which the script went on only when a producer beside it was done.

    An action without `at` is over when the network is at rest, and with such a producer it is not.
    """
    ended = {name: _times(trace, kind) for name, kind in _ENDS.items()}
    begun = {"Restart": _times(trace, Kind.Restarted), **ended}
    sent = _last(trace, Kind.Sent)
    sending: dict[str, int] = {}  # producer in the background -> when it sent its last message
    held: tuple[Action, int, str] | None = None
    waits = 0  # us, of waits that were asked for since then
    for action in trace.actions:
        kind = type(action).__name__
        if isinstance(action, Wait):
            waits += duration(action.time, "time")
        if isinstance(action, Producer) and action.in_background and action.name in sent:
            sending[action.name] = sent[action.name]
        name = getattr(action, "broker", getattr(action, "who", None))
        times = begun.get(kind, {}).get(str(name), ())
        if action.at is not None or len(times) != 1:  # of several it is not known which is whose
            continue
        if held is not None and times[0] - waits >= sent[held[2]]:
            what, time, producer = held
            waited = f"from {told_time(time)} to {told_time(sent[producer])}, when {producer} had sent all"
            why = f"actions without at= wait for rest, so the next one waited {waited}; give them at="
            yield Undone(called(what), why)
            return
        late = [one for one, last in sending.items() if last > times[0]]
        if held is None and late and kind in _ENDS:
            held, waits = (action, times[0], max(late, key=lambda one: sending[one])), 0


def _last(trace: Trace, kind: Kind) -> dict[str, int]:
    """Return client -> when it last did this (us)."""
    names, times = trace.names["node"], trace.column("t")
    frm = trace.column("frm")
    return {names[frm[row]]: times[row] for row in trace.rows(kind) if frm[row] >= 0}


def _first(trace: Trace, kind: Kind) -> dict[str, int]:
    """Return client -> when it first did this (us)."""
    names, times = trace.names["node"], trace.column("t")
    found: dict[str, int] = {}
    for (number,), (row, _) in trace.tallied((kind,), "frm").items():
        if number >= 0:
            found.setdefault(names[number], times[row])
    return found


def _named(trace: Trace, kind: Kind, column: str) -> set[str]:
    return {trace.names["node"][number] for (number,) in trace.tallied((kind,), column) if number >= 0}


def _messages(trace: Trace) -> Iterator[Undone]:
    """Yield the producers that have sent fewer messages than they were to send."""
    for one in unsent(trace):
        why = f"{one.missing} of {counted(one.planned, 'message')} never sent"
        yield Undone(f"Producer {one.producer}", f"{why}; {one.why}" if one.why else why)
    for producer, count, client, session in uncommitted(trace):
        what = f"{counted(count, 'message')} of {producer}"
        why = f"in the transaction of session {session} of {client}, which was not committed"
        commit = Call("Commit", client, session=session)
        yield Undone(what, f"{why}; add {commit}", (commit,))
