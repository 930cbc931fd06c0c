"""The figures of the guides of all products: read from their JSON files, and found by their ids."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources

from mqlab.errors import BadFile, UnknownName, nearest, shown
from mqlab.spec.calls import fitting
from mqlab.spec.json_types import JsonDict
from mqlab.spec.noun import required
from mqlab.spec.scenario import Scenario
from mqlab.trace.grid import TextTable

# JSON file in the folder of its product -> guide; of `crash` each figure says whose it is.
FILES: Mapping[str, str] = {
    "activemq/figures/fuse": "fuse",
    "activemq/figures/amq6": "amq6",
    "activemq/figures/article": "article",
    "activemq/figures/fuse4": "fuse",
    "activemq/figures/unsafe": "unsafe",
    "openmq/figures/openmq": "openmq",
    "artemis/figures/artemis": "artemis",
    "crash": "crash",
}
GUIDES = tuple(dict.fromkeys(FILES.values()))


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure or example of a guide, ready to run.

    `real` says where the real product differs from the guide (empty if nowhere, or once the figure is changed),
    `expected` what the real product ends with: its keys are the product's own. `suggestion` is what to change
    next.
    """

    id: str
    title: str
    question: str
    section: str
    scenario: Scenario
    answer: str
    expected: Mapping[str, object]
    printer: Callable[[Scenario], str] = field(repr=False, compare=False)  # which writes its scenario as code
    real: str = ""
    suggestion: str = ""

    def __repr__(self) -> str:
        return f"<Figure {self.id}: {self.title}>"

    def __str__(self) -> str:
        return f"{self.id}: {self.title}. {self.question}"

    @fitting
    def change(self, path: str, **options: object) -> Figure:
        """Return the figure with options changed, as the `change` of its scenario does."""
        scenario = self.scenario.change(path, **options)
        return replace(self, scenario=scenario, real=self.real if scenario == self.scenario else "")

    def python(self) -> str:
        """Return code with nouns that makes the figure's scenario, under the name `scenario`."""
        return self.printer(self.scenario)


class FigureTable(TextTable, tuple[Figure, ...]):
    """Figures, which print as a table of their ids and titles."""

    def table(self) -> list[list[str]]:
        """Return a line for each figure."""
        return [["figure", "title"], *([figure.id, figure.title] for figure in self)]


def ids(guide: str | None = None) -> list[str]:
    """Return the ids of the figures of every guide, or of one.

    Another word is looked for in titles and questions. Raises `UnknownName` where there are none.
    """
    if guide is None or guide in GUIDES:
        return [item["id"] for item in _items(guide)]
    if nearest(guide, GUIDES):
        raise UnknownName.of("guide", guide, GUIDES)
    word = str(guide).lower()
    found = [item["id"] for item in _items() if word in f"{item.get('title')} {item.get('question')}".lower()]
    if not found:
        told = f"no guide is called {shown(guide)}, and no figure has that in its title or question"
        raise UnknownName(f"{told}; guides: {', '.join(GUIDES)}")
    return found


def find(id: str) -> JsonDict:
    """Return what the file of its guide says of a figure; what a caller does to that stays with the caller.

    ``fuse:2.15`` is the first part, ``fuse:2.15a``. Raises `UnknownName`, `BadFile` where something is missing.

    >>> find("openmq:4-1")["title"]
    'A cluster of three brokers and clients at their home brokers'
    """
    if not isinstance(id, str):
        raise UnknownName.of("figure", id, ["fuse:2.20", "openmq:4-1", "artemis:21.1"])
    guide = id.partition(":")[0]
    known = {item["id"]: item for item in _items(guide if guide in GUIDES else None)}
    if id not in known and (parts := [one for one in known if one[:-1] == id and one[-1].isalpha()]):
        warnings.warn(f"figure {id} is {' and '.join(parts)}: this is {parts[0]}", stacklevel=3)
        id = parts[0]
    if id not in known:
        same = [repr(one) for one in known if one.partition(":")[2] in (id, f"{id}a")]
        if same:  # a number without its guide
            raise UnknownName(f"unknown figure {shown(id)}; did you mean {' or '.join(same)}?")
        raise UnknownName.of("figure", id, known)
    found = copy.deepcopy(known[id])
    if missing := [key for key in _NEEDED if key not in found]:
        files = " or ".join(f"mqlab/products/{file}.json" for file, of in FILES.items() if of == guide)
        raise BadFile(f"figure {id}: no {' and no '.join(missing)}; write it beside the figure, in {files}")
    found["scenario"] = {"title": found["title"], **found["scenario"]}
    return found


_NEEDED = [name for name in required(Figure) if name != "printer"]


def _items(guide: str | None = None) -> Iterator[JsonDict]:
    return (item for file, of in FILES.items() if guide in (None, of) for item in _read(file))


@cache
def _read(file: str) -> list[JsonDict]:
    text = resources.files(__package__).joinpath(f"{file}.json").read_text(encoding="utf-8")
    return [{"product": file.partition("/")[0], **item} for item in json.loads(text)["figures"]]
