"""Administration: destinations, subscriptions, commands to the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import takewhile
from operator import attrgetter
from typing import TYPE_CHECKING

from mqlab.engine.clock import NEVER
from mqlab.products.openmq.broker import delivery, physical_destinations, sending
from mqlab.products.openmq.broker.destinations import turn
from mqlab.products.openmq.broker.model import DEAD, LOCK_TIMEOUT, Broker
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.ha import takeover
from mqlab.products.openmq.network import changes
from mqlab.products.openmq.script.operation import Outcome, Row, RunningStep, ScriptStep
from mqlab.spec.openmq import actions as o
from mqlab.spec.openmq.options import PROPERTIES, Options
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster


Asked = tuple["Cluster", ScriptStep[o.OfDestination]]

# Of a destination that is there an administrator can set all, but no such property to 0, and of dead messages,
# which brokers write, not what they cannot wait for, or would do for ever (OpenMQ rule 3.6).
AT_LEAST_ONE = ("MaxNumProducers", "MaxNumActiveConsumers")
NEVER_OF_DEAD = (("LimitBehavior", "FLOW_CONTROL"), ("UseDMQ", True))
QUIESCE_POLL = 10_000_000  # us between two looks of a broker that is to become quiet (`QuiesceRunnable`)


def _asked(lab: Cluster, step: ScriptStep[o.OfDestination]) -> tuple[Broker, Destination, bool]:
    """Return the broker asked, the destination, and whether it is there."""
    broker, dest = lab.brokers[step.action.on], step.dest
    return broker, dest, dest in broker.instances


def _managed(lab: Cluster, step: ScriptStep[o.OfDestination]) -> tuple[Broker, Destination, bool]:
    """Return the same, and whether the broker's administration finds that destination."""
    broker, dest, _ = _asked(lab, step)
    if dest == DEAD:  # every broker has one
        broker.add(dest, "auto")
    return broker, dest, is_managed(broker, dest)


def is_managed(broker: Broker, dest: Destination) -> bool:
    """Whether a broker's administration lists a destination; asked of another it refuses at once."""
    return dest in broker.instances and not broker.instances[dest].unlisted


def none_allowed(options: Options) -> bool:
    """Whether properties would let nobody produce, or consume: 0 is refused there, and -1 is any number."""
    return any(options.get(name) == 0 for name in AT_LEAST_ONE)


def is_refused(dest: Destination, name: str, value: object) -> bool:
    """Whether a property cannot be set so of a destination that is there; local-only never can."""
    of_dead = dest == DEAD and (name == "MaxNumProducers" or (name, value) in NEVER_OF_DEAD)
    return name == "LocalOnly" or none_allowed({name: value}) or of_dead


def settable(dest: Destination, options: Options) -> Options:
    """Return the properties that are set before one that is refused: they are set one after the other."""
    return dict(takewhile(lambda one: not is_refused(dest, *one), options.items()))


def do_create_destination(lab: Cluster, step: ScriptStep[o.CreateDestination]) -> Outcome:
    """Create a destination, everywhere at once; the broker asked waits for all (OpenMQ rule 8.13)."""
    broker, dest, there = _asked(lab, step)
    # What is known is refused without a word to the others, and so is what is no attribute of its MBean.
    if there or not PROPERTIES.keys() >= step.options.keys():
        return False
    if changes.waits_for_database(broker):
        _create_at((broker, *broker.peers), step)
        return RunningStep(changes.has_database, (lab, step), step.limit, _record, insists=True)
    if broker.running and not (broker.ready or broker.suspended):
        broker.hangs = True
        return RunningStep(_has_master, (lab, step), step.limit, _create_at_others, insists=True)
    # What is in the store that all share is taken up from there.
    broker.hangs = broker.serves and changes.stored(broker, dest) is None and broker.asks_in_vain
    return clients.asks_all(broker, step, _create, LOCK_TIMEOUT if broker.hangs else 0)


def _create_at(brokers: Iterable[Broker], step: ScriptStep[o.OfDestination]) -> None:
    """Let brokers make a destination that no record has."""
    for broker in brokers:
        changes.CHANGES["create"](broker, step.dest, dict(step.options))


def _record(asked: Asked) -> bool:
    """Write a creation that was made already into the record."""
    broker, dest, _ = _asked(*asked)
    asked[0].change_record.append(("create", (dest, dict(asked[1].options))))
    for peer in (broker, *broker.peers):
        peer.seen = len(asked[0].change_record)
    return True


def _has_master(asked: Asked) -> bool:
    """Whether a broker that has started without its master has it now (OpenMQ rule 6.3)."""
    broker = asked[0].brokers[asked[1].action.on]
    return broker.ready or not broker.running


def _create_at_others(asked: Asked) -> bool:
    """Go on with a creation: what the master's record does not know this broker has dropped meanwhile."""
    broker = asked[0].brokers[asked[1].action.on]
    _go_on(broker)
    _create_at(broker.peers, asked[1])
    return broker.ready


def _create(asked: tuple[Broker, ScriptStep[o.CreateDestination], int]) -> bool:
    broker, step, end = asked
    dest, there = step.dest, step.dest in broker.instances
    in_vain = broker.hangs and broker.lab.clock.now >= end
    _go_on(broker)
    if not there and none_allowed(step.options) and broker.serves:
        for peer in broker.peers:  # they have heard of it before its properties were set
            changes.CHANGES["create"](peer, dest, {})
        return False
    if in_vain and not there:  # it is there all the same, and no administrator finds it (OpenMQ rule 8.13)
        broker.add(dest, "admin").unlisted = True
    return not there and not in_vain and changes.change(broker, "create", dest, dict(step.options))


def _changes(lab: Cluster, step: ScriptStep[o.OfDestination], change: Callable[[Asked], bool]) -> Outcome:
    """Change what is in the master's record once it answers; until then the broker hangs (OpenMQ rule 6.1)."""
    broker = lab.brokers[step.action.on]
    if not (broker.serves and broker.asks_master_in_vain):
        return change((lab, step))
    broker.hangs |= change is not _update
    broker.tell_all()
    return RunningStep(_master_answers, (lab, step), step.limit, change, insists=True)


def _master_answers(asked: Asked) -> bool:
    broker = asked[0].brokers[asked[1].action.on]
    answers = not (broker.suspended or broker.asks_master_in_vain)
    if answers:
        _go_on(broker)
    return answers


def _go_on(broker: Broker) -> None:
    """A broker waits for nobody any more, and reads what has come to it meanwhile."""
    if broker.hangs:
        broker.hangs = False
        delivery.release_held(broker.lab)


def do_update_destination(lab: Cluster, step: ScriptStep[o.UpdateDestination]) -> Outcome:
    """Change properties, the same everywhere; local-only is fixed at the creation.

    At the broker asked they are in force at once, and it does not hang (OpenMQ rule 6.1).
    """
    broker, dest, there = _managed(lab, step)
    if there and broker.asks_master_in_vain:
        changes.CHANGES["update"](broker, dest, settable(dest, step.options))
    return _changes(lab, step, _update) if there else False


def _update(asked: Asked) -> bool:
    step = asked[1]
    broker, dest, there = _managed(*asked)
    allowed = settable(dest, step.options)
    whole = len(allowed) == len(step.options)
    changed = there and (whole or bool(allowed)) and changes.change(broker, "update", dest, allowed)
    if changed:  # who lacks it has it now (OpenMQ rule 3.6)
        broker.spread(dest, told=True)
    return changed and whole


def do_destroy_destination(lab: Cluster, step: ScriptStep[o.DestroyDestination]) -> Outcome:
    """Destroy a destination with all its messages; its consumers and producers are cut off for good.

    A consumer goes on taking what its client has already (OpenMQ rule 4.11).
    """
    return _changes(lab, step, _destroy) if _stored(lab, step) and step.dest != DEAD else False


def _stored(lab: Cluster, step: ScriptStep[o.OfDestination]) -> bool:
    """Whether a broker finds a destination: those of an enhanced cluster look in their common store, too."""
    broker, dest, there = _asked(lab, step)
    return there or changes.stored(broker, dest) is not None


def _destroy(asked: Asked) -> bool:
    lab, step = asked
    broker, dest, _ = _asked(lab, step)
    return _stored(lab, step) and changes.change(broker, "destroy", dest)


def do_purge(lab: Cluster, step: ScriptStep[o.PurgeDestination]) -> bool:
    """Remove what one broker has of a destination (OpenMQ rule 3.8)."""
    broker, dest, there = _managed(lab, step)
    if there and broker.serves:
        if not broker.instances[dest].messages:
            lab.tell(f"{broker.name} had no message of {dest}")
        physical_destinations.purge(broker.instances[dest])
    return there and broker.serves


def do_unsubscribe(lab: Cluster, step: ScriptStep[o.Unsubscribe]) -> Outcome:
    """Give up a durable subscription, on any broker, unless its client id is in use: all are asked for that."""
    broker = lab.brokers[step.action.on]
    if not (broker.serves and broker.asks_in_vain):
        return _unsubscribe((broker, step, 0))
    return clients.asks_all(broker, step, _unsubscribe, NEVER)


def _unsubscribe(asked: tuple[Broker, ScriptStep[o.Unsubscribe], int]) -> bool:
    broker, action = asked[0], asked[1].action
    key = action.client_id, action.subscription_name
    known = key in broker.durables and not clients.is_used(broker.lab, key[0])
    return known and changes.change(broker, "unsubscribe", key)


def do_pause_destination(lab: Cluster, step: ScriptStep[o.PauseDestination | o.ResumeDestination]) -> bool:
    """Pause one broker's instance, so that its producers and consumers wait, or let it go on."""
    paused = isinstance(step.action, o.PauseDestination)
    broker, dest, there = _managed(lab, step)
    if there and broker.serves:
        if broker.instances[dest].paused == paused:
            lab.tell(f"{dest} was {'paused already' if paused else 'not paused'} at {broker.name}")
        broker.instances[dest].paused = paused
        broker.instances[dest].producers.check()
        # One goes on after the other, the own ones first (`Destination.resumeDestination` of 6.5.0).
        for consumer in sorted(broker.consumers(dest), key=lambda c: c.home is not broker):
            if consumer.home is broker:
                sending.send_on(consumer)
            delivery.dispatch(broker.instances[dest], consumer)
    return there and broker.serves


def do_browse(lab: Cluster, step: ScriptStep[o.Browse]) -> Row | bool:
    """Show what a broker holds of a queue, by priority, but what has expired or is not committed."""
    broker, dest, _ = _asked(lab, step)
    if not dest.is_queue:
        lab.tell(f"{dest} is a topic; only queues can be browsed")
    if clients.reachable(lab, step) is None or not dest.is_queue:
        return False
    if dest.name.startswith("temp:"):  # C4020
        lab.tell(f"{dest} is another connection's: only that one can read it")
        return False
    instance = broker.instances.get(dest)
    if instance is None and (stored := changes.stored(broker, dest)) is not None:
        instance = broker.add(dest, stored.created_by, stored.options)
    if instance is None:
        lab.tell(f"{broker.name} has no {dest}")
        if not broker.creates(dest):
            return False
    held = [*instance.messages, *instance.copies] if instance else []
    # What is dead is listed as it died.
    line = turn if dest == DEAD else attrgetter("number")
    found = sorted((message for message in held if message.transaction is None), key=line)
    found.sort(key=attrgetter("priority"), reverse=True)
    return {"numbers": [m.number for m in found if not m.expires or lab.clock.now < m.expires]}


def do_connect(lab: Cluster, step: ScriptStep[o.Connect]) -> Row | bool:
    """Open and close a connection."""
    broker = clients.reachable(lab, step)
    return {"home": broker.name} if broker else False


def do_knock(lab: Cluster, step: ScriptStep[o.Knock]) -> Outcome:
    """Knock at brokers until an event has happened."""
    return RunningStep(lab.has_happened, step.action.until, step.limit)


def do_change_master(lab: Cluster, step: ScriptStep[o.ChangeMaster]) -> bool:
    """Let a broker hand over to another one."""
    broker, to = lab.brokers[step.action.on], lab.brokers[step.action.to]
    if not broker.serves:
        return False
    if broker is to:
        lab.tell(f"{broker.name} is asked to hand over to itself: the master stays the same")
    allowed = changes.hands_over(broker) and broker.linked(to)
    for peer in (broker, *broker.peers) if allowed else ():
        peer.configure({}, master=to.name)
    return allowed


def do_take_over(lab: Cluster, step: ScriptStep[o.TakeOver]) -> bool:
    """Let a broker take over a dead one."""
    broker, target = lab.brokers[step.action.on], lab.brokers[step.action.target]
    if not broker.serves or not lab.enhanced or target.running or target.taken_over_by:
        return False
    takeover.take(broker, target)
    return True


def do_reload(lab: Cluster, step: ScriptStep[o.Reload]) -> bool:
    """Let a broker read the cluster's configuration again."""
    if serves := lab.brokers[step.action.on].serves:
        lab.tell("no list of brokers has changed that it could read again")
    return serves


def do_quiesce(lab: Cluster, step: ScriptStep[o.Quiesce | o.Unquiesce]) -> bool:
    """Let new clients go elsewhere, or come again: those that a broker has stay."""
    broker, quiesces = lab.brokers[step.action.on], isinstance(step.action, o.Quiesce)
    if not broker.serves:
        return False
    if quiesces and broker.quiesced and not broker.quiet:
        return False  # it is about to (6.5.0: `BrokerStateHandler.quiesce`)
    if broker.quiesced == quiesces:
        lab.tell(f"the broker was {'quiesced already' if broker.quiesced else 'not quiesced'}")
    broker.quiesced, broker.quiet = quiesces, False
    on_quiesced(broker)
    return True


def on_quiesced(broker: Broker) -> None:
    """Look whether a quiesced broker has neither clients nor messages that are not persistent."""
    if not broker.quiesced:
        return
    lab = broker.lab
    busy = any(c.open and c.home is broker for c in (*lab.consumers.values(), *lab.producers.values()))
    kept = [m for instance in broker.instances.values() for m in (*instance.messages, *instance.remote)]
    broker.quiet = not busy and all(message.persistent for message in kept)
    if not broker.quiet:
        lab.later(QUIESCE_POLL, on_quiesced, broker)
