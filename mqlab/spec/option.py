"""What a row says of an option, and how its value is read. The rows themselves are in the folder `options`."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.values import Destination, Duration

EDITIONS = ("5.5", "5.17", "5.18", "6.1")
DEFAULT_EDITION = "5.17"
# A release, such as 5.17.2; with a qualifier it is another's, such as 5.15.0.redhat-630516 or 6.0-SNAPSHOT.
_NUMBER = "(0|[1-9][0-9]{0,3})"
_RELEASE = re.compile(rf"{_NUMBER}\.{_NUMBER}(\.{_NUMBER})?")
_VERSION = re.compile(
    rf"{_NUMBER}(?:\.{_NUMBER}(?:\.{_NUMBER}(?:\.[A-Za-z][\w.-]*)?)?(?:-\w[\w.-]*)?)?", re.ASCII
)
_SIZE = re.compile(r"(\d{1,15})\s*([kmg]?)b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
MOST_INT, MOST_LONG = 2**31 - 1, 2**63 - 1  # Java's: of counts and times, and of bytes


def edition_of(version: str) -> str:
    """Return the edition that stands for a release, such as 5.17 for ``5.17.2``.

    For any other version it is the nearest edition, with a warning that says so.
    Raises `UnknownName` for what is not a version.
    """
    if not isinstance(version, str):
        raise BadValue(f"edition: {shown(version)} is not a string; put it in quotes: '{version}'")
    if version in EDITIONS or (release := release_of(version)) in EDITIONS:
        return version if version in EDITIONS else release
    found = _VERSION.fullmatch(version)
    if found is None:
        raise UnknownName.of("edition", version, EDITIONS)
    asked = int(found[1]), int(found[2] or 0)
    known = {edition: map(int, edition.split(".")) for edition in EDITIONS}
    apart = {e: [abs(a - b) for a, b in zip(asked, numbers, strict=True)] for e, numbers in known.items()}
    nearest = min(EDITIONS, key=apart.__getitem__)
    warnings.warn(
        f"ActiveMQ {version}: mqlab runs edition {nearest}, the nearest that was recorded", stacklevel=2
    )
    return nearest


def release_of(version: str) -> str:
    """Return the release that a version is a patch of; a text that is not a released version as it is.

    >>> release_of("5.17.2"), release_of("5.17"), release_of("5.17.banana")
    ('5.17', '5.17', '5.17.banana')
    """
    found = _RELEASE.fullmatch(version)
    return f"{found[1]}.{found[2]}" if found else version


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of one element.

    `guide` is the name in configuration files, `name` the Python one. `default` holds for every
    edition that `later` does not name. `since` is the first edition that has the option.
    `low` is the least value, `unit` the unit of a number (hops, messages, ms), `choices` the
    texts that are known. The files in the folder `options` explain the rest.
    """

    guide: str
    name: str
    type: type
    default: object
    sentence: str
    source: str
    unit: str = ""
    low: int | None = None
    choices: tuple[str, ...] = ()
    later: Mapping[str, object] | None = None
    since: str = "5.5"
    xml: str | None = None
    policies: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    often: bool = False
    routes: bool = False
    kept: str = ""
    needs: tuple[str, ...] = ()
    least: str = ""
    queues_only: bool = False

    def default_for(self, edition: str) -> object:
        """Return the default that *edition* gives the option."""
        return (self.later or {}).get(edition, self.default)

    def exists_in(self, edition: str) -> bool:
        """Whether an edition has the option."""
        return EDITIONS.index(self.since) <= EDITIONS.index(edition)

    @property
    def high(self) -> int:
        """The greatest whole number that the product reads."""
        return MOST_LONG if self.unit == "bytes" else MOST_INT

    def read(self, value: object, where: str) -> object:
        """Return *value* in the option's own type, or say in a `BadValue` what to write."""
        try:
            return _READERS[self.type](value, self)
        except (BadValue, UnknownName) as error:
            raise type(error)(f"{where}: {self.guide}: {error}") from None


def _read_bool(value: object, option: Option) -> bool:
    text = str(value).lower() if isinstance(value, (bool, str)) else ""
    if text not in ("true", "false"):
        raise BadValue(f"{shown(value)} is neither true nor false; expected true or false")
    return text == "true"


def _read_int(value: object, option: Option) -> int:
    number, high = value, option.high
    if isinstance(value, str):
        text = bytes_of(value.strip()) if option.unit == "bytes" else value
        number = int(text[:21]) if text.removeprefix("-").isdecimal() else None  # 21 digits are too many
    if isinstance(number, (bool, Duration)) or not isinstance(number, int):
        example = option.default if isinstance(option.default, int) else max(option.low or 0, 1)
        raise BadValue(f"{shown(value)} is not a whole number; use e.g. {example}")
    if not -high <= number <= high:
        raise BadValue(f"{shown(value)} is out of range; expected {high} or less")
    if option.low is not None and number < option.low:
        raise BadValue(f"{number} is too low; expected {option.low} or more")
    return number


def bytes_of(given: str) -> str:
    """Return a number of bytes for a text such as ``64 mb``; any other text as it is.

    >>> bytes_of("2kb")
    '2048'
    """
    found = _SIZE.fullmatch(given)
    return str(int(found[1]) * _UNITS[found[2].lower()]) if found else given


def _read_float(value: Any, option: Option) -> float:
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not abs(found) <= MOST_INT:  # which infinity is, and what is no number at all
        raise BadValue(f"{shown(value)} is not a number; use e.g. 1.5")
    return found


def _read_text(value: object, option: Option) -> str:
    if not isinstance(value, str):
        raise BadValue(f"{shown(value)} is not a string; put it in quotes")
    if option.choices and value not in option.choices:
        raise UnknownName.of("choice", value, option.choices)
    return value


def _read_destinations(value: object, option: Option) -> tuple[str, ...]:
    texts = [part for part in value.split(",") if part] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)):
        example = json.dumps(option.default or ["queue://TEST.FOO"])
        raise BadValue(f"{shown(value)} is not a list; use e.g. {example}")
    return tuple(str(_destination(item)) for item in texts)


def _read_names(value: object, option: Option) -> list[str]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise BadValue(f'{shown(value)} is not a list of names; use e.g. ["A", "B"]')
    return list(names)


def _read_elements(value: object, option: Option) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise BadValue(f"{shown(value)} is not an object; name its elements")
    return value


def _destination(item: object) -> Destination:
    if not isinstance(item, (str, Destination)):
        raise BadValue(f'{shown(item)} is not a destination; use e.g. "queue://TEST.FOO"')
    return item if isinstance(item, Destination) else Destination.parse(item)


_READERS = {
    bool: _read_bool,
    int: _read_int,
    float: _read_float,
    str: _read_text,
    tuple: _read_destinations,
    list: _read_names,
    dict: _read_elements,
}
