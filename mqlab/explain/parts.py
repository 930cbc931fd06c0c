"""One consumer and one broker of a run: what was asked for on behalf of it, what waits there."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator

from mqlab.errors import UnknownName
from mqlab.explain import crowds, groups
from mqlab.explain.explanation import Explanation
from mqlab.explain.news import NEWS, on_behalf
from mqlab.explain.script import openings
from mqlab.explain.sentences import Line, Sentence, cited, sentence
from mqlab.spec.plural import counted
from mqlab.spec.values import Destination
from mqlab.trace.account import why_it_waits
from mqlab.trace.fates import Fate, down_since, failed_starts
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace
from mqlab.trace.unsent import CONNECTS_AGAIN

TOLD = (
    *NEWS,
    Kind.RoleChanged,
    Kind.Voted,
    Kind.Crashed,
    Kind.Stopped,
    Kind.Restarted,
    Kind.Suspended,
    Kind.Resumed,
    Kind.Locked,
    Kind.LockLost,
    Kind.Partitioned,
    Kind.Healed,
    Kind.Intervened,
)

_UP_OR_DOWN = (Kind.Crashed, Kind.Stopped, Kind.Restarted, Kind.Suspended, Kind.Resumed)


def of_consumer(trace: Trace, consumer: str) -> Explanation:
    """Tell which subscriptions the network made for a consumer, how its client fared, and what it received.

    What waits in its queues, or was lost there, says why it did not receive more.
    """
    counts, opened = trace.received(), openings(trace, consumer)
    if consumer not in counts and opened:
        return Explanation(f"Consumer {consumer}: never opened.", tuple(not_done(trace, consumer)))
    if consumer not in counts:
        raise UnknownName.of("consumer", consumer, counts)
    homes = {action.on for action in opened}
    its = {consumer, *homes}  # a client has the connection of its consumers
    names, frm, at = trace.names["node"], trace.column("frm"), trace.column("broker")
    fared = [row for row in trace.rows(Kind.FailedOver, Kind.Failed) if names[frm[row]] in its]
    fared += [row for row in trace.rows(*_UP_OR_DOWN) if names[at[row]] in homes]  # of its broker
    events = (sentence(trace, trace.event(row)) for row in sorted({*on_behalf(trace, consumer), *fared}))
    dated = [*filter(None, events), *left_alone(trace, consumer)]
    told: list[Line] = [*sorted(dated, key=lambda line: line.t or 0)]
    read = [one for action in opened for one in action.reads.elements() if one.is_queue]
    queues = {name for name in trace.names["dest"] if any(one.takes(Destination.parse(name)) for one in read)}
    dests = {no for no, name in enumerate(trace.names["dest"]) if name in queues}
    holders = (broker for broker, held in trace.waiting().items() if queues & held.keys())
    left = (line for broker in holders for line in waiting(trace, broker, dests))
    told += [*itertools.islice(left, crowds.MOST), *gone(trace, dests), *not_done(trace, consumer)]
    title = f"Consumer {consumer}: received {counted(counts[consumer], 'message')}."
    return Explanation(title, tuple(told))


def not_done(trace: Trace, consumer: str) -> Iterator[str]:
    """Yield what was not done of the opening of a consumer, or is of no use in it."""
    for row in trace.undone:
        if f"{row.what} ".startswith(f"Consumer {consumer} "):
            yield f"Not done: {row}."


def left_alone(trace: Trace, consumer: str, when: str = "") -> Iterator[Sentence]:
    """Yield that a consumer of ActiveMQ without a list of brokers has lost its own for good."""
    names, frm, at = trace.names["node"], trace.column("frm"), trace.column("broker")
    opened = openings(trace, consumer)
    alone = opened and opened[-1].on in names and not opened[-1].others
    if trace.product != "activemq" or not alone or trace.part:
        return
    mine = [row for row in trace.rows(Kind.Subscribed, Kind.Unsubscribed) if names[frm[row]] == consumer]
    ends = [row for row in trace.rows(Kind.Crashed, Kind.Stopped) if mine and row > mine[-1]]
    end = next((row for row in ends if at[row] == at[mine[-1]]), None)
    if end is not None and trace.column("kind")[mine[-1]] == Kind.Subscribed:
        text = f"{consumer} lost its connection with {names[at[end]]}{when}"
        yield Sentence(f"{text}; {CONNECTS_AGAIN}", trace.column("t")[end])


def of_broker(trace: Trace, broker: str) -> Explanation:
    """Tell what a broker is asked for, and what waits there and why."""
    nodes = dict(zip(trace.names["node"], trace.names["node_role"], strict=True))
    if nodes.get(broker) != "broker":
        raise UnknownName.of("broker", broker, [n for n, r in nodes.items() if r == "broker"])
    node, kinds, at = (
        trace.names["node"].index(broker),
        trace.column("kind"),
        trace.column("broker"),
    )
    msg, frm = trace.column("msg"), trace.column("frm")
    rows = [r for r, kind in enumerate(kinds) if kind in TOLD and at[r] == node and msg[r] < 0]
    rows = sorted({*rows, *failed_starts(trace, {broker})})
    if trace.is_of_logs:
        to = trace.column("to")
        bridges = trace.rows(Kind.Connected, Kind.Disconnected, Kind.Attempted)
        rows = sorted({*rows, *(r for r in bridges if node in (at[r], to[r]))})
    rows = [r for r in rows if kinds[r] != Kind.Locked or frm[r] >= 0]  # of its own store its role says it
    told: list[Line | None] = [*crowds.events(trace, rows), *crowds.consumers(trace, broker)]
    told += [*scaled_down(trace, broker), *waiting(trace, broker)]
    held = sum(map(len, trace.waiting().get(broker, {}).values()))
    return Explanation(f"Broker {broker}: {counted(held, 'message')} waiting.", tuple(filter(None, told)))


def scaled_down(trace: Trace, broker: str | None = None) -> Iterator[Sentence]:
    """Yield who transferred messages to whom by scale-down: of all brokers, or to and from *broker*."""
    rules, ends = trace.column("rule"), (trace.column("frm"), trace.column("to"))
    moved: dict[tuple[str, str], int] = {}
    for row in trace.rows(Kind.Forwarded) if Reason.scale_down in rules else ():
        if rules[row] == Reason.scale_down:
            one, other = (trace.names["node"][column[row]] for column in ends)
            moved[one, other] = moved.get((one, other), 0) + 1
    for (one, other), count in moved.items():
        if broker in (None, one, other):
            text = f"{one} transferred {counted(count, 'message')} to {other} by scale-down"
            yield Sentence(text, source=cited(trace, Reason.scale_down))


def waiting(trace: Trace, broker: str, dests: Container[int] | None = None) -> Iterator[Sentence]:
    """Yield one sentence for each reason for which messages wait at *broker*, in *dests* if they are given."""
    lying, node = trace.tally().lying, trace.names["node"].index(broker)
    down = node in down_since(trace)
    kept = ": the broker is down; its store holds them", Reason.none
    groups: dict[tuple[int, str, Reason], list[int]] = {}
    for at, dest, msg, told in zip(lying.broker, lying.dest, lying.msg, lying.told, strict=True):
        if at == node and (dests is None or dest in dests):
            groups.setdefault((dest, *(kept if down else _why(trace, told))), []).append(msg)
    for (dest, why, reason), found in groups.items():
        queue, names = trace.names["dest"][dest], crowds.some([trace.message_name(number) for number in found])
        held = counted(len(found), f"message of {queue} is", f"messages of {queue} are")
        text = f"{held} waiting at {broker} ({names}){why}"
        yield Sentence(text, reason=reason, source=cited(trace, reason))


def gone(trace: Trace, dests: Container[int] | None = None) -> Iterator[str]:
    """Yield one sentence for each fate and reason of messages that nobody got and nobody has."""
    _, *lines = trace.account().table(without=(Fate.consumed, Fate.waiting), dests=dests)
    for fate, count, why, which in lines:
        yield f"{count} {fate}: {why or 'no broker holds them any more'} ({which})."


def _why(trace: Trace, row: int) -> tuple[str, Reason]:
    """Return why a message waits, in words or by a reason, as the account says it."""
    event = trace.event(row)
    if group := groups.holder(trace, event):
        return f": {group}", Reason.none
    if event.kind in (Kind.Dispatched, Kind.Received, Kind.Forwarded) or not event.rule:
        return f": {why_it_waits(event)}", Reason.none
    return "", event.rule
