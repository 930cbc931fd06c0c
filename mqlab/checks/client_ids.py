"""Connections with one client ID at one broker, of which it refuses the second."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mqlab.checks.rule import Element, Found, Rule, rule
from mqlab.spec.action import Action, Close, Consumer, Stop
from mqlab.spec.clients import Client, CloseClient
from mqlab.spec.faults import Crash, HostDown


def client_id_rule(
    id: str, source: str, here: str = "mqlab accepts it"
) -> Callable[[Callable[..., Found]], Rule]:
    """Make a rule of client IDs: the function below yields `same_client_id`, *here* says what mqlab does."""
    return rule(
        id,
        "warning",
        finds="two connections with one client ID at one broker at a time",
        what="{first} is connected to {broker} with the client ID {id!r} already: a real broker refuses the "
        f"second connection (InvalidClientIDException), {here}",
        fix="give each connection its own client_id, or close {first} first",
        source=source,
        unshown=f"of the second connection: {here}",
    )


def same_client_id(actions: Sequence[Action]) -> Found:
    """Yield who connects to a broker with a client ID that a connection there has."""
    held: dict[tuple[str, str], tuple[str, str]] = {}  # (client ID, broker) -> (connection, who opened it)
    for action in actions:
        if isinstance(action, (Stop, Crash, HostDown)):
            held.clear()  # with its broker a connection may be gone
        elif isinstance(action, (Close, CloseClient)):
            who = action.consumer if isinstance(action, Close) else action.client
            held = {key: other for key, other in held.items() if other[1] != who}
        elif isinstance(action, (Client, Consumer)) and action.client_id is not None:
            connection = action.connection if isinstance(action, Consumer) else None
            for broker in _only_broker(action):
                mine = connection or action.name, action.name
                first = held.setdefault((action.client_id, broker), mine)
                if first[0] != mine[0]:
                    facts = {"first": first[1], "broker": broker, "id": action.client_id}
                    yield Element(f"{type(action).__name__.lower()} {action.name}"), facts


def _only_broker(action: Client | Consumer) -> list[str]:
    """Return the broker that somebody connects to; none if there is a choice, or an address cannot be read."""
    if isinstance(action, Consumer):
        return [] if action.others else [action.on]
    leaves = action.address.leaves() if action.address is not None else ()
    return [leaf.host for leaf in leaves if leaf.host] if len(leaves) == 1 else []
