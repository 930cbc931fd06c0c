"""What an administrator sees of a cluster: the snapshots of a run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker.messages import ROLLED_BACK
from mqlab.products.openmq.broker.model import DEAD, Broker
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.client.state import Consumer
from mqlab.products.openmq.script.operation import Outcome, Row, RunningStep, ScriptStep, is_of
from mqlab.spec.action import Action, Recover, Resume, Rollback, Snapshot
from mqlab.spec.action import Consumer as Opens
from mqlab.spec.openmq.actions import Look
from mqlab.spec.values import Destination, as_text

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster


ANSWER_MS = 8000  # how long it is waited for a broker that does not answer
Asked = tuple["Cluster", Snapshot | Look, dict[str, int]]


def do_snapshot(lab: Cluster, step: ScriptStep[Snapshot | Look]) -> Outcome:
    """Note the state of everything under a label."""
    asked = lab, step.action, _counted_before(lab, step)
    if hang(lab):
        return RunningStep(_all_answer, asked, ANSWER_MS, _note)
    _note(asked)
    return None


def _counted_before(lab: Cluster, step: ScriptStep[Snapshot | Look]) -> dict[str, int]:
    """Return what consumers had received when a recorder looks right behind a call that lets them have more.

    Recover, rollback and resume end before anything has come by them (three plays each of two sessions).
    """
    found: dict[str, int] = {}
    for place in range(lab.plan.index(step) - 1, -1, -1) if lab.recorded else ():
        if not isinstance(lab.plan[place].action, (Recover, Rollback, Resume)):
            break
        if consumer := lab.consumers.get(lab.plan[place].client):
            found[consumer.name] = consumer.had
    return found


def hang(lab: Cluster) -> bool:
    """Whether a broker answers nobody, because it waits for another or for the database."""
    return any(broker.running and broker.hangs for broker in lab.brokers.values())


def _all_answer(asked: Asked) -> bool:
    return not hang(asked[0])


def _note(asked: Asked) -> None:
    lab, look, counted = asked
    properties = look.properties if isinstance(look, Look) else ()
    lab.looked_at.update(broker for broker in lab.brokers.values() if broker.serves)
    lab.dispatch_all()
    lab.snapshots[look.label] = {
        "received_so_far": {
            name: counted.get(name, len(c.received)) for name, c in lab.consumers.items() if _tells(c)
        },
        "brokers": {
            name: _state(broker, properties) for name, broker in lab.brokers.items() if is_known(broker)
        },
    }


def of_clients(lab: Cluster) -> dict[str, Row]:
    """Return what each consumer received, and what happened to connections, those of producers that moved, too.

    A consumer in a process of its own tells nobody.
    """
    told = {name: c for name, c in lab.consumers.items() if _tells(c)}
    found: dict[str, Row] = {}
    for name in dict.fromkeys([*sorted(set(lab.moved) - set(lab.consumers)), *told]):
        consumer = told.get(name)
        received = list(consumer.received) if consumer else []
        redelivered = list(consumer.redelivered) if consumer else []
        row: Row = {"count": len(received), "received": received, "redelivered": redelivered}
        if len(set(received)) < len(received):
            row["duplicated"] = sorted(n for n, times in Counter(received).items() if times > 1)
        if name in lab.of_clients:
            row["connection_events"] = dict(lab.of_clients[name])
        if name in lab.moved:
            row["homes"] = list(lab.moved[name])
        found[name] = row
    return found


def _tells(consumer: Consumer) -> bool:
    """Whether a client tells what it receives: not one in a process of its own, nor one without a consumer."""
    return (
        consumer.step.options.get("process") is not True and consumer.step.options.get("consume") is not False
    )


def is_known(broker: Broker) -> bool:
    """Whether the others know a broker: it is in their list, or was there."""
    return broker.name in broker.lab.listed or broker.lives > 0


def _state(broker: Broker, properties: tuple[str, ...]) -> Row:
    if not broker.running:
        return {"running": False}
    if broker.suspended:
        return {"running": True, "paused": True}
    if not broker.answers or broker.lab.store_down:
        return {"running": True, "no_answer": True}
    enhanced = broker.lab.enhanced
    found: Row = {
        "running": True,
        "cluster": {
            name: state_of(broker, other)
            for name, other in broker.lab.brokers.items()
            # Brokers of an enhanced cluster have no list but the store's, with those that have ever started.
            if other is not broker and is_known(other) and broker.knows(other) and (other.lives or not enhanced)
        },
    }
    if broker.master is not None:
        found["master"] = broker.named_master
    if durables := _durable_lines(broker):
        found["durable_subscriptions"] = durables
    if open_here := transactions(broker):
        found["transactions"] = open_here
    found["destinations"] = {
        str(dest): _destination(broker, dest, properties)
        for dest in sorted(broker.instances, key=str)
        if not broker.instances[dest].unlisted
        # Dead messages are listed if some are not of open transactions.
        and (dest != DEAD or any(m.transaction is None for m in broker.instances[dest].messages))
    }
    return found


def transactions(broker: Broker) -> list[str]:
    """Return the transactions that a broker lists: a transacted session always has one.

    One that was made again in an enhanced cluster has none before it ends the former one. An owner lists what
    had been committed at a broker that it took over (OpenMQ rule 9.8).
    A distributed one is COMPLETE from the end of its session's work until it is prepared (OpenMQ rule 1.9).
    What is prepared stays at its home, or with whoever has taken that one over, until it ends there
    (OpenMQ rule 9.8).
    """
    lab = broker.lab
    there = [c for c in (*lab.producers.values(), *lab.consumers.values()) if c.open and c.home is broker]
    sent = lab.removed + Counter(message.transaction for _, message in lab.messages() if message.transaction)
    lines = [
        f"{'COMPLETE' if client.hung and not client.xid else client.xid_state} "
        f"messages={sent[client.name]} acks={len(getattr(client, 'taken', ()))}"
        for client in there
        if (client.mode == "transacted" or client.xid)
        and client.xid_state != ROLLED_BACK
        and not (lab.enhanced and clients.is_made_again(client))
    ]
    lines += ["COMMITTED messages=0 acks=0"] * lab.listed_commits[broker]
    lines += ["STARTED messages=0 acks=0"] * sum(client.strays for client in there)
    lines += ["STARTED messages=0 acks=0" for call in lab.blocked if _has_session(call, broker)]
    lines += [
        f"{branch.xid_state} messages={sent[xid]} acks={len(branch.known)}"
        for xid, branch in (*lab.ended.items(), *lab.prepared.items())
        if branch.home is broker
    ]
    return sorted(lines)


def _has_session(call: ScriptStep[Action], broker: Broker) -> bool:
    """Whether a consumer that is being opened has its transacted session at a broker already."""
    asks = call.waits.argument if call.waits is not None else None
    begun = isinstance(asks, tuple) and asks[0] is broker and broker.serves
    # Where a connection has a client id, that is asked for before there is a session.
    transacted = call.ack_mode == "transacted"
    return begun and transacted and is_of(call, Opens) and not clients.client_id(call)


def state_of(broker: Broker, other: Broker) -> str:
    """Return how *broker* shows another one; a broker that froze is not noticed.

    In an enhanced cluster the store says so, where a killed one goes on operating until it is taken over.
    """
    if other.taken_over_by:
        return f"TAKEOVER_COMPLETE by {other.taken_over_by.name}"
    if broker.lab.enhanced and broker.linked(other) and other.quiesced:
        return "QUIESCE_COMPLETE" if other.quiet else "QUIESCE_STARTED"
    killed = broker.lab.enhanced and other.lives and not (other.running or other.orderly)
    if broker.linked(other) or other in broker.unnoticed or killed:
        return "OPERATING"
    known = other in broker.linked_before or (broker.lab.enhanced and other.lives)  # that is in the store
    return "BROKER_DOWN" if known else "INITIALIZING"


def _listed(broker: Broker, dest: Destination) -> list[Consumer]:
    """Return the consumers that a broker knows, also those whose end it has not noticed."""
    at = broker.lab.destinations.get(dest)
    known = at.consumers if at else ()
    ended = broker.unnoticed  # and who has moved, and was rejected here (OpenMQ rule 8.19)
    lost = [c for c in known if c.lost >= 0] if ended else ()
    gone = [c for c in lost if (broker in c.unheard_by if c.open else c.home in ended)]
    return [*broker.consumers(dest), *gone]


def _durable_lines(broker: Broker) -> list[str]:
    """Return a broker's durable subscriptions; one that is shared may have no client id.

    The number of messages is what consumers here were handed in this life: nobody counts it down.
    """
    lines = []
    for id, name in broker.durables:
        users = [c for c in _listed(broker, broker.durables[id, name].dest) if c.key == (id, name)]
        state = "active" if users else "inactive"
        lines.append(f"{id or '-'}/{name} {state} messages={broker.handed[id, name]}")
    return sorted(lines)


def _destination(broker: Broker, dest: Destination, properties: tuple[str, ...]) -> Row:
    """Return a broker's view of a destination; all consumers of a subscription count as one."""
    instance = broker.instances[dest]
    known = _listed(broker, dest)
    active = {c.key for c in broker.active(dest)}
    consumers = {c.key for c in known}
    active |= {c.key for c in known if instance.limited is None}
    sleeping = sum(key not in consumers for key in broker.unused_durables(dest))
    remote = instance.remote
    in_transaction = sum(m.transaction is not None for m in instance.messages)
    row: Row = {
        "created_by": instance.created_by,
        "messages": len(remote) + len(instance.messages) - in_transaction,
        "remote": len(remote),
        "in_transaction": in_transaction,
        "consumers": len(consumers) + sleeping + instance.unanswered,
        "active": len(active) + sleeping,
        "backup": len(consumers) - len(active),
        "producers": broker.producers(dest),
    }
    if instance.paused:
        row["state"] = "Paused"
    if properties:
        row["properties"] = {name: as_text(instance.option(name)) for name in properties}
    return row
