"""Enhanced clusters: suspicion, and takeover by one winner.

A broker whose heartbeats are missed is suspect; at the monitor.threshold-th tick of the monitor after
that (the third, by default) it is found dead, and the first to get the lock takes over what it held
(Technical Overview, chapter 4, "Enhanced clusters"; reference/openmq-observed.md, section 9).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.openmq import clients, stock
from mqlab.runtime.openmq.model import Broker
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab

SECOND = 1_000_000
TAKES = 3 * SECOND // 2  # us from the lock to the end of a takeover
# How many heartbeat intervals pass until a broker is suspect: a dead process answers with a refused
# datagram, which is noticed sooner than silence. A shorter threshold bounds both.
KILLED, SILENT = 1.5, 2.5


class Takeover:
    """Who is suspected, and who has taken over whom."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab
        self.enhanced = lab.scenario.model == "enhanced"
        self.owner: dict[Broker, Broker] = {}
        self.barred: dict[Broker, int] = {}  # who may not return until when (us)
        self.taking: dict[
            Broker, Broker
        ] = {}  # who is being taken over -> who takes no client (C4099)

    def owner_of(self, broker: Broker) -> Broker:
        """Return who has what a broker held: itself, its owner, or that one's owner."""
        while broker in self.owner:
            broker = self.owner[broker]
        return broker

    # Suspicion

    def fault(self, broker: Broker, orderly: bool = False, failover: bool = True) -> None:
        """A broker is about to go: in an enhanced cluster the others will find it dead."""
        self.lab.happened.clear()
        if self.enhanced and failover:
            silence = SILENT if broker.running and self._is_silent(broker) else KILLED
            interval = float(broker.option("imq.cluster.heartbeat.interval", 5))
            threshold = float(broker.option("imq.cluster.heartbeat.threshold", 3))
            due = self.lab.clock.now + round(interval * min(silence, threshold) * SECOND)
            self.lab.clock.later(due, self.on_suspect, (broker, broker.lives, orderly))

    def _is_silent(self, broker: Broker) -> bool:
        return broker.frozen or any(broker.name in line for line in self.lab.cuts)

    def on_suspect(self, who: tuple[Broker, int, bool]) -> None:
        """Heartbeats are missing: the monitor counts its ticks, unless the broker has come back."""
        broker, life, orderly = who
        heard = broker.running and not self._is_silent(broker)
        if broker.lives == life and not heard and broker not in self.owner:
            self.lab.happens("suspect", broker.name)
            ticks = 1 if orderly else int(broker.option("imq.cluster.monitor.threshold", 3))
            self.lab.clock.later(self._tick(broker, ticks), self.on_dead, (broker, life))

    def _tick(self, broker: Broker, count: int) -> int:
        """Return when the monitor ticks for the *count*th time from now (us)."""
        every = round(float(broker.option("imq.cluster.monitor.interval", 30)) * SECOND)
        return (self.lab.clock.now // every + count) * every

    def on_dead(self, who: tuple[Broker, int]) -> None:
        """The monitor has found a broker dead: the first to get the lock takes it over.

        Who writes to the store is cleared. Without a survivor or the store the next tick tries again.
        """
        dead, life = who
        if dead.serves or dead.lives != life:
            self.lab.happens("cleared", dead.name)
            return
        if dead in self.owner or dead in self.taking:
            return
        alive = [b for b in self.lab.brokers.values() if b.serves and self.same_cluster(b, dead)]
        if not alive or not self.lab.database_up:
            self.lab.clock.later(self._tick(dead, 1), self.on_dead, who)
            return
        winner = self.lab.random.choice(alive)
        self.taking[dead] = winner
        for event in ("found_dead", "takeover_lock_acquired"):
            self.lab.happens(event, dead.name)
        self.lab.notes.add(Kind.Locked, {"takes over": dead.name}, broker=winner.node, frm=dead.node,
                           to=winner.node, rule=Rule.first_to_lock, cause=dead.ended)  # fmt: skip
        self.lab.clock.later(self.lab.clock.now + TAKES, self.on_taken, (winner, dead, life))

    # Takeover

    def on_taken(self, what: tuple[Broker, Broker, int]) -> None:
        """The winner has read the store; if it died meanwhile, the others go on counting."""
        winner, dead, life = what
        del self.taking[dead]
        if winner.serves:
            self.take(winner, dead)
        else:
            wait = max(60, 2 * float(dead.option("imq.cluster.monitor.interval", 30)))
            self.barred[dead] = self.lab.clock.now + round(wait * SECOND)
            self.lab.clock.later(self._tick(dead, 1), self.on_dead, (dead, life))

    def take(self, winner: Broker, dead: Broker) -> None:
        """Let *winner* have all that *dead* held; open transactions are rolled back."""
        lab = self.lab
        self.owner[dead] = winner
        self.barred.pop(dead, None)
        self._tell_holders(winner, dead)
        for dest, instance in dead.instances.items():
            mine = winner.add(dest, instance.created_by, instance.options)
            for message in instance.messages:
                if lab.is_open(message.transaction):
                    stock.discard(message, Rule.broker_stopped)
                    continue
                message.home = winner
                message.copies.pop(winner, None)
                message.row = lab.notes.message(Kind.TakenOver, message, frm=dead.node,
                                                to=winner.node)  # fmt: skip
                mine.messages.append(message)
                mine.leftovers.discard(message.number)
            instance.messages = []
        winner.durables.update(dead.durables)
        for branch in lab.prepared.values():
            branch.home = winner if branch.home is dead else branch.home
        for event in ("takeover_complete", "store_taken", "takeover_processed"):
            lab.happens(event, dead.name)
        lab.settle()

    def _tell_holders(self, winner: Broker, dead: Broker) -> None:
        """What consumers hold of a dead broker's messages and take only now comes flagged.

        The winner closes the connections of its own consumers that hold some; they come back later.
        """
        for consumer in list(self.lab.consumers.values()):
            held = [claim for claim in consumer.hands if claim.message.home is dead]
            for claim in held:
                claim.flagged |= claim in consumer.buffer
            if held and consumer.home is winner and consumer.open:
                clients.lose(consumer, dead.ended)

    def by_command(self, broker: Broker, target: Broker) -> bool:
        """Take over by an administrator's command."""
        allowed = not target.running and target not in self.owner
        if allowed:
            self.take(broker, target)
        return allowed

    # Return

    def may_start(self, broker: Broker) -> bool:
        """Whether a broker may join: one that was taken over does, without its messages.

        While it is being taken over it waits; if its taker died meanwhile it may not come back for a
        minute or two (Administration Guide; neither is recorded).
        """
        wait = float(broker.option("imq.cluster.ha.takeoverWaitTimeout", 300))
        self.lab.pass_until(lambda: broker not in self.taking, {"limit_ms": wait * 1000})
        own = broker.option("imq.brokerid")
        twin = own is not None and any(
            b.running and b.option("imq.brokerid") == own
            for b in self.lab.brokers.values() if b is not broker
        )  # fmt: skip
        if twin or broker in self.taking or self.lab.clock.now < self.barred.get(broker, 0):
            return False
        self.owner.pop(broker, None)  # from now on it may be taken over again
        return True

    def same_cluster(self, broker: Broker, other: Broker) -> bool:
        """Whether two brokers of one store have the same cluster id; others do not know them."""
        key = "imq.cluster.clusterid"
        return not self.enhanced or broker.option(key) == other.option(key)
