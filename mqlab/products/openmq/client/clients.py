"""Connections of clients: which broker they reach, and whether that answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mqlab.engine.clock import NEVER
from mqlab.products.openmq.broker.model import LOCK_TIMEOUT, Broker, Key
from mqlab.products.openmq.client.state import Client, Consumer, Opening
from mqlab.products.openmq.script.operation import Outcome, RunningStep, ScriptStep
from mqlab.spec.action import Action
from mqlab.spec.action import Consumer as Consumes

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

RECONNECT = 3_000_000  # us until a client's first attempt after a loss, or its listener hears of a crash
# us between two rounds of attempts of a client of an enhanced cluster: recorded 6 to 7 s, whatever its
# broker (OpenMQ rule 9.4).
ROUND = 6_000_000
TELL_LATER = ("client", "dups_ok")  # modes of sessions that do not tell their broker of each message they take
ANSWERED_MS = 30  # from a client's reconnection until its call that waited has its answer (two plays)
# us that a client waits for a broker that accepts its connection and says nothing; then it fails (C4003).
CONNECTING = 60_000_000


def addresses(lab: Cluster, step: ScriptStep[Action]) -> list[Broker]:
    """Return the brokers of a step's address list."""
    names = lab.brokers if step.place == "any" else step.addresses
    return [lab.brokers[name] for name in names]


def reachable(lab: Cluster, step: ScriptStep[Action]) -> Broker | None:
    """Return the first broker of a step's address list that takes a new connection."""
    return next(filter(takes_clients, addresses(lab, step)), None)


def takes_clients(broker: Broker) -> bool:
    """Whether a broker takes new connections."""
    if not broker.serves or broker.quiesced:
        return False
    return all(other.taking_over_broker is not broker for other in broker.lab.brokers.values())  # C4099


def hangs(lab: Cluster, step: ScriptStep[Action]) -> bool:
    """Whether who opens a connection hangs at an address whose broker is suspended (OpenMQ rule 8.8)."""
    first = (b for b in addresses(lab, step) if b.suspended or takes_clients(b))
    broker = next(first, None)
    return broker is not None and broker.suspended


def looks(lab: Cluster, step: ScriptStep[Opening], begin: Callable[[Any], Outcome]) -> RunningStep:
    """Return what a client that opens its connection waits for; after so many iterations it is refused."""
    options, many = step.options, len(addresses(lab, step))
    rounds, tries = int(options.get("iterations", -1)), int(options.get("reconnect_attempts", 3))
    every = float(options.get("reconnect_interval_ms", 500)) * tries
    most = rounds * many * every if rounds >= 0 else step.limit
    return RunningStep(_finds, (lab, step), min(most, step.limit), begin, insists=most >= step.limit)


def _finds(asked: tuple[Cluster, ScriptStep[Opening]]) -> bool:
    """Whether it has found a broker, which need not wait for the shared store (OpenMQ rule 9.17).

    Who reconnects looks for ever unless the step limits the iterations over its list (OpenMQ rule 8.13).
    """
    lab, step = asked
    broker = reachable(lab, step)
    if broker is None:
        return not step.options.get("reconnect")
    return not lab.store_down or step.dest in broker.instances


def asks_all(
    broker: Broker, step: ScriptStep[Action], then: Callable[[Any], Outcome], patience: int = LOCK_TIMEOUT
) -> RunningStep:
    """Return what who needs the answers of all brokers waits for, *patience* us at most."""
    broker.tell_all()
    end = broker.lab.clock.now + patience
    if 0 < patience < NEVER:
        broker.lab.later(patience)
    return RunningStep(_have_answered, (broker, step, end), step.limit, then, insists=True)


def _have_answered(asked: tuple[Broker, ScriptStep[Action], int]) -> bool:
    broker, _, end = asked
    return not broker.suspended and (not broker.asks_in_vain or broker.lab.clock.now >= end)


def client_id(step: ScriptStep[Opening]) -> str:
    """Return the client id of a connection; empty if it has none."""
    opens = step.action
    given = step.options.get("client_id", getattr(opens, "client_id", None))
    if step.options.get("no_client_id") or not (getattr(opens, "durable", False) or given):
        return ""
    return str(given or getattr(opens, "name", ""))


def subscription(step: ScriptStep[Consumes]) -> Key:
    """Return by what the durable, or shared, subscription of a consumer is known."""
    return client_id(step), step.action.subscription_name or step.action.name


def is_used(lab: Cluster, id: str) -> bool:
    """Whether a connection with a client id is there: it is unique in the cluster."""
    there = (*lab.consumers.values(), *lab.producers.values()) if id else ()
    return any(client.open and client_id(client.step) == id for client in there)


def unheard_by(consumer: Consumer, former: Broker | None = None) -> set[Broker]:
    """Return the brokers that a new consumer is not there for: they are behind a cut.

    So are those for which a durable subscription is in use still (`Subscription.attachConsumer` of 6.5.0):
    they have not heard that one closed, or that its *former* broker has ended.
    """
    home, alone = consumer.home, consumer.step.action.durable and not consumer.step.options.get("shared")
    cut = {peer for peer in home.peers if home.lab.is_cut(home, peer)}
    others = ((p, c) for p in home.peers for c in p.consumers(consumer.dest) if c is not consumer)
    used = {p for p, c in others if c.key == consumer.key} | {p for p in home.peers if former in p.unnoticed}
    return cut | used if alone else cut


def may_close(client: Client) -> bool:
    """Whether a broker answers the end of a connection: one that is suspended does not (OpenMQ rule 8.8)."""
    return not (client.open and client.home.suspended)


def comes_back(client: Client) -> bool:
    """Whether a client that lost its broker looks for another: always, in an enhanced cluster."""
    reconnects = client.step.options.get("reconnect") or client.home.lab.enhanced
    return bool(reconnects) and not client.closed


def has_broker(client: Client) -> bool:
    """Whether a client is not looking for a broker: it has one, or will have none any more."""
    return client.open or not comes_back(client)


def is_made_again(client: Client) -> bool:
    """Whether a session was made again with a new connection, and has not recovered or ended its work since."""
    return client.rollback_only and client.open and client.lost >= 0


def is_answered(client: Client) -> bool:
    """Whether the broker of a client answers: one that is suspended does not, nor one that is looked for."""
    return has_broker(client) and (client.home.answers or not client.open)


def close(client: Client) -> None:
    """A client closes: of its calls that wait only the one under way ends, others are never made."""
    client.closed = True
    blocked = client.home.lab.blocked
    own = [call for call in blocked if call.client == client.name]
    for call in own[1:]:
        blocked.remove(call)


def is_told(client: Client) -> bool:
    """Whether a client's listener has heard that its connection is gone for good: its session is closed."""
    gone = not client.open and not client.closed and not comes_back(client)
    return gone and 0 <= client.looks_from <= client.home.lab.clock.now


def is_seeking(client: Client) -> bool:
    """Whether a client that has lost its broker looks for one, or is about to tell its listener."""
    told = not client.closed and client.looks_from > client.home.lab.clock.now
    return not client.open and (told or comes_back(client))


def is_reconnecting(client: Client) -> bool:
    """Whether a client without a broker has begun to reconnect: what it sends from then on waits.

    Before that, a send fails (`ReadChannel.recover`, `ConnectionImpl.checkReconnecting` of 6.5.0).
    """
    more = ROUND - RECONNECT if client.home.lab.enhanced else 0  # that it waits besides
    return client.home.lab.clock.now >= client.looks_from - more


def fails_looking(client: Client) -> bool:
    """Whether what ends a session's work fails, as its client has lost its broker and has no other yet.

    One of an enhanced cluster asks then what came of it (`Transaction.checkCommitStatus` of 6.5.0).
    """
    return not client.open and comes_back(client) and not client.home.lab.enhanced


def ends_work(
    client: Client, limit: float, may: Callable[[Any], bool], how: Callable[[Any], bool], anew: bool = False
) -> RunningStep:
    """Return what a call that ends a session's work waits for, and does; *anew* as for `call_in_vain`.

    The first end of a transaction after a reconnection begins one more (`Transaction.rollback` of 6.5.0). The
    one that the reconnection began stays until the connection ends; in an enhanced cluster it begins none.
    """
    if fails_looking(client):
        return call_in_vain(client, limit, anew)
    client.strays += is_made_again(client) and client.mode == "transacted" and not client.home.lab.enhanced
    return RunningStep(may, client, limit, how, insists=True)


def call_in_vain(client: Client, limit: float, anew: bool = False) -> RunningStep:
    """Return what such a call waits for, which leaves its session as it is (OpenMQ rule 8.11).

    One from before the first attempt fails with that; during the attempts it is made at the new broker in vain,
    and a rollback lets the session begin *anew*.
    """
    if not _looks(client):
        return RunningStep(_looks, client, limit, _in_vain, insists=True)
    return RunningStep(has_broker, client, limit, _begins_anew if anew else _is_asked, insists=True)


def _looks(client: Client) -> bool:
    """Whether a client has begun to look for a broker: calls from before fail by then (OpenMQ rule 8.7)."""
    return client.home.lab.clock.now >= client.looks_from


def _begins_anew(client: Client) -> RunningStep:
    client.rollback_only = False
    return _is_asked(client)


def _is_asked(client: Client) -> RunningStep:
    return RunningStep(None, client, ANSWERED_MS, _in_vain)


def _in_vain(_: Client) -> bool:
    return False
