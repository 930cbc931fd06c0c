"""Replay when there are no consumers: a message may go back to where it came from.

A destination policy with `replay_when_no_consumers` lets the bridges of a broker send a queue's
message back to a broker it has visited, whatever its hops, as long as the queue has no consumer of
the broker's own; one of those, even a full one, stops it (article, "Stuck messages";
ActiveMQ rule 1.13).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.message import Message

if TYPE_CHECKING:
    from mqlab.products.activemq.network.demand_subscription import DemandSubscription


def replays(demand: DemandSubscription, message: Message) -> bool:
    """Whether *message* may leave by *demand* for a broker it has been at."""
    broker = demand.broker
    if not message.dest.is_queue:
        return False
    policy = broker.policy_for(message.dest)
    if not policy["replay_when_no_consumers"]:
        return False
    aware = policy["replay_selector_aware"]
    for sub in broker.destinations[message.dest_no].subs:
        if not sub.network and not sub.info.browser and not (aware and sub.refusal(message)):
            return False
    delay = policy["replay_delay_ms"]
    if delay and broker.lab.clock.now < message.arrived + delay * 1000:  # nothing wakes its queue then
        return False
    return not policy["replay_rate_limit"] or _in_rate(
        demand, message, policy["replay_rate_limit"], policy["replay_rate_duration_ms"] * 1000
    )


def _in_rate(demand: DemandSubscription, message: Message, limit: int, window: int) -> bool:
    """Whether fewer than *limit* messages went in this window (us); if not, it is offered later."""
    now = demand.broker.clock.now
    begun, count = demand.replayed
    if now >= begun + window:
        begun, count = now, 0
    if count >= limit:
        demand.broker.clock.schedule(begun + window, demand.broker.on_due, message)
        return False
    demand.replayed = (begun, count + 1)
    return True
