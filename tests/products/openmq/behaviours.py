"""What the checks of the numbered behaviours share."""

from __future__ import annotations

from collections import Counter

from mqlab.trace.kinds import Kind
from tests.products.activemq.behaviours import Behaviours

behaviour = Behaviours(42)


def crossed(played):
    """Return how many messages went over each link."""
    return Counter(event.link for event in played.events() if event.kind == Kind.Forwarded)


def owners(found, label="end", of="b1"):
    """Return what the living brokers say of a dead one."""
    states = found["snapshots"][label]["brokers"].values()
    return {state["cluster"][of] for state in states if of in state.get("cluster", {})}
