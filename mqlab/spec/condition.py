"""What the operators of a selector mean: three-valued conditions over typed values.

None is unknown. Strings are not numbers, unless the selector asks for that
(ActiveMQ rule 27.8; JMS 1.1, section 3.8.1.1).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

from mqlab.spec.values import as_text


def is_number(value: object) -> bool:
    """Whether a value is a number; Python's booleans are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def both(values: Iterable[bool | None]) -> bool | None:
    """Return the conjunction; nobody asks behind what is false."""
    return opposite(either(opposite(value) for value in values))


def either(values: Iterable[bool | None]) -> bool | None:
    """Return the disjunction; nobody asks behind what is true."""
    found: bool | None = False
    for value in values:
        if value:
            return True
        found = found if value is False else None
    return found


def opposite(value: object) -> bool | None:
    """Return the negation; what is no truth value has none."""
    return (not value) if isinstance(value, bool) else None


def condition(value: object) -> bool | None:
    """Return a value where a condition stands: one that is not a truth value is unknown."""
    return value if isinstance(value, bool) else None


def compare(sign: str, a: object, b: Any) -> bool | None:
    """Compare two values; those of different types are neither alike nor in any order."""
    if a is None or b is None:
        return None
    if not ((is_number(a) and is_number(b)) or type(a) is type(b)):
        return False
    if sign in ("=", "<>"):
        return bool((a == b) == (sign == "="))
    if isinstance(a, bool):
        return False
    return bool({"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[sign])


class OtherType(Exception):
    """A selector of OpenMQ reckons with what is no number, or looks for a text in what is none."""


def compare_strictly(sign: str, a: object, b: object) -> bool | None:
    """Compare as OpenMQ: what is missing is unlike any text, and unknown beside a number (OpenMQ rule 1.13).

    Raises `OtherType` for a number beside something else, and for what is in no order.
    """
    if sign in ("=", "<>") and not (is_number(a) or is_number(b)):
        return (a == b) == (sign == "=")
    reckoned(a, b)
    return compare(sign, a, b)


def reckoned(*values: object) -> None:
    """Raise `OtherType` unless all values are numbers, or missing."""
    if not all(value is None or is_number(value) for value in values):
        raise OtherType


def compare_converted(sign: str, a: object, b: object) -> bool | None:
    """Compare as under `convert_string_expressions:`, where a string may stand for a number."""
    if is_number(a) and isinstance(b, str):
        b = _as_number(b)
    elif is_number(b) and isinstance(a, str):
        a = _as_number(a)
    return compare(sign, a, b)


def _as_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def arithmetic(sign: str, a: Any, b: Any) -> object:
    """Calculate; `+` joins to a string, a division always has a fraction."""
    if isinstance(a, str) and sign == "+" and b is not None:
        return a + as_text(b)
    if not (is_number(a) and is_number(b)) or (sign in "/%" and b == 0):
        return None
    if sign in "/%":
        return a / b if sign == "/" else math.fmod(a, b)
    return {"+": a + b, "-": a - b, "*": a * b}[sign]


def pattern(text: str, escape: str | None) -> re.Pattern[str]:
    """Return the pattern of LIKE: `%` is any text, `_` any character.

    The escape character only escapes a wildcard; before anything else it stands for itself, and
    for a wildcard if it is one.
    """
    parts, place = [], 0
    while place < len(text):
        char = text[place]
        if char == escape and text[place + 1 : place + 2] in ("%", "_"):
            place += 1
            parts.append(re.escape(text[place]))
        else:
            parts.append({"%": ".*", "_": "."}.get(char) or re.escape(char))
        place += 1
    return re.compile("".join(parts) + r"\Z", re.DOTALL)


def _regex(text: object, value: object) -> bool | None:
    return None if value is None else re.search(str(text), as_text(value)) is not None


def _in_list(known: object, value: object) -> bool | None:
    return None if value is None else isinstance(known, list) and value in known


def _split(text: object, by: Any, limit: Any = 0) -> list[str] | None:
    if text is None:
        return None
    found = re.split(str(by), str(text), maxsplit=max(int(limit) - 1, 0))
    while not limit and found and not found[-1]:
        found.pop()  # empty pieces at the end do not count
    return found


def _replace(text: object, old: object, new: object) -> str | None:
    return None if text is None else re.sub(str(old), str(new), str(text))


# name -> (function, least and most arguments, whether it is a condition)
FUNCTIONS: dict[str, tuple[Callable[..., object], int, int, bool]] = {
    "REGEX": (_regex, 2, 2, True),
    "INLIST": (_in_list, 2, 2, True),
    "SPLIT": (_split, 2, 3, False),
    "MAKELIST": (lambda *values: list(values), 0, 1000, False),
    "REPLACE": (_replace, 3, 3, False),
}
