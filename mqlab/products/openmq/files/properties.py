"""OpenMQ's property files to a cluster and back: `cluster.properties`, and one file for each broker.

A file with ``imq.instancename`` is a broker's own; what all of them share stands in one without. Comments,
order and all properties that mqlab does not know stay. Source: Administration Guide, chapters 10 and 16.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from mqlab.errors import BadFile, BadValue, MqlabError, UnknownName
from mqlab.files import properties
from mqlab.files.markup import Edit, edited
from mqlab.files.properties import Entry
from mqlab.products.openmq.files import lab_file as lab
from mqlab.spec.openmq import Member, OpenMQNetwork
from mqlab.spec.openmq.options import OPTIONS
from mqlab.spec.origin import Origin, SourceFile
from mqlab.spec.scenario import Scenario
from mqlab.spec.values import as_text

NAME, PORT, HOST = "imq.instancename", "imq.portmapper.port", "imq.hostname"
URL = "imq.cluster.url"
LIST, MASTER = "imq.cluster.brokerlist", "imq.cluster.masterbroker"
PEER, ENHANCED = "imq.cluster.nomasterbroker", "imq.cluster.ha"
NOTE = "#mqlab "
CLUSTER_FILE, OWN_FILE = "cluster.properties", "config.properties"
_ROWS = {row.guide: row for row in OPTIONS["broker"].values()}
_PORT = "7676"


@dataclass(slots=True)
class Found:
    """A property file: its entries by key, the broker whose own it is (or None), and what mqlab noted."""

    file: SourceFile
    entries: dict[str, Entry]
    broker: str | None
    notes: dict[str, object]
    url_given: bool = False  # whether the cluster file that it names by a URL is one of the given ones

    def text(self, key: str, default: str = "") -> str:
        """Return a property's value."""
        return self.entries[key].value.strip() if key in self.entries else default

    def options(self) -> dict[str, object]:
        """Return the options that the lab knows, in their types; raises `BadFile` with the line."""
        found = {}
        for key, entry in self.entries.items():
            if key in _ROWS and key not in (LIST, MASTER):
                place = f"{self.file.name}, line {entry.line}"
                try:
                    found[key] = _ROWS[key].read(entry.value.strip(), place)
                except (BadValue, UnknownName) as error:
                    raise BadFile(str(error)) from None
        return found


def sources(files: Iterable[SourceFile]) -> list[Found]:
    """Return what property files say; raises `BadFile`."""
    files = tuple(files)
    read_ = {file.name: properties.read(file.text, file.name) for file in files}
    named = any(entry.key == NAME for entries in read_.values() for entry in entries)
    urls = {_base(entry.value) for entries in read_.values() for entry in entries if entry.key == URL}
    there = {_base(file.name) for file in files}
    found = []
    for file in files:
        entries = {entry.key: entry for entry in read_[file.name]}
        path = PurePosixPath(file.name.replace("\\", "/"))
        broker = entries[NAME].value.strip() if NAME in entries else None
        if not named and "cluster" not in path.stem and path.name not in urls:
            inside = (part.name for part in path.parents if part.name != "props")  # instances/NAME/props
            broker = next(inside, "") or path.stem
        url_given = URL in entries and _base(entries[URL].value) in there
        found.append(Found(file, entries, broker, _notes(file), url_given))
    return found


def _base(place: str) -> str:
    """Return the last part of a path or URL."""
    return PurePosixPath(place.strip().replace("\\", "/")).name


def _check_ours(one: Found) -> None:
    """Raise `BadFile` for what would be a broker's file by its place alone, and is called like no such file."""
    if one.broker is None or PurePosixPath(one.file.name.replace("\\", "/")).name == OWN_FILE:
        return
    if not any(key.startswith("imq.") for key in one.entries):
        told = "no imq.* property in it; this is not a configuration of Open Message Queue"
        raise BadFile(f"{one.file.name}: {told}")


def _notes(file: SourceFile) -> dict[str, object]:
    for no, line in enumerate(file.text.splitlines(), 1):
        if line.startswith(NOTE):
            try:
                value = json.loads(line.removeprefix(NOTE))
            except (ValueError, RecursionError):
                value = None
            if not isinstance(value, dict):
                raise BadFile(f"{file.name}, line {no}: not a line written by mqlab; remove it")
            return value
    return {}


def read(
    files: Iterable[SourceFile],
    values: Mapping[str, str] | None = None,
    hosts: Mapping[str, str] | None = None,
) -> OpenMQNetwork:
    """Return the cluster that files make, in which nothing happens yet; raises `BadFile` with file and line."""
    files = tuple(files)
    found = sources(files)
    for one in found:
        _check_ours(one)
    own = {one.broker: one for one in found if one.broker is not None}
    if len(own) < sum(one.broker is not None for one in found):
        raise BadFile(f"{files[0].name}: two files belong to the same broker; each needs its own {NAME}")
    shared = [one for one in found if one.broker is None] or list(own.values())[:1]
    listed = [named(text, own, hosts or {}) for one in shared[:1] for text in _list(one.text(LIST))]
    names = [*dict.fromkeys(listed), *(name for name in own if name not in listed)]
    if not names:
        raise BadFile(f"{files[0].name}: no broker named; add {LIST}=b1:{_PORT},b2:{_PORT}")
    model, master = _model(shared[0], own, hosts or {})
    cluster = {k: v for one in shared if one.broker is None for k, v in one.options().items()}
    notes: dict[str, object] = {}
    for one in found:
        notes.update(one.notes)
    body = {
        "brokers": [_member(name, own, listed, shared[0], hosts or {}, model) for name in names],
        "cluster": {"model": model, "options": cluster} | ({"master": master} if master else {}),
        "steps": [],
        "version": "6.5",
        **notes,
    }
    try:
        network: OpenMQNetwork = lab.read(body, files[0].name).network
    except (MqlabError, TypeError, KeyError, AttributeError) as error:
        raise BadFile(str(error)) from None
    origin = Origin(files, tuple((values or {}).items()), tuple((hosts or {}).items()))
    return replace(network, origin=origin)


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def named(address: str, own: Mapping[str, Found], hosts: Mapping[str, str]) -> str:
    """Return the broker at an address such as ``b1:7676``: by its port mapper, or called like the host."""
    host, port = _place(address)
    if host in hosts:
        return hosts[host]
    at = [
        name
        for name, one in own.items()
        if one.text(PORT, _PORT) == (port or _PORT) and one.text(HOST, host) == host
    ]
    return host if host in own or len(at) != 1 else at[0]


def _place(address: str) -> tuple[str, str]:
    """Return the host and the port of an address, which may have none."""
    place = address.rpartition("://")[2].strip("/")
    host, _, port = place.rpartition(":") if place[-1:].isdecimal() and ":" in place else (place, "", "")
    return host, port


def _model(shared: Found, own: Mapping[str, Found], hosts: Mapping[str, str]) -> tuple[str, str | None]:
    if shared.text(ENHANCED) == "true":
        return "enhanced", None
    if shared.text(PEER) == "true":
        return "peer", None
    master = shared.text(MASTER)
    if not master:
        return "none", None
    found, host = named(master, own, hosts), _place(master)[0]
    listed = {_place(address)[0] for address in _list(shared.text(LIST))}
    # By its port alone it could be anybody: who lists the brokers has their hosts in the list.
    if listed and host not in {*listed, *hosts, found} and not (found in own and own[found].text(HOST) == host):
        where = f"{shared.file.name}, line {shared.entries[MASTER].line}"
        raise BadFile(f"{where}: master broker {host} is in none of these files; add it to {LIST}, or its file")
    return "master", found


def _member(
    name: str,
    own: Mapping[str, Found],
    listed: list[str],
    shared: Found,
    hosts: Mapping[str, str],
    model: str,
) -> dict[str, object]:
    one = own.get(name)
    made: dict[str, object] = {"name": name}
    options = {} if one is None else one.options()
    if one is not None:
        master = one.text(MASTER)
        other = named(master, own, hosts) if master else ""
        if other and (model == "enhanced" or other != named(shared.text(MASTER), own, hosts)):
            options[MASTER] = other
        brokers = one.text(LIST)
        if brokers and (model == "enhanced" or brokers != shared.text(LIST)):
            options[LIST] = brokers
    if options:
        made["options"] = options
    if listed and name not in listed:
        made["not_listed"] = True
    return made


def write(network: OpenMQNetwork) -> dict[str, str]:
    """Return file name -> text of the property files of a cluster."""
    origin = network.origin
    texts: dict[str, str] = {}
    if origin is not None:
        before = read(origin.files, dict(origin.values), dict(origin.hosts))
        if before == network:
            return {file.name: file.text for file in origin.files}
        texts = _changed(origin, before, network)
    own = {one.broker for one in sources(SourceFile(n, t) for n, t in texts.items())}
    if not texts:
        texts[CLUSTER_FILE] = properties.changed("", _of_cluster(network), CLUSTER_FILE)
    for member in network.brokers:
        if member.name not in own:
            name = f"{_plain(member.name)}/{OWN_FILE}"
            texts[name] = properties.changed("", _of_member(member), name)
    return _noted(network, texts)


def _plain(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in name)[:80]


def _of_cluster(network: OpenMQNetwork) -> dict[str, str]:
    found: dict[str, str] = {}
    if network.model == "enhanced":
        found[ENHANCED] = "true"
    else:
        listed = (m.name for m in network.brokers if not m.not_listed)
        found[LIST] = ",".join(f"{name}:{_PORT}" for name in listed)
    if network.model == "peer":
        found[PEER] = "true"
    if network.master is not None:
        found[MASTER] = f"{network.master}:{_PORT}"
    options = network.options.items()
    return found | {k: as_text(v) for k, v in options if k in _ROWS and k not in (LIST, MASTER)}


def _of_member(member: Member) -> dict[str, str]:
    own = {key: as_text(value) for key, value in member.options.items() if key in _ROWS}
    return {NAME: member.name, PORT: _PORT, **own}


def _changed(origin: Origin, before: OpenMQNetwork, wanted: OpenMQNetwork) -> dict[str, str]:
    """Return the texts of files with the properties set that have changed."""
    members = {member.name: member for member in wanted.brokers}
    old = {member.name: member for member in before.brokers}
    whole = _differences(_of_cluster(wanted), _of_cluster(before))
    found = sources(origin.files)
    alone = all(one.broker is not None for one in found)
    made = {}
    for one in found:
        changes: dict[str, str | None] = dict(whole) if alone or one.broker is None else {}
        if one.broker is not None:
            if one.broker not in members:
                continue
            changes |= _differences(_of_member(members[one.broker]), _of_member(old[one.broker]))
        made[one.file.name] = properties.changed(one.file.text, changes, one.file.name)
    return made


def _differences(wanted: Mapping[str, str], got: Mapping[str, str]) -> dict[str, str | None]:
    gone: dict[str, str | None] = {key: None for key in got if key not in wanted}
    return gone | {k: v for k, v in wanted.items() if got.get(k) != v}


def _noted(network: OpenMQNetwork, texts: dict[str, str]) -> dict[str, str]:
    """Return texts in which what the files have no place for is noted, in the first of them."""
    wanted = lab.write(Scenario(network))
    got = lab.write(Scenario(read(SourceFile(name, text) for name, text in texts.items())))
    notes = {key: value for key, value in wanted.items() if got.get(key) != value}
    if not notes:
        return texts
    first = next(iter(texts))
    rest = "".join(line for line in texts[first].splitlines(keepends=True) if not line.startswith(NOTE))
    return {**texts, first: edited(rest, [Edit(0, 0, f"{NOTE}{json.dumps(notes)}\n")])}
