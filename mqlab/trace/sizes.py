"""How many bytes crossed a network: events have no sizes, the actions that sent their messages say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.spec.action import Producer
from mqlab.spec.openmq.actions import Send
from mqlab.spec.steps import SMALLEST
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.trace.trace import Trace


def carried(trace: Trace) -> int | None:
    """Return how many bytes crossed links between brokers: the `size` of a message, each time that it did.

    None where a size is not known: a producer sends messages of several sizes, or no action sent them.
    """
    of, message = sizes_of(trace), trace.column("msg")
    sizes = [of.get(message[row]) for row in trace.rows(Kind.Forwarded)]
    return None if None in sizes else sum(filter(None, sizes))


def sizes_of(trace: Trace) -> dict[int, int | None]:
    """Return message -> its size in bytes, None where that is not known."""
    sizes, nodes = _sizes(trace), trace.names["node"]
    message, frm = trace.column("msg"), trace.column("frm")
    return {message[row]: sizes.get(nodes[frm[row]]) for row in trace.rows(Kind.Sent)}


def _sizes(trace: Trace) -> dict[str, int]:
    """Return producer -> size of its messages, of those that have one size; of Artemis, where it is written."""
    unsaid = SMALLEST if trace.product == "artemis" else None
    found: dict[str, set[int]] = {}
    for action in trace.actions:
        if isinstance(action, (Producer, Send)):
            name = action.name if isinstance(action, Producer) else action.producer
            found.setdefault(name, set()).add(action.size)
    told = {name: sizes.pop() for name, sizes in found.items() if len(sizes) == 1}
    return {name: size for name, size in told.items() if size != unsaid}
