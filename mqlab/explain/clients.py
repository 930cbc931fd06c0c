"""One client or producer of a run: how its connections fared, what was sent over them, what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from mqlab.errors import UnknownName
from mqlab.explain import crowds
from mqlab.explain.explanation import Explanation
from mqlab.explain.sentences import Line
from mqlab.spec.action import Consumer, Producer
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.questions import BLOCKS
from mqlab.trace.trace import Trace
from mqlab.trace.unsent import GROUPS, unsent

FARED = (Kind.Attempted, Kind.Attached, Kind.Interrupted, Kind.FailedOver, Kind.Failed, Kind.Waited)


def known(trace: Trace) -> list[str]:
    """Return the names of a run's clients and producers, those too that never connected."""
    own = [action.name for action in trace.actions if isinstance(action, Producer)]
    roles = zip(trace.names["node"], trace.names["node_role"], strict=True)
    connected = (name for name, role in roles if role in ("client", "producer"))
    return list(dict.fromkeys([*_groups(trace), *own, *connected]))


def _groups(trace: Trace) -> list[str]:
    return [action.name for action in trace.actions if type(action).__name__ in GROUPS]  # type: ignore[attr-defined]


def _sends_as(trace: Trace, name: str) -> str:
    """Return the name under which a producer sends: with Artemis that of the client that it is on."""
    if trace.product != "artemis":
        return name
    on = (action.on for action in trace.actions if isinstance(action, Producer) and action.name == name)
    return next((client for client in on if client in _groups(trace)), name)


def of_client(trace: Trace, name: str) -> Explanation:
    """Tell how a client's connections fared, or a producer's, and what was sent and received over them."""
    if name not in known(trace):
        if name in (action.name for action in trace.actions if isinstance(action, Consumer)):
            raise UnknownName(f"{name!r} is a consumer, on a broker by itself; ask for consumer={name!r}")
        raise UnknownName.of("client", name, known(trace))
    client = _sends_as(trace, name)
    names, homes = trace.names["node"], trace.names["node_home"]
    own = {no for no, named in enumerate(names) if named == client}
    its = own | {no for no, home in enumerate(homes) if home == client}
    line = own | {no for no, named in enumerate(names) if named in {homes[at] for at in own}}  # with its client
    frm, rules, kinds = (trace.column(column) for column in ("frm", "rule", "kind"))
    fared = [
        row
        for row in trace.rows(*FARED)
        if frm[row] in line and (kinds[row], rules[row]) != (Kind.Attempted, Reason.accepted)
    ]
    numbers = [number for no in sorted(its) for number in trace.index.sent.get(no, ())]
    received = trace.received()
    told: list[Line | None] = [*crowds.events(trace, fared)]
    told += [f"{one}." for one in trace.undone if f"{one.what}, ".startswith(f"Client {client}, ")]
    told += _blocked(trace, numbers)
    told += [
        f"{reader} received {counted(received[reader], 'message')}."
        for reader in (names[no] for no in sorted(its))
        if reader in received
    ]
    told += [*_became(trace, numbers), *_missing(trace, {client, *(names[no] for no in its)})]
    title = f"{name}: {counted(len(numbers), 'message was', 'messages were')} sent."
    return Explanation(title, tuple(filter(None, told)))


def _blocked(trace: Trace, numbers: list[int]) -> Iterator[str]:
    """Yield how long messages waited for room, with which their producer was blocked."""
    times, kinds, rules = trace.column("t"), trace.column("kind"), trace.column("rule")
    spans, released, rule = [], False, Reason.memory_full
    for number in numbers:
        rows = trace.rows_of(number)
        held = [row for row in rows if kinds[row] == Kind.Held and rules[row] in BLOCKS]
        if held:
            later = [times[row] for row in rows if row > held[-1]]
            released, rule = bool(later), Reason(rules[held[-1]])
            spans.append((times[held[0]], later[0] if released else trace.end))
    if spans:
        span = f"from {told_time(spans[0][0])} {f'to {told_time(spans[-1][1])}' if released else 'on'}"
        often = f"{len(spans)} times {span}, {told_time(sum(end - begin for begin, end in spans))} in all"
        why = f"{rule.sentence} [{rule.source}]"
        yield f"Blocked {span if len(spans) == 1 else often}: {why}."


def _became(trace: Trace, numbers: list[int]) -> Iterator[str]:
    """Yield when messages were sent, and what became of them."""
    if not numbers:
        return
    times, account = trace.column("t"), trace.account()
    first, last = (told_time(times[trace.rows_of(number)[0]]) for number in (numbers[0], numbers[-1]))
    fates = Counter(str(account[number].fate) for number in numbers)
    became = ", ".join(f"{count} {fate}" for fate, count in fates.items())
    when = f"at {first}" if first == last else f"from {first} to {last}"
    yield f"The messages were sent {when}; what became of them: {became}."


def _missing(trace: Trace, names: set[str]) -> Iterator[str]:
    """Yield what was to be sent and never was."""
    for one in unsent(trace):
        if one.producer in names:
            why = f"; {one.why}" if one.why else ""
            yield f"{one.producer}: {one.missing} of {counted(one.planned, 'message')} never sent{why}."
