"""Sentences from a trace: why a message is where it is, or why it is not.

Every sentence says the time, what happened, and the rule with its source; it is read off the
events alone, so that it holds for any trace, from memory, from a file or from Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.values import Destination
from mqlab.trace import questions
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind, Rule
from mqlab.trace.trace import Trace

TIMED = re.compile(r"\S+ ms  ")  # how a sentence of the trace begins


@dataclass(frozen=True, slots=True)
class Explanation:
    """A title and the sentences under it."""

    title: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {line}" for line in self.lines)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the sentences as a table: the time, what happened, and why."""
        cells = (
            line.partition("  ") if TIMED.match(line) else ("", "", line) for line in self.lines
        )
        rows = "".join(
            f'<tr><td style="white-space:nowrap">{escape(time)}</td>'
            f'<td style="text-align:left">{escape(what)}</td></tr>'
            for time, _, what in cells
        )
        return f"<p><b>{escape(self.title)}</b></p><table><tbody>{rows}</tbody></table>"


def explain(
    trace: Trace, *, message: str | int | None = None, consumer: str | None = None,
    broker: str | None = None, why_not: str | None = None,
) -> Explanation:  # fmt: skip
    """Explain one message, one consumer or one broker of a run; the whole run if none is named.

    *message* is a number or a name such as ``"P-7"``. With *why_not* the answer is why that
    consumer did not get the message. Raises `UnknownName` for a name that is not in the trace.
    """
    if why_not is not None:
        if message is None or consumer or broker:
            raise BadValue("why_not goes with a message: explain(trace, message=..., why_not=...)")
        return why_not_received(trace, message, why_not)
    asked = [name for name in (message, consumer, broker) if name is not None]
    if len(asked) > 1:
        raise BadValue("explain one thing at a time: a message, a consumer or a broker")
    if message is not None:
        return of_message(trace, message)
    if consumer is not None:
        return of_consumer(trace, consumer)
    if broker is not None:
        return of_broker(trace, broker)
    return of_run(trace)


def of_message(trace: Trace, message: str | int) -> Explanation:
    """Tell a message's way from its producer to where it ended."""
    number = trace.message(message)
    name = trace.message_name(number)
    rows = [row for row, msg in enumerate(trace.column("msg")) if msg == number]
    lines = [sentence(trace, trace.event(row)) for row in rows]
    ends = [_end(trace, row) for row in questions.copies(trace, number)]
    return Explanation(f"Message {name}: {'; '.join(ends) or 'gone'}.", tuple(filter(None, lines)))


def why_not_received(trace: Trace, message: str | int, consumer: str) -> Explanation:
    """Tell why a consumer did not get a message: who did, by which rule, and what held C back."""
    counts = trace.received()
    if consumer not in counts:
        raise UnknownName.of("consumer", consumer, counts)
    number = trace.message(message)
    name = trace.message_name(number)
    rows = [row for row, msg in enumerate(trace.column("msg")) if msg == number]
    events = [trace.event(row) for row in rows]
    if any(e.kind == Kind.Received and e.to == consumer for e in events):
        return Explanation(f"{consumer} did get message {name}.", ())
    lines = list(_never_asked(trace, consumer, events[0]))
    news = [
        trace.event(row) for row in range(len(trace))
        if trace.column("kind")[row] == Kind.Refused and consumer in _asked_by(trace, row)
    ]  # fmt: skip
    lines += [sentence(trace, event) for event in news]
    decided = (Kind.Dispatched, Kind.Forwarded, Kind.Held, Kind.Discarded, Kind.Expired,
               Kind.DeadLettered, Kind.Refused)  # fmt: skip
    lines += [sentence(trace, event) for event in events if event.kind in decided]
    ends = "; ".join(_end(trace, row) for row in questions.copies(trace, number)) or "it is gone"
    return Explanation(
        f"{consumer} did not get message {name}: {ends}.", tuple(dict.fromkeys(filter(None, lines)))
    )


def _never_asked(trace: Trace, consumer: str, sent: Event) -> Iterator[str]:
    """Yield what is to be said of the consumer's own subscription, beside the sent message."""
    asked = [e for e in trace.events() if e.kind == Kind.Subscribed and e.frm == consumer]
    for event in asked:
        names = (Destination.parse(text) for text in (event.destination, sent.destination) if text)
        reads, to = names
        if not any(
            element.takes(target) for element in reads.elements() for target in to.elements()
        ):
            yield f"{consumer} reads {reads}, and the message went to {to}."
    if not asked:
        yield f"{consumer} never subscribed."
    elif asked[0].t > sent.t:
        yield f"{consumer} subscribed at {asked[0].t / 1000:g} ms, after the message was sent."
    left = [
        e for e in trace.events()
        if e.kind == Kind.Unsubscribed and asked and e.subscription == asked[-1].subscription
    ]  # fmt: skip
    if left:
        yield f"{consumer} left at {left[-1].t / 1000:g} ms."


def _end(trace: Trace, row: int) -> str:
    event = trace.event(row)
    path = " > ".join(questions.route(trace, row))
    if event.kind == Kind.Received:
        return f"received by {event.to} (path {path})"
    if event.destination and event.destination.startswith("topic://"):
        return f"ended at {event.broker} (path {path})"
    return f"waits at {event.broker} (path {path})"


def of_consumer(trace: Trace, consumer: str) -> Explanation:
    """Tell which subscriptions the network made for a consumer, and what it received."""
    counts = trace.received()
    if consumer not in counts:
        raise UnknownName.of("consumer", consumer, counts)
    lines = [
        sentence(trace, trace.event(row)) for row in range(len(trace))
        if consumer in _asked_by(trace, row)
    ]  # fmt: skip
    title = f"Consumer {consumer}: received {counts[consumer]} messages."
    return Explanation(title, tuple(filter(None, lines)))


_NEWS = (Kind.Subscribed, Kind.Unsubscribed, Kind.Advised, Kind.Refused, Kind.Merged)


def _asked_by(trace: Trace, row: int) -> set[str]:
    """Return the consumers whose subscribing led to *row*."""
    if trace.column("kind")[row] not in _NEWS:
        return set()
    names, roles, frm = trace.names["node"], trace.names["node_role"], trace.column("frm")
    return {
        names[frm[r]] for r in questions.chain(trace, row)
        if frm[r] >= 0 and roles[frm[r]] == "consumer"
    }  # fmt: skip


def of_broker(trace: Trace, broker: str) -> Explanation:
    """Tell what a broker is asked for, and what waits there and why."""
    nodes = dict(zip(trace.names["node"], trace.names["node_role"], strict=True))
    if nodes.get(broker) != "broker":
        raise UnknownName.of("broker", broker, [n for n, r in nodes.items() if r == "broker"])
    told = (*_NEWS, Kind.RoleChanged, Kind.Voted)
    events = [e for e in trace.events() if e.broker == broker and e.kind in told]
    lines = [sentence(trace, event) for event in events if event.message is None]
    lines += list(_waiting(trace, broker))
    held = sum(map(len, trace.waiting().get(broker, {}).values()))
    return Explanation(f"Broker {broker}: {held} messages wait there.", tuple(filter(None, lines)))


def of_run(trace: Trace) -> Explanation:
    """Tell who received what, and what waits where and why."""
    counts = trace.received()
    lines = [f"{name} received {count}." for name, count in counts.items()]
    for broker in trace.waiting():
        lines += list(_waiting(trace, broker))
    if trace.header.get("real"):
        lines.append(f"The guide and the real broker: {trace.header['real']}")
    total = sum(1 for kind in trace.column("kind") if kind == Kind.Sent)
    return Explanation(f"{total} messages were sent.", tuple(lines))


def _waiting(trace: Trace, broker: str) -> Iterator[str]:
    """Yield one sentence for each reason for which messages wait at *broker*."""
    why: dict[int, int] = {}
    node = trace.names["node"].index(broker)
    for row, kind in enumerate(trace.column("kind")):
        if kind == Kind.Held and trace.column("broker")[row] == node:
            why[trace.column("msg")[row]] = row
    for destination, numbers in trace.waiting().get(broker, {}).items():
        groups: dict[Rule, list[int]] = {}
        for number in numbers:
            rule = trace.event(why[number]).rule if number in why else Rule.none
            groups.setdefault(rule, []).append(number)
        for rule, found in groups.items():
            names = _some([trace.message_name(number) for number in found])
            reason = _because(rule) or ": handed to a client that has not acknowledged"
            yield f"{len(found)} of {destination} wait at {broker} ({names}){reason}."


def _some(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]} to {names[-1]}"


def _because(rule: Rule) -> str:
    if not rule.sentence:
        return ""
    return f": {rule.sentence}" + (f" [{rule.source}]" if rule.source else "")


def sentence(trace: Trace, event: Event) -> str:
    """Return one event as a sentence; empty for what tells a reader nothing."""
    tell = _TELL.get(event.kind)
    if tell is None:
        return ""
    detail = dict(trace.detail(event.row))
    what = tell(event)
    if event.kind == Kind.RoleChanged and "role" in detail:
        what = f"{event.broker} is now {str(detail.pop('role')).replace('_', ' ')}"
    told = ", ".join(
        f"{key} {value}" for key, value in detail.items() if not isinstance(value, dict)
    )
    return f"{event.t / 1000:g} ms  {what}{f' ({told})' * bool(told)}{_because(event.rule)}."


def _via(event: Event) -> str:
    return f" over {event.link}" if event.link else ""


_TELL: dict[Kind, Callable[[Event], str]] = {
    Kind.Started: lambda e: f"{e.broker} started",
    Kind.Restarted: lambda e: f"{e.broker} started again",
    Kind.Stopped: lambda e: f"{e.broker} stopped",
    Kind.Connected: lambda e: f"bridge {e.link} is up, {e.frm} to {e.to}",
    Kind.Disconnected: lambda e: f"bridge {e.link} is down",
    Kind.Subscribed: lambda e: f"{e.broker} has the subscription {e.subscription}",
    Kind.Unsubscribed: lambda e: f"{e.broker} drops the subscription {e.subscription}",
    Kind.Advised: lambda e: f"{e.to} hears from {e.frm}{_via(e)} of a consumer of {e.destination}",
    Kind.Refused: lambda e: (
        f"{e.to}: no subscription of {e.destination}{_via(e)}" if e.message is None
        else f"{e.broker} may not forward it{_via(e)}"
    ),
    Kind.Merged: lambda e: f"{e.to} adds the consumer to {e.subscription}",
    Kind.Sent: lambda e: f"{e.frm} sent it to {e.destination} at {e.to}",
    Kind.Enqueued: lambda e: f"{e.broker} took it over from {e.frm}{_via(e)}",
    Kind.Dispatched: lambda e: f"{e.broker} handed it to {e.to}",
    Kind.Forwarded: lambda e: f"{e.frm} forwarded it to {e.to}{_via(e)}",
    Kind.Received: lambda e: f"{e.to} received it, {e.age / 1000:g} ms after it was sent",
    Kind.Redelivered: lambda e: f"{e.to} gets it again, marked as redelivered",
    Kind.Held: lambda e: f"nobody at {e.broker} can take it now",
    Kind.Returned: lambda e: f"it went back to its queue at {e.broker}",
    Kind.Discarded: lambda e: f"it was dropped at {e.broker}",
    Kind.Browsed: lambda e: f"{e.to} looked at it",
    Kind.Attempted: lambda e: f"{e.frm} tried to reach {e.to}",
    Kind.Attached: lambda e: f"{e.frm} is connected to {e.to}",
    Kind.Interrupted: lambda e: f"{e.frm} has lost its connection",
    Kind.Waited: lambda e: f"{e.frm or e.broker} waits {e.age / 1000:g} ms before the next try",
    Kind.Told: lambda e: f"{e.frm} names brokers to {e.to}",
    Kind.Suspended: lambda e: f"{e.broker} stands still",
    Kind.Resumed: lambda e: f"{e.broker} goes on",
    Kind.Crashed: lambda e: f"{e.broker} crashed",
    Kind.Locked: lambda e: f"{e.broker} has the lock",
    Kind.LockLost: lambda e: f"{e.broker} has lost its lock",
    Kind.Voted: lambda e: f"{e.broker} asked the cluster for its votes",
    Kind.Replicated: lambda e: f"{e.to} has copied {e.frm or e.broker}",
    Kind.RoleChanged: lambda e: f"{e.broker} has another role",
    Kind.Partitioned: lambda e: f"the line to {e.broker or e.to} is cut",
    Kind.Healed: lambda e: f"the line to {e.broker or e.to} is whole again",
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
