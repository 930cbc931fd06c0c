"""A lab for Artemis brokers: their lives and ends, time, and what is written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from mqlab.formats import artemis as files
from mqlab.runtime.artemis.balancing import Balancing
from mqlab.runtime.artemis.broker import GONE, Broker, Net, Topology
from mqlab.runtime.artemis.clients import Clients
from mqlab.runtime.artemis.colocated import Colocated
from mqlab.runtime.artemis.messages import Journal, Live, Message, Queue
from mqlab.runtime.artemis.notes import Notes
from mqlab.runtime.artemis.replication import Replication
from mqlab.runtime.artemis.scaledown import scale_down
from mqlab.runtime.artemis.shared_store import SharedStore
from mqlab.runtime.clock import Clock
from mqlab.spec.artemis import WORDS, HaScenario
from mqlab.spec.selector import Selector
from mqlab.trace.kinds import Kind, Rule
from mqlab.trace.trace import Trace

MS = 1000
NO_TARGET = 10_000  # ms that a broker waits for a target to scale down to
OUTCOME = ("consumers", "senders", "waits", "lost", "files", "received_more_than_once", "refused",
           "snapshots")  # fmt: skip


class HaLab:
    """Brokers, lines and clients of one scenario."""

    def __init__(self, scenario: HaScenario, seed: int = 0) -> None:
        self.scenario, self.seed = scenario, seed
        self.random = Random(f"artemis:{seed}")
        self.clock, self.notes, self.net = Clock(), Notes(self), Net()
        self.event, self.message = self.notes.event, self.notes.message
        self.step = 0
        self.gateway: dict[str, bool] = {}
        self.refused: list[str] = []
        self.snapshots: dict[str, Any] = {}
        self.waits: list[dict[str, Any]] = []
        self.folders: dict[str, Any] = {}
        self.topology, self.replication = Topology(self), Replication(self)
        self.store, self.colocated = SharedStore(self), Colocated(self)
        self.balancing, self.clients = Balancing(self), Clients(self)
        self.brokers = {server.name: Broker(self, server) for server in scenario.servers}
        self.notes.name_links(list(self.brokers))
        self.deletes_queues = bool(scenario.addresses.get("auto_delete_queues", True))
        self.holders: dict[
            str, list[Broker]
        ] = {}  # pair -> who has its messages, the last one live

    def all_brokers(self) -> list[Broker]:
        """Return every broker, each followed by the backups it hosts."""
        return [b for own in self.brokers.values() for b in (own, *own.hosted.values())]

    # Time

    def later(self, wait: int, call: Callable[[Any], None], argument: Any) -> None:
        """Let something happen after *wait* us."""
        self.clock.at(self.clock.now + wait, call, argument)

    def soon(self, broker: Broker, wait: int, call: Callable[..., None], *more: Any) -> None:
        """Let something happen to a broker after *wait* us, unless it has begun anew by then."""
        self.later(wait, self._if_same, (broker, broker.lives, call, more))

    @staticmethod
    def _if_same(due: tuple[Broker, int, Callable[..., None], tuple[Any, ...]]) -> None:
        broker, lives, call, more = due
        if broker.lives == lives:
            call(broker, *more)

    def pass_time(self, ms: float) -> None:
        """Let time go on; what falls due meanwhile happens."""
        self.clock.rest(self.clock.now + int(ms * MS))

    def pass_until(self, holds: Callable[[], bool], limit_ms: float) -> bool:
        """Let time go on until something holds, or the limit is over; returns whether it holds."""
        end = self.clock.now + int(limit_ms * MS)
        while not holds() and self.clock.heap and self.clock.heap[0][0] <= end:
            self.clock.rest(max(self.clock.now, self.clock.heap[0][0]))
        if not holds():
            self.clock.rest(end)
        return holds()

    # A broker's life

    def start(self, broker: Broker) -> None:
        """Start a broker's process, as what its configuration says; one that runs goes on."""
        if broker.role not in GONE and not broker.isolated:
            return
        reason = broker.server.refused()
        broker.lives += 1
        if reason is not None:
            self.refused.append(f"{broker.name}: {reason}")
            self.role(broker, "down")
            return
        if broker.server.checks_network and not self.answers(broker):
            broker.isolated = True
            self.role(broker, "starting")
            return
        broker.isolated = False
        self.role(broker, "starting")
        policy, role = broker.server.policy, broker.server.role
        if policy == "live_only" or (policy, role) == ("replication", "colocated"):
            self.go_live(broker, broker.disk)
        elif policy == "shared_store":
            act = self.store.start_slave if role == "slave" else self.store.start_master
            act(broker)
        elif role == "slave":
            self.replication.start_slave(broker)
        else:
            self.replication.start_master(broker)

    def go_live(self, broker: Broker, journal: Journal | None, rule: Rule = Rule.none) -> None:
        """A broker reads its journal and serves."""
        shared = broker.server.policy == "shared_store"
        broker.pair = (
            broker.pair if shared and broker.pair else journal.pair if journal else broker.name
        )
        broker.lives += 1
        rows = [q for q in self.scenario.queues if broker.name in q.get("on", [broker.name])]
        broker.live = Live(broker.pair, rows, journal, self.clock.now)
        broker.master = None
        self.role(broker, "live")
        self.event(Kind.Started, broker, rule=rule)
        self._loaded(broker, broker.live)
        self.topology.gossip()
        self.store.announce(broker)
        self.replication.look_again(broker)
        for live in self.topology.lives():
            self.balancing.arrived(live)
        self.balancing.redistribute()
        if broker.server.role == "colocated":
            self.colocated.started(broker)

    def _loaded(self, broker: Broker, live: Live) -> None:
        """What was in the journal is here now; beside another live one it is there twice."""
        holders = self.holders.setdefault(live.pair, [])
        before = next((b for b in reversed(holders) if b is not broker), None)
        if before is not None and holders[-1] is not broker:
            twice = before.live is not None
            kind = Kind.Enqueued if twice else Kind.TakenOver
            for queue, item in live.items():
                if queue.topic is None:
                    item.row = self.message(kind, item.message, broker, before.node, broker.node,
                                            cause=item.row)  # fmt: skip
            if not twice:
                holders.remove(before)
        holders[:] = [*(b for b in holders if b is not broker), broker]

    def forget(self, broker: Broker) -> None:
        """A broker moves its data aside: what only it had is gone."""
        disk = broker.disk
        if disk is not None and broker in self.holders.get(disk.pair, ()):
            self.holders[disk.pair].remove(broker)
            for queue, items in disk.queues:
                for item in items if queue.topic is None else ():
                    self.message(Kind.Discarded, item.message, broker, rule=Rule.moved_aside,
                                 cause=item.row)  # fmt: skip
        broker.disk = None

    def end_live(self, broker: Broker, orderly: bool) -> None:
        """A live broker ends: its journal stays, its clients and its slave are without it."""
        if broker.live is None:
            return
        live, broker.disk = broker.live, broker.live.journal(orderly)
        for slave in [b for b in self.all_brokers() if b.master is broker]:
            self.replication.lost_master(slave, orderly=orderly)
        if broker.server.policy == "shared_store":
            self.store.of(broker).disk = broker.disk
        self.topology.forget(broker, orderly)
        role, broker.role = broker.role, "stopping"
        self.clients.dismiss(broker, flagged=orderly)
        broker.live, broker.role = None, role
        self.event(Kind.Stopped if orderly else Kind.Crashed, broker, rule=Rule.broker_stopped)
        for queue, item in live.items():
            if not (item.message.persistent and queue.durable):
                self.message(Kind.Discarded, item.message, broker, rule=Rule.memory_store,
                             cause=item.row)  # fmt: skip

        for _, message, row in (entry for rows in live.on_the_way.values() for entry in rows):
            if not message.persistent:
                self.message(Kind.Discarded, message, broker, rule=Rule.memory_store, cause=row)

    def end(self, broker: Broker, orderly: bool, failover: bool = False) -> None:
        """A process ends, in order or by a kill, and what it hosts with it."""
        if broker.role in GONE:
            return
        for hosted in broker.hosted.values():
            self.end(hosted, orderly)
        hands_over = orderly and broker.server.scale_down is not None and broker.live is not None
        if hands_over and broker.server.role == "live" and not scale_down(self, broker):
            self.pass_time(NO_TARGET)
        master, broker.master, was_live = broker.master, None, broker.live is not None
        if was_live:
            self.end_live(broker, orderly)
        self.role(broker, "stopped" if orderly else "down")
        broker.lives += 1
        if master is not None:
            self.replication.lost_replica(master)
        if broker.server.policy == "shared_store" and broker.server.role != "live":
            self.store.ended(broker, orderly, failover)
        if broker.host is None:
            broker.hosted = {}
        if orderly and was_live:  # only a live one's goodbye is news to those who were refused
            self.replication.look_again()
        self.topology.gossip()

    # The network

    def answers(self, broker: Broker) -> bool:
        """Whether the address that a broker's network check asks answers it."""
        core = broker.server.keys.get("core", {})
        return "network_check_url_list" not in core or self.gateway.get(broker.name, False)

    def check_network(self, broker: Broker) -> None:
        """A broker that finds nobody stops itself; it starts again when somebody answers."""
        if not broker.server.checks_network or broker.role in ("down", "not_started", "paused"):
            return
        if not self.answers(broker) and not broker.isolated:
            self.end(broker, orderly=True)
            broker.isolated = True
        elif self.answers(broker) and broker.isolated:
            self.start(broker)

    def part(self, a: Broker, b: Broker) -> None:
        """Two brokers have noticed that the line between them is dead."""
        self.topology.lose_sight(a, b)
        for one, other in ((a, b), (b, a)):
            for slave in (one, *one.hosted.values()):
                if slave.master is not None and slave.master.place == other.name and slave.runs:
                    live = slave.master
                    self.replication.lost_master(slave)
                    self.replication.lost_replica(live)
        self.topology.gossip()

    # Queues

    def queue(
        self, broker: Broker, name: str, topic: str | None = None, selector: str | None = None
    ) -> Queue:
        """Return a broker's queue; one that is not there yet is created."""
        assert broker.live is not None
        return broker.live.queues.get(name) or self.new_queue(broker, name, topic, True, selector)

    def new_queue(
        self, broker: Broker, name: str, topic: str | None = None, durable: bool = True,
        selector: str | None = None,
    ) -> Queue:  # fmt: skip
        """Create a queue on a live broker."""
        assert broker.live is not None
        queue = Queue(name, topic, durable, selector, made=self.clock.now)
        broker.live.queues[name] = queue
        return queue

    def temporary(self, broker: Broker, topic: str, selector: str | None) -> Queue:
        """Create the queue of a plain subscriber, which ends with it."""
        assert broker.live is not None
        taken = sum(name.startswith(f"temporary:{topic}") for name in broker.live.queues)
        name = f"temporary:{topic}" + (f"#{taken + 1}" if taken else "")
        queue = self.new_queue(broker, name, topic, False, selector)
        queue.own = True
        return queue

    def enqueue(self, broker: Broker, queue: Queue, message: Message, cause: int) -> None:
        """A message joins a queue at its tail; *cause* is the row of what brought it."""
        self.notes.enqueued(queue.add(message), queue, broker, cause)
        if message.due > self.clock.now:
            self.later(message.due - self.clock.now, self._due, None)
        self.balancing.redistribute()

    def _due(self, _: None) -> None:
        for broker in self.topology.lives():
            self.balancing.dispatch(broker)

    def selects(self, text: str | None, message: Message) -> bool:
        """Whether a selector's text lets a message pass."""
        return text is None or Selector(text).selects({}, message.properties)

    # Writing down

    def role(self, broker: Broker, role: str) -> None:
        """A broker has another role."""
        broker.role = role
        self.notes.role(broker)
        self.topology.gossip()

    def state(self, broker: Broker, topology: bool) -> dict[str, Any]:
        """Return a broker's state as the recordings write it."""
        found: dict[str, Any] = {"role": broker.role}
        backup = broker.role.startswith("backup") and broker.role != "backup_searching"
        if broker.role == "live" or backup:
            found["pair"] = broker.pair
        if topology and broker.runs:
            found["largest_cluster_seen"] = broker.largest
            found["topology"] = self.topology.rows(broker)
        if broker.live is not None and broker.role == "live":
            if broker.live.prepared:
                found["prepared_transactions"] = len(broker.live.prepared)
            queues = broker.live.queues.values()
            found["queues"] = {queue.name: queue.row(self.clock.now) for queue in queues}
            if broker.hosted:
                found["hosts"] = self.colocated.rows(broker)
        return found

    def lost(self) -> list[int]:
        """Return what was sent, received by nobody and is on no live broker."""
        sent = {n for c in self.clients.all() for n in c.sent}
        had = {n for c in self.clients.consumers.values() for n in c.received}
        here = {n for b in self.topology.lives() if b.live for n in b.live.messages(self.clock.now)}
        return sorted(sent - had - here)

    def more_than_once(self) -> list[int]:
        """Return what came twice: to one consumer, or from a queue to two."""
        consumers = self.clients.consumers.values()
        got = [(n, c.dest.is_queue or c.name) for c in consumers for n in c.received]
        return sorted({row[0] for row in got if got.count(row) > 1})

    @property
    def trace(self) -> Trace:
        """All that has happened so far."""
        outcome = {
            "consumers": {n: c.report() for n, c in self.clients.consumers.items()},
            "senders": {n: c.report() for n, c in self.clients.senders.items()},
            "waits": self.waits, "lost": self.lost(), "files": self.folders,
            "received_more_than_once": self.more_than_once(),
            "refused": self.refused, "snapshots": self.snapshots,
        }  # fmt: skip
        header: Mapping[str, Any] = {
            "scenario": files.write(self.scenario), "seed": self.seed, "product": "artemis",
            "edition": self.scenario.version, "words": WORDS[self.scenario.version], **outcome,
        }  # fmt: skip
        return self.notes.trace(dict(header))
