"""The one look that every file gets before anything is made of it: plain values, of the right shape."""

from __future__ import annotations

import math
from collections.abc import Mapping

from mqlab.errors import BadFile, BadValue, MqlabError, shown
from mqlab.files.detect_product import scenario_in
from mqlab.spec.json_types import JsonDict, JsonValue
from mqlab.spec.option import MOST_LONG
from mqlab.spec.shape import ANYTHING, NAME, ListOf, Record
from mqlab.spec.step import check_words

DEEPEST = 30  # lists and objects inside one another
LONGEST = 100_000  # characters of one text
_STEPS = ListOf(Record({"do": NAME}, (("do",),), more=ANYTHING), "step")


def body_of(value: object, shape: Record, where: str) -> JsonDict:
    """Return the scenario object of a JSON value, of the right shape and without what is null.

    A key whose value is null says as much as no key. Raises an error that begins with *where*: for
    infinity and NaN, numbers beyond 64 bits, too deep or too long values, and what *shape* refuses.
    """
    found = scenario_in(value)
    if not isinstance(found, Mapping):
        raise BadFile(f"{where}: {shown(found)} is not a lab file; expected an object with 'brokers'")
    try:
        body: JsonDict = without_nulls(found)
        _check_shape(body, shape)
        _check_values(body)
    except MqlabError as error:
        raise type(error)(f"{where}: {error}") from None
    return body


def _check_shape(body: JsonDict, shape: Record) -> None:
    """Raise for what is of another shape. A script in the words of recordings has its own reader."""
    if "steps" in body:
        _STEPS.check(body["steps"], "steps")
        for place, step in enumerate(body["steps"], start=1):
            check_words(step["do"], step, f"step {place} ({step['do']})")
        body = {**{key: value for key, value in body.items() if key != "steps"}, "actions": []}
    shape.check(body, "")


def version_of(value: Mapping[str, object]) -> str:
    """Return the product's version that a recording was made with; empty for what is none."""
    observed = value.get("observed")
    found = observed.get("version") if isinstance(observed, Mapping) else None
    return found if isinstance(found, str) else ""


def without_nulls(value: object, place: tuple[str, ...] = ()) -> JsonValue:
    """Return a copy of a JSON value without keys that are null; raises `BadValue` for too deep a one."""
    if len(place) > DEEPEST:
        raise BadValue(f"{', '.join(place[:3])}, ...: nested more than {DEEPEST} deep")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise BadValue(f"{_where(place)}: the key {shown(key)} is not a string; put it in quotes")
        return {key: without_nulls(item, (*place, key)) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [without_nulls(item, (*place, f"item {no}")) for no, item in enumerate(value, 1)]
    return value


def _check_values(value: object, place: tuple[str, ...] = ()) -> None:
    """Raise `BadValue` for what no JSON has, where a shape lets pass anything."""
    where = _where(place)
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_values(key, (*place, "a key"))
            _check_values(item, (*place, key))
    elif isinstance(value, (list, tuple)):
        for no, item in enumerate(value, 1):
            _check_values(item, (*place, f"item {no}"))
    elif isinstance(value, str):
        _check_text(value, where)
    elif isinstance(value, float) and not math.isfinite(value):
        raise BadValue(f"{where} is {value}; expected a number that is finite")
    elif isinstance(value, int) and abs(value) > MOST_LONG:
        raise BadValue(f"{where} is {shown(value)}; expected {MOST_LONG} or less")
    elif value is not None and not isinstance(value, (bool, int, float)):
        raise BadValue(f"{where} is {shown(value)}; allowed are strings, numbers, lists and objects")


def _where(place: tuple[str, ...]) -> str:
    return ", ".join(place) or "the file"


def _check_text(value: str, where: str) -> None:
    if len(value) > LONGEST:
        raise BadValue(f"{where} is {len(value)} characters long; expected {LONGEST} or less")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        raise BadValue(f"{where} is {shown(value)}, which contains an unpaired surrogate")
