"""What becomes of each property of a broker's file: played, kept, or told by `check`.

What the option rows name is played, or kept if its row says so. `elements.toml` says it of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from pathlib import Path

from mqlab.files import treatment as shared
from mqlab.files.treatment import Table, Told, Treatment
from mqlab.products.openmq.files import lab_file
from mqlab.products.openmq.files.properties import URL, Found, sources
from mqlab.spec import needs
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonDict
from mqlab.spec.naming import called
from mqlab.spec.needs import Idle, idle
from mqlab.spec.openmq import OpenMQNetwork
from mqlab.spec.openmq.options import OPTIONS, to_python
from mqlab.spec.openmq.words import BY_NOUN
from mqlab.spec.origin import Origin
from mqlab.spec.scenario import Scenario


@cache
def _table() -> Table:
    rows: dict[str, Treatment] = {
        row.guide: "kept" if row.kept else "played" for row in OPTIONS["broker"].values()
    }
    return Table.read(Path(__file__).with_name("elements.toml"), rows)


@lru_cache(maxsize=4096)
def treatment(key: str) -> Treatment:
    """Return what becomes of a property.

    >>> treatment("imq.autocreate.queue"), treatment("imq.log.level"), treatment("imq.system.max_count")
    ('played', 'kept', 'told')
    """
    return _table().treatment(key)


def told(file: Found) -> Iterator[Told]:
    """Yield what of a property file is not played."""
    for key, entry in file.entries.items():
        if key == URL and file.url_given:
            continue
        if treatment(key) == "told" and not _table().says_nothing(key, entry.value):
            yield Told(key, entry.line, _table().differs(key))


def header(scenario: Scenario) -> JsonDict:
    """Return what the header of a run has of a scenario: a lab file, what is not played, idle options."""
    network: OpenMQNetwork = scenario.network
    rows = _of_files(network.origin) + needs.told(idle_options(network, scenario.actions))
    return {**({"not_played": rows} if rows else {}), "scenario": lab_file.write(scenario)}


@lru_cache(maxsize=16)
def _of_files(origin: Origin | None) -> list[dict[str, str]]:
    found = sources(origin.files) if origin is not None else []
    return shared.not_played((one.broker or "cluster", one.file.name, told(one)) for one in found)


def idle_options(network: OpenMQNetwork, actions: Sequence[Action]) -> Iterator[tuple[str, Idle]]:
    """Yield the options that have no effect as another is not set, each with its broker or action."""
    whole = {"model": network.model, **{name: row.default for name, row in OPTIONS["broker"].items()}}
    whole |= to_python("broker", network.options)
    parts = {"cluster": network.options, **{broker.name: broker.options for broker in network.brokers}}
    for where, written in parts.items():
        own = to_python("broker", written)
        yield from ((where, one) for one in idle("openmq", "broker", own, {**whole, **own}.get))
    for action in actions:
        row, given = BY_NOUN.get(type(action)), getattr(action, "options", {})
        if row is None or row.options in ("", "broker") or not given:
            continue
        usual = {name: option.default for name, option in OPTIONS[row.options].items()}
        usual["durable"] = getattr(action, "durable", False)
        get = {**usual, **given}.get
        for section in ("destination",) if row.options == "destination" else ("connection", "consumer"):
            yield from ((called(action), one) for one in idle("openmq", section, given, get))
