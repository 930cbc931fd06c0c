"""Scripts of a network of ActiveMQ brokers: how it starts, what ends, and when its bridges are up."""

from __future__ import annotations

from mqlab.products.activemq.real.brokers import Brokers, expected_bridges, sets_of
from mqlab.real.producers import browse
from mqlab.real.steps import Script, Step
from mqlab.spec import Network


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
    """Does the steps of a network: each ends when bridges are up again and nothing moves."""

    brokers: Brokers

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
        """Return whether a broker serves, and what lies in its queues: message numbers."""
        if not (self.brokers.is_running(name) and self.brokers.serves(name)):
            return {"running": False}
        found = {}
        for queue in self.brokers.queues(name):
            waiting = browse(self.places(name), queue)
            found[queue] = {"depth": len(waiting), "waiting": sorted(waiting)}
        return {"running": True, "queues": found}
