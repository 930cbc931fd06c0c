"""`broker.xml`: the files of Artemis brokers to a network and back.

Connectors become the names of the brokers that they lead to, by acceptors and by names of hosts. The texts stay
beside the network, so that an unchanged one is written to the letter; of a changed broker only what the change
is in is edited (`edits`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from mqlab.errors import BadFile, MqlabError
from mqlab.files.markup import edited, prefixed
from mqlab.products.artemis.files import edits, placing, queues
from mqlab.products.artemis.files import lab_file as lab
from mqlab.products.artemis.files.core import Core, CoreReader, Directory
from mqlab.products.artemis.files.new_file import fresh, noted
from mqlab.products.artemis.files.placing import Place
from mqlab.products.artemis.files.side import Side
from mqlab.products.artemis.files.sources import sources, sources_of
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.artemis.broker import AddressQueue
from mqlab.spec.json_types import JsonDict, JsonObject, JsonValue
from mqlab.spec.origin import Origin, SourceFile
from mqlab.spec.scenario import Scenario

DEFAULT_VERSION = "2.5"
LATER = "2.28", {"primary", "backup", "primary-only", "check-for-active-server"}  # whose schema has these words


def read(
    files: Iterable[SourceFile],
    values: Mapping[str, str] | None = None,
    hosts: Mapping[str, str] | None = None,
) -> ArtemisNetwork:
    """Return the network that files make, in which nothing happens yet; raises `BadFile` with file and line.

    A connector to where no broker of these files listens leads nowhere in the lab; `check` tells.
    """
    origin = Origin(tuple(files), tuple((values or {}).items()), tuple((hosts or {}).items()))
    return _read(sources_of(origin), origin)


def _read(cores: Mapping[str, Core], origin: Origin) -> ArtemisNetwork:
    readers = [CoreReader(core, Directory(cores, dict(origin.hosts))) for core in cores.values()]
    notes: JsonDict = {}
    for core in cores.values():
        notes.update(core.notes.get("network", {}))
    items = [merged(reader.body(), reader.core.notes.get("broker", {})) for reader in readers]
    found_queues = {core.name: queues.read(core) for core in cores.values()}
    items = [_without_gone(item) for item in items]
    body: JsonDict = {
        "brokers": items,
        "queues": _queues(found_queues),
        "version": _version(cores.values()),
        "cluster": _shared(items),
        "address_settings": _everywhere(items),
        "steps": [],
    }
    for core, item in zip(cores.values(), items, strict=True):
        _judge(core, item)
    order = {name: no for no, name in enumerate(notes.pop("order", ()))}
    items.sort(key=lambda item: order.get(item["name"], len(order)))
    body.update(notes)
    try:
        found: ArtemisNetwork = lab.read(body, origin.files[0].name).network
    except (TypeError, KeyError, AttributeError, MqlabError) as error:
        raise BadFile(str(error)) from None
    return replace(found, origin=origin)


def _version(cores: Iterable[Core]) -> str:
    """Return the edition whose words the policies of these files are written in."""
    version, words = LATER
    policies = (policy for core in cores for policy in core.element.all("ha-policy"))
    later = any(one.name in words for policy in policies for one in policy.walk())
    return version if later else DEFAULT_VERSION


def _judge(core: Core, item: JsonDict) -> None:
    """Raise `BadFile` with the broker's place for what a broker cannot be."""
    try:
        lab.broker(item)
    except MqlabError as error:
        raise BadFile(f"{core.document.where}, line {core.line}: {error}") from None
    except (TypeError, KeyError, AttributeError):
        return  # a note of mqlab that somebody has changed: the shape of the whole tells what is wrong


def _without_gone(value: object) -> JsonValue:
    """Return a value without what a note takes out, which stands there as None."""
    if isinstance(value, dict):
        return {k: _without_gone(v) for k, v in value.items() if v is not None}
    return [_without_gone(v) for v in value] if isinstance(value, list) else value


def _queues(of: Mapping[str, list[AddressQueue]]) -> list[JsonDict]:
    """Return the queues of all brokers, each with the brokers that have it, if not all do."""
    found = dict.fromkeys(queue for there in of.values() for queue in there)
    return [
        lab.written_queue(queue if len(on) == len(of) else replace(queue, on=on))
        for queue in found
        for on in [tuple(name for name, there in of.items() if queue in there)]
    ]


def _shared(items: list[JsonDict]) -> JsonDict:
    """Take the options that all cluster connections have alike out of the brokers, and return them."""
    there: list[JsonDict] = [item for item in items if item.get("cluster", {}).get("clustered") is not False]
    given: list[JsonDict] = [item.get("cluster", {}) for item in there]
    alike = {k: v for k, v in (given or [{}])[0].items() if all(k in g and g[k] == v for g in given)}
    for item in there:
        rest = {k: v for k, v in item.pop("cluster", {}).items() if k not in alike}
        item.update({"cluster": rest} if rest else {})
    return alike


def _everywhere(items: list[JsonDict]) -> JsonDict:
    """Take the settings of all addresses (``#``) out of the brokers, if they are alike, and return them."""
    given: list[JsonDict] = [item.get("address_settings", {}).get("#", {}) for item in items]
    if any(settings != given[0] for settings in given):
        return {}
    for item in items:
        item.get("address_settings", {}).pop("#", None)
        if not item.get("address_settings", True):
            del item["address_settings"]
    return given[0]


def placed(network: ArtemisNetwork, places: Mapping[str, Place]) -> dict[str, tuple[str, str]]:
    """Return broker -> the name and text of its file for a place: its own with nothing else changed, or new."""
    origin = network.origin or Origin(())
    cores, now = _again(write(network), origin)
    texts = placing.texts(cores, dict(now.hosts), places)
    return {name: (cores[name].document.where, text) for name, text in texts.items()}


def write(network: ArtemisNetwork) -> dict[str, str]:
    """Return file name -> text of the configuration files of a network."""
    origin = network.origin or Origin(())
    texts: dict[str, str] = {}
    if network.origin is not None:
        before = _read(sources_of(origin), origin)
        if before == network:
            return {file.name: file.text for file in origin.files}
        texts = _kept(before, network, origin)
    there = {name: core.document.where for name, core in sources_of(origin).items()} if origin.files else {}
    files = {name: there[name] for name in network.names if name in there}
    for broker in network.brokers:
        if broker.name not in files:
            files[broker.name] = f"{_folder(broker.name, texts)}/broker.xml"
            texts[files[broker.name]] = fresh(network, broker)
    return _noted(network, texts, files, origin)


def _kept(before: ArtemisNetwork, network: ArtemisNetwork, origin: Origin) -> dict[str, str]:
    """Return the files of the brokers that are still there, edited where they have changed."""
    cores = sources_of(origin)
    directory = Directory(cores, dict(origin.hosts))
    made = {}
    for name, core in cores.items():
        if name in network.names:
            changes = edits.Edits(core, directory, Side.of(before, name), Side.of(network, name))
            made[core.document.where] = edited(
                core.document.text, prefixed(core.document, core.element, changes.all())
            )
    return made


def _folder(name: str, taken: Iterable[str]) -> str:
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in name)[:80]
    number, free = 1, plain
    while f"{free}/broker.xml".lower() in {other.lower() for other in taken}:
        number += 1
        free = f"{plain}-{number}"
    return free


def _again(texts: Mapping[str, str], origin: Origin) -> tuple[dict[str, Core], Origin]:
    """Return what texts say, with the values and hosts of those that they were made of."""
    files = tuple(SourceFile(name, text) for name, text in texts.items())
    cores = sources(files, dict(origin.values))
    hosts = tuple((host, name) for host, name in origin.hosts if name in cores)
    return cores, Origin(files, origin.values, hosts)


def _noted(
    network: ArtemisNetwork, texts: dict[str, str], files: Mapping[str, str], origin: Origin
) -> dict[str, str]:
    """Return texts in which what a broker's file has no place for is noted."""
    told: dict[str, JsonDict] = {name: {} for name in files}
    cores, now = _again(texts, origin)
    called = {core.document.where: name for name, core in cores.items()}
    for name, file in files.items():
        if called[file] != name:
            told[name]["name"] = name
    if any(told.values()):
        texts = _with_notes(texts, told, files)
        cores, now = _again(texts, origin)
    got = _read(cores, now)
    said, read = _items(network), _items(got)
    for name, item in said.items():
        if own := _differences(item, read[name]):
            told[name]["broker"] = own
    whole = _differences(_whole(network), _whole(got))
    if network.names != got.names:
        whole["order"] = list(network.names)
    if whole:
        told[network.names[0]]["network"] = whole
    return _with_notes(texts, told, files) if any(told.values()) else texts


def _items(network: ArtemisNetwork) -> dict[str, JsonDict]:
    """Return what is written for each broker, by name, in the lab file's form."""
    made = {item["name"]: item for item in lab.write(Scenario(network))["brokers"]}
    for broker in network.brokers:
        for key, value in (
            ("cluster", network.cluster_of(broker)),
            ("address_settings", network.settings_of(broker)),
        ):
            made[broker.name].pop(key, None)
            made[broker.name] |= {key: dict(value)} if value else {}
    return made


def _whole(network: ArtemisNetwork) -> JsonDict:
    """Return what is written of a network besides its brokers."""
    found = lab.write(Scenario(network))
    gone = ("brokers", "cluster", "address_settings")
    for queue in found["queues"]:
        if set(queue.get("on", ())) == set(network.names):
            del queue["on"]
    return {key: value for key, value in found.items() if key not in gone}


def _with_notes(
    texts: Mapping[str, str], told: Mapping[str, JsonDict], files: Mapping[str, str]
) -> dict[str, str]:
    """Return texts with notes put into them, beside what is noted there."""
    notes = {files[name]: note for name, note in told.items() if note}
    made = dict(texts)
    for core in sources([SourceFile(file, text) for file, text in texts.items()]).values():
        if (file := core.document.where) in notes:
            made[file] = noted(core, merged(core.notes, notes[file]))
    return made


def merged(before: JsonObject, more: JsonObject) -> JsonDict:
    """Return an object with *more* said of it; what is said of a thing twice holds the second time.

    >>> merged({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}})
    {'a': {'b': 1, 'c': 3}}
    """
    both = {
        key: merged(before[key], it)
        for key, it in more.items()
        if isinstance(it, dict) and isinstance(before.get(key), dict)
    }
    return {**before, **more, **both}


def _differences(wanted: JsonObject, got: JsonObject) -> JsonDict:
    """Return what is to be said of *got* to make it *wanted*; what has to go is None."""
    found: JsonDict = {key: None for key in got if key not in wanted}
    for key, value in wanted.items():
        there = got.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            if inner := _differences(value, there):
                found[key] = inner
        elif key not in got or there != value:
            found[key] = value
    return found
