"""Delivery: from a message's home to the consumers that have room, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.openmq.broker import Broker
from mqlab.runtime.openmq.messages import DEAD, Consumer, Held, Key, Message, Target
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab

# Who is free first gets a message. A remote consumer is free again after a way between brokers, and a
# producer of non-persistent messages sends four times as many meanwhile (observed, sections 2 and 10).
LOCAL_TURN, REMOTE_TURN, REMOTE_TURN_IN_BURST = 1, 2, 8

# Out


def dispatch(broker: Broker, dest: Destination) -> bool:
    """Hand out what waits for a destination at its home; True if something went."""
    instance, takers = broker.instances[dest], broker.active(dest)
    if not takers or instance.paused or dest == DEAD:
        return False
    local = [c for c in takers if c.home == broker.name]
    if local and dest.is_queue and instance.option("LocalDeliveryPreferred"):
        takers = local
    moved = False
    for message in in_order(instance.messages):
        for target in message.targets if message.transaction is None else ():
            if target.taker is None:
                moved |= _hand(broker, message, target, takers)
    return moved


def in_order(messages: list[Message]) -> list[Message]:
    """Return messages as they are to be handed out: by priority, then as they came."""
    return sorted(messages, key=lambda m: (-m.priority, m.number))


def _hand(broker: Broker, message: Message, target: Target, takers: list[Consumer]) -> bool:
    lab = broker.lab
    free = [c for c in takers if len(c.buffer) < c.limit and not c.broken
            and (target.key is None or c.key == target.key) and c.wants(message)]  # fmt: skip
    if not free:
        return False
    taker = min(free, key=lambda consumer: consumer.served)
    home, row = lab.brokers[taker.home], message.row
    taker.served += LOCAL_TURN
    if home is not broker:
        row = _forward(broker, home, message)
        taker.served += (REMOTE_TURN if message.persistent else REMOTE_TURN_IN_BURST) - LOCAL_TURN
    target.taker, message.waits = taker, -1
    row = lab.notes.message(Kind.Dispatched, message, home, frm=home.node, to=taker.node,
                            sub=taker.sub, cause=row)  # fmt: skip
    taker.buffer.append(Held(message, target, row, not lab.is_cut(broker, home)))
    return True


def _forward(broker: Broker, home: Broker, message: Message) -> int:
    """Return the row with which a consumer's broker has a message: it crosses only once."""
    notes = broker.lab.notes
    if home.name not in message.copies:
        way = {"frm": broker.node, "to": home.node, "link": notes.links[broker.name, home.name]}
        row = notes.message(Kind.Forwarded, message, broker, rule=Rule.home_to_home,
                            cause=message.row, **way)  # fmt: skip
        message.copies[home.name] = notes.message(Kind.Enqueued, message, home, cause=row, **way)
    return message.copies[home.name]


def drop_copies(lab: ClusterLab, message: Message, kind: int, rule: int, cause: int = -1) -> None:
    """Note that copies of a message have gone from brokers where nobody holds it any more."""
    there = {target.taker.home for target in message.targets if target.taker}
    for name in [name for name in message.copies if name not in there]:
        row = message.copies.pop(name)
        lab.notes.message(kind, message, lab.brokers[name], rule=rule,
                          cause=row if cause < 0 else cause)  # fmt: skip


def consume(lab: ClusterLab, consumer: Consumer) -> bool:
    """Let a consumer take what its application wants; True if it took something."""
    took, automatic = False, consumer.mode in ("auto", "dups_ok")
    while held := _next(lab, consumer):
        home = lab.brokers[held.message.home]
        if automatic and not lab.brokers[consumer.home].linked(home):
            _fail_to_take(lab, consumer, held)
            break
        consumer.buffer.popleft()
        _receive(lab, consumer, held)
        took = True
    return took


def _next(lab: ClusterLab, consumer: Consumer) -> Held | None:
    """Return what a consumer takes next, if it can take something now."""
    waits = consumer.allowance == 0 or consumer.busy_until > lab.clock.now
    failed = consumer.broken or (consumer.refuses and consumer.mode == "client")  # C4106
    if not consumer.open or not consumer.buffer or waits or failed:
        return None
    held, here = consumer.buffer[0], lab.brokers[consumer.home]
    home = lab.brokers[held.message.home]
    silent = here.frozen or home.frozen or not held.arrived or lab.is_cut(here, home)
    return None if silent or here.instances[consumer.dest].paused else held


def _receive(lab: ClusterLab, consumer: Consumer, held: Held) -> None:
    if consumer.allowance is not None:
        consumer.allowance -= 1
    message, home = held.message, lab.brokers[consumer.home]
    consumer.received.append(message.number)
    way = {"frm": home.node, "to": consumer.node, "sub": consumer.sub, "cause": held.row}
    if held.target.flagged:
        consumer.redelivered.append(message.number)
        lab.notes.message(Kind.Redelivered, message, home, **way)
    held.row = lab.notes.message(Kind.Received, message, home, **way)
    consumer.taken.append(held)
    if consumer.mode in ("auto", "dups_ok") and not consumer.keys.get("xa"):
        acknowledge(lab, consumer, [held])
    elif consumer.mode == "client" and consumer.keys.get("acknowledge"):
        acknowledge(lab, consumer, list(consumer.taken))
    if consumer.keys.get("delay_ms"):  # its application works on it
        consumer.busy_until = lab.clock.now + int(consumer.keys["delay_ms"]) * 1000
        lab.clock.later(consumer.busy_until, lab.on_due, None)


# A home that is gone: what it sent cannot be acknowledged (observed, sections 8 and 12)


def _fail_to_take(lab: ClusterLab, consumer: Consumer, failing: Held) -> None:
    """Taking a message fails: its acknowledgement has nowhere to go.

    5.1 drops the copies, but goes on listing the one that failed; 6.5 keeps them.
    """
    for held in consumer.buffer:
        held.target.flagged |= held.message.home == failing.message.home
    if lab.scenario.version == "5.1":
        _drop_copies(lab, consumer)
        here = lab.brokers[consumer.home]
        here.instances[consumer.dest].leftovers.add(failing.message.number)
    else:
        consumer.broken = True


def _drop_copies(lab: ClusterLab, consumer: Consumer) -> None:
    """Let what a consumer took, and all it has of dead homes, come again as soon as the home is back."""
    here = lab.brokers[consumer.home]
    for held in consumer.hands:
        if held in consumer.taken or not here.linked(lab.brokers[held.message.home]):
            (consumer.taken if held in consumer.taken else consumer.buffer).remove(held)
            held.target.flagged = True
            release(lab, held, Rule.broker_stopped)


def acknowledge(lab: ClusterLab, consumer: Consumer, done: list[Held]) -> bool:
    """Acknowledge what was taken; False if the session lost something, or a home is away."""
    here = lab.brokers[consumer.home]
    if consumer.refuses or any(not here.linked(lab.brokers[h.message.home]) for h in done):
        _refuse(lab, consumer)
        return False
    consumer.taken = [held for held in consumer.taken if held not in done]
    for held in done:
        finish(lab, held)
    return True


def _refuse(lab: ClusterLab, consumer: Consumer) -> None:
    """An acknowledgement or commit fails: a transaction is rolled back, others wait for recover.

    If a home is away, 5.1 gives the messages back. In 6.5 they are stuck with this consumer, but for one
    that comes again after recover. If its own broker was lost they are back at the homes already.
    """
    waits = consumer.mode == "client"
    if not consumer.refuses and lab.scenario.version == "5.1":
        _drop_copies(lab, consumer)
    elif not consumer.refuses:
        consumer.stuck += consumer.taken[waits:]
        del consumer.taken[waits:]
    consumer.refuses = waits
    if not waits:
        redeliver(consumer)


def home_returns(broker: Broker) -> None:
    """A home is back: copies of its former life are listed for good where they are.

    Of what a consumer failed to take the first comes, the rest is stuck with it.
    """
    lab = broker.lab
    for consumer in lab.consumers.values():
        mine = [held for held in consumer.hands if held.message.home == broker.name]
        if not consumer.open or not mine or consumer.home == broker.name:
            continue
        listed = lab.brokers[consumer.home].instances[consumer.dest].leftovers
        listed |= {held.message.number for held in mine if held.arrived}
        if consumer.broken:
            consumer.broken = False
            consumer.buffer = type(consumer.buffer)(h for h in consumer.buffer if h not in mine)
            consumer.stuck += mine[1:]
            _receive(lab, consumer, mine[0])


# Back


def finish(lab: ClusterLab, held: Held) -> None:
    """A subscription is done with a message; when all are, it is gone."""
    message, broker = held.message, lab.brokers[held.message.home]
    if held.target in message.targets:
        message.targets.remove(held.target)
    drop_copies(lab, message, Kind.Acknowledged, Rule.none, held.row)
    instance = broker.instances.get(message.dest)
    if not message.targets and instance is not None and message in instance.messages:
        instance.messages.remove(message)
        lab.notes.message(Kind.Acknowledged, message, broker, cause=held.row)


def release(lab: ClusterLab, held: Held, rule: int, cause: int = -1) -> None:
    """A message waits at its home again."""
    message, held.target.taker = held.message, None
    drop_copies(lab, message, Kind.Discarded, rule, cause)
    lab.notes.message(Kind.Returned, message, lab.brokers[message.home], rule=rule,
                      cause=held.row if cause < 0 else cause)  # fmt: skip


def give_back(lab: ClusterLab, consumer: Consumer) -> None:
    """A consumer has closed: what it had waits at its homes again, flagged if it may have seen it.

    The home of a remote message cannot know. The copies stay listed, except that a transacted session of
    5.1 rolls back as it closes.
    """
    here = lab.brokers[consumer.home]
    listed = lab.scenario.version != "5.1" or consumer.mode != "transacted"
    for held in consumer.hands:
        remote = held.message.home != consumer.home
        held.target.flagged |= remote or held not in consumer.buffer
        if remote and listed and held.arrived and consumer.dest in here.instances:
            here.instances[consumer.dest].leftovers.add(held.message.number)
        release(lab, held, Rule.consumer_left)
    _empty(consumer)


def lose_broker(lab: ClusterLab, consumer: Consumer, cause: int) -> None:
    """A consumer's broker is gone: what it held is free at its homes, flagged.

    If it had taken something, its commit is refused (C4074), or its receive until recover (C4106).
    """
    consumer.refuses = consumer.mode in ("transacted", "client") and bool(consumer.taken)
    for held in consumer.hands:
        held.target.flagged = True
        release(lab, held, Rule.broker_stopped, cause)
    _empty(consumer)


def _empty(consumer: Consumer) -> None:
    consumer.taken, consumer.stuck, consumer.broken = [], [], False
    consumer.buffer.clear()


def redeliver(consumer: Consumer) -> None:
    """Recover or roll back: what was taken comes again, flagged, before what is in the buffer."""
    again, consumer.taken, consumer.refuses = consumer.taken, [], False
    for held in reversed(again):
        held.target.flagged = True
        consumer.buffer.appendleft(held)


def forget(broker: Broker, key: Key) -> None:
    """A durable subscription is given up: nothing waits for it any more."""
    for instance in broker.instances.values():
        for message in list(instance.messages):
            for target in [t for t in message.targets if t.key == key]:
                finish(broker.lab, Held(message, target))
