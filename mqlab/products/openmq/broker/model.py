"""What an OpenMQ cluster is made of: its brokers, and what each knows.

A message lives at its home, the broker of its producer, until every subscription that is to have it has
acknowledged it. It goes straight to the home of a consumer that has room. Every broker is linked to
every other; news of destinations and consumers goes to all linked brokers at once (Technical Overview 4,
"Message delivery" and "Propagation"; OpenMQ rules 1, 2 and 4).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqlab.products.openmq.broker.active_consumers import died_unnoticed, first_free
from mqlab.products.openmq.broker.destinations import OF_DEAD, PhysicalDestination
from mqlab.spec.json_types import JsonDict
from mqlab.spec.openmq import AUTO_CREATED, link_properties
from mqlab.spec.openmq.options import Options
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind
from mqlab.trace.record import pack_prefix

if TYPE_CHECKING:
    from mqlab.products.openmq.client.state import Consumer
    from mqlab.products.openmq.network.state import Cluster

DEAD = Destination("queue", "mq.sys.dmq")  # of the dead messages of each broker
LOCK_TIMEOUT = 60_000_000  # us that a new name waits for the answers of all (`ProtocolGlobals` of 6.5.0)
ENDED = "of a subscription that has ended"  # the key of what its home keeps for nobody

Properties = JsonDict  # of a destination or broker, by their administration names
Key = tuple[str, str]  # (client id, subscription name) of a durable or shared subscription


@dataclass(eq=False, slots=True)
class DurableSubscription:
    """A durable subscription: known in the whole cluster, whether or not somebody uses it."""

    key: Key
    dest: Destination
    selector: str | None
    shared: bool = False
    no_local: bool = False
    refused: bool = False  # the trace of a refused creation: listed, and no consumer


class Broker:
    """One broker. `running` is its process, `ready` that it has all it needs to serve."""

    def __init__(self, lab: Cluster, name: str, place: int = 0) -> None:
        self.lab, self.name, self.place = lab, name, place
        self.node = lab.notes.node(name, "broker")
        # Of rows of the trace, what those of messages that are here no more have in common.
        self.gone = {kind: pack_prefix(kind, self.node) for kind in (Kind.Acknowledged, Kind.Discarded)}
        own = next(member for member in lab.network.brokers if member.name == name)
        self.options: Properties = {**lab.network.options, **own.options}  # a start may change them
        self.accepted: dict[Broker, bool] = {}  # who has what has to be alike, as long as nobody changes it
        self.running = self.ready = self.suspended = False
        self.quiesced = False  # it takes no new clients, by command
        self.quiet = False  # nor has it any, nor messages that would be lost with it
        self.hangs = False  # it waits for the database or another broker, and whoever asks it too
        self.lost_database = False  # its connection to it is broken, which the next change finds out
        self.master = lab.network.master
        self.instances: dict[Destination, PhysicalDestination] = {}
        self.durables: dict[Key, DurableSubscription] = {}
        self.handed: Counter[object] = Counter()  # messages in this life, by durable subscription
        self.seen = self.lives = 0  # how much of the change record it has read; how often it has started
        self.ended = -1  # the row with which it last ended
        self.since = 0  # us: when it last started, or ended
        self.orderly = False  # it was stopped then
        self.linked_before: set[Broker] = set()  # whom it has been linked to in this life
        self.unnoticed: set[Broker] = set()  # who died behind a cut: nothing told it
        self.taking_over_broker: Broker | None = None  # who is taking it over, and takes no clients meanwhile
        self.taken_over_by: Broker | None = None  # who has taken it over
        self.barred_until = 0  # when it may start again (us)

    def option(self, key: str, default: object = None) -> Any:
        """Return a property: set at a start, its own, or the cluster's."""
        return self.options.get(key, default)

    def configure(self, options: Options, master: str | None = None) -> None:
        """Change properties, or who is its master."""
        self.options.update(options)
        self.master = master or self.master
        for broker in self.lab.brokers.values():
            broker.accepted.clear()

    @property
    def serves(self) -> bool:
        """Whether clients can use it."""
        return self.ready and not self.suspended

    @property
    def answers(self) -> bool:
        """Whether who asks it hears something, if only a refusal."""
        return not self.suspended and not self.hangs

    @property
    def refuses(self) -> bool:
        """Whether it takes no new clients, any more or yet: they are refused, whatever else waits (C4090)."""
        return (self.quiesced or not self.ready) and not self.suspended

    # Links

    @property
    def named_master(self) -> str | None:
        """The master that its own configuration names."""
        text = self.option("imq.cluster.masterbroker") if self.master else None
        return str(text).strip("${}") if text else self.master

    def accepts(self, other: Broker) -> bool:
        """Whether two brokers accept a link: some properties must be alike."""
        if other not in self.accepted:
            mine, others = ((b.named_master, *link_properties(b.option)) for b in (self, other))
            self.accepted[other] = mine == others
        return self.accepted[other]

    def linked(self, other: Broker) -> bool:
        """Whether it has a link to another: a broker that waits for its master closes its links."""
        if self is other or not (self.ready and other.ready):
            return self is other
        if self.lab.unlinked and self.lab.is_unlinked(self, other):
            return False
        return self.accepted[other] if other in self.accepted else self.accepts(other)

    def knows(self, other: Broker) -> bool:
        """Whether another is there for it: a store may have several clusters, by their ids."""
        ids = (broker.option("imq.cluster.clusterid") for broker in (self, other))
        return not self.lab.enhanced or len(set(ids)) == 1

    @property
    def peers(self) -> list[Broker]:
        """The brokers linked to it."""
        return [b for b in self.lab.brokers.values() if b is not self and self.linked(b)]

    @property
    def asks_in_vain(self) -> bool:
        """Whether one of them does not answer, which nobody has noticed: a new name needs them all.

        So does one that it could not reach when it started, until there is a link.
        """
        new = (b for b in self.lab.brokers.values() if b.running and b not in self.linked_before)
        silent = self.lab.unlinked - self.lab.uncalled
        unlinked = any(frozenset((self.name, b.name)) in silent for b in new)
        return unlinked or any(map(self._is_silent, (*self.peers, *self.unnoticed)))

    @property
    def asks_master_in_vain(self) -> bool:
        """Whether the master does not answer, which it has not noticed: each change needs its record."""
        master = self.lab.brokers.get(str(self.named_master)) if self.lab.network.model == "master" else None
        return master in (*self.peers, *self.unnoticed) and self._is_silent(master)

    def _is_silent(self, peer: Broker) -> bool:
        return peer.suspended or peer in self.unnoticed or self.lab.is_cut(self, peer)

    def tell_all(self) -> None:
        """Send something to all linked brokers, also to those whom it does not reach."""
        for peer in (*self.peers, *self.unnoticed):
            self.lab.note_lost(self, peer)

    @property
    def waits_for_master(self) -> bool:
        """Whether it may not serve yet: its master is not there, or does not accept it."""
        if self.lab.network.model != "master" or self.named_master == self.name:
            return False
        master = self.lab.brokers.get(str(self.named_master))
        if master is None or not master.ready or not self.accepts(master):
            return True
        return self.lab.is_unlinked(self, master)

    # Destinations

    def add(
        self, dest: Destination, created_by: str, options: Options | None = None, owner: str | None = None
    ) -> PhysicalDestination:
        """Give it an instance of a destination; it keeps the one that it has."""
        if dest not in self.instances:
            mine = dict(OF_DEAD if dest == DEAD else options or {})
            at = self.lab.destination(dest)
            self.lab.instances += 1
            made = PhysicalDestination(at, self, created_by, mine, owner, self.lab.instances)
            self.instances[dest] = at.instances[self] = made
            self.lab.reapable.add(made)
        return self.instances[dest]

    def drop(self, dest: Destination) -> None:
        """Take its instance of a destination away, if it has one."""
        gone = self.instances.pop(dest, None)
        if gone is not None:
            del gone.at.instances[self]
            gone.at.waiting.discard(gone)
            for message in gone.copies:
                message.copies.pop(self, None)

    def creates(self, dest: Destination) -> bool:
        """Whether it would create a destination that is used; that of dead messages is there."""
        allowed = dest == DEAD or str(self.option(f"imq.autocreate.{dest.kind}", "true")).lower() != "false"
        return allowed and not dest.name.startswith("temp:")

    def find(self, dest: Destination) -> bool:
        """Whether it has a destination, or creates it because it is used."""
        if dest not in self.instances and self.creates(dest):
            rows = AUTO_CREATED[dest.kind].items()
            own = {name: row.read(self.option(row.guide, row.default), row.guide) for name, row in rows}
            self.add(dest, "auto", own)
        return dest in self.instances

    def spread(self, dest: Destination, *, told: bool = False) -> None:
        """Make one of its destinations known on all brokers linked to it, unless the line to them is cut.

        An automatic one has the properties of each (OpenMQ rule 4.14), unless they are *told*.
        """
        mine = self.instances[dest]
        automatic = mine.created_by == "auto" and not told
        alone = dest == DEAD or (automatic and mine.option("LocalOnly"))
        for peer in self.peers if not alone else ():
            if self.lab.is_cut(self, peer):
                continue
            if not (automatic and peer.find(dest)):
                peer.add(dest, "auto" if mine.unlisted else mine.created_by, mine.options, mine.owner)

    # Whom it knows

    def consumers(self, dest: Destination) -> list[Consumer]:
        """Return the consumers that it serves, as registered: it has heard of them, and not of their end."""
        alone = dest in self.instances and self.instances[dest].option("LocalOnly")
        at = self.lab.destinations.get(dest)
        there = at.consumers if at else ()
        known = [c for c in there if (c.open or c.closed) and c.reads and (not c.cut_off or self in c.told_to)]
        theirs = {c for c in known if c.open != (self in c.unheard_by) and self.linked(c.home) and not alone}
        if self.unnoticed and at and not alone:
            theirs |= died_unnoticed(at.consumers, self.unnoticed)
            known = [c for c in at.consumers if c in theirs or c in known]
        return [c for c in known if (c.home is self and c.open) or c in theirs]

    def active(self, dest: Destination) -> list[Consumer]:
        """Return those of them that get messages; the others wait as backups."""
        known, instance = self.consumers(dest), self.instances[dest]
        return known if instance.limited is None else instance.limited.of(known)

    def free_position(self, dest: Destination) -> int:
        """Return the position that a new consumer here takes among those of a queue."""
        limited, known = self.instances[dest].limited, self.consumers(dest)
        return first_free((c.position for c in known) if limited is None else limited.taken(known))

    def producers(self, dest: Destination) -> int:
        """Return how many producers of a destination are connected to it."""
        known = self.lab.producers.values()
        return sum(p.open and not p.cut_off and p.home is self and p.dest == dest for p in known)

    def unused_durables(self, dest: Destination) -> list[Key]:
        """Return the durable subscriptions of a topic that nobody uses: they count as consumers."""
        used = {c.key for c in self.consumers(dest)}
        return [d.key for d in self.durables.values() if d.dest == dest and d.key not in used and not d.refused]
