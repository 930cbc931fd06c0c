"""Accounts of a run with faults: who could not be reached, and when; who served as what.

All is read off the events; times are microseconds since the beginning (Fuse 4, "Master/slave").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.errors import UnknownName
from mqlab.spec.values import Duration
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace

SERVING = ("running", "master", "live")
Spans = list[tuple[int, int]]


def roles(trace: Trace) -> dict[str, list[tuple[int, str]]]:
    """Return broker -> (time, role) of each change, in order."""
    details = dict(trace.header.get("details", []))
    found: dict[str, list[tuple[int, str]]] = {}
    times, brokers = trace.column("t"), trace.column("broker")
    for row in trace.rows(Kind.RoleChanged):
        name = trace.names["node"][brokers[row]]
        found.setdefault(name, []).append((times[row], details[row]["role"]))
    return found


def role_at(trace: Trace, broker: str, time: int) -> str:
    """Return the role of a broker at a time; before it began it is down."""
    role = "down"
    for when, changed in roles(trace).get(broker, []):
        if when > time:
            break
        role = changed
    return role


def set_keys(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield each broker with what it has in common with those of its set.

    A replica says with its role whose pair it is in; in a long run it may be in several.
    """
    told: dict[str, list[str]] = {}
    for broker, pair in _pairs(trace):
        told.setdefault(broker, []).append(pair)
    for item in trace.header["scenario"].get("brokers", []):
        of = item.get("shared_store") or ("database" if "jdbc" in item else None)
        of = of or item.get("pure_slave_of")
        for key in [of] if of else dict.fromkeys(told.get(item["name"], [item["name"]])):
            yield item["name"], str(key)


def _pairs(trace: Trace) -> Iterator[tuple[str, str]]:
    """Yield (broker, pair) of each change of role that says it."""
    for row, detail in trace.header.get("details", []):
        if "role" in detail and "pair" in detail:
            yield trace.names["node"][trace.column("broker")[row]], detail["pair"]


def members(trace: Trace, name: str) -> list[str]:
    """Return the brokers of a set: by its shared store, or a pure pair by its master's name."""
    known: dict[str, list[str]] = {}
    for member, key in set_keys(trace):
        known.setdefault(key, []).append(member)
    for hosted, key in dict.fromkeys(_pairs(trace)):  # backups in the process of another broker
        if hosted not in known.get(key, ()) and key in known and "/" in hosted:
            known[key].append(hosted)
    if name not in known:
        raise UnknownName.of("set", name, known)
    return known[name]


def masters(trace: Trace, name: str, time: int) -> list[str]:
    """Return who of a set serves at a time: one, none, or (where a lock does not hold) several."""
    return [b for b in members(trace, name) if role_at(trace, b, time) in SERVING]


def unavailable(trace: Trace, broker: str, end: int | None = None) -> Spans:
    """Return from when to when a broker did not serve; a suspended one does not.

    What has no end by then ends with the run, or at *end* (us).
    """
    brokers = [n for n, r in zip(trace.names["node"], trace.names["node_role"], strict=True) if r == "broker"]
    if broker not in brokers:
        raise UnknownName.of("broker", broker, brokers)
    end = trace.end if end is None else end
    serves, paused, spans, since = False, False, [], 0
    for time, what in _changes(trace, broker):
        before = serves and not paused
        if what in ("suspended", "resumed"):
            paused = what == "suspended"
        else:
            serves = what in SERVING
            paused = paused and serves
        now = serves and not paused
        if now and not before and time > since:
            spans.append((since, time))
        if before and not now:
            since = time
    if not (serves and not paused) and end > since:
        spans.append((since, end))
    return spans


def _changes(trace: Trace, broker: str) -> Iterator[tuple[int, str]]:
    node = trace.names["node"].index(broker)
    details = dict(trace.header.get("details", []))
    words = {Kind.Suspended: "suspended", Kind.Resumed: "resumed"}
    times, kinds, brokers = (trace.column(name) for name in ("t", "kind", "broker"))
    for row in trace.rows(Kind.RoleChanged, *words):
        if brokers[row] == node:
            kind = Kind(kinds[row])
            yield times[row], words[kind] if kind in words else details[row]["role"]


def as_durations(spans: Spans) -> list[tuple[Duration, Duration]]:
    """Return spans as they are answered: times that print their unit."""
    return [(Duration(begin), Duration(end)) for begin, end in spans]


def without_broker(trace: Trace) -> set[str]:
    """Return the clients and destinations that have no broker when the run ends, though they had one."""
    beyond = trace.end + 1
    return {who for who, spans in _downtime(trace, beyond).items() if spans[-1][1] == beyond}


def downtime(trace: Trace) -> dict[str, Spans]:
    """Return client or destination -> from when to when it had no broker.

    A client from its loss to its next connection; a destination, once a broker has served it, while none
    does that holds it at any time of the run: what brokers take for their first start is nobody's loss.
    """
    return _downtime(trace, trace.end)


def _downtime(trace: Trace, end: int) -> dict[str, Spans]:
    found: dict[str, Spans] = {}
    since: dict[int, int] = {}
    holders: dict[int, set[int]] = {}
    times, kinds, clients = (trace.column(name) for name in ("t", "kind", "frm"))
    for row in trace.rows(Kind.Interrupted, Kind.Attached, Kind.Subscribed):  # who opens again is back
        if kinds[row] == Kind.Interrupted:
            since[clients[row]] = times[row]
        elif clients[row] in since:
            begin = since.pop(clients[row])
            found.setdefault(trace.names["node"][clients[row]], []).append((begin, times[row]))
    for dest, broker in trace.tallied((Kind.Enqueued, Kind.TakenOver), "dest", "broker"):
        if broker >= 0:
            holders.setdefault(dest, set()).add(broker)
    for node, time in since.items():
        found.setdefault(trace.names["node"][node], []).append((time, end))
    for dest, brokers in holders.items():
        common = _common([unavailable(trace, trace.names["node"][b], end) for b in sorted(brokers)])
        if spans := [span for span in common if span[0] > 0]:
            found[trace.names["dest"][dest]] = spans
    return found


def _common(lists: list[Spans]) -> Spans:
    common = lists[0]
    for spans in lists[1:]:
        common = [(max(a, c), min(b, d)) for a, b in common for c, d in spans if max(a, c) < min(b, d)]
    return common
