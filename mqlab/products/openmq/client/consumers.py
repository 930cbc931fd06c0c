"""Consumers and their sessions: what each step of theirs does, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.engine.clock import NEVER
from mqlab.products.openmq.broker import acknowledgement, delivery
from mqlab.products.openmq.broker.flow import SHARED, Flow
from mqlab.products.openmq.broker.model import LOCK_TIMEOUT, Broker, Client, Consumer, Keys
from mqlab.products.openmq.client import clients, producers
from mqlab.products.openmq.network import cluster
from mqlab.products.openmq.script.operation import Outcome, Row, RunningStep, destination_of, limit_of
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.openmq.network.state import Cluster

CALL_OUT = 5_000  # ms that a step waits for a session whose call has not come back: it has one thread


def do_open_consumer(lab: Cluster, keys: Keys) -> Outcome:
    """Open a consumer on a connection of its own; all brokers are asked for a queue's, or a client id."""
    if clients.awaits(lab, keys):
        return RunningStep(
            _finds, (lab, keys), clients.patience(lab, keys, limit_of(keys)), _begin, insists=True
        )
    return _begin((lab, keys))


Asked = tuple["Cluster", Keys]


def _finds(asked: Asked) -> bool:
    return not clients.awaits(*asked)


def _begin(asked: Asked) -> Outcome:
    lab, keys = asked
    broker, dest = clients.reachable(lab, keys), destination_of(keys)
    if broker and dest == Destination(dest.kind, f"temp:{keys['consumer']}"):
        if broker.asks_in_vain:
            broker.tell_all()
            lab.later(LOCK_TIMEOUT)
            end = lab.clock.now + LOCK_TIMEOUT
            return RunningStep(_may_be_made, (broker, keys, end), limit_of(keys), _make, insists=True)
        broker.add(dest, "temporary", owner=keys["consumer"])
    return _goes_on(lab, keys)


def _may_be_made(asked: tuple[Broker, Keys, int]) -> bool:
    """Whether all brokers have answered for a temporary destination, or their time is over."""
    broker, _, end = asked
    return not broker.asks_in_vain or broker.lab.clock.now >= end


def _make(asked: tuple[Broker, Keys, int]) -> Outcome:
    """Make a temporary destination; its home does not list one that not all answered for (OpenMQ rule 8.15)."""
    broker, keys, _ = asked
    if not broker.serves:
        return False
    made = broker.add(destination_of(keys), "temporary", owner=keys["consumer"])
    made.unlisted = broker.asks_in_vain
    return _goes_on(broker.lab, keys)


def _goes_on(lab: Cluster, keys: Keys) -> Outcome:
    broker, dest, id = clients.reachable(lab, keys), destination_of(keys), clients.client_id(keys)
    if broker and clients.awaits_store(broker, dest):
        return RunningStep(_has_store, (lab, keys), limit_of(keys), _begin, insists=True)
    asks = dest.is_queue or bool(id)
    if broker and asks and broker.asks_in_vain and (id or broker.find(dest)):  # the client id comes first
        if dest.is_queue and dest in broker.instances:
            broker.instances[dest].unanswered += 1  # a topic counts who is there
        broker.tell_all()
        end = lab.clock.now + LOCK_TIMEOUT if id else NEVER
        if id:
            lab.later(LOCK_TIMEOUT)
        asked = broker, keys, end
        return RunningStep(_has_answers, asked, limit_of(keys), _open_at_last, insists=True)
    return _open(lab, broker, keys)


def _has_store(asked: Asked) -> bool:
    return not asked[0].store_down


def _has_answers(asked: tuple[Broker, Keys, int]) -> bool:
    return not asked[0].asks_in_vain or asked[0].lab.clock.now >= asked[2]


def _open_at_last(asked: tuple[Broker, Keys, int]) -> bool:
    """Open a consumer whose connection is there; a client id is refused after its time (C4330)."""
    broker, keys, end = asked
    instance = broker.instances.get(destination_of(keys))
    if instance is not None:
        instance.unanswered -= instance.dest.is_queue
    return broker.lab.clock.now < end and broker.serves and _open(broker.lab, broker, keys)


def _open(lab: Cluster, broker: Broker | None, keys: Keys) -> bool:
    dest, id = destination_of(keys), clients.client_id(keys)
    if broker is None or clients.is_used(lab, id) or not broker.find(dest):
        return False
    owner = broker.instances[dest].owner
    if owner not in (None, keys["consumer"]):  # only who made a temporary destination consumes from it (C4020)
        return False
    active, backup = (
        int(broker.instances[dest].option(f"MaxNum{which}Consumers")) for which in ("Active", "Backup")
    )
    if min(active, backup) >= 0 and len(broker.consumers(dest)) >= active + backup:
        return False
    key = (id, str(keys.get("subscription_name", keys["consumer"])))
    if keys.get("shared") and _is_another(lab, key if keys.get("durable") else ("", *key), dest, keys):
        return False
    if keys.get("durable") and not cluster.subscribe(broker, key, dest, keys.get("selector")):
        return False
    named = keys.get("durable") or keys.get("shared")
    # A durable subscription and one that is not may have one name.
    _register(broker, dest, keys, (key if keys.get("durable") else ("", *key)) if named else keys["consumer"])
    return True


def _is_another(lab: Cluster, key: tuple[str, ...], dest: Destination, keys: Keys) -> bool:
    """Whether those who share a subscription of that name read another topic, or with another selector."""
    sharing = (c for c in lab.consumers.values() if c.open and not c.cut_off and c.key == key)
    return any((c.dest, c.keys.get("selector")) != (dest, keys.get("selector")) for c in sharing)


def do_temporary(lab: Cluster, keys: Keys) -> Outcome:
    """Make a temporary destination with a consumer: known everywhere at once.

    A client in a process of its own looks for a broker for ever, and again when it has lost one.
    """
    own = {"reconnect": True} if keys.get("process") else {}
    return do_open_consumer(lab, {**keys, **own, keys.get("kind", "queue"): f"temp:{keys['consumer']}"})


def _register(broker: Broker, dest: Destination, keys: Keys, key: object) -> None:
    """Make a consumer known, with its destination, on all brokers."""
    lab, name, text = broker.lab, keys["consumer"], keys.get("selector")
    limited = dest.is_queue or key != name  # what a topic has for one without a subscription is sent at once
    consumer = Consumer(
        name,
        lab.destination(dest),
        keys,
        broker,
        lab.notes.node(name, "consumer", broker.name),
        lab.new_link(name, broker.name),
        lab.new_link(broker.name, name),
        selector=Selector(text) if text else None,
        key=key,
        flow=_flow(broker, dest, keys) if limited else None,
        allowance=None if keys.get("receiving", True) else 0,
        served_weight=delivery.first_free(lab),
    )
    lab.register(consumer)
    consumer.unheard_by = {peer for peer in broker.peers if lab.is_cut(broker, peer)}
    broker.tell_all()
    consumer.sub = lab.notes.subscription(consumer)
    consumer.stamp()
    lab.notes.consumer(Kind.Subscribed, consumer, Reason.local_consumer)
    broker.spread(dest)


def _flow(broker: Broker, dest: Destination, keys: Keys) -> Flow:
    """Return the flow control of a new consumer, by the smaller of the client's and the destination's limit."""
    instance = broker.instances[dest]
    most = SHARED if keys.get("shared") else int(instance.option("ConsumerFlowLimit"))
    limit = max(1, min(most, int(keys.get("flow_limit", 1000))))
    first = 1 if keys.get("shared") else Flow.share(limit, instance.room, len(broker.lab.listed))
    return Flow(limit, first, broker)


def do_close_consumer(lab: Cluster, keys: Keys) -> Outcome:
    """Close consumer and connection, which a suspended broker does not answer (OpenMQ rule 8.8)."""
    return RunningStep(_can_close, lab.consumers[keys["consumer"]], limit_of(keys), _close, insists=True)


def _can_close(consumer: Consumer) -> bool:
    return not (consumer.open and consumer.home.suspended)


def do_kill_client(lab: Cluster, keys: Keys) -> None:
    """Kill the process of a client: its broker sees the connection go."""
    _close(lab.consumers[keys["consumer"]])


def _close(consumer: Consumer) -> None:
    """A consumer leaves; a temporary destination goes with it, unless it was on another connection before."""
    lab = consumer.home.lab
    clients.close(consumer)
    if consumer.open:
        if consumer.mode == "dups_ok":
            acknowledgement.on_dups(consumer)
        acknowledgement.requeue(consumer, Reason.consumer_left)
        consumer.open = False
        behind = {peer for peer in consumer.home.peers if lab.is_cut(consumer.home, peer)}
        consumer.unheard_by = behind - consumer.unheard_by
        lab.notes.consumer(Kind.Unsubscribed, consumer, Reason.consumer_left)
        temporary = consumer.dest.name.startswith("temp:") and consumer.lost < 0
        for broker in (consumer.home, *consumer.home.peers) if temporary else ():
            broker.drop(consumer.dest)


def do_receive(lab: Cluster, keys: Keys) -> Outcome:
    """Let a consumer take so many messages, and wait for them."""
    consumer = lab.consumers[keys["consumer"]]
    if not keys["count"]:
        lab.tell("it asks for no message")
    before, consumer.allowance = len(consumer.received), int(keys["count"])
    return RunningStep(_has_taken, (consumer, before), keys.get("within_ms", 5000), _hold_again)


def _has_taken(asked: tuple[Consumer, int]) -> bool:
    return asked[0].allowance == 0


def _hold_again(asked: tuple[Consumer, int]) -> Outcome:
    asked[0].allowance = 0
    return RunningStep(_is_free, asked, CALL_OUT, _took)


def _is_free(asked: tuple[Consumer, int]) -> bool:
    """Whether no call of its session is still out."""
    consumer = asked[0]
    return all(call.step.keys.get("consumer") != consumer.name for call in consumer.home.lab.blocked)


def _took(asked: tuple[Consumer, int]) -> Row | bool:
    consumer, before = asked
    return {"took": len(consumer.received) - before} if _is_free(asked) else False


def do_acknowledge(lab: Cluster, keys: Keys) -> Outcome:
    """Acknowledge what the session has taken: by its last message, so that one without any cannot."""
    consumer = lab.consumers[keys["consumer"]]
    return _end_work(consumer, keys) if consumer.received else False


def _end_work(consumer: Consumer, keys: Keys) -> Outcome:
    return RunningStep(clients.is_answered, consumer, limit_of(keys), _acknowledge, insists=True)


def _acknowledge(consumer: Consumer) -> bool:
    if not consumer.open and consumer.lost >= 0 and not consumer.rollback_only:
        return False  # its session is closed (C4059)
    return acknowledgement.acknowledge(consumer, list(consumer.taken))


def do_recover(lab: Cluster, keys: Keys) -> Outcome:
    """Let what was taken come again; refused without a connection."""
    consumer = lab.consumers[keys["consumer"]]
    return RunningStep(clients.is_answered, consumer, limit_of(keys), _recover, insists=True)


def _recover(consumer: Consumer) -> bool:
    acknowledgement.recover(consumer)
    return consumer.open


def do_rollback(lab: Cluster, keys: Keys) -> Outcome:
    """Roll back a session's transaction."""
    if "consumer" in keys:
        return do_recover(lab, keys)
    lab.producers[keys["producer"]].rollback_only = False
    producers.end_transaction(lab, keys["producer"], commit=False)
    return True


def do_commit(lab: Cluster, keys: Keys) -> Outcome:
    """Commit a session's transaction; refused if it was rolled back with its broker."""
    if "consumer" in keys:
        return _end_work(lab.consumers[keys["consumer"]], keys)
    producer = lab.producers[keys["producer"]]
    return RunningStep(clients.is_answered, producer, limit_of(keys), _commit, insists=True)


def _commit(producer: Client) -> bool:
    works, producer.rollback_only = producer.open and not producer.rollback_only, False
    producers.end_transaction(producer.home.lab, producer.name, commit=works)
    return works
