"""With what flow control a consumer begins, by its client's limit and its destination's."""

from __future__ import annotations

from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.flow import Credit, Flow
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client.state import Consumer
from mqlab.products.openmq.script.operation import ScriptStep
from mqlab.spec import action as a
from mqlab.spec.openmq.options import OPTIONS

USUAL_LIMIT = int(str(OPTIONS["consumer"]["flow_limit"].default))  # messages that a client takes in advance
Opening = ScriptStep[a.Consumer]


def of_limited(broker: Broker, step: Opening) -> Flow:
    """Return that of a consumer of a queue or a subscription, by the smaller of the two limits."""
    limit = _limit(broker, step)
    first = _first(step, limit, broker.instances[step.dest])
    return Flow(limit, first, _of_client(step, "flow_threshold"), broker)


def _first(step: Opening, limit: int, instance: PhysicalDestination) -> int:
    if step.options.get("shared"):
        return 1
    return Flow.share(limit, instance.room, len(instance.broker.lab.listed))


def begin(consumer: Consumer, home: Broker) -> None:
    """Another broker hears of a consumer: it begins with a share of what the client answered last."""
    flow, instance = consumer.flow, consumer.at.instances.get(consumer.home)
    if flow is not None and flow.first and instance is not None:
        flow.homes[home] = Credit(_first(consumer.step, flow.own.size, instance))


def of_plain(broker: Broker, step: Opening) -> Flow | None:
    """Return that of a topic's consumer without a subscription: homes send all, its client has its limit.

    None where that is the usual one, which hardly anything reaches (OpenMQ rule 2.3).
    """
    limit = _limit(broker, step)
    return Flow(limit, 0, _of_client(step, "flow_threshold"), broker) if limit < USUAL_LIMIT else None


def _limit(broker: Broker, step: Opening) -> int:
    own = _of_client(step, "flow_limit")
    most = broker.instances[step.dest].flow_limit(bool(step.options.get("shared")))
    return max(1, own if most < 0 else min(most, own))


def _of_client(step: Opening, name: str) -> int:
    return int(step.options.get(name, OPTIONS["consumer"][name].default))
