"""What a sweep varies: options, editions, actions such as faults and workloads, and arguments of a function.

An axis is known by its name and values; every product takes every kind:

* ``BROKER/CONNECTOR.OPTION`` or ``BROKER.OPTION``: values of an option;
* ``edition``: editions of the broker (for OpenMQ and Artemis its version);
* a parameter of the function that is swept: what the function is called with, such as a size;
* any other name, with actions as values: a fault, a producer, several of them, or ``()`` for none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from mqlab import products
from mqlab.errors import BadValue, UnknownName, shown
from mqlab.products.inputs import scenario_of
from mqlab.spec import Scenario
from mqlab.spec.action import Action
from mqlab.spec.plural import counted
from mqlab.spec.scenario import AnyNetwork
from mqlab.spec.shape import OBJECT

if TYPE_CHECKING:
    from mqlab.spec.scenario import Scenario

EDITION = "edition"


@dataclass(frozen=True, slots=True)
class Axis:
    """One thing that differs: its `kind` is option, edition, argument or actions.

    `labels` stand in the rows of the sweep, one for each of the `values`.
    """

    name: str
    kind: str
    labels: tuple[object, ...]
    values: tuple[Any, ...]  # as their kind says


def axes_of(over: Mapping[str, object], what: object) -> tuple[Axis, ...]:
    """Return the axes of a sweep; raises `BadValue` for values that are none."""
    if not isinstance(over, Mapping):
        raise BadValue(f"over is {shown(over)}; expected a mapping such as {{'*/*.network_ttl': [1, 2]}}")
    OBJECT.check(over, "over")
    arguments = tuple(inspect.signature(what).parameters) if is_function(what) else ()
    for name in arguments:
        if name not in over:
            raise BadValue(f"{name} has no values; pass over={{{name!r}: [...]}}")
    return tuple(_axis(name, values, arguments) for name, values in over.items())


def is_function(what: object) -> TypeGuard[Callable[..., object]]:
    """Whether *what* makes networks of its arguments."""
    return inspect.isfunction(what) or inspect.ismethod(what)


def _axis(name: str, given: object, arguments: tuple[str, ...]) -> Axis:
    if isinstance(given, str) or not isinstance(given, (Sequence, Mapping)) or not len(given):
        raise BadValue(f"{name}: {given!r}; expected a list of one or more values")
    values = tuple(given.values()) if isinstance(given, Mapping) else tuple(given)
    kind = _kind(name, values, arguments)
    if kind == "actions":
        values = tuple(_actions(value) for value in values)
    labels = tuple(given) if isinstance(given, Mapping) else tuple(map(_label, values))
    if len(set(map(str, labels))) < len(labels):
        raise BadValue(f"{name}: two values have the same label; name them: {{'first': ..., 'other': ...}}")
    return Axis(name, kind, labels, values)


def _kind(name: str, values: Sequence[object], arguments: tuple[str, ...]) -> str:
    if name in arguments:
        return "argument"
    if "." in name:
        return "option"
    if name == EDITION:
        return "edition"
    if all(_actions(value) is not None for value in values):
        return "actions"
    if arguments:
        raise UnknownName.of("argument", name, arguments)
    raise BadValue(
        f"{name}: write BROKER/CONNECTOR.OPTION, such as A/linkToB.network_ttl, {EDITION!r}, "
        "or actions as values, such as mq.Crash('A', at='2s')"
    )


def _actions(value: object) -> tuple[Action, ...] | None:
    """Return a value as a tuple of actions, or None if it is none."""
    several = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    return several if all(isinstance(one, Action) for one in several) else None


def _label(value: object) -> bool | int | float | str | None:
    """Return what a row says of a value."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, tuple):
        return ", ".join(str(_label(one)) for one in value) or "none"
    if isinstance(value, AnyNetwork):
        return f"{counted(len(value.names), 'broker')}"
    if isinstance(value, Action):
        return _told(value)
    return str(value)


def _told(action: Action) -> str:
    """Return an action in short: its name, and what of it is not as usual."""
    own = [
        getattr(action, field.name) if field.default is MISSING else f"{field.name}={given}"
        for field in fields(action)
        if (given := getattr(action, field.name)) != field.default
        and (field.default_factory is MISSING or given != field.default_factory())
    ]
    return " ".join(map(str, [type(action).__name__, *own]))


def made(what: object, axes: Sequence[Axis], places: Sequence[int]) -> Scenario:
    """Return the scenario of one choice of the axes that make scenarios: arguments and actions."""
    chosen = [(axis, axis.values[place]) for axis, place in zip(axes, places, strict=True)]
    base = what
    if is_function(what):
        base = what(**{axis.name: value for axis, value in chosen if axis.kind == "argument"})
    scenario = _scenario(base)
    for axis, value in chosen:
        if axis.kind == "actions" and value:
            end = scenario.actions[len(scenario.doing) :]
            scenario = replace(scenario, actions=(*scenario.doing, *value, *end))
    return scenario


def _scenario(what: object) -> Scenario:
    if isinstance(what, tuple) and what:
        return scenario_of(what[0], *what[1:])
    return scenario_of(what)


def changed(scenario: Scenario, axis: Axis, value: object) -> Scenario:
    """Return a scenario with an option or its edition changed."""
    if axis.kind == "edition":
        return scenario.under(str(value))
    place, _, option = axis.name.rpartition(".")
    return scenario.change(place, **{products.option_name(scenario, option): value})
