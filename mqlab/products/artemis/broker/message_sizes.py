"""How many bytes a message takes: of credits, on its way to a consumer, in the memory of its broker.

All of them are BytesMessages as those of the recordings, which have the property `number`. Source:
`TypedProperties` and `CoreMessage.getMemoryEstimate` of 2.4.0. Eleven kinds of messages filled addresses of
500,000 bytes in 2.4.0, and three in 2.5.0: each time as many went in as these numbers say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mqlab.spec.steps import GROUP

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.messages import Message
    from mqlab.spec.action import Producer

# Bytes beside its body, its address and its properties: of credits, on its way to a consumer, in memory.
SENT, ON_THE_WAY, IN_MEMORY = 222, 247, 826
REFERENCE = 64  # of those in memory: its place in a queue; each further queue takes as much
LARGE = 102_400  # a larger body is not in memory, but in a file of its own (`minLargeMessageSize`)
LARGE_HEADERS = 101  # what such a message takes beside its headers and properties
IN_PAGE = 267  # bytes of a page, for one queue, beside its body, its address (twice) and its properties
DELAY = 51  # bytes of the property of a delay, `_AMQ_SCHED_DELIVERY`, whose value takes 8
ORIGINAL_ID = "_AMQ_ORIG_MESSAGE_ID"  # a property of what was moved, whose value takes 8
_STORED_AS = {GROUP: "_AMQ_GROUP_ID"}


def bytes_of(properties: Mapping[str, object]) -> int:
    """Return how many bytes properties take, as `TypedProperties` encodes them.

    >>> bytes_of({"colour": "red"}), bytes_of({"weight": 1})
    (27, 21)
    """
    keys = sum(5 + 2 * len(_STORED_AS.get(key, key)) for key in properties)
    values = sum(4 + 2 * len(it) if isinstance(it, str) else 4 for it in properties.values())
    return keys + values + 4 * (ORIGINAL_ID in properties)


def in_memory(message: Message) -> int:
    """Return how many bytes a message takes in one queue: its properties lie there twice, encoded and read.

    Of a large one only headers and properties do (`LargeServerMessageImpl.getMemoryEstimate` of 2.4.0).
    """
    count = len(message.properties) + message.delayed
    if message.size > LARGE:
        return 2 * (SENT + 2 * len(message.dest.name) + message.extra) + LARGE_HEADERS
    return IN_MEMORY + 2 * len(message.dest.name) + message.size + 2 * message.extra + 8 * count


def in_page(message: Message) -> int:
    """Return how many bytes a message takes in a page, for one queue (`PagedMessageImpl.getEncodeSize`)."""
    return IN_PAGE + 4 * len(message.dest.name) + message.size + message.extra


def most(action: Producer) -> int:
    """Return how many bytes the largest message of an action takes at most in memory.

    A property may have a list of values, of which each message has one.
    """
    found = IN_MEMORY + 2 * len(str(action.to)) + action.size + 2 * DELAY + 8
    for key, value in action.properties.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        found += 8 + 2 * max((bytes_of({key: one}) for one in values), default=0)
    return found
