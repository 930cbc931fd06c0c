"""Figures of the product families: how they are read from their JSON files and found by their ids."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from mqlab.errors import UnknownName
from mqlab.spec.json_types import JsonObject

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario


@dataclass(frozen=True, slots=True)
class FamilyFigure:
    """A figure or example of a product family, ready to run.

    `scenario` is of the family's own form. `real` says where the real product differs from the
    guide (empty once the figure is changed), `expected` what a run ends with; its keys are the family's
    own. `printer` writes such a scenario as code.
    """

    id: str
    title: str
    question: str
    section: str
    scenario: Scenario
    answer: str
    real: str
    expected: Mapping[str, object]
    printer: Callable[[Scenario], str] = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Figure {self.id}: {self.title}>"

    def __str__(self) -> str:
        return f"{self.id}: {self.title}. {self.question}"

    def change(self, path: str, **options: object) -> FamilyFigure:
        """Return the figure with options changed, as the `change` of its scenario does."""
        scenario = self.scenario.change(path, **options)
        return replace(self, scenario=scenario, real=self.real if scenario == self.scenario else "")

    def python(self) -> str:
        """Return code with nouns that makes the figure's scenario, under the name `scenario`."""
        return self.printer(self.scenario)


@cache
def text(package: str, name: str) -> str:
    """Return the text of a file of figures, which lies in *package*."""
    return resources.files(package).joinpath(f"{name}.json").read_text(encoding="utf-8")


def read(
    package: str,
    files: Iterable[str],
    scenario: Callable[[JsonObject, str], Scenario],
    printer: Callable[[Scenario], str],
) -> tuple[FamilyFigure, ...]:
    """Return the figures of *files* of a package (names without ``.json``) in their order.

    *scenario* reads one from its JSON value and the figure's id, which errors are to name; *printer*
    writes it as code.
    """
    items = (item for name in files for item in json.loads(text(package, name))["figures"])
    return tuple(
        FamilyFigure(
            **{
                **item,
                "scenario": scenario({"title": item["title"], **item["scenario"]}, item["id"]),
                "printer": printer,
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
