"""A run once more: as its trace says it was, or with one thing otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from mqlab import products
from mqlab.products import inputs
from mqlab.spec import Scenario
from mqlab.spec.change import Body
from mqlab.spec.link import USUAL, LikeLinks, Links
from mqlab.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run hung on besides its lab file: seed, jitter (us), lines, and when it was stopped."""

    seed: int = 0
    jitter: int = 0
    until: int | str | None = None
    links: LikeLinks = USUAL

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """Return the setting of a run; raises `BadValue` for a trace that does not hold it."""
        inputs.scenario_in(trace)
        header = trace.header
        links = Links.read(header.get("links"))
        return cls(header.get("seed", 0), header.get("jitter", 0), header.get("until"), links)


def play(what: Scenario | Body, setting: Setting, limit: int | None = None) -> Trace:
    """Play a scenario, or a lab file, of any product.

    Raises `MqlabError` for one that cannot be, or beyond *limit* events.
    """
    scenario = inputs.scenario_of(what)
    jitter = f"{setting.jitter}us"
    return products.play(scenario, setting.seed, jitter, limit, setting.until, setting.links)
