"""A lab for OpenMQ clusters: the script's steps, one after the other, and what comes of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from mqlab.errors import BadValue
from mqlab.formats import openmq as files
from mqlab.runtime.clock import Clock
from mqlab.runtime.openmq.admin import Admin
from mqlab.runtime.openmq.cluster import RETRY, Broker, Cluster
from mqlab.runtime.openmq.delivery import Delivery
from mqlab.runtime.openmq.messages import Consumer, Message
from mqlab.runtime.openmq.notes import Notes
from mqlab.runtime.openmq.receiving import Receiving
from mqlab.runtime.openmq.sending import Sending
from mqlab.runtime.openmq.stock import Stock
from mqlab.runtime.openmq.takeover import Takeover
from mqlab.spec.openmq import OPENS, ClusterScenario
from mqlab.spec.selector import Selector
from mqlab.spec.step import Step
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind
from mqlab.trace.trace import Trace

SECOND = 1_000_000


class ClusterLab:
    """A running cluster with its clients; `play` goes through the script."""

    def __init__(
        self, scenario: ClusterScenario, seed: int, jitter: Any, limit: int | None
    ) -> None:
        self.scenario, self.seed, self.limit = scenario, seed, limit
        self.random = Random(f"openmq:{seed}")
        self.clock, self.notes = Clock(), Notes(self)
        self.consumers: dict[str, Consumer] = {}
        self.producers: dict[str, dict[str, Any]] = {}
        self.prepared: dict[str, list[Message]] = {}
        self.database_up = True
        self.numbers = self.orders = 0
        self.operations: list[dict[str, Any]] = []
        self.snapshots: dict[str, Any] = {}
        self.events: dict[str, dict[str, int]] = {}
        self.happened: list[tuple[int, str, str]] = []
        self.background: list[dict[str, Any]] = []
        self.brokers = {m.name: Broker(self, m.name) for m in scenario.members}
        self.notes.name_links(list(self.brokers))
        self.cluster, self.delivery = Cluster(self), Delivery(self)
        self.takeover, self.stock = Takeover(self), Stock(self)
        self.silent: set[frozenset[str]] = set()  # lines that swallow everything
        self.receiving, self.sending, self.admin = Receiving(self), Sending(self), Admin(self)

    # The script

    def play(self) -> None:
        """Play the script to its end."""
        for no, step in enumerate(self.scenario.steps, start=1):
            self.notes.begins.add(self.notes.count)
            result = self._do(step)
            self.settle()
            if result is not None:
                self._note_refusal(step, result["result"])
                result.update({"step": no, "do": step.do, **_id(step)})
                self.operations.append(result)
            if self.limit is not None and self.notes.count > self.limit:
                raise BadValue(f"more than {self.limit} events; let the script end earlier")

    def _note_refusal(self, step: Step, result: str) -> None:
        """Record what a broker was asked for in vain; sends have events of their own."""
        asked = step.keys.get("broker")
        if result == "ok" or step.do == "send" or not isinstance(asked, str) or asked == "any":
            return
        broker = self.brokers[asked].node
        names = ("queue", "topic", "consumer", "subscription_name", "command")
        about = " ".join(str(step.keys[name]) for name in names if name in step.keys)
        self.notes.add(Kind.Failed, {step.do: f"{about} {result}".strip()}, broker=broker)

    def _do(self, step: Step) -> dict[str, Any] | None:
        broker = step.keys.get("broker")
        if isinstance(broker, str) and broker in self.brokers and self.brokers[broker].hangs:
            return self._unanswered(step, "blocked")
        gone = step.keys.get("consumer", "") not in (*self.consumers, "") or (
            step.keys.get("producer", "") not in (*self.producers, "")
        )
        if gone and step.do not in OPENS:  # its opening was refused, or it is closed
            return self._unanswered(step, "not reached")
        rooms = (self, self.receiving, self.sending, self.admin)
        room = next(room for room in rooms if hasattr(room, f"do_{step.do}"))
        act: Callable[[Mapping[str, Any]], dict[str, Any] | None] = getattr(room, f"do_{step.do}")
        return act(step.keys)

    def _unanswered(self, step: Step, result: str) -> dict[str, Any]:
        """A step that asks a broker which answers nobody, or that nobody is there to do."""
        if step.do != "send":
            return {"result": result}
        first = self.numbers + 1
        self.numbers += int(step.keys["count"])
        return {"first": first, "count": step.keys["count"], "result": result}

    def settle(self) -> None:
        """Let everything move that can move now."""
        self.delivery.dispatch_all()
        self.cluster.reap()
        self.stock.note_waiting()

    def pass_time(self, time: int) -> None:
        """Let time go on by *time* us; what falls due meanwhile happens."""
        self.clock.rest(self.clock.now + time)
        for producer in self.producers.values():
            lost = producer.get("lost_at", self.clock.now)
            if producer["home"] is None and self.clock.now - lost >= 3 * SECOND:
                self.sending.revive(producer)
        self.settle()

    def on_reap(self, _: None) -> None:
        """An idle destination may be due."""
        self.cluster.reap()

    # Time

    def do_wait(self, keys: Mapping[str, Any]) -> None:
        """Let time pass."""
        self.pass_time(int(keys["ms"] * 1000))

    def do_settle(self, keys: Mapping[str, Any]) -> None:
        """Wait until nothing moves."""
        self.settle()

    def do_wait_received(self, keys: Mapping[str, Any]) -> None:
        """Wait until a consumer has so many messages, or for as long as the step allows."""
        consumer = self.consumers[keys["consumer"]]
        self.settle()
        if len(consumer.received) < int(keys["count"]):
            self.pass_until(lambda: len(consumer.received) >= int(keys["count"]),
                            int(keys.get("limit_ms", 30_000)))  # fmt: skip

    def pass_until(self, holds: Callable[[], bool], limit_ms: int) -> None:
        """Let time go on until something holds, or the limit is over."""
        end = self.clock.now + limit_ms * 1000
        while not holds() and self.clock.heap and self.clock.heap[0][0] <= end:
            self.clock.rest(max(self.clock.now, self.clock.heap[0][0]))
            self.settle()
        if not holds():
            self.pass_time(end - self.clock.now)

    def do_wait_background(self, keys: Mapping[str, Any]) -> None:
        """Wait until sends in the background have ended."""
        self.settle()

    def do_wait_for(self, keys: Mapping[str, Any]) -> None:
        """Wait until an event has happened since the last fault, such as a takeover."""
        self.pass_until(lambda: self.takeover.seen(keys["event"], keys.get("about")),
                        int(keys.get("limit_ms", 60_000)))  # fmt: skip
        self.pass_time(int(keys.get("settle_ms", 1000)) * 1000)

    # Brokers

    def do_start(self, keys: Mapping[str, Any]) -> None:
        """Start all listed brokers, or those named, one after the other."""
        listed = [m.name for m in self.scenario.members if not m.not_listed]
        for name in keys.get("brokers", listed):
            if not self.brokers[name].running:
                self.cluster.start(self.brokers[name])
        self.cluster.refresh()
        self.pass_time(RETRY)

    def do_start_broker(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Start one broker; it may have to wait for its master, or end by itself."""
        broker = self.brokers[keys["broker"]]
        broker.options.update(keys.get("options", {}))
        if self.scenario.model == "peer" and not self.database_up:
            return {"result": "ended"}
        if not self.takeover.may_start(broker):
            return {"result": "ended"}
        if not broker.running:
            self.cluster.start(broker)
        until = keys.get("until", "linked")
        if until == "linked":
            self.pass_time(RETRY)
        return {"result": "ok" if broker.ready or until == "none" else "not ready"}

    def do_restart(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Kill a broker and start it again."""
        self.do_kill(keys)
        return self.do_start_broker(keys)

    def do_kill(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Kill a broker."""
        broker = self.brokers[keys["broker"]]
        if not broker.running:
            return {"result": "ok"}
        self.takeover.fault(broker)
        self.cluster.down(broker, Kind.Crashed)
        return {"result": "ok"}

    def do_stop(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Stop a broker in an orderly way."""
        broker = self.brokers[keys["broker"]]
        if not broker.serves:
            return {"result": "refused"}
        self.takeover.fault(broker, orderly=True, failover=not keys.get("no_failover", False))
        self.cluster.down(broker, Kind.Stopped)
        return {"result": "ok"}

    def do_cut(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """A silent cut is not noticed: what is under way waits for the healing."""
        self.silent.add(frozenset(keys["between"]))
        one, other = (self.brokers[name].node for name in keys["between"])
        self.notes.add(Kind.Partitioned, frm=one, to=other)
        return {"result": "ok"}

    def do_heal(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """The network between two brokers is whole again."""
        self.silent.discard(frozenset(keys["between"]))
        one, other = (self.brokers[name].node for name in keys["between"])
        self.notes.add(Kind.Healed, frm=one, to=other)
        return {"result": "ok"}

    def do_database(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Stop or start the database of the record, or of the shared store."""
        self.database_up = keys["action"] == "start"
        for broker in self.brokers.values():
            broker.lost_database |= not self.database_up and self.scenario.model == "peer"
        return {"result": "ok"}

    @property
    def store_down(self) -> bool:
        """Whether the store that all brokers of an enhanced cluster share is away."""
        return self.takeover.enhanced and not self.database_up

    # Reporting

    @property
    def trace(self) -> Trace:
        """All that has happened so far."""
        return self.notes.trace({
            "scenario": files.write(self.scenario), "seed": self.seed, "product": "openmq",
            "edition": self.scenario.version, "operations": self.operations,
            "snapshots": self.snapshots, "events": self.events,
            "consumers": {
                name: {"count": len(c.received), "received": c.received,
                       "redelivered": c.redelivered}
                for name, c in self.consumers.items() if not c.keys.get("process")
            } | {
                name: {"count": 0, "received": [], "redelivered": []}
                for name in self.events if name not in self.consumers
            },
        })  # fmt: skip

    def do_snapshot(self, keys: Mapping[str, Any]) -> None:
        """Note the state of everything under a label."""
        self.settle()
        self.snapshots[keys["label"]] = {
            "received_so_far": {name: len(c.received) for name, c in self.consumers.items()
                                if not c.keys.get("process")},
            "brokers": {name: self._state(b, keys) for name, b in self.brokers.items()
                        if b.started or not self._unlisted(name)},
        }  # fmt: skip

    def _unlisted(self, name: str) -> bool:
        return next(m for m in self.scenario.members if m.name == name).not_listed

    def _state(self, broker: Broker, keys: Mapping[str, Any]) -> dict[str, Any]:
        if not broker.running:
            return {"running": False}
        if broker.frozen:
            return {"running": True, "paused": True}
        if self.store_down or broker.hangs:
            return {"running": True, "no_answer": True}
        found: dict[str, Any] = {"running": True, "cluster": {
            name: self.takeover.state_of(broker, other) for name, other in self.brokers.items()
            if other is not broker and (other.started or not self._unlisted(name))
            and self.takeover.same_cluster(broker, other)
        }}  # fmt: skip
        if broker.master is not None:
            found["master"] = self.cluster.named_master(broker)
        durables = self.durable_lines(broker)
        if durables:
            found["durable_subscriptions"] = durables
        found["destinations"] = {
            self.title(dest): self._destination(broker, dest, keys)
            for dest in sorted(broker.instances, key=str)
        }
        return found

    def _destination(self, broker: Broker, dest: Destination, keys: Mapping[str, Any]) -> Any:
        instance = broker.instances[dest]
        consumers = self.cluster.consumers_of(broker, dest)
        active = self.cluster.active(broker, dest)
        sleeping = self.sleeping(broker, dest)
        row = {
            "created_by": instance.created_by, **self.stock.counts(broker, dest),
            "consumers": len(consumers) + sleeping, "active": len(active) + sleeping,
            "backup": len(consumers) - len(active),
            "producers": self.sending.producers_at(broker.name, dest),
        }  # fmt: skip
        if instance.paused:
            row["state"] = "Paused"
        if keys.get("properties"):
            row["properties"] = {k: instance.shown(k) for k in keys["properties"]}
        return row

    def delivered(self, consumer: Consumer) -> None:
        """Count what a durable subscription has had at its consumer's broker."""
        consumer.served = self.delivery.turn

    def durable_lines(self, broker: Broker) -> list[str]:
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

    def sleeping(self, broker: Broker, dest: Destination) -> int:
        """Return how many durable subscriptions of a topic nobody uses: they count as consumers."""
        used = {c.key for c in self.cluster.consumers_of(broker, dest)}
        return sum(
            d.dest == dest and d.key not in used and not d.refused for d in broker.durables.values()
        )

    def reachable(self, where: Any) -> Broker | None:
        """Return the first broker of an address list that serves."""
        names = list(self.brokers) if where == "any" else where
        for name in names if isinstance(names, (list, tuple)) else [names]:
            if self.brokers[name].serves and not self.takeover.refuses(self.brokers[name]):
                return self.brokers[name]
        return None

    def title(self, dest: Destination) -> str:
        """Return a destination as the recordings write it."""
        return f"{'queue' if dest.is_queue else 'topic'}://{dest.name}"

    def selects(self, text: str | None, message: Message) -> bool:
        """Whether a selector's text lets a message pass."""
        return text is None or Selector(text).selects({}, message.properties)


def _id(step: Step) -> dict[str, Any]:
    return {"id": step.keys["id"]} if "id" in step.keys else {}
