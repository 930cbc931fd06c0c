"""Figures with faults and time: chapters 1 and 4 of the Fuse guide, and set-ups that lose messages.

Each is a timed scenario with a question, the answer, and what the real product ends with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from mqlab.errors import UnknownName
from mqlab.formats import failover
from mqlab.spec.fault import TimedScenario

FILES = ("fuse4", "unsafe")


@dataclass(frozen=True, slots=True)
class TimedFigure:
    """A figure or example, ready to run.

    `real` says where the real product differs from the guide, `expected` what a run ends with:
    roles, messages received, where clients are connected.
    """

    id: str
    title: str
    question: str
    section: str
    scenario: TimedScenario
    answer: str
    real: str
    expected: Mapping[str, Any]


@cache
def _text(name: str) -> str:
    return resources.files("mqlab.scenarios").joinpath(f"{name}.json").read_text(encoding="utf-8")


def figures() -> tuple[TimedFigure, ...]:
    """Return all figures with time, those of the guide first."""
    items = (item for name in FILES for item in json.loads(_text(name))["figures"])
    return tuple(
        TimedFigure(
            **{
                **item,
                "scenario": failover.read({"title": item["title"], **item["scenario"]}, item["id"]),
            }
        )
        for item in items
    )


def figure(id: str) -> TimedFigure:
    """Return a figure with time by its id.

    >>> figure("fuse:4.1").title
    'Pure master/slave'
    """
    known = {found.id: found for found in figures()}
    if id not in known:
        raise UnknownName.of("figure", id, known)
    return known[id]
