"""Consumers: what each step of theirs does, and how it ends."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq import clients, cluster, delivery, sending
from mqlab.runtime.openmq.broker import Broker
from mqlab.runtime.openmq.messages import Consumer, Durable, Keys, destination_of
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


def do_open_consumer(lab: ClusterLab, keys: Keys) -> bool:
    """Open a consumer on a connection of its own."""
    broker, dest, id = clients.reachable(lab, keys), destination_of(keys), clients.client_id(keys)
    if broker is None or clients.is_used(lab, id) or not broker.find(dest):
        return False
    active, backup = (int(broker.instances[dest].option(f"MaxNum{which}Consumers"))
                      for which in ("Active", "Backup"))  # fmt: skip
    if min(active, backup) >= 0 and len(broker.consumers(dest)) >= active + backup:
        return False
    key = (id, str(keys.get("subscription_name", keys["consumer"])))
    if keys.get("durable") and not _subscribe(broker, Durable(key, dest, keys.get("selector"))):
        return False
    named = keys.get("durable") or keys.get("shared")
    _register(broker, dest, keys, key if named else keys["consumer"])
    return True


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
        name, dest, keys, broker, lab.notes.node(name, "consumer", broker.name),
        selector=Selector(text) if text else None, key=key, limit=inf if plain else limit,
        allowance=None if keys.get("receiving", True) else 0,
        served=max((c.served for c in lab.consumers.values()), default=0),
    )  # fmt: skip
    consumer.sub = lab.notes.subscription(consumer)
    lab.notes.consumer(Kind.Subscribed, consumer, Rule.local_consumer)
    broker.spread(dest)


def do_temporary(lab: ClusterLab, keys: Keys) -> bool:
    """Make a temporary destination with a consumer: known everywhere at once."""
    broker, name = clients.reachable(lab, keys), keys["consumer"]
    if broker is None or clients.is_used(lab, clients.client_id(keys)):
        return False
    dest = Destination(keys.get("kind", "queue"), f"temp:{name}")
    broker.add(dest, "temporary", owner=name)
    _register(broker, dest, keys, name)
    return True


def do_close_consumer(lab: ClusterLab, keys: Keys) -> None:
    """Close consumer and connection; a temporary destination goes with it."""
    consumer = lab.consumers[keys["consumer"]]
    consumer.closed = True
    if consumer.open:
        delivery.give_back(consumer)
        consumer.open = False
        lab.notes.consumer(Kind.Unsubscribed, consumer, Rule.consumer_left)
        temporary = consumer.dest.name.startswith("temp:")
        for broker in (consumer.home, *consumer.home.peers) if temporary else ():
            broker.instances.pop(consumer.dest, None)


do_kill_client = do_close_consumer  # its broker sees the connection go, too


def do_receive(lab: ClusterLab, keys: Keys) -> dict[str, Any]:
    """Let a consumer take so many messages, and wait for them."""
    consumer = lab.consumers[keys["consumer"]]
    before, consumer.allowance = len(consumer.received), int(keys["count"])
    lab.settle()
    lab.pass_until(lambda: consumer.allowance == 0, {"limit_ms": keys.get("within_ms", 5000)})
    consumer.allowance = 0
    return {"took": len(consumer.received) - before}


def do_acknowledge(lab: ClusterLab, keys: Keys) -> bool:
    """Acknowledge what the session has taken."""
    consumer = lab.consumers[keys["consumer"]]
    clients.wait_for_broker(consumer, keys)
    return delivery.acknowledge(consumer, list(consumer.taken))


def do_recover(lab: ClusterLab, keys: Keys) -> None:
    """Let what was taken come again."""
    consumer = lab.consumers[keys["consumer"]]
    clients.wait_for_broker(consumer, keys)
    delivery.redeliver(consumer)


def do_rollback(lab: ClusterLab, keys: Keys) -> None:
    """Roll back a session's transaction."""
    if "consumer" in keys:
        do_recover(lab, keys)
    else:
        lab.producers[keys["producer"]].refuses = False
        sending.end_transaction(lab, keys["producer"], commit=False)


def do_commit(lab: ClusterLab, keys: Keys) -> bool:
    """Commit a session's transaction; refused if it was rolled back with its broker."""
    if "consumer" in keys:
        return do_acknowledge(lab, keys)
    producer = lab.producers[keys["producer"]]
    clients.wait_for_broker(producer, keys)
    works, producer.refuses = producer.open and not producer.refuses, False
    sending.end_transaction(lab, producer.name, commit=works)
    return works
