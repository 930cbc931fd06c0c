"""What a call is answered that does not fit its function or noun: what is missing, unknown, of another type."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from mqlab.errors import BadValue, MqlabError, UnknownName, shown

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


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
# What people call a parameter by what it names -> the names that it may have.
_MEANT = {
    **dict.fromkeys(("broker", "client"), ("on", "of", "who")),
    **dict.fromkeys(("queue", "topic", "destination"), ("reads", "to")),
    "count": ("sends",),
}
F = TypeVar("F", bound=Callable[..., object])


def fitting(function: F, *, first: bool = False) -> F:
    """Return *function*, which answers a call that does not fit it as nouns do.

    So it does for what is not of its type, a number, text or truth: *first*, or once it has failed.

    >>> import mqlab as mq
    >>> mq.save(mq.chain(2))
    Traceback (most recent call last):
    mqlab.errors.BadValue: save: missing a required argument: 'path'; expected save(what, path, *actions)
    >>> mq.options(7)
    Traceback (most recent call last):
    mqlab.errors.BadValue: options: word is 7; expected a string, in quotes, such as '7'
    """

    wrong = functools.partial(unlike, function)

    def unfit(error: Exception, given: tuple[object, ...], named: Mapping[str, object]) -> MqlabError | None:
        if isinstance(error, MqlabError):
            return None
        told = misfit(function.__name__, inspect.signature(function), given, named, "argument")
        return told or wrong(given, named)

    def call(*given: object, **named: object) -> object:
        told: MqlabError | None = wrong(given, named) if first else None
        if told is None:
            try:
                return function(*given, **named)
            except Exception as error:
                told = unfit(error, given, named)
                if told is None:
                    raise
        raise told

    # With the globals of the function it is one of its module, for doctest, too.
    own = FunctionType(call.__code__, function.__globals__, function.__name__, None, call.__closure__)
    return functools.wraps(function)(own)  # type: ignore[return-value]


def fit(module: dict[str, object]) -> None:
    """Let the public functions of a module answer so, given its globals."""
    for name, value in [*module.items()]:
        if isinstance(value, FunctionType) and not name.startswith("_") and value.__globals__ is module:
            module[name] = fitting(value, first=True)


class Answering:
    """The base of what answers questions: its methods answer a call that does not fit them as verbs do."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        """Let the public methods of a class answer so."""
        super().__init_subclass__()
        fit_methods(cls, [name for name in vars(cls) if not name.startswith("_")])


def fit_methods(cls: type, names: Iterable[str]) -> None:
    """Let methods of a class answer so."""
    for name in names:
        method = getattr(cls, name)
        if isinstance(method, FunctionType) and not hasattr(method, "__wrapped__"):
            setattr(cls, name, fitting(method))


class Called(type):
    """The class of classes whose constructor answers a call that does not fit it as nouns do."""

    WHAT = "argument"  # what its parameters are called

    if not TYPE_CHECKING:  # who checks types has the constructors themselves

        def __call__(cls, *given, **named):
            """Return a value; raises `UnknownName` or `BadValue` for what it does not take, or lacks."""
            try:
                return super().__call__(*given, **named)
            except TypeError:
                told = misfit(cls.__name__, _constructor(cls), given, named, cls.WHAT)
                if told is None:
                    raise
            raise told

    @property
    def __signature__(cls) -> inspect.Signature:
        """What `help` shows: what a decorator has set, or else what the constructor takes."""
        shown: inspect.Signature = vars(cls).get("_shown_signature") or _constructor(cls)
        return shown

    @__signature__.setter
    def __signature__(cls, shown: inspect.Signature) -> None:
        type.__setattr__(cls, "_shown_signature", shown)


def _constructor(cls: type) -> inspect.Signature:
    whole = inspect.signature(vars(cls)["__init__"])
    return whole.replace(parameters=list(whole.parameters.values())[1:])


def misfit(
    called: str,
    signature: inspect.Signature,
    given: tuple[object, ...],
    named: Mapping[str, object],
    what: str,
) -> UnknownName | BadValue | None:
    """Return in what a call does not fit a *signature*; None if it does. *what* are its parameters called."""
    known = signature.parameters
    takes_more = any(of.kind is of.VAR_KEYWORD for of in known.values())
    for name in named:
        if name not in known and not takes_more:
            fields = [name for name, field in known.items() if field.kind in _NAMED]
            meant = next((one for one in _MEANT.get(name, ()) if one in fields), None)
            return UnknownName.of(what, name, fields, called, near=meant)
    try:
        signature.bind(*given, **named)
    except TypeError as error:
        order = [
            "*" * (of.kind is of.VAR_POSITIONAL) + name
            for name, of in known.items()
            if of.kind not in (of.KEYWORD_ONLY, of.VAR_KEYWORD) and name != "self"
        ]
        needed = [
            f"{name}=..." for name, of in known.items() if of.kind is of.KEYWORD_ONLY and of.default is of.empty
        ]
        order = order + needed or [f"{name}=..." for name in known if name != "self"]
        return BadValue(f"{called}: {error}; expected {called}({', '.join(order)})")
    return None
