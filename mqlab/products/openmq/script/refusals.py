"""Why a broker, or a client, refused what a step asks: as the state is when the answer comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from mqlab.products.openmq.broker.model import DEAD, Broker, Client
from mqlab.products.openmq.client import clients, producers
from mqlab.products.openmq.network.cluster import hands_over
from mqlab.products.openmq.network.faults import WITH_DATABASE
from mqlab.products.openmq.script.operation import destination_of
from mqlab.spec.openmq import PROPERTIES
from mqlab.spec.step import Step

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

OPENING = ("open_consumer", "temporary", "open_producer", "connect", "send", "browse")


def why(lab: Cluster, step: Step) -> str:
    """Return why a step was refused; empty where the state does not tell."""
    name = step.keys.get("consumer") or step.keys.get("producer")
    client = lab.consumers.get(str(name)) or lab.producers.get(str(name))
    if name is not None and (step.do not in OPENING or step.do == "send"):
        if client is None:
            return f"{name} was never opened, or was closed"
        return _of_client(step, client)
    where = step.keys.get("broker")
    broker = lab.brokers.get(where) if isinstance(where, str) else None
    if broker is not None and (told := _away(broker, step.do in OPENING)):
        return told
    of = _WHY.get(step.do)
    return "" if of is None else of(lab, step, broker)


def _away(broker: Broker, opens: bool) -> str:
    """Return why a broker serves nobody, or no new client; empty if it does."""
    if not broker.running:
        return f"{broker.name} was not running"
    if broker.suspended:
        return f"{broker.name} was paused"
    if not broker.ready:
        return f"{broker.name} was waiting for its master"
    return f"{broker.name} was quiesced, so it took no new clients" if opens and broker.quiesced else ""


def _no_master(broker: Broker | None) -> str:
    """Return that a broker cannot ask its master, which notes all changes; empty if it can, or has none."""
    name = broker.named_master if broker is not None else None
    there = broker is None or name is None or broker.linked(broker.lab.brokers[name])
    return "" if there else f"its master {name}, which notes all changes, was away"


def _of_client(step: Step, client: Client) -> str:
    """Return why a client's call failed: it has no connection any more, or lost what it held."""
    if step.do == "xa":
        branch = f"no branch {step.keys.get('xid', '')} of {client.name} had been started and prepared"
        return f"{branch}; the order is start, end, prepare, commit"
    if not client.open:
        return f"{client.name} had lost its connection"
    if step.do == "acknowledge" and not getattr(client, "taken", ()):
        return f"{client.name} held nothing to acknowledge"
    if step.do == "send":
        return ""
    if step.do == "commit":
        return f"{client.name} had lost a broker in its transaction, which was rolled back"
    return f"{client.name} had lost a broker whose messages it held, so only a rollback or recover ends them"


def _consumer(lab: Cluster, step: Step, broker: Broker | None) -> str:
    """Return why a consumer was not opened."""
    keys = dict(step.keys)
    if step.do == "temporary":
        keys[keys.get("kind", "queue")] = f"temp:{keys['consumer']}"
    dest = destination_of(keys)
    id = clients.client_id(keys)
    if broker is None:
        return "no broker of its list took new clients"
    if clients.is_used(lab, id):
        return f"the client id {id} was in use"
    if dest not in broker.instances:
        return f"{broker.name} has no {dest} and creates none by itself"
    instance = broker.instances[dest]
    if instance.owner not in (None, keys["consumer"]):
        return f"only {instance.owner} may consume from its temporary destination"
    active, backup = (int(instance.option(f"MaxNum{which}Consumers")) for which in ("Active", "Backup"))
    if min(active, backup) >= 0 and len(broker.consumers(dest)) >= active + backup:
        return f"{dest} may have {active} active and {backup} backup consumers"
    if keys.get("shared"):
        return "those who share the subscription read another topic, or with another selector"
    return _no_master(broker) or "the durable subscription is in use, or reads something else"


def _producer(lab: Cluster, step: Step, broker: Broker | None) -> str:
    """Return why a producer was not opened."""
    dest = destination_of(step.keys)
    if broker is None:
        return "no broker of its list took new clients"
    if dest == DEAD:
        return "only brokers write to the dead message queue"
    if dest not in broker.instances:
        return f"{broker.name} has no {dest} and creates none by itself"
    most = broker.instances[dest].option("MaxNumProducers")
    return f"{dest} has reached MaxNumProducers={most}" if producers.is_full(broker, dest) else ""


def _destination(lab: Cluster, step: Step, broker: Broker | None) -> str:
    """Return why a destination was not created, changed or removed."""
    dest = destination_of(step.keys)
    there = broker is not None and dest in broker.instances
    if step.do == "create_destination":
        if there:
            return f"{dest} existed already"
        if strange := [name for name in step.keys.get("options", {}) if name not in PROPERTIES]:
            return f"a destination has no {' and no '.join(strange)}"
    elif not there:
        return f"{step.keys['broker']} has no {dest}"
    elif "LocalOnly" in step.keys.get("options", {}):
        return "local_only is fixed at the creation"
    if not lab.database_up and lab.network.model in WITH_DATABASE:
        return "the database was down"
    return _no_master(broker) or "not all brokers could be told of the change"


def _unsubscribe(lab: Cluster, step: Step, broker: Broker | None) -> str:
    """Return why a durable subscription was not given up."""
    id, name = step.keys["client_id"], step.keys["subscription_name"]
    known = broker is not None and (id, name) in broker.durables
    return f"the client id {id} is in use" if known else f"there is no durable subscription {name} of {id}"


def _xa(lab: Cluster, step: Step, broker: Broker | None) -> str:
    """Return why a broker did not end a branch."""
    if broker is None:
        return "say whose branch it is: who= a client, or on= a broker"
    return f"{broker.name} has no prepared branch {step.keys.get('xid', '')}".rstrip()


def _command(lab: Cluster, step: Step, broker: Broker | None) -> str:
    """Return why a command to the cluster was refused."""
    command = str(step.keys["command"])
    if command == "change_master" and broker is not None:
        if broker.master != broker.name:
            return f"only the master hands over, and {broker.name} is not it"
        if not hands_over(broker):
            return "the master hands over only with imq.cluster.dynamicChangeMasterBrokerEnabled=true"
        to = lab.brokers[str(step.keys["to"])]
        return _away(to, opens=False) or f"{broker.name} has no link to {to.name}"
    if command == "quiesce" and broker is not None:
        return f"{broker.name} was becoming quiet already"
    if command != "takeover":
        return ""
    target = lab.brokers[str(step.keys["target"])]
    if not lab.enhanced:
        return "only brokers of an enhanced cluster take over"
    taker = f"taken over by {target.taken_over_by.name} already" if target.taken_over_by else "not down"
    return f"{target.name} was {taker}"


def _owner(lab: Cluster, step: Step, broker: Broker | None) -> str:
    return f"no broker had taken over from {step.keys['of']}"


_WHY: dict[str, Callable[[Cluster, Step, Broker | None], str]] = {
    "open_consumer": _consumer, "temporary": _consumer, "open_producer": _producer, "send": _producer,
    **dict.fromkeys(
        ("create_destination", "update_destination", "destroy_destination", "purge", "pause_destination",
         "resume_destination"), _destination),
    "unsubscribe": _unsubscribe, "xa": _xa, "admin": _command, "kill_owner": _owner,
}  # fmt: skip
