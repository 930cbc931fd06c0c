"""Lab files: mqlab's own JSON, in exactly the `scenario` form of the recordings.

A lab file may hold the scenario alone or, like a recording, `{"scenario": ..., "observed": ...}`.
Additions of our own: `edition` (or `product_version`) beside the brokers, `at` of a broker,
`producer` of a send, `name` of a network connector's `uri` when it is not a list of brokers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mqlab.errors import BadFile, BadValue, MqlabError, UnknownName
from mqlab.files import validate
from mqlab.products.activemq.files import shapes
from mqlab.spec import Broker, Network, NetworkConnector, Scenario, codec
from mqlab.spec.around import Around, Endpoint
from mqlab.spec.connector import TransportConnector
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.option import DEFAULT_EDITION

ABOUT = ("name", "theme", "title", "behaviour", "reference_says", "nominal", "guide", "guide_says")
URI_KINDS = {
    "static": "static:({0})",
    "masterslave": "masterslave:({0})",
    "static_failover": "static:(failover:({0})?maxReconnectAttempts=0)",
}

MARKS = ("scenario", "brokers", "cluster", "actions", "steps")  # every lab file and recording has one of them


def load(path: str | Path) -> Scenario:
    """Read the scenario of a lab file or recording.

    Raises `BadFile` (with file and place) when it is not one.
    """
    return read(read_json(path), str(path))


def read_json(path: str | Path) -> dict[str, object]:
    """Return the JSON object of a file; raises `BadFile`."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise BadFile(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path}: cannot be read as text: {error}") from None
    return parse(text, str(path))


SMALLEST = '{"brokers": [{"name": "A"}], "actions": []}'


def parse(text: str, where: str = "lab file") -> dict[str, object]:
    """Return the JSON object that a text is; raises `BadFile`."""
    if not text.strip():
        raise BadFile(f"{where}: it is empty; the smallest lab file is {SMALLEST}")
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        known = "a lab file is JSON; configurations are read as .xml, .properties"
        told = f"{error.msg} ({known})" if where != "lab file" and Path(where).suffix != ".json" else error.msg
        raise BadFile(f"{where}, {place}: not JSON: {told}") from None
    except RecursionError:
        raise BadFile(f"{where}: nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise BadFile(f"{where}: number too long: {error}") from None
    if not isinstance(value, dict):
        raise BadFile(f"{where}: a lab file is a JSON object with brokers and actions")
    if value.keys().isdisjoint(MARKS):
        raise BadFile(f"{where}: not a lab file: it has neither 'brokers' nor 'actions'; mq.save writes one")
    return value


def loads(text: str) -> Scenario:
    """Read the scenario of a lab file's text."""
    return read(parse(text))


def read(value: Mapping[str, object], where: str = "lab file") -> Scenario:
    """Return the scenario of a lab file's JSON value.

    Raises an error that names file, place and what to write.
    """
    body = validate.body_of(value, shapes.scenario(), where)
    return build({**body, "edition": value.get("edition") or body.get("edition")}, where)


def build(body: JsonObject, where: str) -> Scenario:
    """Return the scenario of a body that has been looked at; raises for what cannot be."""
    try:
        if "brokers" not in body:
            raise BadValue("the key 'brokers' is missing; expected a list of objects with a 'name'")
        pace = body.get("pace", "rest")
        connectors = _connectors(body.get("connectors", []), judged=pace == "rest")
        names = [broker["name"] for broker in body["brokers"]]
        for owner in connectors:
            if owner not in names:
                raise UnknownName.of("broker", owner, names, "connectors, key 'from'")
        # A broker of a recording that names no store kept nothing over a restart (persistent="false").
        kept = {"store": "memory"} if "steps" in body else {}
        brokers = [
            _broker({**({} if b.get("shared_store") else kept), **b}, connectors.get(b["name"], []))
            for b in body["brokers"]
        ]
        edition = body.get("edition") or DEFAULT_EDITION
        around = _around(body) if body.keys() & {"endpoints", "lines", "files"} else None
        network = Network(*brokers, edition=edition, around=around)
        about = {key: body[key] for key in ABOUT if key in body}
        return Scenario(network, codec.actions_in(body), about, pace)
    except BadFile:
        raise
    except MqlabError as error:
        kind = type(error)
        raise kind(f"{where}: {error}") from None


def _around(body: JsonObject) -> Around:
    """Return what lies around the brokers: listeners, named lines, files."""
    return Around(
        tuple(Endpoint(**item) for item in body.get("endpoints", ())),
        tuple((item["name"], item["to"]) for item in body.get("lines", ())),
        tuple((item["name"], item["text"]) for item in body.get("files", ())),
    )


def _connectors(items: list[JsonDict], judged: bool) -> dict[str, list[NetworkConnector]]:
    """Return broker -> the connectors it defines, in the file's order; *judged* by their addresses."""
    found: dict[str, list[NetworkConnector]] = {}
    for item in items:
        rest = dict(item)
        as_written = rest.pop("as_written", not judged)
        make = NetworkConnector.as_written if as_written else NetworkConnector
        name, owner = rest["name"], rest["from"]
        targets = rest.pop("to", [])
        targets = [targets] if isinstance(targets, str) else targets
        kind = rest.pop("uri_kind", "static")
        uri = rest.pop("uri", None) or URI_KINDS[kind].format(
            ",".join(f"tcp://{target}:61616" for target in targets)
        )
        options = {k: v for k, v in rest.items() if k not in ("name", "from", "starts_later")}
        if rest.get("starts_later"):
            options["auto_start"] = False
        found.setdefault(owner, []).append(make(name, uri=uri, **options))
    return found


def _broker(item: JsonDict, connectors: list[NetworkConnector]) -> Broker:
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


def write(scenario: Scenario) -> JsonDict:
    """Return the lab file of *scenario*: reading it again gives an equal scenario."""
    network = scenario.network
    body: JsonDict = dict(scenario.about)
    body["edition"] = network.edition
    body["brokers"] = [_write_broker(broker) for broker in network.brokers]
    body["connectors"] = [
        {"name": c.name, "from": b.name, **_write_uri(c), **_write_options(c)}
        | ({"as_written": True} if scenario.pace == "rest" and not c.judged else {})
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
    if scenario.pace != "rest":
        body["pace"] = scenario.pace
    body["actions"] = list(map(codec.write, scenario.actions))
    return body


def _write_broker(broker: Broker) -> dict[str, object]:
    item: dict[str, object] = {"name": broker.name, **_write_options(broker)}
    if broker.policies:
        item["policies"] = [dict(policy) for policy in broker.policies]
    if broker.transport.pairs:
        item["transport_connector"] = {"name": broker.transport.name, **broker.transport.options}
    if broker.composites:
        item["composite_queues"] = [dict(composite) for composite in broker.composites]
    if broker.at is not None:
        item["at"] = list(broker.at)
    return item


def _write_options(element: Broker | NetworkConnector) -> dict[str, object]:
    return {n: list(v) if isinstance(v, tuple) else v for n, v in element.pairs}


def _write_uri(connector: NetworkConnector) -> dict[str, object]:
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
