"""What a transaction does at its broker when it is committed (`CursorAddSync` of `Queue`, 5.17.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.products.activemq.transport.openwire import Send, StandardAck

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.transport.transport_connection import TransportConnection
    from mqlab.spec.values import Destination

Work = Send | StandardAck


def commit(connection: TransportConnection, work: Iterable[Work]) -> None:
    """Let the work of a transaction take effect; what its broker has had already is left out."""
    broker = connection.process.broker
    accepted = [one for one in work if isinstance(one, StandardAck) or connection.accepts(one)]
    ordered = _in_order(broker, accepted)
    for one in _by_priority(broker, ordered) if broker.spec.policies else ordered:
        if isinstance(one, StandardAck):
            connection.settle(one)
        else:
            broker.take_over_each(one.message, broker.entry(one.node), one.row)


def _in_order(broker: Broker, work: list[Work]) -> list[Work]:
    """Return the work of a transaction in the order in which it takes effect.

    With the first persistent message of a queue all others of the transaction enter that queue
    (`doPendingCursorAdditions`; ActiveMQ rule 11.16); what is sent to several is sent to each.
    """
    to = {one.message.dest for one in work if isinstance(one, Send)}
    if len(to) < 2 and all(len(dest.elements()) < 2 for dest in to):
        return work
    every = [each for one in work for each in (_for_each(broker, one) if isinstance(one, Send) else [one])]
    first: dict[Destination, int] = {}
    places = []
    for place, one in enumerate(every):
        if isinstance(one, Send) and one.message.persistent and one.message.dest.is_queue:
            place = first.setdefault(one.message.dest, place)
        places.append(place)
    return [every[no] for no in sorted(range(len(every)), key=lambda no: places[no])]


def _by_priority(broker: Broker, work: list[Work]) -> list[Work]:
    """Return the work of a transaction as queues of prioritized messages dispatch it.

    All of its persistent messages for a queue are there before the first is dispatched (ActiveMQ rule 11.16).
    """
    found = work[:]
    sends = [(no, one) for no, one in enumerate(work) if isinstance(one, Send) and one.message.persistent]
    for dest in {one.message.dest for _, one in sends if one.message.dest.is_queue}:
        if broker.policy_for(dest)["prioritized_messages"]:
            here = [(no, one) for no, one in sends if one.message.dest == dest]
            best = sorted(here, key=lambda place: -place[1].message.priority)
            for (no, _), (_, one) in zip(here, best, strict=True):
                found[no] = one
    return found


def _for_each(broker: Broker, sent: Send) -> list[Work]:
    """Return a send for each destination that a composite one stands for."""
    found: list[Work] = []
    for dest in sent.message.dest.elements():
        copy = sent.message.copy()
        copy.dest, copy.dest_no = dest, broker.lab.name_destination(dest)
        found.append(replace(sent, message=copy))
    return found
