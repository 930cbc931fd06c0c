"""Administration: destinations, subscriptions, and commands to the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq import clients, cluster, delivery, sending
from mqlab.runtime.openmq.broker import Broker
from mqlab.runtime.openmq.messages import OK, REFUSED, Client, Held, Keys, destination_of
from mqlab.trace.kinds import Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


def _changed(lab: ClusterLab, keys: Keys, what: str, allowed: bool, *values: Any) -> str:
    broker = lab.brokers[keys["broker"]]
    allowed = allowed and broker.serves
    return OK if allowed and cluster.change(broker, what, *values) else REFUSED


def _has(lab: ClusterLab, keys: Keys) -> bool:
    return destination_of(keys) in lab.brokers[keys["broker"]].instances


def do_create_destination(lab: ClusterLab, keys: Keys) -> str:
    """Create a destination, everywhere at once."""
    options = dict(keys.get("options", {}))
    return _changed(lab, keys, "create", not _has(lab, keys), destination_of(keys), options)


def do_update_destination(lab: ClusterLab, keys: Keys) -> str:
    """Change properties, the same everywhere; local-only is fixed at the creation."""
    options = dict(keys["options"])
    allowed = _has(lab, keys) and "LocalOnly" not in options
    return _changed(lab, keys, "update", allowed, destination_of(keys), options)


def do_destroy_destination(lab: ClusterLab, keys: Keys) -> str:
    """Destroy a destination with all its messages; its consumers are cut off for good."""
    dest = destination_of(keys)
    done = _changed(lab, keys, "destroy", _has(lab, keys), dest)
    for consumer in lab.consumers.values() if done == OK else ():
        if consumer.dest == dest:
            consumer.open, consumer.closed = False, True
    return done


def do_unsubscribe(lab: ClusterLab, keys: Keys) -> str:
    """Give up a durable subscription, on any broker, unless its client id is in use."""
    key = (str(keys["client_id"]), str(keys["subscription_name"]))
    known = key in lab.brokers[keys["broker"]].durables
    return _changed(lab, keys, "unsubscribe", known and not clients.is_used(lab, key[0]), key)


def _pause(lab: ClusterLab, keys: Keys, paused: bool) -> str:
    broker = lab.brokers[keys["broker"]]
    if not broker.serves or not _has(lab, keys):
        return REFUSED
    broker.instances[destination_of(keys)].paused = paused
    return OK


def do_pause_destination(lab: ClusterLab, keys: Keys) -> str:
    """Pause one broker's instance: its producers and consumers wait."""
    return _pause(lab, keys, True)


def do_resume_destination(lab: ClusterLab, keys: Keys) -> str:
    """Let a paused instance go on."""
    return _pause(lab, keys, False)


def do_browse(lab: ClusterLab, keys: Keys) -> dict[str, Any]:
    """Show what a broker holds of a queue, by priority."""
    instance = lab.brokers[keys["broker"]].instances.get(destination_of(keys))
    found = delivery.in_order(instance.messages) if instance else []
    return {"numbers": [message.number for message in found], "result": OK}


def do_connect(lab: ClusterLab, keys: Keys) -> Any:
    """Open and close a connection."""
    broker = clients.reachable(lab, keys["broker"])
    return {"home": broker.name, "result": OK} if broker else REFUSED


def do_knock(lab: ClusterLab, keys: Keys) -> str:
    """Knock at brokers until an event has happened."""
    lab.pass_until(lambda: lab.has_happened(keys["until"]), int(keys.get("limit_ms", 60_000)))
    return OK


def do_admin(lab: ClusterLab, keys: Keys) -> str:
    """Give a broker of a cluster a command."""
    broker, command = lab.brokers[keys["broker"]], keys["command"]
    if not broker.serves:
        return REFUSED
    if command == "takeover":
        return lab.takeover.by_command(broker, lab.brokers[keys["target"]])
    if command == "change_master":
        return _change_master(broker, lab.brokers[keys["to"]])
    if command in ("quiesce", "unquiesce"):  # new clients go elsewhere, those it has stay
        broker.quiesced = command == "quiesce"
    return OK


def _change_master(broker: Broker, to: Broker) -> str:
    flag = broker.option("imq.cluster.dynamicChangeMasterBrokerEnabled", "false")
    if str(flag).lower() != "true" or broker.master != broker.name or not broker.linked(to):
        return REFUSED
    for peer in (broker, *broker.peers):
        peer.master = to.name
    return OK


# Distributed transactions


class Prepared:
    """A prepared transaction: it stays at its home, or with whoever takes that one over."""

    def __init__(self, home: str, held: list[Held]) -> None:
        self.home, self.held = home, held


def do_xa(lab: ClusterLab, keys: Keys) -> str:
    """A step of a distributed transaction; what is prepared ends only where it is."""
    action, xid, client = keys["action"], str(keys.get("xid", "")), lab.client(keys)
    if client is not None and action == "start":
        client.xid = xid
    ends = action in ("commit", "rollback")
    if client is not None and (action == "prepare" or (ends and client.xid == xid)):
        _prepare(lab, xid, client)
    if not ends:
        return OK
    branch = lab.prepared.get(xid)
    if branch is None or branch.home != (client.home if client else keys.get("broker")):
        return REFUSED
    del lab.prepared[xid]
    sending.end_transaction(lab, xid, action == "commit")
    for held in branch.held:
        if action == "commit":
            delivery.finish(lab, held)
        else:
            held.target.flagged = True
            delivery.release(lab, held, Rule.asked)
    return OK


def _prepare(lab: ClusterLab, xid: str, client: Client) -> None:
    """Keep what a client has sent and taken for the transaction's manager."""
    taken: list[Held] = getattr(client, "taken", [])
    lab.prepared[xid] = Prepared(client.home, list(taken))
    client.xid = ""
    taken.clear()
    for _, message in lab.messages():
        if message.transaction == client.name:
            message.transaction = xid
