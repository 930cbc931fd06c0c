"""What parts of one run have nothing to do with each other, so that each can be played by itself.

Destinations share brokers and lines, but a line without jitter, loss or bandwidth carries what is sent
over it as if it were alone, and a broker without limits handles each message when it comes. Two
destinations are then coupled only by somebody who uses both, or by a name for both (a wildcard). What would
make a part wait for another is refused: an action without a time of its own begins when the whole network is
at rest. A network of several that are not joined is the same case, with one name for two queues.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NoReturn

from mqlab.errors import BadValue
from mqlab.spec import Network, Scenario
from mqlab.spec import action as a
from mqlab.spec.action import Action
from mqlab.spec.options import TITLES
from mqlab.spec.values import Destination, duration

PLAIN = ("advisory_support",)  # options of a broker that say the same of each destination
FRAME = (a.Start, a.Settle, a.Snapshot)  # what a script begins and ends with
# Acts of one consumer, which is named by this attribute.
OF_CONSUMER = {
    a.Receive: "consumer",
    a.Close: "consumer",
    a.Acknowledge: "consumer",
    a.Commit: "who",
    a.Rollback: "who",
    a.Recover: "who",
    a.Pause: "who",
    a.Resume: "who",
}
# How the names of advisories and dead letters begin, of virtual topics and their queues.
FILLED = ("ActiveMQ.", "VirtualTopic.", "Consumer.")
Key = tuple[object, ...]


def parts(scenario: Scenario, jitter: int) -> list[Scenario]:
    """Return the same network with a part of the actions each, in the order of their first ones.

    Raises `BadValue` that names what couples the whole of it.
    """
    if scenario.product != "activemq":
        _refuse(f"what an {TITLES[scenario.product]} lab does at one time depends on all of its parts")
    if jitter:
        _refuse("one generator draws the jitter of all links")
    _check_network(scenario.network)
    first, *others = scenario.actions or (None,)
    own = [action for action in others if not isinstance(action, FRAME) or action.at is not None]
    rest = [action for action in others if isinstance(action, FRAME) and action.at is None]
    if scenario.pace != "rest" or type(first) is not a.Start or others != [*own, *rest]:
        _refuse("its script does not begin with a Start and go on with the actions of clients")
    if not own:
        _refuse("it has no clients")
    coupled = _Coupled(scenario.network, own)
    groups: dict[Key, list[Action]] = {}
    for action in own:
        groups.setdefault(coupled.root(coupled.client(action)), []).append(action)
    return [Scenario(scenario.network, (first, *group, *rest), scenario.about) for group in groups.values()]


def check_times(scenario: Scenario, rest: int) -> None:
    """Raise `BadValue` for an action that comes before the network is at rest from its start, at *rest* us."""
    for action in scenario.actions:
        if action.at is not None and duration(action.at) <= rest:
            _refuse(
                f"{_name(action)} comes at {action.at}, and the start takes until "
                f"{rest / 1000:g} ms; expected a later time"
            )


def _refuse(why: str) -> NoReturn:
    raise BadValue(f"this run cannot be split into independent parts: {why}; omit shards=")


def _used(action: Action) -> tuple[Destination, ...]:
    if isinstance(action, a.Consumer):
        return action.reads.elements()
    return action.to.elements() if isinstance(action, a.Producer) else ()


def _name(action: Action) -> str:
    called = getattr(action, OF_CONSUMER.get(type(action), "name"), "")
    return f"{type(action).__name__} {called}".strip()


def _check_network(network: Network) -> None:
    """Raise `BadValue` for what a broker shares out among all destinations."""
    for broker in network.brokers:
        shared = [name for name in broker.options if name not in PLAIN]
        if shared or broker.policies or broker.composites or broker.transport.pairs:
            what = ", ".join(
                [
                    *shared,
                    *["policies"] * bool(broker.policies),
                    *["composites"] * bool(broker.composites),
                    *["a transport connector"] * bool(broker.transport.pairs),
                ]
            )
            _refuse(f"broker {broker.name} has {what}, which may couple its destinations")
        for connector in broker.connectors:
            where = f"{broker.name}/{connector.name}"
            if not connector.targets:
                _refuse(f"connector {where} finds its brokers by itself")
            static = connector.get("statically_included_destinations", network.edition)
            if any(Destination.parse(text).is_pattern for text in static):
                _refuse(f"connector {where} has one subscription for all that a wildcard names")


class _Coupled:
    """Which clients and destinations belong together: a forest of sets."""

    def __init__(self, network: Network, actions: list[Action]) -> None:
        self.above: dict[Key, Key] = {}
        for broker, connector in network.connectors():
            for target in connector.targets:
                self.tie(("broker", broker.name), ("broker", target))
        self.wild = {one.kind for action in actions for one in _used(action) if one.has_wildcard}
        for action in actions:
            self.join(action)

    def root(self, key: Key) -> Key:
        """Return who stands for a set."""
        while self.above.get(key, key) != key:
            key = self.above[key]
        return key

    def tie(self, one: Key, other: Key) -> None:
        """Let two belong together."""
        self.above[self.root(other)] = self.root(one)

    def client(self, action: Action) -> Key:
        """Return the key of the client that an action is about; raises `BadValue` for any other action."""
        if isinstance(action, (a.Consumer, a.Producer)):
            return "client", action.name
        if type(action) not in OF_CONSUMER:
            _refuse(f"{_name(action)} acts on the whole network")
        return "client", getattr(action, OF_CONSUMER[type(action)])

    def join(self, action: Action) -> None:
        """Tie a client to what it uses."""
        own = self.client(action)
        if action.at is None:
            _refuse(f"{_name(action)} has no time (at=) and waits until the whole network is at rest")
        if isinstance(action, (a.Consumer, a.Producer)):
            for key in self._shared(action):
                self.tie(key, own)

    def _shared(self, action: a.Consumer | a.Producer) -> Iterator[Key]:
        """Yield what a client uses that others may use, too."""
        if action.others or action.session is not None:
            _refuse(f"{_name(action)} may be on several brokers, or in a session with others")
        yield "connection", action.connection or action.name
        if isinstance(action, a.Consumer) and action.durable:
            yield "durable", action.client_id or action.name
        place = self.root(("broker", action.on))
        for dest in _used(action):
            if dest.name.startswith(FILLED) or dest.is_temporary:
                _refuse(f"{_name(action)} uses {dest}, which brokers fill from other destinations")
            yield "destination", place, dest.kind, "any" if dest.kind in self.wild else dest.name
