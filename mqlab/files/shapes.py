"""What the lab files of each product may hold; a module for each, and here what they share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from mqlab.spec import codec
from mqlab.spec.action import Action
from mqlab.spec.json_types import JsonDict
from mqlab.spec.noun import required
from mqlab.spec.option import Option
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.shape import (
    ANYTHING,
    MOST,
    NAME,
    OBJECT,
    PROPERTIES,
    TEXT,
    ListOf,
    Record,
    Scalar,
    Shape,
    TaggedUnion,
    fields_of,
    whole,
)
from mqlab.spec.values import Destination

COUNT = whole(0, MOST)
DESTINATION = Scalar(
    "a destination, such as 'queue://TEST.FOO'",
    lambda value: isinstance(value, str) and bool(value.partition("://")[2].strip()),
    {"type": "string", "pattern": r"^(queue|topic|temp-queue|temp-topic)://.*\S"},
)
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
    "behaviour": ANYTHING, "fresh": ANYTHING, "recorded": ANYTHING, "nominal": ANYTHING, "runs": COUNT,
    "time_limit_seconds": COUNT,
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
    list: {"type": ["array", "string"], "items": {"type": "string"}},
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


@cache
def actions(product: str) -> ListOf:
    """Return the shape of a script: of each action that the product knows its fields, by their names."""
    known = {name: _action(noun) for name, noun in codec.nouns(product).items()}
    if product == "openmq":
        from mqlab.spec.openmq.actions import Call  # here: who reads no OpenMQ file does not load them

        call = {name: shape for name, (shape, _) in fields_of(Call).items() if name in codec.CALL}
        known = {name: replace(record, keys={**call, **record.keys}) for name, record in known.items()}
    return ListOf(_Script("do", known, what="action", product=product), "action")


@dataclass(frozen=True, slots=True)
class _Script(TaggedUnion):
    product: str = ""

    def check(self, value: object, where: str) -> None:
        """Raise also for an action of another product, and say which."""
        name = value.get(self.tag) if isinstance(value, Mapping) else None
        if isinstance(name, str) and name not in codec.nouns(self.product):
            raise codec.unknown(name, self.product, where.partition(" (")[0])
        TaggedUnion.check(self, value, where)


def _action(noun: type[Action]) -> Record:
    needed = required(noun)
    keys = {name: _in_json(name, shape, name in needed) for name, (shape, _) in fields_of(noun).items()}
    return Record(keys, tuple((name,) for name in needed), note=sentence(noun))


def _in_json(name: str, shape: Shape, needed: bool) -> Shape:
    """Return the shape that a field's value has in JSON."""
    noun = getattr(shape, "of_type", None)
    if noun is Destination:
        return DESTINATION
    if noun is Redelivery:
        return Record({field: shape for field, (shape, _) in fields_of(Redelivery).items()})
    if shape is OBJECT and name == "properties":
        return PROPERTIES
    if name == "sends":
        return COUNT
    return NAME if shape is TEXT and needed and name != "text" else shape


def sentence(noun: type) -> str:
    """Return the first sentence of a noun's docstring, on one line."""
    return " ".join((noun.__doc__ or "").partition("\n\n")[0].split())


def about(*names: str) -> Mapping[str, Shape]:
    """Return the shapes of those of the descriptive keys that a product's files have."""
    return {name: ABOUT[name] for name in names}
