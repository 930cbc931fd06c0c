"""The steps of a lab file <-> actions; the table is in `spec.steps`."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.errors import BadValue, MqlabError
from mqlab.spec.action import Action
from mqlab.spec.clients import Client
from mqlab.spec.network import Network
from mqlab.spec.steps import item_of, noun_of


def read(items: Sequence[dict[str, object]]) -> tuple[Action, ...]:
    """Return the actions of a lab file's steps; errors name the step."""
    nameless = [i for i in items if i.get("do") == "send" and not {"producer", "client"} & set(i)]
    senders = {str(item.get("broker")) for item in nameless}
    actions = []
    for place, item in enumerate(items, start=1):
        try:
            if item in nameless:
                name = "P" if len(senders) < 2 else f"P.{item.get('broker')}"
                item = {**item, "producer": name}
            actions.append(noun_of(item))
        except (MqlabError, TypeError, ValueError) as error:
            kind = type(error) if isinstance(error, MqlabError) else BadValue
            raise kind(f"step {place} ({item.get('do')}): {error}") from None
    return tuple(actions)


def write(actions: Sequence[Action], network: Network | None = None) -> list[dict[str, object]]:
    """Return the steps that `read` makes the same actions of."""
    clients = {action.name for action in actions if isinstance(action, Client)}
    brokers = network.names if network is not None else ()
    return [item_of(action, clients, brokers) for action in actions]
