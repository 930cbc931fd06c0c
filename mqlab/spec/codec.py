"""Actions <-> JSON: each by the name of its noun, what it says by the names of its fields.

So a lab file has them, the same in every product:
``{"do": "Consumer", "name": "C", "on": "A", "reads": "queue://TEST.FOO"}``. The words that recordings have for
them are read by the tables of each product (`spec.steps`, `spec.openmq.words`, `spec.artemis.words`).
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, MqlabError, UnknownName, shown
from mqlab.spec.action import Action, Pause, Resume
from mqlab.spec.json_types import JsonDict, JsonObject
from mqlab.spec.naming import bare
from mqlab.spec.noun import written
from mqlab.spec.options import TITLES
from mqlab.spec.step import Step, check_keys
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

CALL = ("id", "limit", "in_background")  # what `openmq.Call` says around an action of any kind


@cache
def nouns(product: str) -> Mapping[str, type[Action]]:
    """Return name -> action, of all that a product's script can hold."""
    if product == "openmq":
        from mqlab.spec.openmq.words import ROWS

        return _named(row.noun for row in ROWS)
    if product == "artemis":
        from mqlab.spec.artemis.words import WORDS
        from mqlab.spec.clients import Client

        return _named((*(word.action for word in WORDS), Client))  # a client is a session by its URL
    from mqlab.spec.clients import WaitUntil
    from mqlab.spec.steps import STEP_OF

    return _named((*STEP_OF, WaitUntil))


def _named(known: Iterable[type[Action]]) -> dict[str, type[Action]]:
    """Return nouns by name: of two, such as both `Settle` of Artemis, the product's own."""
    return {
        noun.__name__: noun for noun in sorted(known, key=lambda noun: noun.__module__ != Action.__module__)
    }


def write(action: Action) -> JsonDict:
    """Return an action as a JSON object: its noun, and of its fields those that are not as usual.

    >>> from mqlab.spec import Consumer, Queue
    >>> write(Consumer("C", on="A", reads=Queue("Q"), at="2s"))
    {'do': 'Consumer', 'name': 'C', 'on': 'A', 'reads': 'queue://Q', 'at': '2s'}
    """
    inner = bare(action)
    if inner is not action:
        return {**write(inner), **{name: value for name, value in written(action) if name != "action"}}
    return {"do": type(action).__name__, **{name: _plain(value) for name, value in written(action)}}


def _plain(value: object) -> object:
    if isinstance(value, Destination):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return dict(written(value))
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return list(map(_plain, value)) if isinstance(value, (list, tuple)) else value


def unknown(name: object, product: str, where: str = "") -> UnknownName:
    """Return the error for an action that a product does not have; it says which other one has it."""
    others = [title for other, title in TITLES.items() if name in nouns(other)]
    if others:
        told = f"{shown(name)} is an action of {' and '.join(others)} only"
        return UnknownName(f"{where}: {told}" if where else told)
    from mqlab.spec.jms_names import INSTEAD

    if (instead := INSTEAD.get(str(name).lower())) is not None:
        told = f"{where + ': ' if where else ''}unknown action {shown(name)}; use {instead}"
        return UnknownName(told, calls=(instead,))
    return UnknownName.of("action", name, nouns(product), where)


def read(item: JsonObject, product: str = "activemq") -> Action:
    """Return the action that `write` made the object of; raises `UnknownName` or `BadValue` for what is none.

    >>> read({"do": "Producer", "name": "P", "on": "A", "sends": 3, "to": "topic://T"}).to
    Destination(kind='topic', name='T')
    """
    noun = nouns(product).get(str(name := item.get("do")))
    if noun is None:
        raise unknown(name, product)
    readers = readers_of(noun)
    call = {key: item[key] for key in CALL if product == "openmq" and key in item and key not in readers}
    for key in item:
        if key not in ("do", *readers, *call):
            raise UnknownName.of("key", key, readers)
    given: JsonDict = {key: readers[key](value, key) for key, value in item.items() if key in readers}
    action = noun(**given)
    if not call:
        return action
    from mqlab.spec.openmq.actions import Call

    return Call(action, **call)


def read_all(items: Iterable[JsonObject], product: str = "activemq") -> tuple[Action, ...]:
    """Return the actions of a lab file; errors say which one it is."""
    found = []
    for place, item in enumerate(items, start=1):
        try:
            found.append(read(item, product))
        except MqlabError as error:
            raise type(error)(f"action {place} ({item.get('do')}): {error}") from None
    return tuple(found)


def actions_in(body: JsonObject) -> tuple[Action, ...]:
    """Return the actions of a lab file, also of one whose script has the words of recordings."""
    product = str(body.get("product", "activemq"))
    if "steps" not in body:
        return read_all(body.get("actions", ()), product)
    brokers = {broker if isinstance(broker, str) else broker["name"] for broker in body.get("brokers", ())}
    return tuple(_told_apart(action, brokers) for action in _recorded(body["steps"], product))


def _recorded(steps: Sequence[JsonObject], product: str) -> Iterable[Action]:
    """Return the actions that the steps of a recording are."""
    if product == "activemq":
        from mqlab.spec.steps import actions_of

        return actions_of(steps)
    if product == "openmq":
        from mqlab.spec.openmq import words

        return words.nouns_of(checked(steps, words.STEPS, words.CALL))
    from mqlab.spec.artemis.steps import STEPS
    from mqlab.spec.artemis.words import actions_of as of_artemis

    return of_artemis(checked(steps, STEPS, ("at",)))


def _told_apart(action: Action, brokers: Collection[str]) -> Action:
    """Return an action that says of a consumer that it is one only if a broker has the same name."""
    inner = bare(action)
    if not isinstance(inner, (Pause, Resume)) or inner.kind != "consumer" or inner.who in brokers:
        return action
    plain = replace(inner, kind=None)
    return plain if inner is action else replace(action, action=plain)  # type: ignore[call-arg]


def checked(
    items: Iterable[JsonObject], table: Mapping[str, tuple[str, str]], always: tuple[str, ...]
) -> Iterator[Step]:
    """Yield the steps of a cluster's recording; raises for those that its product does not know."""
    for place, item in enumerate(items, start=1):
        step = Step(item["do"], {key: value for key, value in item.items() if key != "do"})
        check_keys(step, f"step {place} ({step.do})", table, always)
        yield step


Reader = Callable[[object, str], object]


@cache
def readers_of(noun: type[DataclassInstance]) -> Mapping[str, Reader]:
    """Return field -> what reads its JSON value."""
    hints = typing.get_type_hints(noun)
    return {known.name: _reader(hints[known.name]) for known in fields(noun)}


def _reader(hint: object) -> Reader:
    parts = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    if Destination in parts:
        return _destination
    if any(typing.get_origin(part) is tuple for part in parts):
        return lambda value, key: tuple(value) if isinstance(value, list) else value
    return lambda value, key: value


def _destination(value: object, key: str) -> Destination:
    if not isinstance(value, str):
        raise BadValue(f"{key} is {shown(value)}; use e.g. 'queue://TEST.FOO'")
    return Destination.parse(value)
