"""Replay when there are no consumers: a message may go back to where it came from.

A destination policy with `replay_when_no_consumers` lets the bridges of a broker send a queue's
message back to a broker it has visited, whatever its hops, as long as the queue has no consumer of
the broker's own; one of those, even a full one, stops it (article, "Stuck messages";
activemq-5.17-observed.md, rule 13).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.message import Message

if TYPE_CHECKING:
    from mqlab.runtime.broker import Broker


def replays(broker: Broker, message: Message) -> bool:
    """Whether *message* may leave *broker* for a broker it has been at."""
    if not broker.spec.policies or not message.dest.is_queue:
        return False
    if not broker.policy(message.dest, "replay_when_no_consumers"):
        return False
    queue = broker.destinations[message.dest_no]
    if any(not sub.network for sub in queue.subs):
        return False
    delay = broker.policy(message.dest, "replay_delay_ms")
    return not delay or broker.old_enough(message, int(delay) * 1000)
