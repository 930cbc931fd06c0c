"""Why a consumer did not get a message: what decided, read off the trace and the script it carries.

First what lies with the consumer (it never asked, reads something else, its selector, it came late or had
left), then what kept the message from its broker (advisory of the consumer that went no further, hops,
lists, a bridge that was down), then what became of the message instead (another's turn, a limit, a
fault, an end). What does not concern this consumer and this message is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from mqlab.explain import groups, script
from mqlab.explain.case import ENDED, Case, of_kind
from mqlab.explain.explanation import Cause, Explanation
from mqlab.explain.message import ends, of_message
from mqlab.explain.parts import left_alone, not_done
from mqlab.explain.sentences import Line, Sentence, sentence
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace.event import Event
from mqlab.trace.fates import failed_starts
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace
from mqlab.trace.undone import failure

ASKED = 20  # consumers, of a message that waits: to look at each takes milliseconds
# Rules of a dispatch that say no more than that somebody else was asked first.
TURNS = (Reason.none, Reason.turn, Reason.only_taker, Reason.queue_turn)


def why_not_received(trace: Trace, message: str | int, consumer: str) -> Explanation:
    """Tell why a consumer did not get a message: who did, by which rule, and what held it back."""
    if consumer not in trace.received() and script.openings(trace, consumer):
        name = trace.message_name(trace.message(message))
        title = f"{consumer} did not receive message {name}: it was never opened."
        return Explanation(title, tuple(not_done(trace, consumer)))
    case = Case(trace, message, consumer)
    if case.received:
        told_of = of_message(trace, case.number)
        return Explanation(f"{consumer} received message {case.name}.", told_of.told)
    causes = list(dict.fromkeys(_decided(case)))
    told = sorted(causes, key=lambda cause: cause.row if cause.row >= 0 else -1)
    end = "; ".join(ends(trace, case.number)) or "no broker or client holds it any more"
    lines = dict.fromkeys(cause.told for cause in told)
    return Explanation(f"{consumer} did not receive message {case.name}: {end}.", tuple(lines), tuple(causes))


def _decided(case: Case) -> Iterator[Cause]:
    own = list(_consumer(case))
    yield from own
    if not case.lives or any(cause.rule == Reason.none and cause.row < 0 for cause in own):
        return  # it never asked for such a message, or was away: nothing else matters
    way = list(_way(case))
    instead = [] if own or way else list(_instead(case))
    known = {cause.rule for cause in own}
    end = [cause for cause in _end(case) if cause.rule not in known]
    yield from (*way, *instead, *end)
    if not (own or way or instead or end):
        yield from _elsewhere(case)


def _by(case: Case, event: Event, *about: str) -> Cause:
    """Return an event that decided, in its own sentence."""
    return Cause(sentence(case.trace, event) or str(event), event.rule, event.row, about)


def kept_from(trace: Trace, number: int) -> Iterator[Line]:
    """Yield what kept a message that waits from the consumers of other brokers that read its destination."""
    if trace.part:  # the consumers' advisories may be outside
        return
    counts, kinds = trace.received(), trace.column("kind")
    names = dict.fromkeys(event.frm for event in of_kind(trace, Kind.Subscribed))
    told = set[str]()  # whoever the consumer is
    for consumer in islice((name for name in names if name in counts), ASKED):
        case = Case(trace, number, str(consumer))
        if any(left is None for _, left in case.ends) and any(map(case.reads, map(str, case.targets))):
            for cause in _way(case):
                apart = cause.row < 0 or kinds[cause.row] in (Kind.Refused, Kind.Disconnected)
                said = cause.told if isinstance(cause.told, str) else cause.told.said()
                alike = said.replace(case.consumer, "")
                # Else its own way has said so.
                if (apart or cause.rule == Reason.redistribution) and alike not in told:
                    told.add(alike)
                    yield cause.told


# The consumer itself


def _consumer(case: Case) -> Iterator[Cause]:
    """Yield what lies with the consumer: it reads something else, selects otherwise, was not there."""
    consumer, sent = case.consumer, case.events[0]
    if not case.lives:
        why = failure(case.trace, consumer)
        yield Cause(f"{consumer} never subscribed{': ' if why else ''}{why}.")
        return
    if not any(map(case.reads, map(str, case.targets))):
        listed = ", ".join(sorted({str(e.destination) for e in case.lives}))
        yield Cause(f"{consumer} consumes from {listed}; the message was sent to {sent.destination}.")
        return
    refusing = script.refusing_selector(case.trace, case.number, consumer)
    if refusing is not None:
        yield Cause(
            f"{consumer} has the selector {refusing}; the message has "
            f"{_listed(script.asked_by(refusing, case.trace, case.number))}.",
            Reason.selector,
        )
    yield from _absence(case)


def _listed(properties: dict[str, object]) -> str:
    return ", ".join(f"{key} = {value!r}" for key, value in properties.items()) or "no properties"


def _absence(case: Case) -> Iterator[Cause]:
    """Yield that the consumer was not there: it came when the message was gone, or had left."""
    consumer, sent = case.consumer, case.events[0]
    first = case.lives[0]
    if first.row > case.over:
        text = f"{consumer} subscribed after the message was sent"
        yield Cause(Sentence(text, first.t), row=first.row, about=("subscribes",))
    if not case.homes and case.lives[0].t <= sent.t:
        left = case.ends[-1][1]
        assert left is not None
        died = left.kind in (Kind.Crashed, Kind.Stopped)
        how = f"lost its broker {left.broker}" if died else "left"
        usual = Sentence(f"{consumer} {how} at {told_time(left.t)}, before the message was sent", left.t)
        told = next(left_alone(case.trace, consumer, " before the message was sent"), usual)
        yield Cause(told, Reason.broker_stopped if died else Reason.consumer_left, left.row)


# The way to its broker


def _way(case: Case) -> Iterator[Cause]:
    """Yield what kept the message from the consumer's broker, where it did not get there."""
    if case.been & case.homes or not case.been or not case.homes:
        return
    near = [e for e in case.refusals if e.broker in case.been]
    gone = [over for event, over in case.stood if event.broker in case.been and over is not None]
    if not case.asked_for:
        for event in gone or near or case.refusals:
            yield _by(case, event)
        if not case.refusals and not gone:
            yield from _no_bridge(case)
    elif case.trace.product != "activemq":
        yield from _parted(case)
    yield from _late(case)
    for event in case.events:
        if event.kind == Kind.Refused or (
            event.kind == Kind.Held
            and event.rule != Reason.prefetch_full
            and event.rule != Reason.no_subscription
        ):
            yield _by(case, event)


def _parted(case: Case) -> Iterator[Cause]:
    """Yield that the line from where the message was to the consumer's broker was down as it was decided on."""
    last: dict[tuple[str | None, str | None], Event] = {}
    lines = (case.trace.event(row) for row in case.trace.rows(Kind.Connected, Kind.Disconnected))
    for event in lines:
        if event.frm in case.been and event.to in case.homes and event.row < case.events[-1].row:
            last[event.frm, event.to] = event
    for event in last.values():
        if event.kind == Kind.Disconnected:
            yield replace(_by(case, event), rule=Reason.bridge_down)


def _late(case: Case) -> Iterator[Cause]:
    """Yield that a consumer of another broker of Artemis came when the message lay in its queue already."""
    here, life = case.events[-1], case.lives[-1]
    if here.kind == Kind.Held and here.rule == Reason.nobody_reads and life.row > here.row:
        text = f"{case.consumer} subscribed at {life.broker}: only a redistribution-delay of 0 or more moves"
        moved = Sentence(f"{text} what waits at {here.broker}", life.t, source=Reason.redistribution.source)
        yield Cause(moved, Reason.redistribution, life.row)


def _no_bridge(case: Case) -> Iterator[Cause]:
    """Yield that no bridge leads on from where the message was, or that it is down."""
    names = case.trace.names
    onward: dict[str, set[str]] = {}
    for frm, to in zip(names["link_from"], names["link_to"], strict=True):
        onward.setdefault(frm, set()).add(to)
    reached, seen = list(case.been), set(case.been)
    while reached:
        for name in onward.get(reached.pop(), ()):
            if name not in seen:
                seen.add(name)
                reached.append(name)
    here, there = ", ".join(sorted(case.been)), ", ".join(sorted(case.homes))
    if not case.homes & seen:
        text = f"There is no bridge from {here} to {there}, where {case.consumer} is connected."
        yield Cause(text, about=("duplex",))
        for row in failed_starts(case.trace, names["node"]):  # such a broker has no bridges
            yield _by(case, case.trace.event(row))
        return
    for event in of_kind(case.trace, Kind.Disconnected):
        if event.frm in case.been and event.to in seen:
            yield replace(_by(case, event), rule=Reason.bridge_down)


# What became of it instead


def _elsewhere(case: Case) -> Iterator[Cause]:
    """Yield who had it, where nothing was asked for on behalf of the consumer; else where it stayed."""
    given = [e for e in case.events if e.kind in groups.GIVEN and case.reads(e.destination)]
    if case.shared and given:
        for event in given:
            yield _by(case, event, _winner(case, event))
        return
    here = ", ".join(sorted(case.been)) or "nobody"
    if there := ", ".join(sorted(case.homes - case.been)):
        text = f"{here} did not forward it to {there}, where {case.consumer} is connected."
        yield Cause(text, about=("LocalOnly", "duplex"))
        return
    put = (e for e in case.events if e.kind == Kind.Enqueued and not case.reads(e.destination))
    instead = " and ".join(dict.fromkeys(str(event.destination) for event in put))
    text = f"put it into {instead}, which {case.consumer} does not read" if instead else "did not offer it"
    yield Cause(f"{here} {text}.")


def _instead(case: Case) -> Iterator[Cause]:
    """Yield why it went to somebody else, where the consumer might have had it as well."""
    if not case.shared:
        return
    for event in case.events:
        if event.kind not in groups.GIVEN or event.to == case.consumer:
            continue
        if event.broker not in case.asked_for or not case.reads(event.destination):
            continue
        full = _full(case, event)
        if full is not None:
            yield full
            continue
        cause = _by(case, event, _winner(case, event))
        owner = groups.owner(case.trace, event)
        if owner is not None and owner.row < event.row:
            cause = replace(cause, rule=Reason.group_owner)
        yield cause


def _winner(case: Case, event: Event) -> str:
    """Return the client that had the message in the end."""
    got = [e.to for e in case.events if e.kind == Kind.Received and e.to]
    return got[-1] if got else str(event.to)


def _full(case: Case, event: Event) -> Cause | None:
    """Return that the consumer held as many as its prefetch allows when somebody else got it."""
    held = {e.message for e in case.handed if e.row < event.row and e.broker == event.broker} - {
        e.message for e in case.settled if e.row < event.row
    }
    opened = script.openings(case.trace, case.consumer)
    allowed = [
        int(str(one.options.get("flow_limit", 1000))) if one.prefetch is None else one.prefetch
        for one in opened
    ]
    if not allowed or len(held) < max(1, max(allowed)):
        return None
    text = f"{case.consumer} already held {counted(len(held), 'unacknowledged message')}, its full prefetch"
    text = f"{text}; {event.broker} dispatched it to {event.to} instead"
    return Cause(Sentence(text, event.t), Reason.prefetch_full, event.row)


def _end(case: Case) -> Iterator[Cause]:
    """Yield how the message ended, or why it still waits."""
    last: Event | None = None
    sent_to = case.events[0].destination
    for event in case.events:
        if event.destination != sent_to and not case.reads(event.destination):
            continue  # another copy of it, or its dead letter
        if event.kind in ENDED and event.rule != Reason.no_subscription:
            yield _by(case, event)
        elif event.kind == Kind.Dispatched and event.to == case.consumer:
            handed = sentence(case.trace, event)
            assert handed is not None
            text = f"{handed.said().removesuffix('.')}; {case.consumer} has not consumed it"
            about = ("receiving", "Crash", "Pause")
            yield Cause(Sentence(text, event.t), event.rule, event.row, about)
        last = event if event.kind in (Kind.Held, Kind.Sent) else None
    if last is not None and last.kind == Kind.Held:
        yield _by(case, last)
    elif last is not None:
        text = f"it was in transit to {last.to} when the run ended or the connection was lost"
        yield Cause(Sentence(text, last.t), Reason.connection_lost, last.row)
