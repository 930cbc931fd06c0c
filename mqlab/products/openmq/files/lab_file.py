"""OpenMQ scenarios <-> JSON (Recordings rules 6)."""

from __future__ import annotations

from mqlab.errors import MqlabError
from mqlab.files import validate
from mqlab.products.openmq.files import shapes
from mqlab.spec import codec
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.openmq import Member, OpenMQNetwork
from mqlab.spec.scenario import Scenario


def read(value: JsonObject, where: str = "lab file") -> Scenario:
    """Return the scenario of a JSON value; errors say where and what to write."""
    body = validate.body_of(value, shapes.scenario(), where)
    cluster = body["cluster"]
    # A recording may say more: "5.1 (brokers; clients 6.5.0)".
    version = (validate.version_of(value) or body.get("version") or "6.5").partition(" (")[0]
    try:
        network = OpenMQNetwork(
            brokers=tuple(_member(item) for item in body.get("brokers", ())),
            model=cluster["model"],
            master=cluster.get("master"),
            options=dict(cluster.get("options", {})),
            edition=version,
        )
        about = {key: body[key] for key in shapes.ABOUT if key in body}
        about |= {"recorded": True} if "steps" in body else {}  # its script is played as the recorder does
        return Scenario(network, codec.actions_in({**body, "product": "openmq"}), about)
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None


def _member(item: str | JsonObject) -> Member:
    if isinstance(item, str):
        return Member(item)
    return Member(item["name"], dict(item.get("options", {})), bool(item.get("not_listed", False)))


def write(scenario: Scenario) -> JsonDict:
    """Return the JSON value; reading it again gives an equal scenario."""
    network: OpenMQNetwork = scenario.network
    cluster: JsonDict = {"model": network.model}
    if network.master is not None:
        cluster["master"] = network.master
    if network.options:
        cluster["options"] = dict(network.options)
    return {
        **scenario.about,
        "product": "openmq",
        "version": network.edition,
        "cluster": cluster,
        "brokers": [_written(member) for member in network.brokers],
        "actions": list(map(codec.write, scenario.actions)),
    }


def _written(member: Member) -> JsonDict:
    found: JsonDict = {"name": member.name}
    if member.options:
        found["options"] = dict(member.options)
    if member.not_listed:
        found["not_listed"] = True
    return found
