"""Enhanced clusters: suspicion, takeover by one winner, and the way back of clients.

A broker whose heartbeats are missed is suspect; at the monitor.threshold-th tick of the monitor after
that (the third, by default) it is found dead, and the first to get the lock takes over what it held
(Technical Overview, chapter 4, "Enhanced clusters"; reference/openmq-observed.md, section 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq.cluster import Broker
from mqlab.runtime.openmq.messages import Consumer, Held
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab

SECOND = 1_000_000
TAKEN = "takeover_complete"
RECONNECT = 3 * SECOND  # us until a client's first attempt after a loss
ROUND = 6 * SECOND  # us between two rounds of a client of an enhanced cluster
TAKES = 3 * SECOND // 2  # us from the lock to the end of a takeover
# How many heartbeat intervals pass until a broker is suspect: a dead process answers with a refused
# datagram, which is noticed sooner than silence. A shorter threshold bounds both.
KILLED, SILENT = 1.5, 2.5


class Takeover:
    """Who is suspected, who has taken over whom, and which clients look for a broker."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab
        self.owner: dict[str, str] = {}
        self.happened: set[str] = set()
        self.barred: dict[str, int] = {}  # who may not return until when (us)
        self.taking: dict[str, str] = {}  # who is being taken over -> by whom

    @property
    def enhanced(self) -> bool:
        """Whether the cluster has a highly available store."""
        return self.lab.scenario.model == "enhanced"

    def seen(self, event: str, about: str | None = None) -> bool:
        """Whether an event has happened since the last fault, to a broker if one is named."""
        return (f"{event} {about}" if about and event == TAKEN else event) in self.happened

    def refuses(self, broker: Broker) -> bool:
        """Whether a broker takes no new connections (C4099): while it takes over another."""
        return broker.name in self.taking.values()

    def fault(self, broker: Broker, orderly: bool = False, failover: bool = True) -> None:
        """A broker is about to go: in an enhanced cluster the others will find it dead."""
        self.happened.clear()
        if not self.enhanced or not failover:
            return
        silence = SILENT if broker.running and broker.frozen else KILLED
        interval = float(broker.option("imq.cluster.heartbeat.interval", 5))
        threshold = float(broker.option("imq.cluster.heartbeat.threshold", 3))
        suspect = self.lab.clock.now + round(interval * min(silence, threshold) * SECOND)
        self.lab.clock.later(suspect, self.on_suspect, (broker.name, broker.lives, orderly))

    def _is_back(self, name: str, life: int) -> bool:
        """Whether a broker has come back since, or belongs to another already."""
        broker = self.lab.brokers[name]
        alive = broker.running and not broker.frozen
        return broker.lives != life or alive or name in self.owner

    def on_suspect(self, who: tuple[str, int, bool]) -> None:
        """Heartbeats are missing: the monitor counts its ticks, unless the broker has come back."""
        name, life, orderly = who
        if self._is_back(name, life):
            return
        self.happened.add("suspect")
        broker = self.lab.brokers[name]
        ticks = 1 if orderly else int(broker.option("imq.cluster.monitor.threshold", 3))
        self.lab.clock.later(self._tick(broker, ticks), self.on_dead, (name, life))

    def _tick(self, broker: Broker, count: int) -> int:
        """Return when the monitor ticks for the *count*th time from now (us)."""
        every = round(float(broker.option("imq.cluster.monitor.interval", 30)) * SECOND)
        return (self.lab.clock.now // every + count) * every

    def on_dead(self, who: tuple[str, int]) -> None:
        """The monitor has found a broker dead: the first to get the lock takes it over."""
        name, life = who
        broker = self.lab.brokers[name]
        if self._is_back(name, life) or name in self.taking:
            return
        alive = [b for b in self.lab.brokers.values() if b.serves and self.same_cluster(b, broker)]
        if not alive or not self.lab.database_up:  # nobody can: at the next tick again
            self.lab.clock.later(self._tick(broker, 1), self.on_dead, who)
            return
        winner = self.lab.random.choice(alive)
        self.taking[name] = winner.name
        self.happened |= {"found_dead", "takeover_lock_acquired"}
        self.lab.notes.add(Kind.Locked, {"takes over": name}, broker=winner.node, frm=broker.node,
                           to=winner.node, rule=Rule.first_to_lock, cause=broker.ended)  # fmt: skip
        self.lab.clock.later(self.lab.clock.now + TAKES, self.on_taken, (winner, broker, life))

    def on_taken(self, what: tuple[Broker, Broker, int]) -> None:
        """The winner has read the store; if it died meanwhile, the others go on counting."""
        winner, dead, life = what
        self.taking.pop(dead.name, None)
        if winner.serves:
            self.take(winner, dead)
        else:
            tick = float(dead.option("imq.cluster.monitor.interval", 30))
            self.barred[dead.name] = self.lab.clock.now + round(max(60, 2 * tick) * SECOND)
            self.lab.clock.later(self._tick(dead, 1), self.on_dead, (dead.name, life))

    def take(self, winner: Broker, dead: Broker) -> None:
        """Let *winner* have all that *dead* held; open transactions are rolled back."""
        lab = self.lab
        self.owner[dead.name] = winner.name
        self.barred.pop(dead.name, None)
        for other, by in list(self.owner.items()):
            if by == dead.name:
                self.owner[other] = winner.name
        for dest, instance in dead.instances.items():
            mine = winner.instances.get(dest) or lab.cluster.add(
                winner, dest, instance.created_by, instance.options
            )
            for message in instance.messages:
                if message.transaction not in (None, *lab.prepared):
                    lab.stock.discard(dead, message, Rule.broker_stopped)
                    continue
                message.home = winner.name
                message.copies.pop(winner.name, None)
                message.row = lab.notes.message(Kind.TakenOver, message, winner, frm=dead.node,
                                                to=winner.node, cause=message.row)  # fmt: skip
                mine.messages.append(message)
            instance.messages = []
        winner.durables.update(dead.durables)
        self._flag_remote(winner)
        self.happened |= {TAKEN, f"{TAKEN} {dead.name}", "store_taken", "takeover_processed"}
        lab.delivery.dispatch_all()

    def _flag_remote(self, winner: Broker) -> None:
        """What others hold of the taken messages and take only now comes flagged."""
        for consumer in self.lab.consumers.values():
            mine = [h for h in release(consumer) if h.message.home == winner.name]
            if mine and consumer.home == winner.name and consumer.mode == "client":
                consumer.refuses = consumer.reopened = True
                for held in consumer.buffer:
                    held.target.flagged = True
            for held in consumer.buffer:
                if held.message.home == winner.name and consumer.home != winner.name:
                    held.target.flagged = True

    def by_command(self, broker: Broker, target: Broker) -> dict[str, Any]:
        """Take over by an administrator's command."""
        if target.running or target.name in self.owner:
            return {"result": "refused"}
        self.take(broker, target)
        return {"result": "ok"}

    def may_start(self, broker: Broker) -> bool:
        """Whether a broker may join: one that was taken over does, without its messages.

        While it is being taken over it waits; if its taker died meanwhile it may not come back for a
        minute or two (Administration Guide; neither is recorded).
        """
        wait = float(broker.option("imq.cluster.ha.takeoverWaitTimeout", 300))
        self.lab.pass_until(lambda: broker.name not in self.taking, int(wait * 1000))
        if broker.name in self.taking or self.lab.clock.now < self.barred.get(broker.name, 0):
            return False
        ids = [b.option("imq.brokerid") for b in self.lab.brokers.values()
               if b is not broker and b.running]  # fmt: skip
        own = broker.option("imq.brokerid")
        if own is not None and own in ids:
            return False
        self.owner.pop(broker.name, None)  # from now on it may be taken over again
        return True

    def state_of(self, broker: Broker, other: Broker) -> str:
        """Return how *broker* shows another one."""
        if other.running and not other.frozen:
            return (
                "OPERATING" if self.lab.cluster.linked(broker.name, other.name) else "INITIALIZING"
            )
        if other.name in self.owner and not other.running:
            return f"TAKEOVER_COMPLETE by {self.owner[other.name]}"
        if other.frozen and not self.enhanced:
            return "OPERATING"
        return "BROKER_DOWN" if other.name in broker.met else "INITIALIZING"

    def same_cluster(self, broker: Broker, other: Broker) -> bool:
        """Whether two brokers of one store have the same cluster id; others do not know them."""
        key = "imq.cluster.clusterid"
        return not self.enhanced or broker.option(key) == other.option(key)

    # Frozen brokers

    def freeze(self, broker: Broker) -> dict[str, Any]:
        """A process stands still: in a conventional cluster nobody notices."""
        broker.frozen = True
        self.fault(broker)
        broker.ended = self.lab.notes.add(Kind.Suspended, broker=broker.node)
        return {"result": "ok"}

    def thaw(self, broker: Broker) -> dict[str, Any]:
        """A process goes on; one that was taken over meanwhile ends itself."""
        broker.frozen = False
        self.lab.notes.add(Kind.Resumed, broker=broker.node)
        if broker.name in self.owner:
            self.lab.cluster.down(broker, Kind.Crashed)
        return {"result": "ok"}

    # Clients

    def reconnect(self, consumer: Consumer) -> None:
        """Let a client look for a broker, again and again."""
        clock = self.lab.clock
        clock.later(clock.now + RECONNECT, self.on_attempt, (consumer, 0))

    def on_attempt(self, attempt: tuple[Consumer, int]) -> None:
        """A client tries its brokers; after a takeover it is sent to the owner."""
        consumer, tries = attempt
        if consumer.killed:
            return
        lab = self.lab
        where = consumer.keys["broker"]
        names = list(where) if isinstance(where, (list, tuple)) else [str(where)]
        names = list(lab.brokers) if names == ["any"] else names
        most = int(consumer.keys.get("reconnect_attempts", 3))
        if self.enhanced:
            home = self.owner.get(consumer.home, consumer.home)
        else:  # so many attempts at each address of the list, then the next
            home = names[tries // most % len(names)] if most > 0 else names[0]
        serves = lab.brokers[home].serves
        if not self.enhanced:
            lab.notes.add(Kind.Attempted, frm=consumer.node, to=lab.brokers[home].node,
                          rule=Rule.accepted if serves else Rule.nobody_listens,
                          cause=consumer.lost)  # fmt: skip
        if not serves:
            rounds = int(consumer.keys.get("iterations", -1))
            if self.enhanced or rounds < 0 or tries + 1 < most * len(names) * rounds:
                clock = lab.clock
                pause = int(consumer.keys.get("reconnect_interval_ms", 500)) * 1000
                pause = ROUND if self.enhanced else pause
                clock.later(clock.now + pause, self.on_attempt, (consumer, tries + 1))
            return
        consumer.home, consumer.open = home, True
        lab.notes.add(Kind.Attached, frm=consumer.node, to=lab.brokers[home].node,
                      cause=consumer.lost)  # fmt: skip
        if consumer.dest not in lab.brokers[home].instances:
            created = "temporary" if consumer.dest.name.startswith("temp:") else "auto"
            lab.cluster.add(lab.brokers[home], consumer.dest, created).owner = consumer.name
        lab.cluster.spread(lab.brokers[home], consumer.dest)
        counts = lab.events.setdefault(consumer.name, {})
        counts["reconnected"] = counts.get("reconnected", 0) + 1
        self.happened.add("client_reconnected")
        lab.settle()


def release(consumer: Consumer) -> list[Held]:
    """Return what a consumer has in its hands, taken first."""
    return [*consumer.taken, *consumer.buffer]
