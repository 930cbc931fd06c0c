"""What is delivered in vain: again, later, or to the dead-letter-address (Artemis rule 9.9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import MessageReference, Queue
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

MOST = 10  # times the redelivery-delay that it grows to where nobody says so


def _setting(broker: Broker, address: str, key: str) -> Any:
    return broker.lab.network.setting(broker.spec, address, key)


def sort_out(
    broker: Broker, queue: Queue, items: Iterable[MessageReference]
) -> tuple[list[MessageReference], list[MessageReference]]:
    """Return which messages have been delivered too often, and which not."""
    most = int(_setting(broker, queue.topic or queue.name, "max_delivery_attempts"))
    dead: list[MessageReference] = []
    back: list[MessageReference] = []
    for item in items:
        (dead if 0 < most <= item.delivery_count else back).append(item)
    return dead, back


def delay(broker: Broker, queue: Queue, items: Sequence[MessageReference]) -> None:
    """Let messages of a session that was rolled back wait, the longer the more often they were delivered."""
    address, lab = queue.topic or queue.name, broker.lab
    first = int(_setting(broker, address, "redelivery_delay"))
    if not first or not items:
        return
    most = _setting(broker, address, "max_redelivery_delay")
    factor = float(_setting(broker, address, "redelivery_delay_multiplier"))
    for item in items:
        times = max(0, item.delivery_count - 1)
        wait = min(int(first * factor**times), MOST * first if most is None else int(most)) * 1000
        queue.schedule(item, lab.clock.now + wait)
        lab.later(wait, lab.deliver)


def bury(broker: Broker, item: MessageReference) -> None:
    """Send a message that was delivered too often to the dead-letter-address, if there is a queue."""
    lab, dest = broker.lab, item.message.dest
    address = _setting(broker, dest.name, "dead_letter_address")
    row = lab.message(Kind.DeadLettered, item.message, broker, rule=Reason.delivered_too_often, cause=item.row)
    if address and lab.balancing.is_bound(broker, str(address)):
        dead = replace(item.message, dest=Destination("queue", str(address)), row=row, dest_no=-1, due=0)
        lab.balancing.route(broker, dead)
    else:
        lab.message(Kind.Discarded, item.message, broker, rule=Reason.delivered_too_often, cause=row)
