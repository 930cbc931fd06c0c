"""For each rule whose harm a run can show: the smallest scenario that has the problem, and the same one mended.

What comes of the two is told by `effect`; here is only what is played.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from mqlab.checks.example import Example

__all__ = ["Example", "pairs"]


@cache
def pairs() -> Mapping[str, Example]:
    """Return rule -> the two scenarios that show it."""
    from mqlab import products

    return {
        rule: pair for product in products.PRODUCTS for rule, pair in product.examples().items()
    }
