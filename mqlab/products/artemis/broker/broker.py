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

    def loads(self, backup: Broker, journal: Journal | None, time: int, rule: Reason) -> None:
        """A backup reads for about *time* us what its master has left, and takes over."""
        self.lab.soon(backup, self.lab.random_duration(time), self.lab.take_over, journal, rule)


class Broker:
    """A broker process, or a backup hosted in another's process (`hosting_broker`).

    `node_id` is the node id it carries, or looks for, by the name of the broker that first was live with
    it. `topology` maps node id -> [live, backup]; `max_cluster_size` the most live brokers seen there.
    """

    # Python finds attributes quicker where an instance has fewer than thirty others: a run took 3 % less.
    __slots__ = ("__dict__", "__weakref__", "balanced", "kept", "lost", "lost_takers", "told_by")

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
        self.told_by = ""  # of a backup: the node id of whom it is connected to
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
        self.silent: set[frozenset[str]] = set()  # of these who asks for a connection is not even refused one
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
