"""A broker of an OpenMQ cluster: its links to the others, its destinations, and whom it knows.

Every broker is linked to every other; a client talks to its home broker only. News of destinations and
consumers goes to all linked brokers at once (Technical Overview, chapter 4, "Propagation").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq.messages import Consumer, Durable, Instance, Key
from mqlab.spec.openmq import AUTO_CREATED, LINKED_ALIKE
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


class Broker:
    """One broker. `running` is its process, `ready` that it has all it needs to serve."""

    def __init__(self, lab: ClusterLab, name: str) -> None:
        self.lab, self.name = lab, name
        self.node = lab.notes.node(name, "broker")
        self.options: dict[str, Any] = {}
        self.running = self.ready = self.frozen = False
        self.quiesced = False  # it takes no new clients, by command
        self.hangs = False  # it waits for the database, and whoever asks it waits too
        self.lost_database = False  # it was away: operations fail even when it is back
        self.master = lab.scenario.master
        self.instances: dict[Destination, Instance] = {}
        self.durables: dict[Key, Durable] = {}
        self.seen = 0  # how much of the change record it has read
        self.lives = 0
        self.ended = -1  # the row with which it last ended
        self.met: set[Broker] = set()  # whom it has been linked to in this life

    def option(self, key: str, default: Any = None) -> Any:
        """Return a property: set at a start, its own, or the cluster's."""
        return self.options.get(key, self.lab.scenario.option(self.name, key, default))

    @property
    def serves(self) -> bool:
        """Whether clients can use it."""
        return self.ready and not self.frozen

    @property
    def answers(self) -> bool:
        """Whether who asks it hears something, if only a refusal."""
        return not self.frozen and not self.hangs

    # Links

    @property
    def named_master(self) -> str | None:
        """The master that its own configuration names."""
        text = self.option("imq.cluster.masterbroker") if self.master else None
        return str(text).strip("${}") if text else self.master

    def accepts(self, other: Broker) -> bool:
        """Whether two brokers accept a link: some properties must be alike."""
        keys = {**LINKED_ALIKE, "imq.cluster.clusterid": ""}
        return self.named_master == other.named_master and all(
            str(self.option(key, default)).lower() == str(other.option(key, default)).lower()
            for key, default in keys.items()
        )

    def linked(self, other: Broker) -> bool:
        """Whether it has a link to another: a broker that waits for its master closes its links."""
        return self is other or (self.ready and other.ready and self.accepts(other))

    @property
    def peers(self) -> list[Broker]:
        """The brokers linked to it."""
        return [b for b in self.lab.brokers.values() if b is not self and self.linked(b)]

    @property
    def waits_for_master(self) -> bool:
        """Whether it may not serve yet: its master is not there, or does not accept it."""
        if self.lab.scenario.model != "master" or self.named_master == self.name:
            return False
        master = self.lab.brokers.get(str(self.named_master))
        return master is None or not master.ready or not self.accepts(master)

    # Destinations

    def add(
        self, dest: Destination, created_by: str, options: Any = None, owner: str | None = None
    ) -> Instance:
        """Give it an instance of a destination; it keeps the one that it has."""
        if dest not in self.instances:
            self.instances[dest] = Instance(dest, created_by, dict(options or {}), owner)
            self.lab.notes.recorder.name_destination(dest)
        return self.instances[dest]

    def find(self, dest: Destination) -> bool:
        """Whether it has a destination, or creates it because it is used."""
        allowed = str(self.option(f"imq.autocreate.{dest.kind}", "true")).lower() != "false"
        if allowed and not dest.name.startswith("temp:"):
            self.add(dest, "auto", {name: self.option(*own) for name, own in AUTO_CREATED.items()})
        return dest in self.instances

    def spread(self, dest: Destination) -> None:
        """Make one of its destinations known on all brokers linked to it."""
        mine = self.instances[dest]
        for peer in self.peers:
            peer.add(dest, mine.created_by, mine.options, mine.owner)

    # Whom it knows

    def consumers(self, dest: Destination) -> list[Consumer]:
        """Return the consumers of a destination that it serves, in order of registration."""
        alone = dest in self.instances and self.instances[dest].option("LocalOnly")
        return [c for c in self.lab.consumers.values() if c.open and c.dest == dest
                and (c.home is self or (not alone and self.linked(c.home)))]  # fmt: skip

    def active(self, dest: Destination) -> list[Consumer]:
        """Return those of them that get messages; the others wait as backups."""
        most = int(self.instances[dest].option("MaxNumActiveConsumers"))
        return self.consumers(dest)[: most if most >= 0 else None]

    def producers(self, dest: Destination) -> int:
        """Return how many producers of a destination are connected to it."""
        return sum(
            p.open and p.home is self and p.dest == dest for p in self.lab.producers.values()
        )

    def unused_durables(self, dest: Destination) -> list[Key]:
        """Return the durable subscriptions of a topic that nobody uses: they count as consumers."""
        used = {c.key for c in self.consumers(dest)}
        return [d.key for d in self.durables.values()
                if d.dest == dest and d.key not in used and not d.refused]  # fmt: skip
