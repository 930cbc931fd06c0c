"""Clusters of Open Message Queue that do not link, or whose brokers miss what the others have decided."""

from __future__ import annotations

from mqlab.products.openmq.files import lab_file
from mqlab.spec.json_types import JsonDict
from mqlab.spec.scenario import Scenario

MASTER = {"model": "master", "master": "b1"}


def _read(cluster: dict[str, str], brokers: dict[str, dict[str, str]], *steps: JsonDict) -> Scenario:
    members = [{"name": name, **({"options": own} if own else {})} for name, own in brokers.items()]
    body = {"product": "openmq", "cluster": cluster, "brokers": members, "steps": [*steps, {"do": "settle"}]}
    return lab_file.read(body, "shown")


def start(*brokers: str) -> list[dict[str, object]]:
    """Return steps that start brokers one by one."""
    return [{"do": "start_broker", "broker": broker} for broker in brokers]


READS = {"do": "open_consumer", "consumer": "C", "broker": "b2", "queue": "Q"}
SENDS = (
    {"do": "open_producer", "producer": "P", "broker": "b1", "queue": "Q"},
    {"do": "send", "producer": "P", "count": 5},
)


def linked(**second: str) -> Scenario:
    """Return a broker that sends five messages, and a second one with options, where they are read."""
    return _read(MASTER, {"b1": {}, "b2": second}, {"do": "start"}, READS, *SENDS)


def begun(*steps: JsonDict) -> Scenario:
    """Return two brokers that start as told, before five messages are sent at the first."""
    return _read(MASTER, {"b1": {}, "b2": {}}, *steps, *SENDS)


def missed(cluster: dict[str, str]) -> Scenario:
    """Return a broker that is away while a durable subscription is made, and is asked for it later."""
    durable = {"do": "open_consumer", "topic": "T", "durable": True}
    return _read(
        cluster,
        {"b1": {}, "b2": {}, "b3": {}},
        {"do": "start"},
        {"do": "kill", "broker": "b3"},
        {**durable, "consumer": "S", "broker": "b2"},
        {"do": "close_consumer", "consumer": "S"},
        *start("b3"),
        {"do": "settle"},
        {"do": "kill", "broker": "b2"},
        {"do": "send", "broker": "b3", "topic": "T", "count": 5},
        {**durable, "consumer": "S2", "broker": "b3", "client_id": "S", "subscription_name": "S"},
    )
