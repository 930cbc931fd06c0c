"""The rows of options: one TOML file a product in this folder, read when the product is first used.

Everything that is known of an option stands there, once. Constructors, readers and writers of files, the
workbench's forms, the reference table, help and error texts all read these rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from mqlab.errors import UnknownName, shown
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.option import Option

TITLES = {"activemq": "ActiveMQ", "openmq": "OpenMQ", "artemis": "Artemis"}
# How a file names the type of an option.
TYPES: dict[str, type] = {
    "bool": bool,
    "int": int,
    "float": float,
    "text": str,
    "destinations": tuple,
    "names": list,
    "elements": dict,
}


@cache
def tables(product: str) -> dict[str, dict[str, Option]]:
    """Return element -> its options by Python name, of a product."""
    text = Path(__file__).with_name(f"{product}.toml").read_text(encoding="utf-8")
    return {
        element: {name: _row(name, keys) for name, keys in rows.items()}
        for element, rows in tomllib.loads(text).items()
    }


def written(product: str, name: str) -> str | None:
    """Return what to write for a word of a product's own files, of which mqlab has another.

    >>> written("activemq", "persistenceAdapter"), written("activemq", "persist")
    ("store='kahadb', store='memory' or store='jdbc'", None)
    """
    words = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))[product]
    letters = "".join(filter(str.isalnum, str(name).lower().removeprefix("imq")))
    found: str | None = words.get(letters)
    return found


def unknown(product: str, name: str, known: Iterable[str], where: str) -> UnknownName:
    """Return the error for an option that is none here: what to write, who has it, or the nearest name.

    >>> print(unknown("artemis", "network_ttl", ["max_hops"], "broker 'A'"))
    broker 'A': unknown option 'network_ttl'; ActiveMQ has it (networkConnector).
    """
    if meant := written(product, name):
        return UnknownName(f"{where}: unknown option {shown(name)}; use {meant}")
    for other in TITLES if isinstance(name, str) else ():
        for element, rows in tables(other).items() if other != product else ():
            if name in rows:
                told = f"unknown option {shown(name)}; {TITLES[other]} has it ({element})."
                return UnknownName(f"{where}: {told}")
    return UnknownName.of("option", name, known, where)


def _row(name: str, keys: JsonObject) -> Option:
    given: JsonDict = {key: tuple(it) if isinstance(it, list) else it for key, it in keys.items()}
    kind, default = TYPES[keys["type"]], keys.get("default")
    given |= {"type": kind, "default": kind(default) if isinstance(default, list) else default}
    return Option(name=name, **given)
