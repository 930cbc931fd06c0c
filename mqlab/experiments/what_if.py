"""What if: the smallest change of one option, action or fault that changes an answer.

A run is deterministic: the same lab file, seed and jitter give the same trace. So a cause is looked for as
in a laboratory, by taking one thing away (or setting it otherwise), running again, and looking.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from mqlab.errors import MqlabError, UnknownName
from mqlab.experiments import cores
from mqlab.experiments.changes import earlier, set_otherwise, taken_away, without_client
from mqlab.experiments.rerun import Setting, play
from mqlab.explain import script
from mqlab.products import inputs
from mqlab.spec.calls import Answering
from mqlab.spec.change import Body, Change, Edit
from mqlab.spec.plural import counted
from mqlab.spec.shape import whole
from mqlab.trace.fates import Fate
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

MOST, FEWEST = 200, 8  # runs of one question, and
PLAYED = 400_000  # events that they may have together
ROOM = 20  # times the events of the run itself that a changed one may have, and
AT_LEAST = 20_000  # events it may have in any case
_HARM = {Fate.lost: "lost", Fate.dropped: "dropped", Fate.dead_lettered: "dead-lettered"}
LESSER = 8  # smaller values of an option that are tried, once a great one does it


@dataclass(frozen=True, slots=True)
class WhatIf(Answering):
    """What changes whether a consumer gets a message: `changes`, each of them alone, the smallest first.

    `received` says whether it did get it in the run itself, `tried` how many changes were tried, and
    `all_tried` whether there was no other.
    """

    message: str
    consumer: str
    received: bool
    changes: tuple[Change, ...]
    tried: int
    all_tried: bool
    trace: Trace = field(repr=False, compare=False)

    def run(self, change: Change | None = None) -> Trace:
        """Return the trace of the run with a change of these made, the first unless one is given."""
        if change is None and not self.changes:
            return self.trace
        return rerun(self.trace, change or self.changes[0])

    @property
    def effect(self) -> str:
        """What a change that was looked for would do."""
        return "prevent that" if self.received else "deliver it"

    def __str__(self) -> str:
        was = "received" if self.received else "did not receive"
        would = "would not receive it" if self.received else "would receive it"
        lines = [f"{self.consumer} {was} message {self.message}."]
        lines += [
            f"  {change.text}: {would}{f', but {change.but}' if change.but else ''}" for change in self.changes
        ]
        if not self.changes:
            more = f"; more remain, use at_most={10 * self.tried} to try them"
            tried = f"{self.tried} were tried{'' if self.all_tried else more}"
            lines.append(f"  No single change would {self.effect} ({tried}).")
        return "\n".join(lines)

    __repr__ = __str__


def what_if(
    trace: Trace,
    *,
    message: str | int,
    consumer: str,
    at_most: int | None = None,
    made: Collection[str] = (),
) -> WhatIf:
    """Find the changes of one option, action or fault by which a consumer gets a message, or does not.

    Each is tried by running the whole run again, at most *at_most* times (None is up to 200, and fewer for a
    run of many events: a matter of seconds); what comes first is smaller:
    an option taken back, a fault left out, an action left out or done earlier, an option set
    otherwise, a client left out. What is about clients that were *made* up to bring messages, or about when
    actions are done, is not tried where there are such: there is only now. Raises `UnknownName` for a
    message or consumer that is not in the
    run, `BadValue` for a trace that does not hold its scenario.

    >>> import mqlab as mq
    >>> foo = mq.Queue("TEST.FOO")
    >>> trace = mq.run(mq.Network(mq.Broker("A")), mq.Consumer("C", on="A", reads=foo, selector="n > 2"),
    ...                mq.Producer("P", on="A", sends=1, to=foo, properties={"n": 1}))
    >>> print(mq.what_if(trace, message="P-1", consumer="C"))
    C did not receive message P-1.
      C without selector=n > 2: would receive it
    """
    trace.require_whole("what_if")
    counts = trace.received()
    if consumer not in counts and not script.openings(trace, consumer):
        raise UnknownName.of("consumer", consumer, counts)
    name = trace.message_name(trace.message(message))
    was = has_received(trace, name, consumer)
    candidates = list(changes_of(trace, name, consumer))
    if made:
        candidates = [change for change in candidates if _of_now(change, made)]
    if at_most is not None:
        whole(1).check(at_most, "at_most")
    else:
        at_most = max(FEWEST, affordable(trace))
    places = set(nearest_first(candidates, trace, name, consumer)[:at_most])
    near = [change for place, change in enumerate(candidates) if place in places]
    found = search(trace, near, partial(_differs, name, consumer, was))
    return WhatIf(name, consumer, was, found, len(near), len(near) == len(candidates), trace)


def _of_now(change: Change, made: Collection[str]) -> bool:
    """Whether a change is of what stands in a running network, and not of how the lab brings it there."""
    of_time = change.kind == "action" and not change.text.startswith("without ")
    return not of_time and not any(name in change.text for name in made)


def search(trace: Trace, candidates: Iterable[Change], holds: Callable[[Trace], bool]) -> tuple[Change, ...]:
    """Return those changes of a run after which something *holds* of the other run, with what else each does.

    Where a smaller value of an option does it, too, that one. Raises `BadValue` for a trace that does not hold
    its scenario.
    """
    one = _Trial(
        inputs.body_of(trace), Setting.of(trace), max(AT_LEAST, ROOM * len(trace)), _harm(trace), holds
    )
    return tuple(filter(None, cores.each(one.least, [*candidates])))


@dataclass(frozen=True, slots=True)
class _Trial:
    """What a change is tried with: the lab file and setting of the run, and what it did without."""

    body: Body
    setting: Setting
    limit: int
    harm: Counter[str]
    holds: Callable[[Trace], bool]

    def least(self, change: Change) -> Change | None:
        """Return a change, or a smaller one of the same option, that does it; None where none does."""
        found = self._tried(change)
        if found is None:
            return None
        return next(filter(None, map(self._tried, found.lesser[:LESSER])), found)

    def _tried(self, change: Change) -> Change | None:
        try:
            other = play(change.apply(self.body), self.setting, self.limit)
        except MqlabError:
            return None  # that network cannot be, or does not end: it answers nothing
        return replace(change, but=_worse(self.harm, other)) if self.holds(other) else None


def rerun(trace: Trace, change: Change) -> Trace:
    """Return the trace of a run with a change of it made."""
    return play(change.apply(inputs.body_of(trace)), Setting.of(trace))


def worse(trace: Trace, other: Trace) -> str:
    """Return how many messages another run loses, dead-letters or delivers twice that the first did not."""
    return _worse(_harm(trace), other)


def _worse(before: Counter[str], other: Trace) -> str:
    after = _harm(other)
    more = ((count - before[how], how) for how, count in after.items() if count > before[how])
    return ", ".join(f"{counted(count, 'more message', 'more messages')} {how}" for count, how in more)


def _harm(trace: Trace) -> Counter[str]:
    fates = Counter(_HARM[entry.fate] for entry in trace.account().values() if entry.fate in _HARM)
    twice = len({number for numbers in trace.duplicated().values() for number in numbers})
    return fates + Counter({"delivered twice": twice})


def affordable(trace: Trace) -> int:
    """Return how many runs as long as this one are played for a question: a matter of seconds, or none."""
    return min(MOST, PLAYED // max(1, len(trace)))


def nearest_first(candidates: Sequence[Change], trace: Trace, message: str, consumer: str) -> list[int]:
    """Return the places of changes: of who asks or got the message first, then of where it has been.

    Where only some can be tried, these are.
    """
    events = [trace.event(row) for row in trace.rows_of(trace.message(message))]
    clients = {consumer, *(str(event.to) for event in events if event.kind == Kind.Received)}
    been = {str(event.broker) for event in events if event.broker}

    def distance(place: int) -> int:
        text = candidates[place].text
        return 0 if any(n in text for n in clients) else 1 if any(n in text for n in been) else 2

    return sorted(range(len(candidates)), key=distance)


def changes_of(trace: Trace, message: str, consumer: str) -> Iterator[Change]:
    """Yield every change that is tried for a question, the smallest first, none twice."""
    body: Body = inputs.body_of(trace)
    number = trace.message(message)
    row = trace.rows_of(number)[0]
    destination = trace.event(row).destination or ""
    told: set[str] = set()
    done: list[tuple[Edit, ...]] = []
    for change in _in_order(body, trace, consumer, destination):
        if change.edits not in done:
            done.append(change.edits)
            # Two steps of one client may read alike.
            where = f" (step {change.edits[0].path[1]})" if change.text in told else ""
            told.add(change.text)
            yield replace(change, text=change.text + where)


def _in_order(body: Body, trace: Trace, consumer: str, destination: str) -> Iterable[Change]:
    yield from taken_away(body)
    if (moved := earlier(body, consumer)) is not None:
        yield moved
    yield from set_otherwise(body, destination)
    names, roles = trace.names["node"], trace.names["node_role"]
    for name, role in dict(zip(names, roles, strict=True)).items():
        if role != "broker" and name != consumer:
            change = without_client(body, name)
            if change is not None:
                yield change


def _differs(message: str, consumer: str, was: bool, other: Trace) -> bool:
    try:
        return has_received(other, message, consumer) != was
    except UnknownName:
        return False  # it was never sent, which answers nothing: nobody gets a message without its producer


def has_received(trace: Trace, message: str, consumer: str) -> bool:
    """Whether a consumer of that name got the message of that name, in any of its lives."""
    number = trace.message(message)
    events = (trace.event(row) for row in trace.rows_of(number))
    return any(event.kind == Kind.Received and event.to == consumer for event in events)
