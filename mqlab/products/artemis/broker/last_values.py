"""Last-value queues: of messages with one last value only the latest waits, in the place of the first.

A queue knows by value what the next message replaces: what joined it since its broker started, and was not
taken (Artemis rule 9.15). Source: Artemis user manual, last-value queues; `LastValueQueue` of 2.4.0.
"""

from __future__ import annotations

from itertools import groupby

from mqlab.engine.clock import NEVER
from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import LAST_VALUE, Message, MessageReference, Queue
from mqlab.trace.kinds import Kind, Reason


def add(broker: Broker, queue: Queue, message: Message) -> MessageReference:
    """Let a message join a queue: at the tail, or instead of one that waits there with its last value."""
    value = _value(broker, queue, message)
    if value is None or message.due > broker.lab.clock.now:  # one with a delay joins as that is over
        return queue.add(message)
    old = queue.latest.get(value)
    if old is None:
        queue.latest[value] = item = queue.add(message)
        return item
    if old.due == NEVER:
        queue.strand([item := MessageReference(message, queue.next_place())])
        return item
    _discard(broker, old)
    # A journal that is read has it behind the others.
    old.message, old.place, old.delivery_count = message, queue.next_place(), 0
    return old


def returned(broker: Broker, queue: Queue, items: list[MessageReference]) -> list[MessageReference]:
    """Return what of *items* comes back into a queue: without those of which a later one is there."""
    back: list[MessageReference] = []
    for item in reversed(items):
        value = _value(broker, queue, item.message)
        if value in queue.latest:
            _discard(broker, item)
            continue
        if value is not None:
            queue.latest[value] = item
        back.insert(0, item)
    return back


def fall_due(broker: Broker, queue: Queue) -> None:
    """What was delayed joins a queue now: it takes the place of one with its value, though that was sent later.

    Of those that fall due together the first stays. One that was given back with a redelivery-delay is there
    still: with itself its value is taken, and nobody is ever given what comes in its place
    (`LastValueQueue.replaceLVQMessage` of 2.4.0).
    """
    now = broker.lab.clock.now
    ready = sorted((item for item in queue.waiting if 0 < item.due <= now), key=lambda item: item.due)
    for _, together in groupby(ready, lambda item: item.due):
        for item in reversed([*together]):
            value = _value(broker, queue, item.message)
            old = queue.latest.get(value)
            if value is None:
                continue
            if old is None:
                queue.latest[value] = item
                continue
            _discard(broker, old)
            queue.scheduled -= 1
            queue.waiting.remove(item)
            old.message, old.place, old.delivery_count = item.message, item.place, item.delivery_count
            old.message.due = 0
            if old is item:  # given back, and delayed: it takes its own place, and is gone for good
                old.due = NEVER


def _value(broker: Broker, queue: Queue, message: Message) -> object:
    """Return the last value of a message; None if it has none, or its queue keeps all."""
    value = message.properties.get(LAST_VALUE)
    keeps = value is not None and broker.lab.setting(broker, queue.address, "last_value_queue")
    return value if keeps else None


def _discard(broker: Broker, item: MessageReference) -> None:
    broker.lab.message(Kind.Discarded, item.message, broker, rule=Reason.last_value, cause=item.row)
