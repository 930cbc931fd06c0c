"""The same workload and the same crash in every product family, to be laid side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from mqlab.scenarios import reading
from mqlab.scenarios.reading import FamilyFigure

Reader = Callable[[Mapping[str, Any], str], Any]


def figures(readers: Mapping[str, Reader]) -> tuple[FamilyFigure, ...]:
    """Return one figure per set-up, of those families that *readers* (family: its reader) can read."""
    found = []
    for item in json.loads(reading.text("crash"))["figures"]:
        family = item.pop("family")
        if family in readers:
            value = {"title": item["title"], **item["scenario"]}
            found.append(FamilyFigure(**{**item, "scenario": readers[family](value, item["id"])}))
    return tuple(found)
