"""Scale-down: a broker that ends in order hands its messages to another (AMQ Broker 7.1, 21.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.messages import Journal, Live
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab


def targets(lab: HaLab, broker: Broker) -> Iterator[Broker]:
    """Yield the brokers that may take over its messages, in the order in which they are tried."""
    policy = broker.server.scale_down or {}
    if "connectors" in policy:
        names = [str(connector).removeprefix("to_") for connector in policy["connectors"]]
    elif "discovery_group_ref" in policy:
        names = [name for name in lab.brokers if name != broker.name]
    else:
        names = []  # the first in-VM connector would be next: it leads into its own process
    group = policy.get("group_name")
    for name in names:
        other = lab.brokers[name]
        theirs = (other.server.scale_down or {}).get("group_name")
        if other.serves and lab.topology.reach(broker, other) and group in (None, theirs):
            yield other


def scale_down(lab: HaLab, broker: Broker) -> bool:
    """Move everything to the first target that is there; False if there is none."""
    policy = broker.server.scale_down
    if policy is None or policy.get("enabled") is False or broker.live is None:
        return False
    target = next(targets(lab, broker), None)
    if target is None or target.live is None:
        return False
    lab.clients.dismiss(broker, flagged=False)
    move(lab, broker, broker.live, target)
    return True


def scale_down_backup(lab: HaLab, slave: Broker, journal: Journal | None) -> None:
    """A hosted slave gives what it has copied to its own host, and ends (21.4.4)."""
    host = slave.host
    if host is not None and host.live is not None and journal is not None:
        move(lab, slave, Live(slave.pair, (), journal), host)
    lab.role(slave, "stopped")


def move(lab: HaLab, broker: Broker, live: Live, target: Broker) -> None:
    """Append every queue's messages to the target's queues, and its prepared transactions.

    A queue that the target lacks is created without routing type: an anycast queue's messages find
    no way into it and are lost (artemis-observed.md, section 1).
    """
    assert target.live is not None
    for queue in live.queues.values():
        there = target.live.queues.get(queue.name)
        missing = there is None
        if missing and queue.durable and (queue.topic or not lab.deletes_queues):
            there = lab.new_queue(target, queue.name, queue.topic, selector=queue.selector)
        for item in queue.items():
            if there is None or (missing and queue.topic is None):
                lab.message(Kind.Discarded, item.message, broker, to=target.node,
                            rule=Rule.scale_down, cause=item.row)  # fmt: skip
            else:
                row = lab.notes.forwarded(item.message, broker, target, Rule.scale_down, item.row)
                lab.enqueue(target, there, item.message, row)
        queue.waiting, queue.held = [], []
    target.live.prepared += live.prepared
    live.prepared = []
    lab.balancing.dispatch(target)
