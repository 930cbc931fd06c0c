"""What the brokers' destinations hold: whether a message is taken, for whom, and why it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.runtime.openmq.cluster import Broker
from mqlab.runtime.openmq.messages import DEAD, Consumer, Instance, Message, Target
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab


class Stock:
    """The messages at their homes."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab

    def verdict(self, broker: Broker, message: Message) -> str:
        """Say what becomes of a message: "ok", "refused", "dropped", "blocked" or "full".

        "blocked" is for flow control: try again later; "full" is ok when another has made room.
        """
        instance = broker.instances.get(message.dest)
        if instance is None:  # destroyed while its producer was held back
            return "refused"
        if instance.paused or (self.lab.store_down and message.persistent):
            return "blocked"
        most = int(instance.option("MaxBytesPerMsg", -1))
        if 0 <= most < message.size:
            return "refused"
        self._targets(broker, message)
        if not message.targets and not message.dest.is_queue:
            return "dropped"
        full = self._full(instance, message)
        if full:
            behaviour = instance.option("LimitBehavior", "REJECT_NEWEST")
            if behaviour == "FLOW_CONTROL":
                return "blocked"
            if behaviour == "REJECT_NEWEST":
                return "refused" if message.persistent else "dropped"
            return "full"
        return "ok"

    def accept(self, broker: Broker, message: Message, full: bool, producer: int) -> None:
        """Take a message over, after making room for it if its destination is full."""
        instance = broker.instances[message.dest]
        if full:
            self._make_room(broker, instance)
        instance.messages.append(message)
        message.row = self.lab.notes.message(Kind.Enqueued, message, broker, frm=producer,
                                             to=broker.node, cause=message.row)  # fmt: skip

    def _full(self, instance: Instance, message: Message) -> bool:
        most = int(instance.option("MaxNumMsgs", -1))
        weight = int(instance.option("MaxTotalMsgBytes", -1))
        total = sum(m.size for m in instance.messages) + message.size
        return 0 <= most <= len(instance.messages) or 0 <= weight < total

    def _make_room(self, broker: Broker, instance: Instance) -> None:
        """Send the oldest, or the least important, to the dead messages of this broker."""
        free = [m for m in instance.messages if not any(t.taker for t in m.targets)]
        low = instance.option("LimitBehavior", "") == "REMOVE_LOW_PRIORITY"
        victim = min(free, key=lambda m: (m.priority if low else 0, m.number), default=None)
        if victim is None:
            return
        instance.messages.remove(victim)
        row = self.lab.notes.message(Kind.DeadLettered, victim, broker,
                                      rule=Rule.limit_reached, cause=victim.row)  # fmt: skip
        if DEAD not in broker.instances:
            self.lab.cluster.add(broker, DEAD, "auto")
        victim.dest = DEAD
        victim.row = self.lab.notes.message(Kind.Enqueued, victim, broker, frm=broker.node,
                                            to=broker.node, cause=row)  # fmt: skip
        broker.instances[DEAD].messages.append(victim)

    def _targets(self, broker: Broker, message: Message) -> None:
        """Fix for whom a message is; a topic's is for each subscription that selects it."""
        if message.dest.is_queue:
            message.targets = [Target()]
            return
        keys: dict[object, None] = {}
        local = broker.instances[message.dest].option("LocalOnly", False)
        for consumer in self.lab.cluster.consumers_of(broker, message.dest):
            if consumer.wants(message) and not (local and consumer.home != broker.name):
                keys.setdefault(consumer.key)
        for durable in broker.durables.values():
            if durable.dest == message.dest and self.lab.selects(durable.selector, message):
                keys.setdefault(durable.key)
        message.targets = [Target(key) for key in keys]

    def discard(self, broker: Broker, message: Message, rule: int) -> None:
        """Drop a message that its destination does not hold any more, and its copies."""
        message.targets.clear()
        self.lab.delivery.drop_copy(message, Kind.Discarded, rule)
        self.lab.notes.message(Kind.Discarded, message, broker, rule=rule, cause=message.row)

    def note_waiting(self) -> None:
        """Note of each message that nobody can take now why it waits, once for each reason."""
        for broker in self.lab.brokers.values():
            for dest, instance in broker.instances.items() if broker.running else ():
                takers = self.lab.cluster.active(broker, dest)
                for message in instance.messages:
                    rule = self._why_it_waits(instance, message, takers)
                    if rule not in (Rule.none, message.waits):
                        message.waits = rule
                        self.lab.notes.message(Kind.Held, message, broker, rule=rule,
                                               cause=message.row)  # fmt: skip

    @staticmethod
    def _why_it_waits(instance: Instance, message: Message, takers: list[Consumer]) -> Rule:
        free = [target for target in message.targets if target.taker is None]
        if not free or message.transaction is not None:
            return Rule.none
        if message.dest == DEAD or instance.paused:
            return Rule.paused if instance.paused else Rule.no_consumer
        if not message.dest.is_queue:
            mine = [c for c in takers if any(c.key == target.key for target in free)]
            return Rule.buffers_full if mine else Rule.durable
        if not takers:
            return Rule.no_consumer
        wanted = any(c.wants(message) for c in takers)
        return Rule.buffers_full if wanted else Rule.selected_by_none

    def counts(self, broker: Broker, dest: Destination) -> dict[str, Any]:
        """Return how many messages a broker lists for a destination, and of which kinds."""
        instance = broker.instances[dest]
        remote = {
            id(held.message) for c in self.lab.consumers.values()
            if c.home == broker.name and c.dest == dest and c.open
            for held in (*c.buffer, *c.taken) if held.message.home != broker.name
            and frozenset((held.message.home, broker.name)) not in self.lab.silent
        }  # fmt: skip
        return {
            "messages": len(remote)
            + instance.ghosts
            + sum(m.transaction is None for m in instance.messages),
            "remote": len(remote) + instance.ghosts,
            "in_transaction": sum(m.transaction is not None for m in instance.messages),
        }
