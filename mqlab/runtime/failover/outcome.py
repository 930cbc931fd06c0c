"""What came of a timed run, read off its trace, in the form of the recordings' `outcome`."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from mqlab.runtime.failover.calls import spans
from mqlab.trace.kinds import Kind, Rule
from mqlab.trace.trace import Trace


class Reader:
    """Reads the rows of a trace; every event is given its step and the ms since that began."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.names = trace.names["node"]
        self.roles = trace.names["node_role"]
        self.details = dict(trace.header.get("details", []))
        self.began = trace.header.get("began", [])
        self.rows_began = [row for _, _, row in self.began]
        self.columns = {name: trace.column(name) for name in ("t", "kind", "frm", "to", "broker",
                                                              "rule", "msg")}  # fmt: skip

    def when(self, row: int) -> dict[str, Any]:
        """Return the step and the ms of a row."""
        place = max(0, bisect_right(self.rows_began, row) - 1)
        step, start, _ = self.began[place] if self.began else (0, 0, 0)
        ms = (self.columns["t"][row] - start) // 1000
        return {"step": step, "ms": [ms, ms, ms]}

    def rows(self, *kinds: Kind) -> list[int]:
        """Return the rows of those kinds."""
        return [row for row, kind in enumerate(self.columns["kind"]) if kind in kinds]

    def name(self, column: str, row: int) -> str:
        """Return the name of the node in a column of a row."""
        index = self.columns[column][row]
        return self.names[index] if index >= 0 else ""


def outcome(trace: Trace) -> dict[str, Any]:
    """Return attempts, connections, roles, bridges, results, consumers and snapshots of a run."""
    read = Reader(trace)
    parts: dict[str, Any] = {
        "roles": _roles(read), "attempts": _attempts(read), "connections": _connections(read),
        "told": _told(read), "bridges": _bridges(read), **_failures(read),
        "restarts": _restarts(read), "datagrams": _datagrams(read),
        "results": trace.header.get("calls", []), "consumers": _consumers(read),
    }  # fmt: skip
    found = {key: part for key, part in parts.items() if part}
    if found.get("consumers"):
        found["account"] = _account(found["results"], found["consumers"])
    found["snapshots"] = trace.header.get("snapshots", {})
    found["step_began_ms"] = {no: time // 1000 for no, time, _ in read.began}
    return found


def _add(found: dict[str, list[Any]], name: str, row: dict[str, Any]) -> None:
    found.setdefault(name, []).append(row)


def _roles(read: Reader) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in read.rows(Kind.RoleChanged):
        _add(found, read.name("broker", row), {**read.details[row], **read.when(row)})
    return found


def _attempts(read: Reader) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    last: dict[str, int] = {}
    for row in read.rows(Kind.Attempted):
        name, time = read.name("frm", row), read.columns["t"][row]
        result = "connected" if read.columns["rule"][row] == Rule.accepted else "refused"
        entry = {"to": read.name("to", row), "result": result, **read.when(row)}
        if name in last:
            gap = (time - last[name]) // 1000
            entry["gap_ms"] = [gap, gap, gap]
        last[name] = time
        _add(found, name, entry)
    return found


def _connections(read: Reader) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in read.rows(Kind.Attached, Kind.Interrupted):
        if read.columns["kind"][row] == Kind.Attached:
            entry = {"state": "connected", "to": read.details[row]["to"]}
        else:
            entry = {"state": "interrupted"}
        _add(found, read.name("frm", row), {**entry, **read.when(row)})
    return found


def _told(read: Reader) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in read.rows(Kind.Told):
        _add(found, read.name("to", row),
             {"by": read.name("frm", row), **read.details[row], **read.when(row)})  # fmt: skip
    return found


def _bridges(read: Reader) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in read.rows(Kind.BridgeUp, Kind.BridgeDown):
        up = read.columns["kind"][row] == Kind.BridgeUp
        name = f"{read.name('frm', row)} to {read.details[row]['to']}"
        _add(found, name, {"state": "up" if up else "down", **read.when(row)})
    return found


def _failures(read: Reader) -> dict[str, Any]:
    exceptions: dict[str, list[Any]] = {}
    starts: dict[str, list[Any]] = {}
    for row in read.rows(Kind.Failed):
        rule = read.columns["rule"][row]
        if rule == Rule.gave_up:
            _add(exceptions, read.name("frm", row), {**read.details[row], **read.when(row)})
        elif rule == Rule.start_failed:
            _add(starts, read.name("broker", row), {**read.details[row], **read.when(row)})
    return {"exceptions": exceptions, "start_failed": starts}


def _restarts(read: Reader) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in read.rows(Kind.Restarted):
        if read.columns["rule"][row] == Rule.asks_restart:
            _add(found, read.name("broker", row), {"asked_for_restart": True, **read.when(row)})
    return found


def _datagrams(read: Reader) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in read.rows(Kind.Announced):
        _add(found, "group", {**read.details[row], **read.when(row)})
    return found


def _consumers(read: Reader) -> dict[str, Any]:
    found: dict[str, Any] = {}
    got: dict[str, list[tuple[int, int]]] = {
        name: [] for name, role in zip(read.names, read.roles, strict=True) if role == "consumer"
    }
    for row in read.rows(Kind.Received):
        count = read.details.get(row, {}).get("delivery_count", 1)
        got[read.name("to", row)].append((read.columns["msg"][row], count))
    for name, received in got.items():
        numbers = [number for number, _ in received]
        again = {number: count for number, count in received if count > 1}
        entry: dict[str, Any] = {"count": len(numbers), "received": spans(numbers)}
        if again:
            flagged = [number for number, count in received if count > 1]
            entry["redelivered"] = spans(flagged)
            entry["delivery_count"] = {str(number): count for number, count in again.items()}
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        if twice:
            entry["twice"] = spans(twice)
        found[name] = entry
    return found


def _account(results: list[dict[str, Any]], consumers: dict[str, Any]) -> dict[str, Any]:
    sent = [n for row in results for n in _numbers(row.get("sent", ""))]
    got = {n for entry in consumers.values() for n in _numbers(entry["received"])}
    return {"sent": len(sent), "received": len([n for n in sent if n in got]),
            "not_received": spans([n for n in sent if n not in got])}  # fmt: skip


def _numbers(text: str) -> list[int]:
    found = []
    for part in filter(None, text.split(", ")):
        first, _, last = part.partition("-")
        found += list(range(int(first), int(last or first) + 1))
    return found
