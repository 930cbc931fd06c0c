"""Answers: what a run gave, in the words in which it can be predicted, and what somebody predicted.

An answer is field -> value: numbers, or names. Which fields there are depends on the kind of question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from mqlab.errors import BadValue, UnknownName
from mqlab.lessons.data import Exercise, Prediction
from mqlab.trace.accounts import SERVING, roles
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

Answer = Mapping[str, int | float | str]
TOO_MANY = 1_000_000


def received(trace: Trace, of: Sequence[str]) -> Answer:
    """Messages that each consumer received."""
    found = trace.received()
    return {name: found.get(name, 0) for name in of or found}


def waits(trace: Trace, of: Sequence[str]) -> Answer:
    """Messages that wait at each broker at the end."""
    found = {name: sum(map(len, queues.values())) for name, queues in trace.waiting().items()}
    return {name: found.get(name, 0) for name in of or _brokers(trace)}


def crosses(trace: Trace, of: Sequence[str]) -> Answer:
    """Copies of messages that cross each connector."""
    names, counts = trace.names["link"], Counter[str]()
    for kind, link in zip(trace.column("kind"), trace.column("link"), strict=True):
        if kind == Kind.Forwarded and link >= 0:
            counts[names[link].rpartition("/")[2]] += 1
    return {name: counts[name] for name in of or (name.rpartition("/")[2] for name in names)}


def hops(trace: Trace, of: Sequence[str]) -> Answer:
    """Connectors that a message crosses (the first message unless another is named)."""
    return {"hops": len(_way(trace, of)) - 1}


def route(trace: Trace, of: Sequence[str]) -> Answer:
    """The brokers that a message visits, in order (the first message unless another is named)."""
    return {"route": " ".join(_way(trace, of))}


def lost(trace: Trace, of: Sequence[str]) -> Answer:
    """Messages that no broker has any more and nobody received."""
    return {"lost": len(trace.lost())}


def twice(trace: Trace, of: Sequence[str]) -> Answer:
    """Messages that somebody received more than once."""
    return {"twice": len({number for found in trace.duplicated().values() for number in found})}


def serves(trace: Trace, of: Sequence[str]) -> Answer:
    """The brokers that serve at the end."""
    last = {name: told[-1][1] for name, told in roles(trace).items()}
    return {"serves": " ".join(sorted(name for name, role in last.items() if role in SERVING))}


def seconds(trace: Trace, of: Sequence[str]) -> Answer:
    """Seconds that a client was without a broker, the longest time."""
    spans = trace.downtime().get(of[0], []) if of else []
    longest = max(((end - begin) / 1e6 for begin, end in spans), default=0.0)
    return {"seconds": round(longest, 1)}


def option(trace: Trace, of: Sequence[str]) -> Answer:
    """The value of an option of a connector: ``A/link.network_ttl``; for ``*/*`` the greatest there is."""
    path, _, name = of[0].rpartition(".")
    broker, _, connector = path.partition("/")
    found = [
        item.get(name, 0)
        for item in trace.header["scenario"].get("connectors", ())
        if broker in ("*", item["from"]) and connector in ("*", item["name"])
    ]
    return {of[0]: max(found, default=0)}


KINDS: Mapping[str, Callable[[Trace, Sequence[str]], Answer]] = {
    kind.__name__: kind
    for kind in (received, waits, crosses, hops, route, lost, twice, serves, seconds, option)
}


def measure(kind: str, trace: Trace, of: Sequence[str] = ()) -> Answer:
    """Return what a run gave; raises `UnknownName` for a kind that there is not."""
    if kind not in KINDS:
        raise UnknownName.of("kind of answer", kind, KINDS)
    return KINDS[kind](trace, of)


def key(task: Prediction, trace: Trace) -> Answer:
    """Return what a run gave of what a task asks."""
    return measure(task.kind, trace, task.of)


def example(task: Prediction | Exercise, fields: Answer, words: Mapping[str, str]) -> Mapping[str, str]:
    """Return what stands in each empty field: the kind of answer that is wanted, never an answer."""
    if isinstance(task, Prediction):
        return {name: "A B C" if value and isinstance(value, str) else "" for name, value in fields.items()}
    if task.pieces:
        return dict.fromkeys(fields, " ".join(task.pieces))
    return {name: words.get(f"a_{type(task.solution[name]).__name__}", "") for name in fields}


def read(given: Mapping[str, object], key: Answer) -> Answer:
    """Return a prediction in the fields of *key*; raises `BadValue` with words for a learner."""
    unknown = [name for name in given if name not in key]
    if unknown:
        raise BadValue(f"{unknown[0]!r} is not an expected argument; expected {_call(key)}")
    missing = [name for name in key if name not in given]
    if missing:
        raise BadValue(f"{missing[0]} is missing; expected {_call(key)}")
    return {name: _value(name, given[name], right) for name, right in key.items()}


def same(one: Answer, other: Answer, within: float = 0.0) -> bool:
    """Whether two answers agree; numbers may be *within* so much of one another."""
    for name, value in one.items():
        there = other.get(name)
        if isinstance(value, str) or isinstance(there, str):
            if value != there:
                return False
        elif there is None or abs(value - there) > within:
            return False
    return True


def told(answer: Answer) -> str:
    """Return an answer in words: ``C1 6, C2 3``."""
    return ", ".join(f"{name} {value if value != '' else 'nobody'}" for name, value in answer.items())


def _value(name: str, given: object, right: int | float | str) -> int | float | str:
    if isinstance(right, str):
        words = given.replace(",", " ").replace("->", " ").split() if isinstance(given, str) else given
        if isinstance(words, Sequence) and all(isinstance(part, str) for part in words):
            return " ".join(words if name == "route" else sorted(words))
        raise BadValue(f"{name} is {given!r}; expected names, such as 'A B'")
    if isinstance(given, str) and given.strip().replace(".", "", 1).isdigit():
        given = float(given)
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
        raise BadValue(f"{name} is {given!r}; expected a number")
    if not 0 <= given <= TOO_MANY:
        raise BadValue(f"{name} is {given!r}; expected a number from 0 to {TOO_MANY:,}")
    if isinstance(right, int) and given != int(given):
        raise BadValue(f"{name} is {given!r}; expected a whole number of messages")
    return int(given) if given == int(given) else float(given)


def _call(key: Answer) -> str:
    blanks = ", ".join(f"{name}=..." for name in key)
    return f"predict(..., {blanks})"


def _brokers(trace: Trace) -> list[str]:
    names = trace.names
    return [n for n, role in zip(names["node"], names["node_role"], strict=True) if role == "broker"]


def _way(trace: Trace, of: Sequence[str]) -> list[str]:
    """Return the brokers on a message's way; where it was copied, on its longest one."""
    message = of[0] if of else trace.message_name(1)
    return max(trace.path(message), key=len, default=[""])
