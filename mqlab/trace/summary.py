"""A run in a few lines, as it is printed: who was there, who got what, and what became of the rest."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from mqlab.spec.plural import counted
from mqlab.spec.values import told_time
from mqlab.trace.fates import Fate
from mqlab.trace.labels import title
from mqlab.trace.spans import spans

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

MOST = 8  # consumers, places or reasons that are named
Lines = list[tuple[str, str]]  # what it is about, and what there is to say


def lines(trace: Trace) -> Lines:
    """Return the lines of a summary; times have units."""
    roles, account = trace.names["node_role"], trace.account()
    brokers = [name for name, role in zip(trace.names["node"], roles, strict=True) if role == "broker"]
    ran = f"{told_time(trace.end)}, {counted(len(trace), 'event')}"
    ran += f", seed {trace.header.get('seed', 0)}" * (not trace.is_of_logs)
    edition = f", edition {trace.header['edition']}" if "edition" in trace.header else ""
    found = [("run", ran + edition), ("brokers", _some(brokers)), ("messages", _fates(trace))]
    if trace.part:
        found.insert(1, ("a part", f"{trace.part}; what happened before and after is outside"))
    found.append(("received", _some([f"{who} {count}" for who, count in trace.received().items()])))
    lies = [
        f"{broker} {dest} {len(numbers)}"
        for broker, dests in trace.waiting().items()
        for dest, numbers in dests.items()
    ]
    found += [("at its end" if trace.part else "waiting", _some(lies))] * bool(lies)
    for fate, count, why, which in account.table()[1:]:
        if fate not in (Fate.consumed, Fate.waiting):
            found.append((fate, f"{count} ({which})" + f": {why}" * bool(why)))
    for what, numbers in (
        ("stuck", {n for of in trace.stuck().values() for ns in of.values() for n in ns}),
        ("duplicates", {n for of in trace.duplicated().values() for n in of}),
    ):
        found += [(what, f"{len(numbers)} ({spans(sorted(numbers), MOST)})")] * bool(numbers)
    missing = trace.undone
    word = "not known" if trace.part else "not done"
    found += [(word, str(one)) for one in missing[:MOST]]
    found += [(word, f"and {len(missing) - MOST} more")] * (len(missing) > MOST)
    return found


def text(trace: Trace) -> str:
    """Return a summary as text."""
    told = lines(trace)
    width = max(len(what) for what, _ in told)
    return "\n".join([title(trace), *(f"  {what.ljust(width)}  {said}" for what, said in told)])


def html(trace: Trace) -> str:
    """Return a summary as a table."""
    rows = "".join(
        f'<tr><th style="text-align:left">{escape(what)}</th>'
        f'<td style="text-align:left">{escape(said)}</td></tr>'
        for what, said in lines(trace)
    )
    return f"<p><b>{escape(title(trace))}</b></p><table><tbody>{rows}</tbody></table>"


def _fates(trace: Trace) -> str:
    account = trace.account()
    at_end = " at its end" if trace.part else ""
    told = ", ".join(
        f"{count} {fate}" + at_end * (fate == Fate.waiting) for fate, count in account.counts().items()
    )
    return f"{len(account)} sent" + f": {told}" * bool(told)


def _some(names: list[str]) -> str:
    more = len(names) - MOST
    return ", ".join([*names[:MOST], *([f"and {more} more"] if more > 0 else [])]) or "none"
