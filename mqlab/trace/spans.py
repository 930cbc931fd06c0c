"""Numbers as people write many of them: ``1-3, 5``."""

from __future__ import annotations

from collections.abc import Iterable


def spans(numbers: Iterable[int], most: int | None = None) -> str:
    """Return numbers in order as text: a run that counts up by one is a span; at most so many of them.

    >>> spans([1, 2, 3, 7])
    '1-3, 7'
    >>> spans([1, 3, 5, 7], most=2)
    '1, 3, ...'
    """
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    cut = ["..."] if most is not None and len(parts) > most else []
    return ", ".join([*("-".join(map(str, part)) for part in parts[:most]), *cut])


def numbers(text: str) -> list[int]:
    """Return the numbers of such a text.

    >>> numbers("1-3, 7")
    [1, 2, 3, 7]
    """
    found: list[int] = []
    for part in filter(None, text.split(", ")):
        first, _, last = part[1:].partition("-")  # the first may be below 0
        found += range(int(part[0] + first), int(last or part[0] + first) + 1)
    return found
