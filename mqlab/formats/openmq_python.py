"""An OpenMQ cluster and what happens to it as Python code with nouns, which gives the same trace."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields

from mqlab.spec.action import Action
from mqlab.spec.openmq import ClusterScenario, Member
from mqlab.spec.openmq_options import to_python
from mqlab.spec.values import Destination

KINDS = {"queue": "Queue", "topic": "Topic"}


def python(scenario: ClusterScenario) -> str:
    """Return code that makes an equal cluster, with the same actions, under the name `scenario`."""
    parts = [_broker(member) for member in scenario.members]
    parts.append(f"model={scenario.model!r}")
    if scenario.master is not None:
        parts.append(f"master={scenario.master!r}")
    if scenario.version != "6.5":
        parts.append(f"edition={scenario.version!r}")
    parts += [f"{name}={value!r}" for name, value in to_python("broker", scenario.options).items()]
    lines = [f"    {written(action)}," for action in scenario.actions]
    head = ["from mqlab import openmq", "", f"cluster = openmq.Network({', '.join(parts)})"]
    return "\n".join([*head, "scenario = cluster.with_actions(", *lines, ")", ""])


def _broker(member: Member) -> str:
    options = [f"{name}={value!r}" for name, value in to_python("broker", member.options).items()]
    options += ["listed=False"] if member.not_listed else []
    return (
        f"openmq.Broker({', '.join([repr(member.name), *options])})"
        if options
        else repr(member.name)
    )


def written(value: object) -> str:
    """Return an action or a destination as the call that makes it.

    >>> from mqlab import openmq
    >>> written(openmq.Consumer("C", "b1", openmq.Queue("Q"), durable=True))
    "openmq.Consumer('C', on='b1', reads=openmq.Queue('Q'), durable=True)"
    """
    if isinstance(value, Destination):
        if value.kind in KINDS:
            return f"openmq.{KINDS[value.kind]}({value.name!r})"
        return f"openmq.Destination({value.kind!r}, {value.name!r})"
    if not isinstance(value, Action):
        return repr(value)
    parts: list[str] = []
    for known in fields(value):
        given = getattr(value, known.name)
        if _is_needed(known):
            parts.append(written(given) if not parts else f"{known.name}={written(given)}")
        elif given != _default(known):
            parts.append(f"{known.name}={written(given)}")
    return f"openmq.{type(value).__name__}({', '.join(parts)})"


def _is_needed(known: Field[object]) -> bool:
    return known.default is MISSING and known.default_factory is MISSING


def _default(known: Field[object]) -> object:
    return known.default if known.default_factory is MISSING else known.default_factory()
