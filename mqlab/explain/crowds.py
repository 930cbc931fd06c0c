"""Many subscriptions at one broker: how many came, went and came back, in place of a sentence for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from mqlab.explain.news import NEWS
from mqlab.explain.sentences import Line, Sentence, sentence
from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace.fates import DOWN
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace

MOST = 12  # events of one kind that are told of a broker one by one
_NEWS = {
    Kind.Subscribed: "{subscriptions} to {dest} were created{names}",
    Kind.Unsubscribed: "{subscriptions} to {dest} were removed{names}",
    Kind.Advised: "{advisories} for {dest} arrived from {frm}",
    Kind.Refused: "{subscriptions} to {dest} were not created",
    Kind.Merged: "{consumers} were added to subscriptions to {dest}",
}

_LOST = (Reason.connection_lost, Reason.broker_stopped)  # why a subscription went with its connection


def events(trace: Trace, rows: Iterable[int]) -> Iterator[Line | None]:
    """Yield events at a broker, each in its sentence: news of which there are many are counted.

    What else happens to the broker, such as a crash, divides them. Of the rest, what is more than `MOST` of a
    kind is counted in the end.
    """
    kinds, rules = trace.column("kind"), trace.column("rule")
    found = [*rows]
    often, seen, more = Counter(kinds[row] for row in found), Counter[int](), 0
    together: dict[tuple[int, ...], list[int]] = {}
    for row in found:
        kind = kinds[row]
        if kind in NEWS and often[kind] > MOST:
            together.setdefault((kind, rules[row]), []).append(row)
            continue
        yield from (_together(trace, of) for of in together.values())
        together.clear()
        seen[kind] += 1
        if seen[kind] <= MOST:
            yield sentence(trace, trace.event(row))
        else:
            more += 1
    yield from (_together(trace, of) for of in together.values())
    if more:
        yield f"... and {counted(more, 'more such event')}."


def _together(trace: Trace, rows: list[int]) -> Sentence | None:
    """Return news of one kind and reason in one sentence."""
    told = [trace.event(row) for row in rows]
    first, last = told[0], told[-1]
    if len(rows) == 1:
        return sentence(trace, first)
    froms = [event.frm for event in told if event.frm]
    dests = {event.destination for event in told}
    text = _NEWS[first.kind].format(
        subscriptions=counted(len(rows), "subscription"),
        advisories=counted(len(rows), "consumer advisory", "consumer advisories"),
        consumers=counted(len(rows), "consumer"),
        dest=first.destination if len(dests) == 1 else counted(len(dests), "destination"),
        frm=some([*dict.fromkeys(froms)]),
        names=f" ({some(froms)})" if froms else "",
    )
    until = f", the last at {told_time(last.t)}" if last.t > first.t else ""
    return Sentence(text + until, first.t, first.rule, first.rule.source)


def consumers(trace: Trace, broker: str) -> Iterator[str]:
    """Yield how many consumers a broker had, what they received, how many it lost, how many came back."""
    node = trace.names["node"].index(broker)
    kinds, at, frm, to, rules = (trace.column(name) for name in ("kind", "broker", "frm", "to", "rule"))
    their = {no for no, role in enumerate(trace.names["node_role"]) if role == "consumer"}
    had, on, away, back = (set[int]() for _ in range(4))
    cut_off = set[int]()
    for row in trace.rows(Kind.Subscribed, Kind.Unsubscribed, *DOWN):
        if at[row] != node:
            continue
        if kinds[row] == Kind.Subscribed:
            came = {frm[row]} & their  # who came may be a bridge
            had |= came
            on |= came
            back |= came & away
            away -= came
            continue
        gone = on & ({frm[row]} if kinds[row] == Kind.Unsubscribed else on)
        on -= gone
        if kinds[row] in DOWN or rules[row] in _LOST:
            cut_off |= gone
            away |= gone
    if len(had) <= MOST:
        return
    received = Counter(to[row] for row in trace.rows(Kind.Received) if at[row] == node)
    counts = [received[no] for no in had]
    took = counted(sum(counts), "message")
    each = f"from {min(counts)} to {max(counts)} each" if min(counts) < max(counts) else f"{counts[0]} each"
    yield f"{counted(len(had), 'consumer')} subscribed here; they received {took} here, {each}."
    if cut_off:
        yield f"{counted(len(cut_off), 'consumer')} lost the broker; {len(back)} of them came back."


def some(names: list[str]) -> str:
    """Return names, of many the first and the last."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]} to {names[-1]}"
