"""What `help` says of options, made from their rows: type, unit, default in each edition, sentence, source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from inspect import Parameter
from typing import Any, TypeVar

from mqlab.spec.option import EDITIONS, Option
from mqlab.spec.values import as_text

T = TypeVar("T")
WIDTH = 76  # with pydoc's own indent a terminal of 80 columns shows it


def documented(options: Iterable[Option], **more: Iterable[Option]) -> Callable[[T], T]:
    """Return a decorator by which the help and the signature of what takes *options* list them.

    *more* are further options by the name of the argument that takes them, for the help alone.
    """
    rows = list(options)

    def add(thing: T) -> T:
        parts = [_part("Options", rows)]
        parts += [_part(f"Options of {name}", list(found)) for name, found in more.items()]
        target: Any = thing
        target.__doc__ = "\n\n".join([inspect.cleandoc(target.__doc__), *parts])
        target.__signature__ = _signature(target, rows)
        return thing

    return add


def _signature(thing: Any, rows: Iterable[Option]) -> inspect.Signature:
    """Return a signature in which each option stands, so that notebooks complete it."""
    known = inspect.signature(thing)
    named = [p for p in known.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    options = [
        Parameter(row.name, Parameter.KEYWORD_ONLY, default=None, annotation=row.type.__name__)
        for row in rows
        if row.name not in known.parameters
    ]
    return known.replace(parameters=[*named, *options])


def _part(title: str, rows: Iterable[Option]) -> str:
    return "\n".join([f"{title}:", *(line for row in rows for line in _lines(row))])


def _lines(row: Option) -> Iterable[str]:
    first, *rest = wrapped(f"{row.name}: {kind(row)}", "      ")
    yield from (first[4:], *rest)
    yield from wrapped(f"default {defaults(row)}", "      ")
    yield from wrapped(f"{row.guide}: {row.sentence} [{row.source}]", "      ")


def kind(row: Option) -> str:
    """Return an option's type, unit and range in words.

    >>> from mqlab.spec.rows import OPTIONS
    >>> kind(OPTIONS["networkConnector"]["network_ttl"])
    'int in hops, -1 or more'
    """
    named = {"tuple": "list of texts", "list": "list of texts", "str": "text", "dict": "mapping"}
    words = named.get(row.type.__name__, row.type.__name__)
    words += f" in {row.unit}" if row.unit else ""
    words += f", {row.low} or more" if row.low is not None else ""
    return words + (f": {', '.join(row.choices)}" if row.choices else "")


def defaults(row: Option) -> str:
    """Return an option's default, and which editions have another.

    >>> from mqlab.spec.rows import OPTIONS
    >>> defaults(OPTIONS["networkConnector"]["decrease_network_consumer_priority"])
    'false; in 5.18, 6.1: true'
    """
    others: dict[str, list[str]] = {}
    for edition, value in (row.later or {}).items():
        others.setdefault(_text(value), []).append(edition)
    told = [_text(row.default)]
    told += [f"in {', '.join(editions)}: {value}" for value, editions in others.items()]
    before = EDITIONS[: EDITIONS.index(row.since)]
    told += [f"not in {', '.join(before)}"] if before else []
    return "; ".join(told)


def _text(value: object) -> str:
    if value in (None, (), [], ""):
        return "none"
    return as_text(value)


def wrapped(text: str, indent: str) -> Iterable[str]:
    """Yield the lines of a text that fit a narrow terminal; faster than `textwrap`, at each import."""
    line = indent
    for word in text.split():
        if len(line) + len(word) >= WIDTH and line.strip():
            yield line.rstrip()
            line = indent
        line += f"{word} "
    yield line.rstrip()
