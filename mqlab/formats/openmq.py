"""OpenMQ scenarios <-> JSON (conformance/openmq/README.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.spec.openmq import STEPS, ClusterScenario, Member
from mqlab.spec.step import Step

Json = Mapping[str, Any]
Body = dict[str, Any]

ABOUT = ("name", "theme", "title", "behaviour", "guide", "guide_says", "runs", "time_limit_seconds")
KNOWN = (*ABOUT, "cluster", "brokers", "steps", "product", "version")


def claims(body: Json) -> bool:
    """Whether a scenario object is an OpenMQ cluster: it has a cluster with a model."""
    cluster = body.get("cluster")
    product = body.get("product", "openmq")
    return product == "openmq" and isinstance(cluster, Mapping) and "model" in cluster


def read(value: Json, where: str = "lab file") -> ClusterScenario:
    """Return the scenario of a JSON value; errors say where and what to write."""
    body = value.get("scenario", value)
    try:
        _known(body, KNOWN, "scenario")
        cluster = body["cluster"]
        _known(cluster, ("model", "master", "options"), "cluster")
        if not isinstance(body.get("steps", []), list):
            raise BadValue(f"'steps' is {body['steps']!r}; write a list of objects")
        version = value.get("observed", {}).get("version") or body.get("version") or "6.5"
        return ClusterScenario(
            members=tuple(_member(item) for item in body.get("brokers", ())),
            model=cluster["model"],
            master=cluster.get("master"),
            options=dict(cluster.get("options", {})),
            steps=tuple(_step(no, item) for no, item in enumerate(body.get("steps", ()), 1)),
            about={key: body[key] for key in ABOUT if key in body},
            version=str(version)[:3],
        )
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None


def _known(item: Json, keys: tuple[str, ...], where: str) -> None:
    for key in item:
        if key not in keys:
            raise UnknownName.of("key", key, keys, where)


def _member(item: Any) -> Member:
    if isinstance(item, str):
        return Member(item)
    if not isinstance(item, Mapping) or "name" not in item:
        raise BadValue(f"brokers: {item!r}; write a name, or an object with the key 'name'")
    _known(item, ("name", "options", "not_listed"), f"broker {item['name']}")
    return Member(item["name"], dict(item.get("options", {})), bool(item.get("not_listed", False)))


def _step(no: int, item: Any) -> Step:
    if not isinstance(item, Mapping) or item.get("do") not in STEPS:
        given = item.get("do") if isinstance(item, Mapping) else item
        raise UnknownName.of("step", given, STEPS, f"step {no}")
    return Step(item["do"], {key: value for key, value in item.items() if key != "do"})


def write(scenario: ClusterScenario) -> Body:
    """Return the JSON value; reading it again gives an equal scenario."""
    cluster: Body = {"model": scenario.model}
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


def _written(member: Member) -> Body:
    found: Body = {"name": member.name}
    if member.options:
        found["options"] = dict(member.options)
    if member.not_listed:
        found["not_listed"] = True
    return found
