"""How wide a text is, before there is a page that could measure it.

Widths are those of Arial and Helvetica, and a sixth more, for the page's own fonts may be wider (DejaVu is).
A letter beyond Latin counts as a whole em if it is wide or an emoji, and as nothing if it stands on another.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import takewhile
from unicodedata import combining, east_asian_width

# Advance widths in thousandths of the font's size, of the letters from U+0020 to U+007E.
_LATIN = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
BOLD = 1.07  # how much wider bold letters are
WIDER = 1.17  # how much wider the page's fonts may be


def width(text: str, size: float, bold: bool = False) -> float:
    """Return how wide *text* is in letters of *size*, in the same unit.

    >>> round(width("broker", 15)), round(width("broker", 15, bold=True))
    (50, 53)
    """
    return sum(map(_advance, text)) * size / 1000 * WIDER * (BOLD if bold else 1.0)


@lru_cache(maxsize=4096)
def _advance(letter: str) -> int:
    code = ord(letter) - 32
    if 0 <= code < len(_LATIN):
        return _LATIN[code]
    if combining(letter) or letter in "\u200d\ufe0f":
        return 0
    return 1100 if east_asian_width(letter) in "WF" or ord(letter) > 0xFFFF else 667


def fitted(text: str, room: float, size: float, bold: bool = False) -> str:
    """Return *text*, without its middle if it is wider than *room*: both ends tell names apart.

    >>> fitted("broker-of-the-east-1", 80, 12)
    'broke…ast-1'
    """
    if width(text, size, bold) <= room:
        return text
    low, high = 0, len(text)  # how many letters stay
    while low < high:
        keep = (low + high + 1) // 2
        if width(_without_middle(text, keep), size, bold) <= room:
            low = keep
        else:
            high = keep - 1
    return _without_middle(text, max(2, low))


def shared(names: Sequence[str]) -> int:
    """Return how many letters all *names* begin with, numbers left whole; 0 where these are few.

    >>> shared(["brokerA1", "brokerA2"]), shared(["broker1", "broker12"]), shared(["A", "B"]), shared(["one"])
    (7, 6, 0, 0)
    """
    if len(names) < 2:
        return 0
    same = takewhile(lambda both: both[0] == both[1], zip(min(names), max(names), strict=False))
    begin = "".join(letter for letter, _ in same)[: min(map(len, names)) - 1].rstrip("0123456789")
    return len(begin) if len(begin) > 2 else 0


def _without_middle(text: str, keep: int) -> str:
    tail = keep // 2
    return f"{text[: keep - tail]}…{text[len(text) - tail :]}"
