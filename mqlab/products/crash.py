"""The same workload and the same crash in every product family, to be laid side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from mqlab.products import guide_figures
from mqlab.products.guide_figures import FamilyFigure
from mqlab.spec.json_types import JsonObject
from mqlab.spec.scenario import Scenario

Reader = Callable[[JsonObject, str], Scenario]
Printer = Callable[[Scenario], str]


def figures(families: Mapping[str, tuple[Reader, Printer]]) -> tuple[FamilyFigure, ...]:
    """Return one figure per set-up, of those *families* whose reader and printer are given."""
    found = []
    for item in json.loads(guide_figures.text(__package__, "crash"))["figures"]:
        family = item.pop("family")
        if family in families:
            read, printer = families[family]
            item["scenario"] = read({"title": item["title"], **item["scenario"]}, item["id"])
            found.append(FamilyFigure(**item, printer=printer))
    return tuple(found)
