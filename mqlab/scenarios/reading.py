"""Figures of the product families: how they are read from their JSON files and found by their ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from mqlab.errors import UnknownName


@dataclass(frozen=True, slots=True)
class FamilyFigure:
    """A figure or example of a product family, ready to run.

    `scenario` is of the family's own form. `real` says where the real product differs from the
    guide, `expected` what a run ends with; its keys are the family's own.
    """

    id: str
    title: str
    question: str
    section: str
    scenario: Any
    answer: str
    real: str
    expected: Mapping[str, Any]


@cache
def _text(name: str) -> str:
    return resources.files("mqlab.scenarios").joinpath(f"{name}.json").read_text(encoding="utf-8")


def read(
    files: Iterable[str], scenario: Callable[[Mapping[str, Any], str], Any]
) -> tuple[FamilyFigure, ...]:
    """Return the figures of *files* (names without ``.json``) in their order.

    *scenario* reads one from its JSON value and the figure's id, which errors are to name.
    """
    items = (item for name in files for item in json.loads(_text(name))["figures"])
    return tuple(
        FamilyFigure(
            **{
                **item,
                "scenario": scenario({"title": item["title"], **item["scenario"]}, item["id"]),
            }
        )
        for item in items
    )


def find(id: str, figures: Iterable[FamilyFigure]) -> FamilyFigure:
    """Return the figure with an id; raises `UnknownName`."""
    known = {figure.id: figure for figure in figures}
    if id not in known:
        raise UnknownName.of("figure", id, known)
    return known[id]
