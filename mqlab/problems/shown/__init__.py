"""For each rule whose harm a run can show: the smallest scenario that has the problem, and the same one mended.

What comes of the two is `mqlab.effects`'; here is only what is played.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from mqlab.problems.shown.pair import Example

__all__ = ["Example", "pairs"]


@cache
def pairs() -> Mapping[str, Example]:
    """Return rule -> the two scenarios that show it."""
    from mqlab.problems.shown import artemis, at_rest, in_time, openmq

    return {**at_rest.PAIRS, **in_time.PAIRS, **artemis.PAIRS, **openmq.PAIRS}
