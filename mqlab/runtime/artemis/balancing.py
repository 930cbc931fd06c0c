"""A cluster connection spreads messages over the brokers (artemis-observed.md, section 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from mqlab.runtime.artemis.broker import Broker
from mqlab.runtime.artemis.messages import Held, Message, Queue
from mqlab.trace.kinds import Kind, Rule

if TYPE_CHECKING:
    from mqlab.runtime.artemis.lab import HaLab

MS = 1000


class Refused(Exception):
    """A send that the broker answers with an error."""


Binding = tuple[Broker, Queue]


class Balancing:
    """Where a message goes: to a queue here, or to one of another broker."""

    def __init__(self, lab: HaLab) -> None:
        self.lab = lab

    def kind(self, broker: Broker) -> str:
        """Return message-load-balancing of a broker's cluster connection."""
        return str(self.lab.scenario.option(broker.server, "message_load_balancing"))

    # Who is there

    def remote(self, broker: Broker) -> Iterator[tuple[Broker, list[Broker]]]:
        """Yield the live brokers within max-hops, each with the way to it."""
        hops = self.lab.scenario.option(broker.server, "max_hops")
        ways, seen = [[broker]], {broker.name}
        for _ in range(hops):
            ways = [[*way, other] for way in ways for other in self._neighbours(way[-1])]
            for way in ways:
                other = way[-1]
                if other.name not in seen and other.live is not None:
                    seen.add(other.name)
                    yield other, way

    def _neighbours(self, broker: Broker) -> list[Broker]:
        listed = self.lab.scenario.option(broker.server, "to")
        return [
            other for other in self.lab.brokers.values()
            if other is not broker and other.live is not None and other.role in ("live", "paused")
            and (listed is None or other.name in listed or self._pair_listed(other, listed))
            and self.lab.net.joined(broker.place, other.place)
        ]  # fmt: skip

    @staticmethod
    def _pair_listed(other: Broker, listed: list[str]) -> bool:
        return other.pair in listed

    def _bindings(self, broker: Broker, wanted: Callable[[Queue], bool]) -> list[Binding]:
        """Return the queues, here and elsewhere, in the order in which the broker learned of them."""
        places = [broker, *(other for other, _ in self.remote(broker))]
        found = [(max(queue.made, at.live.since), at, queue) for at in places if at.live is not None
                 for queue in at.live.queues.values() if wanted(queue)]  # fmt: skip
        since = broker.live.since if broker.live is not None else 0
        found.sort(key=lambda row: max(since, row[0]))
        return [(at, queue) for _, at, queue in found]

    @staticmethod
    def _wanted(queue: Queue, message: Message) -> bool:
        return any(consumer.wants(message) for consumer in queue.consumers)

    # A message comes from a client

    def route(self, broker: Broker, message: Message) -> None:
        """Give a message to its address; raises `Refused` where the product does."""
        assert broker.live is not None
        if message.dest.is_queue:
            self.lab.queue(broker, message.dest.name)  # the client has it created if need be
            bindings = self._bindings(broker, lambda queue: queue.name == message.dest.name)
            self._deliver(broker, self._next(broker, message, bindings), message)
            return
        found: dict[tuple[str, str], list[Binding]] = {}
        for at, queue in self._bindings(broker, lambda queue: queue.topic == message.dest.name):
            key = (queue.name, at.name if queue.own else "")
            found.setdefault(key, []).append((at, queue))
        if self.kind(broker) == "OFF" and any(
            b[0] is not broker for f in found.values() for b in f
        ):
            raise Refused  # it looks for a queue of its own under the remote one's name, without end
        for bindings in found.values():
            if any(self.lab.selects(queue.selector, message) for _, queue in bindings):
                self._deliver(broker, self._next(broker, message, bindings), message)
        if not found:
            self.lab.message(
                Kind.Discarded, message, broker, rule=Rule.no_subscription, cause=message.row
            )

    def _next(self, broker: Broker, message: Message, bindings: list[Binding]) -> Binding:
        """Return whose turn it is: brokers take turns, those with a matching consumer first."""
        assert broker.live is not None
        kind, name = self.kind(broker), bindings[0][1].name
        start = broker.live.positions.get(name, 0) % len(bindings)
        turns = [(start + no) % len(bindings) for no in range(len(bindings))]
        order = [no for no in turns if self.lab.selects(bindings[no][1].selector, message)]
        takers = [no for no in order if kind == "STRICT" or self._wanted(bindings[no][1], message)]
        if kind == "OFF":
            return self._local(broker, message, bindings, takers)
        local = next((no for no in order if bindings[no][0] is broker), order[0])
        chosen = takers[0] if takers else local
        broker.live.positions[name] = chosen + 1
        return bindings[chosen]

    def _local(
        self, broker: Broker, message: Message, bindings: list[Binding], takers: list[int]
    ) -> Binding:
        """With OFF a broker goes on until a turn is its own: one that never comes is an error."""
        own = [no for no, (at, _) in enumerate(bindings) if at is broker]
        if not own or (takers and own[0] not in takers):
            raise Refused
        return bindings[own[0]]

    def _deliver(self, broker: Broker, binding: Binding, message: Message) -> None:
        at, queue = binding
        row = message.row
        if at is not broker:  # it lies in the queue towards the other one until that has it
            row = self.lab.message(Kind.Enqueued, message, broker, cause=row)
            if at.role == "paused" and broker.live is not None:
                broker.live.on_the_way.setdefault(at.name, []).append((queue.name, message, row))
                self.lab.message(Kind.Held, message, broker, rule=Rule.on_the_way, cause=row)
                return
            row = self._forward(broker, at, message, Rule.broker_turn, row)
        self.lab.enqueue(at, queue, message, row)
        self.dispatch(at)

    def _forward(self, broker: Broker, to: Broker, message: Message, rule: Rule, row: int) -> int:
        way = next((way for other, way in self.remote(broker) if other is to), [broker, to])
        for frm, onto in pairwise(way):
            if frm is not broker:
                row = self.lab.message(Kind.Enqueued, message, frm, cause=row)
            row = self.lab.notes.forwarded(message, frm, onto, rule, row)
        return row

    def arrived(self, back: Broker) -> None:
        """What was on its way to a broker that hung reaches it."""
        for broker in self.lab.brokers.values():
            if broker.live is not None and back.live is not None:
                for name, message, row in broker.live.on_the_way.pop(back.name, []):
                    gone = self.lab.notes.forwarded(message, broker, back, Rule.broker_turn, row)
                    self.lab.enqueue(back, self.lab.queue(back, name), message, gone)
        self.dispatch(back)

    # To the consumers of a broker

    def dispatch(self, broker: Broker) -> None:
        """Hand out what waits: consumers of a queue take turns."""
        if not broker.serves or broker.live is None:
            return
        for queue in list(broker.live.queues.values()):
            for item in list(queue.waiting):
                if not queue.consumers:
                    break
                if item.message.due <= self.lab.clock.now:
                    self._hand(broker, queue, item)

    def _hand(self, broker: Broker, queue: Queue, item: Held) -> None:
        for no in range(len(queue.consumers)):
            place = (queue.turn + no) % len(queue.consumers)
            consumer = queue.consumers[place]
            if consumer.wants(item.message):
                queue.turn = place + 1
                queue.waiting.remove(item)
                queue.held.append(item)
                item.taker = consumer
                item.row = self.lab.message(Kind.Dispatched, item.message, broker, broker.node,
                                            consumer.node, rule=Rule.queue_turn, cause=item.row)  # fmt: skip
                consumer.take(item)
                return

    # Redistribution

    def redistribute(self) -> None:
        """A queue without consumers sends its messages to where there are some, after the delay."""
        delay = int(self.lab.scenario.addresses.get("redistribution_delay", -1))
        if delay < 0:
            return
        for broker in self.lab.topology.lives():
            if broker.live is None or self.kind(broker) == "OFF":
                continue
            for queue in broker.live.queues.values():
                if queue.waiting and not queue.consumers and queue.topic is None:
                    self.lab.soon(broker, delay * MS, self._move, queue)

    def _move(self, broker: Broker, queue: Queue) -> None:
        """Move from the head on; the first message that nobody elsewhere wants blocks the rest."""
        if not broker.serves or queue.consumers:
            return
        for item in list(queue.waiting):
            bindings = self._bindings(broker, lambda other: other.name == queue.name)
            takers = [
                b for b in bindings if b[0] is not broker and self._wanted(b[1], item.message)
            ]
            if not takers:
                return
            queue.waiting.remove(item)
            assert broker.live is not None
            turn = broker.live.positions.get(f"moved {queue.name}", 0)
            broker.live.positions[f"moved {queue.name}"] = turn + 1
            at, there = takers[turn % len(takers)]
            row = self._forward(broker, at, item.message, Rule.redistribution, item.row)
            self.lab.enqueue(at, there, item.message, row)
            self.dispatch(at)
