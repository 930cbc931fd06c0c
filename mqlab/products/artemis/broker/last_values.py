"""Last-value queues: of messages with one last value only the latest waits, in the place of the first.

Source: Artemis user manual, last-value queues; `LastValueQueue` of 2.4.0.
"""

from __future__ import annotations

from collections.abc import Iterable

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Message, MessageReference, Queue
from mqlab.trace.kinds import Kind, Reason

LAST_VALUE = "_AMQ_LVQ_NAME"


def add(broker: Broker, queue: Queue, message: Message) -> MessageReference:
    """Let a message join a queue: at the tail, or instead of one that waits there with its last value."""
    now = broker.lab.clock.now
    old = _alike(broker, queue, message, queue.waiting) if message.due <= now else None
    if old is None:
        return queue.add(message)
    _discard(broker, old)
    old.message, old.place = message, queue.next_place()  # a journal that is read has it behind the others
    return old


def returned(broker: Broker, queue: Queue, items: list[MessageReference]) -> list[MessageReference]:
    """Return what of *items* comes back into a queue: without those of which a later one is there."""
    back: list[MessageReference] = []
    for item in reversed(items):
        if _alike(broker, queue, item.message, (*queue.waiting, *back)) is None:
            back.insert(0, item)
        else:
            _discard(broker, item)
    return back


def _alike(
    broker: Broker, queue: Queue, message: Message, items: Iterable[MessageReference]
) -> MessageReference | None:
    value = message.properties.get(LAST_VALUE)
    if value is None or not broker.lab.setting(broker, queue.address, "last_value_queue"):
        return None
    found = (item for item in items if not item.due and item.message.properties.get(LAST_VALUE) == value)
    return next(found, None)


def _discard(broker: Broker, item: MessageReference) -> None:
    broker.lab.message(Kind.Discarded, item.message, broker, rule=Reason.last_value, cause=item.row)
