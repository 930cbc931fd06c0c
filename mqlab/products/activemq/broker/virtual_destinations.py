"""Virtual destinations: what arrives at one name is copied to destinations of other names.

A virtual topic ``VirtualTopic.X`` gives a copy to every queue ``Consumer.*.VirtualTopic.X``; a composite
queue or topic of the broker's configuration gives one to each name it forwards to whose selector takes it.
With `use_virtual_dest_subs` a consumer of such a queue is also demand for the name in front.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message
from mqlab.spec.values import Destination, overlap
from mqlab.spec.virtual_topic import VirtualTopic
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.broker.queue import Queue
    from mqlab.products.activemq.broker.topic import Topic


def is_virtual(broker: Broker, dest: Destination) -> bool:
    """Whether what arrives at *dest* has to be copied elsewhere."""
    if any(one.name == dest for one in broker.composites):
        return True
    return not dest.is_queue and not dest.is_advisory and any(_virtual(broker, dest))


def _virtual(broker: Broker, topic: Destination) -> Iterator[VirtualTopic]:
    """Yield the virtual topics that a topic is one of."""
    given = map(VirtualTopic.of, broker.spec.get("virtual_topics"))
    return (one for one in given if one.topics.takes(topic))


def intercept(broker: Broker, destination: Queue | Topic, message: Message) -> bool:
    """Copy *message* to the destinations behind; True if it goes nowhere else."""
    dest = destination.dest
    found = next((one for one in broker.composites if one.name == dest), None)
    if found is None:
        targets = [queue for topic in _virtual(broker, dest) for queue in _queues(broker, topic, dest, message)]
        only = False
    else:
        chosen = (message.headers, message.properties)
        targets = [to for to, selector in found.targets if selector is None or selector.selects(*chosen)]
        only = found.forward_only and not (found.send_when_not_matched and not targets)
    for target in targets:
        copy = message.copy()
        copy.dest, copy.dest_no = target, broker.lab.name_destination(target)
        broker.take_over(copy, broker.entry(broker.node), message.row)
    if only:  # its copies go on without it
        broker.record_message(Kind.Acknowledged, message, to=broker.node, cause=message.row)
    return only


def _queues(broker: Broker, topic: VirtualTopic, dest: Destination, message: Message) -> list[Destination]:
    """Return the queues behind a virtual topic that get a copy of *message*."""
    if topic.local and message.hops:
        return []
    pattern = topic.queues(dest.name)
    found = [queue for queue in broker.by_name if queue.is_queue and overlap(pattern, queue.name)]
    if topic.selector_aware:  # `SelectorAwareVirtualTopicInterceptor`: without consumers, too, it gets none
        found = [queue for queue in found if _selected(broker, queue, message)]
    return found


def _selected(broker: Broker, queue: Destination, message: Message) -> bool:
    """Whether a consumer of *queue* takes the message."""
    subs = (sub for sub in broker.subs if sub.dest.is_queue and broker.fits(sub.dest, queue))
    return any(not sub.refusal(message) for sub in subs)


def is_made(broker: Broker, pattern: Destination) -> bool:
    """Whether a consumer of *pattern* makes a queue of that very name, which gets what its virtual topics get.

    So it is if the pattern may stand for queues behind virtual topics (`VirtualTopic.create` of 5.17.2), in 5.5
    only where there is none of them yet.
    """
    if not (pattern.is_queue and pattern.has_wildcard) or len(pattern.elements()) > 1:
        return False
    given = map(VirtualTopic.of, broker.spec.get("virtual_topics"))
    if not any(_may_stand_behind(topic, pattern) for topic in given):
        return False
    return broker.lab.edition != "5.5" or not any(broker.fits(pattern, dest) for dest in broker.by_name)


def _may_stand_behind(topic: VirtualTopic, pattern: Destination) -> bool:
    """Whether a pattern begins as the queues of a virtual topic do (`PrefixDestinationFilter` of 5.17.2)."""
    wanted, given = topic.prefix.rstrip(".").split("."), pattern.segments
    fit = all("*" in (w, g) or w == g for w, g in zip(wanted, given, strict=False))
    return fit and len(given) >= len(wanted)


def sources(broker: Broker, dest: Destination) -> list[Destination]:
    """Return the names in front that a consumer of *dest* is demand for as well."""
    if not broker.spec.get("use_virtual_dest_subs") or not dest.is_queue:
        return []
    found = [one.name for one in broker.composites if any(to == dest for to, _ in one.targets)]
    for text in broker.spec.get("virtual_topics"):
        name = VirtualTopic.of(text).topic_of(dest.name)
        topic = Destination("topic", name) if name else None
        if topic is not None and topic not in found and not topic.is_advisory:
            found.append(topic)
    return found
