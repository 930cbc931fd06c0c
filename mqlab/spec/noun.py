"""What every noun answers to a field that it does not have, or that is missing: what to write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import TYPE_CHECKING, Annotated, Any, dataclass_transform

from mqlab.spec.calls import Called
from mqlab.spec.shape import TEXT, Scalar, number, whole

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# How a field is annotated that has another range than 0 or more, or may be empty.
Count = Annotated[int, whole(1)]
OrUnlimited = Annotated[int, whole(-1)]
Priority = Annotated[int, whole(0, 127)]  # of a consumer
AnyText = Annotated[str, TEXT]
Factor = Annotated[
    float,
    Scalar(
        "a number above 0",
        lambda value: value != 0 and number().test(value),
        {"type": "number", "exclusiveMinimum": 0},
    ),
]


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
class Noun(Called):
    """The class of the classes of nouns.

    >>> from mqlab.spec.faults import Crash
    >>> Crash("A", when="2s")
    Traceback (most recent call last):
    mqlab.errors.UnknownName: Crash: unknown field 'when'. Known: broker, at.
    """

    WHAT = "field"

    def __new__(mcs, name: str, bases: tuple[type, ...], body: dict[str, object], **how: bool) -> Any:
        """Return a frozen dataclass: values print what of them was given, and are equal if their fields are.

        A class may do so otherwise. Methods of its own for that, made for each of ninety nouns whenever mqlab
        is imported, took 7 % of the time of ``import mqlab.spec``.
        """
        if "__slots__" in body:  # made by `dataclass` itself, in place of the one below
            return super().__new__(mcs, name, bases, body)
        shared = {"__repr__": _shown, "__eq__": _is_equal, "__hash__": _hash}
        plain = super().__new__(mcs, name, bases, {**shared, **body})
        return dataclass(frozen=True, slots=True, eq=False, repr=False, **how)(plain)

    def __dir__(cls) -> list[str]:
        """Return its methods: its fields stand in its signature, and `help` prints nothing else."""
        known = {name for base in cls.__mro__ for name in vars(base).get("__slots__", ())}
        return [name for name in super().__dir__() if not name.startswith("_") and name not in known]


def _shown(noun: DataclassInstance) -> str:
    """Return a noun as the call that makes it, of which only what is not as usual is told.

    >>> from mqlab.spec.faults import Crash
    >>> Crash("A", at="2s")
    Crash('A', at='2s')
    """
    needed, parts = required(type(noun)), list[str]()
    for name, value in written(noun):
        in_place = not parts and name in needed
        parts.append(repr(value) if in_place else f"{name}={value!r}")
    return f"{type(noun).__name__}({', '.join(parts)})"


def _compared(noun: DataclassInstance) -> tuple[object, ...]:
    return tuple(getattr(noun, known.name) for known in fields(noun) if known.compare)


def _is_equal(noun: DataclassInstance, other: DataclassInstance) -> bool:
    return _compared(noun) == _compared(other) if type(other) is type(noun) else NotImplemented


def _hash(noun: DataclassInstance) -> int:
    return hash(_compared(noun))


def as_usual(known: Field[object], value: object) -> bool:
    """Whether a field has the value that it has by default."""
    if known.default_factory is not MISSING:
        return bool(value == known.default_factory())
    return known.default is not MISSING and bool(value == known.default)


def written(noun: DataclassInstance) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a noun that are not as usual, each with its value; `at` comes last."""
    given = (known for known in fields(noun) if known.init)
    for known in sorted(given, key=lambda known: known.name == "at"):
        value = getattr(noun, known.name)
        if not as_usual(known, value):
            yield known.name, value


def required(noun: DataclassInstance | type[DataclassInstance]) -> list[str]:
    """Return the names of the fields that have no default."""
    needed = (f for f in fields(noun) if f.init)
    return [f.name for f in needed if f.default is MISSING and f.default_factory is MISSING]
