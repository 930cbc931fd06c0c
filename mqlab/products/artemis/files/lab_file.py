"""Artemis scenarios <-> JSON (Recordings rules 7)."""

from __future__ import annotations

from mqlab.errors import MqlabError
from mqlab.files import validate
from mqlab.products.artemis.files import shapes
from mqlab.spec import codec
from mqlab.spec.artemis import HaScenario
from mqlab.spec.artemis.broker import AddressQueue, Broker
from mqlab.spec.artemis.steps import STEPS
from mqlab.spec.json_types import JsonDict, JsonObject

ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs")


def read(value: JsonObject, where: str = "lab file") -> HaScenario:
    """Return the scenario of a JSON value; errors say where and what to write."""
    body = validate.body_of(value, shapes.scenario(), where)
    try:
        version = validate.version_of(value) or body.get("version") or "2.5"
        return HaScenario(
            brokers=tuple(broker(item) for item in body.get("brokers", ())),
            queues=tuple(_queue(item) for item in body.get("queues", ())),
            cluster=dict(body.get("cluster", {})),
            addresses=dict(body.get("address_settings", {})),
            clients=dict(body.get("clients", {})),
            about={key: body[key] for key in ABOUT if key in body},
            version=".".join(version.split(".")[:2]),
            steps=tuple(codec.checked(body.get("steps", ()), STEPS, ("at",))),
        ).with_actions(*codec.read_all(body.get("actions", ()), "artemis"))
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None


def broker(item: JsonObject) -> Broker:
    """Return one broker of the JSON form."""
    policy = item.get("ha") or {"policy": "live_only"}
    named = policy.get("role", "live" if policy["policy"] == "live_only" else "master")
    role = shapes.SPOKEN.get(named, named)
    elements = {key: it for key, it in policy.items() if key not in ("policy", "role")}
    keys = {key: it for key, it in item.items() if key not in ("name", "ha")}
    return Broker(item["name"], policy["policy"], role, elements, keys)


def _queue(item: JsonObject) -> AddressQueue:
    on = item.get("on")
    names = (on,) if isinstance(on, str) else on if on is None else tuple(on)
    return AddressQueue(**{**item, "on": names})


def _written_queue(queue: AddressQueue) -> JsonDict:
    found = {"name": queue.name, "routing": queue.routing, "address": queue.address}
    given = {key: it for key, it in found.items() if it not in (None, "anycast")}
    return given if queue.on is None else {**given, "on": list(queue.on)}


def write(scenario: HaScenario) -> JsonDict:
    """Return the JSON value; reading it again gives an equal scenario."""
    found: JsonDict = {
        **scenario.about,
        "product": "artemis",
        "version": scenario.version,
        "brokers": [_written(one) for one in scenario.brokers],
        "queues": [_written_queue(queue) for queue in scenario.queues],
    }
    for key, value in (
        ("cluster", scenario.cluster),
        ("address_settings", scenario.addresses),
        ("clients", scenario.clients),
    ):
        if value:
            found[key] = dict(value)
    found["actions"] = list(map(codec.write, scenario.actions))
    return found


def _written(one: Broker) -> JsonDict:
    found: JsonDict = {"name": one.name, **one.keys}
    if one.policy != "live_only" or one.elements:
        found["ha"] = {"policy": one.policy, "role": one.role, **one.elements}
        if one.policy == "live_only":
            del found["ha"]["role"]
    return found
