"""What the brokers' destinations hold: whether a message is taken, for whom, and why it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.openmq import delivery
from mqlab.runtime.openmq.broker import Broker
from mqlab.runtime.openmq.messages import (
    BLOCKED,
    DEAD,
    OK,
    OVERHEAD,
    REFUSED,
    Consumer,
    Instance,
    Message,
    Target,
    selects,
)  # fmt: skip
from mqlab.spec.selector import Selector
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


def offer(broker: Broker, message: Message, producer: int) -> str:
    """Let a producer send a message; "blocked" if it has to wait.

    What is not persistent is dropped silently where another would be refused.
    """
    lab, instance = broker.lab, broker.instances.get(message.dest)
    way = {"frm": producer, "to": broker.node}
    refused = instance is None or instance.limits("MaxBytesPerMsg", message.size + OVERHEAD)
    full, dropped = False, Rule.none
    if instance is not None and not refused:
        if instance.paused or (lab.store_down and message.persistent):
            return BLOCKED
        message.targets = targets(broker, message)
        full = bool(message.targets) and _is_full(instance, message)
        behaviour = instance.option("LimitBehavior")
        if full and behaviour == "FLOW_CONTROL":
            return BLOCKED
        refused = full and behaviour == "REJECT_NEWEST" and message.persistent
        if not message.targets:
            dropped = Rule.no_consumer
        elif full and behaviour == "REJECT_NEWEST":
            dropped = Rule.limit_reached
    if instance is None or refused:
        lab.notes.message(Kind.Failed, message, broker, rule=Rule.limit_reached, **way)
        return REFUSED
    message.row = lab.notes.message(Kind.Sent, message, broker, **way)
    if dropped:
        lab.notes.message(Kind.Discarded, message, broker, rule=dropped, cause=message.row)
        return OK
    if full:
        _make_room(broker, instance)
    instance.messages.append(message)
    message.row = lab.notes.message(Kind.Enqueued, message, broker, cause=message.row, **way)
    return OK


def _is_full(instance: Instance, message: Message) -> bool:
    weight = sum(m.size + OVERHEAD for m in (*instance.messages, message))
    return instance.limits("MaxNumMsgs", len(instance.messages) + 1) or instance.limits(
        "MaxTotalMsgBytes", weight
    )


def _make_room(broker: Broker, instance: Instance) -> None:
    """Remove the oldest, or the oldest of the least important."""
    low = instance.option("LimitBehavior") == "REMOVE_LOW_PRIORITY"
    free = [m for m in instance.messages if not any(t.taker for t in m.targets)]
    if free:
        victim = min(free, key=lambda m: (m.priority if low else 0, m.number))
        bury(broker, victim, Rule.limit_reached)


def bury(broker: Broker, message: Message, rule: int) -> None:
    """Move a message to the dead messages of its broker, if its destination uses them."""
    lab, instance = broker.lab, broker.instances[message.dest]
    instance.messages.remove(message)
    if not instance.option("UseDMQ"):
        discard(lab, message, rule)
        return
    row = lab.notes.message(Kind.DeadLettered, message, broker, rule=rule, cause=message.row)
    message.dest, message.targets = DEAD, [Target()]
    message.row = lab.notes.message(Kind.Enqueued, message, broker, frm=broker.node,
                                    to=broker.node, cause=row)  # fmt: skip
    broker.add(DEAD, "auto").messages.append(message)


def on_expired(what: tuple[ClusterLab, Message]) -> None:
    """A message's time to live is over: it is dead, unless somebody has it in hands."""
    lab, message = what
    broker = lab.brokers[message.home]
    instance = broker.instances.get(message.dest)
    in_hands = any(target.taker for target in message.targets)
    if instance and message in instance.messages and message.dest != DEAD and not in_hands:
        bury(broker, message, Rule.expired)


def targets(broker: Broker, message: Message) -> list[Target]:
    """Say for whom a message is; a topic's is for each subscription that selects it."""
    if message.dest.is_queue:
        return [Target()]
    keys = {c.key: None for c in broker.consumers(message.dest) if c.wants(message)}
    for durable in broker.durables.values():
        text = durable.selector
        if durable.dest == message.dest and (text is None or selects(Selector(text), message)):
            keys[durable.key] = None
    return [Target(key) for key in keys]


def discard(lab: ClusterLab, message: Message, rule: int) -> None:
    """Note that a message is gone which its destination does not hold any more, and its copies."""
    message.targets.clear()
    delivery.drop_copies(lab, message, Kind.Discarded, rule)
    lab.notes.message(Kind.Discarded, message, lab.brokers[message.home], rule=rule,
                      cause=message.row)  # fmt: skip


# Why it waits


def note_waiting(lab: ClusterLab) -> None:
    """Note of each message that nobody can take now why it waits, once for each reason."""
    for broker in lab.brokers.values():
        for dest, instance in broker.instances.items() if broker.running else ():
            takers = broker.active(dest)
            for message in instance.messages:
                rule = _why_it_waits(instance, message, takers)
                if rule not in (Rule.none, message.waits):
                    message.waits = rule
                    lab.notes.message(Kind.Held, message, broker, rule=rule, cause=message.row)


def _why_it_waits(instance: Instance, message: Message, takers: list[Consumer]) -> Rule:
    free = [target for target in message.targets if target.taker is None]
    if not free or message.transaction is not None:
        return Rule.none
    if instance.paused:
        return Rule.paused
    if message.dest == DEAD or (message.dest.is_queue and not takers):
        return Rule.no_consumer
    if message.dest.is_queue:
        wanted = any(c.wants(message) for c in takers)
        return Rule.buffers_full if wanted else Rule.selected_by_none
    mine = any(c.key == target.key for c in takers for target in free)
    return Rule.buffers_full if mine else Rule.durable
