"""A message's way from its producer to where it ended."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.explain import script
from mqlab.explain.explanation import Explanation
from mqlab.explain.sentences import Line, Sentence, sentence
from mqlab.spec.action import Producer
from mqlab.spec.headers import unusual_priorities
from mqlab.spec.values import duration, matches
from mqlab.trace import questions
from mqlab.trace.event import Event
from mqlab.trace.fates import DOWN, UP, Fate
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace
from mqlab.trace.unsent import unsent

HOLDS = (Kind.Enqueued, Kind.TakenOver)
LEAVES = (Kind.Acknowledged, Kind.Forwarded, Kind.Discarded, Kind.Expired, Kind.DeadLettered)


def of_message(trace: Trace, number: int) -> Explanation:
    """Tell a message's way from its producer to where it ended."""
    index = trace.index
    rows = list(index.rows(number))
    if trace.rows(*DOWN):
        rows = sorted({*rows, *_downs(trace, number)})
    events = [trace.event(row) for row in rows]
    told: list[Line] = [line for event in events if (line := sentence(trace, event))]
    title = f"Message {index.name(number)}: {'; '.join(ends(trace, number)) or 'gone'}."
    if trace.account()[number].fate == Fate.waiting:
        told += [*_too_old(trace, number), *_not_moved(trace, number)]
    told += _unheeded(trace, events)
    return Explanation(title, tuple(told))


def _downs(trace: Trace, number: int) -> Iterator[int]:
    """Yield the ends and starts of brokers while they held a message."""
    kinds, broker, msg = (trace.column(name) for name in ("kind", "broker", "msg"))
    rows = [row for row in trace.rows_of(number) if broker[row] >= 0]
    here = [(row, broker[row]) for row in rows if kinds[row] in HOLDS]
    gone = {(broker[row], row) for row in rows if kinds[row] in LEAVES}
    for row in trace.rows(*DOWN, *UP):
        held = [at for at, node in here if at < row and node == broker[row]]
        if (
            held
            and msg[row] < 0
            and not any(node == broker[row] and held[-1] < left < row for node, left in gone)
        ):
            yield row


def _too_old(trace: Trace, number: int) -> Iterator[Sentence]:
    """Yield that a message which waits has outlived its time-to-live: nobody has looked at it since."""
    sending, _ = script.sent_by(trace, number)
    lives, sent = duration((sending and sending.time_to_live) or 0), trace.column("t")[trace.rows_of(number)[0]]
    if 0 < lives <= trace.end - sent:
        text = "its time-to-live is over; brokers look at that as they dispatch, and at intervals"
        yield Sentence(text, sent + lives)


def _not_moved(trace: Trace, number: int) -> Iterator[str]:
    """Yield why the scale-down of a broker of Artemis has not moved a message that it held when it ended."""
    entry = trace.account()[number]
    rows = {item["name"]: item for item in trace.header.get("scenario", {}).get("brokers", ()) if "ha" in item}
    policy = rows.get(entry.broker, {}).get("ha", {})
    if "scale_down" not in policy:
        return
    named = {"connectors", "discovery_group_ref"} & set(policy["scale_down"] or ())
    names, kinds, broker = trace.names["node"], trace.column("kind"), trace.column("broker")
    end = [kinds[row] for row in trace.rows(*DOWN) if names[broker[row]] == entry.broker]
    if end:
        why = (
            "only an orderly stop begins it"
            if end[-1] == Kind.Crashed
            else "it found no broker to move them to"
            if named
            else "it names no connectors to other brokers"
        )
        yield f"The scale-down of {entry.broker} moved no messages: {why} [{Reason.scale_down.source}]."


def _unheeded(trace: Trace, events: list[Event]) -> Iterator[Line]:
    """Yield that ActiveMQ's brokers ignore the priority which a message of a queue was given."""
    sent = next((event for event in events if event.kind == Kind.Sent), None)
    to = (sent and sent.destination) or ""
    of_queue = to.startswith(("queue://", "temp-queue://"))
    if sent is None or not of_queue or trace.product != "activemq":
        return
    own = (one for one in trace.actions if isinstance(one, Producer) and one.name == sent.frm)
    if not any(unusual_priorities(one.jms_priority) for one in own):
        return
    brokers = trace.header.get("scenario", {}).get("brokers", ())
    policies = [policy for broker in brokers for policy in broker.get("policies", ())]
    heeded = (one.get("queue", "") for one in policies if one.get("prioritized_messages"))
    if not any(matches(queue, to.partition("://")[2]) for queue in heeded):
        yield Sentence(
            f"Its priority counts for nothing: no broker has prioritizedMessages for {to}",
            source="ActiveMQ, per destination policies",
        )


def never_sent(trace: Trace, message: str | int) -> Explanation | None:
    """Return why a message that was to be sent never was; None for one that was, or that was not planned."""
    producer, _, place = str(message).rpartition("-")
    for one in unsent(trace) if place.isdecimal() else ():
        if one.producer == producer and one.planned - one.missing < int(place) <= one.planned:
            cut = any("the run ended at" in row.why for row in trace.undone)
            why = one.why or ("the run ended before" if cut else "the run does not tell why")
            rows = [row for row in trace.undone if producer in row.what.split()]
            told = tuple(f"Not done: {row}." for row in rows)
            calls = tuple(call for row in rows for call in row.calls)
            return Explanation(f"Message {message} was never sent: {why}.", told, calls=calls)
    return None


def ends(trace: Trace, number: int) -> list[str]:
    """Return what became of each copy of a message, in words; of one that is gone, why it is."""
    entry, copies = trace.account()[number], questions.copies(trace, number)
    if entry.fate not in (Fate.consumed, Fate.waiting) or not copies:
        at = f" at {entry.broker}" if entry.broker else ""
        return [f"{entry.fate}{at}" + (f": {entry.why}" if entry.why else "")]
    told = []
    for row in copies:
        if len(copies) > 1 and _passed_on(trace, row, number):
            continue
        event, path = trace.event(row), " > ".join(questions.route(trace, row))
        if event.kind == Kind.Received:
            told.append(f"received by {event.to} (route {path})")
        elif str(event.destination).startswith("topic://") and not _lies_at(trace, number, event.broker):
            told.append(f"ended at {event.broker} (route {path})")
        else:
            told.append(f"still waiting at {event.broker} (route so far: {path})")
    return told


def _lies_at(trace: Trace, number: int, broker: str | None) -> bool:
    """Whether a copy of a message waits at a broker."""
    lying, names = trace.tally().lying, trace.names["node"]
    places = zip(lying.broker, lying.msg, strict=True)
    return any(held == number and names[at] == broker for at, held in places)


def _passed_on(trace: Trace, row: int, number: int) -> bool:
    """Whether a broker took a message over for other destinations of its own, and holds nothing of it."""
    causes, broker, kinds = (trace.column(name) for name in ("cause", "broker", "kind"))
    for_others = any(
        causes[other] == row and kinds[other] == Kind.Enqueued and broker[other] == broker[row]
        for other in trace.rows_of(number)
    )
    return for_others and all(came != row for _, _, _, came in questions.held(trace))
