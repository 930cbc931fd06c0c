"""An Artemis scenario as the Python code that a user would write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields

from mqlab.spec.action import Action
from mqlab.spec.artemis import HaScenario
from mqlab.spec.artemis.broker import AddressQueue, Broker
from mqlab.spec.artemis.words import actions_of
from mqlab.spec.values import Destination


def python(scenario: HaScenario) -> str:
    """Return code that makes the same `scenario`, in the words of `mqlab.artemis`."""
    more = {
        "version": scenario.version,
        "queues": scenario.queues,
        "clients": scenario.clients,
        "about": scenario.about,
        **scenario.cluster,
        **scenario.addresses,
    }
    options = [
        f"{name}={_value(value)}"
        for name, value in more.items()
        if value is not None and value not in ({}, ())
    ]
    network = _call("artemis.Network", [*map(_value, scenario.brokers), *options])
    actions = _call("net.with_actions", [_value(action) for action in actions_of(scenario.steps)])
    return f"from mqlab import artemis\n\nnet = {network}\nscenario = {actions}\n"


def _call(name: str, arguments: list[str]) -> str:
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return f"{name}(\n{lines})" if lines else f"{name}()"


def _value(value: object) -> str:
    if isinstance(value, Destination):
        return f"artemis.{'Queue' if value.is_queue else 'Topic'}({_value(value.name)})"
    if isinstance(value, Broker):
        kind = [] if value.policy == "live_only" else [value.policy, value.role]
        written = [f"{name}={_value(it)}" for name, it in value.options.items()]
        return f"artemis.Broker({', '.join([*map(_value, [value.name, *kind]), *written])})"
    if isinstance(value, Action | AddressQueue):
        return f"artemis.{type(value).__name__}({', '.join(_arguments(value))})"
    if isinstance(value, tuple):
        return f"({', '.join(map(_value, value))}{',' * (len(value) == 1)})"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_value(key)}: {_value(it)}' for key, it in value.items())}}}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _arguments(value: Action | AddressQueue) -> list[str]:
    """Return what is written of a value: not what it has by default; from `on` on with names."""
    found: list[str] = []
    places = True  # as long as no field before was left out
    for field in sorted(fields(value), key=lambda field: bool(field.kw_only)):
        given = getattr(value, field.name)
        places = places and field.name != "on"
        made = field.default_factory() if field.default_factory is not MISSING else field.default
        if made is not MISSING and bool(given == made):
            places = False
        else:
            found.append(("" if places and not field.kw_only else f"{field.name}=") + _value(given))
    return found
