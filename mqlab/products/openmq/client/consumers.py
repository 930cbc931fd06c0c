"""Consumers and their sessions: what each step of theirs does, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.engine.clock import NEVER
from mqlab.errors import SelectorError
from mqlab.products.openmq.broker import acknowledgement, delivery, lazy_acknowledgement, transactions
from mqlab.products.openmq.broker.active_consumers import takes_no_more
from mqlab.products.openmq.broker.model import DEAD, LOCK_TIMEOUT, Broker
from mqlab.products.openmq.client import clients, consumer_flow
from mqlab.products.openmq.client.state import Client, Consumer
from mqlab.products.openmq.network import changes
from mqlab.products.openmq.script.operation import Outcome, Row, RunningStep, ScriptStep
from mqlab.spec import action as a
from mqlab.spec.openmq.actions import KillClient, Receive
from mqlab.spec.openmq.words import makes_temporary
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination, duration
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

WITHIN_MS = 5_000  # how long a consumer may take messages if its step does not say
CALL_OUT = 5_000  # ms that a step waits for a session whose call has not come back: it has one thread


def do_open_consumer(lab: Cluster, step: Opening) -> Outcome:
    """Open a consumer on a connection of its own; all brokers are asked for a queue's, or a client id."""
    return clients.looks(lab, step, _begin)


Opening = ScriptStep[a.Consumer]
Asked = tuple["Cluster", Opening]


def _begin(asked: Asked) -> Outcome:
    lab, step = asked
    broker, dest = clients.reachable(lab, step), step.dest
    if broker and makes_temporary(step.action):
        if broker.asks_in_vain:
            return clients.asks_all(broker, step, _make)
        broker.add(dest, "temporary", owner=step.action.name)
    return _goes_on(lab, step)


def _make(asked: tuple[Broker, Opening, int]) -> Outcome:
    """Make a temporary destination; its home does not list one that not all answered for (OpenMQ rule 8.15)."""
    broker, step, _ = asked
    if not broker.serves:
        return False
    made = broker.add(step.dest, "temporary", owner=step.action.name)
    made.unlisted = broker.asks_in_vain
    return _goes_on(broker.lab, step)


def _goes_on(lab: Cluster, step: Opening) -> Outcome:
    broker, dest, id = clients.reachable(lab, step), step.dest, clients.client_id(step)
    alone = broker and (
        dest == DEAD or (dest in broker.instances and broker.instances[dest].option("LocalOnly"))
    )
    asks = (dest.is_queue and not alone) or bool(id)  # nobody else serves it (`Queue.getIsLocal` of 6.5.0)
    # The client id comes first.
    if broker and asks and broker.asks_in_vain and (id or _is_let_open(broker, step)):
        if dest.is_queue and dest in broker.instances:
            broker.instances[dest].unanswered += 1  # a topic counts who is there
        return clients.asks_all(broker, step, _open_at_last, LOCK_TIMEOUT if id else NEVER)
    return _open(lab, broker, step)


def _open_at_last(asked: tuple[Broker, Opening, int]) -> bool:
    """Open a consumer whose connection is there; a client id is refused after its time (C4330)."""
    broker, step, end = asked
    instance = broker.instances.get(step.dest)
    if instance is not None:
        instance.unanswered -= instance.dest.is_queue
    return broker.lab.clock.now < end and broker.serves and _open(broker.lab, broker, step)


def _open(lab: Cluster, broker: Broker | None, step: Opening) -> bool:
    dest, id, opens = step.dest, clients.client_id(step), step.action
    durable, shared = clients.subscription(step), step.options.get("shared")
    if opens.durable and not (id or shared):
        return False  # only what is shared needs no client id: its client asks no broker (C4053)
    if broker is None or clients.is_used(lab, id) or not _is_let_open(broker, step):
        return False
    selector, wrong = selector_of(step)
    if wrong or takes_no_more(broker, dest):  # its destination is there all the same
        return False
    # A durable subscription and one that is not may have one name.
    key = durable if opens.durable else ("", *durable)
    if shared and _is_another(lab, key, dest, opens.selector):
        return False
    if opens.durable and not changes.subscribe(broker, changes.asked_for(step)):
        return False
    _register(broker, step, key if opens.durable or shared else opens.name, selector)
    return True


def selector_of(step: Opening) -> tuple[Selector | None, str]:
    """Return a consumer's selector, and why brokers do not take it; empty if they do (OpenMQ rule 1.13)."""
    text = step.action.selector
    try:
        return Selector(text, "openmq") if text else None, ""
    except SelectorError as error:
        return None, str(error)


def _is_let_open(broker: Broker, step: Opening) -> bool:
    """Whether the destination is there, or made now, and is no temporary one of another client (C4020)."""
    return broker.find(step.dest) and broker.instances[step.dest].owner in (None, step.action.name)


def _is_another(lab: Cluster, key: tuple[str, ...], dest: Destination, selector: str | None) -> bool:
    """Whether those who share a subscription of that name read another topic, or with another selector."""
    sharing = (c for c in lab.consumers.values() if c.open and not c.cut_off and c.key == key)
    return any((c.dest, c.step.action.selector) != (dest, selector) for c in sharing)


def _register(broker: Broker, step: Opening, key: object, selector: Selector | None) -> None:
    """Make a consumer known, with its destination, on all brokers."""
    lab, dest, opens = broker.lab, step.dest, step.action
    name = opens.name
    limited = dest.is_queue or key != name  # what a topic has for one without a subscription is sent at once
    consumer = Consumer(
        name,
        lab.destination(dest),
        step,
        broker,
        lab.notes.node(name, "consumer", broker.name),
        lab.new_link(name, broker.name),
        lab.new_link(broker.name, name),
        selector=selector,
        key=key,
        flow=consumer_flow.of(broker, step, limited),
        allowance=None if opens.receiving else 0,
        delay=duration(opens.delay),
        acknowledge=bool(opens.acknowledge),
        served_weight=delivery.first_free(lab.destination(dest)),
    )
    if before := lab.consumers.get(name):  # one of that name was closed: its messages are told with this one's
        consumer.received, consumer.redelivered = before.received[:], before.redelivered[:]
        lab.moved.pop(name, None)
    if dest.is_queue:
        consumer.position = broker.free_position(dest)
    consumer.unheard_by = clients.unheard_by(consumer)
    lab.register(consumer)
    broker.tell_all()
    consumer.sub = lab.notes.subscription(consumer)
    consumer.stamp()
    # One whose client only makes a temporary destination has no consumer of it.
    consumer.reads = not (makes_temporary(opens) and step.options.get("consume") is False)
    if consumer.reads:
        lab.notes.consumer(Kind.Subscribed, consumer, Reason.local_consumer)
    broker.spread(dest)


def do_close(lab: Cluster, step: ScriptStep[a.Close]) -> Outcome:
    """Close consumer and connection."""
    consumer = lab.consumers[step.action.consumer]
    ends = _close_and_unsubscribe if step.action.unsubscribe else _close
    if step.options.get("consumer_only"):
        ends = _end_reading
    return RunningStep(clients.may_close, consumer, step.limit, ends, insists=True)


def _close_and_unsubscribe(consumer: Consumer) -> bool:
    """Close it, and give up its durable subscription over the same connection."""
    home, opened = consumer.home, consumer.open
    _close(consumer)
    known = opened and consumer.key in home.durables
    if not known:
        home.lab.tell("it has no durable subscription to end; omit unsubscribe")
    return known and changes.change(home, "unsubscribe", consumer.key)


def _end_reading(consumer: Consumer) -> None:
    """Close a consumer alone: its session keeps what it has taken, and its connection (OpenMQ rule 1.7)."""
    if not (consumer.open and consumer.reads):
        return
    taken, consumer.taken = consumer.taken, []
    if consumer.mode == "dups_ok":
        consumer.taken, taken = taken, []
        lazy_acknowledgement.on_dups(consumer)
    acknowledgement.requeue(consumer, Reason.consumer_left)
    consumer.taken, consumer.reads = taken, False
    consumer.home.lab.notes.consumer(Kind.Unsubscribed, consumer, Reason.consumer_left)


def do_kill_client(lab: Cluster, step: ScriptStep[KillClient]) -> None:
    """Kill the process of a client: its broker sees the connection go."""
    _close(lab.consumers[step.action.consumer])


def _close(consumer: Consumer) -> None:
    """A consumer leaves; a temporary destination goes with it, unless it was on another connection before."""
    lab = consumer.home.lab
    clients.close(consumer)
    if consumer.open:
        if consumer.mode == "dups_ok":
            lazy_acknowledgement.on_dups(consumer)
        if transactions.close(lab, consumer):
            acknowledgement.leave_unread(consumer)
        consumer.open = False
        behind = {peer for peer in consumer.home.peers if lab.is_cut(consumer.home, peer)}
        consumer.unheard_by = behind - consumer.unheard_by
        here = consumer.home.instances.get(consumer.dest)
        if here is not None and here.prefers_local:  # others are let in first, to what waits (OpenMQ rule 1.5)
            lab.dispatch_all()
        if consumer.taken and consumer.mode != "transacted" and acknowledgement.return_unread(consumer):
            lab.dispatch_all()
        acknowledgement.requeue(consumer, Reason.consumer_left)
        lab.notes.consumer(Kind.Unsubscribed, consumer, Reason.consumer_left)
        if consumer.ends_destination:  # behind a silent cut that is heard of when the line is whole again
            for broker in {consumer.home, *consumer.home.peers} - behind:
                broker.drop(consumer.dest)


def do_receive(lab: Cluster, step: ScriptStep[Receive | a.Receive]) -> Outcome:
    """Let a consumer take so many messages, and wait for them."""
    receive, consumer = step.action, lab.consumers[step.action.consumer]
    if not receive.count:
        lab.tell("it asks for no message")
    before, consumer.allowance = len(consumer.received), receive.count
    within = duration(receive.within) / 1000 if isinstance(receive, Receive) else WITHIN_MS
    return RunningStep(_has_taken, (consumer, before), within, _hold_again)


def _has_taken(asked: tuple[Consumer, int]) -> bool:
    return asked[0].allowance == 0


def _hold_again(asked: tuple[Consumer, int]) -> Outcome:
    asked[0].allowance = 0
    return RunningStep(_is_free, asked, CALL_OUT, _took)


def _is_free(asked: tuple[Consumer, int]) -> bool:
    """Whether no call of its session is still out."""
    consumer = asked[0]
    return not consumer.hung and all(call.client != consumer.name for call in consumer.home.lab.blocked)


def _took(asked: tuple[Consumer, int]) -> Row | bool:
    consumer, before = asked
    return {"took": len(consumer.received) - before} if _is_free(asked) else False


def do_acknowledge(lab: Cluster, step: ScriptStep[a.Acknowledge]) -> Outcome:
    """Acknowledge what the session has taken: by its last message, so that one without any cannot.

    In other modes than client that does nothing (`MessageImpl.acknowledge` of 6.5.0).
    """
    consumer = lab.consumers[step.action.consumer]
    if not consumer.received or consumer.mode != "client":
        return bool(consumer.received)
    return _end_work(consumer, step.limit)


def _end_work(consumer: Consumer, limit: float) -> Outcome:
    if not clients.fails_looking(consumer):
        commits_later = consumer.mode == "transacted" and consumer.home.suspended
        consumer.hung = consumer.open and not commits_later and acknowledgement.waits(consumer)
    return clients.ends_work(consumer, limit, _homes_answer, _acknowledge)


def _homes_answer(consumer: Consumer) -> bool:
    silent = consumer.open and not consumer.rollback_only and acknowledgement.waits(consumer)
    return clients.is_answered(consumer) and not silent


def _acknowledge(consumer: Consumer) -> bool:
    consumer.hung = False
    if not consumer.open and consumer.lost >= 0 and not consumer.rollback_only:
        return False  # its session is closed (C4059)
    return acknowledgement.acknowledge(consumer, list(consumer.taken))


def do_recover(lab: Cluster, step: ScriptStep[a.Recover | a.Rollback]) -> Outcome:
    """Let what was taken come again; refused without a connection."""
    anew = isinstance(step.action, a.Rollback)
    return clients.ends_work(lab.consumers[step.action.who], step.limit, _is_answered, _recover, anew)


def _is_answered(consumer: Consumer) -> bool:
    return clients.is_answered(consumer) and not consumer.hung


def _recover(consumer: Consumer) -> bool:
    consumer.had = len(consumer.received)
    acknowledgement.recover(consumer)
    return consumer.open


def do_rollback(lab: Cluster, step: ScriptStep[a.Rollback]) -> Outcome:
    """Roll back a session's transaction."""
    producer = lab.producers.get(step.action.who)
    if producer is None:
        return do_recover(lab, step)
    return clients.ends_work(producer, step.limit, _may_end, _roll_back, anew=True)


def _roll_back(producer: Client) -> bool:
    producer.rollback_only = False
    transactions.end_transaction(producer.home, producer.name, commit=False)
    return True


def do_commit(lab: Cluster, step: ScriptStep[a.Commit]) -> Outcome:
    """Commit a session's transaction; refused if it was rolled back with its broker."""
    producer = lab.producers.get(step.action.who)
    if producer is None:
        return _end_work(lab.consumers[step.action.who], step.limit)
    return clients.ends_work(producer, step.limit, _may_end, _commit)


def _may_end(producer: Client) -> bool:
    """Whether a session is at nothing else, as it has one thread, and its broker answers."""
    sends = any(job.producer is producer for job in producer.home.lab.jobs)
    return not sends and clients.is_answered(producer)


def _commit(producer: Client) -> bool:
    works, producer.rollback_only = producer.open and not producer.rollback_only, False
    transactions.end_transaction(producer.home, producer.name, commit=works)
    return works
