"""What is delivered in vain: again, later, or to the dead-letter-address (Artemis rule 9.9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from mqlab.products.artemis.broker.broker import Broker, Refused
from mqlab.products.artemis.broker.message_sizes import ORIGINAL_ID, bytes_of
from mqlab.products.artemis.broker.messages import Journal, Message, MessageReference, Queue
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

ORIGINAL_ADDRESS, ORIGINAL_QUEUE = "_AMQ_ORIG_ADDRESS", "_AMQ_ORIG_QUEUE"  # properties of what was moved
MOST = 10  # times the redelivery-delay that it grows to where nobody says so


def sort_out(
    broker: Broker, queue: Queue, items: Iterable[MessageReference]
) -> tuple[list[MessageReference], list[MessageReference]]:
    """Return which messages have been delivered too often, and which not."""
    most = int(broker.lab.setting(broker, queue.address, "max_delivery_attempts"))
    dead: list[MessageReference] = []
    back: list[MessageReference] = []
    for item in items:
        (dead if 0 < most <= item.delivery_count else back).append(item)
    return dead, back


def delay(broker: Broker, queue: Queue, items: Sequence[MessageReference]) -> None:
    """Let messages of a session that was rolled back wait, the longer the more often they were delivered."""
    address, lab = queue.address, broker.lab
    first = int(broker.lab.setting(broker, address, "redelivery_delay"))
    if not first or not items:
        return
    most = broker.lab.setting(broker, address, "max_redelivery_delay")
    factor = float(broker.lab.setting(broker, address, "redelivery_delay_multiplier"))
    for item in items:
        times = max(0, item.delivery_count - 1)
        wait = min(int(first * factor**times), MOST * first if most is None else int(most)) * 1000
        queue.schedule(item, lab.clock.now + wait)
        lab.later(wait, lab.deliver)


def follow(kept: Journal | None, live: Journal) -> None:
    """Let what was kept of *live* know what has been written down of its messages since: they went back."""
    rows = {item.message.number: item.row for _, item in live.items()}
    for _, item in kept.items() if kept is not None else ():
        item.row = rows.get(item.message.number, item.row)


def persisted(broker: Broker, orderly: bool) -> Journal:
    """Return what outlives a broker; as it is stopped its sessions are rolled back, with all that they hold.

    That is in the journal: dead letters, and the redelivery-delay (`ServerSessionImpl.doClose` of 2.4.0).
    """
    live, kept = broker.journal, broker.journal.persisted(orderly)
    for name, queue in kept.queues.items() if orderly else ():
        held = {item.message.number for item in live.queues[name].held}
        dead, back = sort_out(broker, queue, [item for item in queue.waiting if item.message.number in held])
        delay(broker, queue, back)
        for item in dead:
            queue.waiting.remove(item)
            address = broker.lab.setting(broker, queue.address, "dead_letter_address")
            for there in [there for there in kept.queues.values() if there.address == address]:
                there.add(_copy(broker, queue, item.message, Destination("queue", address), item.row))
    if not orderly and broker.lab.paging.limits:
        broker.lab.paging.drop_lost_pages(broker, kept)
    return kept


def breaks_off(broker: Broker, queue: Queue, dead: Iterable[MessageReference]) -> bool:
    """Whether nothing of what was given back returns, as the first that is to be sent away breaks that off.

    With OFF, and a queue of the dead-letter-address at another broker only, no turn is ever its own: the thread
    ends in an error (`BindingsImpl.getNextBinding` and `RefsOperation.afterRollback` of 2.4.0).
    """
    address = str(broker.lab.setting(broker, queue.address, "dead_letter_address"))
    if broker.option("message_load_balancing") != "OFF" or address in broker.journal.queues:
        return False
    broken = broker.lab.balancing.is_bound(broker, address)
    for item in dead if broken else ():
        broker.lab.message(Kind.Held, item.message, broker, rule=Reason.no_subscription, cause=item.row)
    return broken


def move(broker: Broker, queue: Queue, item: MessageReference, kind: Kind, option: str, rule: Reason) -> None:
    """Send a message that ends in its queue to the address that an option names, if there is a queue.

    Where that refuses it, it stays in its queue, and is not delivered any more (Artemis rule 9.22).
    """
    lab, dest = broker.lab, item.message.dest
    address = broker.lab.setting(broker, dest.name, option)
    full = lab.paging.full(broker, str(address)) if address else None
    if full is not None and full.policy == "FAIL":
        _stay(broker, queue, item, Reason.address_full)
        return
    row = lab.message(kind, item.message, broker, rule=rule, cause=item.row)
    bound = lab.balancing.is_bound
    of_two = [Destination(name, str(address)) for name in ("queue", "topic")]  # its queues, its subscriptions
    found = [to for to in of_two if address and bound(broker, to.name, to.is_queue)]
    for to in found:
        gone = _copy(broker, queue, item.message, to, row)
        try:
            if not to.is_queue or address in broker.journal.queues:
                lab.balancing.route(broker, gone, rejects_duplicates=False)
            else:
                lab.balancing.deliver_to(broker, gone)
        except Refused:  # with OFF, and the address at another broker
            _stay(broker, queue, item, Reason.no_subscription)
    if not found:
        lab.message(Kind.Discarded, item.message, broker, rule=rule, cause=row)


def _copy(broker: Broker, queue: Queue, message: Message, to: Destination, row: int) -> Message:
    """Return a new message for an address, which says whence it comes.

    It keeps its properties. So one that had a delay is delayed once more, until now: it goes to the head
    (`QueueImpl.makeCopy` of 2.4.0; Artemis rule 9.9).
    """
    told = dict(message.properties)
    if ORIGINAL_ID not in told:
        told |= {ORIGINAL_ADDRESS: message.dest.name, ORIGINAL_QUEUE: queue.name, ORIGINAL_ID: message.number}
    due = broker.lab.clock.now if message.delayed else 0
    extra = message.extra + bytes_of(told) - bytes_of(message.properties)
    return replace(message, dest=to, row=row, dest_no=-1, due=due, expires=0, properties=told, extra=extra)


def _stay(broker: Broker, queue: Queue, item: MessageReference, rule: Reason) -> None:
    broker.lab.message(Kind.Held, item.message, broker, rule=rule, cause=item.row)
    queue.strand([item])
