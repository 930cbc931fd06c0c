"""How many bytes crossed a network: events have no sizes, the actions that sent their messages say them."""

from __future__ import annotations

from mqlab.spec.action import Producer
from mqlab.spec.openmq_actions import Send
from mqlab.spec.steps import SMALLEST
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace


def carried(trace: Trace) -> int | None:
    """Return how many bytes crossed lines between brokers: the `size` of a message, each time that one did.

    None where nobody can tell: a producer sends messages of several sizes, or no action is about it.
    """
    sizes, nodes = _sizes(trace), trace.names["node"]
    message, frm = trace.column("msg"), trace.column("frm")
    of = {message[row]: sizes.get(nodes[frm[row]]) for row in trace.rows(Kind.Sent)}
    total = 0
    for row in trace.rows(Kind.Forwarded):
        size = of.get(message[row])
        if size is None:
            return None
        total += size
    return total


def _sizes(trace: Trace) -> dict[str, int]:
    """Return producer -> size of its messages, of those that have one size; of Artemis, where it is written."""
    unsaid = SMALLEST if trace.header.get("product") == "artemis" else None
    found: dict[str, set[int]] = {}
    for action in trace.actions:
        if isinstance(action, (Producer, Send)):
            name = action.name if isinstance(action, Producer) else action.producer
            found.setdefault(name, set()).add(action.size)
    told = {name: sizes.pop() for name, sizes in found.items() if len(sizes) == 1}
    return {name: size for name, size in told.items() if size != unsaid}
