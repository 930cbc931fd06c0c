"""Delivery: from a message's home to the consumers that have room, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.runtime.openmq.cluster import Broker
from mqlab.runtime.openmq.messages import DEAD, Consumer, Held, Key, Message, Target
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.openmq.lab import ClusterLab

HOME_LOST = "its home went away"


class Delivery:
    """Hands messages out and takes acknowledgements."""

    def __init__(self, lab: ClusterLab) -> None:
        self.lab = lab
        self.turn = 0

    # Out

    def dispatch_all(self) -> None:
        """Offer everything everywhere, until nothing changes."""
        moved = True
        while moved:
            moved = False
            for broker in self.lab.brokers.values():
                if broker.serves:
                    for dest in list(broker.instances):
                        moved |= self.dispatch(broker, dest)
            for consumer in list(self.lab.consumers.values()):
                moved |= self.consume(consumer)
            moved |= self.lab.sending.unblock()

    def dispatch(self, broker: Broker, dest: Destination) -> bool:
        """Hand out what waits for a destination at its home; True if something went."""
        instance = broker.instances[dest]
        takers = self.lab.cluster.active(broker, dest)
        if not takers or instance.paused or dest == DEAD:
            return False
        if instance.option("LocalOnly", False):
            takers = [c for c in takers if c.home == broker.name]
        local = [c for c in takers if c.home == broker.name]
        if local and dest.is_queue and instance.option("LocalDeliveryPreferred", False):
            takers = local
        moved = False
        for message in sorted(instance.messages, key=lambda m: (-m.priority, m.number)):
            if message.transaction is not None:
                continue
            for target in message.targets:
                if target.taker is None:
                    moved |= self._hand(broker, message, target, takers)
        return moved

    def _hand(
        self, broker: Broker, message: Message, target: Target, takers: list[Consumer]
    ) -> bool:
        free = [
            c for c in takers
            if c.has_room and (target.key is None or c.key == target.key) and c.wants(message)
            and not c.broken
        ]  # fmt: skip
        if not free:
            return False
        taker = min(free, key=lambda consumer: consumer.served)
        self.turn += 1
        taker.served = self.turn
        target.taker = taker
        home, message.waits = self.lab.brokers[taker.home], -1
        row = message.row if home is broker else self._forward(broker, home, message)
        row = self.lab.notes.message(Kind.Dispatched, message, home, frm=home.node, to=taker.node,
                                     sub=taker.sub, cause=row)  # fmt: skip
        taker.buffer.append(Held(message, target, row))
        return True

    def _forward(self, broker: Broker, home: Broker, message: Message) -> int:
        """Return the row with which a consumer's broker has a message: it crosses only once."""
        if home.name not in message.copies:
            way = {"frm": broker.node, "to": home.node,
                   "link": self.lab.notes.links[broker.name, home.name]}  # fmt: skip
            row = self.lab.notes.message(Kind.Forwarded, message, broker, rule=Rule.home_to_home,
                                         cause=message.row, **way)  # fmt: skip
            message.copies[home.name] = self.lab.notes.message(
                Kind.Enqueued, message, home, cause=row, **way
            )
        return message.copies[home.name]

    def drop_copy(self, message: Message, kind: int, rule: int, cause: int = -1) -> None:
        """Note that copies of a message have gone from brokers where nobody holds it any more."""
        there = {target.taker.home for target in message.targets if target.taker}
        for name in [name for name in message.copies if name not in there]:
            row = message.copies.pop(name)
            self.lab.notes.message(kind, message, self.lab.brokers[name], rule=rule,
                                   cause=row if cause < 0 else cause)  # fmt: skip

    def consume(self, consumer: Consumer) -> bool:
        """Let a consumer take what its application wants; True if it took something."""
        took = False
        while consumer.open and consumer.buffer and consumer.allowance != 0 and not consumer.broken:
            held = consumer.buffer.popleft()
            line = frozenset((held.message.home, consumer.home))
            frozen = (
                self.lab.brokers[consumer.home].frozen or self.lab.brokers[held.message.home].frozen
            )
            if frozen or line in self.lab.silent:
                consumer.buffer.appendleft(held)
                break
            if not self.lab.brokers[held.message.home].running and consumer.mode != "client":
                self._fail_to_take(consumer, held)
                break
            self._receive(consumer, held)
            took = True
        return took

    def _fail_to_take(self, consumer: Consumer, held: Held) -> None:
        """Taking a message fails when its home is gone: its acknowledgement has nowhere to go.

        In 5.1 the copies are dropped and come again with the home; later ones keep them.
        """
        consumer.buffer.appendleft(held)
        lost = [h for h in consumer.buffer if h.message.home == held.message.home]
        for one in lost:
            one.target.flagged = True
        if self.lab.scenario.version == "5.1":
            for one in lost:
                one.target.taker = None
                consumer.buffer.remove(one)
                self.drop_copy(one.message, Kind.Discarded, Rule.broker_stopped)
            self.lab.brokers[consumer.home].instances[consumer.dest].ghosts += 1
        else:
            consumer.broken = True

    def home_returns(self, broker: Broker) -> None:
        """A home is back: of what a consumer failed to take the first comes, the rest is stuck."""
        for consumer in self.lab.consumers.values():
            mine = [h for h in consumer.buffer if h.message.home == broker.name]
            if not consumer.broken or not mine:
                continue
            consumer.broken = False
            for held in mine[1:]:
                consumer.buffer.remove(held)
                consumer.taken.append(held)
            consumer.buffer.remove(mine[0])
            home = self.lab.brokers[consumer.home]
            home.instances[consumer.dest].ghosts += 1
            self._receive(consumer, mine[0])

    def _receive(self, consumer: Consumer, held: Held) -> None:
        if consumer.allowance is not None:
            consumer.allowance -= 1
        message = held.message
        consumer.received.append(message.number)
        home = self.lab.brokers[consumer.home]
        way = {"frm": home.node, "to": consumer.node, "sub": consumer.sub, "cause": held.row}
        if held.target.flagged:
            consumer.redelivered.append(message.number)
            self.lab.notes.message(Kind.Redelivered, message, home, **way)
        held.row = self.lab.notes.message(Kind.Received, message, home, **way)
        self.lab.delivered(consumer)
        consumer.taken.append(held)
        if consumer.mode in ("auto", "dups_ok") and "xa" not in consumer.keys:
            self.acknowledge(consumer, 1)
        elif consumer.mode == "client" and consumer.keys.get("acknowledge"):
            self.acknowledge(consumer, None)

    # Back

    def acknowledge(self, consumer: Consumer, last: int | None) -> bool:
        """Acknowledge what was taken, or only the *last*; False if a home is away."""
        done = consumer.taken if last is None else consumer.taken[-last:]
        if consumer.refuses:
            return False
        if any(not self.lab.brokers[held.message.home].running for held in done):
            if self.lab.scenario.version == "5.1":
                self._drop_lost(consumer)
            return False
        consumer.taken = [held for held in consumer.taken if held not in done]
        for held in done:
            self.finish(held)
        return True

    def _drop_lost(self, consumer: Consumer) -> None:
        """In 5.1 a refused acknowledgement gives everything back, to the same consumer first.

        What comes again is not listed any more once the consumer leaves (version_5_1/two_homes_commit).
        """
        consumer.renewed = True
        for held in reversed(consumer.taken):
            held.target.flagged = True
            if self.lab.brokers[held.message.home].running:
                consumer.buffer.appendleft(held)
            else:
                held.target.taker = None
                self.drop_copy(held.message, Kind.Discarded, Rule.broker_stopped)
        consumer.taken = []

    def finish(self, held: Held) -> None:
        """A subscription is done with a message; when all are, it is gone."""
        message = held.message
        broker = self.lab.brokers[message.home]
        if held.target in message.targets:
            message.targets.remove(held.target)
        self.drop_copy(message, Kind.Acknowledged, Rule.none, held.row)
        instance = broker.instances.get(message.dest)
        if not message.targets and instance is not None and message in instance.messages:
            instance.messages.remove(message)
            self.lab.notes.message(Kind.Acknowledged, message, broker, cause=held.row)

    def give_back(self, consumer: Consumer, flag: bool, leaves: bool) -> None:
        """What a consumer has in hands waits at its homes again; a remote copy stays listed."""
        home = self.lab.brokers[consumer.home]
        for held in (*consumer.taken, *consumer.buffer):
            held.target.taker = None
            remote = held.message.home != consumer.home
            held.target.flagged |= flag and (remote or held in consumer.taken)
            listed = remote and leaves and not consumer.renewed
            if listed and home.running and held.message.dest in home.instances:
                home.instances[held.message.dest].ghosts += 1
            self._returned(held, Rule.consumer_left)
        consumer.taken, consumer.buffer = [], type(consumer.buffer)()

    def _returned(self, held: Held, rule: int, cause: int = -1) -> None:
        """Note that a message waits at its home again."""
        message = held.message
        self.drop_copy(message, Kind.Discarded, rule, cause)
        self.lab.notes.message(Kind.Returned, message, self.lab.brokers[message.home], rule=rule,
                               cause=held.row if cause < 0 else cause)  # fmt: skip

    def redeliver(self, consumer: Consumer) -> None:
        """Recover or roll back: what was taken comes again, flagged, before what is in the buffer.

        After a home has gone and come back, only the first of what was taken does.
        """
        again, consumer.taken = consumer.taken, []
        if consumer.refuses and consumer.mode == "client" and not consumer.reopened:
            again, consumer.taken = again[:1], again[1:]
        consumer.broken = consumer.refuses = False
        for held in reversed(again):
            held.target.flagged = True
            consumer.buffer.appendleft(held)

    def lose_home(self, consumer: Consumer, cause: int) -> None:
        """A consumer's broker is gone: what it held is free at its homes, flagged."""
        kept = consumer.taken, list(consumer.buffer)
        consumer.buffer.clear()
        consumer.taken = []
        for held in (*kept[0], *kept[1]):
            held.target.taker = None
            held.target.flagged = True
            self._returned(held, Rule.broker_stopped, cause)
        consumer.refuses = consumer.mode == "transacted" and bool(kept[0])
        self.lab.receiving.client_lost(consumer, cause)

    def home_down(self, message: Message, cause: int) -> None:
        """A message's home is gone: copies in the hands of others cannot be finished."""
        message.waits = Rule.broker_stopped
        self.lab.notes.message(Kind.Held, message, self.lab.brokers[message.home],
                               rule=Rule.broker_stopped, cause=cause)  # fmt: skip

    def forget(self, broker: Broker, key: Key) -> None:
        """A durable subscription is given up: nothing waits for it any more."""
        for instance in broker.instances.values():
            for message in list(instance.messages):
                for target in [t for t in message.targets if t.key == key]:
                    self.finish(Held(message, target))
