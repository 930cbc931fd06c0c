"""Questions to a trace, answered from its columns alone.

What became of each message is counted once (`fates`); `waiting`, `stuck` and `lost` read it off there.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from mqlab.trace import plain
from mqlab.trace.fates import CODE, DOWN, Fate
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

GONE = (Kind.Discarded, Kind.Expired, Kind.DeadLettered)
BLOCKS = (Reason.memory_full, Reason.address_full)  # why a message waits with its producer
# Reasons to wait that pass by themselves: who waits for one of them is not stuck.
PASSING = (
    Reason.none,
    Reason.prefetch_full,
    Reason.buffers_full,
    Reason.beyond_page,
    *BLOCKS,
    Reason.paused,
    Reason.broker_stopped,
    Reason.group_owner,
    Reason.not_exclusive,
    Reason.on_the_way,
)


def received(trace: Trace) -> dict[str, int]:
    """Return consumer -> messages received; every consumer of the run is named.

    Two of one name, of which the second came after the first, count as one.
    """
    names, roles = trace.names["node"], trace.names["node_role"]
    counts = {name: 0 for name, role in zip(names, roles, strict=True) if role == "consumer"}
    for node, count in _count(trace, "to", trace.rows(Kind.Received)).items():
        if roles[node] == "consumer":
            counts[names[node]] += count
    return counts


def _count(trace: Trace, column: str, rows: array[int]) -> dict[int, int]:
    values = trace.column(column)
    if trace.by_numpy:
        from mqlab.trace import fast

        return fast.count(values, rows)
    return Counter(values[row] for row in rows)


def copies(trace: Trace, msg: int) -> list[int]:
    """Return the rows at which the copies of a message ended: received, or still held."""
    kinds, causes = trace.column("kind"), trace.column("cause")
    broker, frm, dest = (trace.column(c) for c in ("broker", "frm", "dest"))
    found: list[int] = []
    for row in trace.index.rows(msg):
        kind, cause = kinds[row], causes[row]
        if kind in (Kind.Dispatched, Kind.Forwarded, Kind.Received) and cause in found:
            found.remove(cause)
        elif kind == Kind.TakenOver:  # out of the store: no copy of whose store it was
            found = [
                r for r in found if kinds[r] == Kind.Received or (broker[r], dest[r]) != (frm[row], dest[row])
            ]
        elif kind in GONE and cause in found and kinds[cause] != Kind.Received:
            found.remove(cause)
        elif kind in GONE and cause >= 0 and kinds[cause] in DOWN:  # with its broker
            found = [
                r
                for r in found
                if kinds[r] == Kind.Received or (broker[r], dest[r]) != (broker[row], dest[row])
            ]
        if kind in (Kind.Received, Kind.Enqueued, Kind.TakenOver):
            found.append(row)
    return found


def route(trace: Trace, row: int) -> list[str]:
    """Return the brokers that the message of *row* came through to be there."""
    kinds, broker, names = trace.column("kind"), trace.column("broker"), trace.names["node"]
    frm, causes = trace.column("frm"), trace.column("cause")
    led: list[int] = []
    while row >= 0:
        led.append(row)
        row = causes[row]
    found: list[str] = []
    for r in reversed(led):
        # A copy for another destination of the same broker is no hop, what a broker makes begins there.
        if kinds[r] == Kind.Enqueued and (frm[r] != broker[r] or not found):
            found.append(names[broker[r]])
        elif kinds[r] == Kind.TakenOver:
            found[-1:] = [names[broker[r]]]
    return found


def paths(trace: Trace, msg: int) -> list[list[str]]:
    """Return the brokers that each copy of message number *msg* went through."""
    found = [route(trace, row) for row in copies(trace, msg)]
    return found or (_crossings(trace, msg) if trace.part else [])


def _crossings(trace: Trace, msg: int) -> list[list[str]]:
    """Return the same of a message of which logs tell the bridges that it crossed, and nothing else."""
    kinds, causes, names = trace.column("kind"), trace.column("cause"), trace.names["node"]
    broker, to = trace.column("broker"), trace.column("to")
    ways: dict[int, list[str]] = {}  # row of a crossing -> the brokers up to there
    for row in (row for row in trace.rows_of(msg) if kinds[row] == Kind.Forwarded):
        ways[row] = [*ways.get(causes[row], [names[broker[row]]]), names[to[row]]]
    on = {causes[row] for row in ways}  # from which it went on
    return [way for row, way in ways.items() if row not in on]


def held(trace: Trace) -> Iterator[tuple[int, int, int, int]]:
    """Yield (broker, destination, message, row with which it came) for all that brokers still hold."""
    lying = trace.tally().lying
    yield from zip(lying.broker, lying.dest, lying.msg, lying.opened, strict=True)


def waiting(trace: Trace) -> dict[str, dict[str, list[int]]]:
    """Return broker -> destination -> message numbers that lie there at the end."""
    lying = trace.tally().lying
    return _by_broker(trace, zip(lying.broker, lying.dest, lying.msg, strict=True))


def stuck(trace: Trace) -> dict[str, dict[str, list[int]]]:
    """Return those of `waiting` that were forwarded to where they lie and cannot go on."""
    return _by_broker(trace, ((broker, dest, msg) for broker, dest, msg, came, _ in _staying(trace) if came))


class StuckQueue(NamedTuple):
    """A queue whose messages no consumer gets where they lie; `row` says why, of the last of them."""

    broker: int
    dest: int
    messages: list[int]
    row: int


def stuck_queues(trace: Trace) -> list[StuckQueue]:
    """Return the queues whose messages cannot go on, forwarded or not, though the run has consumers for them.

    What waits for something that passes by itself (a full window, a lock) is not stuck, nor what lies at a
    broker that is down, nor in a queue that no consumer of the run reads and to which nothing was forwarded.
    """
    dests = trace.names["dest"]
    read = {trace.column("dest")[row] for row in trace.rows(Kind.Subscribed)}
    ended = {trace.column("broker")[row]: row for kind in DOWN for row in trace.rows(kind)}
    found: dict[tuple[int, int], StuckQueue] = {}
    for broker, dest, msg, came, told in _staying(trace):
        is_read = dests[dest].startswith("queue://") and (came or dest in read)
        if is_read and ended.get(broker, -1) < told:
            queue = found.get((broker, dest), StuckQueue(broker, dest, [], told))
            queue.messages.append(msg)
            found[broker, dest] = queue._replace(row=max(queue.row, told))
    return list(found.values())


def _staying(trace: Trace) -> Iterator[tuple[int, int, int, bool, int]]:
    """Yield (broker, destination, message, whether it was forwarded there, row that says why) of what stays."""
    lying = trace.tally().lying
    kinds, rules, links, hops = (trace.column(c) for c in ("kind", "rule", "link", "hop"))
    rows = zip(lying.broker, lying.dest, lying.msg, lying.opened, lying.told, strict=True)
    for broker, dest, msg, opened, told in rows:
        if kinds[told] == Kind.Held and rules[told] not in PASSING:
            yield broker, dest, msg, links[opened] >= 0 or hops[opened] > 0, told


def _by_broker(trace: Trace, found: Iterable[tuple[int, int, int]]) -> dict[str, dict[str, list[int]]]:
    nodes, dests = trace.names["node"], trace.names["dest"]
    tree: dict[str, dict[str, list[int]]] = {}
    place, numbers = (-1, -1), list[int]()
    for broker, dest, msg in found:
        if (broker, dest) != place:
            place = (broker, dest)
            numbers = tree.setdefault(nodes[broker], {}).setdefault(dests[dest], [])
        numbers.append(msg)
    return tree


def lost(trace: Trace) -> list[int]:
    """Return the numbers of messages that are gone: nobody received them and no broker holds them."""
    gone = {CODE[fate] for fate in (Fate.expired, Fate.dropped, Fate.lost)}
    tally = trace.tally()
    return [msg for msg, fate in zip(tally.messages, tally.fates, strict=True) if fate in gone]


def redelivered(trace: Trace) -> dict[str, list[int]]:
    """Return consumer -> numbers of the messages that came to it with the redelivered flag."""
    found: dict[str, list[int]] = {}
    names, to, msg = trace.names["node"], trace.column("to"), trace.column("msg")
    for row in trace.rows(Kind.Redelivered):
        found.setdefault(names[to[row]], []).append(msg[row])
    return found


def duplicated(trace: Trace) -> dict[str, dict[int, int]]:
    """Return consumer -> message number -> how often it got one that came more than once."""
    names = trace.names["node"]
    first = {name: no for no, name in reversed(list(enumerate(names)))}
    owner = [first[name] for name in names]
    rows = trace.rows(Kind.Received)
    if trace.by_numpy:
        from mqlab.trace import fast

        counts = fast.copies(trace, rows, owner)
    else:
        counts = plain.copies(trace, rows, owner)
    found: dict[str, dict[int, int]] = {names[node]: {} for node, _, _ in counts}
    for node, msg, count in counts:
        found[names[node]][msg] = count
    return found
