"""What becomes of each element and attribute of a broker: played, kept, or told by `check`.

What the option rows name is played, or kept if its row says so. `elements.toml` says it of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from mqlab.files import treatment as shared
from mqlab.files.markup import Element
from mqlab.files.treatment import Table, Told, Treatment
from mqlab.products.activemq.client import query
from mqlab.products.activemq.client.read_otherwise import read_otherwise
from mqlab.products.activemq.files import lab_file, security
from mqlab.products.activemq.files.elements import BrokerElement
from mqlab.products.activemq.files.reading import elements_of
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonDict
from mqlab.spec.origin import Origin
from mqlab.spec.rows import OPTIONS
from mqlab.spec.scenario import Scenario

NAMELESS = "they may do everything; connectors and other clients may do what it says"
_PLACES = {
    "broker": "@{}",
    "networkConnector": "networkConnectors/networkConnector@{}",
    "transportConnector": "transportConnectors/transportConnector@{}",
    "policyEntry": "destinationPolicy/policyMap/policyEntries/policyEntry@{}",
}


@cache
def _table() -> Table:
    rows: dict[str, Treatment] = {}
    for section, place in _PLACES.items():
        for row in (row for row in OPTIONS[section].values() if row.xml != ""):  # which no attribute has
            inside, _, attribute = (row.xml or "").rpartition("/")
            rows[f"*{inside}*@{attribute}" if inside else place.format(row.guide)] = (
                "kept" if row.kept else "played"
            )
    return Table.read(Path(__file__).with_name("elements.toml"), rows)


@lru_cache(maxsize=4096)
def treatment(path: str) -> Treatment:
    """Return what becomes of an element or attribute by its path below ``broker``.

    >>> treatment("networkConnectors/networkConnector@networkTTL"), treatment("systemUsage")
    ('played', 'told')
    """
    return _table().treatment(path)


def told(broker: BrokerElement) -> Iterator[Told]:
    """Yield what of a file is not played; what stands in such an element is not told once more."""
    root, element = broker.document.root, broker.element
    yield from _table().around(root, element)
    yield from _attributes(element, "", element)
    yield from _below(element, "", element)


def _attributes(element: Element, path: str, broker: Element) -> Iterator[Told]:
    for name, value in element.attributes.items():
        at = f"{path}@{name}"
        told = not name.startswith("{") and treatment(at) == "told"
        if told and not _table().says_nothing(at, value, broker):
            yield Told(at, element.line, _table().differs(at))
        if element.name == "transportConnector" and name == "uri":
            yield from _table().options(at, query.options(value.partition("?")[2]), element.line)


def _below(parent: Element, above: str, broker: Element) -> Iterator[Told]:
    for child in parent.children:
        path = f"{above}{child.name}"
        kind = treatment(path)
        if above == "plugins/" and child.name in security.PLUGINS.values():
            # Users or rights are played, but for clients that name no user.
            listed = child.name == security.PLUGINS["users"] or child.below("map", "authorizationMap")
            if not (listed and security.known(broker)):
                yield Told(path, child.line, _table().differs(path))
                continue
            yield Told(f"{path} for clients without jms.userName", child.line, NAMELESS)
        if kind == "told" and not _table().says_nothing(path, "", broker):
            yield Told(path, child.line, _table().differs(path))
        elif kind == "played" or path == "plugins":
            yield from _attributes(child, path, broker)
            yield from _below(child, f"{path}/", broker)


def header(scenario: Scenario, begun: tuple[Action, ...]) -> JsonDict:
    """Return what the header of a run has of a scenario: with the actions that have begun, as a lab file.

    Beside it stands what of files is not played, and what of addresses is not read as it is written.
    """
    origin = scenario.network.origin
    rows = [*(_of_files(origin) if origin is not None else ()), *read_otherwise(scenario)]
    done = scenario if begun == scenario.actions else replace(scenario, actions=begun)
    return {**({"not_played": rows} if rows else {}), "scenario": lab_file.write(done)}


@lru_cache(maxsize=16)
def _of_files(origin: Origin) -> list[dict[str, str]]:
    brokers = elements_of(origin)
    return shared.not_played((name, one.document.where, told(one)) for name, one in brokers.items())
