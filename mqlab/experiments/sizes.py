"""How many bytes crossed a network: events have no sizes, the steps that sent their messages say them."""

from __future__ import annotations

from mqlab.spec.json_types import JsonObject
from mqlab.spec.openmq_words import SIZE
from mqlab.spec.steps import SMALLEST
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

USUAL = {"activemq": SMALLEST, "openmq": SIZE}  # bytes of a message in a step that does not say


def carried(trace: Trace) -> int | None:
    """Return how many bytes crossed lines between brokers: the `size` of a message, each time that one did.

    None where nobody can tell: a producer sends messages of several sizes, or no step is about it.
    """
    sizes, nodes = _sizes(trace.header), trace.names["node"]
    message, frm = trace.column("msg"), trace.column("frm")
    of = {message[row]: sizes.get(nodes[frm[row]]) for row in trace.rows(Kind.Sent)}
    total = 0
    for row in trace.rows(Kind.Forwarded):
        size = of.get(message[row])
        if size is None:
            return None
        total += size
    return total


def _sizes(header: JsonObject) -> dict[str, int]:
    """Return producer -> size of its messages, of those that have one size."""
    usual = USUAL.get(header.get("product", "activemq"))
    found: dict[str, set[int | None]] = {}
    for step in header.get("scenario", {}).get("steps", ()):
        name = step.get("producer", step.get("name"))
        if step["do"] == "send" and name is not None:
            found.setdefault(name, set()).add(step.get("size", usual))
    told = {name: sizes.pop() for name, sizes in found.items() if len(sizes) == 1}
    return {name: size for name, size in told.items() if size is not None}
