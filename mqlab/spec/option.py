"""What a row says of an option, and how its value is read. The rows themselves are in `rows`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mqlab.errors import BadValue, UnknownName
from mqlab.spec.values import Destination

EDITIONS = ("5.5", "5.17", "5.18", "6.1")
DEFAULT_EDITION = "5.17"


def edition_of(version: str) -> str:
    """Return the edition that stands for a release, such as 5.17 for ``5.17.2``.

    Raises `UnknownName` for a release that no recording speaks for.
    """
    found = [edition for edition in EDITIONS if (version + ".").startswith(edition + ".")]
    if not found:
        raise UnknownName.of("edition", version, EDITIONS)
    return found[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of one element.

    `guide` is the name in configuration files, `name` the Python one. `default` holds for every
    edition that `later` does not name. `since` is the first edition that has the option.
    `low` is the least value, `unit` the unit of a number (hops, messages, ms), `choices` the
    texts that are known.
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

    def default_for(self, edition: str) -> object:
        """Return the default that *edition* gives the option."""
        return (self.later or {}).get(edition, self.default)

    def read(self, value: object, where: str) -> object:
        """Return *value* in the option's own type, or say in a `BadValue` what to write."""
        try:
            return _READERS[self.type](value, self)
        except (BadValue, UnknownName) as error:
            raise type(error)(f"{where}: {self.guide}: {error}") from None


def _read_bool(value: object, option: Option) -> bool:
    text = str(value).lower()
    if text not in ("true", "false"):
        raise BadValue(f"{value!r} is neither true nor false; write true or false")
    return text == "true"


def _read_int(value: object, option: Option) -> int:
    text = str(value)
    if isinstance(value, bool) or not text.removeprefix("-").isdecimal():
        raise BadValue(f"{value!r} is not a whole number; write for example {option.default}")
    if option.low is not None and int(text) < option.low:
        raise BadValue(f"{text} is too low; write {option.low} or more")
    return int(text)


def _read_float(value: Any, option: Option) -> float:
    try:
        if not isinstance(value, bool):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise BadValue(f"{value!r} is not a number; write for example 1.5")


def _read_text(value: object, option: Option) -> str:
    if not isinstance(value, str):
        raise BadValue(f"{value!r} is not a text; write it in quotes")
    if option.choices and value not in option.choices:
        raise UnknownName.of("choice", value, option.choices)
    return value


def _read_destinations(value: object, option: Option) -> tuple[str, ...]:
    texts = [part for part in value.split(",") if part] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)):
        raise BadValue(f'{value!r} is not a list; write for example ["queue://TEST.FOO"]')
    return tuple(str(t if isinstance(t, Destination) else Destination.parse(str(t))) for t in texts)


_READERS = {
    bool: _read_bool,
    int: _read_int,
    float: _read_float,
    str: _read_text,
    tuple: _read_destinations,
}
