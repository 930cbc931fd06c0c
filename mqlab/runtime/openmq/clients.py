"""Connections of clients: which broker they reach, how they lose it, and how they find another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq import delivery
from mqlab.runtime.openmq.broker import Broker
from mqlab.runtime.openmq.messages import Client, Consumer, Keys
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab

RECONNECT = 3_000_000  # us until a client's first attempt after a loss
ROUND = 6_000_000  # us between two rounds of a client of an enhanced cluster


def addresses(lab: ClusterLab, where: Any) -> list[str]:
    """Return the brokers of an address list, or of a single name; "any" are all."""
    if where == "any":
        return list(lab.brokers)
    return list(where) if isinstance(where, (list, tuple)) else [str(where)]


def reachable(lab: ClusterLab, where: Any) -> Broker | None:
    """Return the first broker of an address list that takes a new connection."""
    named = (lab.brokers[name] for name in addresses(lab, where))
    return next(
        (b for b in named if b.serves and not b.quiesced and not lab.takeover.refuses(b)), None
    )


def client_id(keys: Keys) -> str:
    """Return the client id of a consumer's connection; empty if it has none."""
    if keys.get("no_client_id") or not (keys.get("durable") or keys.get("client_id")):
        return ""
    return str(keys.get("client_id", keys["consumer"]))


def is_used(lab: ClusterLab, id: str) -> bool:
    """Whether a connection with a client id is there: it is unique in the cluster."""
    return bool(id) and any(c.open and client_id(c.keys) == id for c in lab.consumers.values())


def comes_back(lab: ClusterLab, client: Client) -> bool:
    """Whether a client that lost its broker looks for another: always, in an enhanced cluster."""
    return not client.closed and (bool(client.keys.get("reconnect")) or lab.takeover.enhanced)


def wait_for_broker(lab: ClusterLab, client: Client, keys: Keys) -> None:
    """Let a step of a client that is looking for a broker wait until it has one."""
    lab.pass_until(lambda: client.open or not comes_back(lab, client),
                   int(keys.get("limit_ms", 30_000)))  # fmt: skip


def lose(lab: ClusterLab, client: Client, cause: int) -> None:
    """A client has lost its broker, with what its session had there."""
    client.open = False
    count(lab, client, "connection_lost")
    client.lost = lab.notes.add(Kind.Interrupted, frm=client.node, to=lab.brokers[client.home].node,
                                rule=Rule.broker_stopped, cause=cause)  # fmt: skip
    if isinstance(client, Consumer):
        delivery.lose_broker(lab, client, cause)
    else:
        client.refuses = client.mode == "transacted"
    if comes_back(lab, client):
        pause = ROUND if lab.takeover.enhanced else RECONNECT
        lab.clock.later(lab.clock.now + pause, on_attempt, (lab, client, 0))
    else:
        lab.happens("client_exception_listener", client.name)


def count(lab: ClusterLab, client: Client, event: str) -> None:
    """Count what happened to a client's connection."""
    lab.happens(f"client_{event}", client.name)
    counts = lab.events.setdefault(client.name, {})
    counts[event] = counts.get(event, 0) + 1


def on_attempt(attempt: tuple[ClusterLab, Client, int]) -> None:
    """A client tries its brokers, each so many times; after a takeover it is sent to the owner."""
    lab, client, tries = attempt
    keys, names = client.keys, addresses(lab, client.keys["broker"])
    if client.closed or client.open:
        return
    enhanced = lab.takeover.enhanced
    most = max(1, int(keys.get("reconnect_attempts", 3)))
    home = lab.brokers[names[tries // most % len(names)]]
    if enhanced:
        home = lab.brokers[lab.takeover.owner_of(client.home)]
    else:
        lab.notes.add(Kind.Attempted, frm=client.node, to=home.node, cause=client.lost,
                      rule=Rule.accepted if home.serves else Rule.nobody_listens)  # fmt: skip
    if home.serves:
        attach(lab, client, home)
        return
    rounds = int(keys.get("iterations", -1))
    if enhanced or rounds < 0 or tries + 1 < most * len(names) * rounds:
        pause = ROUND if enhanced else int(keys.get("reconnect_interval_ms", 500)) * 1000
        lab.clock.later(lab.clock.now + pause, on_attempt, (lab, client, tries + 1))
    else:
        client.closed = True
        lab.happens("client_exception_listener", client.name)


def attach(lab: ClusterLab, client: Client, home: Broker) -> None:
    """A client that lost its broker has another, where it registers as a new one."""
    client.home, client.open = home.name, True
    lab.notes.add(Kind.Attached, frm=client.node, to=home.node, cause=client.lost)
    if client.dest.name.startswith("temp:"):
        home.add(client.dest, "temporary", owner=client.name)
    home.find(client.dest)
    if isinstance(client, Consumer):
        lab.consumers[client.name] = lab.consumers.pop(client.name)
        home.spread(client.dest)
    count(lab, client, "reconnected")
    lab.settle()
