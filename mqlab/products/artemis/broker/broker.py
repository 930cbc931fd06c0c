"""A broker process, what it believes of its cluster, and who can reach whom."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqlab.spec.artemis.actions import Isolate, Rejoin, SlowLine
from mqlab.spec.artemis.broker import Broker as BrokerSpec
from mqlab.spec.faults import Cut, Heal
from mqlab.trace.kinds import Reason

if TYPE_CHECKING:
    from mqlab.products.artemis.broker.bridges import Bridge
    from mqlab.products.artemis.broker.messages import Journal, Queue, Taker
    from mqlab.products.artemis.broker.site import Site
    from mqlab.products.artemis.network.routes import KeptWay

GONE = ("down", "stopped", "not_started")
SEEN = frozenset(("role", "node_id", "served_journal"))  # of a broker, by those who send messages to it


class Refused(Exception):
    """A call that the broker answers with an error, or the client's own library with what it says.

    With a *rule* it is the broker's answer, which only those hear who wait for it.
    """

    def __init__(self, said: str = "", rule: Reason = Reason.none) -> None:
        super().__init__(said)
        self.rule = rule


class Subsystem:
    """One subject of a lab."""

    def __init__(self, lab: Site) -> None:
        self.lab = lab


class Broker:
    """A broker process, or a backup hosted in another's process (`hosting_broker`).

    `node_id` is the node id it carries, or looks for, by the name of the broker that first was live with
    it. `topology` maps node id -> [live, backup]; `max_cluster_size` the most live brokers seen there.
    """

    # Python finds attributes quicker where an instance has fewer than thirty others: a run took 3 % less.
    __slots__ = ("__dict__", "__weakref__", "balanced", "kept", "lost", "lost_takers")

    def __init__(self, lab: Site, spec: BrokerSpec, host: Broker | None = None) -> None:
        self.lab, self.spec, self.hosting_broker = lab, spec, host
        self.name = spec.name
        self.process_name = (host or self).name  # the process it is in, by its broker's name
        self.role, self.node_id = "not_started", ""
        self.served_journal: Journal | None = None  # what it serves
        self.stored_journal: Journal | None = None  # what it would serve
        self.master: Broker | None = None  # whom it copies
        self.refused_by: set[tuple[str, int]] = set()  # which masters, in which of their lives
        self.in_sync_since, self.announcing = 0, False  # us; whether it lost its master as it told of itself
        self.broken = False  # its first copy was cut off: it does not begin another
        self.stopped_itself = False  # it has stopped itself, and its process is still there
        self.voted_out = False  # it is about to stop itself, and its process still says that it is live
        self.has_taken_over = False  # as a slave, in its process: started anew there it serves
        self.suspended = ("", 0)  # its role, and since when (us) it hangs
        self.announced = 0  # when (us) as a backup with a shared store, since its process began
        self.topology: dict[str, list[str]] = {}
        # By node id, what it knows of the queues of a live broker that it has lost: since when, where, which.
        self.lost: dict[str, list[tuple[int, Broker, Queue]]] = {}
        self.lost_takers: dict[Queue, list[Taker]] = {}  # and who took from these then
        self.kept: dict[Broker, KeptWay] = {}
        self.balanced: set[str] = set()  # addresses of which another broker has told it of a queue
        self.max_cluster_size = 0
        self.incarnation = 0  # counts its starts, so that what belongs to an earlier one is dropped
        self.old_replicas: dict[str, list[int]] = {}  # folder -> numbers of the old sets in it
        self.hosted: dict[str, Broker] = {}
        self.bridges: list[Bridge] = []
        self.forgotten: set[tuple[str, int]] = set()  # node ids, and in which life, that it was told are gone
        self.left_behind: dict[str, Journal] = {}  # by those it hosted, on its disk
        self.options: dict[str, object] = {}  # those asked for so far
        self.node = lab.notes.recorder.add_node(self.name, "broker")

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute; where messages can go is found anew once one has changed that others see."""
        super().__setattr__(name, value)
        if name in SEEN:
            self.lab.balancing.outdated = True

    @property
    def runs(self) -> bool:
        """Whether its process is there and awake."""
        return self.role not in (*GONE, "paused") and (self.hosting_broker is None or self.hosting_broker.runs)

    @property
    def serves(self) -> bool:
        """Whether clients can use it."""
        return self.role == "live" and (self.hosting_broker is None or self.hosting_broker.runs)

    def element(self, name: str) -> Any:
        """Return an element of its HA policy."""
        return self.spec.element(name)

    def option(self, name: str) -> Any:
        """Return an option of its cluster connection."""
        if name not in self.options:
            self.options[name] = self.lab.network.option(self.spec, name)
        return self.options[name]

    @property
    def journal(self) -> Journal:
        """What it serves; only a live one has that."""
        assert self.served_journal is not None
        return self.served_journal

    def joined(self, other: Broker) -> bool:
        """Whether the line between the two processes is whole."""
        return self.lab.partitions.joined(self.process_name, other.process_name)

    def reaches(self, other: Broker) -> bool:
        """Whether the two can talk now."""
        known = self.option("clustered") and other.option("clustered")
        return self.runs and other.runs and self.joined(other) and known and self.connectors_reach(other)

    @property
    def patience(self) -> int:
        """How long (us) it takes to notice that another one says nothing any more."""
        return int(self.option("connection_ttl") + self.option("check_period")) * 1000

    def connectors_reach(self, other: Broker) -> bool:
        """Whether its connectors lead to another broker: a hosted one's are shifted, unless excluded."""
        if self.hosting_broker is None or other.process_name == self.process_name or self.option("discovery"):
            return True
        kept = self.hosting_broker.element("excludes") or ()
        return self.spec.scales_down or f"to_{other.process_name}" in kept


@dataclass(eq=False, slots=True)
class CallOfOneLife:
    """What is to happen to a broker, unless it has begun anew by then."""

    broker: Broker
    incarnation: int
    call: Callable[..., None]
    more: tuple[object, ...]


OfLines = Cut | Heal | SlowLine | Isolate | Rejoin  # what is done to lines


class Partitions:
    """Which lines are cut: True while nobody has noticed it. Clients are all in one place."""

    def __init__(self) -> None:
        self.cuts: dict[frozenset[str], bool] = {}
        self.slow: dict[frozenset[str], int] = {}
        self.healed: dict[frozenset[str], int] = {}  # since when (us) one that was lost is whole again

    @staticmethod
    def lines(action: OfLines, brokers: Collection[str]) -> list[frozenset[str]]:
        """Return the lines of an action: from one side, or from brokers, to another or to all others."""
        if isinstance(action, (Isolate, Rejoin)):
            others = [name for name in brokers if name not in action.brokers]
            there = action.brokers, others + ["clients"] * action.clients
        else:
            others = [name for name in (*brokers, "clients") if name != action.one]
            there = (action.one,), [action.other] if action.other else others
        return [frozenset((a, b)) for a in there[0] for b in there[1]]

    def joined(self, a: str, b: str) -> bool:
        """Whether a line is whole."""
        return not self.cuts or frozenset((a, b)) not in self.cuts

    def seems_whole(self, a: str, b: str) -> bool:
        """Whether nobody has noticed that it is not."""
        return self.cuts.get(frozenset((a, b)), True)


class Topology(Subsystem):
    """What brokers tell each other about who is live (Artemis rules 1.1 and 3)."""

    def gossip(self) -> None:
        """Every broker learns of the live ones it reaches; a searching one also what they believe.

        Of two live ones with one node id the later counts, even where the earlier one is at home: a
        slave that asks there for its master is then sent elsewhere (Artemis rules 4.2 and 4.4).
        """
        everybody = self.lab.all_brokers()
        backups = [b for b in everybody if b.runs and self._is_backup(b)]
        for broker in everybody:
            begins = broker.role in ("stopping", "starting") and not self._is_backup(broker)
            if begins or not broker.runs:
                continue
            if broker.role == "backup":  # it has found nobody and knows of itself
                broker.topology = {broker.node_id: ["-", broker.process_name]}
            itself = self.entry(broker, broker.node_id)[0] == broker.process_name
            heard = self._heard(broker)
            for live in heard:
                if broker.role == "backup_searching":
                    broker.topology = {k: list(v) for k, v in live.topology.items()} | broker.topology
                if live is not broker or itself:
                    broker.topology[live.node_id] = [live.process_name, self._backup(live, broker, backups)]
            seen = sum(entry[0] != "-" for entry in broker.topology.values())
            # Itself alone is no news. Who lists nobody has no locator that tells its `QuorumManager` of others.
            others = any(live is not broker for live in heard) and self.lab.balancing.bridged.get(
                broker.process_name
            )
            if not broker.serves or others:
                broker.max_cluster_size = max(broker.max_cluster_size, seen)

    @staticmethod
    def _is_backup(broker: Broker) -> bool:
        """Whether it has announced itself; so does a master that waits for the live lock."""
        waits = broker.role == "starting" and broker.announced > 0
        return waits or broker.role in ("backup_in_sync", "backup_announced")

    def learn(self, broker: Broker) -> None:
        """A broker that goes live knows of itself, and is told what those believe that it reaches.

        So it learns of one that has crashed, if they have not forgotten it (2.4).
        """
        broker.topology[broker.node_id] = [broker.process_name, "-"]
        alone = not self.lab.balancing.bridged.get(broker.process_name, True)
        for live in () if alone else self._heard(broker):
            broker.topology = {pair: list(entry) for pair, entry in live.topology.items()} | broker.topology
            if live.node_id == broker.node_id:  # it is told of the backup, too
                broker.topology[broker.node_id][1] = self.entry(live, live.node_id)[1]

    def _reached(self, broker: Broker) -> list[Broker]:
        """Return whom the word of a broker reaches, from one to the next."""
        found = [broker]
        for one in found:
            found += [other for other in self.lab.all_brokers() if other not in found and one.reaches(other)]
        return found

    def spread(self, live: Broker) -> None:
        """A broker that goes live is known also beyond a line that is cut: who learns of it tells others.

        Source: `Topology.updateMember` of 2.4.0, which sends each new member on.
        """
        for other in self._reached(live) if self.lab.partitions.cuts else ():
            if not live.reaches(other) and other.node_id != live.node_id:
                other.topology[live.node_id] = [live.process_name, "-"]

    @staticmethod
    def entry(broker: Broker, pair: str) -> list[str]:
        """Return who is live of a pair and who its backup, as a broker believes."""
        return broker.topology.get(pair, ["-", "-"])

    def _heard(self, broker: Broker) -> list[Broker]:
        """Return the live ones it hears of; one whose connectors lead to no process hears of none.

        Who lists nobody hears only of those that connect to it (`NodeAnnounceMessage`).
        """
        found = [live for live in self.lab.live_brokers() if live is broker or broker.reaches(live)]
        bridged, name = self.lab.balancing.bridged, broker.process_name
        if not bridged.get(name, True):
            found = [live for live in found if live is broker or name in bridged[live.process_name]]
        found.sort(key=lambda live: live.served_journal.since if live.served_journal is not None else 0)
        deaf = broker.hosting_broker is not None and all(
            live.process_name == broker.process_name for live in found
        )
        lives = [live for live in found if live is broker or not deaf]
        if broker.forgotten:
            return [live for live in lives if (live.node_id, live.incarnation) not in broker.forgotten]
        return lives

    def _backup(self, live: Broker, viewer: Broker, backups: list[Broker]) -> str:
        """Return which of *backups* announced itself to a live broker: nobody takes its name back.

        Not even a slave that is live now (`Topology.updateMember` of 2.4.0 keeps what it is not told anew): it
        forgets that itself, and is told again by another live one. A slave with a shared store says it once,
        and not to who is live after that (`BackupManager.announceBackup`; Artemis rule 5.6).
        """
        known = self.entry(viewer, live.node_id)
        for other in backups:
            says = other.role == "backup_in_sync" or other.announced >= live.journal.since
            told = known[1] == other.process_name or (says and other.reaches(live))
            if other.node_id == live.node_id and told:
                return other.process_name
        if viewer is live and known[1] == "-":
            others = (other for other in self.lab.live_brokers() if other is not live and live.reaches(other))
            here = [self.entry(other, live.node_id) for other in others]
            return next((backup for at, backup in here if at == live.process_name), "-")
        return known[1]

    def forget(self, gone: Broker, orderly: bool) -> None:
        """Brokers that notice a live broker's end drop it, and tell each other: 2.4 only a goodbye.

        A host and the backup in it go on seeing the backup's master in 2.5 too, where that hosted a backup
        itself, unless a third live broker tells them otherwise (Artemis rule 7.3).
        """
        if not orderly and not self.lab.rules.forgets_crashed:
            return
        noticed = [
            broker
            for broker in self.lab.all_brokers()
            if broker is not gone
            and (
                broker.joined(gone)
                if orderly
                else not gone.hosted
                or all(
                    hosted.node_id != gone.node_id
                    for hosted in (broker.hosting_broker or broker).hosted.values()
                )
            )
        ]
        third = [live for live in noticed if live.serves and live.node_id != gone.node_id]
        for broker in self.lab.all_brokers():  # not it itself: its clients go by what it has told them
            if broker.master is gone and not orderly and broker.role == "backup_in_sync":
                continue  # it votes, and hears nothing
            if broker in noticed or (broker is not gone and any(map(broker.reaches, third))):
                if orderly:  # by its node id, whoever is live with that (`Topology.removeMember` of 2.4.0)
                    broker.topology.pop(gone.node_id, None)
                else:
                    self._drop(broker, gone)

    def lose_sight(self, a: Broker, b: Broker) -> None:
        """Two brokers have lost each other: from 2.5 on each forgets the other, and tells all that it reaches.

        So do third ones, and the lost one itself where a third one tells it, until its next life.
        """
        if not self.lab.rules.forgets_crashed or a.node_id == b.node_id or not (a.serves and b.serves):
            return
        for broker, gone in (a, b), (b, a):
            self._drop(broker, gone)
            life = (gone.node_id, gone.incarnation)
            for told in self._reached(broker) if gone.serves and broker.serves else ():
                if told is not broker:
                    self._drop(told, gone)
                    told.forgotten.add(life)

    def _drop(self, broker: Broker, gone: Broker) -> None:
        if self.entry(broker, gone.node_id)[0] == gone.process_name:
            del broker.topology[gone.node_id]
