"""A whole run: who received what, what waits and what was lost, and the faults it went through."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from mqlab.explain.explanation import Explanation
from mqlab.explain.parts import gone, scaled_down, waiting
from mqlab.explain.sentences import Line, sentence
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace import accounts
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
OF_LOGS = (
    Kind.Stopped,
    Kind.Restarted,
    Kind.Connected,
    Kind.Disconnected,
)  # what nobody asked for, as a script does
MOST = 12  # sentences of one kind: about consumers, places, faults; what is more is counted


def of_run(trace: Trace) -> Explanation:
    """Tell who received what, what waits where and why, what was lost, and what faults there were."""
    told: list[Line] = [*_received(trace)]
    told += _waiting(trace)
    of_whole = () if trace.part else (_away, _split)
    for tell in (gone, _twice, _faults, *of_whole):
        told += tell(trace)
    if trace.header.get("real"):
        told.append(f"The real broker: {trace.header['real']}")
    missing = trace.undone
    word = "known" if trace.part else "done"
    told += _some((f"Not {word}: {one}." for one in missing), f"thing not {word}", f"things not {word}")
    calls = tuple(call for one in missing for call in one.calls)
    if trace.part:
        title = f"{counted(trace.index.count, 'message was', 'messages were')} sent in this part of the run"
        return Explanation(f"{title}: {trace.part}; what happened before and after is outside.", tuple(told))
    if not trace.index.count:
        title = "0 messages were sent. To see one move, add a producer and a consumer."
    else:
        title = f"{counted(trace.index.count, 'message was', 'messages were')} sent."
    return Explanation(title, tuple(told), calls=calls)


def _some(lines: Iterable[Line], what: str, many: str) -> Iterator[Line]:
    """Yield the first lines of many, and how many more there are of *what* they are about."""
    found = list(lines)
    yield from found[:MOST]
    if len(found) > MOST:
        yield f"... and {counted(len(found) - MOST, f'more {what}', f'more {many}')}."


def _received(trace: Trace) -> Iterator[str]:
    """Yield who received how many; of many consumers those with the least and with the most."""
    counts = trace.received()
    order = sorted(counts, key=lambda name: counts[name])
    if len(order) <= MOST:
        yield from (f"{name} received {n}." for name, n in counts.items())
        return
    least, most = counts[order[0]], counts[order[-1]]
    total = sum(counts.values())
    yield f"{counted(len(order), 'consumer')} received {total} in all, from {least} to {most} each."
    if least < most:
        low, high = order[: MOST // 2], order[-MOST // 2 :]
        yield f"The least: {', '.join(f'{name} {counts[name]}' for name in low)}."
        yield f"The most: {', '.join(f'{name} {counts[name]}' for name in reversed(high))}."
    nothing = sum(not n for n in counts.values())
    if nothing:
        yield f"{counted(nothing, 'consumer')} received nothing."


def _waiting(trace: Trace) -> Iterator[Line]:
    """Yield what waits where and why, where many places have something the fullest brokers first."""
    held = {broker: sum(map(len, of.values())) for broker, of in trace.waiting().items()}
    order = sorted(held, key=lambda broker: -held[broker]) if len(held) > MOST else held
    lines = [line for broker in itertools.islice(order, MOST) for line in waiting(trace, broker)]
    yield from lines[:MOST]
    if len(lines) > MOST or len(held) > MOST:
        total = counted(sum(held.values()), "message waits", "messages wait")
        yield f"... {total} at {counted(len(held), 'broker')} in all; see trace.waiting()."


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
                    f"Split brain: {' and '.join(who)} were active at the same time from {told_time(since)} "
                    f"to {told_time(time)}."
                )
                since = None
            if len(now) > 1 and since is None:
                since, who = time, now


def _faults(trace: Trace) -> Iterator[Line]:
    rows = trace.rows(*FAULTS, *(OF_LOGS if trace.is_of_logs else ()))
    apart = [row for row in rows if trace.column("msg")[row] < 0]
    told = (sentence(trace, trace.event(row)) for row in apart[:MOST])
    yield from dict.fromkeys(filter(None, told))
    if len(apart) > MOST:
        yield f"... and {counted(len(apart) - MOST, 'more such event')}."
    yield from scaled_down(trace)
    taken = {trace.column("msg")[row] for row in trace.rows(Kind.TakenOver)} - {-1}
    if taken:
        yield (
            f"{counted(len(taken), 'message was', 'messages were')} recovered from a store after a "
            "restart or takeover."
        )


def _away(trace: Trace) -> Iterator[Line]:
    """Yield how long destinations and clients had no broker."""
    spans, lacking = trace.downtime(), accounts.without_broker(trace)
    away = {who: sum(end - begin for begin, end in found) for who, found in spans.items()}
    order = sorted(away, key=lambda who: -away[who]) if len(away) > MOST else away
    lines = (
        f"{who} has had no broker since {told_time(spans[who][-1][0])}."
        if who in lacking
        else f"{who} was without a broker for {told_time(away[who])}."
        for who in order
    )
    yield from _some(lines, "that was without a broker", "that were without a broker")
