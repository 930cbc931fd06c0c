"""What may keep messages safe, as changes with a price: stores, persistence, options, pairs with failover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mqlab import products
from mqlab.errors import BadValue, UnknownName
from mqlab.experiments.changes import set_otherwise
from mqlab.experiments.chaos import Remedy
from mqlab.spec.action import Action, Consumer, Producer
from mqlab.spec.change import Change
from mqlab.spec.clients import Client
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.network import Broker, Network
from mqlab.spec.scenario import Scenario
from mqlab.spec.shape import OBJECT

PRICES: Mapping[str, float] = {"option": 1, "persistent": 1, "store": 2, "pair": 5}


def remedies(scenario: Scenario, prices: Mapping[str, float] | None = None) -> list[Remedy]:
    """Return what can be changed in a scenario, each with its price; raises `UnknownName` for another kind."""
    OBJECT.check(prices or {}, "prices")
    for kind, price in (prices or {}).items():
        if kind not in PRICES:
            raise UnknownName.of("kind of change", kind, PRICES)
        if not isinstance(price, (int, float)) or price < 0:
            raise BadValue(f"prices: {kind} is {price!r}; expected a number, 0 or more")
    costs = {**PRICES, **(prices or {})}
    found = [*_options(scenario, costs), *_persistent(scenario, costs)]
    if isinstance(scenario.network, Network):
        found += [*_stores(scenario.network, costs), *_failover_pairs(scenario.network, costs)]
    return found


def _options(scenario: Scenario, costs: Mapping[str, float]) -> Iterator[Remedy]:
    product = products.product_of_scenario(scenario)
    sent = dict.fromkeys(str(action.to) for action in scenario.actions if isinstance(action, Producer))
    for change in (one for name in sent for one in set_otherwise(product.write(scenario), name)):

        def apply(before: Scenario, change: Change = change) -> Scenario:
            made: Scenario = change.apply(before)  # type: ignore[assignment, arg-type]
            return made

        yield Remedy(change.text, "option", costs["option"], apply)


def _persistent(scenario: Scenario, costs: Mapping[str, float]) -> Iterator[Remedy]:
    """Yield that all producers send persistent messages, where one does not."""

    def persist(before: Scenario) -> Scenario:
        made = (replace(one, persistent=True) if isinstance(one, Producer) else one for one in before.actions)
        return replace(before, actions=tuple(made))

    if any(isinstance(one, Producer) and not one.persistent for one in scenario.actions):
        yield Remedy("persistent messages", "persistent", costs["persistent"], persist)


def _stores(network: Network, costs: Mapping[str, float]) -> Iterator[Remedy]:
    for broker in network.brokers:
        if broker.get("store") == "memory" and not broker.get("shared_store"):

            def keep(before: Scenario, name: str = broker.name) -> Scenario:
                return before.change(name, store="kahadb")

            yield Remedy(f"a store for {broker.name}", "store", costs["store"], keep)


def _failover_pairs(network: Network, costs: Mapping[str, float]) -> Iterator[Remedy]:
    for broker in network.brokers:
        slave = f"{broker.name}-slave"
        if not broker.get("shared_store") and slave not in network.names:

            def pair(before: Scenario, name: str = broker.name) -> Scenario:
                return with_slave(before, name)

            yield Remedy(f"a slave for {broker.name}, with failover", "pair", costs["pair"], pair)


def with_slave(scenario: Scenario, name: str) -> Scenario:
    """Return a scenario in which a broker is a pair on one shared store, and whatever leads to it knows both.

    Connectors get ``masterslave:(...)``, consumers and producers a connection with ``failover:(...)`` (Fuse 4,
    Shared file system master/slave, Example 4.8).
    """
    slave, both = f"{name}-slave", f"tcp://{name}:61616,tcp://{name}-slave:61616"
    network: Network = scenario.network
    shared: dict[str, object] = {
        "shared_store": f"{name}-store",
        "lock_acquire_sleep_interval_ms": 1000,
        "store": None,
    }
    master = network.broker(name).replace(*network.broker(name).connectors, **shared)
    brokers = [_knows(master if one.name == name else one, name, both) for one in network.brokers]
    second = next(one for one in brokers if one.name == name).replace(*master.connectors, name=slave)
    place = next(no for no, one in enumerate(brokers, 1) if one.name == name)
    made = network.made_of(*brokers[:place], second, *brokers[place:], edition=network.edition)
    uri = f"failover:({both})"
    return replace(scenario, network=made, actions=tuple(_reconnecting(scenario.actions, name, uri)))


def _knows(broker: Broker, name: str, both: str) -> Broker:
    def towards(connector: NetworkConnector) -> NetworkConnector:
        return connector.change(uri=f"masterslave:({both})") if connector.targets == (name,) else connector

    return broker.replace(*map(towards, broker.connectors))


def _reconnecting(actions: tuple[Action, ...], name: str, uri: str) -> Iterator[Action]:
    """Yield actions in which consumers and producers on a broker are on clients with its pair's address."""
    for action in actions:
        if isinstance(action, (Consumer, Producer)) and action.on == name:
            yield Client(f"{action.name}-client", uri=uri, at=action.at)
            yield replace(action, on=f"{action.name}-client")
        else:
            yield action
