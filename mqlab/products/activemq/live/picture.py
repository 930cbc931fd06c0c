"""What a picture of a running network of ActiveMQ shows beside what stands there: its connectors."""

from __future__ import annotations

from collections.abc import Iterator

from mqlab.products.activemq.files import lab_file
from mqlab.products.observation import Scenery
from mqlab.spec.network import Network
from mqlab.spec.running import Running, RunningBridge
from mqlab.spec.scenario import Scenario


def scenery(network: Network, running: Running) -> Scenery:
    """Return what a picture shows of a running network."""
    owners = {(one.remote, one.broker): one.connector for one in running.bridges if not one.by_duplex}

    def name(one: RunningBridge) -> str:
        if not one.by_duplex:
            return f"{one.broker}/{one.connector}"
        return f"{one.remote}/{owners.get((one.broker, one.remote), one.connector)} (duplex back)"

    return Scenery(
        "activemq",
        network.edition,
        lab_file.write(Scenario(network)),
        network.names,
        name,
        tuple(_down(network, running)),
        tuple(end.name for end in network.around.endpoints),
    )


def _down(network: Network, running: Running) -> Iterator[tuple[str, str, str]]:
    """Yield the connectors without a bridge, each with its ends."""
    standing = {(one.broker, one.connector) for one in running.bridges}
    for broker, connector in network.connectors():
        if (broker.name, connector.name) not in standing:
            for target in connector.targets[:1]:
                if target in network.names:
                    yield f"{broker.name}/{connector.name}", broker.name, target
