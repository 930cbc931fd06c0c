"""Core bridges: consumers of a queue that send what they take to another broker.

Source: Artemis user manual, core bridges; played by 2.31.2 as it is here.
"""

from __future__ import annotations

from dataclasses import replace

from mqlab.products.artemis.broker.broker import Broker
from mqlab.products.artemis.broker.messages import MessageReference, Queue, Taker
from mqlab.spec.artemis.options import Options, default
from mqlab.spec.values import Destination
from mqlab.trace.kinds import Kind, Reason

LOOKS = 20_000  # us between two looks whether a broker that hangs goes on


class Bridge(Taker):
    """A bridge of a broker; it takes from its queue while it is connected to another (`target`)."""

    handed = int(Kind.Forwarded)

    def __init__(self, broker: Broker, queue: Queue, options: Options) -> None:
        self.lab, self.broker, self.queue, self.options = broker.lab, broker, queue, options
        self.selector = options.get("filter")
        self.acknowledging, self.unacknowledged, self.buffer = [], [], []
        self.target: Broker | None = None

    def connect(self, broker: Broker) -> None:
        """Connect to the first of its brokers that answers, or try again after an interval."""
        lab = self.lab
        for name in self.options.get("to") or ():
            other = lab.brokers[str(name)]
            if self._reaches(other):
                self.target, self.node = other, other.node
                self.link = lab.notes.links.get((broker.process_name, other.process_name), -1)
                self.queue.consumers.append(self)
                lab.balancing.dispatch_queue(broker, self.queue)
                return
        wait = int(self.options.get("retry_interval", default("bridge", "retry_interval"))) * 1000
        lab.soon(broker, max(wait, 1), self.connect)

    def _reaches(self, other: Broker) -> bool:
        return self.broker.serves and other.serves and self.broker.joined(other)

    def take(self, item: MessageReference) -> None:
        """Send a message to the other broker."""
        assert self.target is not None  # else it is no consumer
        self.buffer.append(item)
        way = self.broker, self.target
        self.lab.line(*way).carry(self._on_arrived, (item, self.target.incarnation), 0, item.message.size)

    def _on_arrived(self, sent: tuple[MessageReference, int]) -> None:
        item, life = sent
        target = self.target
        if target is None or item not in self.buffer or target.incarnation != life:
            return  # the bridge has lost its connection: what it held is back in its queue
        if not self._reaches(target):  # it hangs, or is about to be lost
            self.lab.soon(self.broker, LOOKS, self._look, sent)
            return
        self.buffer.remove(item)
        self.lab.message(Kind.Acknowledged, item.message, self.broker, target.node, cause=item.row)
        to = Destination(
            item.message.dest.kind, str(self.options.get("forwarding_address") or item.message.dest.name)
        )
        self.lab.balancing.route(target, replace(item.message, dest=to, dest_no=-1, due=0, row=item.row))

    def _look(self, _: Broker, sent: tuple[MessageReference, int]) -> None:
        self._on_arrived(sent)

    def lose(self) -> None:
        """The other broker is gone: what was not answered goes back, and the bridge looks for a broker."""
        held, self.buffer, self.target = self.buffer, [], None
        if self in self.queue.consumers:
            self.queue.remove_consumer(self)
        self.queue.requeue(held)
        for item in held:
            self.lab.notes.returned(item, self.queue, self.broker, Reason.bridge_down)
        self.lab.soon(self.broker, 1, self.connect)


def deploy(broker: Broker) -> None:
    """Start the bridges of a broker that has become live; one whose queue is not there is not deployed."""
    broker.bridges = []
    for options in broker.spec.parts("bridges").values():
        queue = broker.journal.queues.get(str(options.get("queue_name")))
        if queue is not None:
            broker.bridges.append(Bridge(broker, queue, options))
            broker.lab.soon(broker, 1, broker.bridges[-1].connect)


def lost(one: Broker, other: Broker) -> None:
    """A broker has lost another: its bridges to it end."""
    for bridge in one.bridges:
        if bridge.target is other:
            bridge.lose()
