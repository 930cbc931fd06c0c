"""Every figure of the guides as data, with what the guide says will happen.

The JSON files beside this module hold them: question, network, actions, the guide's numbers, the
answer, and where the real broker differs. `expected` is what the real broker ends with.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from mqlab.errors import BadFile, UnknownName
from mqlab.products.activemq.files import lab_file, python
from mqlab.products.guide_figures import FamilyFigure
from mqlab.spec import Scenario
from mqlab.spec.calls import fitting
from mqlab.spec.json_types import JsonDict

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

    `real` says where the real broker differs from the guide (empty if nowhere, or once the figure is changed),
    `suggestion` what to change next, `expected` which numbers the real broker ends with.
    """

    id: str
    title: str
    question: str
    section: str
    scenario: Scenario
    answer: str
    real: str
    suggestion: str
    expected: Mapping[str, object]

    def __repr__(self) -> str:
        return f"<Figure {self.id}: {self.title}>"

    def __str__(self) -> str:
        return f"{self.id}: {self.title}. {self.question}"

    @fitting
    def change(self, path: str, **options: object) -> Figure:
        """Return the figure with options changed at ``broker/connector`` (``*/*`` is all)."""
        scenario = self.scenario.change(path, **options)
        return replace(self, scenario=scenario, real=self.real if scenario == self.scenario else "")

    def python(self) -> str:
        """Return code with nouns that makes the figure's scenario, under the name `scenario`."""
        return python.python(self.scenario)


AnyFigure = Figure | FamilyFigure


def figures(guide: str | None = None) -> tuple[Figure, ...]:
    """Return the figures of one guide, or of all, in the guides' order.

    Raises `UnknownName` for an unknown guide.
    """
    if guide is not None and guide not in GUIDES:
        raise UnknownName.of("guide", guide, GUIDES)
    return tuple(_figure(item) for key in GUIDES if guide in (None, key) for item in _value(key)["figures"])


def figure(id: str) -> Figure:
    """Return a figure by its id; ``fuse:2.15`` is the first part, ``fuse:2.15a``.

    >>> figure("fuse:2.20").title
    'Load balancing with conduit subscriptions on'
    """
    guide = id.partition(":")[0]
    known = {item["id"]: item for item in _value(guide)["figures"]} if guide in GUIDES else {}
    if id not in known and (parts := [one for one in known if one[:-1] == id]):
        told = f"figure {id} is {' and '.join(parts)}: this is {parts[0]}"
        warnings.warn(told, stacklevel=2)
        id = parts[0]
    found = known.get(id)
    if found is None:
        raise UnknownName.of("figure", id, [one["id"] for key in GUIDES for one in _value(key)["figures"]])
    return _figure(found)


def recording_of(id: str) -> str:
    """Return the name of the recording that is nearest to a figure's situation.

    Names of clients and numbers of messages are its own. Raises `UnknownName` where no such recording exists.
    """
    known: dict[str, str] = json.loads(_text("recorded"))
    found = known.get(id) or known.get(f"{id}a")
    if found is None:
        raise UnknownName.of("recording of figure", id, known)
    return found


def guides() -> tuple[Guide, ...]:
    """Return the guides that have figures here."""
    return tuple(Guide(**_value(key)["guide"]) for key in GUIDES)


def _value(key: str) -> JsonDict:
    """Return a guide's file, parsed anew: what a caller does to a figure stays with the caller."""
    value: dict[str, object] = json.loads(_text(key))
    return value


@cache
def _text(key: str) -> str:
    return resources.files(__name__).joinpath(f"{key}.json").read_text(encoding="utf-8")


_NEEDED = ("id", "title", "question", "section", "scenario", "answer", "expected")


def _figure(item: JsonDict) -> Figure:
    missing = [key for key in _NEEDED if key not in item]
    if missing:
        raise BadFile(
            f"figure {item.get('id')}: no {' and no '.join(missing)}; write it in its guide's file here"
        )
    return Figure(
        id=item["id"],
        title=item["title"],
        question=item["question"],
        section=item["section"],
        scenario=lab_file.build(item["scenario"], item["id"]),  # of its right shape: a test holds that
        answer=item["answer"],
        real=item.get("real") or "",
        suggestion=item.get("try") or "",
        expected=item["expected"],
    )
