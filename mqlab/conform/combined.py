"""Networks with faults against recordings: what Recordings rule 4.3 compares.

*exact*: consumers with order, paths and redelivered, results, snapshots, and the order of connections,
bridges and roles. *outcome*: the same without bridges, per consumer and path the numbers in their order.
*counts*: how many each consumer got and how many different ones, depths, roles. *none*: within the spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mqlab.conform import in_time as timing
from mqlab.errors import BadFile
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.trace.spans import numbers

Outcome = JsonObject


def differences(run: Outcome, observed: JsonObject) -> list[str]:
    """Return what in *run* differs from the nearest of the recorded outcomes."""
    depth = observed.get("deterministic")
    if depth not in timing.DEPTHS:
        raise BadFile(f"key 'deterministic' is {depth!r}; expected {', '.join(timing.DEPTHS)}")
    if depth == "none":
        return _out_of_spread(run, observed.get("spread", {}))
    compare = {"exact": _exact, "outcome": _outcome, "counts": _counts}[depth]
    return min((compare(entry["outcome"], run) for entry in observed["outcomes"]), key=len)


def _exact(real: Outcome, run: Outcome) -> list[str]:
    lines = timing.lists("bridges", real, run) + timing.lists("exceptions", real, run)
    theirs, ours = real.get("consumers", {}), run.get("consumers", {})
    lines += timing.values("consumers", _pathed(theirs), _pathed(ours))
    return lines + _common(real, run)


def _outcome(real: Outcome, run: Outcome) -> list[str]:
    theirs, ours = real.get("consumers", {}), run.get("consumers", {})
    lines = timing.values("consumers", _mixed(theirs), _mixed(ours))
    return lines + _common(real, run)


def _common(real: Outcome, run: Outcome) -> list[str]:
    lines = []
    for key in ("connections", "roles"):
        lines += timing.lists(key, real, run)
    lines += timing.results(_done(real), _done(run))
    lines += timing.values("account", _account(real), _account(run))
    return lines + _snapshots(real, run)


def _done(outcome: Outcome) -> list[object]:
    return [row for row in outcome.get("results", []) if row["do"] != "wait_bridge"]


def _account(outcome: Outcome) -> dict[str, object]:
    return {k: v for k, v in outcome.get("account", {}).items() if v not in ("", {}, 0)}


def _pathed(consumers: JsonObject) -> JsonDict:
    """Return consumers with their paths by name, in any order."""
    return {
        name: {
            **entry,
            "paths": {">".join(p["path"]): p["numbers"] for p in entry.get("paths", [])},
        }
        for name, entry in consumers.items()
    }


def _mixed(consumers: Mapping[str, object]) -> dict[str, object]:
    """Return consumers without how messages of different paths came between one another."""
    return {
        name: {k: v for k, v in entry.items() if k not in ("received", "redelivered")}
        | {"redelivered": sorted(numbers(entry.get("redelivered", "")))}
        for name, entry in _pathed(consumers).items()
    }


def _snapshots(real: Outcome, run: Outcome) -> list[str]:
    lines = []
    theirs, ours = real.get("snapshots", {}), run.get("snapshots", {})
    for label in {**theirs, **ours}:
        if ours.get(label, {}).get("moving"):
            continue  # its numbers do not count
        a, b = _shot(theirs.get(label, {})), _shot(ours.get(label, {}))
        lines += timing.values(f"snapshots/{label}", a, b)
    return lines


def _shot(shot: JsonObject) -> JsonDict:
    return {"clients": {}, **shot, "brokers": {n: _broker(row) for n, row in shot.get("brokers", {}).items()}}


def _broker(row: JsonObject) -> JsonDict:
    """Return a broker's row with lists that have no order as mappings; what is empty is left out."""
    found = dict(row)
    queues = row.get("queues", {})
    dead = [name for name, queue in queues.items() if "DLQ" in name and not queue.get("enqueued")]
    unused = [f"queue://{name}" for name in dead if not queues[name].get("depth")]
    for key in ("subscriptions", "durable_subscriptions"):
        # The recorder passes over dead letter queues that nothing has come to, with their subscriptions.
        rows = sorted(_named(one) for one in row.get(key, ()) if one.get("destination") not in unused)
        found[key] = {f"{text} #{rows[:i].count(text)}": 1 for i, text in enumerate(rows)}
    found["queues"] = {
        name: queue
        | ({"cause": "a text"} if "cause" in queue else {})
        | {
            "waiting_paths": {
                ">".join(p["path"]): _spans(p["numbers"]) for p in queue.get("waiting_paths", ())
            },
            "waiting": _spans(queue.get("waiting", [])),
        }
        for name, queue in row.get("queues", {}).items()
        if any(_values(queue))
    }
    found["topics"] = {n: t for n, t in row.get("topics", {}).items() if any(_values(t))}
    return found


def _values(row: Mapping[str, object]) -> list[object]:
    return [value[-1] if isinstance(value, list) and value else value for value in row.values()]


def _spans(given: str | Iterable[int]) -> object:
    return numbers(given) if isinstance(given, str) else list(given)


def _named(row: Mapping[str, object]) -> str:
    return "; ".join(f"{key}={row[key]}" for key in sorted(row))


def _counts(real: Outcome, run: Outcome) -> list[str]:
    lines = []
    for name, consumer in real.get("consumers", {}).items():
        ours = run.get("consumers", {}).get(name, {})
        lines += timing.values(f"consumers/{name}", _two(consumer), _two(ours))
    for label, shot in real.get("snapshots", {}).items():
        ours = run.get("snapshots", {}).get(label, {})
        lines += timing.values(f"snapshots/{label}", _bare_shot(shot), _bare_shot(ours))
    return lines


def _two(consumer: JsonObject) -> JsonDict:
    return {"count": consumer.get("count", 0), "different": len(set(numbers(consumer.get("received", ""))))}


def _bare_shot(shot: JsonObject) -> dict[str, object]:
    return {
        "brokers": {
            name: {
                "role": row.get("role"),
                "subscriptions": len(row.get("subscriptions", ())),
                "depths": {n: q["depth"] for n, q in row.get("queues", {}).items()},
            }
            for name, row in shot.get("brokers", {}).items()
        },
        "clients": {n: row.get("connected_to") for n, row in shot.get("clients", {}).items()},
    }


def _out_of_spread(run: Outcome, spread: JsonObject) -> list[str]:
    lines = []
    for name, ranges in spread.items():
        two = _two(run.get("consumers", {}).get(name, {}))
        for key, (least, most) in ranges.items():
            if not least <= two[key] <= most:
                lines.append(f"consumers/{name}: {key}: real {least} to {most}, run {two[key]}")
    return lines
