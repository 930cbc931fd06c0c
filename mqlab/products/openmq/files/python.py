"""An OpenMQ cluster and what happens to it as Python code with nouns, which gives the same trace."""

from __future__ import annotations

from mqlab.files.code import Code, call
from mqlab.spec.openmq import Member, OpenMQNetwork
from mqlab.spec.openmq.options import to_python
from mqlab.spec.scenario import Scenario

_CODE = Code("openmq")


def python(scenario: Scenario) -> str:
    """Return code that makes an equal scenario, under the name `scenario`."""
    network: OpenMQNetwork = scenario.network
    usual = {"master": None, "edition": "6.5"}
    told = {"model": network.model, "master": network.master, "edition": network.edition}
    told = {name: value for name, value in told.items() if name not in usual or value != usual[name]}
    options = _CODE.named({**told, **to_python("broker", network.options)})
    return _CODE.scenario(call("openmq.Network", [*map(_broker, network.brokers), *options]), scenario)


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
