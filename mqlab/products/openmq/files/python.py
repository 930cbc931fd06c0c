"""An OpenMQ cluster and what happens to it as Python code with nouns, which gives the same trace."""

from __future__ import annotations

from mqlab.files.code import Code
from mqlab.spec.openmq import ClusterScenario, Member
from mqlab.spec.openmq_options import to_python

_CODE = Code("openmq")


def python(scenario: ClusterScenario) -> str:
    """Return code that makes an equal cluster, with the same actions, under the name `scenario`."""
    usual = {"master": None, "edition": "6.5"}
    told = {"model": scenario.model, "master": scenario.master, "edition": scenario.version}
    told = {name: value for name, value in told.items() if name not in usual or value != usual[name]}
    options = _CODE.named({**told, **to_python("broker", scenario.options)})
    parts = [*map(_broker, scenario.members), *options]
    lines = [f"    {written(action)}," for action in scenario.actions]
    head = ["from mqlab import openmq", "", f"cluster = openmq.Network({', '.join(parts)})"]
    return "\n".join([*head, "scenario = cluster.with_actions(", *lines, ")", ""])


def _broker(member: Member) -> str:
    options = _CODE.named(to_python("broker", member.options))
    options += ["listed=False"] if member.not_listed else []
    name = written(member.name)
    return f"openmq.Broker({', '.join([name, *options])})" if options else name


def written(value: object) -> str:
    """Return an action or a destination as the call that makes it.

    >>> from mqlab import openmq
    >>> written(openmq.Consumer("C", "b1", openmq.Queue("Q"), durable=True))
    'openmq.Consumer("C", on="b1", reads=openmq.Queue("Q"), durable=True)'
    """
    return _CODE.written(value)
