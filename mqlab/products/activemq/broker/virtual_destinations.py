"""Virtual destinations: what arrives at one name is copied to queues of other names.

A virtual topic ``VirtualTopic.X`` gives a copy to every queue ``Consumer.*.VirtualTopic.X``; a
composite queue of the broker's configuration gives one to each name it forwards to. With
`use_virtual_dest_subs` a consumer of such a queue is also demand for the name in front.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker import advisory
from mqlab.products.activemq.broker.message import Message
from mqlab.spec.json_types import JsonObject
from mqlab.spec.values import Destination, matches
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.broker.queue import Queue
    from mqlab.products.activemq.broker.topic import Topic


def is_virtual(broker: Broker, dest: Destination) -> bool:
    """Whether what arrives at *dest* has to be copied elsewhere."""
    if dest.is_queue:
        return composite(broker, dest) is not None
    return any(
        topic.takes(dest) for topic in map(Destination.parse, broker.spec.get("virtual_topics"))
    ) and not advisory.is_about(dest)


def composite(broker: Broker, dest: Destination) -> JsonObject | None:
    """Return the broker's composite queue of that name."""
    return next((c for c in broker.spec.composites if c["name"] == dest.name), None)


def intercept(broker: Broker, destination: Queue | Topic, message: Message) -> bool:
    """Copy *message* to the queues behind; True if it goes nowhere else."""
    dest = destination.dest
    found = composite(broker, dest) if dest.is_queue else None
    if found is not None:
        targets = [Destination.parse(text) for text in found["forward_to"]]
    else:
        pattern = f"Consumer.*.{dest.name}"
        targets = [d for d in broker.by_name if d.is_queue and matches(pattern, d.name)]
        targets += [queue for queue in _wanted(broker, dest) if queue not in targets]
    for target in targets:
        copy = message.copy()
        copy.dest, copy.dest_no = target, broker.lab.name_destination(target)
        broker.take_over(copy, broker.entry(broker.node), message.row)
    only = found is not None and bool(found.get("forward_only", True))
    if only:  # its copies go on without it
        broker.record_message(Kind.Acknowledged, message, to=broker.node, cause=message.row)
    return only


def _wanted(broker: Broker, topic: Destination) -> list[Destination]:
    """Return the queues behind *topic* that only consumers with a wildcard ask for."""
    found = []
    for sub in broker.subs:
        parts = sub.dest.segments
        if sub.dest.is_queue and sub.dest.has_wildcard and parts[0] == "Consumer":
            queue = Destination("queue", f"Consumer.{parts[1]}.{topic.name}")
            if parts[1] not in ("*", ">") and broker.fits(sub.dest, queue):
                found.append(queue)
    return list(dict.fromkeys(found))


def sources(broker: Broker, dest: Destination) -> list[Destination]:
    """Return the names in front that a consumer of *dest* is demand for as well."""
    if not broker.spec.get("use_virtual_dest_subs") or not dest.is_queue:
        return []
    found = [Destination("queue", c["name"]) for c in broker.spec.composites if str(dest) in c["forward_to"]]
    _, _, rest = dest.name.removeprefix("Consumer.").partition(".")
    if dest.name.startswith("Consumer.") and rest:
        topic = Destination("topic", rest)
        found += [topic] if is_virtual(broker, topic) else []
    return found
