"""What of a network has no place in ActiveMQ's files: it stands in a processing instruction that brokers skip.

Such is where to draw a broker, or that a line lies in front of its port. What is noted is found by reading
the files again: whatever does not come back by itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from mqlab.errors import MqlabError
from mqlab.products.activemq.files.xml_names import NOTE
from mqlab.spec.around import Around, Endpoint
from mqlab.spec.connector import NetworkConnector, TransportConnector
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.network import Broker, Network

Notes = dict[str, object]


def needed(wanted: Broker, got: Broker, keys: Sequence[str]) -> Notes:
    """Return what must be noted so that *got* is read as *wanted*.

    *keys* are the names of its connectors in its file.
    """
    found: Notes = {}
    if options := _differences(wanted.options, got.options):
        found["options"] = options
    if wanted.at != got.at:
        found["at"] = None if wanted.at is None else list(wanted.at)
    if wanted.policies != got.policies:
        found["policies"] = [dict(policy) for policy in wanted.policies]
    if wanted.composites != got.composites:
        found["composites"] = [dict(composite) for composite in wanted.composites]
    if wanted.transport != got.transport:
        found["transport"] = {"name": wanted.transport.name, **wanted.transport.options}
    connectors: Notes = {}
    for key, mine, other in zip(keys, wanted.connectors, got.connectors, strict=True):
        note: Notes = {}
        if mine.name != other.name:
            note["name"] = mine.name
        if mine.uri != other.uri:
            note["uri"] = mine.uri
        if options := _differences(mine.options, other.options):
            note["options"] = options
        if note:
            connectors[key] = note
    if connectors:
        found["connectors"] = connectors
    return found


def _differences(wanted: Mapping[str, object], got: Mapping[str, object]) -> Notes:
    gone = {name: None for name in got if name not in wanted}
    return gone | {n: v for n, v in wanted.items() if n not in got or got[n] != v}


def merged(before: Mapping[str, object], more: Mapping[str, object]) -> Notes:
    """Return notes with *more* said; what is said of an option twice holds the second time."""
    found = dict(before)
    for key, value in more.items():
        old = found.get(key)
        both = isinstance(value, dict) and isinstance(old, dict) and key != "transport"
        found[key] = merged(old, value) if both else value  # type: ignore[arg-type]
    return found


def broker(
    name: str,
    connectors: Sequence[NetworkConnector],
    listens: Sequence[TransportConnector],
    around: JsonDict,
    options: JsonObject,
    notes: JsonObject,
) -> Broker:
    """Return a broker with what its notes say in place of what its file says; the reverse of `needed`.

    *around* are its policies and composites.
    """
    told = notes.get("connectors", {})
    made = [_connector(c, told[c.name]) if c.name in told else c for c in connectors]
    if "transport" in notes:
        listens = [TransportConnector(**notes["transport"])]
    given = {key: notes.get(key) for key in ("policies", "composites", "at")}
    around = around | {key: tuple(value) for key, value in given.items() if value is not None}
    changes = notes.get("options")
    return Broker(name, *made, *listens, **around, **(_changed(options, changes) if changes else options))


def _connector(connector: NetworkConnector, note: JsonObject) -> NetworkConnector:
    options = _changed(connector.options, note.get("options", {}))
    return connected(note.get("name", connector.name), note.get("uri", connector.uri), options)


def connected(name: str, uri: str, options: JsonObject) -> NetworkConnector:
    """Return a connector; one whose address its broker refuses is taken as it is written."""
    try:
        return NetworkConnector(name, uri=uri, **options)
    except MqlabError:
        return NetworkConnector.as_written(name, uri, **options)


def _changed(options: Mapping[str, object], changes: Mapping[str, object]) -> JsonDict:
    return {n: v for n, v in {**options, **changes}.items() if v is not None}


def of_network(wanted: Network, got: Network) -> Notes:
    """Return what must be noted of a network besides its brokers."""
    found: Notes = {}
    if wanted.edition != got.edition:
        found["edition"] = wanted.edition
    if wanted.around != got.around:
        around = wanted.around
        found["around"] = {
            "endpoints": [[end.name, end.mode] for end in around.endpoints],
            "lines": [list(line) for line in around.lines],
            "files": [list(file) for file in around.files],
        }
    if wanted.names != got.names:
        found["order"] = list(wanted.names)
    return found


def around_of(note: JsonObject) -> Around:
    """Return what lies around brokers, from a note."""
    return Around(
        tuple(Endpoint(name, mode) for name, mode in note["endpoints"]),
        tuple((line, broker) for line, broker in note["lines"]),
        tuple((name, text) for name, text in note["files"]),
    )


def written(notes: JsonObject) -> str:
    """Return the processing instruction that holds notes."""
    text = json.dumps(notes, ensure_ascii=True).replace(">", "\\u003e")
    return f"<?{NOTE} {text}?>"
