"""Questions about a run: why, why not, what if. Each answer is one line, and steps to click through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from typing import NamedTuple

from mqlab import experiments
from mqlab.errors import BadValue
from mqlab.explain import Explanation, Line, explain, sentence
from mqlab.explain.message import ends
from mqlab.explain.script import refusing_selector
from mqlab.spec.change import Change
from mqlab.spec.json_types import JsonDict
from mqlab.spec.plural import counted
from mqlab.spec.values import matches
from mqlab.trace.event import Event
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.questions import stuck_queues
from mqlab.trace.trace import Trace
from mqlab.workbench.branch import Branch

MOST_STEPS = 60
MOST_CHANGES = 5  # that an answer shows, each with what comes of it
MOST_MISSED, MOST_TWICE = 3, 12  # messages that an answer names


class Named(NamedTuple):
    """A message by its number and as it is called."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an answer: what happened, when (us), in which row of the trace, and why.

    `change` says what takes it away, where that was asked and something does.
    """

    text: str
    t: int | None = None
    row: int | None = None
    reason: Reason = Reason.none
    source: str = ""
    change: str | None = None

    @classmethod
    def of(cls, told: Line, reason: Reason = Reason.none, row: int | None = None) -> Step:
        """Return what is told as a step, whose reason may be another than the one it is told with."""
        if isinstance(told, str):
            return cls(told, None, row, reason, reason.source)
        why = reason or told.reason
        return cls(told.said(cited=False), told.t, row, why, why.source if why else told.source)

    def value(self) -> JsonDict:
        """Return it as a JSON value."""
        return {
            "text": self.text,
            "ms": None if self.t is None else self.t / 1000,
            "row": self.row,
            "rule": self.reason.name.replace("_", " ") if self.reason else None,
            "source": self.source,
            "change": self.change,
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer in one line, the steps behind it, and what the next question may be about.

    `message` and `consumer` are those that were asked about. `got` and `why_not` are consumers that did get
    the message and that did not, `missed` and `twice` messages that one did not get, or got twice.
    """

    title: str
    answer: str
    steps: tuple[Step, ...]
    message: int | None = None
    consumer: str | None = None
    got: tuple[str, ...] = ()
    why_not: tuple[str, ...] = ()
    missed: tuple[Named, ...] = ()
    twice: tuple[Named, ...] = ()

    def value(self) -> JsonDict:
        """Return it as a JSON value."""
        return {
            "title": self.title,
            "answer": self.answer,
            "steps": [step.value() for step in self.steps],
            "message": self.message,
            "consumer": self.consumer,
            "got": [*self.got],
            "why_not": [*self.why_not],
            "missed": [message._asdict() for message in self.missed],
            "twice": [message._asdict() for message in self.twice],
        }


def why(branch: Branch, kind: str, name: str) -> Answer:
    """Answer why a message, a broker, a connector or a client did what it did; the run without a name."""
    trace = branch.trace
    if kind == "message":
        return _message(trace, int(name) if name.isdecimal() else name)
    if kind == "broker":
        found = explain(trace, broker=name)
        return _told(f"What happened at {name}?", found)
    if kind in ("consumer", "client", "producer") and name in trace.received():
        return _consumer(trace, name)
    if kind == "connector":
        return _connector(trace, name)
    if kind in ("client", "producer"):
        return _client(trace, name)
    found = explain(trace)
    return replace(_told("What was the result?", found), twice=_twice(trace))


def _message(trace: Trace, message: str | int) -> Answer:
    index = trace.index
    number = index.number(message)
    called = index.name(number)
    events = [trace.event(row) for row in index.rows(number)]
    got = [event.to for event in events if event.kind == Kind.Received and event.to]
    where = f"is message {called} at {got[-1]}" if got else f"was message {called} not delivered"
    end = "; ".join(ends(trace, number)) or "gone"
    roles = zip(trace.names["node"], trace.names["node_role"], strict=True)
    others = dict.fromkeys(name for name, role in roles if role == "consumer" and name not in got)
    return Answer(
        f"Why {where}?",
        f"{end[:1].upper()}{end[1:]}.",
        _limited(_steps(trace, events)),
        number,
        got=tuple(dict.fromkeys(got)),
        why_not=tuple(others)[:6],
    )


def _consumer(trace: Trace, name: str) -> Answer:
    """Answer what a consumer got; of one that got nothing, why the first message was not for it."""
    missed = _missed(trace, name)
    if trace.received()[name] or not missed:
        answer = _told(f"What did {name} receive, and why?", explain(trace, consumer=name))
    else:
        answer = _causes(f"Why did {name} receive nothing?", explain(trace, message=missed[0], why_not=name))
    return replace(answer, missed=_called(trace, missed))


def _connector(trace: Trace, name: str) -> Answer:
    links = {no for no, link in enumerate(trace.names["link"]) if name in (link, link.partition("/")[2])}
    rows = [row for row, link in enumerate(trace.column("link")) if link in links]
    events = [trace.event(row) for row in rows]
    crossed = sum(event.kind == Kind.Forwarded for event in events)
    about = [event for event in events if event.message is None or event.kind == Kind.Refused]
    answer = f"{counted(crossed, 'message was', 'messages were')} forwarded over it."
    return Answer(f"What was forwarded over {name}, and why?", answer, _limited(_steps(trace, about)))


def _client(trace: Trace, name: str) -> Answer:
    """Answer what a client did, and the producers that use its connection."""
    names = trace.names
    own = {
        no
        for no, (node, home) in enumerate(zip(names["node"], names["node_home"], strict=True))
        if name in (node, home)
    }
    ends = zip(trace.column("frm"), trace.column("to"), strict=True)
    events = [trace.event(row) for row, pair in enumerate(ends) if not own.isdisjoint(pair)]
    sent = sum(event.kind == Kind.Sent for event in events)
    told = [event for event in events if event.kind not in (Kind.Attempted, Kind.Enqueued)]
    answer = f"{name} sent {sent} messages."
    return Answer(f"What did {name} do?", answer, _limited(_folded(trace, told)))


def _folded(trace: Trace, events: Iterable[Event]) -> Iterator[Step]:
    """Yield events as steps that name their messages; what is said again and again is one step."""
    told = ((event, step) for event in events for step in _steps(trace, [event]))
    for text, run in groupby(told, lambda one: one[1].text):
        several = list(run)
        (first, step), (last, _) = several[0], several[-1]
        if first.message is not None and last.message is not None:
            names = dict.fromkeys(map(trace.message_name, (first.message, last.message)))
            text = f"{' to '.join(names)}: {text}"
        elif len(several) > 1:
            text = f"{len(several)} times: {text}"
        yield replace(step, text=text)


def _missed(trace: Trace, consumer: str) -> list[int]:
    """Return the first messages that a consumer did not get, of those it asks for if there are any."""
    node = trace.names["node"].index(consumer)
    rows = trace.rows(Kind.Received)
    got = {trace.column("msg")[row] for row in rows if trace.column("to")[row] == node}
    missed = [number for number in sent(trace) if number not in got]
    reads = {
        trace.event(row).destination for row in trace.rows(Kind.Subscribed) if trace.column("frm")[row] == node
    }
    wanted = (number for number in missed if _asks_for(trace, consumer, reads, number))
    return list(islice(wanted, MOST_MISSED)) or missed[:MOST_MISSED]


def _asks_for(trace: Trace, consumer: str, reads: Iterable[str | None], number: int) -> bool:
    """Whether a consumer that reads these destinations, patterns among them, asks for a message."""
    to = trace.event(trace.rows_of(number)[0]).destination or ""
    is_read = any(read is not None and matches(read, to) for read in reads)
    return is_read and refusing_selector(trace, number, consumer) is None


def _twice(trace: Trace) -> tuple[Named, ...]:
    """Return the first messages received more than once, or by several consumers of a queue."""
    found = sorted({number for numbers in trace.duplicated().values() for number in numbers})
    return _called(trace, found[:MOST_TWICE])


def _called(trace: Trace, numbers: Iterable[int]) -> tuple[Named, ...]:
    return tuple(Named(number, trace.message_name(number)) for number in numbers)


def sent(trace: Trace) -> list[int]:
    """Return the numbers of all messages; a send that failed may have left a gap."""
    return sorted({trace.column("msg")[row] for row in trace.rows(Kind.Sent)} - {-1})


def _steps(trace: Trace, events: Iterable[Event]) -> Iterator[Step]:
    """Yield each event that tells something as a step."""
    for event in events:
        told = sentence(trace, event)
        if told is not None:
            yield Step.of(told, told.reason or event.rule, event.row)


def _limited(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return as many steps as a reader looks through, and say that there are more."""
    found = tuple(islice(steps, MOST_STEPS + 1))
    if len(found) <= MOST_STEPS:
        return found
    return (*found[:MOST_STEPS], Step("... and more: see the Events tab."))


def _told(title: str, found: Explanation) -> Answer:
    steps = tuple(map(Step.of, found.told))
    if len(steps) > MOST_STEPS:
        more = f"... and {len(steps) - MOST_STEPS} more: the tab Events has all of them."
        steps = (*steps[:MOST_STEPS], Step(more))
    return Answer(title, found.title, steps)


def _causes(title: str, found: Explanation) -> Answer:
    """Answer why not: each cause is a step, with the change that takes it away."""
    steps = []
    for cause in found.causes:
        step = Step.of(cause.told, cause.rule, cause.row if cause.row >= 0 else None)
        steps.append(replace(step, change=None if cause.change is None else cause.change.text))
    return Answer(title, found.title, tuple(steps))


def why_not(branch: Branch, message: str | int, consumer: str) -> Answer:
    """Answer why a consumer did not get a message: what decided, and what takes each cause away."""
    trace = branch.trace
    read = explain(trace, message=message, why_not=consumer)
    told = experiments.confirm(trace, read, message, consumer)
    # A change without a sentence of its own is what `what_if` is about.
    decided = tuple(
        cause
        for cause in told.causes
        if cause.row >= 0 or cause.change is None or not cause.text.startswith(cause.change.text)
    )
    number = trace.message(message)
    title = f"Why did {consumer} not receive message {trace.message_name(number)}?"
    answer = _causes(title, replace(told, causes=decided or told.causes))
    return replace(answer, message=number, consumer=consumer)


def what_if(branch: Branch, message: str | int, consumer: str) -> tuple[JsonDict, tuple[Change, ...]]:
    """Find what changes whether a consumer gets a message, and what else each change would do."""
    runs = experiments.affordable(branch.trace)
    if not runs:
        raise BadValue("this run is too long for automatic what-if; fork it by hand")
    found = experiments.what_if(branch.trace, message=message, consumer=consumer, at_most=runs)
    would = "would not receive it" if found.received else "would receive it"
    return {
        "title": f"What if? Smallest change after which {consumer} {would}",
        "changes": consequences(branch, found.changes),
        "tried": found.tried,
        "all": found.all_tried,
        "message": branch.trace.message(message),
        "consumer": consumer,
    }, found.changes[:MOST_CHANGES]


def consequences(branch: Branch, changes: Sequence[Change]) -> list[JsonDict]:
    """Return the first changes of a run as JSON values, each with what another run with it comes to."""
    return [
        {
            "text": change.text,
            "kind": change.kind,
            **consequence(branch.trace, experiments.rerun(branch.trace, change)),
        }
        for change in changes[:MOST_CHANGES]
    ]


def consequence(before: Trace, after: Trace) -> JsonDict:
    """Return what another run comes to, in numbers: received by each consumer, stuck and lost."""
    one, other = before.received(), after.received()
    names = list(dict.fromkeys([*one, *other]))
    return {
        "received": [[name, one.get(name, 0), other.get(name, 0)] for name in names],
        "stuck": [_stuck(before), _stuck(after)],
        "lost": [len(before.lost()), len(after.lost())],
    }


def _stuck(trace: Trace) -> int:
    return sum(len(queue.messages) for queue in stuck_queues(trace))
