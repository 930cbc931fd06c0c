"""Why a broker, or a client, refused what a step asks: as the state is when the answer comes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mqlab.products.openmq.broker.active_consumers import takes_no_more
from mqlab.products.openmq.broker.administration import is_refused, none_allowed
from mqlab.products.openmq.broker.model import DEAD, Broker
from mqlab.products.openmq.client import clients, consumers, producers
from mqlab.products.openmq.client.state import Client
from mqlab.products.openmq.network.changes import hands_over
from mqlab.products.openmq.network.faults import WITH_DATABASE
from mqlab.products.openmq.script import actions
from mqlab.products.openmq.script.operation import ScriptStep
from mqlab.spec import action as a
from mqlab.spec.naming import destination_in
from mqlab.spec.openmq import actions as o
from mqlab.spec.openmq.options import PROPERTIES
from mqlab.spec.openmq.words import BY_NOUN, NO_ACKNOWLEDGE, makes_temporary
from mqlab.trace.kinds import Kind

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

ANSWERS = {"refused": "{} refused it", "blocked": "{} did not answer"}  # of brokers, but "ok"
OPENING = (a.Consumer, o.OpenProducer, o.Connect, a.Producer, o.Browse)


def at_client(lab: Cluster, step: ScriptStep[a.Action]) -> str:
    """Return "refused" for what a client refuses by itself, or cannot be asked, whatever brokers there are.

    A client that was not opened, or is closed, does nothing. A destination's name has to be one (OpenMQ rule
    4.13), there is no session that acknowledges nothing (OpenMQ rule 1.11), and each has the calls of its mode.
    """
    action, name = step.action, step.client
    opens = isinstance(action, actions.OPENS)
    named = destination_in(action)
    strange = named is not None and not (named.is_temporary or is_name(named.name))
    # A recorder's administrator does not learn the names that brokers give to temporary ones.
    manages = isinstance(action, (*actions.OF_MANAGED, o.DestroyDestination)) and lab.recorded
    strange |= manages and named is not None and named.is_temporary
    strange |= lab.recorded and isinstance(action, o.Xa) and not name  # nor has a recorder a session of its own
    if strange or (opens and step.ack_mode == NO_ACKNOWLEDGE and not step.options.get("xa")):
        return "refused"
    if not name or opens or isinstance(action, a.Producer):
        return ""
    sends, both = isinstance(action, actions.OF_PRODUCERS), isinstance(action, actions.OF_SESSIONS)
    there = (not sends and name in lab.consumers) or ((sends or both) and name in lab.producers)
    client = (None if sends else lab.consumers.get(name)) or lab.producers.get(name)
    return "" if there and not (client and _misfit(action, client)) else "refused"


def _misfit(action: a.Action, client: Client) -> str:
    """Return why a session has no such call: by how it was made (OpenMQ rule 1.12)."""
    name, branch = client.name, client.in_branch
    if isinstance(action, (a.Commit, a.Rollback)) and client.mode != "transacted":
        return f"{name} has a branch to end" if branch else f"{name} has no transacted session"
    if isinstance(action, a.Recover) and (client.mode == "transacted" or branch):
        return f"{name} has a transaction, which is rolled back and not recovered"
    if isinstance(action, o.Xa) and not client.step.options.get("xa"):
        return f"{name} has no XA session; open it with options={{'xa': True}}"
    return ""


def is_name(name: str) -> bool:
    """Whether a destination can be called so: by the words of Java, with dots and wildcards between them.

    What begins with ``mq.`` is the product's own (`DestinationName.isSyntaxValid` of 6.5.0).
    """
    own = name.startswith("mq.")
    return own or re.fullmatch(r"(?!\d)[\w$*>][\w$.*>]*", name) is not None


def why(lab: Cluster, step: ScriptStep[a.Action]) -> str:
    """Return why a step was refused; empty where the state does not tell."""
    opens = isinstance(step.action, OPENING)
    named = destination_in(step.action)
    if named is not None and not (named.is_temporary or is_name(named.name)):
        return f"{named.name} is not a name that OpenMQ allows: letters, digits, _, $ and dots"
    if isinstance(step.action, actions.OPENS) and step.ack_mode == NO_ACKNOWLEDGE:
        return "ack_mode none is refused by JMS' own createSession (C4067)"
    if (name := step.client) and not opens:
        client = lab.consumers.get(name) or lab.producers.get(name)
        if client is None:
            return f"{name} was never opened, or was closed"
        return _misfit(step.action, client) or _of_client(step.action, client)
    broker = lab.brokers.get(step.place)
    if broker is not None and (told := _away(broker, opens)):
        return told
    of = _WHY.get(type(step.action))
    return "" if of is None else of(lab, step, broker)


def note(lab: Cluster, step: ScriptStep[a.Action], result: str) -> None:
    """Record what a broker was asked for in vain; sends have events of their own."""
    asked, sends = lab.brokers.get(step.place), isinstance(step.action, (o.Send, a.Producer))
    reason = why(lab, step) if result == "refused" else ""
    if result in ANSWERS and not sends:
        who = asked.name if asked else "its client"
        told = [ANSWERS[result].format(who)] if not reason or (asked and asked.serves) else []
        lab.tell("; ".join((*told, *filter(None, (reason,)))), step)
    elif reason:  # else its messages have rows of their own
        lab.tell(reason, step)
    if asked and result != "ok" and not sends:
        lab.notes.add(Kind.Failed, {step.word: f"{about(step)} {result}".strip()}, broker=asked.node)


def about(step: ScriptStep[a.Action]) -> str:
    """Return what a broker was asked for in vain, as the event of it has it."""
    action = step.action
    told: list[str | None] = [step.dest.name] if destination_in(action) and not makes_temporary(action) else []
    told += [action.name] if isinstance(action, a.Consumer) else []
    told += [getattr(action, "subscription_name", None), BY_NOUN[type(action)].constant.get("command")]
    return " ".join(filter(None, told))


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


def _of_client(action: a.Action, client: Client) -> str:
    """Return why a client's call failed: it has no connection any more, or lost what it held."""
    if isinstance(action, o.Xa):
        branch = f"no branch {action.xid} of {client.name} had been started and prepared"
        return f"{branch}; the order is start, end, prepare, commit"
    if not client.open:
        return f"{client.name} had lost its connection"
    if isinstance(action, a.Acknowledge) and not getattr(client, "taken", ()):
        return f"{client.name} held nothing to acknowledge"
    if isinstance(action, o.Send):
        return ""
    if isinstance(action, a.Commit):
        return f"{client.name} had lost a broker in its transaction, which was rolled back"
    return f"{client.name} had lost a broker whose messages it held, so only a rollback or recover ends them"


def _consumer(lab: Cluster, step: ScriptStep[a.Consumer], broker: Broker | None) -> str:
    """Return why a consumer was not opened."""
    dest, id = step.dest, clients.client_id(step)
    if broker is None:
        return "no broker of its list took new clients"
    if clients.is_used(lab, id):
        return f"the client id {id} was in use"
    if dest not in broker.instances:
        return f"{broker.name} has no {dest} and creates none by itself"
    instance = broker.instances[dest]
    if instance.owner not in (None, step.action.name):
        return f"only {instance.owner} may consume from its temporary destination"
    if wrong := consumers.selector_of(step)[1]:
        return wrong
    if takes_no_more(broker, dest):
        active, backup = (int(instance.option(f"MaxNum{which}Consumers")) for which in ("Active", "Backup"))
        return f"{dest} may have {active} active and {backup} backup consumers"
    if step.options.get("shared"):
        return "those who share the subscription read another topic, or with another selector"
    return _no_master(broker) or "the durable subscription is in use, or reads something else"


def _producer(lab: Cluster, step: ScriptStep[a.Producer | o.OpenProducer], broker: Broker | None) -> str:
    """Return why a producer was not opened."""
    dest = step.dest
    if broker is None:
        return "no broker of its list took new clients"
    if dest == DEAD:
        return "only brokers write to the dead message queue"
    if dest not in broker.instances:
        return f"{broker.name} has no {dest} and creates none by itself"
    most = broker.instances[dest].option("MaxNumProducers")
    return f"{dest} has reached MaxNumProducers={most}" if producers.is_full(broker, dest) else ""


def _destination(lab: Cluster, step: ScriptStep[o.OfDestination], broker: Broker | None) -> str:
    """Return why a destination was not created, changed or removed."""
    dest = step.dest
    there = broker is not None and dest in broker.instances
    if isinstance(step.action, o.CreateDestination):
        if there:
            return f"{dest} existed already"
        if strange := [name for name in step.options if name not in PROPERTIES]:
            return f"a destination has no {' and no '.join(strange)}"
        if none_allowed(step.options):
            return "0 producers, or active consumers, are refused; -1 is any number"
    elif not there:
        return f"{step.action.on} has no {dest}"
    elif "LocalOnly" in step.options:
        return "local_only is fixed at the creation"
    elif strange := [name for name, value in step.options.items() if is_refused(dest, name, value)]:
        return f"{dest} cannot have this {' and '.join(strange)}"
    if not lab.database_up and lab.network.model in WITH_DATABASE:
        return "the database was down"
    return _no_master(broker) or "not all brokers could be told of the change"


def _unsubscribe(lab: Cluster, step: ScriptStep[o.Unsubscribe], broker: Broker | None) -> str:
    """Return why a durable subscription was not given up."""
    id, name = step.action.client_id, step.action.subscription_name
    known = broker is not None and (id, name) in broker.durables
    return f"the client id {id} is in use" if known else f"there is no durable subscription {name} of {id}"


def _xa(lab: Cluster, step: ScriptStep[o.Xa], broker: Broker | None) -> str:
    """Return why a broker did not end a branch."""
    if broker is None:
        return "say whose branch it is: who= a client, or on= a broker"
    return f"{broker.name} has no prepared branch {step.action.xid}".rstrip()


def _change_master(lab: Cluster, step: ScriptStep[o.ChangeMaster], broker: Broker) -> str:
    """Return why a broker did not hand over."""
    if broker.master != broker.name:
        return f"only the master hands over, and {broker.name} is not it"
    if not hands_over(broker):
        return "the master hands over only with imq.cluster.dynamicChangeMasterBrokerEnabled=true"
    to = lab.brokers[step.action.to]
    return _away(to, opens=False) or f"{broker.name} has no link to {to.name}"


def _take_over(lab: Cluster, step: ScriptStep[o.TakeOver], broker: Broker) -> str:
    """Return why a broker did not take over another."""
    target = lab.brokers[step.action.target]
    if not lab.enhanced:
        return "only brokers of an enhanced cluster take over"
    taker = f"taken over by {target.taken_over_by.name} already" if target.taken_over_by else "not down"
    return f"{target.name} was {taker}"


_WHY: dict[type[a.Action], Callable[[Cluster, ScriptStep[Any], Any], str]] = {
    a.Consumer: _consumer, o.OpenProducer: _producer, a.Producer: _producer,
    **dict.fromkeys(
        (o.CreateDestination, o.UpdateDestination, o.DestroyDestination, o.PurgeDestination,
         o.PauseDestination, o.ResumeDestination), _destination),
    o.Unsubscribe: _unsubscribe, o.Xa: _xa, o.ChangeMaster: _change_master, o.TakeOver: _take_over,
    o.Quiesce: lambda lab, step, broker: f"{broker.name} was becoming quiet already",
    o.CrashOwner: lambda lab, step, broker: f"no broker had taken over from {step.action.of}",
}  # fmt: skip
