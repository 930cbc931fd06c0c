"""Whether something large takes long to make: said once, to who waits, by what its first second did."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import TypeVar

Item = TypeVar("Item")
AFTER = 1.0  # s that are looked at
LONG = 3.0  # s still to come that are told


def foretold(items: Sequence[Item], what: str) -> Iterator[Item]:
    """Yield each item; after a second say how long the rest of *what* is made of takes, if that is long."""
    begin, told = monotonic(), False
    for done, item in enumerate(items):
        if done and not told and (gone := monotonic() - begin) >= AFTER:
            told = True
            left = gone / done * (len(items) - done)
            if left >= LONG:
                tell(f"Making {what} takes about {duration(left)} more, before anything runs. Ctrl-C ends it.")
        yield item


def duration(seconds: float) -> str:
    """Return an estimated time in words.

    >>> duration(45.2), duration(600)
    ('45 s', '10 min')
    """
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"


def tell(text: str) -> None:
    """Tell who waits, if somebody does: at a terminal, or in a notebook."""
    if sys.stderr.isatty() or "ipykernel" in sys.modules:
        print(text, file=sys.stderr)
