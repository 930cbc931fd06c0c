"""Two scenarios that differ in one mend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Example:
    """A scenario that has a problem, and the same one mended."""

    bad: Scenario
    good: Scenario


def mended(bad: Scenario, mend: Mapping[str, Mapping[str, object]]) -> Example:
    """Return a scenario beside itself with other options, by path."""
    good = bad
    for path, options in mend.items():
        good = good.change(path, **options)
    return Example(bad, good)
