"""With what flow control a consumer begins, by its client's limit and its destination's."""

from __future__ import annotations

from mqlab.products.openmq.broker.flow import SHARED, Flow
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.script.operation import ScriptStep
from mqlab.spec.action import Consumer
from mqlab.spec.openmq.options import OPTIONS

USUAL_LIMIT = int(str(OPTIONS["consumer"]["flow_limit"].default))  # messages that a client takes in advance
Opening = ScriptStep[Consumer]


def of_limited(broker: Broker, step: Opening) -> Flow:
    """Return that of a consumer of a queue or a subscription, by the smaller of the two limits."""
    instance, shared = broker.instances[step.dest], step.options.get("shared")
    limit = _limit(step, SHARED if shared else int(instance.option("ConsumerFlowLimit")))
    first = 1 if shared else Flow.share(limit, instance.room, len(broker.lab.listed))
    return Flow(limit, first, _of_client(step, "flow_threshold"), broker)


def of_plain(broker: Broker, step: Opening) -> Flow | None:
    """Return that of a topic's consumer without a subscription: homes send all, its client has its limit.

    None where that is the usual one, which hardly anything reaches (OpenMQ rule 2.3).
    """
    limit = _limit(step, int(broker.instances[step.dest].option("ConsumerFlowLimit")))
    return Flow(limit, 0, _of_client(step, "flow_threshold"), broker) if limit < USUAL_LIMIT else None


def _limit(step: Opening, most: int) -> int:
    own = _of_client(step, "flow_limit")
    return max(1, own if most < 0 else min(most, own))


def _of_client(step: Opening, name: str) -> int:
    return int(step.options.get(name, OPTIONS["consumer"][name].default))
