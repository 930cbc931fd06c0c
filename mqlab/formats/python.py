"""A network of ActiveMQ and what happens to it as Python code with nouns, which gives the same trace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from textwrap import indent

from mqlab.spec.action import Action
from mqlab.spec.network import (
    Around,
    Broker,
    Endpoint,
    Network,
    NetworkConnector,
    TransportConnector,
)
from mqlab.spec.option import DEFAULT_EDITION
from mqlab.spec.redelivery import Redelivery
from mqlab.spec.scenario import Scenario
from mqlab.spec.values import Destination

WIDTH = 92  # of a call on one line; a longer one has a line for each argument
_KINDS = {"queue": "mq.Queue", "topic": "mq.Topic"}
_IN_PLACE = ("other",)  # what is written without its name besides the first


def python(scenario: Scenario) -> str:
    """Return code that makes an equal scenario, under the name `scenario`.

    >>> from mqlab.spec import Crash
    >>> print(python(Scenario(Network(Broker("A")), (Crash("A", at="2s"),))))
    import mqlab as mq
    <BLANKLINE>
    net = mq.Network(mq.Broker("A"))
    scenario = mq.Scenario(
        net,
        (
            mq.Crash("A", at="2s"),
        ),
    )
    <BLANKLINE>
    """
    actions = "".join(f"    {written(action)},\n" for action in scenario.actions)
    more = [f"about={written(dict(scenario.about))}"] if scenario.about else []
    more += [f"pace={written(scenario.pace)}"] if scenario.pace != "rest" else []
    made = _in_lines("mq.Scenario", ["net", f"(\n{actions})" if actions else "()", *more])
    return f"import mqlab as mq\n\nnet = {written(scenario.network)}\nscenario = {made}\n"


def written(value: object) -> str:
    """Return a noun as the call that makes it, and of it only what was written; or a plain value.

    >>> from mqlab.spec import Consumer, Queue
    >>> written(Consumer("C", "B", Queue("Q"), prefetch=1))
    'mq.Consumer("C", on="B", reads=mq.Queue("Q"), prefetch=1)'
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{written(key)}: {written(it)}' for key, it in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(written, value))}{',' * (len(value) == 1)})"
    if isinstance(value, Destination):
        kind = _KINDS.get(value.kind)
        return f"{kind}({written(value.name)})" if kind else _plain(value)
    if isinstance(value, Action | Around | Endpoint | Redelivery):
        return _plain(value)
    return _element(value)


def _element(value: object) -> str:
    """Return a network or a part of it, or what is no noun."""
    if isinstance(value, Network):
        parts = [*map(written, value.brokers)]
        parts += [] if value.edition == DEFAULT_EDITION else [f"edition={written(value.edition)}"]
        parts += [] if value.around == Around() else [f"around={written(value.around)}"]
        return _call("mq.Network", parts)
    if isinstance(value, Broker):
        parts = [written(value.name), *map(written, value.connectors)]
        parts += [] if value.transport == TransportConnector() else [written(value.transport)]
        own = {"policies": value.policies, "composites": value.composites, "at": value.at}
        told = {name: it for name, it in own.items() if it not in ((), None)}
        return _call("mq.Broker", [*parts, *_named({**told, **value.options})])
    if isinstance(value, NetworkConnector):
        made = "mq.NetworkConnector" + ("" if value.judged else ".as_written")
        return _call(made, [written(value.name), *_named({"uri": value.uri, **value.options})])
    if isinstance(value, TransportConnector):
        return _call("mq.TransportConnector", [written(value.name), *_named(value.options)])
    return repr(value)


def _named(options: Mapping[str, object]) -> list[str]:
    return [f"{name}={written(value)}" for name, value in options.items()]


def _call(name: str, arguments: Iterable[str]) -> str:
    arguments = list(arguments)
    line = f"{name}({', '.join(arguments)})"
    return line if len(line) <= WIDTH and "\n" not in line else _in_lines(name, arguments)


def _in_lines(name: str, arguments: Iterable[str]) -> str:
    lines = "".join(f"{argument},\n" for argument in arguments)
    return f"{name}(\n{indent(lines, '    ')})"


def _plain(value: Action | Around | Endpoint | Redelivery | Destination) -> str:
    """Return a value without what it has by default; the time at which it happens comes last."""
    parts: list[str] = []
    for known in sorted(fields(value), key=lambda known: known.name == "at"):
        given = getattr(value, known.name)
        factory = known.default_factory
        default = known.default if factory is MISSING else factory()
        if default is not MISSING and given == default:
            continue
        in_place = (not parts and default is MISSING) or known.name in _IN_PLACE
        parts.append(written(given) if in_place else f"{known.name}={written(given)}")
    return f"mq.{type(value).__name__}({', '.join(parts)})"
