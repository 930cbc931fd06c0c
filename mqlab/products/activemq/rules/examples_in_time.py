"""Networks of ActiveMQ in which something fails at a time: clients, locks and updates."""

from __future__ import annotations

from typing import Any

from mqlab.checks.example import Example, mended
from mqlab.products.activemq.figures import timed
from mqlab.spec import (
    Broker,
    Consumer,
    Crash,
    Network,
    NetworkConnector,
    Pause,
    Producer,
    Resume,
    Scenario,
)
from mqlab.spec.action import Action
from mqlab.spec.clients import Client
from mqlab.spec.network import TransportConnector
from mqlab.spec.values import Destination

QUEUE = Destination("queue", "Q")
BOTH = "failover:(tcp://A1:61616,tcp://A2:61616)?randomize=false&maxReconnectDelay=200"
ONE = "failover:(tcp://A1:61616)?maxReconnectDelay=200"


def _shop(network: Network, *faults: Action, uri: str = BOTH) -> Scenario:
    """Return a client that reads what it sends, ten messages in 5 s."""
    return Scenario.of(
        network,
        Client("shop", uri=uri), Consumer("C", on="shop", reads=QUEUE),
        Producer("P", on="shop", to=QUEUE, sends=10, every="500ms"), *faults,
    )  # fmt: skip


def _set(**options: Any) -> Network:
    """Return two brokers on one store in a shared file system."""
    return Network(*(
        Broker(name, shared_store="store", lock_acquire_sleep_interval_ms=1000, **options)
        for name in ("A1", "A2")
    ))  # fmt: skip


def _crash(network: Network, uri: str = BOTH) -> Scenario:
    return _shop(network, Crash("A1", at="2s"), uri=uri)


def _lease(*holders: str) -> Network:
    """Return two brokers on one database with a lease of 1 s."""
    return Network(*(
        Broker(name, store="jdbc", locker="lease", lock_acquire_sleep_interval_ms=1000,
               lock_keep_alive_period_ms=500, lease_holder_id=holder)
        for name, holder in zip(("A1", "A2"), holders, strict=True)
    ))  # fmt: skip


def _hung(network: Network) -> Scenario:
    return _shop(network, Pause("A1", at="2s"), Resume("A1", at="5s"))


def _two_ends(network: Network) -> Scenario:
    """Return a producer that tries A1 first, and a consumer that tries A2 first."""
    other = "failover:(tcp://A2:61616,tcp://A1:61616)?randomize=false&maxReconnectDelay=200"
    return Scenario.of(
        network,
        Client("shop", uri=BOTH), Client("desk", uri=other), Consumer("C", on="desk", reads=QUEUE),
        Producer("P", on="shop", to=QUEUE, sends=5),
    )  # fmt: skip


def _told(**updates: Any) -> Network:
    """Return two brokers, of which the first may tell its clients of the other."""
    onward = NetworkConnector("out", uri="static:(tcp://A2:61616)", duplex=True)
    return Network(Broker("A1", TransportConnector(**updates), onward), Broker("A2"))


def _told_of(pattern: str) -> Scenario:
    return _crash(_told(update_cluster_clients=True, update_cluster_filter=pattern), ONE)


def _onward(to: str) -> Scenario:
    """Return a pair of which A1 has a connector to *to*; messages are sent at A1 and read at B."""
    first, second = _set().brokers
    onward = NetworkConnector("out", uri=f"static:(tcp://{to}:61616)")
    net = Network(Broker(first.name, onward, **first.options), second, Broker("B"))
    return Scenario.of(
        net, Consumer("C", on="B", reads=QUEUE), Producer("P", on="A1", to=QUEUE, sends=5)
    )


_LEASE = timed.figure("unsafe:lease").scenario

PAIRS = {
    "reconnect-zero": Example(_crash(_set(), f"{BOTH}&maxReconnectAttempts=0"), _crash(_set())),
    "lock-unsafe": Example(_crash(_set(file_system="nfs3")), _crash(_set(file_system="local"))),
    "lock-off": Example(_two_ends(_set(use_lock=False)), _two_ends(_set())),
    "lease-short": mended(_LEASE, {name: {"lock_keep_alive_period_ms": 500} for name in "AB"}),
    "lease-name": Example(_hung(_lease("same", "same")), _hung(_lease("one", "two"))),
    "update-off": Example(_crash(_told(update_cluster_clients_on_remove=True), ONE),
                       _crash(_told(update_cluster_clients=True), ONE)),
    "filter-expression": Example(_told_of("*A*"), _told_of(".*A.*")),
    "filter-blank": Example(_told_of("X.*, A.*"), _told_of("X.*,A.*")),
    "own-set": Example(_onward("A2"), _onward("B")),
}  # fmt: skip
