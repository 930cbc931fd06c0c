"""The end of a transaction, and distributed ones that a session has left behind for another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker import acknowledgement, delivery, physical_destinations, removal
from mqlab.products.openmq.broker.messages import Branch, Delivery
from mqlab.products.openmq.broker.model import Broker
from mqlab.products.openmq.client.state import Client
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
                removal.discard(message, Reason.asked)
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
