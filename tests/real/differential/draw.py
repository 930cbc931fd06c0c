"""Chance with a seed: each scenario is drawn from its own number, so that one can be drawn again alone."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


class Draw:
    """What is drawn for one scenario."""

    def __init__(self, family: str, seed: int, number: int) -> None:
        self.random = random.Random(f"{family} {seed} {number}")

    def weighted(self, weights: Mapping[T, float]) -> T:
        """Return one of the keys, as often as its weight says."""
        return self.random.choices(list(weights), list(weights.values()))[0]

    def one(self, of: Sequence[T]) -> T:
        """Return one of several, each as often."""
        return self.random.choice(list(of))

    def some(self, of: Sequence[T], at_least: int = 1) -> list[T]:
        """Return some of several, in their order."""
        number = self.random.randint(at_least, len(of))
        chosen = sorted(self.random.sample(range(len(of)), number))
        return [of[place] for place in chosen]

    def chance(self, share: float) -> bool:
        """Say yes in that share of cases."""
        return self.random.random() < share

    def number(self, least: int, most: int) -> int:
        """Return a whole number within bounds, both included."""
        return self.random.randint(least, most)

    def maybe(self, share: float, **keys: Any) -> dict[str, Any]:
        """Return keys of a step in that share of cases, and none otherwise."""
        return keys if self.chance(share) else {}
