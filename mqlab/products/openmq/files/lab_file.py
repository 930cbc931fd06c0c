"""OpenMQ scenarios <-> JSON (Recordings rules 6)."""

from __future__ import annotations

from typing import Any

from mqlab.errors import MqlabError
from mqlab.files import validate
from mqlab.products.openmq.files import shapes
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.openmq import ClusterScenario, Member
from mqlab.spec.step import Step

ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs", "time_limit_seconds")


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
            steps=tuple(_step(item) for item in body.get("steps", ())),
            about={key: body[key] for key in ABOUT if key in body},
            version=(validate.version_of(value) or body.get("version") or "6.5")[:3],
        )
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None


def _member(item: Any) -> Member:
    if isinstance(item, str):
        return Member(item)
    return Member(item["name"], dict(item.get("options", {})), bool(item.get("not_listed", False)))


def _step(item: JsonObject) -> Step:
    return Step(item["do"], {key: value for key, value in item.items() if key != "do"})


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
        "steps": [{"do": step.do, **step.keys} for step in scenario.steps],
    }


def _written(member: Member) -> JsonDict:
    found: JsonDict = {"name": member.name}
    if member.options:
        found["options"] = dict(member.options)
    if member.not_listed:
        found["not_listed"] = True
    return found
