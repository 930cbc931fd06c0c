"""Artemis scenarios <-> JSON (Recordings rules 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from mqlab.errors import MqlabError
from mqlab.files import validate
from mqlab.products.artemis.files import shapes
from mqlab.spec import codec
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.artemis.actions import StartAs
from mqlab.spec.artemis.broker import SPOKEN, AddressQueue, Broker
from mqlab.spec.artemis.words import numbering
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.noun import as_usual
from mqlab.spec.scenario import Scenario
from mqlab.spec.step import Step

RECORDED = "recorded_steps"  # for each action the number of its step in a recording, from 0


def read(value: JsonObject, where: str = "lab file") -> Scenario:
    """Return the scenario of a JSON value; errors say where and what to write."""
    body = validate.body_of(value, shapes.scenario(), where)
    try:
        version = validate.version_of(value) or body.get("version") or "2.5"
        network = ArtemisNetwork(
            brokers=tuple(broker(item) for item in body.get("brokers", ())),
            queues=tuple(_queue(item) for item in body.get("queues", ())),
            cluster=dict(body.get("cluster", {})),
            addresses=dict(body.get("address_settings", {})),
            clients=dict(body.get("clients", {})),
            edition=version,
        )
        about = {key: body[key] for key in (*shapes.ABOUT, RECORDED) if key in body}
        actions = codec.actions_in({**body, "product": "artemis"})
        steps = body.get("steps", ())
        numbers = numbering(Step(item["do"], item) for item in steps)
        reader = network.reader()
        for no, action in zip(numbers, actions, strict=bool(steps)):
            reader.read(
                action, f"step {no + 1} ({steps[no]['do']})"
            )  # errors of a recording speak of its steps
            if isinstance(action, StartAs):
                started_as(network.brokers[network.names.index(action.broker)], action)
        if len(actions) > len(steps) > 0:
            about[RECORDED] = numbers
        return Scenario(network, actions, about)
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None


def broker(item: JsonObject) -> Broker:
    """Return one broker of the JSON form."""
    policy = item.get("ha") or {"policy": "live_only"}
    named = policy.get("role", "live" if policy["policy"] == "live_only" else "master")
    role = SPOKEN.get(named, named)
    elements = {key: it for key, it in policy.items() if key not in ("policy", "role")}
    keys = {key: it for key, it in item.items() if key not in ("name", "ha")}
    if isinstance(keys.get("cluster"), bool):  # as recordings say that one has no cluster connection
        keys["cluster"] = {"clustered": keys["cluster"]}
    settings = keys.get("address_settings")
    if settings and not any(isinstance(it, Mapping) for it in settings.values()):  # of all addresses
        keys["address_settings"] = {"#": settings}
    return Broker(item["name"], policy["policy"], role, elements, keys)


def started_as(spec: Broker, action: StartAs) -> Broker:
    """Return a broker as it is started with another configuration; raises for what none can be."""
    item = {"name": spec.name, **spec.keys, **action.written}
    shapes.broker().check(item, f"StartAs {spec.name}, written")
    return broker(item)


def _queue(item: JsonObject) -> AddressQueue:
    on = item.get("on")
    names = (on,) if isinstance(on, str) else on if on is None else tuple(on)
    return AddressQueue(**{**item, "on": names})


def written_queue(queue: AddressQueue) -> JsonDict:
    """Return a queue in the JSON form, without what is as usual."""
    found: JsonDict = {
        f.name: getattr(queue, f.name) for f in fields(queue) if not as_usual(f, getattr(queue, f.name))
    }
    return found if queue.on is None else {**found, "on": list(queue.on)}


def write(scenario: Scenario) -> JsonDict:
    """Return the JSON value; reading it again gives an equal scenario."""
    network: ArtemisNetwork = scenario.network
    found: JsonDict = {
        **scenario.about,
        "product": "artemis",
        "version": network.edition,
        "brokers": [_written(one) for one in network.brokers],
        "queues": [written_queue(queue) for queue in network.queues],
    }
    for key, value in (
        ("cluster", network.cluster),
        ("address_settings", network.addresses),
        ("clients", network.clients),
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
