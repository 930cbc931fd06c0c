"""Artemis brokers, lines and clients: lives and ends of brokers, and what is written down."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import Any

from mqlab.engine.clock import Call
from mqlab.engine.completion import Completion
from mqlab.engine.lab import Lab
from mqlab.engine.link import Link
from mqlab.engine.timing import Timing
from mqlab.products.artemis.broker import bridges, expiry, last_values, network_check, redelivery
from mqlab.products.artemis.broker.broker import GONE, Broker, CallOfOneLife, Partitions, Refused
from mqlab.products.artemis.broker.messages import Journal, Message, Queue
from mqlab.products.artemis.broker.paging_store import PagingManager
from mqlab.products.artemis.broker.topology import Topology
from mqlab.products.artemis.client.registry import Clients
from mqlab.products.artemis.ha import scaledown
from mqlab.products.artemis.ha.colocated import Colocated
from mqlab.products.artemis.ha.replication import Replication
from mqlab.products.artemis.ha.shared_store import SharedDirectory, SharedStore
from mqlab.products.artemis.network import echo, redistribution, routes
from mqlab.products.artemis.network.cluster_connection import ClusterConnection
from mqlab.products.artemis.network.slow_line import SlowLine
from mqlab.products.artemis.notes import EventLog
from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.link import LikeLinks, Links
from mqlab.spec.scenario import Scenario
from mqlab.trace.kinds import Kind, Reason

MS = 1000
NO_QUEUE = "InvalidDestinationException"  # of a client that may not have it created
BOOT = 2000 * MS  # until a process that was started knows its role: half of 492 took 1.7 s or more
STARTS_AGAIN = 500 * MS  # the same in a process that is there


class Site(Lab):
    """Brokers, lines and clients of one scenario.

    What travels does so over links; everything else that is due is on the clock for nobody to wait
    for. So the lab is at rest when nothing is on its way, and each step of the script begins then.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int = 0,
        jitter: int | str = 0,
        limit: int | None = None,
        timing: Timing | None = None,
        links: LikeLinks = None,
        inverted: Collection[str] = (),  # rules of the edition, played the other way round
    ) -> None:
        network: ArtemisNetwork = scenario.network
        like = Links.of(links, network.names)
        super().__init__("artemis", scenario.script, seed, jitter, limit, timing, like)
        self.scenario = scenario
        self.network: ArtemisNetwork = network
        self.rules = network.rules.inverted(inverted)
        self.notes, self.partitions = EventLog(self), Partitions()
        self.event, self.message = self.notes.event, self.notes.message
        self.step_no = -1  # of the step that began last
        self.numbers = deque(scenario.about.get("recorded_steps", ()))  # of those that are to come
        self.redistributes = network.sets("redistribution_delay")
        self.keeps_last_values = network.sets("last_value_queue")
        self.adjusts_expiry = network.sets(*expiry.OPTIONS)
        self.detects_duplicates = False  # once a message with a duplicate id was sent
        self.limits_creation = network.sets("auto_create_queues")
        self.stores: dict[str, SharedDirectory] = {}
        self.gateway: dict[str, bool] = {}
        self.lines: dict[tuple[str, str], Link] = {}
        self.refused: list[str] = []
        self.snapshots: dict[str, object] = {}
        self.waits: list[dict[str, object]] = []
        self.folders: dict[str, dict[str, object]] = {}
        self.topology, self.replication, self.paging = Topology(self), Replication(self), PagingManager(self)
        self.refuses_sends = self.paging.limits or self.limits_creation  # some client's, before they leave
        self.store, self.colocated = SharedStore(self), Colocated(self)
        self.balancing, self.clients = ClusterConnection(self), Clients()
        self.brokers = {spec.name: Broker(self, spec) for spec in network.brokers}

    def come_to_rest(self, _: object = None) -> None:
        """The step that is under way ends when what it set going has come."""
        self.under_way = Completion()

    @property
    def roles(self) -> dict[str, str]:
        """Who is what at this moment; hosted backups as ``host/name``."""
        return {broker.name: broker.role for broker in self.all_brokers()}

    def all_brokers(self) -> list[Broker]:
        """Return every broker, each followed by the backups it hosts."""
        return [b for own in self.brokers.values() for b in (own, *own.hosted.values())]

    def live_brokers(self) -> list[Broker]:
        """Return all brokers that are live and awake."""
        return [broker for broker in self.all_brokers() if broker.serves]

    def line(self, frm: Broker, to: Broker) -> Link:
        """Return the way from one broker's process to another's."""
        return self.way(frm.process_name, to.process_name)

    def way(self, frm: str, to: str) -> Link:
        """Return the way from a client or process to another; it is made when it is first asked for."""
        way = (frm, to)
        if way not in self.lines:
            self.lines[way] = self.new_link(frm, to)
            if self.partitions.slow:
                self.set_rates()
        return self.lines[way]

    def set_rates(self) -> None:
        """Let lines be as slow as was said, or whole again; clients are all in one place."""
        slow = self.partitions.slow
        for way, link in self.lines.items():
            ends = [end if end in self.brokers else "clients" for end in way]
            rate = slow.get(frozenset(ends), 0)
            if rate and not isinstance(link, SlowLine):
                self.lines[way] = link = SlowLine(link)
            if isinstance(link, SlowLine):
                link.rate = rate
        self.clients.take_lines()

    def later(self, wait: int, call: Call, argument: object = None) -> None:
        """Let something happen after *wait* us; nobody waits for it."""
        self.clock.schedule_background(self.clock.now + wait, call, argument)

    def soon(self, broker: Broker, wait: int, call: Callable[..., None], *more: object) -> None:
        """Let something happen to a broker after *wait* us, unless it has begun anew by then."""
        self.later(wait, self._on_due, CallOfOneLife(broker, broker.incarnation, call, more))

    @staticmethod
    def _on_due(due: CallOfOneLife) -> None:
        if due.broker.incarnation == due.incarnation:
            due.call(due.broker, *due.more)

    # A broker's life

    def start(self, broker: Broker) -> None:
        """Start a broker's process, as what its configuration says; one that runs goes on."""
        if broker.role not in GONE and not broker.stopped_itself:
            return
        broker.incarnation += 1
        boot = STARTS_AGAIN if broker.stopped_itself else BOOT
        broker.has_taken_over, broker.told_by = broker.has_taken_over and broker.stopped_itself, ""
        broker.topology, broker.forgotten, broker.max_cluster_size, broker.broken = {}, set(), 0, False
        broker.lost, broker.lost_takers, broker.kept, broker.balanced = {}, {}, {}, set()
        refusal = broker.spec.refusal(self.network.edition, self.network.cluster_of(broker.spec))
        if refusal is not None:
            self.refused.append(f"{broker.name}: {refusal.reason}")
        broker.stopped_itself = broker.voted_out = False
        broker.announced = 0
        self.role(broker, "down" if refusal is not None else "starting")
        if refusal is None:
            self.soon(broker, self.random_duration(boot), self._activate)
            if broker.spec.checks_network:
                first = self.random_duration(boot) + broker.spec.check_period * MS
                self.soon(broker, first, network_check.check)

    def _activate(self, broker: Broker) -> None:
        if not network_check.answers(broker):
            network_check.hold(broker)
        elif broker.spec.policy == "live_only":
            self.go_live(broker, broker.stored_journal)
        else:
            room = self.store if broker.spec.policy == "shared_store" else self.replication
            room.start(broker)

    def go_live(self, broker: Broker, data: Journal | None, rule: Reason = Reason.none) -> None:
        """A broker reads its journal and serves."""
        if self.paging.prevents_start(broker):
            return
        broker.served_journal = live = data or Journal(broker.name)
        broker.incarnation += 1
        broker.node_id, broker.master = live.node_id, None
        since = live.since
        live.open([queue for queue in self.network.queues if queue.is_at(broker.name)], self.clock.now)
        self.topology.learn(broker)
        self.role(broker, "live")
        self.topology.spread(broker)
        self.event(Kind.Started, broker, rule=rule)
        self.notes.loaded(broker, live, since)
        self.topology.gossip()
        self.store.announce(broker)
        self.replication.search_again()
        self.deliver()
        bridges.deploy(broker)
        self.colocated.started(broker)

    def take_over(self, slave: Broker, data: Journal, rule: Reason) -> None:
        """A slave has read what its master left: it serves it, or scales it down (21.4.4)."""
        if not slave.spec.scales_down:
            slave.has_taken_over = True
            self.go_live(slave, data, rule)
        elif slave.hosting_broker is not None:  # outside a colocated broker it fails at this point
            self.notes.loaded(slave, data, data.since)
            scaledown.move(self, slave, data, slave.hosting_broker)
            self.end(slave, orderly=True)

    def deliver(self, _: object = None) -> None:
        """Messages go where they can go now."""
        self.balancing.forward_stored()
        for broker in self.live_brokers():
            self.balancing.dispatch(broker)
        redistribution.begin(self.balancing)

    def end_live(self, broker: Broker, orderly: bool) -> None:
        """A live broker ends: its journal stays, its clients and its slave are without it."""
        if (live := broker.served_journal) is None:
            return
        routes.lose(self.balancing, broker, self.live_brokers(), orderly)
        self.event(Kind.Stopped if orderly else Kind.Crashed, broker, rule=Reason.broker_stopped)
        if not orderly:
            self.clients.on_killed(broker)
        broker.stored_journal = redelivery.persisted(broker, orderly) if broker.spec.persists else None
        if broker.spec.policy == "shared_store":
            self.store.of(broker).journal = broker.stored_journal
        for slave in [b for b in self.all_brokers() if b.master is broker]:
            self.replication.lost_master(slave, orderly=orderly)
        self.topology.forget(broker, orderly)
        broker.role = "stopping"
        for client in self.clients.at(broker):
            client.on_disconnected(tried=orderly)
        redelivery.follow(broker.stored_journal, live)
        broker.served_journal = None
        self.paging.ended(broker)
        self.notes.forgotten(broker, live)
        if orderly or self.rules.forgets_crashed:
            self.replication.search_again(ended=True)

    def stop(self, broker: Broker, failover: bool = False) -> None:
        """Stop a process in order: a member of a group waits for a target first."""
        if scaledown.waits(self, broker):
            self.soon(broker, scaledown.NO_MEMBER, self.end, True, failover)
        else:
            self.end(broker, True, failover)

    def end(self, broker: Broker, orderly: bool, failover: bool = False) -> None:
        """A process ends, in order or by a kill, and what it hosts with it."""
        if broker.role in GONE and not broker.stopped_itself:
            return
        broker.stopped_itself = broker.voted_out = False
        for hosted in broker.hosted.values():
            self.end(hosted, orderly)
        if orderly:
            scaledown.scale_down(self, broker)
        master, broker.master, copying = broker.master, None, broker.role == "backup_searching"
        if master is not None and master.served_journal is not None and broker.role == "backup_in_sync":
            broker.stored_journal = master.served_journal.persisted()  # its copy is on its disk
        self.end_live(broker, orderly)
        self.role(broker, "stopped" if orderly else "down")
        broker.incarnation += 1
        if master is not None:
            wait = self.replication.noticed(master, broker, copying, orderly)
            self.soon(master, wait, self.replication.lost_replica, broker)
        if broker.spec.policy == "shared_store":
            self.store.ended(broker, orderly, failover)
        left = {name: hosted.stored_journal for name, hosted in broker.hosted.items()}
        broker.left_behind |= {name: journal for name, journal in left.items() if journal is not None}
        broker.hosted = {}
        self.topology.gossip()

    # The network

    def on_line_lost(self, line: frozenset[str]) -> None:
        """The two at its ends have noticed that a line is dead, if it still is."""
        if line not in self.partitions.cuts:
            return
        a, b = (self.brokers[name] for name in sorted(line))
        routes.lose_each_other(self.balancing, a, b)
        self.partitions.cuts[line] = False
        self.balancing.outdated = True
        self.topology.lose_sight(a, b)
        for slave in (a, *a.hosted.values(), b, *b.hosted.values()):
            live = slave.master
            if live is not None and {slave.process_name, live.process_name} == line and slave.runs:
                self.replication.lost_master(slave)
                self.replication.lost_replica(live, slave)
        self.topology.gossip()

    # Queues

    def queue(self, broker: Broker, name: str, topic: str | None = None, selector: str | None = None) -> Queue:
        """Return a broker's queue; one that is not there yet is made, for a client or a subscription.

        Raises `Refused` where auto-create-queues is false.
        """
        found = broker.journal.queues.get(name)
        if found is not None:
            return found
        if topic is None and self.limits_creation and not self.setting(broker, name, "auto_create_queues"):
            raise Refused(NO_QUEUE)
        auto_delete = (
            "never" if topic is not None or not self.setting(broker, name, "auto_delete_queues") else "empty"
        )
        return self.new_queue(broker, name, topic, True, selector, auto_delete)

    def setting(self, broker: Broker, address: str, key: str) -> Any:
        """Return what a broker's settings say of an address."""
        return self.network.setting(broker.spec, address, key)

    def new_queue(
        self,
        broker: Broker,
        name: str,
        topic: str | None = None,
        durable: bool = True,
        selector: str | None = None,
        auto_delete: str = "never",
        key: str = "",
    ) -> Queue:
        """Create a queue on a live broker; a subscriber's own shares its name and has a *key*."""
        queue = Queue(name, topic, durable, selector, auto_delete, self.clock.now, key=key)
        broker.journal.queues[queue.key] = queue
        self.balancing.outdated = True
        echo.note(self.balancing)
        return queue

    def enqueue(self, broker: Broker, queue: Queue, message: Message, cause: int) -> None:
        """A message joins a queue at its tail; *cause* is the row of what brought it."""
        if queue.purges and not queue.consumers:
            self.message(Kind.Discarded, message, broker, rule=Reason.nobody_reads, cause=cause)
            return
        if message.due:  # those that come together after their time become due together
            message.due = max(message.due, self.clock.now)
        paged = self.paging.limits and self.paging.pages(broker, queue, message)
        item = last_values.add(broker, queue, message) if self.keeps_last_values else queue.add(message)
        item.paged = paged
        if paged and message.paged and item is queue.waiting[-1]:
            self.paging.put_in_order(queue)
        self.notes.enqueued(item, queue, broker, cause)
        if message.expires:
            expiry.watch(broker, queue, item)
        if message.due > self.clock.now:
            self.later(message.due - self.clock.now, self.deliver)
        if queue.consumers and broker.serves:
            self.balancing.dispatch_queue(broker, queue)
        elif queue.redistributor <= self.clock.now:
            redistribution.move(broker, self.balancing, queue)

    # Writing down

    def role(self, broker: Broker, role: str) -> None:
        """A broker has another role."""
        broker.role = role
        self.notes.role(broker)
        self.topology.gossip()
        echo.note(self.balancing)
