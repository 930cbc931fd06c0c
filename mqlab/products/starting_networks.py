"""The same few brokers in every product, for one story that is told in all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_uppercase
from typing import TYPE_CHECKING

from mqlab.errors import BadValue, MqlabError, shown
from mqlab.spec import artemis, openmq
from mqlab.spec.action import Action
from mqlab.spec.artemis.broker import AddressQueue
from mqlab.spec.artemis.broker import Broker as ArtemisBroker
from mqlab.spec.connector import NetworkConnector
from mqlab.spec.network import Broker, Network
from mqlab.spec.scenario import AnyNetwork, Scenario
from mqlab.spec.topology import SHORTEST
from mqlab.spec.values import Destination

if TYPE_CHECKING:
    from mqlab.spec.options.types import NetworkConnectorOptions

TITLES = {
    "activemq": "ActiveMQ, a network of brokers",
    "openmq": "OpenMQ, a conventional cluster",
    "artemis": "Artemis, a cluster",
}


def of_each(actions: Sequence[Action], brokers: int) -> Iterator[Scenario]:
    """Yield a scenario of each product; errors name the product that cannot do an action."""
    if type(brokers) is not int or not 1 <= brokers <= len(ascii_uppercase):
        raise BadValue(f"brokers is {shown(brokers)}; expected 1 to {len(ascii_uppercase)}")
    if any(isinstance(action, AnyNetwork) for action in actions):
        raise BadValue("compare_products makes the networks itself: pass actions alone, and brokers=2")
    names = list(ascii_uppercase[:brokers])
    queues = [one for action in actions for one in _destinations(action) if one.is_queue]
    for network in _networks(names, tuple(dict.fromkeys(queue.name for queue in queues))):
        title = TITLES[network.product]
        try:
            yield Scenario.of(network, *actions, title=title)
        except MqlabError as error:
            raise type(error)(f"{title}: {error}") from None


def _destinations(action: Action) -> Iterator[Destination]:
    fields = ("reads", "to", "destination")
    return (one for name in fields if isinstance(one := getattr(action, name, None), Destination))


def _networks(names: Sequence[str], queues: Sequence[str]) -> Iterator[AnyNetwork]:
    """Yield the brokers of each product, each connected to every other."""
    yield Network(
        *(Broker(name, *_connectors(name, names[no + 1 :]), store="kahadb") for no, name in enumerate(names))
    )
    yield openmq.Network(*names, model="master", master=names[0])
    yield artemis.Network(*map(ArtemisBroker, names), queues=tuple(map(AddressQueue, queues)))


def _connectors(name: str, others: Sequence[str]) -> Iterator[NetworkConnector]:
    options: NetworkConnectorOptions = {**SHORTEST, "duplex": True}
    for other in others:
        yield NetworkConnector(f"{name}-{other}", f"static:(tcp://{other}:61616)", **options)
