"""The options of Artemis: elements of an HA policy, cluster connections, addresses, client URLs.

`Option.guide` is the name in broker.xml or in a client's URL.
"""

from __future__ import annotations

from mqlab.errors import UnknownName
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.options import tables

Options = JsonObject  # what is written, by Python name

OPTIONS = tables("artemis")  # section -> its rows by Python name
ELEMENTS = OPTIONS["ha-policy"]


def default(section: str, name: str) -> object:
    """Return an option's default.

    >>> default("url", "retry_interval")
    200
    """
    return OPTIONS[section][name].default


def read_options(section: str, given: Options, where: str) -> JsonDict:
    """Return what is given of a section, each value in its option's type; None is as if not given.

    Raises `UnknownName` for an option that no row names, `BadValue` for a value out of range.
    """
    rows = OPTIONS[section]
    for name in given:
        if name not in rows:
            raise UnknownName.of(f"{section} option", name, rows, where)
    return {name: rows[name].read(it, where) for name, it in given.items() if it is not None}
