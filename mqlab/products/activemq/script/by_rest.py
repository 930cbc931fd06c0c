"""What is done to brokers, and to clients that are on a broker by themselves.

Such a client has a connection of its own, over links alone: it knows no address but a list of brokers,
the first of which that serves is its own. Whoever writes an address is a `ClientConnection` (see `acts`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mqlab.engine.lab import AT_ONCE, Completion
from mqlab.products.activemq.broker import snapshot
from mqlab.products.activemq.client import request_reply
from mqlab.products.activemq.client.direct_consumer import DirectConsumer
from mqlab.products.activemq.client.direct_producer import DirectProducer
from mqlab.spec import action as a
from mqlab.spec.values import duration

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.network.network_connector import DiscoveryNetworkConnector


class DirectScriptRunner:
    """Does the actions that need no address; `turns` are connectors that start one after the other."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.turns: deque[DiscoveryNetworkConnector] = deque()
        self.in_turn = False

    def runs(self, action: a.Action) -> bool:
        """Whether an action is one of these."""
        lab = self.lab
        if lab.by_calls:
            return False
        if isinstance(action, (a.Consumer, a.Producer)):
            return action.on in lab.brokers
        if isinstance(action, (a.Receive, a.Acknowledge, a.Close)):
            return action.consumer in lab.consumers
        if isinstance(action, (a.Commit, a.Rollback, a.Pause, a.Resume)):
            return action.who in lab.consumers
        return type(action) in _DO

    def do(self, action: a.Action) -> Completion:
        """Begin an action, and say when it is over."""
        return _DO[type(action)](self, action) or Completion()

    # Brokers and connectors

    def start(self, action: a.Start) -> Completion:
        """Start all brokers in order, then the connectors one by one: each bridge is up before the next."""
        self.in_turn = True
        for process in self.lab.processes.values():
            process.start()
        self.turns = deque(connector for connector in self.lab.connectors if connector.spec.get("auto_start"))
        return Completion(then=self.next_turn)

    def next_turn(self, _: None) -> None:
        """The next connector starts."""
        self.in_turn = False
        while self.turns:
            connector = self.turns.popleft()
            if connector.process.open and not connector.attempts:
                connector.start()
                self.lab.under_way = Completion(then=self.next_turn)
                return

    def starts_in_turn(self, process: BrokerService) -> bool:
        """Whether a broker's connectors wait for their turn."""
        return self.in_turn

    # Clients

    def open(self, action: a.Consumer) -> None:
        """Open a consumer on the first of its brokers that serves."""
        lab = self.lab
        broker = lab.serving((action.on, *action.others), action.name) or lab.broker(action.on)
        consumer = DirectConsumer(lab, action, broker)
        lab.consumers[action.name] = consumer
        consumer.open()

    def produce(self, spec: a.Producer, headers: Mapping[str, object] | None = None) -> DirectProducer:
        """Let a producer begin to send."""
        lab = self.lab
        broker = lab.serving((spec.on, *spec.others), spec.name) or lab.broker(spec.on)
        producer = DirectProducer(lab, spec, broker, headers)
        lab.senders = [sender for sender in lab.senders if not sender.closed] + [producer]
        producer.start()
        return producer

    def send(self, action: a.Producer) -> Completion:
        """Send; in the background, nobody waits for it."""
        producer = self.produce(action)
        if action.in_background:
            return AT_ONCE
        following = self.lab.script[0] if self.lab.script else None
        closes = following is not None and isinstance(getattr(following, "action", None), a.Close)
        if self.lab.timing.closing is not None and closes:
            # A consumer can go at once; anything else opens a connection, or settles, first.
            return Completion(has_sent, producer, then=self.on_sent)
        return Completion()

    def on_sent(self, _: DirectProducer) -> None:
        """A producer has sent all: it closes its connection."""
        timing = self.lab.timing
        wait = 2 * timing.link + self.lab.random_duration(timing.closing or 0)
        self.lab.under_way = Completion(deadline=self.lab.clock.now + wait)

    def settle(self, action: a.Settle) -> Completion:
        """Wait until nothing has moved for a while."""
        return Completion(then=self.on_rest, argument=action)

    def on_rest(self, action: a.Settle) -> None:
        """All has come to rest: is it long enough?"""
        lab = self.lab
        quiet = lab.recorder.moved_at() + duration(action.quiet)
        if quiet > lab.clock.now:
            lab.under_way = Completion(deadline=quiet, then=self.on_quiet, argument=action)

    def on_quiet(self, action: a.Settle) -> None:
        """It was quiet for long enough, unless something has come up."""
        self.lab.under_way = Completion(then=self.on_rest, argument=action)

    def snapshot(self, action: a.Snapshot) -> None:
        """Note the state of everything."""
        self.lab.snapshots[action.label] = snapshot.take(self.lab)
        for broker in self.lab.brokers.values() if self.lab.rules.look_pages_in else ():
            broker.looked_into()

    def wait(self, action: a.Wait) -> Completion:
        """Let time pass."""
        return Completion(deadline=self.lab.clock.now + duration(action.time))

    def nothing(self, action: a.Action) -> None:
        """Coming to rest is what every action ends in."""

    def close(self, action: a.Close) -> None:
        """Close a consumer."""
        self.lab.consumers[action.consumer].leave(action.unsubscribe)

    def receive(self, action: a.Receive) -> None:
        """Let a held consumer take so many."""
        self.lab.consumers[action.consumer].allow(action.count)

    def resume(self, action: a.Resume) -> None:
        """Let it take all."""
        self.lab.consumers[action.who].allow(None)

    def pause(self, action: a.Pause) -> None:
        """Let it take nothing."""
        self.lab.consumers[action.who].allow(0)

    def acknowledge(self, action: a.Acknowledge) -> None:
        """Settle what it has received."""
        self.lab.consumers[action.consumer].acknowledge(action.count)

    def commit(self, action: a.Commit) -> None:
        """Commit its session."""
        self.lab.consumers[action.who].acknowledge()

    def rollback(self, action: a.Rollback) -> None:
        """Give all back."""
        self.lab.consumers[action.who].give_back()

    def request_reply(self, action: a.RequestReply) -> Completion:
        """Let requests be answered."""
        return request_reply.begin(self, action)


def has_sent(producer: DirectProducer) -> bool:
    """Whether it has sent all and has the receipts."""
    return producer.done


_DO: dict[type[a.Action], Callable[[DirectScriptRunner, Any], Completion | None]] = {
    a.Start: DirectScriptRunner.start,
    a.Consumer: DirectScriptRunner.open,
    a.Producer: DirectScriptRunner.send,
    a.Close: DirectScriptRunner.close,
    a.Receive: DirectScriptRunner.receive,
    a.Resume: DirectScriptRunner.resume,
    a.Pause: DirectScriptRunner.pause,
    a.Acknowledge: DirectScriptRunner.acknowledge,
    a.Commit: DirectScriptRunner.commit,
    a.Rollback: DirectScriptRunner.rollback,
    a.RequestReply: DirectScriptRunner.request_reply,
    a.Wait: DirectScriptRunner.wait,
    a.WaitForSends: DirectScriptRunner.nothing,
    a.Settle: DirectScriptRunner.settle,
    a.Snapshot: DirectScriptRunner.snapshot,
}
