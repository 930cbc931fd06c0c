"""`broker.xml`: the files of Artemis brokers to a network and back.

Connectors become the names of the brokers that they lead to, by acceptors and by names of hosts. The texts stay
beside the network, so that an unchanged one is written to the letter; of a changed broker the elements below
``core`` that the change is in are written anew, and all others stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mqlab.errors import BadFile, MqlabError
from mqlab.files.markup import Edit, edited
from mqlab.products.artemis.files import lab_file as lab
from mqlab.products.artemis.files.core import Core
from mqlab.products.artemis.files.new_file import KNOWN, fresh, inside_of, noted
from mqlab.products.artemis.files.sources import sources
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.json_types import JsonDict
from mqlab.spec.origin import Origin, SourceFile
from mqlab.spec.scenario import Scenario

DEFAULT_VERSION = "2.5"


def read(
    files: Iterable[SourceFile],
    values: Mapping[str, str] | None = None,
    hosts: Mapping[str, str] | None = None,
) -> ArtemisNetwork:
    """Return the network that files make, in which nothing happens yet; raises `BadFile` with file and line."""
    files = tuple(files)
    cores = sources(files)
    bodies = [core.body(cores, hosts or {}) for core in cores.values()]
    notes: JsonDict = {}
    for core in cores.values():
        notes.update(core.notes.get("network", {}))
    body: JsonDict = {
        "brokers": [item["broker"] for item in bodies],
        "queues": _queues({n: item["queues"] for n, item in zip(cores, bodies, strict=True)}),
        "version": DEFAULT_VERSION,
        "steps": [],
    }
    body["cluster"] = _shared(body["brokers"])
    for core, item in zip(cores.values(), body["brokers"], strict=True):
        item.update(core.notes.get("broker", {}))
    settings = [item["addresses"] for item in bodies]
    body["address_settings"] = next((given for given in settings if given), {})
    order = {name: no for no, name in enumerate(notes.pop("order", ()))}
    body["brokers"].sort(key=lambda item: order.get(item["name"], len(order)))
    body.update(notes)
    try:
        read_body = {k: _without_gone(v) for k, v in body.items()}
        found: ArtemisNetwork = lab.read(read_body, files[0].name).network
    except (TypeError, KeyError, AttributeError, MqlabError) as error:
        raise BadFile(str(error)) from None
    given = (tuple((values or {}).items()), tuple((hosts or {}).items()))
    return replace(found, origin=Origin(files, *given))


def _without_gone(value: object) -> Any:
    """Return a value without what a note takes out, which stands there as None."""
    if isinstance(value, dict):
        return {k: _without_gone(v) for k, v in value.items() if v is not None}
    return [_without_gone(v) for v in value] if isinstance(value, list) else value


def _queues(of: Mapping[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    """Return the queues of all brokers, each with the brokers that have it, if not all do."""
    found: list[dict[str, object]] = []
    for queue in (queue for queues in of.values() for queue in queues):
        if queue not in found:
            found.append(queue)
    return [
        queue if len(on) == len(of) else {**queue, "on": on}
        for queue in found
        for on in [[name for name, queues in of.items() if queue in queues]]
    ]


def _shared(items: list[JsonDict]) -> dict[str, object]:
    """Take the options that all cluster connections have alike out of the brokers, and return them."""
    given = [item.get("cluster", {}) for item in items]
    alike = {k: v for k, v in given[0].items() if all(k in g and g[k] == v for g in given)}
    for item in items:
        rest = {k: v for k, v in item.pop("cluster", {}).items() if k not in alike}
        item.update({"cluster": rest} if rest else {})
    return alike


def write(network: ArtemisNetwork) -> dict[str, str]:
    """Return file name -> text of the configuration files of a network."""
    origin = network.origin
    texts: dict[str, str] = {}
    before = network
    if origin is not None:
        before = read(origin.files, dict(origin.values), dict(origin.hosts))
        if before == network:
            return {file.name: file.text for file in origin.files}
        there = sources(origin.files)
        texts = {
            core.document.where: core.document.text
            for n, core in there.items()
            if n in {b.name for b in network.brokers}
        }
    kept = {core.name: core for core in sources(_files(texts)).values()}
    for broker in network.brokers:
        core = kept.get(broker.name)
        if core is None:
            texts[f"{_folder(broker.name, texts)}/broker.xml"] = fresh(network, broker)
        else:
            was = next(old for old in before.brokers if old.name == broker.name)
            lines = inside_of(before, was), inside_of(network, broker)
            texts[core.document.where] = _changed(core, *lines)
    return _noted(network, texts)


def _files(texts: Mapping[str, str]) -> list[SourceFile]:
    return [SourceFile(name, text) for name, text in texts.items()]


def _folder(name: str, taken: Iterable[str]) -> str:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in name)[:80]
    number, free = 1, plain
    while f"{free}/broker.xml".lower() in {other.lower() for other in taken}:
        number += 1
        free = f"{plain}-{number}"
    return free


def _changed(core: Core, before: Mapping[str, str], wanted: Mapping[str, str]) -> str:
    """Return the text of a broker with the elements written anew whose lines have changed."""
    edits: list[Edit] = []
    text = core.document.text
    end = text.rindex("<", core.element.inside, core.element.end)
    start = text.rindex("\n", 0, end) + 1
    place = start if text[start:end].isspace() or start == end else end
    for name in KNOWN:
        there, lines = core.element.first(name), wanted.get(name, "")
        if lines == before.get(name, ""):
            continue
        start, end = (place, place) if there is None else (there.start, there.end)
        edits.append(Edit(start, end, lines if there is None else lines.strip()))
    return edited(text, edits)


def _noted(network: ArtemisNetwork, texts: dict[str, str]) -> dict[str, str]:
    """Return texts in which what a broker's file has no place for is noted."""
    wanted, got = lab.write(Scenario(network)), lab.write(Scenario(read(_files(texts))))
    items = {item["name"]: item for item in got["brokers"]}
    told: dict[str, dict[str, object]] = {}
    for item in wanted["brokers"]:
        own = _differences(item, items[item["name"]])
        if own:
            told[item["name"]] = {"broker": own}
    whole = _differences(
        {k: v for k, v in wanted.items() if k != "brokers"}, {k: v for k, v in got.items() if k != "brokers"}
    )
    names = [item["name"] for item in wanted["brokers"]]
    if names != [item["name"] for item in got["brokers"]]:
        whole["order"] = names
    if whole:
        told.setdefault(names[0], {})["network"] = whole
    return {
        core.document.where: noted(core, told[name]) if name in told else core.document.text
        for name, core in sources(_files(texts)).items()
    }


def _differences(wanted: Mapping[str, object], got: Mapping[str, object]) -> dict[str, object]:
    gone: dict[str, object] = {key: None for key in got if key not in wanted}
    return gone | {k: v for k, v in wanted.items() if k not in got or got[k] != v}
