"""Arguments of public functions that are numbers, texts or truths, held against the functions' signatures."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from mqlab.errors import BadValue, shown

_WORDS = {int: "a whole number", float: "a number", str: "a string, in quotes", bool: "True or False"}

_SUCH = {"id": "fuse:2.20"}  # name -> what it is like, where no number in quotes would be right


@dataclass(frozen=True, slots=True)
class Plain:
    """What a plain argument may be: some types, perhaps None among them. A truth is no number."""

    words: str
    kinds: tuple[type, ...]


Place = tuple[str, Plain | None]


def unlike(
    function: Callable[..., object], given: tuple[object, ...], named: Mapping[str, object]
) -> BadValue | None:
    """Return what is told of the first argument that is not of its type; None if all are."""
    in_place, rest, by_name = _looked_at(function)
    places = [*in_place, *[rest] * (len(given) - len(in_place))]
    wanted = [(name, shape, value) for (name, shape), value in zip(places, given, strict=False)]
    wanted += [(name, by_name.get(name), value) for name, value in named.items()]
    for name, shape, value in wanted:
        wrong = shape is not None and not isinstance(value, shape.kinds)
        if shape is not None and (wrong or (isinstance(value, bool) and bool not in shape.kinds)):
            quoted = isinstance(value, (int, float)) and not isinstance(value, bool)
            such = f", such as {_SUCH.get(name, str(value))!r}" if quoted and shape.words == _WORDS[str] else ""
            return BadValue(f"{function.__name__}: {name} is {shown(value)}; expected {shape.words}{such}")
    return None


@cache
def _looked_at(function: Callable[..., object]) -> tuple[list[Place], Place, dict[str, Plain | None]]:
    """Return what arguments are to be: those in place, those after them, and all by name."""
    in_place, by_name = list[Place](), dict[str, Plain | None]()
    rest: Place = "", None
    for name, known in inspect.signature(function).parameters.items():
        shape = by_name[name] = _shape(function, name)
        if known.kind is known.VAR_POSITIONAL:
            rest = name, shape
        elif known.kind in (known.POSITIONAL_OR_KEYWORD, known.POSITIONAL_ONLY):
            in_place.append((name, shape))
    return in_place, rest, by_name


def _shape(function: Any, name: str) -> Plain | None:
    """Return what an argument may be, by its annotation; None where its function says it."""
    try:
        only = types.SimpleNamespace(__annotations__={name: function.__annotations__[name]})
        hint = typing.get_type_hints(only, function.__globals__)[name]
    except (KeyError, NameError):  # it has none, or one for who checks types
        return None
    parts = set(typing.get_args(hint) or (hint,))
    none = parts & {types.NoneType}
    parts -= none
    if not parts or not parts <= {*_WORDS}:
        return None
    if parts == {int, str}:  # a length of time, or a number or name; of a fraction its function says more
        parts = {float, str}
    words = " or ".join(words for part, words in _WORDS.items() if part in parts)
    return Plain(words, (*parts, *({int} if float in parts else ()), *none))
