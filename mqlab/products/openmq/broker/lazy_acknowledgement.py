"""Sessions that may see duplicates (dups_ok): they acknowledge several messages at once, and wait for none."""

from __future__ import annotations

from mqlab.products.openmq.broker import acknowledgement
from mqlab.products.openmq.broker.messages import Delivery
from mqlab.products.openmq.client.state import Consumer

DUPS_LIMIT = 10  # messages that a session takes until it acknowledges them
DUPS_WAIT = 7_000_000  # us


def take_lazily(consumer: Consumer) -> None:
    """A session that may see duplicates acknowledges with the tenth message, or one taken 7 s after the first.

    So it does when nothing has come to its client for 7 s, and every 7 s after that (OpenMQ rule 5.7).
    """
    now, many = consumer.home.lab.clock.now, len(consumer.taken)
    consumer.acknowledges_at = now + DUPS_WAIT if many == 1 else consumer.acknowledges_at
    if many == DUPS_LIMIT or now >= consumer.acknowledges_at:
        on_dups(consumer)
    on_dups_due(consumer)


def on_dups_due(consumer: Consumer) -> None:
    """Acknowledge if nothing has come for long enough, else look again then."""
    lab = consumer.home.lab
    past = lab.clock.now - consumer.reached
    if past and not past % DUPS_WAIT:
        on_dups(consumer)
    elif consumer.taken:
        lab.later_at(DUPS_WAIT - past % DUPS_WAIT, consumer.at, on_dups_due, consumer)


def on_dups(consumer: Consumer) -> None:
    """A session that may see duplicates acknowledges what it has taken.

    It waits for no answer: a home that is silent hears of it later, one that is away does not.
    """
    if consumer.cut_off:
        return
    linked = consumer.home.linked
    unheard = [
        c
        for c in consumer.taken
        if not linked(c.message.home) or acknowledgement.is_silent(consumer, c.message.home)
    ]
    acknowledgement.acknowledge(consumer, [claim for claim in consumer.taken if claim not in unheard])
    consumer.taken = [claim for claim in unheard if not linked(claim.message.home)]
    for claim in unheard:
        finish_at_home(consumer, claim)


def finish_at_home(consumer: Consumer, claim: Delivery) -> None:
    """A home hears that a message is done with, at once or when it is silent no more; here it is gone."""
    message, here = claim.message, consumer.home
    away = not here.linked(message.home)
    if away or acknowledgement.is_silent(consumer, message.home):
        here.lab.late += [] if away else [(consumer, claim)]
        claim.arrived = False
        acknowledgement.leave_copy(claim)
    elif claim in message.claims:
        acknowledgement.finish(claim)
