"""The options of Open Message Queue: of brokers, of destinations, of consumers and producers."""

from __future__ import annotations

from mqlab.spec.json_types import JsonObject
from mqlab.spec.options import tables, unknown

Options = JsonObject  # name -> value, in the type of its row

_ROWS = tables("openmq")
OPTIONS = {
    "broker": _ROWS["broker"],
    "destination": _ROWS["destination"],
    "producer": _ROWS["connection"],
    "consumer": {**_ROWS["connection"], **_ROWS["consumer"]},
}

# Properties of destinations by their administration names, and what they are if nobody sets them.
PROPERTIES: Options = {row.guide: row.default for row in OPTIONS["destination"].values()}
QUEUES_ONLY = {row.guide for row in OPTIONS["destination"].values() if row.queues_only}


def to_guide(element: str, given: Options, where: str) -> dict[str, object]:
    """Return options by the guide's names, each in its type; *given* has Python names.

    Raises `UnknownName` for an option that no row names, `BadValue` for a value out of range.

    >>> to_guide("broker", {"autocreate_queue": False}, "broker b1")
    {'imq.autocreate.queue': False}
    """
    rows = OPTIONS[element]
    for name in given:
        if name not in rows:
            raise unknown("openmq", name, rows, where)
    return {rows[name].guide: rows[name].read(value, where) for name, value in given.items()}


def to_python(element: str, given: Options) -> dict[str, object]:
    """Return options by their Python names, as `to_guide` takes them; unknown ones keep their name."""
    rows = {row.guide: row for row in OPTIONS[element].values()}
    return {
        rows[name].name if name in rows else name: rows[name].read(value, name) if name in rows else value
        for name, value in given.items()
    }
