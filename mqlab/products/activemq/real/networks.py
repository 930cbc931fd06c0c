"""Scripts of a network of ActiveMQ brokers: how it starts, what ends, and when its bridges are up."""

from __future__ import annotations

import time
from collections.abc import Iterable

from mqlab.products.activemq.real.brokers import Brokers, expected_bridges, sets_of
from mqlab.real.producers import browse
from mqlab.real.steps import Script, Step
from mqlab.spec import Network
from mqlab.spec.member import BrokerSettings
from mqlab.spec.uri import parse

PATIENCE_MS = 20_000  # that a step waits for something, unless told


def waves(network: Network) -> list[list[str]]:
    """Return the brokers in the order in which they start, several at once; slaves come last.

    >>> from mqlab.spec import Broker, NetworkConnector
    >>> waves(Network(Broker("A", NetworkConnector("ab", uri="static:(tcp://B:1)")), Broker("B")))
    [['B'], ['A']]
    """
    stores, taken = sets_of(network), set[str]()
    slaves = []
    for name in network.names:
        if stores.get(name) in taken:
            slaves.append(name)
        taken.update({stores[name]} if name in stores else ())
    left = [broker for broker in network.brokers if broker.name not in slaves]
    found: list[list[str]] = []
    while left:
        names = {broker.name for broker in left}
        ready = [b.name for b in left if not any(names & set(c.targets) - {b.name} for c in b.connectors)]
        found.append(ready or [left[0].name])
        left = [broker for broker in left if broker.name not in found[-1]]
    return [*found, slaves] if slaves else found


class NetworkScript(Script):
    """Does the steps of a network: each ends when bridges are up again and nothing moves.

    By the pace of calls it ends when its call has come back. A client with an address knows the brokers that it
    lists, and tries them in that order.
    """

    brokers: Brokers

    def __init__(self, brokers: Brokers, until: float, pace: str = "rest") -> None:
        super().__init__(brokers, until, pace)
        self.clients: dict[str, list[str]] = {}

    def do(self, step: Step) -> None:
        """Do one step; what a client does, it does at the brokers of its address."""
        if "client" in step and step["do"] in ("open_consumer", "send"):
            step = {**step, "broker": self.clients[step["client"]]}
        super().do(step)

    def rest(self) -> None:
        """Wait until nothing moves; by the pace of calls nobody does."""
        if not self.by_calls:
            super().rest()

    def do_connect(self, step: Step) -> None:
        """Note the brokers of a client's address, and wait until one of them serves."""
        leaves = parse(step["uri"]).leaves()
        self.clients[step["client"]] = [leaf.host for leaf in leaves if leaf.host is not None]
        if not step.get("in_background"):
            self.do_wait_connected(step)

    def do_wait_connected(self, step: Step) -> None:
        """Wait until a broker of a client's address serves, or the one that is named."""
        names = [step["to"]] if "to" in step else self.clients[step["client"]]
        self._await(step, f"client {step['client']} is not connected", names)

    def do_wait_master(self, step: Step) -> None:
        """Wait until one of the brokers serves."""
        self._await(step, f"none of {', '.join(step['brokers'])} serves", step["brokers"])

    def _await(self, step: Step, problem: str, names: Iterable[str]) -> None:
        if not self.wait_until(lambda: any(map(self.brokers.serves, names)), _patience(step)):
            self.problems.append(problem)

    def do_wait_bridge(self, step: Step) -> None:
        """Wait until a bridge is up."""
        here, there = step["from"], step["to"]
        if not self.wait_until(lambda: self.brokers.is_bridged(here, there), _patience(step)):
            self.problems.append(f"no bridge from {here} to {there}")

    def do_host_down(self, step: Step) -> None:
        """Kill all brokers of a host."""
        edition = self.network.edition
        for broker in self.network.brokers:
            if BrokerSettings.of(broker, edition).host == step["host"]:
                self.brokers.end(broker.name, orderly=False)
        self.rest()

    @property
    def network(self) -> Network:
        """The network that is played."""
        return self.brokers.network

    def do_start(self, step: Step) -> None:
        """Start all brokers, those first that connectors lead to: so bridges come up in their order.

        Of brokers that share a store the first is the master.
        """
        for wave in waves(self.network):
            self.brokers.start(wave)
        self.bridged()

    def bridged(self) -> None:
        """Wait until the bridges between the brokers that serve are up."""
        serving = [name for name in self.network.names if self.brokers.serves(name)]
        self.await_bridges(expected_bridges(self.network, serving))
        self.rest()

    def await_bridges(self, count: int) -> None:
        """Wait until so many bridges have come up since the beginning, or time is over."""
        self.wait_until(lambda: self.brokers.bridges() >= count)

    def do_start_broker(self, step: Step) -> None:
        """Start a broker again, and wait until bridges to it are back."""
        before = self.brokers.bridges()
        name = step["broker"]
        if step.get("broker_id") == "new":
            self.brokers.rename(name)
        self.brokers.start([name])
        if self.by_calls:
            time.sleep(step.get("wait_ms", 0) / 1000)
            return
        touching = sum(
            1
            for b, c in self.network.connectors()
            if (b.name == name or name in c.targets) and all(map(self.brokers.is_running, (b.name, *c.targets)))
        )
        self.await_bridges(before + touching)
        self.rest()

    def do_stop_broker(self, step: Step) -> None:
        """Stop a broker in an orderly way; a slave of its set takes over."""
        self._end(step["broker"], orderly=True)

    def do_kill(self, step: Step) -> None:
        """Kill a broker's process; a slave of its set takes over."""
        self._end(step["broker"], orderly=False)

    def _end(self, name: str, *, orderly: bool) -> None:
        """End a broker; whoever led to it, connectors and clients, goes to the slave that takes over."""
        before = self.brokers.bridges()
        self.brokers.end(name, orderly=orderly)
        if self.by_calls:
            return
        stores = sets_of(self.network)
        peers = {n for n, store in stores.items() if n != name and store == stores.get(name)}
        self.wait_until(lambda: not peers or any(map(self.brokers.serves, peers)))
        onward = sum(
            bool(peers & set(c.targets)) and self.brokers.serves(b.name) for b, c in self.network.connectors()
        )
        self.await_bridges(before + onward)
        for consumer in self.open.values():
            if len(consumer.places) > 1:
                consumer.wait_until_open()
        self.rest()

    def state(self, name: str) -> dict[str, object]:
        """Return whether a broker serves (by calls: its role), and what lies in its queues: message numbers."""
        if self.by_calls and name not in self.brokers.begun:
            return {}  # the lab tells nothing of it, either
        told: dict[str, object] = {"role": self.brokers.role(name)} if self.by_calls else {"running": False}
        if not (self.brokers.is_running(name) and self.brokers.serves(name)):
            return told
        found = {}
        for queue in self.brokers.queues(name):
            waiting = browse(self.places(name), queue)
            found[queue] = {"depth": len(waiting), "waiting": sorted(waiting)}
        return {**(told if self.by_calls else {"running": True}), "queues": found}


def _patience(step: Step) -> float:
    """Return how long a step waits at most, in seconds."""
    return float(step.get("max_ms", PATIENCE_MS)) / 1000
