"""The options of an address, and their values as Java reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote_plus

NO_VALUE = "\0"  # the value of an option without "=": Java's null, which no number or switch takes


def options(query: str) -> dict[str, str]:
    """Read ``a=1&b=2``; the last of equal keys wins. Between two ``&`` is an option without a name."""
    pairs = (unquote_plus(pair).partition("=") for pair in query.rstrip("&").split("&") if query)
    return {key: value if equals else NO_VALUE for key, equals, value in pairs}


def prefixed(given: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the options that begin with *prefix*, without it."""
    return {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}


NUMBERS: dict[type, str] = {
    int: r"-?\d{1,18}",  # more is more than Java's long can hold
    float: r"-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[dDfF]?",
}


def value_of(text: str, like: object) -> object | None:
    """Return the value of an option of the kind of *like*, as Java reads it; None if it cannot."""
    if text == NO_VALUE:
        return None
    if isinstance(like, bool):
        return text.lower() == "true"  # whatever is not "true" is false
    if type(like) not in NUMBERS:
        return text
    if re.fullmatch(NUMBERS[type(like)], text) is None:
        return None
    return int(text) if isinstance(like, int) else float(text.rstrip("dDfF"))


def number(given: Mapping[str, str], name: str, default: int) -> int:
    """Return a whole number among the options of a discovery agent.

    An agent swallows what it cannot read (recording `discovery_unknown_option`): *default* holds.
    """
    value = value_of(given[name], default) if name in given else None
    return value if isinstance(value, int) else default


def flag(given: Mapping[str, str], name: str, default: bool) -> bool:
    """Return a switch among the options of a discovery agent."""
    return bool(value_of(given[name], default)) if name in given else default
