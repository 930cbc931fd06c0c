"""Brokers of an OpenMQ cluster: who is up, who is linked, who knows which destination.

Every broker is linked to every other; a client talks to its home broker only. News of destinations and
consumers goes to all linked brokers at once (Technical Overview, chapter 4, "Propagation").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq.messages import Consumer, Durable, Instance, Key
from mqlab.spec.openmq import LINKED_ALIKE
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab

RETRY = 5_000_000  # us between two attempts at a broker that is away
REAP = 120  # s that an auto-created destination lives without consumers and messages
RETURN_WINDOW = 50_000_000  # us that a temporary destination waits for its client after a restart


class Broker:
    """One broker. `instances` are its destinations; `durables` what it knows of subscriptions."""

    def __init__(self, lab: ClusterLab, name: str) -> None:
        self.lab, self.name = lab, name
        self.node = lab.notes.node(name, "broker")
        self.options: dict[str, Any] = {}
        self.running = False
        self.ready = False
        self.frozen = False
        self.hangs = False  # it waits for the database, and whoever asks it waits too
        self.lost_database = False  # it was away: operations fail even when it is back
        self.started = False  # whether it ever was
        self.master = lab.scenario.master
        self.instances: dict[Destination, Instance] = {}
        self.durables: dict[Key, Durable] = {}
        self.seen = 0  # how much of the change record it has read
        self.lives = 0
        self.ended = -1  # the row with which it last ended
        self.met: set[str] = set()  # whom it has been linked to in this life

    def option(self, key: str, default: Any = None) -> Any:
        """Return a property: set at a start, its own, or the cluster's."""
        if key in self.options:
            return self.options[key]
        return self.lab.scenario.option(self.name, key, default)

    @property
    def serves(self) -> bool:
        """Whether clients can use it."""
        return self.running and self.ready and not self.frozen

    @property
    def reap_after(self) -> int:
        """How long an idle auto-created destination lives here (us)."""
        return int(float(self.option("imq.autocreate.reaptime", REAP)) * 1_000_000)

    def creates(self, dest: Destination) -> bool:
        """Whether it creates a destination of that kind by itself."""
        kind = "queue" if dest.is_queue else "topic"
        return str(self.option(f"imq.autocreate.{kind}", "true")).lower() != "false"


class Cluster:
    """What the brokers of a cluster tell one another."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab
        self.cuts: set[frozenset[str]] = set()
        self.record: list[tuple[str, Any]] = []  # of destinations and durable subscriptions

    # Who is there

    def linked(self, one: str, other: str) -> bool:
        """Whether two running brokers have a link that works."""
        a, b = self.lab.brokers[one], self.lab.brokers[other]
        return one == other or (
            a.running and b.running and self.compatible(a, b)
            and frozenset((one, other)) not in self.cuts
        )  # fmt: skip

    def compatible(self, a: Broker, b: Broker) -> bool:
        """Whether two brokers accept a link: some properties must be alike."""
        same = all(
            str(a.option(key, default)).lower() == str(b.option(key, default)).lower()
            for key, default in LINKED_ALIKE.items()
        )
        ids = a.option("imq.cluster.clusterid"), b.option("imq.cluster.clusterid")
        masters = self.named_master(a) == self.named_master(b)
        return same and ids[0] == ids[1] and (masters or self.lab.scenario.model == "enhanced")

    def named_master(self, broker: Broker) -> str | None:
        """Return the master that a broker's own configuration names."""
        text = broker.option("imq.cluster.masterbroker")
        return str(text).strip("${}") if text else broker.master

    def peers(self, name: str) -> list[Broker]:
        """Return the running brokers linked to one, itself first."""
        others = [b for n, b in self.lab.brokers.items() if n != name and self.linked(name, n)]
        return [self.lab.brokers[name], *others]

    def can_administrate(self, broker: Broker) -> bool:
        """Whether the change record can be written to from a broker."""
        model = self.lab.scenario.model
        if model == "master":
            return broker.master is not None and self.linked(broker.name, broker.master)
        return model == "none" or (self.lab.database_up and not broker.lost_database)

    def hang(self, broker: Broker) -> None:
        """After a refusal without its database a peer tries for minutes, and answers nothing."""
        broker.hangs = self.lab.scenario.model == "peer" and not self.lab.database_up

    # Coming and going

    def start(self, broker: Broker) -> None:
        """Start a broker; without its master it serves nobody."""
        lab = self.lab
        broker.running, broker.frozen = True, False
        broker.hangs = broker.lost_database = False
        broker.met = set()
        broker.lives += 1
        broker.started = True
        lab.notes.add(Kind.Restarted if broker.lives > 1 else Kind.Started, broker=broker.node)
        for dest, instance in list(broker.instances.items()):
            needed = any(d.dest == dest for d in broker.durables.values())
            if instance.created_by == "auto" and not instance.messages and not needed:
                del broker.instances[dest]  # an empty auto-created one does not survive
            elif instance.created_by == "temporary":
                self._await_owner(broker, instance)
        self.refresh()
        self.lab.delivery.home_returns(broker)

    def _await_owner(self, broker: Broker, instance: Instance) -> None:
        """A temporary destination is kept a while for a client that reconnects, or goes."""
        owner = self.lab.consumers.get(str(instance.owner))
        if owner is None or not owner.keys.get("reconnect"):
            del broker.instances[instance.dest]
            return
        clock = self.lab.clock
        clock.later(clock.now + RETURN_WINDOW, self.on_window_over, (broker, instance.dest))

    def on_window_over(self, what: tuple[Broker, Destination]) -> None:
        """The client of a temporary destination has not come back: it goes, here only."""
        broker, dest = what
        if not self.consumers_of(broker, dest):
            broker.instances.pop(dest, None)

    def refresh(self) -> None:
        """Let every broker become ready that can, and catch up with the others."""
        lab = self.lab
        for broker in lab.brokers.values():
            if not broker.running or broker.ready:
                continue
            master = self.named_master(broker)
            waits = lab.scenario.model == "master" and master != broker.name and not (
                master and self.linked(broker.name, master) and lab.brokers[master].ready
            )  # fmt: skip
            if not waits:
                broker.ready = True
                self.catch_up(broker)
        for broker in lab.brokers.values():
            broker.met |= (
                {peer.name for peer in self.peers(broker.name)} if broker.running else set()
            )
        lab.notes.look()
        lab.delivery.dispatch_all()

    def catch_up(self, broker: Broker) -> None:
        """A broker joins: destinations and durables by the record, and what the others have."""
        if self.lab.scenario.model != "none":
            for what, value in self.record[broker.seen :]:
                self.replay(broker, what, value)
        broker.seen = len(self.record)
        for peer in self.peers(broker.name)[1:]:
            if not peer.ready:
                continue
            for dest, instance in peer.instances.items():
                keeps = instance.created_by == "temporary" or self.consumers_of(peer, dest)
                if keeps and dest not in broker.instances and not self._stale(broker, instance):
                    self.add(broker, dest, instance.created_by, instance.options)
            for dest, instance in broker.instances.items():
                if self.consumers_of(broker, dest) and dest not in peer.instances:
                    self.add(peer, dest, instance.created_by, instance.options)
            broker.durables.update(peer.durables)

    def _stale(self, broker: Broker, instance: Instance) -> bool:
        """Whether a temporary destination was the joining broker's own, whose client has gone."""
        return instance.created_by == "temporary" and not any(
            c.open and c.name == instance.owner for c in self.lab.consumers.values()
        )

    def replay(self, broker: Broker, what: str, value: Any) -> None:
        """Apply one entry of the change record."""
        if what == "create":
            dest, options = value
            if dest not in broker.instances:
                self.add(broker, dest, "admin", options)
            broker.instances[dest].created_by = "admin"
        elif what == "update" and value[0] in broker.instances:
            broker.instances[value[0]].options.update(value[1])
        elif what == "destroy":
            gone = broker.instances.pop(value, None)
            for message in gone.messages if gone else ():
                self.lab.stock.discard(broker, message, Rule.asked)
        elif what == "durable":
            broker.durables[value.key] = value
            if value.dest not in broker.instances:
                self.add(broker, value.dest, "auto")
        elif what == "unsubscribe":
            broker.durables.pop(value, None)
            self.lab.delivery.forget(broker, value)

    def down(self, broker: Broker, kind: int) -> None:
        """A broker ends or dies: what was not persistent is gone, its clients lose it."""
        lab = self.lab
        row = broker.ended = lab.notes.add(kind, broker=broker.node)
        broker.running = broker.ready = False
        lab.notes.look(row)
        for instance in broker.instances.values():
            for message in list(instance.messages):
                if not message.persistent or message.transaction not in (None, *lab.prepared):
                    instance.messages.remove(message)
                    lab.notes.message(Kind.Discarded, message, broker, rule=Rule.memory_store,
                                      cause=row)  # fmt: skip
            instance.ghosts = 0
        for consumer in list(lab.consumers.values()):
            if consumer.home == broker.name and consumer.open:
                lab.delivery.lose_home(consumer, row)
        for name, producer in lab.producers.items():
            if producer["home"] == broker.name:
                producer["home"] = None
                if not name.startswith("#"):
                    lab.events.setdefault(name, {})["connection_lost"] = 1
                    producer.update(was=broker.name, lost_at=lab.clock.now, failing=True)
                    producer["rolled_back"] = producer["keys"].get("ack_mode") == "transacted"
                    producer["lost"] = lab.notes.add(
                        Kind.Interrupted, frm=lab.sending.node(name, broker.name), to=broker.node,
                        rule=Rule.broker_stopped, cause=row,
                    )  # fmt: skip
        for instance in broker.instances.values():
            for message in instance.messages:
                lab.delivery.home_down(message, row)

    # Destinations

    def add(
        self, broker: Broker, dest: Destination, created_by: str, options: Any = None
    ) -> Instance:  # fmt: skip
        """Give a broker an instance of a destination."""
        instance = Instance(dest, created_by, dict(options or {}))
        broker.instances[dest] = instance
        self.lab.notes.recorder.name_destination(dest)
        return instance

    def spread(self, home: Broker, dest: Destination) -> None:
        """Make a destination of *home* known on all brokers linked to it."""
        instance = home.instances[dest]
        for peer in self.peers(home.name)[1:]:
            if dest not in peer.instances and peer.ready:
                self.add(peer, dest, instance.created_by, instance.options).owner = instance.owner

    def consumers_of(self, broker: Broker, dest: Destination) -> list[Consumer]:
        """Return the consumers of a destination that a broker knows, in order of registration."""
        instance = broker.instances.get(dest)
        alone = instance is not None and instance.option("LocalOnly", False)
        found = [c for c in self.lab.consumers.values()
                 if c.open and c.dest == dest and self.linked(broker.name, c.home)
                 and not (alone and c.home != broker.name)]  # fmt: skip
        return sorted(found, key=lambda consumer: consumer.order)

    def active(self, broker: Broker, dest: Destination) -> list[Consumer]:
        """Return those of them that get messages; the others wait as backups."""
        found = self.consumers_of(broker, dest)
        instance = broker.instances.get(dest)
        most = int(instance.option("MaxNumActiveConsumers", -1)) if instance else -1
        return found if most < 0 else found[:most]

    def reap(self) -> None:
        """Remove auto-created destinations that nobody has used for long enough."""
        lab = self.lab
        for broker in lab.brokers.values():
            for dest, instance in list(broker.instances.items()):
                busy = (
                    instance.created_by != "auto" or instance.messages
                    or self.consumers_of(broker, dest) or lab.sending.producers_at(broker.name, dest)
                    or any(d.dest == dest for d in broker.durables.values())
                )  # fmt: skip
                if busy or not broker.running:
                    instance.idle_since = None
                elif instance.idle_since is None:
                    instance.idle_since = lab.clock.now
                    lab.clock.later(lab.clock.now + broker.reap_after, lab.on_reap, None)
                elif lab.clock.now >= instance.idle_since + broker.reap_after:
                    del broker.instances[dest]
