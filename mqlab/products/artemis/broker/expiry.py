"""Messages that expire: to the expiry-address, from a queue or from the buffer of a consumer.

Source: Artemis user manual, message expiry; played by 2.31.2 as it is here.
"""

from __future__ import annotations

from mqlab.products.artemis.broker import redelivery
from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Message, MessageReference, Queue
from mqlab.trace.kinds import Kind, Reason

OPTIONS = ("expiry_delay", "min_expiry_delay", "max_expiry_delay", "no_expiry")


def adjust(broker: Broker, message: Message) -> None:
    """Give a message that comes from a client the time-to-live that its address says."""
    lab, now = broker.lab, broker.lab.clock.now
    delay, least, most, none = (lab.setting(broker, message.dest.name, name) for name in OPTIONS)
    left = (message.expires - now) // 1000 if message.expires else None
    if none:
        message.expires = 0
    elif delay >= 0:
        left = delay if left is None else left
    elif left is None:
        left = most if most >= 0 else least if least >= 0 else None
    elif 0 <= most < left:
        left = most
    elif left < least:
        left = least
    if left is not None and not none:
        message.expires = now + left * 1000


def watch(broker: Broker, queue: Queue, item: MessageReference) -> None:
    """Look for a message at the first search for expired ones after its time."""
    lab, address = broker.lab, queue.address
    period = broker.spec.scan_period * 1000
    # In a queue of the expiry-address nothing is looked for (`QueueImpl.isExpirationRedundant` of 2.4.0).
    if period > 0 and lab.setting(broker, address, "expiry_address") != address:
        since, expires = broker.journal.since, item.message.expires
        at = since + max(1, -(-(expires - since) // period)) * period
        lab.soon(broker, max(0, at - lab.clock.now), _search, queue, item)


def _search(broker: Broker, queue: Queue, item: MessageReference) -> None:
    if broker.serves and item in queue.waiting:
        queue.remove(item)
        end(broker, queue, item)


def end(broker: Broker, queue: Queue, item: MessageReference) -> None:
    """A message has expired."""
    redelivery.move(broker, queue, item, Kind.Expired, "expiry_address", Reason.expired)
