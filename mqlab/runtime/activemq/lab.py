"""The lab: a network at work, step by step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import asdict
from random import Random
from typing import Any

from mqlab.errors import BadValue, UnknownName
from mqlab.formats import lab as lab_files
from mqlab.runtime.activemq import request_reply, snapshot
from mqlab.runtime.activemq.broker import Broker
from mqlab.runtime.activemq.clients.consumer import Consumer
from mqlab.runtime.activemq.clients.producer import Producer
from mqlab.runtime.activemq.connector import Connector
from mqlab.runtime.activemq.masterslave import SharedStore
from mqlab.runtime.activemq.store import Store
from mqlab.runtime.kernel.clock import Clock
from mqlab.runtime.kernel.link import Link, Timing
from mqlab.spec import Broker as BrokerSpec
from mqlab.spec import action as actions
from mqlab.spec.edition import RULES, EditionRules
from mqlab.spec.network import Network
from mqlab.spec.scenario import Scenario
from mqlab.spec.values import duration
from mqlab.trace.record import Recorder
from mqlab.trace.trace import Trace

USUAL = Timing()


class Lab:
    """A running network. `do` something to it, then let time go on by `step`, `until` or `rest`.

    *seed* feeds the only generator; *jitter* (such as ``"2ms"``) is added to the 1 ms that each
    message takes over a link, at random. A lab that is given a network starts it. *rules* stand in
    for those of the network's edition, one of which may be asked what it does; *timing* for the
    usual one, in which nothing but links takes time.

    >>> from mqlab.spec import Broker, Network, Producer, Queue
    >>> lab = Lab(Network(Broker("A")), seed=7)
    >>> lab.do(Producer("P", "A", 2, Queue("Q"))); lab.rest(); lab.trace.waiting()
    {'A': {'queue://Q': [1, 2]}}
    """

    timed = False

    def __init__(
        self, network: Network, seed: int = 0, jitter: int | str = 0, started: bool = True,
        about: Mapping[str, Any] | None = None, limit: int | None = None,
        rules: EditionRules | None = None, timing: Timing = USUAL,
    ) -> None:  # fmt: skip
        self.network, self.seed, self.edition = network, seed, network.edition
        self.jitter = duration(jitter, "jitter")
        self.about = dict(about or {})
        self.rules, self.timing = rules or RULES[network.edition], timing
        self.random = Random(f"mqlab:{seed}")
        self.clock = Clock()
        self.recorder = Recorder()
        self.limit = limit
        self.add, self.add_node = self.recorder.add, self.recorder.add_node
        self.name_link, self.name_destination = (
            self.recorder.name_link,
            self.recorder.name_destination,
        )
        self.name_subscription = self.recorder.name_subscription
        self.ids = self.numbers = self.advisories = 0
        self.done: list[actions.Action] = []
        self.consumers: dict[str, Consumer] = {}
        self.senders: list[Producer] = []
        self.shared_stores: dict[str, Store] = {}
        self.producers: dict[str, int] = {}
        self.snapshots: dict[str, Any] = {}
        self.replies: dict[str, dict[str, int]] = {}
        self.problems: list[str] = []
        self.brokers = {spec.name: Broker(self, spec) for spec in network.brokers}
        self.connectors = [Connector(self, b.name, c) for b, c in network.connectors()]
        if started:
            self.do(actions.Start())
            self.rest()

    # What a user does

    def do(self, action: actions.Action) -> None:
        """Begin *action*; time does not go on until `step`, `until` or `rest`."""
        Scenario(self.network, (*self.done, action))  # says what is wrong with it
        self.done.append(action)
        _DO[type(action)](self, action)

    def step(self) -> bool:
        """Let the next thing happen; False when nothing moves any more."""
        return self.clock.step()

    def until(self, time: int | str) -> None:
        """Let time go on until *time* (such as ``"2s"``) after the lab's beginning."""
        self.clock.rest(duration(time))

    def rest(self) -> None:
        """Let time go on until nothing moves any more."""
        if self.limit is None:
            self.clock.rest()
            return
        while self.clock.step():
            if self.recorder.count > self.limit:
                raise BadValue(
                    f"more than {self.limit} events, stopped at {self.clock.now / 1000:g} ms; with "
                    "several routes between brokers set suppressDuplicateQueueSubscriptions and "
                    "decreaseNetworkConsumerPriority, or a lower networkTTL"
                )

    def finish_sending(self) -> None:
        """Let time go on until the latest producer has sent all and closed its connection."""
        producer = self.senders[-1]
        while not producer.done and self.clock.step():
            pass
        self.clock.rest(self.clock.now + 2 * self.timing.link + (self.timing.closing or 0))

    def fork(self) -> Lab:
        """Return a copy of the lab as it is now; the two go their own ways."""
        return copy.deepcopy(self)

    @property
    def trace(self) -> Trace:
        """All that has happened so far."""
        scenario = Scenario(self.network, tuple(self.done), self.about)
        header = {
            "scenario": lab_files.write(scenario), "seed": self.seed, "edition": self.edition,
            "jitter": self.jitter, "snapshots": self.snapshots, "problems": list(self.problems),
            "request_reply": self.replies,
        }  # fmt: skip
        if self.timing != USUAL:
            header["timing"] = asdict(self.timing)
        return self.recorder.trace(header)

    # What the parts ask for

    def broker(self, name: str) -> Broker:
        """Return the broker called *name*."""
        if name not in self.brokers:
            raise UnknownName.of("broker", name, self.brokers)
        return self.brokers[name]

    def clients_of(self, broker: Broker) -> list[Consumer | Producer]:
        """Return the clients connected to a broker."""
        return [c for c in self.clients() if c.broker is broker and not c.closed]

    def clients(self) -> list[Consumer | Producer]:
        """Return all clients, consumers first."""
        return [*self.consumers.values(), *self.senders]

    def store_of(self, spec: BrokerSpec) -> Store:
        """Return the store of a broker: its own, or the one that it shares."""
        name = spec.get("shared_store", self.edition)
        if name is None:
            return Store(lasting=spec.get("store", self.edition) != "memory")
        return self.shared_stores.setdefault(name, SharedStore())

    def serving(self, names: tuple[str, ...]) -> Broker | None:
        """Return the first broker of a failover address that serves."""
        return next((self.broker(name) for name in names if self.broker(name).running), None)

    def bring_up(self, broker: Broker) -> None:
        """A broker has come up: let clients and connectors find it."""
        for client in self.clients():
            client.find_broker()
        for connector in self.connectors_of(broker):
            connector.start()

    def connectors_of(self, broker: Broker) -> list[Connector]:
        """Return the connectors that a broker's coming up concerns, its own first."""
        mine = [c for c in self.connectors if c.owner == broker.name]
        for connector in mine:
            connector.wanted = True
        theirs = [c for c in self.connectors if c.wanted and broker.name in c.spec.targets]
        return [*mine, *(c for c in theirs if c not in mine)]

    def new_link(self) -> Link:
        """Return one direction of a new connection."""
        return Link(self.clock, self.timing.link, self.jitter, self.random)

    def new_id(self) -> int:
        """Return an id that no other consumer of this lab has."""
        self.ids += 1
        return self.ids

    def reserve_numbers(self, count: int) -> int:
        """Return the first of *count* message numbers."""
        first = self.numbers + 1
        self.numbers += count
        return first

    def broker_name(self, id: str) -> str:
        """Return the name of the broker with that id, an earlier life's too."""
        return id if id in self.brokers else id.rpartition("#")[0]

    def problem(self, text: str) -> None:
        """Note what went wrong for a client."""
        self.problems.append(text)

    def produce(self, spec: actions.Producer, headers: Mapping[str, Any] | None = None) -> None:
        """Let a producer begin to send."""
        broker = self.serving((spec.on, *spec.others)) or self.broker(spec.on)
        producer = Producer(self, spec, broker, headers)
        self.senders = [sender for sender in self.senders if not sender.closed] + [producer]
        producer.start()

    def producer_node(self, name: str, home: str) -> int:
        """Return the number of a producer; sending again is no new one."""
        key = f"{name}@{home}"
        if key not in self.producers:
            self.producers[key] = self.add_node(name, "producer", home)
        return self.producers[key]

    # One method per action

    def _start(self, action: actions.Start) -> None:
        for broker in self.brokers.values():
            broker.start()
        for connector in self.connectors:
            if connector.spec.get("auto_start"):
                connector.start()
                self.rest()  # each bridge is up before the next connector starts

    def _restart(self, action: actions.Restart) -> None:
        broker = self.broker(action.broker)
        if action.broker_id not in ("fixed", "new"):
            raise BadValue(f"broker_id {action.broker_id!r}: write 'fixed' or 'new'")
        broker.start(new_id=action.broker_id == "new")
        if not broker.running:
            return  # a slave
        for client in self.clients():
            client.find_broker()
        for connector in self.connectors_of(broker):
            connector.start()
            self.rest()

    def _stop(self, action: actions.Stop) -> None:
        broker = self.broker(action.broker)
        broker.stop()
        for connector in self.connectors:
            connector.lost(broker)

    def _connector(self, name: str) -> Connector:
        return next(c for c in self.connectors if c.name == name)

    def _start_connector(self, action: actions.StartConnector) -> None:
        self._connector(action.connector).start()

    def _stop_connector(self, action: actions.StopConnector) -> None:
        self._connector(action.connector).stop()

    def _open(self, action: actions.Consumer) -> None:
        if action.name in self.consumers and not self.consumers[action.name].closed:
            raise BadValue(
                f"consumer {action.name!r} is open already; close it, or take a new name"
            )
        broker = self.serving((action.on, *action.others))
        consumer = Consumer(self, action, broker or self.broker(action.on))
        self.consumers[action.name] = consumer
        if broker is not None:
            consumer.open()
        else:
            consumer.closed = True
            self.problem(f"{action.name}: broker {action.on} is not running")

    def _close(self, action: actions.Close) -> None:
        self.consumers[action.consumer].close(action.unsubscribe)

    def _settle(self, action: actions.Settle) -> None:
        self.rest()
        while (quiet := self.recorder.moved_at() + duration(action.quiet)) > self.clock.now:
            self.clock.rest(quiet)
            self.rest()

    def _snapshot(self, action: actions.Snapshot) -> None:
        self.snapshots[action.label] = snapshot.take(self)
        for broker in self.brokers.values() if self.rules.look_pages_in else ():
            broker.looked_into()


def _nothing(lab: Lab, action: actions.Action) -> None:
    """Settling is what every action ends in."""


Do = Callable[[Lab, Any], None]
_DO: dict[type[actions.Action], Do] = {
    actions.Start: Lab._start,
    actions.Restart: Lab._restart,
    actions.Stop: Lab._stop,
    actions.StartConnector: Lab._start_connector,
    actions.StopConnector: Lab._stop_connector,
    actions.Consumer: Lab._open,
    actions.Close: Lab._close,
    actions.Producer: lambda lab, action: lab.produce(action),
    actions.Receive: lambda lab, action: lab.consumers[action.consumer].allow(action.count),
    actions.Resume: lambda lab, action: lab.consumers[action.who].allow(None),
    actions.Pause: lambda lab, action: lab.consumers[action.who].allow(0),
    actions.Acknowledge: lambda lab, action: lab.consumers[action.consumer].settle(action.count),
    actions.Commit: lambda lab, action: lab.consumers[action.who].settle(None),
    actions.Rollback: lambda lab, action: lab.consumers[action.who].give_back(),
    actions.RequestReply: request_reply.play,
    actions.Wait: lambda lab, action: lab.clock.rest(lab.clock.now + duration(action.time)),
    actions.WaitForSends: _nothing,
    actions.Settle: Lab._settle,
    actions.Snapshot: Lab._snapshot,
}
