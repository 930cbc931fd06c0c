"""What becomes of each element and attribute of a `broker.xml`: played, kept, or told by `check`.

What the option rows name is played, or kept if its row says so. `elements.toml` says it of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path

from mqlab.files import treatment as shared
from mqlab.files.markup import Element
from mqlab.files.treatment import Table, Told, Treatment
from mqlab.products.artemis.files import lab_file
from mqlab.products.artemis.files.core import CONNECTIONS, PLAIN, URI, Core, in_uri
from mqlab.products.artemis.files.policy import SPOKEN
from mqlab.products.artemis.files.sources import sources_of
from mqlab.spec import needs
from mqlab.spec.action import Action
from mqlab.spec.artemis import PLAYED_AS, ArtemisNetwork
from mqlab.spec.artemis.broker import Broker
from mqlab.spec.artemis.options import ELEMENTS, OPTIONS
from mqlab.spec.json_types import JsonDict
from mqlab.spec.naming import called
from mqlab.spec.needs import Idle, idle
from mqlab.spec.origin import Origin
from mqlab.spec.scenario import Scenario

SECOND = "only the first cluster connection is played"

_NAMES = ("name", "connectorName", "clusterNotificationInterval", "clusterNotificationAttempts")  # no effect


@cache
def _rows() -> dict[str, Treatment]:
    """Return pattern -> treatment of what the option rows name."""
    found: dict[str, Treatment] = {"cluster-password": "kept", "journal-directory": "played"}
    for rows, place in (
        (OPTIONS["core"], "{}"),
        (PLAIN, "cluster-connections/cluster-connection/{}"),
        (OPTIONS["address-setting"], "address-settings/address-setting/{}"),
        (ELEMENTS, "ha-policy/*/{}"),
        (OPTIONS["scale-down"], "ha-policy/*/scale-down/{}"),
        (OPTIONS["divert"], "diverts/divert/{}"),
        (OPTIONS["bridge"], "bridges/bridge/{}"),
    ):
        for row in rows.values():
            if row.name != "manager":  # a file that has one means another vote than is played
                found[place.format(row.guide)] = "kept" if row.kept else "played"
    return found


@cache
def _table() -> Table:
    return Table.read(Path(__file__).with_name("elements.toml"), _rows())


@lru_cache(maxsize=4096)
def treatment(path: str) -> Treatment:
    """Return what becomes of an element or attribute by its path below ``core``.

    >>> treatment("address-settings/address-setting/redistribution-delay"), treatment("federations")
    ('played', 'told')
    """
    manager = path.startswith("ha-policy/") and "manager" in path.split("/")
    return "told" if manager else _table().treatment(path)


def told(core: Core) -> Iterator[Told]:
    """Yield what of a file is not played; what stands in such an element is not told once more."""
    yield from _table().around(core.document.root, core.element)
    yield from _attributes(core.element, "", core)
    yield from _below(core.element, "", core)


def _attributes(element: Element, path: str, core: Core) -> Iterator[Told]:
    for name in element.attributes:
        at = f"{path}@{name}"
        told = not name.startswith("{") and treatment(at) == "told"
        if told and not _table().says_nothing(at, core.attribute(element, name), core.element):
            yield Told(at, element.line, _table().differs(at))


def _parameters(connection: Element, path: str, core: Core) -> Iterator[Told]:
    """Yield the parameters of a connection that is one address, as elements of their names would be told."""
    for name, value in in_uri(core.attribute(connection, "address"))[1].items():
        guide = "use-duplicate-detection" if name == "duplicateDetection" else _guide(name)
        element = f"cluster-connections/cluster-connection/{guide}"
        known = name in URI or name in _NAMES or treatment(element) != "told"
        if not known and not _table().says_nothing(element, value, core.element):
            yield Told(f"{path}@address?{name}", connection.line, _table().differs(element))


def _guide(name: str) -> str:
    return re.sub("(?=[A-Z])", "-", name).lower()


def _for_jms(options: Mapping[str, str]) -> bool:
    """Whether an acceptor is for JMS clients of the product, as those of a run are."""
    return "CORE" in options.get("protocols", "CORE").upper().split(",")


def _has_pair(core: Core) -> bool:
    """Whether its policy has a role in a pair, which is played as if its messages survived a restart."""
    return any(policy.all("replication", "shared-store") for policy in core.element.all("ha-policy"))


def _below(parent: Element, above: str, core: Core) -> Iterator[Told]:
    for child in parent.children:
        path = f"{above}{SPOKEN.get(child.name, child.name) if above.startswith('ha-policy') else child.name}"
        kind = treatment(path)
        if path == "persistence-enabled" and _has_pair(core):
            kind = "told"
        second = above == "cluster-connections/" and child is not parent.children[0]
        if second or (kind == "told" and not _table().says_nothing(path, core.text(child), core.element)):
            yield Told(path, child.line, SECOND if second else _table().differs(path))
        elif kind == "played":
            if child.name == CONNECTIONS[1]:
                yield from _parameters(child, path, core)
            if path == "acceptors/acceptor" and _for_jms(given := in_uri(core.text(child))[1]):
                yield from _table().options(path, given, child.line)
            yield from _attributes(child, path, core)
            yield from _below(child, f"{path}/", core)


def header(scenario: Scenario) -> JsonDict:
    """Return what the header of a run has of a scenario: a lab file, and what is not played.

    That is of its edition and its files, and options without effect.
    """
    network: ArtemisNetwork = scenario.network
    rows = _of_files(network.origin) + needs.told(idle_options(network, scenario.actions))
    if usual := PLAYED_AS.get(network.edition):
        why = f"only the target of a scale-down was recorded; the others are those of {usual}"
        rows = [{"what": f"rules of version {network.edition}", "why": why}, *rows]
    return {**({"not_played": rows} if rows else {}), "scenario": lab_file.write(scenario)}


@lru_cache(maxsize=16)
def _of_files(origin: Origin | None) -> list[dict[str, str]]:
    cores = sources_of(origin) if origin is not None else {}
    return shared.not_played((name, core.document.where, told(core)) for name, core in cores.items())


def idle_options(network: ArtemisNetwork, actions: Sequence[Action]) -> Iterator[tuple[str, Idle]]:
    """Yield the options that have no effect as another is not set, each with its broker or client."""
    for broker in network.brokers:
        for half in (broker, *broker.halves()):
            yield from ((broker.name, one) for one in idle("artemis", "ha-policy", half.elements, half.element))
        sections = {"cluster-connection": network.cluster_of(broker), "core": broker.keys.get("core", {})}
        for section, given in (*sections.items(), ("broker", broker.keys)):
            found = idle("artemis", section, given, partial(_option, network, broker))
            yield from ((broker.name, one) for one in found)
        for match, settings in network.settings_of(broker).items():
            found = idle("artemis", "address-setting", settings, partial(_option, network, broker, match=match))
            yield from ((broker.name, replace(one, part=("address", match))) for one in found)
    usual = {**{name: row.default for name, row in OPTIONS["url"].items()}, **network.clients}
    urls = {called(action): getattr(action, "options", {}) for action in actions}
    for who, given in {"clients": network.clients, **urls}.items():
        yield from ((who, one) for one in idle("artemis", "url", given, {**usual, **given}.get))


def _option(network: ArtemisNetwork, broker: Broker, name: str, match: str = "#") -> object:
    """Return an option of a broker: of its cluster connection, of itself, or of addresses of that match."""
    if name in OPTIONS["address-setting"]:
        return network.setting(broker, match, name)
    if name in OPTIONS["cluster-connection"]:
        return network.option(broker, name)
    return {**broker.keys.get("core", {}), **broker.keys}.get(name)
