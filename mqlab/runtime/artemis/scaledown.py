"""Scale-down: a broker that ends in order hands its messages to another (AMQ Broker 7.1, 21.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.messages import Data
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab

NO_MEMBER = 10_000  # ms that a broker waits for a target of its group


def targets(lab: HaLab, broker: Broker) -> Iterator[Broker]:
    """Yield the brokers that may take over its messages, in the order in which they are tried."""
    policy = broker.server.scale_down or {}
    names = [str(connector).removeprefix("to_") for connector in policy.get("connectors", ())]
    if "discovery_group_ref" in policy and not names:
        names = [name for name in lab.brokers if name != broker.name]
    # Without both, the first in-VM connector would be next: it leads into its own process.
    group = policy.get("group_name")
    for other in (lab.brokers[name] for name in names):
        theirs = (other.server.elements.get("scale_down") or {}).get("group_name")
        if other.serves and broker.reaches(other) and group in (None, theirs):
            yield other


def scale_down(lab: HaLab, broker: Broker) -> None:
    """Move everything to the first target that is there; without one it stays."""
    policy, live = broker.server.scale_down, broker.live
    if (
        policy is None
        or live is None
        or not broker.server.scales_down
        or broker.server.role == "slave"
    ):
        return
    target = next(targets(lab, broker), None)
    if target is not None:
        for client in lab.clients.at(broker):
            client.dismissed(tried=False)
            client.pair = ""  # it was pointed at the target, and does not find its way back either
        move(lab, broker, live, target)
    elif "group_name" in policy and len(policy) > 1:
        lab.pass_time(NO_MEMBER)


def move(lab: HaLab, broker: Broker, data: Data, target: Broker) -> None:
    """Append every queue's messages to the target's queues, and its prepared transactions.

    A queue that the target lacks is created without routing type, hence multicast: an anycast queue's
    messages find no way into it and are lost (artemis-observed.md, section 1), and so are later ones.
    """
    if target.live is None:
        return
    for queue in data.queues.values():
        there = target.live.queues.get(queue.name)
        topic = queue.topic
        if there is None and queue.durable and (topic is not None or not lab.deletes_queues):
            there = lab.new_queue(target, queue.name, topic or queue.name, selector=queue.selector)
        fits = there is not None and (there.topic is None) == (topic is None)
        for item in queue.waiting:
            if there is not None and fits:
                row = lab.notes.forwarded(item.message, broker, target, Rule.scale_down, item.row)
                lab.enqueue(target, there, item.message, row)
            else:
                lab.message(Kind.Discarded, item.message, broker, to=target.node,
                            rule=Rule.scale_down, cause=item.row)  # fmt: skip
        queue.waiting = []
    target.live.prepared += data.prepared
    for pair, rows in data.mail.items():
        target.live.mail.setdefault(pair, []).extend(rows)
    data.prepared, data.mail = [], {}
    lab.balancing.bring_mail()
