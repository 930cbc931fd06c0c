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


def of(broker: Broker, step: Opening, limited: bool) -> Flow | None:
    """Return that of a consumer by the smaller of the two limits; homes send all to one that is not *limited*.

    That is a topic's without a subscription: None for the usual limit, which hardly anything reaches.
    """
    limit = _limit(broker, step)
    if not limited and limit >= USUAL_LIMIT:
        return None
    first = _first(step, limit, broker.instances[step.dest]) if limited else 0
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


def _limit(broker: Broker, step: Opening) -> int:
    own = _of_client(step, "flow_limit")
    most = broker.instances[step.dest].flow_limit(bool(step.options.get("shared")))
    return max(1, own if most < 0 else min(most, own))


def _of_client(step: Opening, name: str) -> int:
    return int(step.options.get(name, OPTIONS["consumer"][name].default))
