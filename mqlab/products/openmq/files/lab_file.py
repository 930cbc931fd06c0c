"""OpenMQ scenarios <-> JSON (Recordings rules 6)."""

from __future__ import annotations

from typing import Any

from mqlab.errors import MqlabError
from mqlab.files import validate
from mqlab.products.openmq.files import shapes
from mqlab.spec import codec
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.openmq import ClusterScenario, Member

ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs", "time_limit_seconds", "fresh")


def read(value: JsonObject, where: str = "lab file") -> ClusterScenario:
    """Return the scenario of a JSON value; errors say where and what to write."""
    body = validate.body_of(value, shapes.scenario(), where)
    cluster = body["cluster"]
    try:
        return ClusterScenario(
            members=tuple(_member(item) for item in body.get("brokers", ())),
            model=cluster["model"],
            master=cluster.get("master"),
            options=dict(cluster.get("options", {})),
            about={key: body[key] for key in ABOUT if key in body},
            version=(validate.version_of(value) or body.get("version") or "6.5")[:3],
        ).with_actions(*codec.actions_in({**body, "product": "openmq"}))
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None


def _member(item: Any) -> Member:
    if isinstance(item, str):
        return Member(item)
    return Member(item["name"], dict(item.get("options", {})), bool(item.get("not_listed", False)))


def write(scenario: ClusterScenario) -> JsonDict:
    """Return the JSON value; reading it again gives an equal scenario."""
    cluster: JsonDict = {"model": scenario.model}
    if scenario.master is not None:
        cluster["master"] = scenario.master
    if scenario.options:
        cluster["options"] = dict(scenario.options)
    return {
        **scenario.about,
        "product": "openmq",
        "version": scenario.version,
        "cluster": cluster,
        "brokers": [_written(member) for member in scenario.members],
        "actions": list(map(codec.write, scenario.actions)),
    }


def _written(member: Member) -> JsonDict:
    found: JsonDict = {"name": member.name}
    if member.options:
        found["options"] = dict(member.options)
    if member.not_listed:
        found["not_listed"] = True
    return found
