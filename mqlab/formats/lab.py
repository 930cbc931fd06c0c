"""Lab files: mqlab's own JSON, in exactly the `scenario` form of the recordings.

A lab file may hold the scenario alone or, like a recording, `{"scenario": ..., "observed": ...}`.
Additions of our own: `edition` (or `product_version`) beside the brokers, `at` of a broker,
`producer` of a send, `name` of a network connector's `uri` when it is not a list of brokers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mqlab.errors import BadFile, BadValue, MqlabError, UnknownName
from mqlab.formats import steps
from mqlab.spec import Broker, Network, NetworkConnector, Scenario
from mqlab.spec.network import Around, Endpoint, TransportConnector
from mqlab.spec.option import DEFAULT_EDITION
from mqlab.spec.rows import OPTIONS
from mqlab.spec.steps import PLAIN

ABOUT = ("name", "theme", "title", "behaviour", "reference_says", "nominal", "guide", "guide_says")
KNOWN = {*ABOUT, "brokers", "connectors", "endpoints", "lines", "files", "steps", "edition", "pace",
         "product", "version"}  # fmt: skip
URI_KINDS = {
    "static": "static:({0})",
    "masterslave": "masterslave:({0})",
    "static_failover": "static:(failover:({0})?maxReconnectAttempts=0)",
}


def load(path: str | Path) -> Scenario:
    """Read the scenario of a lab file or recording.

    Raises `BadFile` (with file and place) when it is not one.
    """
    return read(read_json(path), str(path))


def read_json(path: str | Path) -> dict[str, Any]:
    """Return the JSON object of a file; raises `BadFile`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: cannot be read as a text: {error}") from None
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadFile(
            f"{path}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from None
    if not isinstance(value, dict):
        raise BadFile(f"{path}: a lab file is a JSON object with brokers, connectors and steps")
    return value


def loads(text: str) -> Scenario:
    """Read the scenario of a lab file's text."""
    return read(json.loads(text), "lab file")


def read(value: Mapping[str, Any], where: str = "lab file") -> Scenario:
    """Return the scenario of a lab file's JSON value.

    Raises a `BadFile` that names file, place and what to write.
    """
    body = value.get("scenario", value)
    edition = value.get("edition") or body.get("edition") or DEFAULT_EDITION
    try:
        _check_keys(body, KNOWN)
        if body.get("product", "activemq") != "activemq":
            raise UnknownName.of("product", body["product"], ["activemq"])
        pace = body.get("pace", "rest")
        connectors = _connectors(body.get("connectors", []), judged=pace == "rest")
        names = [_text(b, "name", "broker") for b in _objects(body, "brokers")]
        for owner in connectors:
            if owner not in names:
                raise UnknownName.of("broker", owner, names, "connectors, key 'from'")
        brokers = [_broker(b, connectors.get(b["name"], [])) for b in body["brokers"]]
        network = Network(*brokers, edition=edition, around=_around(body))
        about = {key: body[key] for key in ABOUT if key in body}
        return Scenario(network, steps.read(_objects(body, "steps")), about, pace)
    except BadFile:
        raise
    except MqlabError as error:
        kind = type(error)
        raise kind(f"{where}: {error}") from None


def _objects(body: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    items = body.get(key)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise BadValue(f"key {key!r} must be a list of objects")
    return items


def _check_keys(given: Mapping[str, Any], known: Any) -> None:
    for key in given:
        if key not in known:
            raise UnknownName.of("key", key, sorted(known))


def _text(given: Mapping[str, Any], key: str, what: str) -> str:
    if not isinstance(given.get(key), str):
        raise BadValue(f"{what}: key {key!r} is missing or not a text")
    return str(given[key])


def _around(body: Mapping[str, Any]) -> Around:
    """Return what lies around the brokers: listeners, named lines, files."""
    for key in ("endpoints", "lines", "files"):
        _objects({key: body.get(key, [])}, key)
    return Around(
        tuple(Endpoint(**item) for item in body.get("endpoints", ())),
        tuple((str(item["name"]), str(item["to"])) for item in body.get("lines", ())),
        tuple((str(item["name"]), str(item["text"])) for item in body.get("files", ())),
    )


def _connectors(items: list[dict[str, Any]], judged: bool) -> dict[str, list[NetworkConnector]]:
    """Return broker -> the connectors it defines, in the file's order; *judged* by their addresses."""
    make = NetworkConnector if judged else NetworkConnector.as_written
    found: dict[str, list[NetworkConnector]] = {}
    for item in items:
        rest = dict(item)
        name, owner = _text(rest, "name", "connector"), _text(rest, "from", "connector")
        targets = rest.pop("to", [])
        targets = [targets] if isinstance(targets, str) else targets
        kind = rest.pop("uri_kind", "static")
        if kind not in URI_KINDS:
            raise UnknownName.of("uri_kind", kind, URI_KINDS, f"connector {name!r}")
        uri = rest.pop("uri", None) or URI_KINDS[kind].format(
            ",".join(f"tcp://{target}:61616" for target in targets)
        )
        options = {k: v for k, v in rest.items() if k not in ("name", "from", "starts_later")}
        if rest.get("starts_later"):
            options["auto_start"] = False
        found.setdefault(owner, []).append(make(name, uri=uri, **options))
    return found


def _broker(item: dict[str, Any], connectors: list[NetworkConnector]) -> Broker:
    plain = ("name", "policies", "composite_queues", "at", "transport_connector")
    if "transport_connector" in item:
        connectors = [*connectors, TransportConnector(**item["transport_connector"])]  # type: ignore[list-item]
    options = {key: value for key, value in item.items() if key not in plain}
    at = tuple(item["at"]) if "at" in item else None
    return Broker(
        item["name"],
        *connectors,
        policies=tuple(item.get("policies", ())),
        composites=tuple(item.get("composite_queues", ())),
        at=at,
        **options,
    )


def write(scenario: Scenario) -> dict[str, Any]:
    """Return the lab file of *scenario*: reading it again gives an equal scenario."""
    network = scenario.network
    body: dict[str, Any] = dict(scenario.about)
    body["edition"] = network.edition
    body["brokers"] = [_write_broker(broker) for broker in network.brokers]
    body["connectors"] = [
        {"name": c.name, "from": b.name, **_write_uri(c), **_write_options(c)}
        for b, c in network.connectors()
    ]
    around = network.around
    for key, rows in (
        ("endpoints", [{"name": end.name, "mode": end.mode} for end in around.endpoints]),
        ("lines", [{"name": line, "to": broker} for line, broker in around.lines]),
        ("files", [{"name": name, "text": text} for name, text in around.files]),
    ):
        if rows:
            body[key] = rows
    body["steps"] = written = steps.write(scenario.actions, network)
    if scenario.pace != "rest" or any(w["do"] not in PLAIN or "at" in w for w in written):
        body["pace"] = scenario.pace
    return body


def _write_broker(broker: Broker) -> dict[str, Any]:
    item: dict[str, Any] = {"name": broker.name, **_write_options(broker)}
    if broker.policies:
        item["policies"] = [dict(policy) for policy in broker.policies]
    if broker.transport.pairs:
        item["transport_connector"] = {"name": broker.transport.name, **broker.transport.options}
    if broker.composites:
        item["composite_queues"] = [dict(composite) for composite in broker.composites]
    if broker.at is not None:
        item["at"] = list(broker.at)
    return item


def _write_options(element: Broker | NetworkConnector) -> dict[str, Any]:
    return {n: list(v) if isinstance(v, tuple) else v for n, v in element.pairs}


def _write_uri(connector: NetworkConnector) -> dict[str, Any]:
    addresses = ",".join(f"tcp://{target}:61616" for target in connector.targets)
    for kind, form in URI_KINDS.items():
        if connector.uri == form.format(addresses):
            to = connector.targets
            alone = kind == "static" and len(to) == 1
            return {"to": to[0] if alone else list(to), **({} if alone else {"uri_kind": kind})}
    return {"uri": connector.uri}


def dumps(scenario: Scenario) -> str:
    """Return the lab file of *scenario* as text."""
    return json.dumps(write(scenario), indent=1)


def change(body: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a lab file's value with one option changed.

    *path* is ``broker/connector.option`` or ``broker.option``.
    """
    scenario, (place, option) = read(body), split_path(path)
    return write(scenario.change(place, **{option: value}))


def split_path(path: str) -> tuple[str, str]:
    """Return place and option of ``A/linkToBrokerB.network_ttl``; raises `BadValue`."""
    place, dot, option = path.rpartition(".")
    if not dot:
        raise BadValue(f"{path!r}: write BROKER/CONNECTOR.OPTION, such as A/linkToB.network_ttl")
    known = {o.guide: o.name for rows in OPTIONS.values() for o in rows.values()}
    return place, known.get(option, option)
