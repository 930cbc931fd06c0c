"""Whose turn it is: of the queues of one routing name, here and at other brokers, one gets a message.

Source: `BindingsImpl.getNextBinding` of 2.4.0 (Artemis rules 8.1 to 8.3 and 9.21).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.artemis.broker.broker import Broker, Refused
from mqlab.products.artemis.broker.messages import Message, selects
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.network.cluster_connection import Binding, ClusterConnection


def choose(
    cluster: ClusterConnection, broker: Broker, message: Message, bindings: list[Binding]
) -> Binding | None:
    """Return whose turn it is: brokers take turns, those with a matching consumer first.

    Where no broker has one it is this broker's turn. How turns are taken is said with the first queue of
    another broker; until then it is as with OFF (`ClusterConnectionImpl.doBindingAdded` of 2.4.0).
    """
    kind = broker.option("message_load_balancing") if bindings[0][1].address in broker.balanced else "OFF"
    anybody, alone = kind == "STRICT", len(bindings) == 1
    ways = cluster.remote(broker) if broker.lost else None
    first: Binding | None = None
    own = taker = own_taker = first
    for turn in in_turn(broker, bindings):  # a loop with four answers: it runs for every message
        if turn[1].selector is not None and not selects(turn[1].selector, message):
            continue
        first = first or turn
        joined = ways is None or turn[0] is broker or turn[0] in ways
        here = turn[0] is broker and turn.__class__ is tuple
        if alone or (joined and (anybody or turn[1].wanted(message, not here))):
            taker = taker or turn
            own_taker = own_taker or (turn if here else None)
        if here and (own is None or kind == "ON_DEMAND"):
            own = turn
    if kind == "OFF" and first is not None:  # it goes on until a turn is its own: one that never comes
        chosen = own_taker if taker is not None else own
        if chosen is None:  # is an error
            raise Refused(rule=Reason.turn_off)
    elif kind == "OFF_WITH_REDISTRIBUTION" and own is not None:
        return own
    else:
        chosen = taker or own or first
    if chosen is not None:
        end(broker, bindings, chosen)
    return chosen


def in_turn(broker: Broker, bindings: list[Binding]) -> list[Binding]:
    """Return the bindings of one name, that whose turn it is first; a turn beyond them is over."""
    start = broker.journal.positions.get(bindings[0][1].routing_name, 0)
    return bindings[start:] + bindings[:start] if start else bindings


def end(broker: Broker, bindings: list[Binding], binding: Binding) -> None:
    """The next turn is that of the binding behind this one."""
    place = (bindings.index(binding) + 1) % len(bindings)
    broker.journal.positions[binding[1].routing_name] = place
