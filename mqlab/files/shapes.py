"""What the lab files of each product may hold; a module for each, and here what they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mqlab.spec.json_types import JsonDict
from mqlab.spec.option import Option
from mqlab.spec.shape import (
    ANYTHING,
    MOST,
    TEXT,
    TRUTH,
    ListOf,
    OneOf,
    Record,
    Scalar,
    Shape,
    whole,
)

SCALAR = OneOf(
    (TEXT, TRUTH, Scalar("a number", lambda value: isinstance(value, (int, float)), {"type": "number"}))
)
# Properties of messages: a list is dealt out in turn.
PROPERTIES = Record({}, more=OneOf((SCALAR, ListOf(SCALAR, least=1))))
COUNT = whole(0, MOST)
_COUNTS = Record({}, more=COUNT)
_SAID: dict[str, Shape] = {
    "received": _COUNTS,
    "depth": _COUNTS,
    "distances": _COUNTS,
    "diameter": COUNT,
}
# What is told of a scenario, and changes nothing that happens.
ABOUT: dict[str, Shape] = {
    "name": TEXT, "theme": TEXT, "title": TEXT, "guide": TEXT, "reference_says": TEXT,
    "behaviour": ANYTHING, "nominal": ANYTHING, "runs": COUNT, "time_limit_seconds": COUNT,
    "guide_says": Record({**_SAID, "snapshots": Record({}, more=Record(_SAID, more=ANYTHING))},
                         more=ANYTHING),
    "product": TEXT, "version": TEXT, "edition": TEXT,
}  # fmt: skip
# A row's reader takes texts, too, as the products' files have them.
_TYPES: dict[type, JsonDict] = {
    bool: {"type": ["boolean", "string"], "pattern": "^([Tt]rue|[Ff]alse|TRUE|FALSE)$"},
    int: {"type": ["integer", "string"], "pattern": "^-?[0-9]{1,19}$"},
    float: {"type": ["number", "string"]},
    str: {"type": "string"},
    tuple: {"type": ["array", "string"], "items": {"type": "string"}},
    dict: {"type": "object"},
}


@dataclass(frozen=True, slots=True)
class Row:
    """The value of an option, as its row says: the row's reader looks at it."""

    option: Option

    @property
    def words(self) -> str:
        """What to write."""
        return f"what {self.option.guide} takes"

    def check(self, value: object, where: str) -> None:
        """Raise what the row's reader raises."""
        place, _, key = where.rpartition(", ")
        self.option.read(value, place or key)

    def schema(self) -> JsonDict:
        """Return the row as JSON Schema: sentence, unit, default, range."""
        row = self.option
        unit = f" In {row.unit}." if row.unit else ""
        found: JsonDict = {"description": f"{row.guide}: {row.sentence}{unit} [{row.source}]"}
        found |= {"enum": list(row.choices)} if row.choices else _TYPES[row.type]
        if row.type is int:
            found["maximum"] = row.high
        if row.low is not None:
            found["minimum"] = row.low
        if row.default is not None:
            found["default"] = list(row.default) if isinstance(row.default, tuple) else row.default
        return found


def rows(options: Iterable[Option], by_guide: bool = False) -> dict[str, Shape]:
    """Return option rows as shapes, by their Python names or by those of the guide."""
    return {row.guide if by_guide else row.name: Row(row) for row in options}


def sentence(noun: type) -> str:
    """Return the first sentence of a noun's docstring, on one line."""
    return " ".join((noun.__doc__ or "").partition("\n\n")[0].split())


def about(*names: str) -> Mapping[str, Shape]:
    """Return the shapes of those of the descriptive keys that a product's files have."""
    return {name: ABOUT[name] for name in names}
