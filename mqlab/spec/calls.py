"""What a call is answered that does not fit its function or noun: what is missing or unknown, what to write."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, TypeVar

from mqlab.errors import BadValue, MqlabError, UnknownName
from mqlab.spec import arguments

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

    unlike = functools.partial(arguments.unlike, function)

    def unfit(error: Exception, given: tuple[object, ...], named: Mapping[str, object]) -> MqlabError | None:
        if isinstance(error, MqlabError):
            return None
        told = misfit(function.__name__, inspect.signature(function), given, named, "argument")
        return told or unlike(given, named)

    def call(*given: object, **named: object) -> object:
        told: MqlabError | None = unlike(given, named) if first else None
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
