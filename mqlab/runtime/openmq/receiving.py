"""Consumers: what each step of theirs does, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq.cluster import Broker
from mqlab.runtime.openmq.messages import OK, REFUSED, Consumer, Durable, destination_of
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


class Receiving:
    """The steps of consumers and their sessions."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab

    def do_open_consumer(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Open a consumer on a connection of its own."""
        name, dest = keys["consumer"], destination_of(keys)
        broker = self.lab.reachable(keys["broker"])
        if broker is None or not self._client_id_free(keys):
            return dict(REFUSED)
        durable = self._durable(keys, dest)
        known = broker.durables.get(durable.key) if durable else None
        if durable is not None and known is None and not self.lab.cluster.can_administrate(broker):
            durable.refused = True
            broker.durables[durable.key] = durable  # the refusal leaves a trace here
            return dict(REFUSED)
        if not self.exists(broker, dest) or not self._consumer_allowed(broker, dest):
            return dict(REFUSED)
        if durable is not None:
            self._subscribe(broker, durable, known)
        self._add_consumer(name, broker, dest, keys, durable)
        self.lab.cluster.spread(broker, dest)
        return dict(OK)

    def _make(
        self, name: str, home: str, dest: Destination, keys: Mapping[str, Any], key: Any
    ) -> Consumer:
        self.lab.orders += 1
        text = keys.get("selector")
        return Consumer(
            name, home, dest, keys, Selector(text) if text else None, key or name, self.lab.orders,
            self.lab.notes.node(name, "consumer", home),
            allowance=None if keys.get("receiving", True) else 0,
        )  # fmt: skip

    def _add_consumer(
        self, name: str, broker: Broker, dest: Destination, keys: Mapping[str, Any],
        durable: Durable | None,
    ) -> None:  # fmt: skip
        shared = ("shared", keys.get("subscription_name", name), keys.get("client_id", ""))
        key = durable.key if durable else shared if keys.get("shared") else None
        consumer = self._make(name, broker.name, dest, keys, key)
        flow = int(broker.instances[dest].option("ConsumerFlowLimit", 1000))
        consumer.limit = min(int(keys.get("flow_limit", 1000)), flow if dest.is_queue else 1000)
        self.lab.consumers[name] = consumer
        consumer.sub = self.lab.notes.subscription(consumer)
        self.lab.notes.add(
            Kind.Subscribed, broker=broker.node, frm=consumer.node, to=broker.node, sub=consumer.sub,
            dest=self.lab.notes.recorder.name_destination(dest), rule=Rule.local_consumer,
        )  # fmt: skip

    def _client_id_free(self, keys: Mapping[str, Any]) -> bool:
        """Whether the client id is in use anywhere in the cluster: it must be unique."""
        wanted = self.client_id(keys)
        return wanted is None or not any(
            c.open and self.client_id(c.keys) == wanted for c in self.lab.consumers.values()
        )

    @staticmethod
    def client_id(keys: Mapping[str, Any]) -> str | None:
        """Return the client id of a consumer's connection; None if it has none."""
        if keys.get("no_client_id") or not (keys.get("durable") or keys.get("client_id")):
            return None
        return str(keys.get("client_id", keys["consumer"]))

    def _durable(self, keys: Mapping[str, Any], dest: Destination) -> Durable | None:
        if not keys.get("durable"):
            return None
        client_id = "" if keys.get("no_client_id") else str(keys.get("client_id", keys["consumer"]))
        key = (client_id, str(keys.get("subscription_name", keys["consumer"])))
        return Durable(key, dest, keys.get("selector"), bool(keys.get("shared")))

    def _subscribe(self, broker: Broker, durable: Durable, known: Durable | None) -> None:
        """Make a durable subscription known everywhere; another selector makes it anew."""
        if known is not None and known.selector != durable.selector:
            for peer in self.lab.cluster.peers(broker.name):
                self.lab.delivery.forget(peer, known.key)
        if known is None:
            self.lab.cluster.record.append(("durable", durable))
        for peer in self.lab.cluster.peers(broker.name):
            peer.durables[durable.key] = durable
            peer.seen = len(self.lab.cluster.record)

    def exists(self, broker: Broker, dest: Destination) -> bool:
        """Whether a destination is there, or is created by being used."""
        if dest in broker.instances:
            return True
        if dest.name.startswith("temp:") or not broker.creates(dest):
            return False
        for peer in self.lab.cluster.peers(broker.name)[1:]:
            if dest in peer.instances and peer.instances[dest].created_by == "admin":
                self.lab.cluster.add(broker, dest, "admin", peer.instances[dest].options)
                return True
        self.lab.cluster.add(broker, dest, "auto")
        return True

    def _consumer_allowed(self, broker: Broker, dest: Destination) -> bool:
        instance = broker.instances[dest]
        active = int(instance.option("MaxNumActiveConsumers", -1))
        backup = int(instance.option("MaxNumBackupConsumers", 0))
        there = len(self.lab.cluster.consumers_of(broker, dest))
        return active < 0 or backup < 0 or there < active + backup

    def do_temporary(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Make a temporary destination with a consumer: known everywhere at once."""
        kind = keys.get("kind", "queue")
        broker = self.lab.reachable(keys["broker"])
        if broker is None:
            return dict(REFUSED)
        dest = Destination(kind, f"temp:{keys['consumer']}")
        self.lab.cluster.add(broker, dest, "temporary").owner = keys["consumer"]
        self._add_consumer(keys["consumer"], broker, dest, keys, None)
        self.lab.cluster.spread(broker, dest)
        return dict(OK)

    def do_close_consumer(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Close consumer and connection; what it holds goes back to its homes."""
        consumer = self.lab.consumers[keys["consumer"]]
        consumer.killed = True
        if consumer.open:
            self.lab.delivery.give_back(consumer, flag=True, leaves=True)
            self._gone(consumer)
        return dict(OK)

    def do_kill_client(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Kill a client's process: it will not come back."""
        return self.do_close_consumer(keys)

    def _gone(self, consumer: Consumer) -> None:
        consumer.open = False
        broker = self.lab.brokers[consumer.home].node
        self.lab.notes.add(Kind.Unsubscribed, broker=broker, frm=consumer.node, to=broker,
                           sub=consumer.sub, dest=self.lab.notes.recorder.name_destination(consumer.dest),
                           rule=Rule.consumer_left)  # fmt: skip
        if consumer.dest.name.startswith("temp:"):
            for peer in self.lab.cluster.peers(consumer.home):
                peer.instances.pop(consumer.dest, None)

    def client_lost(self, consumer: Consumer, cause: int) -> None:
        """A consumer has lost its broker: with reconnect it comes back, else it is closed."""
        counts = self.lab.events.setdefault(consumer.name, {})
        counts["connection_lost"] = counts.get("connection_lost", 0) + 1
        consumer.open = False
        consumer.lost = self.lab.notes.add(Kind.Interrupted, frm=consumer.node,
                           to=self.lab.brokers[consumer.home].node, rule=Rule.broker_stopped,
                           cause=cause)  # fmt: skip
        if consumer.keys.get("reconnect") or self.lab.scenario.model == "enhanced":
            self.lab.takeover.reconnect(consumer)

    def do_receive(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Let a consumer take so many messages."""
        consumer = self.lab.consumers[keys["consumer"]]
        before = len(consumer.received)
        consumer.allowance = int(keys["count"])
        self.lab.delivery.dispatch_all()
        consumer.allowance = 0
        return {"took": len(consumer.received) - before, **OK}

    def do_resume(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Let a consumer take all it can, or a frozen broker go on."""
        if "consumer" in keys:
            self.lab.consumers[keys["consumer"]].allowance = None
            return dict(OK)
        return self.lab.takeover.thaw(self.lab.brokers[keys["broker"]])

    def do_pause(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Let a consumer take nothing more, or freeze a broker."""
        if "consumer" in keys:
            self.lab.consumers[keys["consumer"]].allowance = 0
            return dict(OK)
        return self.lab.takeover.freeze(self.lab.brokers[keys["broker"]])

    def do_acknowledge(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Acknowledge what the session has taken."""
        consumer = self.lab.consumers[keys["consumer"]]
        if not self.lab.delivery.acknowledge(consumer, None):
            consumer.refuses = True
            return dict(REFUSED)
        return dict(OK)

    def do_recover(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Let what was taken come again."""
        self.lab.delivery.redeliver(self.lab.consumers[keys["consumer"]])
        return dict(OK)

    def do_rollback(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Roll back a session."""
        if "producer" in keys:
            self.lab.sending.end_transaction(keys["producer"], commit=False)
        else:
            self.lab.delivery.redeliver(self.lab.consumers[keys["consumer"]])
        return dict(OK)

    def do_commit(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Commit a session's transaction."""
        if "producer" in keys:
            producer = self.lab.producers[keys["producer"]]
            self.lab.sending.revive(producer)
            if producer.pop("rolled_back", False) or producer["home"] is None:
                return dict(REFUSED)
            self.lab.sending.end_transaction(keys["producer"], commit=True)
            return dict(OK)
        return self.do_acknowledge(keys)
