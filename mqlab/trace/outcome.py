"""What came of a run, in the `outcome` form (Recordings rule 2.4)."""

from __future__ import annotations

from mqlab.spec.json_types import JsonDict
from mqlab.trace.kinds import Kind
from mqlab.trace.questions import route
from mqlab.trace.trace import Trace


def outcome(trace: Trace) -> dict[str, object]:
    """Return consumers, snapshots, problems and request_reply of a run."""
    names, roles = trace.names["node"], trace.names["node_role"]
    asked = trace.header.get("request_reply") or {}
    hidden = {f"{name}{end}" for name in asked for end in ("", " responder")}
    found: JsonDict = {
        "consumers": {
            names[i]: {"count": 0, "received": [], "paths": []}
            for i in range(len(names))
            if roles[i] == "consumer" and names[i] not in hidden
        },
    }
    kinds, to, msgs = (trace.column(c) for c in ("kind", "to", "msg"))
    for row, kind in enumerate(kinds):
        if kind in (Kind.Received, Kind.Redelivered) and names[to[row]] not in hidden:
            consumer = found["consumers"][names[to[row]]]
            if kind == Kind.Redelivered:
                consumer.setdefault("redelivered", []).append(msgs[row])
                continue
            consumer["count"] += 1
            consumer["received"].append(msgs[row])
            _add_path(consumer["paths"], route(trace, row), msgs[row])
    if asked:
        found["request_reply"] = asked
    found["snapshots"] = trace.header.get("snapshots", {})
    found["problems"] = trace.header.get("problems", [])
    return found


def _add_path(paths: list[JsonDict], path: list[str], number: int) -> None:
    for known in paths:
        if known["path"] == path:
            known["numbers"].append(number)
            return
    paths.append({"path": path, "numbers": [number]})
