"""Diverts: what clients send to an address goes to another one, too, or only there.

Source: Artemis user manual, diverting and splitting message flows; played by 2.31.2 as it is here.
"""

from __future__ import annotations

from dataclasses import replace

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import Message, selects
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason


def divert(broker: Broker, message: Message, before: frozenset[str] = frozenset()) -> bool:
    """Send a message where diverts of its address lead; returns whether that is all: one of them is exclusive.

    Beside an exclusive divert those that are not have no effect. What has been diverted is so again by the
    diverts of its new address, but not back (*before*).
    """
    name = message.dest.name
    found = [
        options
        for options in broker.spec.parts("diverts").values()
        if options.get("address") == name and options.get("forwarding_address") not in (None, *before)
        if selects(options.get("filter"), message)
    ]
    exclusive = [options for options in found if options.get("exclusive")]
    for options in exclusive or found:
        _forward(broker, message, str(options["forwarding_address"]), before | {name})
    return bool(exclusive)


def _forward(broker: Broker, message: Message, to: str, before: frozenset[str]) -> None:
    balancing = broker.lab.balancing
    kinds = [kind for kind in ("queue", "topic") if balancing.is_bound(broker, to, kind == "queue")]
    for kind in kinds:
        copy = replace(message, dest=Destination(kind, to), dest_no=-1)
        if not divert(broker, copy, before):
            balancing.deliver_to(broker, copy)
    if not kinds:
        broker.lab.message(Kind.Discarded, message, broker, rule=Reason.no_subscription, cause=message.row)
