"""Networks of ActiveMQ in which something fails at a time: clients, locks and updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from mqlab.products import guide_figures
from mqlab.products.activemq.files import lab_file
from mqlab.spec import (
    Broker,
    Consumer,
    Crash,
    Network,
    NetworkConnector,
    Pause,
    Producer,
    Restart,
    Resume,
    Scenario,
)
from mqlab.spec.action import Action
from mqlab.spec.clients import Client
from mqlab.spec.connector import TransportConnector
from mqlab.spec.json_types import JsonDict, JsonObject, JsonValue
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.spec.options.types import BrokerOptions, TransportConnectorOptions
    from mqlab.spec.scenario import Scenario

QUEUE = Destination("queue", "Q")
BOTH = "failover:(tcp://A1:61616,tcp://A2:61616)?randomize=false&maxReconnectDelay=200"
ONE = "failover:(tcp://A1:61616)?maxReconnectDelay=200"


def _shop(network: Network, *faults: Action, uri: str = BOTH) -> Scenario:
    """Return a client that reads what it sends, ten messages in 5 s."""
    return Scenario.of(
        network,
        Client("shop", uri=uri),
        Consumer("C", on="shop", reads=QUEUE),
        Producer("P", on="shop", to=QUEUE, sends=10, every="500ms"),
        *faults,
    )


def pair(**options: JsonValue) -> Network:
    """Return two brokers on one store in a shared file system."""
    return Network(
        *(
            Broker(name, shared_store="store", lock_acquire_sleep_interval_ms=1000, **options)
            for name in ("A1", "A2")
        )
    )


def two_lockers(*kinds: Literal["file", "lease"]) -> Network:
    """Return two brokers on one store, each with a locker of its own."""
    times: JsonDict = {"lock_acquire_sleep_interval_ms": 1000, "lock_keep_alive_period_ms": 500}
    names = zip(("A1", "A2"), kinds, strict=True)
    return Network(*(Broker(name, shared_store="store", locker=kind, **times) for name, kind in names))


def kept(**options: JsonValue) -> Scenario:
    """Return a first broker that dies with messages, which a consumer then looks for at its slave."""
    consumer = Consumer("C", on="A2", reads=QUEUE, at="20s")
    sends = Producer("P", on="A1", to=QUEUE, sends=5)
    return Scenario.of(pair(**options), sends, Crash("A1", at="2s"), consumer)


def crash(network: Network, uri: str = BOTH) -> Scenario:
    """Return a first broker that dies after two seconds."""
    return _shop(network, Crash("A1", at="2s"), uri=uri)


def one_lease(*holders: str) -> Network:
    """Return two brokers on one database with a lease of 1 s."""
    return Network(
        *(
            Broker(
                name,
                store="jdbc",
                locker="lease",
                lock_acquire_sleep_interval_ms=1000,
                lock_keep_alive_period_ms=500,
                lease_holder_id=holder,
            )
            for name, holder in zip(("A1", "A2"), holders, strict=True)
        )
    )


def hung(network: Network) -> Scenario:
    """Return a first broker that hangs for three seconds."""
    return _shop(network, Pause("A1", at="2s"), Resume("A1", at="5s"))


def two_ends(network: Network) -> Scenario:
    """Return a producer that tries A1 first, and a consumer that tries A2 first."""
    other = "failover:(tcp://A2:61616,tcp://A1:61616)?randomize=false&maxReconnectDelay=200"
    return Scenario.of(
        network,
        Client("shop", uri=BOTH),
        Client("desk", uri=other),
        Consumer("C", on="desk", reads=QUEUE),
        Producer("P", on="shop", to=QUEUE, sends=5),
    )


def told(**updates: Unpack[TransportConnectorOptions]) -> Network:
    """Return two brokers, of which the first may tell its clients of the other."""
    onward = NetworkConnector("out", uri="static:(tcp://A2:61616)", duplex=True)
    return Network(Broker("A1", TransportConnector(**updates), onward), Broker("A2"))


def told_of(pattern: str) -> Scenario:
    """Return a client that is told of the brokers whose names a pattern fits, and the first one dies."""
    return crash(told(update_cluster_clients=True, update_cluster_filter=pattern), ONE)


def onward(to: str) -> Scenario:
    """Return a pair of which A1 has a connector to *to*; messages are sent at A1 and read at B."""
    first, second = pair().brokers
    onward = NetworkConnector("out", uri=f"static:(tcp://{to}:61616)")
    net = Network(Broker(first.name, onward, **first.options), second, Broker("B"))
    return Scenario.of(net, Consumer("C", on="B", reads=QUEUE), Producer("P", on="A1", to=QUEUE, sends=5))


def towards(**options: Unpack[BrokerOptions]) -> Scenario:
    """Return A, whose connector leads to two brokers; a client of the second reads what is sent at A."""
    onward = NetworkConnector("out", uri="masterslave:(tcp://A1:61616,tcp://A2:61616)")
    net = Network(Broker("A", onward), Broker("A1", **options), Broker("A2", **options))
    reader = Client("desk", uri="failover:(tcp://A2:61616,tcp://A1:61616)?randomize=false")
    reads = Consumer("C", on="desk", reads=QUEUE)
    return Scenario.of(net, reader, reads, Producer("P", on="A", to=QUEUE, sends=5))


def one_alone(store: str) -> Network:
    """Return a pair on one store, and a third broker on the one told."""
    third = Broker("A3", shared_store=store, lock_acquire_sleep_interval_ms=1000)
    return Network(*pair().brokers, third)


def lone_master(**options: Unpack[BrokerOptions]) -> Scenario:
    """Return a master of 5.5 that nobody is a slave of, and a producer at it."""
    sends = Producer("P", on="M", to=QUEUE, sends=5)
    return Scenario.of(Network(Broker("M", **options), edition="5.5"), sends)


def restarts(slave: JsonObject, master: JsonObject) -> Scenario:
    """Return a master of 5.5 that dies and comes back, whose slave has taken over meanwhile."""
    network = Network(Broker("A1", **master), Broker("A2", **slave), edition="5.5")
    return _shop(network, Crash("A1", at="2s"), Restart("A1", at="4s"))


def lease() -> Scenario:
    """Return the figure of a lease that is shorter than its renewal."""
    return lab_file.read(guide_figures.find("unsafe:lease")["scenario"])
