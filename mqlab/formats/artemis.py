"""Artemis scenarios <-> JSON, and their outcomes against recordings (conformance/artemis/README.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqlab.errors import BadFile, BadValue, MqlabError, UnknownName
from mqlab.spec.artemis import STEPS, HaScenario, Server, Step

SPEC, SCENARIOS = "artemis", "artemis"
ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs")
KNOWN = (*ABOUT, "version", "product", "brokers", "queues", "cluster", "address_settings",
         "clients", "steps")  # fmt: skip
BROKER = ("name", "ha", "shared_store", "cluster", "core", "cluster_password", "in_vm_connector",
          "in_vm_id")  # fmt: skip
DEPTHS = ("exact", "counts", "totals", "roles", "none")

# Only the moment of the snapshot decides these.
_FREE = ("has_replica", "files", "problems", "waits_ms")


def claims(body: Mapping[str, Any]) -> bool:
    """Whether a scenario object is one of Artemis: it says so, or it lists queues and steps."""
    unnamed = "product" not in body and "queues" in body and "steps" in body
    return unnamed or body.get("product") == "artemis"


def read(value: Mapping[str, Any], where: str = "lab file") -> HaScenario:
    """Return the scenario of a JSON value; errors say where and what to write."""
    body = value.get("scenario", value)
    try:
        for key in body:
            if key not in KNOWN:
                raise UnknownName.of("key", key, KNOWN)
        for key in ("brokers", "queues", "steps"):
            if not isinstance(body.get(key, []), list):
                raise BadValue(f"{key!r} is {body[key]!r}; write a list of objects")
        version = value.get("observed", {}).get("version") or body.get("version") or "2.5"
        return HaScenario(
            servers=tuple(server(item) for item in body.get("brokers", ())),
            queues=tuple(dict(item) for item in body.get("queues", ())),
            cluster=dict(body.get("cluster", {})),
            addresses=dict(body.get("address_settings", {})),
            clients=dict(body.get("clients", {})),
            steps=tuple(_step(no, item) for no, item in enumerate(body.get("steps", ()))),
            about={key: body[key] for key in ABOUT if key in body}, version=str(version)[:3],
        )  # fmt: skip
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None


def server(item: Any) -> Server:
    """Return one broker of the JSON form."""
    if not isinstance(item, Mapping) or "name" not in item:
        raise BadValue(f"brokers: {item!r}; write an object with the key 'name'")
    for key in item:
        if key not in BROKER:
            raise UnknownName.of("key", key, BROKER, f"broker {item['name']!r}")
    policy = item.get("ha") or {"policy": "live_only"}
    if not isinstance(policy, Mapping) or "policy" not in policy:
        raise BadValue(f"broker {item['name']!r}: ha is {policy!r}; write an object with 'policy'")
    role = policy.get("role", "live" if policy["policy"] == "live_only" else "master")
    elements = {key: it for key, it in policy.items() if key not in ("policy", "role")}
    keys = {key: it for key, it in item.items() if key not in ("name", "ha")}
    return Server(item["name"], policy["policy"], role, elements, keys)


def _step(no: int, item: Any) -> Step:
    if not isinstance(item, Mapping) or item.get("do") not in STEPS:
        given = item.get("do") if isinstance(item, Mapping) else item
        raise UnknownName.of("step", given, STEPS, f"step {no}")
    return Step(item["do"], {key: value for key, value in item.items() if key != "do"})


def write(scenario: HaScenario) -> dict[str, Any]:
    """Return the JSON value; reading it again gives an equal scenario."""
    found: dict[str, Any] = {
        **scenario.about, "product": "artemis", "version": scenario.version,
        "brokers": [_written(one) for one in scenario.servers],
        "queues": [dict(queue) for queue in scenario.queues],
    }  # fmt: skip
    for key, value in (("cluster", scenario.cluster), ("address_settings", scenario.addresses),
                       ("clients", scenario.clients)):  # fmt: skip
        if value:
            found[key] = dict(value)
    found["steps"] = [{"do": step.do, **step.keys} for step in scenario.steps]
    return found


def _written(one: Server) -> dict[str, Any]:
    found: dict[str, Any] = {"name": one.name, **one.keys}
    if one.policy != "live_only" or one.elements:
        found["ha"] = {"policy": one.policy, "role": one.role, **one.elements}
        if one.policy == "live_only":
            del found["ha"]["role"]
    return found


def differences(outcome: Mapping[str, Any], observed: Mapping[str, Any]) -> list[str]:
    """Return what differs from a recording's `observed`, to the depth that it promises."""
    depth = observed.get("deterministic")
    if depth not in DEPTHS:
        raise BadFile(f"key 'deterministic' is {depth!r}; write one of {', '.join(DEPTHS)}")
    if depth == "none":
        return []
    reduce = {"exact": _exact, "counts": _counts, "totals": _totals, "roles": _roles}[str(depth)]
    run = reduce(outcome)
    return min(
        (differ("", reduce(entry["outcome"]), run) for entry in observed["outcomes"]), key=len
    )


def _exact(outcome: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: outcome[key] for key in ("consumers", "senders", "waits", "lost",
                                           "received_more_than_once")}  # fmt: skip
    found["refused"] = outcome.get("refused", [])
    found["snapshots"] = {
        label: {
            "received_so_far": shot["received_so_far"],
            "brokers": {name: _broker(broker) for name, broker in shot["brokers"].items()},
        }
        for label, shot in outcome["snapshots"].items()
    }
    return found


def _broker(broker: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in broker.items() if key not in _FREE}
    if "queues" in found:
        found["queues"] = {
            name: dict(queue) for name, queue in found["queues"].items()
            if not name.startswith("store_and_forward:")
        }  # fmt: skip
    if "hosts" in found:
        found["hosts"] = {name: _broker(hosted) for name, hosted in found["hosts"].items()}
    return found


def _counts(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out message numbers and their order."""
    whole = _exact(outcome)
    whole["consumers"] = {
        name: {"count": got["count"], "failovers": got.get("failovers", [])}
        for name, got in whole["consumers"].items()
    }
    whole["senders"] = {name: len(got["sent"]) for name, got in whole["senders"].items()}
    for key in ("lost", "received_more_than_once"):
        whole[key] = len(whole[key])
    for shot in whole["snapshots"].values():
        for broker in shot["brokers"].values():
            for queue in broker.get("queues", {}).values():
                for key in ("waiting", "delivering"):
                    if key in queue:
                        queue[key] = len(queue[key])
    return whole


def _totals(outcome: Mapping[str, Any]) -> dict[str, Any]:
    last = list(outcome["snapshots"].values())[-1:]
    return {
        "consumers": {name: got["count"] for name, got in outcome["consumers"].items()},
        "depth": {
            f"{name} {queue}": state["depth"]
            for shot in last for name, broker in shot["brokers"].items()
            for queue, state in _broker(broker).get("queues", {}).items()
        },
        "roles": _roles(outcome),
    }  # fmt: skip


def _roles(outcome: Mapping[str, Any]) -> dict[str, Any]:
    return {
        label: {
            name: (broker["role"], broker.get("pair")) for name, broker in shot["brokers"].items()
        }
        for label, shot in outcome["snapshots"].items()
    }


def differ(where: str, real: Any, run: Any) -> list[str]:
    """Return the places at which two JSON values differ."""
    if isinstance(real, dict) and isinstance(run, dict):
        lines = []
        for key in {**real, **run}:
            place = f"{where}/{key}"
            if key not in run:
                lines.append(f"{place}: real {real[key]!r:.90}, run has none")
            elif key not in real:
                lines.append(f"{place}: real has none, run {run[key]!r:.90}")
            else:
                lines += differ(place, real[key], run[key])
        return lines
    return [] if real == run else [f"{where}: real {real!r:.90}, run {run!r:.90}"]
