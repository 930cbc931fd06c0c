"""Recordings of real brokers: how deep a run can be compared with one, and where it differs.

How deep is said by the recording's `deterministic` (Recordings rule 1.4): *exact* to the
last number, path, counter and subscription; *counts* without message numbers; *totals* only what
each consumer received and what each queue holds in the end; *none* documents a spread, and each
total has to lie within it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from mqlab.errors import BadFile
from mqlab.files.places import differ
from mqlab.spec.json_types import JsonDict, JsonObject

Outcome = JsonObject
DEPTHS = ("exact", "counts", "totals", "none")
_NUMBERS = ("waiting", "waiting_paths", "redelivered", "received")


def depth_of(observed: JsonObject, depths: Sequence[str]) -> str:
    """Return how deep a recording can be compared, one of *depths*; raises `BadFile` for another."""
    depth = observed.get("deterministic")
    if depth not in depths:
        raise BadFile(f"key 'deterministic' is {depth!r}; expected one of {', '.join(depths)}")
    return str(depth)


def differences(outcome: Outcome, observed: JsonObject) -> list[str]:
    """Return what in *outcome* differs from a recording's `observed`; empty if nothing does.

    Each text says where, what the real broker did and what the run did. Where several
    outcomes were seen, the run need only be like one of them; the nearest is reported.
    """
    depth = depth_of(observed, DEPTHS)
    if depth == "none":
        return _out_of_range(totals(outcome), observed.get("totals", ()))
    reduce = {"exact": _exact, "counts": _counts, "totals": totals}[depth]
    seen = [entry["outcome"] for entry in observed["outcomes"]]
    found = [differ("", reduce(real), reduce(outcome)) for real in seen]
    return min(found, key=len)


def _exact(outcome: Outcome) -> dict[str, object]:
    snapshots = {
        label: {
            "received_so_far": shot["received_so_far"],
            "brokers": {name: _broker(broker) for name, broker in shot["brokers"].items()},
        }
        for label, shot in outcome["snapshots"].items()
    }
    consumers = {
        name: {**got, "paths": _by_path(got.get("paths", []))} for name, got in outcome["consumers"].items()
    }
    whole: dict[str, object] = {"consumers": consumers, "snapshots": snapshots}
    whole["problems"] = len(outcome.get("problems", []))  # their texts are the real broker's own
    if "request_reply" in outcome:
        whole["request_reply"] = outcome["request_reply"]
    return whole


def _by_path(paths: list[JsonDict]) -> dict[str, list[int]]:
    return {">".join(entry["path"]): entry["numbers"] for entry in paths}


def _broker(broker: JsonObject) -> dict[str, object]:
    plain = dict(broker)
    if "subscriptions" in plain:
        rows = sorted(json.dumps(row, sort_keys=True) for row in plain["subscriptions"])
        plain["subscriptions"] = {f"{row} #{rows[:i].count(row)}": 1 for i, row in enumerate(rows)}
    plain["queues"] = {
        name: {**queue, "waiting_paths": _by_path(queue.get("waiting_paths", []))}
        for name, queue in plain.get("queues", {}).items()
    }
    return plain


def _counts(outcome: Outcome) -> object:
    return _without_numbers(_exact(outcome))


def _without_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {k: _without_numbers(v) for k, v in value.items()}
    return len(value) if isinstance(value, list) else value


def totals(outcome: Outcome) -> dict[str, object]:
    """Return how many messages consumers got, and how many are in each queue at the end."""
    last = list(outcome["snapshots"].values())[-1:]
    return {
        "consumers": {name: got["count"] for name, got in outcome["consumers"].items()},
        "depth": {
            f"{name} {queue}": state["depth"]
            for shot in last
            for name, broker in shot["brokers"].items()
            for queue, state in broker.get("queues", {}).items()
        },
    }


def _out_of_range(run: JsonObject, seen: Sequence[JsonObject]) -> list[str]:
    """Return a line for each total that lies outside of what the real broker's runs gave."""
    real: dict[str, list[int]] = {}
    for totals in seen:
        for name, count in totals["consumers"].items():
            real.setdefault(f"consumers/{name}", []).append(count)
        for brokers in totals["depth"]:
            for broker, queues in brokers.items():
                for queue, depth in queues.items():
                    real.setdefault(f"depth/{broker} {queue}", []).append(depth)
    lines = []
    for place, counts in real.items():
        kind, name = place.split("/", 1)
        got = run[kind].get(name, 0)
        if not min(counts) <= got <= max(counts):
            lines.append(f"/{place}: real {min(counts)} to {max(counts)}, run {got}")
    return lines
