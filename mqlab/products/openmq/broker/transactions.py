"""The end of a transaction, and the steps of distributed ones, which a session may leave behind for another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import acknowledgement, delivery, physical_destinations, removal, sending
from mqlab.products.openmq.broker.messages import ROLLED_BACK, Branch, Delivery
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.client.state import Client, Consumer
from mqlab.products.openmq.script.operation import Outcome, RunningStep, ScriptStep
from mqlab.spec.openmq.actions import Xa
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster


def end_transaction(home: Broker, name: str, commit: bool) -> None:
    """Let a transaction take effect, or drop what was sent in it."""
    lab = home.lab
    lab.removed.pop(name, None)
    lab.committed[home] += commit
    for instance, message in lab.messages():
        if message.transaction == name:
            message.transaction = None
            if not commit:
                instance.remove(message)
                removal.discard(message, Reason.rolled_back)
            elif not physical_destinations.find_claims(message, lab.producers.get(name)):
                instance.remove(message)
            else:  # one after the other: the first goes to who has room, whatever its priority
                instance.queue_up(message)
                instance.offer(message)
                delivery.dispatch(instance)


def leave(lab: Cluster, client: Client) -> None:
    """A session begins a branch: the one that it had before goes on beside it (OpenMQ rule 1.9)."""
    xid = client.xid
    lab.ended[xid] = Branch(client.home, _hand_over(lab, client), client, client.xid_state)


def close(lab: Cluster, client: Client) -> bool:
    """A session closes: its branches that are over stay at its broker, and what they have taken with them.

    What they have taken of other homes comes again there, flagged, though they go on listing it (three plays);
    True if there was some.
    """
    if client.xid and not client.in_branch and client.open:
        leave(lab, client)
    own = [ended for ended in lab.ended.values() if ended.client is client]
    remote = [claim for ended in own for claim in ended.taken if claim.message.home is not ended.home]
    for ended in own:
        ended.client = None
        ended.taken = [replace(claim, echo=True) if claim in remote else claim for claim in ended.taken]
    for claim in remote:  # its copy stays, and need not cross again
        claim.free()
        claim.flagged = True
        lab.notes.message(Kind.Returned, claim.message, rule=Reason.consumer_left, cause=claim.row)
    return bool(remote)


def may_end(lab: Cluster, xid: str, client: Client) -> bool:
    """Whether a session may prepare or end a branch that has been left."""
    ended = lab.ended.get(xid)
    return ended is not None and (
        ended.client is client or (ended.client is None and ended.home is client.home)
    )


def forget(lab: Cluster, home: Broker) -> None:
    """A broker has ended: only what is prepared outlives it."""
    for xid in [xid for xid, ended in lab.ended.items() if ended.home is home]:
        for claim in lab.ended.pop(xid).taken:
            acknowledgement.release(claim, Reason.broker_stopped)


def prepare(lab: Cluster, xid: str, client: Client) -> None:
    """Keep what was sent and taken in a branch for the transaction's manager."""
    ended = lab.ended.pop(xid, None)
    taken = ended.taken if ended is not None else _hand_over(lab, client)
    lab.prepared[xid] = Branch(client.home, taken, client, "PREPARED")


def _hand_over(lab: Cluster, client: Client) -> list[Delivery]:
    """Name what a session has sent and taken in its branch after that; return what it has taken."""
    taken: list[Delivery] = getattr(client, "taken", [])
    if client.cut_off:
        taken.clear()
    found = list(taken)
    taken.clear()
    xid, client.xid = client.xid, ""
    lab.removed[xid] = lab.removed.pop(client.name, 0)
    for _, message in lab.messages():
        if message.transaction == client.name:
            message.transaction = xid
    return found


def do_xa(lab: Cluster, step: ScriptStep[Xa]) -> Outcome:
    """A step of a distributed transaction; what is prepared ends only where it is."""
    client: Client | None = lab.producers.get(step.client) or lab.consumers.get(step.client)
    if client is None:
        return _xa((lab, None, step.action))
    if not client.open and client.looks_from > lab.clock.now:
        return clients.call_in_vain(client, step.limit)
    return RunningStep(_can_ask, (lab, client, step.action), step.limit, _xa, insists=True)


def _can_ask(asked: tuple[Cluster, Client, Xa]) -> bool:
    """Whether a client's broker answers: for what was taken, once the homes have (OpenMQ rule 8.20)."""
    _, client, call = asked
    asks_homes = call.action == "prepare" or (call.action == "commit" and call.one_phase)
    waits = asks_homes and isinstance(client, Consumer) and client.open and acknowledgement.waits(client)
    sends = any(job.producer is client for job in client.home.lab.jobs)  # its session has one thread
    return clients.is_answered(client) and not (waits or (sends and call.action != "start"))


def _xa(asked: tuple[Cluster, Client | None, Xa]) -> bool:
    lab, client, call = asked
    action, xid = call.action, call.xid
    home = client.home if client else lab.brokers.get(call.on or "")
    if home is None or not home.serves or (client and not client.open):
        return False
    ends = action in ("commit", "rollback")
    if told := _out_of_turn(lab, client, action, xid):
        lab.tell(told)
        return False
    if client and client.xid == xid and _fails(client, action):
        return False
    if client and action in ("start", "end"):
        _begin_or_end(lab, client, call)
    if not ends and xid in lab.prepared:
        return True  # once more
    taken: list[Delivery] = getattr(client, "taken", [])
    if client and action == "prepare" and taken and (client.cut_off or any(c.is_gone for c in taken)):
        client.xid_state = "FAILED"
        return False
    lost = client is not None and lab.rules.keeps_stuck and any(not home.linked(c.message.home) for c in taken)
    if action == "prepare" and isinstance(client, Consumer) and lost:  # OpenMQ rule 8.6
        acknowledgement.stick(client)
        client.xid_state = ROLLED_BACK
        return False
    unprepared = client is not None and (client.xid == xid or may_end(lab, xid, client))
    if client and action == "commit" and call.one_phase != unprepared:
        # One phase is for what is not prepared; what is, is rolled back by it (played with 6.5).
        if not unprepared:
            _xa((lab, client, replace(call, action="rollback")))
        return False
    if client and (action == "prepare" or (ends and unprepared)):
        prepare(lab, xid, client)
    branch = lab.prepared.get(xid)
    if not ends or branch is None or branch.home is not home:
        return not ends
    if action == "commit" and branch.xid_state == "FAILED":
        return False
    del lab.prepared[xid]
    if client:
        client.rollback_only &= action == "commit"
    end_transaction(home, xid, action == "commit")
    if action == "rollback" and isinstance(client, Consumer) and home.lives == branch.life:
        kept, client.taken = client.taken, []
        missed = [claim for claim in client.missed if claim.flagged]  # in a branch that was over
        client.missed = [claim for claim in client.missed if claim not in missed]
        _send_again(client, [*branch.taken, *missed], [*kept, *_left(client)])
        client.taken = kept  # of the branch that it has begun since
        return True
    if action == "commit" and isinstance(client, Consumer):  # its client forgets all that it has taken
        lab.forgotten.update((*client.taken, *_left(client)))
    for no, claim in enumerate(branch.taken):
        if action == "commit":
            acknowledgement.finish(claim)
        else:
            _give_back(branch, claim, first=not no)
    return True


def _give_back(branch: Branch, claim: Delivery, *, first: bool) -> None:
    """A prepared branch is rolled back behind its session: a store has noted only the first as handed out."""
    message, home = claim.message, branch.home
    if message.home is not home and home in message.copies:  # it stays listed there (two plays)
        message.at.instances[home].leftovers[message] = None
    acknowledgement.release(
        claim, Reason.rolled_back, first or home.lives == branch.life or message.home is not home
    )


def _fails(client: Client, action: str) -> bool:
    """Whether a branch cannot take a call; to commit it or roll it back before its end makes it FAILED."""
    if client.in_branch and action in ("commit", "rollback"):
        client.xid_state = "FAILED"
        return True
    return client.xid_state == "FAILED" and action in ("end", "prepare", "commit")


def _begin_or_end(lab: Cluster, client: Client, call: Xa) -> None:
    """A session works for a branch from now on, or no more; for one that it has left, too."""
    if call.action == "start":
        if client.xid:
            leave(lab, client)
        client.xid, client.xid_state = call.xid, "STARTED"
        return
    of = client if client.xid == call.xid else lab.ended[call.xid]
    of.xid_state = "COMPLETE"


def _left(client: Client) -> list[Delivery]:
    """Return what a session has taken in branches that it has left, or prepared."""
    lab = client.home.lab
    branches = (*lab.ended.values(), *lab.prepared.values())
    return [claim for branch in branches if branch.client is client for claim in branch.taken]


def _send_again(consumer: Consumer, taken: list[Delivery], others: list[Delivery]) -> None:
    """A branch of a session is rolled back: all comes again that this has taken, in whichever branch.

    So does what is part of another one that has ended, though only the end of that decides of it: to take it
    once more fails (`SessionImpl.receiveRollback`, `SessionOp.ackInTransaction` of 6.5.0; OpenMQ rule 1.9).
    What the commit of another branch has made its client forget stays with it until it closes.
    """
    echoes = {claim.message: no for no, claim in enumerate(consumer.buffer) if claim.echo}
    if any(claim.message in echoes for claim in taken):  # it has come again already
        for claim in taken:
            place = echoes[claim.message]
            claim.flagged, claim.delivered = True, consumer.buffer[place].delivered
            consumer.buffer[place] = claim
        return
    forgotten = consumer.home.lab.forgotten
    if any(claim in forgotten for claim in taken):
        consumer.stuck += taken
    elif others and consumer.reads:
        again = [*taken, *(replace(claim, echo=True) for claim in others)]
        sending.send_again(consumer, sorted(again, key=lambda claim: claim.row))  # as they were received
    else:
        consumer.taken = list(taken)
        acknowledgement.redeliver(consumer)


def _out_of_turn(lab: Cluster, client: Client | None, action: str, xid: str) -> str:
    """Return why a branch is not started, ended or prepared: a broker has it in another state, or has it not.

    Once it has ended it can be ended again, and once prepared prepared again (`TransactionState.nextState` of
    6.5.0; OpenMQ rule 1.9).
    """
    if action not in ("start", "end", "prepare"):
        return ""
    if client is None:
        return f"only a client can {action} a branch; name it, who="
    left = may_end(lab, xid, client)
    state = client.xid_state if client.xid == xid else lab.ended[xid].xid_state if left else ""
    prepared = xid in lab.prepared and lab.prepared[xid].home is client.home
    if action == "start":
        return f"the branch {xid} was started already" if state or prepared else ""
    if action == "prepare":
        fits, needed = prepared or state not in ("", "STARTED"), "ended"
    else:
        fits, needed = bool(state), "started"
    return "" if fits else f"no branch {xid} of {client.name} had been {needed}"
