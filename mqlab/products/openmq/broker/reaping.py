"""Auto-created destinations that nobody uses any more."""

from __future__ import annotations

from mqlab.products.openmq.broker.destinations import PhysicalDestination
from mqlab.products.openmq.broker.model import Broker
from mqlab.spec.values import Destination


def is_unused(broker: Broker, dest: Destination) -> bool:
    """Whether an auto-created destination has no messages, clients or subscriptions left."""
    instance = broker.instances[dest]
    return instance.created_by == "auto" and not (
        instance.messages
        or instance.leftovers
        or broker.consumers(dest)
        or broker.producers(dest)
        or broker.unused_durables(dest)
    )


def reap(instance: PhysicalDestination) -> None:
    """Remove an auto-created destination that nobody has used for long enough."""
    broker, dest, now = instance.broker, instance.dest, instance.broker.lab.clock.now
    if not broker.running or not is_unused(broker, dest):
        instance.idle_since = None
        return
    if instance.idle_since is None:
        instance.idle_since = now
        broker.lab.later(_after(broker))
    elif is_due_by(instance, now):
        broker.drop(dest)


def is_due_by(instance: PhysicalDestination, time: int) -> bool:
    """Whether a destination that nobody uses goes until then (us), if that stays so."""
    since = instance.idle_since
    return since is not None and time >= since + _after(instance.broker)


def _after(broker: Broker) -> int:
    return round(float(broker.option("imq.autocreate.reaptime", 120)) * 1_000_000)
