"""What came of a timed run, read off its trace, in the form of the recordings' `outcome`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial

from mqlab.products.activemq.broker.advisory import FIRST_NUMBER
from mqlab.spec.action import Consumer, Settle, Snapshot
from mqlab.spec.clients import Client
from mqlab.spec.json_types import JsonDict
from mqlab.spec.values import matches
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.questions import route
from mqlab.trace.spans import numbers, spans
from mqlab.trace.trace import Trace

BEHIND_TOPICS = "Consumer.*.VirtualTopic.>"
LAST_LOOK = 30_000  # us that a recorder waits after the last step of a script (`World.play`)
HEARD = Reason.gave_up, Reason.old_pull  # what a client's exception listener hears


class InTimeReport:
    """Reads the rows of a trace; every event is given its step and the ms since that began."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.names = trace.names["node"]
        self.roles = trace.names["node_role"]
        self.details = dict(trace.header.get("details", []))
        self.began = trace.header.get("began", [])
        self.rows_began = [row for _, _, row in self.began]
        # What comes later is in no recording; only of a snapshot is it known here when it ends.
        looks = len(self.began) == len(trace.actions) > 0 and isinstance(trace.actions[-1], Snapshot)
        self.end = self.began[-1][1] + LAST_LOOK if looks else None
        self.columns = {
            name: trace.column(name) for name in ("t", "kind", "frm", "to", "broker", "rule", "msg")
        }
        self.last = None if self.end is None else bisect_right(self.columns["t"], self.end)

    def when(self, row: int) -> Row:
        """Return the step and the ms of a row."""
        place = max(0, bisect_right(self.rows_began, row) - 1)
        step, start, _ = self.began[place] if self.began else (0, 0, 0)
        ms = (self.columns["t"][row] - start) // 1000
        return {"step": step, "ms": [ms, ms, ms]}

    def rows(self, *kinds: Kind) -> list[int]:
        """Return the rows of those kinds, as long as the script goes on."""
        return [row for row, kind in enumerate(self.columns["kind"][: self.last]) if kind in kinds]

    def results(self) -> list[Row]:
        """Return what came of the calls; those that come back later are still waited for."""
        calls = [_numbered(row) for row in self.trace.header.get("calls", [])]
        if self.end is None:
            return calls
        began = {no: time for no, time, _ in self.began}
        return [
            {
                **{key: row[key] for key in ("step", "do", "client", "label") if key in row},
                "still_waiting": True,
            }
            if "ms" in row and began[row["step"]] + row["ms"][0] * 1000 > self.end
            else row
            for row in calls
        ]

    def name(self, column: str, row: int) -> str:
        """Return the name of the node in a column of a row."""
        index = self.columns[column][row]
        return self.names[index] if index >= 0 else ""


Row = JsonDict  # as JSON has it


def _numbered(row: Row) -> Row:
    """Return what came of a call. The recorders ask what it has got for its number: an advisory has none."""
    if (row.get("got") or 0) < FIRST_NUMBER:
        return row
    error = {"class": "NumberFormatException", "message": "property n was null"}
    return {**{key: row[key] for key in row if key != "got"}, "ok": False, "error": error}


def outcome(trace: Trace) -> Row:
    """Return attempts, connections, roles, bridges, results, consumers and snapshots of a run."""
    read = InTimeReport(trace)
    detail = read.details.__getitem__
    parts: Row = {
        "roles": _events(read, "broker", detail, Kind.RoleChanged),
        "attempts": _attempts(read),
        "connections": _connections(read),
        "told": _events(read, "to", lambda row: {"by": read.name("frm", row), **detail(row)}, Kind.Told),
        "bridges": _bridges(read),
        "exceptions": _events(read, "frm", detail, Kind.Failed, rules=HEARD),
        "start_failed": _events(read, "broker", detail, Kind.Failed, rules=(Reason.start_failed,)),
        "restarts": _events(
            read,
            "broker",
            lambda row: {"asked_for_restart": True},
            Kind.Restarted,
            rules=(Reason.asks_restart,),
        ),
        "datagrams": _events(read, None, detail, Kind.Announced),
        "results": read.results(),
        "consumers": _consumers(read, trace),
    }
    found = {key: part for key, part in parts.items() if part}
    if found.get("consumers"):
        found["account"] = _account(trace, found["results"], found["consumers"])
    found["snapshots"] = trace.header.get("snapshots", {})
    if not any(isinstance(action, Settle) for action in trace.actions):
        found |= _without_network(found, BEHIND_TOPICS if trace.header["edition"] != "5.5" else "")
    else:
        shots = found["snapshots"]
        found["snapshots"] = {label: _with_spans(shot) for label, shot in shots.items()}
    found["step_began_ms"] = {no: time // 1000 for no, time, _ in read.began}
    return found


def _connections(read: InTimeReport) -> dict[str, list[object]]:
    """Return when clients were connected and cut off; a new connection to the same broker shows to nobody.

    A client without a list of addresses is connected when its call has come back well.
    """
    failed = {row["client"] for row in read.results() if row["do"] == "connect" and row.get("ok") is False}
    uris = {action.name: action.uri for action in read.trace.actions if isinstance(action, Client)}
    every = _events(read, "frm", partial(_connection, read), Kind.Attached, Kind.Interrupted)
    found: dict[str, list[object]] = {}
    for name, events in every.items():
        if name in failed and not uris[name].startswith(("failover:", "discovery:", "fanout:")):
            continue
        last: Row = {}
        for event in events:
            assert isinstance(event, dict)
            state = {key: event.get(key) for key in ("state", "to")}
            if state != last or state["state"] == "interrupted":
                found.setdefault(name, []).append(event)
            last = state
    return found


def _events(
    read: InTimeReport,
    who: str | None,
    entry: Callable[[int], Row],
    *kinds: Kind,
    rules: Sequence[Reason] = (),
) -> dict[str, list[object]]:
    """Return the events of some kinds, perhaps of some rules, under the name of the node they belong to."""
    found: dict[str, list[object]] = {}
    for row in read.rows(*kinds):
        if not rules or read.columns["rule"][row] in rules:
            name = "group" if who is None else read.name(who, row)
            found.setdefault(name, []).append({**entry(row), **read.when(row)})
    return found


def _attempts(read: InTimeReport) -> dict[str, list[object]]:
    last: dict[str, int] = {}

    def entry(row: int) -> Row:
        name, time = read.name("frm", row), read.columns["t"][row]
        result = "connected" if read.columns["rule"][row] == Reason.accepted else "refused"
        result = read.details.get(row, {}).get("result", result)
        found: Row = {"to": read.name("to", row) or "?", "result": result}
        if name in last:
            found["gap_ms"] = [(time - last[name]) // 1000] * 3
        last[name] = time
        return found

    return _events(read, "frm", entry, Kind.Attempted)


def _connection(read: InTimeReport, row: int) -> Row:
    if read.columns["kind"][row] == Kind.Interrupted:
        return {"state": "interrupted"}
    return {"state": "connected", "to": read.details[row]["to"]}


def _bridges(read: InTimeReport) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for row in read.rows(Kind.BridgeUp, Kind.BridgeDown):
        state = "up" if read.columns["kind"][row] == Kind.BridgeUp else "down"
        name = f"{read.name('frm', row)} to {read.details[row]['to']}"
        found.setdefault(name, []).append({"state": state, **read.when(row)})
    return found


def _opened(read: InTimeReport, trace: Trace) -> dict[str, int]:
    """Return consumer -> the row at which it was opened last.

    One whose opening has failed, or has not come back, is none for a program; of several of one name it knows
    the last.
    """
    began, found = {no: row for no, _, row in read.began}, {}
    for row in read.results():
        action = trace.actions[row["step"]]
        if isinstance(action, Consumer) and row.get("ok"):
            found[action.name] = began[row["step"]]
    return found


def _consumers(read: InTimeReport, trace: Trace) -> Row:
    found: Row = {}
    opened = _opened(read, trace)
    got: dict[str, list[tuple[int, int]]] = {
        name: []
        for name, role in zip(read.names, read.roles, strict=True)
        if role == "consumer" and name in opened
    }
    paths: dict[str, dict[tuple[str, ...], list[int]]] = {name: {} for name in got}
    for row in read.rows(Kind.Received):
        count = read.details.get(row, {}).get("delivery_count", 1)
        name, number = read.name("to", row), read.columns["msg"][row]
        number = number if number < FIRST_NUMBER else -1  # an advisory has none
        if row < opened.get(name, row + 1):
            continue
        got[name].append((number, count))
        paths[name].setdefault(tuple(route(read.trace, row)), []).append(number)
    for name, received in got.items():
        numbers = [number for number, _ in received]
        again = {number: count for number, count in received if count > 1}
        entry: Row = {"count": len(numbers), "received": spans(numbers)}
        if again:
            flagged = [number for number, count in received if count > 1]
            entry["redelivered"] = spans(flagged)
            entry["delivery_count"] = {str(number): count for number, count in again.items()}
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            entry["twice"] = spans(twice)
        if numbers:
            entry["paths"] = [
                {"path": list(path), "numbers": spans(along)} for path, along in paths[name].items()
            ]
        found[name] = entry
    return found


def _account(trace: Trace, results: list[Row], consumers: Row) -> Row:
    sent = [n for row in results for n in numbers(row.get("sent", ""))]
    all_got = [n for entry in consumers.values() for n in numbers(entry["received"])]
    got = set(all_got)
    found = {
        "sent": len(sent),
        "received": len([n for n in sent if n in got]),
        "not_received": spans([n for n in sent if n not in got]),
    }
    queued = _sent_to_queues(trace)
    last = list(trace.header.get("snapshots", {}).values())[-1:]
    left = {
        f"{broker} {queue}": sorted(state["waiting"])
        for shot in last
        for broker, row in shot.get("brokers", {}).items()
        for queue, state in row.get("queues", {}).items()
        if queued.intersection(state["waiting"])
    }
    lying = {number for numbers in left.values() for number in numbers}
    more = {
        "more_than_once": spans(sorted({n for n in queued if all_got.count(n) > 1})),
        "left": {place: spans(numbers) for place, numbers in left.items()},
        "lost": spans([n for n in sent if n in queued and n not in got | lying]),
    }
    return found | {key: value for key, value in more.items() if value}


def _with_spans(shot: Row) -> Row:
    """Return a snapshot with numbers as ``1-3, 5``; what waits nowhere is not told."""
    brokers = {}
    for name, row in shot.get("brokers", {}).items():
        queues = {}
        for queue, state in row.get("queues", {}).items():
            queues[queue] = {k: v for k, v in state.items() if not k.startswith("waiting")}
            if state["waiting"]:
                # The recorder lists what waits by number, in all and on each way, whatever the queue's order.
                ways = [{**way, "numbers": spans(sorted(way["numbers"]))} for way in state["waiting_paths"]]
                queues[queue] |= {"waiting": spans(sorted(state["waiting"])), "waiting_paths": ways}
        brokers[name] = {**row, **({"queues": queues} if queues else {})}
    return {**shot, "brokers": brokers} if "brokers" in shot else shot


def _without_network(found: Row, hidden: str) -> Row:
    """Return what scripts without a `settle` tell in less detail (Recordings rule 3.5)."""
    parts: Row = {"snapshots": {label: _depths(shot, hidden) for label, shot in found["snapshots"].items()}}
    if "consumers" in found:
        parts["consumers"] = {
            name: {key: value for key, value in entry.items() if key != "paths"}
            for name, entry in found["consumers"].items()
        }
    if "account" in found:
        brief = ("sent", "received", "not_received")
        parts["account"] = {key: found["account"][key] for key in brief}
    return parts


def _depths(shot: Row, hidden: str) -> Row:
    """Return a snapshot with of each queue only its depth, and of a broker only its role and queues.

    Those behind virtual topics, which are *hidden*, are none to the recorder (`MappedQueueFilter` of 5.17.2).
    """
    brokers = {}
    for name, row in shot.get("brokers", {}).items():
        brokers[name] = {key: row[key] for key in ("role", "paused") if key in row}
        if row.get("queues"):
            queues = row["queues"].items()
            shown = {n: queue["depth"] for n, queue in queues if not matches(hidden, n)}
            brokers[name] |= {"queues": shown} if shown else {}
    return {**shot, "brokers": brokers} if "brokers" in shot else shot


def _sent_to_queues(trace: Trace) -> set[int]:
    """Return the numbers of the messages that were sent to queues, if nobody uses a topic.

    With topics nobody can say who was to have what, and a recording says neither what is left nor what is lost.
    """
    if any(name.startswith("topic://") for name in trace.names["dest"]):
        return set()
    queues = [name.startswith(("queue://", "temp-queue://")) for name in trace.names["dest"]]
    columns = zip(*(trace.column(c) for c in ("kind", "dest", "msg")), strict=True)
    return {msg for kind, dest, msg in columns if kind == Kind.Sent and queues[dest]}
