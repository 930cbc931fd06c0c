"""Shapes: what a value in a file, or a field of a noun, may be.

By its shape a value is looked at before anything is made of it, and the same shape says itself as JSON
Schema (draft 2020-12), by which editors complete. An error says where, what came and what to write.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from mqlab.errors import BadValue, UnknownName, shown
from mqlab.spec.json_types import JsonDict
from mqlab.spec.values import MOST_MS, Duration, duration, moment

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

MOST = 10**9  # messages, attempts, bytes of one message: what can be asked of a run


class Shape(Protocol):
    """What a value may be."""

    @property
    def words(self) -> str:
        """What to write."""

    def check(self, value: object, where: str) -> None:
        """Raise `BadValue` or `UnknownName`, with *where* it stands, for what is not of this shape."""

    def schema(self) -> JsonDict:
        """Return the shape as JSON Schema."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """What a single value may be: `words` say what to write, `test` whether it is that."""

    words: str
    test: Callable[[object], bool]
    json: JsonDict = field(hash=False)
    of_type: type | None = field(default=None, kw_only=True)  # where the values have a class of mqlab's

    def check(self, value: object, where: str) -> None:
        """Raise `BadValue` or `UnknownName`, with *where* it stands, for what is not of this shape."""
        if not self.test(value):
            raise BadValue(f"{where} is {shown(value)}; expected {self.words}")

    def schema(self) -> JsonDict:
        """Return the shape as JSON Schema."""
        return dict(self.json)


@dataclass(frozen=True, slots=True)
class Choice(Scalar):
    """One of some texts."""

    choices: tuple[str, ...] = ()

    def check(self, value: object, where: str) -> None:
        """Raise `UnknownName`, with the nearest one, for another text."""
        if isinstance(value, str) and value not in self.choices:
            raise UnknownName.of(where.rpartition(", ")[2], value, self.choices, where.rpartition(", ")[0])
        Scalar.check(self, value, where)


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list whose items are of one shape; `what` an item is called in errors."""

    of: Shape
    what: str = ""
    least: int = 0
    most: int = 100_000

    @property
    def words(self) -> str:
        """What to write."""
        if isinstance(self.of, (Record, TaggedUnion)):
            return "a list of objects"
        size = f" of {self.least}" if self.least == self.most else ""
        return f"a list{size}, of which each is {self.of.words}"

    def check(self, value: object, where: str) -> None:
        """Raise for what is no list, and for the first item that is wrong."""
        if not isinstance(value, (list, tuple)) or not self.least <= len(value) <= self.most:
            raise BadValue(f"{where} is {shown(value)}; expected {self.words}")
        place = where.rpartition(", ")[0]
        for no, item in enumerate(value, 1):
            here = _called(self.what, no, item) if self.what else f"{where.rpartition(', ')[2]} {no}"
            self.of.check(item, f"{place}, {here}" if place else here)

    def schema(self) -> JsonDict:
        """Return the shape as JSON Schema."""
        sizes = {"minItems": self.least} if self.least else {}
        sizes |= {"maxItems": self.most} if self.most < 100 else {}
        return {"type": "array", "items": self.of.schema(), **sizes}


def _called(what: str, no: int, item: object) -> str:
    """Return how an error calls an item: by its name, or by its number and what it does."""
    given = item if isinstance(item, Mapping) else {}
    if isinstance(given.get("do"), str):
        return f"{what} {no} ({shown(given['do'])[1:-1]})"
    return f"{what} {shown(given['name'])}" if isinstance(given.get("name"), str) else f"{what} {no}"


@dataclass(frozen=True, slots=True)
class Record:
    """An object: each known key with its shape; of each group of `needed` keys one has to be there.

    With `more` it may have other keys too, whose values are of that shape. `called` is what an error
    calls its keys.
    """

    keys: Mapping[str, Shape] = field(hash=False)
    needed: tuple[tuple[str, ...], ...] = ()
    more: Shape | None = None
    called: str = "key"
    note: str = ""

    @property
    def words(self) -> str:
        """What to write."""
        alone = [group[0] for group in self.needed if len(group) == 1]
        return f"an object with the key {alone[0]!r}" if alone else "an object"

    def check(self, value: object, where: str) -> None:
        """Raise for what is no object, an unknown key, one that is missing, a value that is wrong."""
        if not isinstance(value, Mapping):
            raise BadValue(f"{where} is {shown(value)}; expected {self.words}")
        for key in value:
            if not isinstance(key, str):
                raise BadValue(
                    f"{where}: {self.called} {shown(key)} is not a string; use e.g. {str(key)[:20]!r}"
                )
            if key not in self.keys and self.more is None:
                raise UnknownName.of(self.called, key, self.keys, where)
        for group in self.needed:
            if not any(key in value for key in group):
                keys = " or ".join(map(repr, group))
                raise BadValue(f"{where + ': ' if where else ''}the key {keys} is missing")
        for key, item in value.items():
            shape = self.keys.get(key) or self.more
            if shape is not None:
                shape.check(item, f"{where}, {key}" if where else key)

    def schema(self) -> JsonDict:
        """Return the shape as JSON Schema."""
        alone = [group[0] for group in self.needed if len(group) == 1]
        either = [[{"required": [key]} for key in group] for group in self.needed if len(group) > 1]
        return {
            "type": "object",
            **({"description": self.note} if self.note else {}),
            "properties": {key: shape.schema() for key, shape in self.keys.items()},
            **({"required": alone} if alone else {}),
            **({"allOf": [{"anyOf": group} for group in either]} if either else {}),
            "additionalProperties": False if self.more is None else self.more.schema(),
        }


@dataclass(frozen=True, slots=True)
class TaggedUnion:
    """An object whose key `tag` says which of several records it is."""

    tag: str
    records: Mapping[str, Record] = field(hash=False)
    words: str = "an object"
    what: str = "kind"

    def check(self, value: object, where: str) -> None:
        """Raise for an object without the tag, with an unknown one, or not of its record."""
        if not isinstance(value, Mapping):
            raise BadValue(f"{where} is {shown(value)}; expected {self.words} with the key {self.tag!r}")
        if self.tag not in value:
            raise BadValue(f"{where}: the key {self.tag!r} is missing; it says which {self.what} this is")
        name = value[self.tag]
        if not isinstance(name, str) or name not in self.records:
            raise UnknownName.of(self.what, name, self.records, where.partition(" (")[0])
        rest = {key: item for key, item in value.items() if key != self.tag}
        self.records[name].check(rest, where)

    def schema(self) -> JsonDict:
        """Return the shape as JSON Schema: what a tag asks for depends on it."""
        return {
            "type": "object",
            "properties": {self.tag: {"enum": list(self.records)}},
            "required": [self.tag],
            "allOf": [
                {"if": {"properties": {self.tag: {"const": name}}}, "then": self._then(name)}
                for name in self.records
            ],
        }

    def _then(self, name: str) -> JsonDict:
        found = self.records[name].schema()
        return {**found, "properties": {self.tag: {"const": name}, **found["properties"]}}


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value of one of several shapes, perhaps with shorter words for all of them."""

    shapes: tuple[Shape, ...]
    told: str = ""

    @property
    def words(self) -> str:
        """What to write."""
        return self.told or ", or ".join(dict.fromkeys(shape.words for shape in self.shapes))

    def check(self, value: object, where: str) -> None:
        """Raise what the last shape of the value's own kind says, or that it is none of them."""
        for shape in self.shapes:
            try:
                shape.check(value, where)
            except (BadValue, UnknownName) as error:
                told = error
            else:
                return
        inner = (Record, ListOf) if isinstance(value, (Mapping, list, tuple)) else Choice
        if isinstance(self.shapes[-1], inner):
            raise told
        raise BadValue(f"{where} is {shown(value)}; expected {self.words}")

    def schema(self) -> JsonDict:
        """Return the shape as JSON Schema."""
        return {"anyOf": [shape.schema() for shape in self.shapes]}


def whole(low: int = -MOST, high: int = MOST) -> Scalar:
    """Return the shape of whole numbers within a range."""

    def test(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, (bool, Duration)) and low <= value <= high

    bounds = f" (at most {high})" if low == -MOST else f", {low} to {high}"
    return Scalar(f"a whole number{bounds}", test, {"type": "integer", "minimum": low, "maximum": high})


def number(low: float = 0, high: float = MOST_MS) -> Scalar:
    """Return the shape of numbers within a range."""

    def test(value: object) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high

    return Scalar(f"a number, {low:g} to {high:g}", test, {"type": "number", "minimum": low, "maximum": high})


def choice(choices: Iterable[str]) -> Choice:
    """Return the shape of one of some texts."""
    known = tuple(choices)
    words = " or ".join(map(repr, known))
    return Choice(words, lambda value: value in known, {"enum": list(known)}, known)


@dataclass(frozen=True, slots=True)
class Length(Scalar):
    """A length of time; without `fractions` a number has none, as 2.5 could be seconds or milliseconds."""

    fractions: bool = field(default=True, kw_only=True)

    def check(self, value: object, where: str) -> None:
        """Raise `BadValue` for what is no length of time."""
        (duration if self.fractions else moment)(value, where)  # type: ignore[arg-type]


ANYTHING = Scalar("any value", lambda value: True, {})
TRUTH = Scalar("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})
NAME = Scalar(
    "a non-empty string",
    lambda value: isinstance(value, str) and bool(value.strip()),
    {"type": "string", "pattern": r"\S"},
)
TEXT = Scalar("a string, in quotes", lambda value: isinstance(value, str), {"type": "string"})
GIVEN = Scalar("a string, in quotes, that is not empty", NAME.test, NAME.json)
_MS = {"minimum": 0, "maximum": MOST_MS, "description": "milliseconds"}
_TEXT_OF_LENGTH = {"type": "string", "pattern": r"^\s*\d{1,12}(\.\d+)?\s*(us|ms|s|min)\s*$"}
LENGTH, WHOLE_LENGTH = (
    Length("a duration", bool, {"anyOf": [{"type": kind, **_MS}, _TEXT_OF_LENGTH]}, fractions=kind == "number")
    for kind in ("number", "integer")
)
NAMES = OneOf((NAME, ListOf(NAME, least=1)), "a name or a list of names")
NAMES_OR_NONE = OneOf((NAME, ListOf(NAME)), "a name or a list of names")
OBJECT = Record({}, more=ANYTHING)
SCALAR = OneOf(
    (TEXT, TRUTH, Scalar("a number", lambda value: isinstance(value, (int, float)), {"type": "number"}))
)
# Properties of messages: a list is assigned to the messages in rotation.
PROPERTIES = Record({}, more=OneOf((SCALAR, ListOf(SCALAR, least=1))))


# Nouns


@cache
def fields_of(noun: type[DataclassInstance]) -> dict[str, tuple[Shape, bool]]:
    """Return the fields of a noun: name -> (shape, whether None will do), read off its annotations."""
    hints = typing.get_type_hints(noun, include_extras=True)
    found = {}
    for known in fields(noun):
        hint = hints[known.name]
        optional = types.NoneType in typing.get_args(hint)
        shape = _of_hint(hint)
        if shape is TEXT and (optional or known.default is MISSING):
            shape = GIVEN  # what is named, or named at all, has a name
        found[known.name] = (shape, optional)
    return found


def check_noun(noun: DataclassInstance, where: str) -> None:
    """Raise `BadValue` for the first field of a noun that is not of its type, or out of any range."""
    for name, (shape, optional) in fields_of(noun.__class__).items():
        value = getattr(noun, name)
        if value is not None or not optional:
            shape.check(value, f"{where}, {name}")
        if isinstance(value, Duration):  # a file would read the number as milliseconds
            object.__setattr__(noun, name, str(value).replace(" ", ""))


def _of_hint(hint: object) -> Shape:
    """Return the shape of an annotation; a number or a text is a length of time."""
    parts = [part for part in typing.get_args(hint) if part is not types.NoneType]
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:  # with the range of a number
        return typing.cast(Shape, parts[1])
    if origin in (types.UnionType, typing.Union):
        if int in parts and str in parts and bool not in parts:
            return WHOLE_LENGTH
        return OneOf(tuple(map(_of_hint, parts))) if len(parts) > 1 else _of_hint(parts[0])
    if origin in (tuple, list):
        return ListOf(_of_hint(parts[0]))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is not None or not isinstance(hint, type):
        return OBJECT if origin is Mapping else ANYTHING
    words = _WRITTEN.get(hint.__name__, f"a {hint.__name__}")
    return Scalar(words, lambda value: isinstance(value, hint), {}, of_type=hint)


_PLAIN: dict[object, Shape] = {str: TEXT, bool: TRUTH, int: whole(0), float: number(), Any: ANYTHING}
_WRITTEN = {"Destination": "mq.Queue('TEST.FOO') or mq.Topic('NEWS')", "Action": "an action"}
