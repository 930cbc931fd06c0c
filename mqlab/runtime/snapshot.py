"""The state of a network under a label, in the form of `conformance/activemq/README.md`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mqlab.runtime.bridge import Demand
from mqlab.runtime.client import LocalSubscription
from mqlab.runtime.destination import Queue, Topic
from mqlab.runtime.subscription import Subscription
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.runtime.broker import Broker
    from mqlab.runtime.lab import Lab


def take(lab: Lab) -> dict[str, Any]:
    """Return what every consumer has received so far and what every broker holds."""
    return {
        "received_so_far": {name: c.count for name, c in lab.consumers.items()},
        "brokers": {name: _broker(broker) for name, broker in lab.brokers.items()},
    }


def _broker(broker: Broker) -> dict[str, Any]:
    if not broker.running:
        return {"running": False}
    shown = {dest: d for dest, d in broker.by_name.items() if not dest.is_temporary}
    return {
        "running": True,
        "queues": {n.name: _queue(broker, d) for n, d in shown.items() if isinstance(d, Queue)},
        "topics": {n.name: _topic(d) for n, d in shown.items() if isinstance(d, Topic)},
        "subscriptions": sorted(
            (_subscription(broker, sub, dest) for dest, d in shown.items() for sub in d.subs),
            key=lambda row: json.dumps(row, sort_keys=True),
        ),
    }


def _queue(broker: Broker, queue: Queue) -> dict[str, Any]:
    waiting = sorted(queue.held, key=lambda message: message.turn)
    paths: dict[tuple[str, ...], list[int]] = {}
    for message in waiting:
        names = tuple(broker.lab.broker_name(id) for id in message.path)
        paths.setdefault((*names, broker.name), []).append(message.number)
    return {
        "depth": len(waiting), "enqueued": queue.enqueued, "dequeued": queue.dequeued,
        "in_flight": len(waiting) - len(queue.pending), "forwarded": queue.forwarded,
        "waiting": [message.number for message in waiting],
        "waiting_paths": [{"path": list(path), "numbers": n} for path, n in paths.items()],
    }  # fmt: skip


def _topic(topic: Topic) -> dict[str, int]:
    return {
        "enqueued": topic.enqueued, "dequeued": topic.dequeued, "dispatched": topic.dispatched,
        "forwarded": topic.forwarded,
    }  # fmt: skip


def _subscription(broker: Broker, sub: Subscription, dest: Destination) -> dict[str, Any]:
    row: dict[str, Any] = {
        "destination": str(dest), "priority": sub.priority, "prefetch": sub.prefetch,
    }  # fmt: skip
    if sub.dest != dest:
        row["subscribed_to"] = str(sub.dest)
    if sub.selector is not None:
        row["selector"] = sub.selector.text
    if sub.exclusive:
        row["exclusive"] = True
    if isinstance(sub, LocalSubscription):
        return {**row, "kind": "local", "consumer": sub.client.name}
    assert isinstance(sub, Demand)
    names = [broker.lab.broker_name(id) for id in sub.info.path]
    bridge = sub.bridge
    return {**row, "kind": "network", "connector": bridge.connector,
            "from_broker": bridge.remote.name, "path": names}  # fmt: skip
