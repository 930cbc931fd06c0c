"""Clients and administrators: what each step of theirs does, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq.cluster import Broker
from mqlab.runtime.openmq.messages import Consumer, Durable, Instance, Message
from mqlab.spec.selector import Selector
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab
    from mqlab.runtime.openmq.takeover import Takeover

OK: dict[str, Any] = {"result": "ok"}
REFUSED: dict[str, Any] = {"result": "refused"}


class Clients:
    """The steps of clients and administrators; the state is the lab's."""

    consumers: dict[str, Consumer]
    producers: dict[str, dict[str, Any]]
    brokers: dict[str, Broker]
    background: list[dict[str, Any]]
    takeover: Takeover
    silent: frozenset[str] = frozenset()

    # Consumers

    def do_open_consumer(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Open a consumer on a connection of its own."""
        name, dest = keys["consumer"], _destination(keys)
        broker = self._reachable(keys["broker"])
        if broker is None or not self._client_id_free(keys):
            return dict(REFUSED)
        durable = self._durable(keys, dest)
        known = broker.durables.get(durable.key) if durable else None
        if durable is not None and known is None and not self.cluster.can_administrate(broker):
            durable.refused = True
            broker.durables[durable.key] = durable  # the refusal leaves a trace here
            return dict(REFUSED)
        if not self._exists(broker, dest) or not self._consumer_allowed(broker, dest):
            return dict(REFUSED)
        if durable is not None:
            self._subscribe(broker, durable, known)
        self._add_consumer(name, broker, dest, keys, durable)
        self.cluster.spread(broker, dest)
        return dict(OK)

    def _make(
        self: ClusterLab, name: str, home: str, dest: Destination, keys: Mapping[str, Any], key: Any  # type: ignore[misc]
    ) -> Consumer:
        self.orders += 1
        text = keys.get("selector")
        return Consumer(
            name, home, dest, keys, Selector(text) if text else None, key or name, self.orders,
            self.add_node(name, "consumer", home),
            allowance=None if keys.get("receiving", True) else 0,
        )  # fmt: skip

    def _add_consumer(
        self: ClusterLab, name: str, broker: Broker, dest: Destination, keys: Mapping[str, Any],  # type: ignore[misc]
        durable: Durable | None,
    ) -> None:  # fmt: skip
        shared = ("shared", keys.get("subscription_name", name), keys.get("client_id", ""))
        key = durable.key if durable else shared if keys.get("shared") else None
        consumer = self._make(name, broker.name, dest, keys, key)
        flow = int(broker.instances[dest].option("ConsumerFlowLimit", 1000))
        consumer.limit = min(int(keys.get("flow_limit", 1000)), flow if dest.is_queue else 1000)
        self.consumers[name] = consumer
        self.add(self.clock.now, Kind.Subscribed, broker=broker.node, frm=consumer.node,
                 to=broker.node, dest=self.name_destination(dest), rule=Rule.local_consumer)  # fmt: skip

    def _client_id_free(self: ClusterLab, keys: Mapping[str, Any]) -> bool:  # type: ignore[misc]
        """Whether the client id is in use anywhere in the cluster: it must be unique."""
        wanted = self._client_id(keys)
        return wanted is None or not any(
            c.open and self._client_id(c.keys) == wanted for c in self.consumers.values()
        )

    @staticmethod
    def _client_id(keys: Mapping[str, Any]) -> str | None:
        if keys.get("no_client_id") or not (keys.get("durable") or keys.get("client_id")):
            return None
        return str(keys.get("client_id", keys["consumer"]))

    def _durable(self: ClusterLab, keys: Mapping[str, Any], dest: Destination) -> Durable | None:  # type: ignore[misc]
        if not keys.get("durable"):
            return None
        client_id = "" if keys.get("no_client_id") else str(keys.get("client_id", keys["consumer"]))
        key = (client_id, str(keys.get("subscription_name", keys["consumer"])))
        return Durable(key, dest, keys.get("selector"), bool(keys.get("shared")))

    def _subscribe(self: ClusterLab, broker: Broker, durable: Durable, known: Durable | None) -> None:  # type: ignore[misc]
        """Make a durable subscription known everywhere; another selector makes it anew."""
        if known is not None and known.selector != durable.selector:
            for peer in self.cluster.peers(broker.name):
                self.delivery.forget(peer, known.key)
        if known is None:
            self.cluster.record.append(("durable", durable))
        for peer in self.cluster.peers(broker.name):
            peer.durables[durable.key] = durable
            peer.seen = len(self.cluster.record)

    def _exists(self: ClusterLab, broker: Broker, dest: Destination) -> bool:  # type: ignore[misc]
        """Whether a destination is there, or is created by being used."""
        if dest in broker.instances:
            return True
        if dest.name.startswith("temp:") or not broker.creates(dest):
            return False
        for peer in self.cluster.peers(broker.name)[1:]:
            if dest in peer.instances and peer.instances[dest].created_by == "admin":
                self.cluster.add(broker, dest, "admin", peer.instances[dest].options)
                return True
        self.cluster.add(broker, dest, "auto")
        return True

    def _consumer_allowed(self: ClusterLab, broker: Broker, dest: Destination) -> bool:  # type: ignore[misc]
        instance = broker.instances[dest]
        active = int(instance.option("MaxNumActiveConsumers", -1))
        backup = int(instance.option("MaxNumBackupConsumers", 0))
        there = len(self.cluster.consumers_of(broker, dest))
        return active < 0 or backup < 0 or there < active + backup

    def do_temporary(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Make a temporary destination with a consumer: known everywhere at once."""
        kind = keys.get("kind", "queue")
        broker = self._reachable(keys["broker"])
        if broker is None:
            return dict(REFUSED)
        dest = Destination(kind, f"temp:{keys['consumer']}")
        self.cluster.add(broker, dest, "temporary").owner = keys["consumer"]
        self._add_consumer(keys["consumer"], broker, dest, keys, None)
        self.cluster.spread(broker, dest)
        for peer in self.cluster.peers(broker.name):
            peer.instances[dest].owner = keys["consumer"]
        return dict(OK)

    def do_close_consumer(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Close consumer and connection; what it holds goes back to its homes."""
        consumer = self.consumers[keys["consumer"]]
        if consumer.open:
            self.delivery.give_back(consumer, flag=True, leaves=True)
            self._gone(consumer)
        return dict(OK)

    def do_kill_client(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Kill a client's process: it will not come back."""
        self.consumers[keys["consumer"]].killed = True
        return self.do_close_consumer(keys)

    def _gone(self: ClusterLab, consumer: Consumer) -> None:  # type: ignore[misc]
        consumer.open = False
        if consumer.dest.name.startswith("temp:"):
            for peer in self.cluster.peers(consumer.home):
                peer.instances.pop(consumer.dest, None)

    def client_lost(self: ClusterLab, consumer: Consumer) -> None:  # type: ignore[misc]
        """A consumer has lost its broker: with reconnect it comes back, else it is closed."""
        counts = self.events.setdefault(consumer.name, {})
        counts["connection_lost"] = counts.get("connection_lost", 0) + 1
        consumer.open = False
        if consumer.keys.get("reconnect") or self.scenario.model == "enhanced":
            self.takeover.reconnect(consumer)

    def do_receive(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Let a consumer take so many messages."""
        consumer = self.consumers[keys["consumer"]]
        before = len(consumer.received)
        consumer.allowance = int(keys["count"])
        self.delivery.dispatch_all()
        consumer.allowance = 0
        return {"took": len(consumer.received) - before, **OK}

    def do_resume(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Let a consumer take all it can, or a frozen broker go on."""
        if "consumer" in keys:
            self.consumers[keys["consumer"]].allowance = None
            return dict(OK)
        return self.takeover.thaw(self.brokers[keys["broker"]])

    def do_pause(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Let a consumer take nothing more, or freeze a broker."""
        if "consumer" in keys:
            self.consumers[keys["consumer"]].allowance = 0
            return dict(OK)
        return self.takeover.freeze(self.brokers[keys["broker"]])

    def do_acknowledge(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Acknowledge what the session has taken."""
        consumer = self.consumers[keys["consumer"]]
        if not self.delivery.acknowledge(consumer, None):
            consumer.refuses = True
            return dict(REFUSED)
        return dict(OK)

    def do_recover(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Let what was taken come again."""
        self.delivery.redeliver(self.consumers[keys["consumer"]])
        return dict(OK)

    def do_rollback(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Roll back a session."""
        if "producer" in keys:
            self._end_transaction(keys["producer"], commit=False)
        else:
            self.delivery.redeliver(self.consumers[keys["consumer"]])
        return dict(OK)

    def do_commit(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Commit a session's transaction."""
        if "producer" in keys:
            producer = self.producers[keys["producer"]]
            self.revive(producer)
            if producer.pop("rolled_back", False) or producer["home"] is None:
                return dict(REFUSED)
            self._end_transaction(keys["producer"], commit=True)
            return dict(OK)
        return self.do_acknowledge(keys)

    # Producers

    def do_open_producer(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Open a producer on a connection of its own."""
        broker, dest = self._reachable(keys["broker"]), _destination(keys)
        if broker is None or not self._exists(broker, dest):
            return dict(REFUSED)
        most = int(broker.instances[dest].option("MaxNumProducers", 100))
        if 0 <= most <= self.producers_at(broker.name, dest):
            return dict(REFUSED)
        self.producers[keys["producer"]] = {"home": broker.name, "dest": dest, "keys": keys}
        return dict(OK)

    def do_close_producer(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Close a producer."""
        self.producers.pop(keys["producer"], None)
        return dict(OK)

    def producers_at(self, broker: str, dest: Destination) -> int:
        """Return how many producers of a destination are connected to a broker."""
        return sum(p["home"] == broker and p["dest"] == dest for p in self.producers.values())

    def do_send(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Send messages one by one; under flow control the rest waits."""
        first, count = self.numbers + 1, int(keys["count"])
        self.numbers += count
        producer = self.producers.get(str(keys.get("producer")))
        fails = bool(producer) and self.revive(producer)
        home = producer["home"] if producer else keys.get("broker")
        dest = producer["dest"] if producer else _destination(keys)
        broker = self._reachable(home) if home else None
        base = {"first": first, "count": count}
        if broker is None or not self._exists(broker, dest):
            return {**base, **REFUSED}
        name = str(keys.get("producer") or f"P.{home}")
        row = {**base, "sent": 0, "refused": []}
        job = {"row": row, "broker": broker, "dest": dest, "keys": keys, "next": 0, "name": name,
               "open": "producer" not in keys}  # fmt: skip
        if fails:  # the send during the failure is lost; those after it go to the new home
            row["refused"], job["next"] = [first], 1
        if job["open"]:
            self.producers[f"#{first}"] = {"home": broker.name, "dest": dest, "keys": keys}
        self.go_on(job)
        if job["next"] < count:
            self.background.append(job)
            if not keys.get("in_background"):
                self.pass_time(int(keys.get("limit_ms", 30_000)) * 1000)
                job["late"] = job["next"] < count
        return row

    def revive(self: ClusterLab, producer: dict[str, Any]) -> bool:  # type: ignore[misc]
        """Let a producer that lost its broker find another; True if its next send is lost."""
        where = producer["keys"]["broker"]
        names = list(where) if isinstance(where, (list, tuple)) else [where]
        if producer["home"] is None and producer["keys"].get("reconnect"):
            home = self._reachable(names)
        elif producer["home"] is None and self.takeover.enhanced:
            home = self._reachable(self.takeover.owner.get(producer["was"], producer["was"]))
        else:
            return False
        if home is None:
            return False
        producer["home"] = home.name
        self._exists(home, producer["dest"])
        return bool(producer.pop("failing", False)) and not producer.get("rolled_back", False)

    def go_on(self: ClusterLab, job: dict[str, Any]) -> bool:  # type: ignore[misc]
        """Send what a producer can send now; True if it sent something."""
        row, moved = job["row"], False
        while job["next"] < row["count"]:
            message = self._message(job, row["first"] + job["next"])
            result = self.delivery.accept(job["broker"], message)
            if result == "blocked":
                row["result"] = "blocked"
                return moved
            moved = True
            job["next"] += 1
            if result == "refused":
                row["refused"].append(message.number)
            else:
                row["sent"] += 1
        if job["open"]:
            self.producers.pop(f"#{row['first']}", None)
        if not row["refused"]:
            row.pop("refused")
        row["result"] = "ok" if row["sent"] == row["count"] else (
            "partly refused" if row["sent"] else "refused")  # fmt: skip
        if job.get("late"):
            row["result"] = "blocked"
        return moved

    def _message(self: ClusterLab, job: dict[str, Any], number: int) -> Message:  # type: ignore[misc]
        keys, place = job["keys"], job["next"]
        given = keys.get("properties", {})
        properties = {k: v[place % len(v)] if isinstance(v, list) else v for k, v in given.items()}
        priority = keys.get("jms_priority", 4)
        priority = priority[place % len(priority)] if isinstance(priority, list) else priority
        message = Message(number, job["broker"].name, job["dest"], keys.get("persistent", True),
                          priority, properties, int(keys.get("size", 100)), self.clock.now)  # fmt: skip
        producer = self.producers.get(str(keys.get("producer")), {"keys": {}})
        if producer["keys"].get("ack_mode") == "transacted" or producer["keys"].get("xa"):
            message.transaction = job["name"]
        elif keys.get("transacted"):
            message.transaction = None  # sent and committed in one step
        node = self.producer_node(job["name"], job["broker"].name)
        message.row = self.note(Kind.Sent, message, job["broker"], frm=node,
                                to=job["broker"].node)  # fmt: skip
        return message

    def producer_node(self: ClusterLab, name: str, home: str) -> int:  # type: ignore[misc]
        """Return the number of a producer in the trace."""
        names = self.recorder.names
        for no, known in enumerate(zip(names["node"], names["node_home"], strict=True)):
            if known == (name, home):
                return no
        return self.add_node(name, "producer", home)

    def unblock(self: ClusterLab) -> bool:  # type: ignore[misc]
        """Let producers go on that were held back; True if one did."""
        moved = False
        for job in list(self.background):
            moved |= self.go_on(job)
            if job["next"] >= job["row"]["count"]:
                self.background.remove(job)
        return moved

    def _end_transaction(self: ClusterLab, name: str, commit: bool) -> None:  # type: ignore[misc]
        for broker in self.brokers.values():
            for instance in broker.instances.values():
                for message in list(instance.messages):
                    if message.transaction == name:
                        message.transaction = None
                        if not commit:
                            instance.messages.remove(message)

    # Administration

    def do_create_destination(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Create a destination, everywhere at once; refused without the change record."""
        broker, dest = self.brokers[keys["broker"]], _destination(keys)
        if dest in broker.instances or not broker.serves:
            return dict(REFUSED)
        options = dict(keys.get("options", {}))
        if not self.cluster.can_administrate(broker):
            if not self.takeover.enhanced and (self.scenario.model == "master" or not self.database_up):
                for peer in self.cluster.peers(broker.name)[1:]:
                    self.cluster.add(peer, dest, "admin", options)  # the refusal leaves a trace
            self.cluster.hang(broker)
            return dict(REFUSED)
        self._recorded("create", (dest, options))
        for peer in self.cluster.peers(broker.name):
            self.cluster.add(peer, dest, "admin", options)
        return dict(OK)

    def do_update_destination(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Change properties, the same everywhere."""
        broker, dest = self.brokers[keys["broker"]], _destination(keys)
        if dest not in broker.instances or "LocalOnly" in keys["options"]:
            return dict(REFUSED)
        if not self.cluster.can_administrate(broker):
            broker.instances[dest].options.update(keys["options"])
            return dict(REFUSED)
        self._recorded("update", (dest, dict(keys["options"])))
        for peer in self.cluster.peers(broker.name):
            if dest in peer.instances:
                peer.instances[dest].options.update(keys["options"])
        return dict(OK)

    def do_destroy_destination(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Destroy a destination with all its messages; its consumers are cut off for good."""
        broker, dest = self.brokers[keys["broker"]], _destination(keys)
        if dest not in broker.instances or not self.cluster.can_administrate(broker):
            return dict(REFUSED)
        self._recorded("destroy", dest)
        for peer in self.cluster.peers(broker.name):
            peer.instances.pop(dest, None)
        for consumer in self.consumers.values():
            if consumer.dest == dest:
                consumer.open = False
        return dict(OK)

    def _recorded(self: ClusterLab, what: str, value: Any) -> None:  # type: ignore[misc]
        """Write to the change record; all that are there have read it."""
        self.cluster.record.append((what, value))
        for broker in self.brokers.values():
            if broker.running:
                broker.seen = len(self.cluster.record)

    def do_unsubscribe(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Give up a durable subscription, on any broker, unless its client id is in use."""
        broker = self._reachable(keys["broker"])
        key = (str(keys["client_id"]), str(keys["subscription_name"]))
        used = any(c.open and self._client_id(c.keys) == key[0] for c in self.consumers.values())
        if broker is None or used or key not in broker.durables:
            return dict(REFUSED)
        if not self.cluster.can_administrate(broker):
            return dict(REFUSED)
        self._recorded("unsubscribe", key)
        for peer in self.cluster.peers(broker.name):
            peer.durables.pop(key, None)
            self.delivery.forget(peer, key)
        return dict(OK)

    def _instance(self: ClusterLab, keys: Mapping[str, Any]) -> Instance:  # type: ignore[misc]
        return self.brokers[keys["broker"]].instances[_destination(keys)]

    def do_pause_destination(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Pause one broker's instance: its producers wait."""
        self._instance(keys).paused = True
        return dict(OK)

    def do_resume_destination(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Let a paused instance go on."""
        self._instance(keys).paused = False
        return dict(OK)

    def do_browse(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Show what a broker holds of a queue, by priority."""
        broker, dest = self.brokers[keys["broker"]], _destination(keys)
        found = broker.instances[dest].messages if dest in broker.instances else []
        order = sorted(found, key=lambda m: (-m.priority, m.number))
        return {"numbers": [m.number for m in order], **OK}

    def do_connect(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Open and close a connection."""
        broker = self._reachable(keys["broker"])
        return {"home": broker.name, **OK} if broker else dict(REFUSED)

    def do_knock(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Knock at brokers until an event has happened."""
        self.do_wait_for({"event": keys["until"], "limit_ms": keys.get("limit_ms", 60_000)})
        return dict(OK)

    def do_admin(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Administrative commands of a cluster."""
        broker, command = self.brokers[keys["broker"]], keys["command"]
        if command == "takeover":
            return self.takeover.by_command(broker, self.brokers[keys["target"]])
        if command != "change_master":
            return dict(OK)
        flag = broker.option("imq.cluster.dynamicChangeMasterBrokerEnabled", "false")
        if str(flag).lower() != "true" or broker.master != broker.name:
            return dict(REFUSED)
        for peer in self.brokers.values():
            peer.master = keys["to"]
        return dict(OK)

    def do_xa(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Steps of a distributed transaction."""
        action, xid = keys["action"], str(keys.get("xid", ""))
        if action == "prepare":
            names = [n for n in (keys.get("producer"), keys.get("consumer")) if n]
            self.prepared[str(names[0]) if names else xid] = []
        if action in ("commit", "rollback"):
            for name in list(self.prepared):
                self._end_transaction(name, commit=action == "commit")
                del self.prepared[name]
        return dict(OK)

    def do_kill_owner(self: ClusterLab, keys: Mapping[str, Any]) -> dict[str, Any]:  # type: ignore[misc]
        """Kill the broker that took over another."""
        owner = self.takeover.owner.get(keys["of"])
        return self.do_kill({"broker": owner}) if owner else {"result": "not reached"}

    # Reports

    def delivered(self: ClusterLab, consumer: Consumer) -> None:  # type: ignore[misc]
        """Count what a durable subscription has had at its consumer's broker."""
        consumer.served = self.delivery.turn

    def durable_lines(self: ClusterLab, broker: Broker) -> list[str]:  # type: ignore[misc]
        """Return a broker's durable subscriptions as the recordings write them."""
        lines = []
        for key in sorted(broker.durables):
            users = [c for c in self.consumers.values() if c.open and c.key == key
                     and self.cluster.linked(broker.name, c.home)]  # fmt: skip
            here = sum(len(c.received) + len(c.buffer) for c in users if c.home == broker.name)
            state = "active" if users else "inactive"
            name = f"{key[0]}/{key[1]}" if key[0] else key[1]
            lines.append(f"{name} {state} messages={here}")
        return lines

    def sleeping(self: ClusterLab, broker: Broker, dest: Destination) -> int:  # type: ignore[misc]
        """Return how many durable subscriptions of a topic nobody uses: they count as consumers."""
        used = {c.key for c in self.cluster.consumers_of(broker, dest)}
        return sum(
            d.dest == dest and d.key not in used and not d.refused
            for d in broker.durables.values()
        )

    def _reachable(self: ClusterLab, where: Any) -> Broker | None:  # type: ignore[misc]
        """Return the first broker of an address list that serves."""
        names = list(self.brokers) if where == "any" else where
        for name in names if isinstance(names, (list, tuple)) else [names]:
            if self.brokers[name].serves and not self.takeover.refuses(self.brokers[name]):
                return self.brokers[name]
        return None


def _destination(keys: Mapping[str, Any]) -> Destination:
    return Destination("queue", keys["queue"]) if "queue" in keys else (
        Destination("topic", keys["topic"]))  # fmt: skip
