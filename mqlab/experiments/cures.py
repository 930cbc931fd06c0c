"""What delivers messages that are stuck: single changes of an option, action or fault, found by trying them."""

from __future__ import annotations

from functools import partial
from itertools import chain, islice

from mqlab.errors import BadValue
from mqlab.experiments.changes import set_otherwise, taken_away
from mqlab.experiments.what_if import FEWEST, affordable, search
from mqlab.products import inputs
from mqlab.spec.change import Change
from mqlab.trace import questions
from mqlab.trace.trace import Trace


def cures(trace: Trace, broker: str, destination: str) -> tuple[tuple[Change, ...], int]:
    """Return the changes by which messages stuck in a queue of a broker are received, and how many were tried.

    After each, nothing is stuck there, consumers receive more, and no more are lost. Raises `BadValue` where
    nothing is stuck.

    >>> import mqlab as mq
    >>> print(cures(mq.run("article:stuck"), "A", "queue://TEST.FOO")[0][0])
    replayWhenNoConsumers for queue://TEST.FOO at every broker
    """
    if (broker, destination) not in stuck_at(trace):
        raise BadValue(f"no message is stuck at {broker} in {destination}")
    body = inputs.body_of(trace)
    candidates = chain(set_otherwise(body, destination), taken_away(body))
    tried = list(islice(candidates, max(FEWEST, affordable(trace))))
    before = len(trace.lost()), sum(trace.received().values())
    return search(trace, tried, partial(_delivers, (broker, destination), *before)), len(tried)


def _delivers(queue: tuple[str, str], lost: int, received: int, other: Trace) -> bool:
    if queue in stuck_at(other) or len(other.lost()) > lost:
        return False
    return sum(other.received().values()) > received


def stuck_at(trace: Trace) -> dict[tuple[str, str], int]:
    """Return broker and destination -> how many messages are stuck there."""
    nodes, dests = trace.names["node"], trace.names["dest"]
    return {
        (nodes[queue.broker], dests[queue.dest]): len(queue.messages) for queue in questions.stuck_queues(trace)
    }
