"""Questions to a trace, answered from its columns alone.

A queue holds a message from its `Enqueued` to its `Acknowledged`, `Discarded`, `Expired` or
`DeadLettered` on the same broker; a topic holds nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, UnknownName
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

GONE = (Kind.Discarded, Kind.Expired, Kind.DeadLettered)
LEAVES = (Kind.Acknowledged, *GONE)


def received(trace: Trace) -> dict[str, int]:
    """Return consumer -> messages received; every consumer of the run is named.

    Two of one name, of which the second came after the first, count as one.
    """
    names, roles = trace.names["node"], trace.names["node_role"]
    counts = {name: 0 for name, role in zip(names, roles, strict=True) if role == "consumer"}
    for kind, to in zip(trace.column("kind"), trace.column("to"), strict=True):
        if kind == Kind.Received and roles[to] == "consumer":
            counts[names[to]] += 1
    return counts


def message_names(trace: Trace) -> dict[int, str]:
    """Return message number -> name, such as ``P-7``."""
    sent_by: Counter[int] = Counter()
    names = {}
    columns = (trace.column(c) for c in ("kind", "msg", "frm"))
    for kind, msg, producer in zip(*columns, strict=True):
        if kind == Kind.Sent:
            sent_by[producer] += 1
            names[msg] = f"{trace.names['node'][producer]}-{sent_by[producer]}"
    return names


def number(trace: Trace, name: str | int) -> int:
    """Return the message number that *name* (``P-7``, ``7`` or 7) stands for."""
    names = message_names(trace)
    if isinstance(name, int) and not isinstance(name, bool):
        if name in names:
            return name
        raise BadValue(f"there is no message {name}; the run sent {len(names)}")
    for msg, known in names.items():
        if name in (known, str(msg)):
            return msg
    raise UnknownName.of("message", name, names.values())


def rows_of(trace: Trace, msg: int) -> list[int]:
    """Return the rows of message number *msg*, in their order."""
    return [row for row, number in enumerate(trace.column("msg")) if number == msg]


def copies(trace: Trace, msg: int) -> list[int]:
    """Return the rows at which the copies of a message ended: received, or still held."""
    kinds, msgs, causes = (trace.column(c) for c in ("kind", "msg", "cause"))
    broker, frm, dest = (trace.column(c) for c in ("broker", "frm", "dest"))
    found: list[int] = []
    for row in (row for row in range(len(trace)) if msgs[row] == msg):
        kind = kinds[row]
        if kind in (Kind.Dispatched, Kind.Forwarded) and causes[row] in found:
            found.remove(causes[row])
        elif kind == Kind.TakenOver:  # out of the store: no copy of whose store it was
            found = [r for r in found if kinds[r] == Kind.Received
                     or (broker[r], dest[r]) != (frm[row], dest[row])]  # fmt: skip
        elif kind in GONE and causes[row] in found and kinds[causes[row]] != Kind.Received:
            found.remove(causes[row])
        if kind in (Kind.Received, Kind.Enqueued, Kind.TakenOver):
            found.append(row)
    return found


def chain(trace: Trace, row: int) -> list[int]:
    """Return the rows that led to *row*, the earliest first, *row* last."""
    causes, found = trace.column("cause"), []
    while row >= 0:
        found.append(row)
        row = causes[row]
    return found[::-1]


def route(trace: Trace, row: int) -> list[str]:
    """Return the brokers that the message of *row* came through to be there."""
    kinds, broker, names = trace.column("kind"), trace.column("broker"), trace.names["node"]
    frm, found = trace.column("frm"), []
    for r in chain(trace, row):
        # A copy for another destination of the same broker is no hop.
        if kinds[r] == Kind.Enqueued and frm[r] != broker[r]:
            found.append(names[broker[r]])
        elif kinds[r] == Kind.TakenOver:
            found[-1:] = [names[broker[r]]]
    return found


def paths(trace: Trace, msg: int) -> list[list[str]]:
    """Return the brokers that each copy of message number *msg* went through."""
    return [route(trace, row) for row in copies(trace, msg)]


def held(trace: Trace) -> Iterator[tuple[int, int, int, int]]:
    """Yield (broker, destination, message, row of its Enqueued) for all that queues still hold."""
    queues = [name.startswith(("queue://", "temp-queue://")) for name in trace.names["dest"]]
    lying: dict[tuple[int, int, int], int] = {}
    columns = (trace.column(c) for c in ("kind", "broker", "dest", "msg", "frm"))
    for row, (kind, broker, dest, msg, frm) in enumerate(zip(*columns, strict=True)):
        if kind == Kind.Enqueued:
            if queues[dest]:
                lying[broker, dest, msg] = row
        elif kind == Kind.TakenOver:
            lying.pop((frm, dest, msg), None)
            lying[broker, dest, msg] = row
        elif kind in LEAVES:
            lying.pop((broker, dest, msg), None)
    for (broker, dest, msg), row in lying.items():
        yield broker, dest, msg, row


def waiting(trace: Trace) -> dict[str, dict[str, list[int]]]:
    """Return broker -> destination -> message numbers that lie there at the end."""
    return _by_broker(trace, [(b, d, m) for b, d, m, _ in held(trace)])


def stuck(trace: Trace) -> dict[str, dict[str, list[int]]]:
    """Return those of `waiting` that were forwarded to where they lie and cannot go on."""
    reason = _last_reason(trace)
    links = trace.column("link")
    full = (Rule.none, Rule.prefetch_full)
    return _by_broker(
        trace,
        [
            (b, d, m) for b, d, m, row in held(trace)
            if links[row] >= 0 and reason.get((b, d, m), Rule.none) not in full
        ],
    )  # fmt: skip


def _last_reason(trace: Trace) -> dict[tuple[int, int, int], int]:
    """Return (broker, destination, message) -> the rule of the last event that held it there."""
    reason: dict[tuple[int, int, int], int] = {}
    columns = (trace.column(c) for c in ("kind", "broker", "dest", "msg", "rule"))
    for kind, broker, dest, msg, rule in zip(*columns, strict=True):
        if kind == Kind.Held:
            reason[broker, dest, msg] = rule
        elif kind in (Kind.Dispatched, Kind.Forwarded):
            reason.pop((broker, dest, msg), None)
    return reason


def _by_broker(
    trace: Trace, found: list[tuple[int, int, int]]
) -> dict[str, dict[str, list[int]]]:  # fmt: skip
    nodes, dests = trace.names["node"], trace.names["dest"]
    tree: dict[str, dict[str, list[int]]] = {}
    for broker, dest, msg in sorted(found):
        tree.setdefault(nodes[broker], {}).setdefault(dests[dest], []).append(msg)
    return tree


KEPT = (Rule.durable, Rule.on_the_way)  # why a topic's message may wait and not be lost


def lost(trace: Trace) -> list[int]:
    """Return the numbers of messages that nobody received and no queue holds.

    What waits for a durable subscriber that is away is not lost, nor what a broker refused: its
    sender knows.
    """
    sent, got, kept = set(), set(), set()
    columns = (trace.column(name) for name in ("kind", "msg", "rule"))
    for kind, msg, rule in zip(*columns, strict=True):
        if kind == Kind.Sent:
            sent.add(msg)
        elif kind == Kind.Received:
            got.add(msg)
        elif kind == Kind.Held and rule in KEPT:
            kept.add(msg)
        elif kind == Kind.Failed:
            sent.discard(msg)
        elif kind in LEAVES:
            kept.discard(msg)
    return sorted(sent - got - kept - {msg for _, _, msg, _ in held(trace)})


def duplicated(trace: Trace) -> dict[str, dict[int, int]]:
    """Return consumer -> message number -> copies, where it got more than one."""
    names = trace.names["node"]
    counts: dict[str, Counter[int]] = {name: Counter() for name in names}
    columns = (trace.column(c) for c in ("kind", "to", "msg"))
    for kind, to, msg in zip(*columns, strict=True):
        if kind == Kind.Received:
            counts[names[to]][msg] += 1
    twice = {
        name: {msg: n for msg, n in sorted(got.items()) if n > 1} for name, got in counts.items()
    }
    return {consumer: messages for consumer, messages in twice.items() if messages}
