"""Questions about a run: why, why not, what if. Each answer is one line, and steps to click through."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, islice

from mqlab import experiments
from mqlab.errors import BadValue
from mqlab.explain import Cause, explain, sentence
from mqlab.explain.script import refusing_selector
from mqlab.explain.sentences import because
from mqlab.spec.change import Change
from mqlab.spec.json_types import JsonDict
from mqlab.spec.values import matches
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace
from mqlab.workbench.branch import Branch

Answer = JsonDict
TIMED = re.compile(r"([\d.e+-]+) ms  (.*)", re.DOTALL)
SOURCE = re.compile(r" \[([^\]]+)\]\.?$")
MOST_STEPS = 60
MOST_MISSED, MOST_TWICE = 3, 12  # messages that an answer names
BY_SENTENCE = {rule.sentence: rule for rule in Reason if rule.sentence}


def why(branch: Branch, kind: str, name: str) -> Answer:
    """Answer why a message, a broker, a connector or a client did what it did; the run without a name."""
    trace = branch.trace
    if kind == "message":
        return _message(trace, int(name) if name.isdecimal() else name)
    if kind == "broker":
        found = explain(trace, broker=name)
        return _told(f"What happened at {name}?", found.title, found.lines)
    if kind in ("consumer", "client", "producer") and name in trace.received():
        return _consumer(trace, name)
    if kind == "connector":
        return _connector(trace, name)
    if kind in ("client", "producer"):
        return _client(trace, name)
    found = explain(trace)
    return {**_told("What came of it?", found.title, found.lines), "twice": _twice(trace)}


def _message(trace: Trace, message: str | int) -> Answer:
    number = trace.message(message)
    called = trace.message_name(number)
    events = [trace.event(row) for row in trace.rows_of(number)]
    got = [event.to for event in events if event.kind == Kind.Received]
    where = f"is message {called} at {got[-1]}" if got else f"did message {called} reach nobody"
    title = explain(trace, message=message).title.partition(": ")[2]
    others = [name for name in trace.received() if name not in got]
    return {
        "title": f"Why {where}?", "answer": title[:1].upper() + title[1:],
        "steps": list(_limited(_steps(trace, events))), "message": number,
        "why_not": others[:6], "got": [name for name in dict.fromkeys(got) if name],
    }  # fmt: skip


def _consumer(trace: Trace, name: str) -> Answer:
    """Answer what a consumer got; of one that got nothing, why the first message was not for it."""
    missed = _missed(trace, name)
    if trace.received()[name] or not missed:
        found = explain(trace, consumer=name)
        answer = _told(f"What did {name} get, and why?", found.title, found.lines)
    else:
        found = explain(trace, message=missed[0], why_not=name)
        answer = {"title": f"Why did {name} get nothing?", "answer": found.title,
                  "steps": [_cause(cause) for cause in found.causes]}  # fmt: skip
    return {**answer, "missed": _called(trace, missed)}


def _connector(trace: Trace, name: str) -> Answer:
    links = {
        no for no, link in enumerate(trace.names["link"]) if name in (link, link.partition("/")[2])
    }
    rows = [row for row, link in enumerate(trace.column("link")) if link in links]
    events = [trace.event(row) for row in rows]
    crossed = sum(event.kind == Kind.Forwarded for event in events)
    about = [event for event in events if event.message is None or event.kind == Kind.Refused]
    return {
        "title": f"What crossed {name}, and why?",
        "answer": f"{crossed} messages were forwarded over it.",
        "steps": list(_limited(_steps(trace, about))),
    }


def _client(trace: Trace, name: str) -> Answer:
    """Answer what a client did, and the producers that use its connection."""
    names = trace.names
    own = {no for no, (node, home) in enumerate(zip(names["node"], names["node_home"], strict=True))
           if name in (node, home)}  # fmt: skip
    ends = zip(trace.column("frm"), trace.column("to"), strict=True)
    events = [trace.event(row) for row, pair in enumerate(ends) if not own.isdisjoint(pair)]
    sent = sum(event.kind == Kind.Sent for event in events)
    told = [event for event in events if event.kind not in (Kind.Attempted, Kind.Enqueued)]
    return {
        "title": f"What did {name} do?", "answer": f"{name} sent {sent} messages.",
        "steps": list(_limited(_folded(trace, told))),
    }  # fmt: skip


def _folded(trace: Trace, events: Iterable[Event]) -> Iterator[Answer]:
    """Yield events as steps that name their messages; what is said again and again is one step."""
    told = ((event, step) for event in events for step in _steps(trace, [event]))
    for text, run in groupby(told, lambda one: one[1]["text"]):
        several = list(run)
        (first, step), (last, _) = several[0], several[-1]
        if first.message is not None and last.message is not None:
            names = dict.fromkeys(map(trace.message_name, (first.message, last.message)))
            text = f"{' to '.join(names)}: {text}"
        elif len(several) > 1:
            text = f"{len(several)} times: {text}"
        yield {**step, "text": text}


def _missed(trace: Trace, consumer: str) -> list[int]:
    """Return the first messages that a consumer did not get, of those it asks for if there are any."""
    node = trace.names["node"].index(consumer)
    rows = trace.rows(Kind.Received)
    got = {trace.column("msg")[row] for row in rows if trace.column("to")[row] == node}
    missed = [number for number in sent(trace) if number not in got]
    reads = {trace.event(row).destination for row in trace.rows(Kind.Subscribed)
             if trace.column("frm")[row] == node}  # fmt: skip
    wanted = (number for number in missed if _asks_for(trace, consumer, reads, number))
    return list(islice(wanted, MOST_MISSED)) or missed[:MOST_MISSED]


def _asks_for(trace: Trace, consumer: str, reads: Iterable[str | None], number: int) -> bool:
    """Whether a consumer that reads these destinations, patterns among them, asks for a message."""
    to = trace.event(trace.rows_of(number)[0]).destination or ""
    is_read = any(read is not None and matches(read, to) for read in reads)
    return is_read and refusing_selector(trace, number, consumer) is None


def _twice(trace: Trace) -> list[Answer]:
    """Return the first messages that came more than once, or to several consumers of a queue."""
    found = sorted({number for numbers in trace.duplicated().values() for number in numbers})
    return _called(trace, found[:MOST_TWICE])


def _called(trace: Trace, numbers: Iterable[int]) -> list[Answer]:
    return [{"number": number, "name": trace.message_name(number)} for number in numbers]


def sent(trace: Trace) -> list[int]:
    """Return the numbers of all messages; a send that failed may have left a gap."""
    return sorted({trace.column("msg")[row] for row in trace.rows(Kind.Sent)} - {-1})


def _steps(trace: Trace, events: Iterable[Event]) -> Iterator[Answer]:
    """Yield each event as a step: when, what, the rule, its source, and the row of the trace."""
    for event in events:
        text = sentence(trace, event)
        if text:
            yield {**_step(text), "row": event.row, **_rule(event.rule)}


def _limited(steps: Iterable[Answer]) -> Iterator[Answer]:
    """Yield as many steps as a reader looks through, and say that there are more."""
    for number, step in enumerate(steps):
        if number == MOST_STEPS:
            yield {"text": "... and more: the tab Events has all of them."}
            return
        yield step


def _step(line: str) -> Answer:
    """Return a sentence as a step: the time apart, and the source that stands behind it."""
    timed = TIMED.match(line)
    text = timed[2] if timed else line
    source = SOURCE.search(text)
    if source is not None:
        text = text[: source.start()] + "."
    step: Answer = {"text": text}
    if timed:
        step["ms"] = float(timed[1])
    rule = BY_SENTENCE.get(text.rpartition(": ")[2].removesuffix("."))
    if rule is not None:
        step |= _rule(rule)
    elif source is not None:
        step["source"] = source[1]
    return step


def _rule(rule: Reason) -> Answer:
    if not because(rule):
        return {}
    return {"rule": rule.name.replace("_", " "), "source": rule.source}


def _told(title: str, answer: str, lines: Iterable[str]) -> Answer:
    steps = [_step(line) for line in lines]
    if len(steps) > MOST_STEPS:
        more = {"text": f"... and {len(steps) - MOST_STEPS} more: the tab Events has all of them."}
        steps = [*steps[:MOST_STEPS], more]
    return {"title": title, "answer": answer, "steps": steps}


def why_not(branch: Branch, message: str | int, consumer: str) -> Answer:
    """Answer why a consumer did not get a message: what decided, and what takes each cause away."""
    trace = branch.trace
    read = explain(trace, message=message, why_not=consumer)
    told = experiments.confirm(trace, read, message, consumer)
    # A change without a sentence of its own is what `what_if` is about.
    decided = [cause for cause in told.causes if cause.row >= 0 or cause.change is None
               or not cause.text.startswith(cause.change.text)]  # fmt: skip
    causes = [
        {**_cause(cause), "change": _change(cause.change)} for cause in decided or told.causes
    ]
    called = trace.message_name(trace.message(message))
    return {"title": f"Why did {consumer} not get message {called}?", "answer": told.title,
            "steps": causes, "message": trace.message(message), "consumer": consumer}  # fmt: skip


def what_if(branch: Branch, message: str | int, consumer: str) -> tuple[Answer, tuple[Change, ...]]:
    """Find what changes whether a consumer gets a message, and what else each change would do."""
    runs = experiments.affordable(branch.trace)
    if not runs:
        raise BadValue("this run is too long to be tried again and again; fork it by hand")
    found = experiments.what_if(branch.trace, message=message, consumer=consumer, at_most=runs)
    told: list[Answer] = []
    for change in found.changes[:5]:
        other = found.run(change)
        told.append({"text": change.text, "kind": change.kind, **consequence(branch.trace, other)})
    return {
        "title": f"What if? The smallest change after which {consumer} "
        + ("no longer gets it" if found.received else "would get it"),
        "changes": told, "tried": found.tried, "all": found.all_tried,
        "message": branch.trace.message(message), "consumer": consumer,
    }, found.changes[:5]  # fmt: skip


def _cause(cause: Cause) -> Answer:
    row = {"row": cause.row} if cause.row >= 0 else {}
    return {**_step(cause.text), **row, **_rule(cause.rule)}


def _change(change: Change | None) -> str | None:
    return None if change is None else change.text


def consequence(before: Trace, after: Trace) -> Answer:
    """Return what another run comes to, in numbers: received by each consumer, stuck and lost."""
    one, other = before.received(), after.received()
    names = list(dict.fromkeys([*one, *other]))
    return {
        "received": [[name, one.get(name, 0), other.get(name, 0)] for name in names],
        "stuck": [_stuck(before), _stuck(after)],
        "lost": [len(before.lost()), len(after.lost())],
    }


def _stuck(trace: Trace) -> int:
    return sum(len(numbers) for queues in trace.stuck().values() for numbers in queues.values())
