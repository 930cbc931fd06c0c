"""The state of a network under a label, in the form of recordings (Recordings rule 2.5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from mqlab.products.activemq.broker.dead_letter_strategy import CAUSE
from mqlab.products.activemq.client.connection import ClientConnection
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.broker.durable import InactiveDurableSubscription
    from mqlab.products.activemq.broker.message import Message
    from mqlab.products.activemq.broker.queue import Queue
    from mqlab.products.activemq.broker.subscription import Subscription
    from mqlab.products.activemq.broker.topic import Topic
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.network.demand_subscription import DemandSubscription

Row = dict[str, object]  # as JSON has it


def take(lab: Lab) -> Row:
    """Return what every consumer has received so far and what every broker holds."""
    return {
        "received_so_far": {name: c.count for name, c in lab.consumers.items()},
        "brokers": {name: _broker(broker) for name, broker in lab.brokers.items()},
    }


def take_timed(lab: Lab) -> Row:
    """Return roles and contents of brokers, what clients know, what consumers have received."""
    found: Row = {
        "brokers": {n: _process(p) for n, p in lab.processes.items() if n in lab.acts.named},
        "clients": {name: _client(lab, c) for name, c in lab.clients_by_name.items() if c.state != "closed"},
    }
    # A program has no consumer whose opening has failed, or has not come back.
    if there := {n: c.count for n, c in lab.consumers.items() if getattr(c, "opened", True)}:
        found["received_so_far"] = there
    return found


def _process(process: BrokerService) -> Row:
    row: Row = {"role": process.observed_role}
    if process.paused:
        return {**row, "paused": True}
    if process.role == "down" or not process.broker.running:
        return row
    held = _broker(process.broker)
    del held["running"]
    return row | {key: value for key, value in held.items() if value}


def _client(lab: Lab, client: ClientConnection) -> Row:
    row: Row = {"connected_to": client.connected_to}
    transport = client.failover
    if transport is not None:
        row["configured"] = [lab.directory.shown_configured(a) for a in transport.addresses.configured]
        if transport.addresses.updated:
            row["told"] = [lab.directory.shown_configured(a) for a in transport.addresses.updated]
        if transport.backups.backups:
            row["backups"] = len(transport.backups.backups)
    return row


def _broker(broker: Broker) -> Row:
    if not broker.running:
        return {"running": False}
    # A send to several queues at once makes them, and none of its whole name (`composite_over_bridge`).
    named = {dest: d for dest, d in broker.by_name.items() if not dest.is_temporary}
    shown = {dest: d for dest, d in named.items() if not dest.is_advisory and len(dest.elements()) == 1}
    return {
        "running": True,
        "queues": {n.name: _queue(broker, cast("Queue", d)) for n, d in shown.items() if n.is_queue},
        "topics": {n.name: _topic(broker, cast("Topic", d)) for n, d in shown.items() if not n.is_queue},
        "subscriptions": sorted(
            (_subscription(broker, sub, dest) for dest, d in shown.items() for sub in d.subs),
            key=lambda row: json.dumps(row, sort_keys=True),
        ),
        **({"durable_subscriptions": _durables(broker)} if broker.durables else {}),
    }


def _durables(broker: Broker) -> list[Row]:
    """Return the broker's durable subscriptions, sorted; what was dispatched is pending no more."""
    rules = broker.lab.rules
    return [
        {
            "destination": str(sub.dest),
            "client_id": key[0],
            "name": key[1],
            "active": not sub.inactive,
            "pending": len(sub.waiting) + (sub.duplicates if rules.counts_durable_doubles else 0),
        }
        for key, sub in sorted(broker.durables.items())
    ]


def _queue(broker: Broker, queue: Queue) -> Row:
    """Return what a queue has: what has expired counts until a sweep finds it, and no browser is shown it."""
    expired = {m for m in queue.pending_messages if m.expires and broker.clock.now >= m.expires}
    waiting = sorted(queue.messages.keys() - expired, key=lambda message: message.turn)
    paths: dict[tuple[str, ...], list[int]] = {}
    for message in waiting:
        names = tuple(broker.lab.broker_name(id) for id in message.path)
        paths.setdefault((*names, broker.name), []).append(_number(message))
    causes = [m.properties[CAUSE] for m in waiting if CAUSE in m.properties]
    return {
        **({"cause": causes[0]} if causes and broker.lab.by_calls else {}),
        "depth": len(queue.messages) + queue.hidden_duplicates,
        "enqueued": queue.enqueued,
        "dequeued": queue.dequeued,
        "in_flight": len(queue.messages) - len(queue.pending_messages),
        **({"forwarded": queue.forwarded} if broker.lab.rules.counts_forwarded else {}),
        "waiting": [_number(message) for message in waiting],
        "waiting_paths": [{"path": list(path), "numbers": n} for path, n in paths.items()],
    }


def _number(message: Message) -> int:
    """Return a message's number as the recordings have it: requests have none."""
    return -1 if "JMSReplyTo" in message.headers else message.number


def _topic(broker: Broker, topic: Topic) -> Row:
    return {
        "enqueued": topic.enqueued,
        "dequeued": topic.dequeued,
        "dispatched": topic.dispatched,
        **({"forwarded": topic.forwarded} if broker.lab.rules.counts_forwarded else {}),
    }


def _subscription(broker: Broker, sub: Subscription, dest: Destination) -> Row:
    if sub.inactive:
        last = cast("InactiveDurableSubscription", sub).last
        if last is not None:  # the broker goes on showing who used it last
            return _subscription(broker, last, dest)
        client_id, name = sub.durable or ("", "")
        away = {"destination": str(dest), "priority": 0, "prefetch": 0, "durable_name": name}
        away |= {} if sub.dest == dest else {"subscribed_to": str(sub.dest)}
        # The recorder of networks with faults named consumers, the other one clients.
        return {**away, "kind": "local", **({} if broker.lab.by_calls else {"consumer": client_id})}
    row: Row = {
        "destination": str(dest),
        "priority": sub.priority,
        "prefetch": sub.prefetch,
    }
    if sub.dest != dest:
        composite = len(sub.dest.elements()) > 1
        row["subscribed_to"] = sub.dest.name if composite else str(sub.dest)
    if sub.selector is not None:
        row["selector"] = sub.selector.text
    if sub.exclusive:
        row["exclusive"] = True
    if sub.durable:
        row["durable_name"] = sub.durable[1]
    if not sub.network:
        by_id = sub.durable and not broker.lab.by_calls
        client = sub.durable[0] if sub.durable and by_id else sub.client_name
        return {**row, "kind": "local", "consumer": client}
    names = [broker.lab.broker_name(id) for id in sub.info.path]
    bridge = cast("DemandSubscription", sub).bridge
    return {
        **row,
        "kind": "network",
        "connector": bridge.connector,
        "from_broker": broker.lab.processes[bridge.remote_broker.name].member.broker_name,
        "path": names,
    }
