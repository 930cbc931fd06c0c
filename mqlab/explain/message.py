"""A message's way from its producer to where it ended."""

from __future__ import annotations

from mqlab.explain.explanation import Explanation
from mqlab.explain.sentences import sentence
from mqlab.trace import questions
from mqlab.trace.fates import Fate
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace


def of_message(trace: Trace, message: str | int) -> Explanation:
    """Tell a message's way from its producer to where it ended."""
    number = trace.message(message)
    told = (sentence(trace, trace.event(row)) for row in trace.rows_of(number))
    title = f"Message {trace.message_name(number)}: {'; '.join(ends(trace, number)) or 'gone'}."
    return Explanation(title, tuple(filter(None, told)))


def ends(trace: Trace, number: int) -> list[str]:
    """Return what became of each copy of a message, in words; of one that is gone, why it is."""
    entry, copies = trace.account()[number], questions.copies(trace, number)
    if entry.fate in (Fate.consumed, Fate.waiting) and copies:
        return [_end(trace, row) for row in copies]
    at = f" at {entry.broker}" if entry.broker else ""
    return [f"{entry.fate}{at}" + (f": {entry.why}" if entry.why else "")]


def _end(trace: Trace, row: int) -> str:
    event = trace.event(row)
    path = " > ".join(questions.route(trace, row))
    if event.kind == Kind.Received:
        return f"received by {event.to} (route {path})"
    if event.destination and event.destination.startswith("topic://"):
        return f"ended at {event.broker} (route {path})"
    return f"still waiting at {event.broker} (route so far: {path})"
