"""One of the two sides of a change: a broker with what its network says for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.spec.artemis import ArtemisNetwork
from mqlab.spec.artemis.broker import AddressQueue, Broker
from mqlab.spec.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class Side:
    """A broker before or after a change, with what its network says for it."""

    network: ArtemisNetwork
    broker: Broker
    cluster: JsonObject
    settings: Mapping[str, JsonObject]
    queues: tuple[AddressQueue, ...]

    @staticmethod
    def of(network: ArtemisNetwork, name: str) -> Side:
        """Return a broker of a network."""
        broker = next(one for one in network.brokers if one.name == name)
        queues = tuple(queue for queue in network.queues if queue.is_at(name))
        return Side(network, broker, network.cluster_of(broker), network.settings_of(broker), queues)

    @property
    def clustered(self) -> bool:
        """Whether it has a cluster connection."""
        return self.cluster.get("clustered") is not False

    @property
    def to(self) -> list[str]:
        """The brokers that its static connectors lead to."""
        listed = self.cluster.get("to")
        others = [name for name in self.network.names if name != self.broker.name]
        return others if listed is None else [listed] if isinstance(listed, str) else list(listed)
