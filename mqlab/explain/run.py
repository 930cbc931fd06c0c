"""A whole run: who received what, what waits and what was lost, and the faults it went through."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.explain.explanation import Explanation
from mqlab.explain.parts import waiting
from mqlab.explain.sentences import Line, ms, sentence
from mqlab.spec.plural import counted
from mqlab.trace import accounts
from mqlab.trace.fates import Fate
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

FAULTS = (
    Kind.Crashed,
    Kind.Suspended,
    Kind.Resumed,
    Kind.Partitioned,
    Kind.Healed,
    Kind.Intervened,
    Kind.LockLost,
    Kind.TakenOver,
    Kind.FailedOver,
    Kind.Failed,
)
MOST = 12  # sentences about faults; what is more is counted


def of_run(trace: Trace) -> Explanation:
    """Tell who received what, what waits where and why, what was lost, and what faults there were."""
    told: list[Line] = [f"{name} received {n}." for name, n in trace.received().items()]
    for broker in trace.waiting():
        told += waiting(trace, broker)
    for tell in (_gone, _twice, _faults, _split):
        told += tell(trace)
    if trace.header.get("real"):
        told.append(f"The real broker: {trace.header['real']}")
    told += [f"Not done: {one}." for one in trace.undone]
    if not trace.index().count:
        return Explanation("0 messages were sent. To see one move, add a producer and a consumer.", tuple(told))
    return Explanation(f"{counted(trace.index().count, 'message was', 'messages were')} sent.", tuple(told))


def _gone(trace: Trace) -> Iterator[str]:
    """Yield one sentence for each fate and reason of messages that nobody got and nobody has."""
    _, *lines = trace.account().table(without=(Fate.consumed, Fate.waiting))
    for fate, count, why, which in lines:
        yield f"{count} {fate}: {why or 'no broker holds them any more'} ({which})."


def _twice(trace: Trace) -> Iterator[str]:
    """Yield who got messages more than once, and which consumers of a queue got the same ones."""
    both: dict[tuple[int, ...], list[str]] = {}
    for consumer, messages in trace.duplicated().items():
        often = [number for number, times in messages.items() if times > 1]
        if often:
            yield f"{consumer} received {counted(len(often), 'message')} more than once."
        once = tuple(number for number, times in messages.items() if times == 1)
        if once:
            both.setdefault(once, []).append(consumer)
    for numbers, consumers in both.items():
        yield f"{' and '.join(consumers)} each received the same {counted(len(numbers), 'message')}."


def _split(trace: Trace) -> Iterator[str]:
    """Yield when two brokers of one set served at the same time: a split brain."""
    changes = accounts.roles(trace)
    times = sorted({time for spans in changes.values() for time, _ in spans})
    end = trace.end
    for key in dict.fromkeys(key for _, key in accounts.set_keys(trace)):
        since, who = None, []
        for time in [*times, end]:
            now = accounts.masters(trace, key, time) if time < end else []
            if since is not None and sorted(now) != sorted(who):
                yield (
                    f"Split brain: {' and '.join(who)} were active at the same time from {ms(since)} "
                    f"to {ms(time)}."
                )
                since = None
            if len(now) > 1 and since is None:
                since, who = time, now


def _faults(trace: Trace) -> Iterator[Line]:
    """Yield the faults, each in its sentence, and how long brokers and clients were away."""
    rows = trace.rows(*FAULTS)
    apart = [row for row in rows if trace.column("msg")[row] < 0]
    told = (sentence(trace, trace.event(row)) for row in apart[:MOST])
    yield from dict.fromkeys(filter(None, told))
    if len(apart) > MOST:
        yield f"... and {counted(len(apart) - MOST, 'more such event')}."
    taken = {trace.column("msg")[row] for row in trace.rows(Kind.TakenOver)} - {-1}
    if taken:
        yield (
            f"{counted(len(taken), 'message was', 'messages were')} recovered from a store after a "
            "restart or takeover."
        )
    for who, spans in trace.downtime().items():
        away = sum(end - begin for begin, end in spans)
        yield f"{who} was without a broker for {ms(away)}."
