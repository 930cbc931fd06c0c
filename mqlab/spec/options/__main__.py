"""Writes `types.pyi`: the options that nouns take, as types for editors and type checkers.

Run it when an option has been added or changed: ``python -m mqlab.spec.options``.
"""

from __future__ import annotations

import json
from pathlib import Path

from mqlab.spec.option import Option
from mqlab.spec.options import tables

FILE = Path(__file__).with_name("types.pyi")
HEAD = '''"""Options as types for editors and type checkers, made by `python -m mqlab.spec.options`."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from mqlab.spec.values import Destination
'''
# Type -> the product and the elements whose options a noun takes.
TAKEN = {
    "NetworkConnectorOptions": ("activemq", "networkConnector"),
    "TransportConnectorOptions": ("activemq", "transportConnector"),
    "BrokerOptions": ("activemq", "broker"),
    "OpenmqBrokerOptions": ("openmq", "broker"),
    "ArtemisBrokerOptions": ("artemis", "ha-policy", "broker", "cluster-connection", "core"),
    "ArtemisNetworkOptions": ("artemis", "cluster-connection", "address-setting"),
}
# Of what `Network.change` sets: all of these, and what has no row.
CHANGES = """
class NetworkChanges(BrokerOptions, NetworkConnectorOptions, total=False):
    name: str
    uri: str
    at: tuple[float, float] | None
    policies: Sequence[Mapping[str, object]]
    composites: Sequence[Mapping[str, object]]
"""
_WRITTEN = {
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    tuple: "Sequence[str | Destination]",
    list: "Sequence[str]",
    dict: "Mapping[str, object]",
}


def text() -> str:
    """Return the whole file."""
    taken = (f"\nclass {name}(TypedDict, total=False):\n{_fields(name)}" for name in TAKEN)
    return HEAD + "".join(taken) + CHANGES


def _fields(name: str) -> str:
    product, *elements = TAKEN[name]
    rows = {row: option for one in elements for row, option in tables(product)[one].items()}
    return "".join(f"    {row}: {_type(option)} | None\n" for row, option in rows.items())


def _type(option: Option) -> str:
    if option.choices:
        return f"Literal[{', '.join(map(json.dumps, option.choices))}]"
    return _WRITTEN[option.type]


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
