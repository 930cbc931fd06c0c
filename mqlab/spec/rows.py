"""The options of ActiveMQ by element, and how what is given of them is read."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.errors import BadValue, UnknownName, nearest, shown
from mqlab.spec.options import tables, unknown, written

OPTIONS = tables("activemq")
# Python name -> the name in configuration files, of every option.
GUIDE_NAMES = {row.name: row.guide for rows in OPTIONS.values() for row in rows.values()}


def read_options(element: str, given: Mapping[str, object], where: str) -> dict[str, object]:
    """Return *given* with each value in its option's type, in the rows' order.

    Raises `UnknownName` for an option that no row names, `BadValue` for a value out of range.
    """
    rows = OPTIONS[element]
    for name in given:
        if name not in rows:
            raise _unknown(name, element, where)
    read = {n: row.read(given[n], where) for n, row in rows.items() if given.get(n) is not None}
    return {n: tuple(it) if isinstance(it, list) else it for n, it in read.items()}  # nouns are hashed


def _unknown(name: str, element: str, where: str) -> UnknownName:
    """Return the error for an option that *element* does not have; another may have it."""
    others = {row: other for other, rows in OPTIONS.items() if other != element for row in rows}
    here = written("activemq", name) or nearest(name, OPTIONS[element])
    elsewhere = None if here else nearest(name, others)
    if elsewhere is None:
        return unknown("activemq", name, OPTIONS[element], where)
    of = others[elsewhere]
    how = (
        f"; use mq.Broker(..., policies=[{{'queue': '>', {elsewhere!r}: ...}}])" if of == "policyEntry" else ""
    )
    return UnknownName(f"{where}: unknown option {shown(name)}; {elsewhere!r} is an option of {of}{how}")


def policy_of(given: Mapping[str, object], where: str) -> dict[str, object]:
    """Return a destination policy: the pattern under `queue` or `topic`, and checked options.

    Raises `BadValue` when it names neither or both, `UnknownName` or `BadValue` for its options.
    """
    patterns = {key: given[key] for key in ("queue", "topic") if key in given}
    if len(patterns) != 1:
        raise BadValue(f"{where}: a policy needs exactly one pattern: 'queue' or 'topic'")
    rest = {key: value for key, value in given.items() if key not in patterns}
    return {**patterns, **read_options("policyEntry", rest, where)}
