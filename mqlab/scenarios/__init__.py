"""Every figure of the guides as data, with what the guide says will happen.

The JSON files beside this module hold them: question, network, actions, the guide's numbers, the
answer, and where the real broker differs. `expected` is what the real broker ends with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from mqlab.errors import UnknownName
from mqlab.formats import lab
from mqlab.spec import Scenario

GUIDES = ("fuse", "amq6", "article")


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide: the `key` in its figures' ids, its title, and a short name."""

    key: str
    title: str
    short: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a guide, ready to run.

    `real` says where the real broker differs from the guide (empty if nowhere), `suggestion` what
    to change next, `expected` which numbers the real broker ends with.
    """

    id: str
    title: str
    question: str
    section: str
    scenario: Scenario
    answer: str
    real: str
    suggestion: str
    expected: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<Figure {self.id}: {self.title}>"

    def change(self, path: str, **options: Any) -> Figure:
        """Return the figure with options changed at ``broker/connector`` (``*/*`` is all)."""
        return replace(self, scenario=self.scenario.change(path, **options))


def figures(guide: str | None = None) -> tuple[Figure, ...]:
    """Return the figures of one guide, or of all, in the guides' order.

    Raises `UnknownName` for an unknown guide.
    """
    if guide is not None and guide not in GUIDES:
        raise UnknownName.of("guide", guide, GUIDES)
    return tuple(f for key in GUIDES if guide in (None, key) for f in _read(key)[1])


def figure(id: str) -> Figure:
    """Return a figure by its id; ``fuse:2.15`` is the first part, ``fuse:2.15a``.

    >>> figure("fuse:2.20").title
    'Load balancing with conduit subscriptions on'
    """
    known = {f.id: f for f in figures()}
    found = known.get(id) or known.get(f"{id}a")
    if found is None:
        raise UnknownName.of("figure", id, known)
    return found


def guides() -> tuple[Guide, ...]:
    """Return the guides that have figures here."""
    return tuple(_read(key)[0] for key in GUIDES)


@cache
def _read(key: str) -> tuple[Guide, tuple[Figure, ...]]:
    text = resources.files(__name__).joinpath(f"{key}.json").read_text(encoding="utf-8")
    value = json.loads(text)
    return Guide(**value["guide"]), tuple(_figure(item) for item in value["figures"])


def _figure(item: dict[str, Any]) -> Figure:
    return Figure(
        id=item["id"], title=item["title"], question=item["question"], section=item["section"],
        scenario=lab.read(item["scenario"], item["id"]), answer=item["answer"],
        real=item.get("real") or "", suggestion=item.get("try") or "", expected=item["expected"],
    )  # fmt: skip
