"""Outcomes of OpenMQ clusters against recordings, as deep as each promises (Recordings rule 6.5)."""

from __future__ import annotations

from mqlab.conform.at_rest import depth_of
from mqlab.files.places import differ
from mqlab.spec.json_types import JsonDict, JsonObject, JsonValue

DEPTHS = ("exact", "counts", "totals", "none", "exact_per_winner", "counts_per_winner")

# What a simulator need not follow, and what says how the client came by its error.
_FREE = ("unacked", "in", "out")
_OPERATION = ("step", "do", "id", "result", "sent", "refused", "took", "numbers", "later")
DEAD = "queue://mq.sys.dmq"
FAULTS = {
    "kill",
    "stop",
    "cut",
    "heal",
    "start_broker",
    "restart",
    "database",
    "admin",
    "kill_owner",
    "kill_client",
}
SUFFIX = len("_1")  # on all destinations of a play, on a cluster that went on to serve the next one
NAMELESS = "-/"  # begins a durable subscription without a client id
_LISTS, _CONNECTION = ("received", "redelivered", "duplicated"), ("connection_events", "homes")


def runs_on(scenario: JsonObject) -> bool:
    """Whether a recorded scenario was played on a cluster that went on to serve others: nothing fails in it."""
    first, *steps = scenario["steps"]
    faults = FAULTS | {"pause", "resume"}
    return (
        not scenario.get("fresh")
        and first == {"do": "start"}
        and not any(step["do"] in faults and "consumer" not in step for step in steps)
        and not any(str(step.get("queue")).startswith("mq.sys") for step in steps)
    )


def differences(outcome: JsonObject, observed: JsonObject) -> list[str]:
    """Return what differs from a recording's `observed`, to the depth that it promises."""
    depth = depth_of(observed, DEPTHS)
    if depth == "none":
        return []
    winners = depth.endswith("_per_winner") or "takeover_by" in observed
    reduce = {"e": _exact, "c": _counts, "t": _totals}[depth[0]]
    found = []
    for entry in observed["outcomes"]:
        real, run = reduce(entry["outcome"]), reduce(_listed(outcome, entry["outcome"], observed))
        if winners:
            real, run = _nameless(real), _nameless(run)
        found.append(differ("", real, run))
    return min(found, key=len)


def _listed(outcome: JsonObject, real: JsonObject, observed: JsonObject) -> JsonObject:
    """Return an outcome without what a recording cannot list.

    Scenarios without faults were played on brokers that went on running: there the dead messages, and durable
    subscriptions without a client id, could be those of others, and were left out. A broker that failed to list
    its consumers, a fault of its own, says that they are unknown.
    """
    shots = real.get("snapshots", {})
    brokers = [broker for shot in shots.values() for broker in shot["brokers"].values()]
    runs_on = "timeline" not in observed and not any(row["do"] in FAULTS for row in real["operations"])
    dead = not runs_on or any(DEAD in broker.get("destinations", {}) for broker in brokers)
    nameless = not runs_on or any(
        line.startswith(NAMELESS) for b in brokers for line in b.get("durable_subscriptions", ())
    )

    def listed(broker: JsonObject, told: JsonObject) -> JsonDict:
        found = dict(broker)
        lines = broker.get("durable_subscriptions", ()) if "durable_subscriptions_unknown" not in told else ()
        found["durable_subscriptions"] = [line for line in lines if nameless or not line.startswith(NAMELESS)]
        if not dead and "destinations" in broker:
            found["destinations"] = {name: d for name, d in broker["destinations"].items() if name != DEAD}
        return found

    return {
        **outcome,
        "snapshots": {
            label: {
                **shot,
                "brokers": {
                    name: listed(broker, shots.get(label, {}).get("brokers", {}).get(name, {}))
                    for name, broker in shot["brokers"].items()
                },
            }
            for label, shot in outcome["snapshots"].items()
        },
    }


def _exact(outcome: JsonObject) -> JsonDict:
    return {
        "consumers": {
            name: {key: got.get(key, []) for key in (*_LISTS, *_CONNECTION)}
            for name, got in outcome["consumers"].items()
        },
        "operations": [_operation(row) for row in outcome["operations"]],
        "snapshots": {label: _snapshot(shot) for label, shot in outcome["snapshots"].items()},
    }


def _operation(row: JsonObject) -> JsonDict:
    found = {key: row[key] for key in _OPERATION if key in row}
    if "later" in found and "refused" in found:
        found["later"] = "ok"  # what the recorder says of all that went on to its end
    return found


def _snapshot(shot: JsonObject) -> JsonDict:
    return {
        "received_so_far": shot["received_so_far"],
        "brokers": {name: _broker(broker) for name, broker in shot["brokers"].items()},
    }


def _broker(broker: JsonObject) -> JsonDict:
    if not broker.get("running"):
        return {"running": False}
    if broker.get("no_answer"):
        return {"running": True, "no_answer": True}
    found: JsonDict = {"running": True, "ready": broker.get("ready", True)}
    for key in ("cluster", "master", "durable_subscriptions", "paused"):
        if broker.get(key):
            found[key] = broker[key]
    found["transactions"] = sorted(broker.get("transactions", ()))
    found["destinations"] = {
        name: {key: value for key, value in dest.items() if key not in _FREE}
        for name, dest in broker.get("destinations", {}).items()
    }
    return found


def _counts(outcome: JsonObject) -> JsonDict:
    """Leave out message numbers, the state of links and what is in transactions."""
    whole = _exact(outcome)
    whole["consumers"] = {
        name: {key: len(value) if key in _LISTS else value for key, value in got.items()}
        for name, got in whole["consumers"].items()
    }
    for row in whole["operations"]:
        row.pop("numbers", None)
        row["refused"] = len(row.get("refused", ()))
    for shot in whole["snapshots"].values():
        for broker in shot["brokers"].values():
            broker.pop("cluster", None)
    return whole


def _totals(outcome: JsonObject) -> JsonDict:
    last = list(outcome["snapshots"].values())[-1:]
    return {
        "consumers": {name: got.get("count", 0) for name, got in outcome["consumers"].items()},
        "operations": [{"step": row["step"], "result": row["result"]} for row in outcome["operations"]],
        "depth": {
            f"{name} {dest}": state["messages"] - state["remote"]
            for shot in last
            for name, broker in shot["brokers"].items()
            for dest, state in broker.get("destinations", {}).items()
            if state["messages"] - state["remote"]
        },
    }


def _nameless(value: object) -> JsonValue:
    """Return brokers' states as a multiset: who won a takeover is a race."""
    if isinstance(value, dict):
        if "brokers" in value and "received_so_far" in value:
            rows = sorted(repr(_nameless(b)) for b in value["brokers"].values())
            return {
                "received_so_far": value["received_so_far"],
                "brokers": {f"#{no}": row for no, row in enumerate(rows)},
            }
        return {k: len(v) if k == "homes" else _nameless(v) for k, v in value.items() if k != "cluster"}
    if isinstance(value, list):
        return [_nameless(v) for v in value]
    return value
