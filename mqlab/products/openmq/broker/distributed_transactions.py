"""Distributed transactions: each step of a branch, and what is prepared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import acknowledgement
from mqlab.products.openmq.broker.messages import Delivery, Prepared
from mqlab.products.openmq.broker.model import Client, Consumer
from mqlab.products.openmq.client import clients, producers
from mqlab.products.openmq.script.operation import Outcome, RunningStep, ScriptStep
from mqlab.spec.openmq.actions import Xa
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster


def do_xa(lab: Cluster, step: ScriptStep[Xa]) -> Outcome:
    """A step of a distributed transaction; what is prepared ends only where it is."""
    client: Client | None = lab.producers.get(step.client) or lab.consumers.get(step.client)
    if client is None:
        return _xa((lab, None, step.action))
    if not client.open and client.looks_from > lab.clock.now:
        return RunningStep(_looks, client, step.limit, _lost, insists=True)
    return RunningStep(_can_ask, (lab, client, step.action), step.limit, _xa, insists=True)


def _can_ask(asked: tuple[Cluster, Client, Xa]) -> bool:
    """Whether a client's broker answers: for what was taken, once the homes have (OpenMQ rule 8.20)."""
    _, client, call = asked
    asks_homes = call.action == "prepare" or (call.action == "commit" and call.one_phase)
    waits = asks_homes and isinstance(client, Consumer) and client.open and acknowledgement.waits(client)
    return clients.is_answered(client) and not waits


def _looks(client: Client) -> bool:
    """Whether a client has begun to look for a broker: calls from before fail by then (OpenMQ rule 8.7)."""
    return client.home.lab.clock.now >= client.looks_from


def _lost(_: Client) -> bool:
    return False


def _xa(asked: tuple[Cluster, Client | None, Xa]) -> bool:
    lab, client, call = asked
    action, xid = call.action, call.xid
    home = client.home if client else lab.brokers.get(call.on or "")
    if home is None or not home.serves or (client and not client.open):
        return False
    ends = action in ("commit", "rollback")
    if told := _out_of_turn(client, action, xid):
        lab.tell(told)
    if told and client and not client.step.options.get("xa"):
        return True  # it has no such call, so nothing is started or prepared
    if client and action in ("start", "end"):
        client.xid, client.xid_state = xid, "COMPLETE" if action == "end" else "STARTED"
        client.between &= action == "end"
    if client and action == "prepare" and client.cut_off and getattr(client, "taken", None):
        client.xid_state = "FAILED"
        return False
    unprepared = client is not None and client.xid == xid
    if client and action == "commit" and call.one_phase != unprepared:
        # One phase is for what is not prepared; what is, is rolled back by it (played with 6.5).
        if not unprepared:
            _xa((lab, client, replace(call, action="rollback")))
        return False
    if client and (action == "prepare" or (ends and unprepared)):
        _prepare(lab, xid, client)
    branch = lab.prepared.get(xid)
    if not ends or branch is None or branch.home is not home:
        return not ends
    del lab.prepared[xid]
    producers.end_transaction(lab, xid, action == "commit")
    if action == "rollback" and isinstance(client, Consumer) and home.lives == branch.life:
        client.taken = [*branch.taken, *client.taken]
        acknowledgement.redeliver(client)
        client.between = True
        return True
    for no, claim in enumerate(branch.taken):
        if action == "commit":
            acknowledgement.finish(claim)
        else:  # a store has noted of what a session took only the first as handed out
            acknowledgement.release(claim, Reason.asked, not no or home.lives == branch.life)
    return True


def _out_of_turn(client: Client | None, action: str, xid: str) -> str:
    """Return what is wrong with a call that starts, ends or prepares a branch: these come in turn (JTA)."""
    if action not in ("start", "end", "prepare"):
        return ""
    if client is None:
        return f"only a client can {action} a branch; name it, who="
    if not client.step.options.get("xa"):
        return f"{client.name} has no XA session; open it with options={{'xa': True}}"
    if action == "start":
        return f"the branch {client.xid} was started already" if client.in_branch else ""
    state = "STARTED" if action == "end" else "COMPLETE"
    if client.xid == xid and client.xid_state == state:
        return ""
    return f"no branch {xid} of {client.name} had been {'started' if action == 'end' else 'ended'}"


def _prepare(lab: Cluster, xid: str, client: Client) -> None:
    """Keep what a client has sent and taken for the transaction's manager."""
    taken: list[Delivery] = getattr(client, "taken", [])
    if client.cut_off:
        taken.clear()
    lab.prepared[xid] = Prepared(client.home, list(taken), client.home.lives)
    client.xid = ""
    taken.clear()
    lab.removed[xid] = lab.removed.pop(client.name, 0)
    for _, message in lab.messages():
        if message.transaction == client.name:
            message.transaction = xid
