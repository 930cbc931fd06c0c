"""Consumers: what each step of theirs does, and how it ends."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq import clients, cluster, delivery, sending
from mqlab.runtime.openmq.broker import Broker
from mqlab.runtime.openmq.messages import OK, REFUSED, Consumer, Durable, Keys, destination_of
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


def do_open_consumer(lab: ClusterLab, keys: Keys) -> str:
    """Open a consumer on a connection of its own."""
    broker, dest = clients.reachable(lab, keys["broker"]), destination_of(keys)
    if broker is None or clients.is_used(lab, clients.client_id(keys)) or not broker.find(dest):
        return REFUSED
    instance = broker.instances[dest]
    active, backup = (int(instance.option(f"MaxNum{which}Consumers"))
                      for which in ("Active", "Backup"))  # fmt: skip
    if min(active, backup) >= 0 and len(broker.consumers(dest)) >= active + backup:
        return REFUSED
    key = (clients.client_id(keys), str(keys.get("subscription_name", keys["consumer"])))
    durable = Durable(key, dest, keys.get("selector")) if keys.get("durable") else None
    if durable is not None and not _subscribe(broker, durable):
        return REFUSED
    _register(broker, dest, keys, key if durable or keys.get("shared") else keys["consumer"])
    return OK


def _subscribe(broker: Broker, durable: Durable) -> bool:
    """Make a durable subscription, or take up the one that is there; another selector is another."""
    known = broker.durables.get(durable.key)
    if known and (known.selector, known.dest) == (durable.selector, durable.dest):
        return True
    if known and not cluster.change(broker, "unsubscribe", known.key):
        return False
    return cluster.change(broker, "subscribe", durable)


def _register(broker: Broker, dest: Destination, keys: Keys, key: object) -> None:
    """Make a consumer known, with its destination, on all brokers."""
    lab, name, text = broker.lab, keys["consumer"], keys.get("selector")
    limit = min(int(keys.get("flow_limit", 1000)),
                int(broker.instances[dest].option("ConsumerFlowLimit")))  # fmt: skip
    plain = not dest.is_queue and key == name  # what a topic has for it crosses at once
    consumer = lab.consumers[name] = Consumer(
        name, dest, keys, broker.name, lab.notes.node(name, "consumer", broker.name),
        selector=Selector(text) if text else None, key=key, limit=inf if plain else limit,
        allowance=None if keys.get("receiving", True) else 0,
        served=max((c.served for c in lab.consumers.values()), default=0),
    )  # fmt: skip
    consumer.sub = lab.notes.subscription(consumer)
    lab.notes.consumer(Kind.Subscribed, consumer, Rule.local_consumer)
    broker.spread(dest)


def do_temporary(lab: ClusterLab, keys: Keys) -> str:
    """Make a temporary destination with a consumer: known everywhere at once."""
    broker, name = clients.reachable(lab, keys["broker"]), keys["consumer"]
    if broker is None or clients.is_used(lab, clients.client_id(keys)):
        return REFUSED
    dest = Destination(keys.get("kind", "queue"), f"temp:{name}")
    broker.add(dest, "temporary", owner=name)
    _register(broker, dest, keys, name)
    return OK


def do_close_consumer(lab: ClusterLab, keys: Keys) -> str:
    """Close consumer and connection; a temporary destination goes with it."""
    consumer = lab.consumers[keys["consumer"]]
    consumer.closed = True
    if consumer.open:
        delivery.give_back(lab, consumer)
        consumer.open = False
        lab.notes.consumer(Kind.Unsubscribed, consumer, Rule.consumer_left)
        home = lab.brokers[consumer.home]
        for broker in (home, *home.peers) if consumer.dest.name.startswith("temp:") else ():
            broker.instances.pop(consumer.dest, None)
    return OK


do_kill_client = do_close_consumer  # its broker sees the connection go, too


def do_receive(lab: ClusterLab, keys: Keys) -> dict[str, Any]:
    """Let a consumer take so many messages, and wait for them."""
    consumer, count = lab.consumers[keys["consumer"]], int(keys["count"])
    before, consumer.allowance = len(consumer.received), count
    lab.settle()
    lab.pass_until(lambda: consumer.allowance == 0, int(keys.get("within_ms", 5000)))
    consumer.allowance = 0
    return {"took": len(consumer.received) - before, "result": OK}


def do_acknowledge(lab: ClusterLab, keys: Keys) -> str:
    """Acknowledge what the session has taken."""
    consumer = lab.consumers[keys["consumer"]]
    clients.wait_for_broker(lab, consumer, keys)
    return OK if delivery.acknowledge(lab, consumer, list(consumer.taken)) else REFUSED


def do_recover(lab: ClusterLab, keys: Keys) -> str:
    """Let what was taken come again."""
    consumer = lab.consumers[keys["consumer"]]
    clients.wait_for_broker(lab, consumer, keys)
    delivery.redeliver(consumer)
    return OK


def do_rollback(lab: ClusterLab, keys: Keys) -> str:
    """Roll back a session's transaction."""
    if "consumer" in keys:
        return do_recover(lab, keys)
    producer = lab.producers[keys["producer"]]
    producer.refuses = False
    sending.end_transaction(lab, producer.name, commit=False)
    return OK


def do_commit(lab: ClusterLab, keys: Keys) -> str:
    """Commit a session's transaction; refused if it was rolled back with its broker."""
    if "consumer" in keys:
        return do_acknowledge(lab, keys)
    producer = lab.producers[keys["producer"]]
    clients.wait_for_broker(lab, producer, keys)
    refused, producer.refuses = producer.refuses or not producer.open, False
    sending.end_transaction(lab, producer.name, commit=not refused)
    return REFUSED if refused else OK
