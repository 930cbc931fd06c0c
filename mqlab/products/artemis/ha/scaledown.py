"""Scale-down: a broker that ends in order hands its messages to another (AMQ Broker 7.1, 21.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.products.artemis.broker import duplicates, expiry
from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Journal, Message, MessageReference, Queue
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.site import Site

NO_MEMBER = 10_000_000  # us that a broker waits for a target of its group


def targets(lab: Site, broker: Broker) -> Iterator[Broker]:
    """Yield the brokers that may take over its messages, in the order in which they are tried.

    Until 2.5 a connector only leads into the cluster: whoever is live there may be the target, who has been so
    the longest first, whether a connector names it or not; with a group, its members. From 2.28 on those
    that connectors name come first, in their order, if there is no group.
    """
    policy = broker.spec.scale_down or {}
    names = [str(connector).removeprefix("to_") for connector in policy.get("connectors", ())]
    if "discovery_group_ref" in policy and not names:
        names = [name for name in lab.brokers if name != broker.name]
    # Without both, the first in-VM connector would be next: it leads into its own process.
    group = policy.get("group_name")
    lives = [live for live in lab.live_brokers() if live is not broker and broker.reaches(live)]
    named = [live for name in names for live in lives if live.name == name]
    lives.sort(key=lambda live: live.journal.since)
    if lab.rules.scales_down_to_connector and group is None:
        lives = list(dict.fromkeys((*named, *lives)))
    for other in lives if named else ():
        theirs = (other.spec.elements.get("scale_down") or {}).get("group_name")
        if group in (None, theirs):
            yield other


def waits(lab: Site, broker: Broker) -> bool:
    """Whether a broker that ends in order waits for a member of its group to appear."""
    policy = broker.spec.scale_down or {}
    lacking = _scales_down(broker) and next(targets(lab, broker), None) is None
    return lacking and "group_name" in policy and len(policy) > 1


def _scales_down(broker: Broker) -> bool:
    served = broker.served_journal is not None and broker.spec.role != "slave"
    return served and broker.spec.scales_down


def scale_down(lab: Site, broker: Broker) -> None:
    """Move everything to the first target that is there; without one it stays."""
    target = next(targets(lab, broker), None) if _scales_down(broker) else None
    if target is not None:
        for queue in broker.journal.queues.values():  # what subscribers have not read moves too
            queue.auto_delete = "never" if queue.auto_delete == "left" else queue.auto_delete
        for client in lab.clients.at(broker):
            client.on_disconnected(tried=False)
            client.node_id = ""  # it was pointed at the target, and does not find its way back either
        move(lab, broker, broker.journal, target)


def _on_moved(moved: tuple[Broker, Queue, Message, int]) -> None:
    """The target of a scale-down has a message: it comes as a client's would, for a queue that is named."""
    target, queue, message, row = moved
    lab = target.lab
    if target.served_journal is None or (lab.detects_duplicates and duplicates.drops(target, message)):
        return
    if lab.adjusts_expiry:
        expiry.adjust(target, message)
    lab.enqueue(target, queue, message, row)


def _on_ids(handed: tuple[Broker, Mapping[str, set[object]]]) -> None:
    """The target has the duplicate ids, behind the messages (`scaleDownDuplicateIDs` of 2.4.0)."""
    target, ids = handed
    for address, known in ids.items() if target.served_journal is not None else ():
        target.journal.ids.setdefault(address, set()).update(known)


def _in_order(queue: Queue, now: int) -> list[MessageReference]:
    """Return what waits in the order in which it is sent: what is delayed first, the latest of all.

    Each is put at the head, and keeps its time, also that of a redelivery-delay (`deliverScheduledMessages`).
    """
    due = queue.due(now)
    late = sorted((item for item in queue.waiting if item.due), key=lambda item: item.due)
    return [*reversed(late), *due]


def move(lab: Site, broker: Broker, data: Journal, target: Broker) -> None:
    """Append every queue's messages to the target's queues, and its prepared transactions.

    A queue that the target lacks is created without routing type, hence multicast: an anycast queue's
    messages find no way into it and are lost (Artemis rule 1.8), and so are later ones.
    """
    if target.served_journal is None:
        return
    for key, queue in data.queues.items():
        there, topic = target.served_journal.queues.get(key), queue.topic
        created = queue.waiting and (
            topic is not None or not lab.setting(broker, queue.name, "auto_delete_queues")
        )
        if there is None and created:
            there = lab.new_queue(target, queue.name, topic or queue.name, selector=queue.selector, key=key)
        fits = there is not None and (there.topic is None) == (topic is None)
        for item in _in_order(queue, lab.clock.now):
            if there is not None and fits:
                row = lab.notes.forwarded(item.message, broker, target, Reason.scale_down, item.row)
                late = replace(item.message, due=item.due, delayed=True) if item.due else item.message
                lab.line(broker, target).carry(_on_moved, (target, there, late, row), 0, item.message.size)
                lab.message(Kind.Acknowledged, item.message, broker, target.node, cause=row)
            else:
                lab.message(
                    Kind.Discarded,
                    item.message,
                    broker,
                    to=target.node,
                    rule=Reason.no_routing_type,
                    cause=item.row,
                )
        queue.waiting = []
    if data.ids:
        lab.line(broker, target).carry(_on_ids, (target, data.ids))
    for branch in data.prepared.values():
        for message in branch.work:
            message.routed, name = None, message.dest.name
            if message.dest.is_queue and name not in target.journal.queues:  # without routing type, too
                lab.new_queue(target, name, name)
    target.served_journal.branches |= data.prepared
    for pair, mail in data.store_and_forward.items():
        for stored in mail:
            stored.way = ()
        target.served_journal.store_and_forward.setdefault(pair, []).extend(mail)
    data.branches, data.store_and_forward = {}, {}
    lab.balancing.forward_stored()
