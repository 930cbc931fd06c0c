"""Network connectors in time: when a broker tries to reach another, and when its bridge is up.

Every address that the agent reports is a `DiscoveredService`: one attempt at a time, and after a failure the
agent's wait (Fuse 1, "Static discovery agent": 1, 2, 4 s ...). What goes over a bridge is the core's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.client import addresses as uris
from mqlab.products.activemq.client.discovery import (
    HEARD,
    known_agent,
    masterslave,
)
from mqlab.products.activemq.client.query import prefixed
from mqlab.products.activemq.network.back_off import ExponentialBackOff
from mqlab.products.activemq.network.bridge_configuration import NetworkBridgeConfiguration
from mqlab.products.activemq.network.discovered_service import DiscoveredService
from mqlab.products.activemq.transport.multicast import MulticastDiscoveryAgent
from mqlab.spec.connector import NetworkConnector

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.lab import Lab

LEVELS = 4  # of addresses inside of a connector's address


class DiscoveryNetworkConnector:
    """A network connector at work at one broker."""

    def __init__(self, lab: Lab, process: BrokerService, spec: NetworkConnector) -> None:
        self.lab, self.process, self.spec = lab, process, spec
        process.connectors.append(self)
        if spec.pairs not in lab.settings_of:  # a complete graph's are all alike
            lab.settings_of[spec.pairs] = NetworkBridgeConfiguration(spec, lab.edition, lab.rules)
        self.settings = lab.settings_of[spec.pairs]
        self.configured_name = spec.get("configured_name") or spec.name  # what the broker itself calls it
        self.attempts: list[DiscoveredService] = []
        self.agent: MulticastDiscoveryAgent | None = None
        self.uri = spec.uri
        self.found: uris.Composite | None = None  # its address taken apart, and what it leads to
        self.elements: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise `Refused` for an address with which the real broker does not start."""
        scheme, uri = known_agent(self.lab, self.uri), self.uri
        if scheme == "masterslave":
            self.found, self.elements = uris.split(uri), (masterslave(uri),)
        elif scheme in ("static", "simple"):
            self.found = uris.nested(uri, LEVELS)
            self.elements = self.found.elements
            if self.found.plain and uris.scheme_of(uri.partition(":")[2]) == "failover":
                self.elements = (uri.partition(":")[2],)

    def start(self) -> None:
        """Ask the agent for addresses and try them."""
        if uris.scheme_of(self.uri) in HEARD:
            self.agent = self.lab.lan.listen(self.uri, self)
            self.agent.own = self.lab.directory.address_of(self.process.name)
            return
        if self.found is None:
            return
        options = dict(self.found.options)
        extra = prefixed(options, "discovered.") if options else {}
        for element in dict.fromkeys(self.elements):  # there is one bridge to each address
            if any(not ExponentialBackOff.knows(key, text) for key, text in options.items()):
                element = uris.bare(element)  # what the agent does not know costs a list its own
            address = uris.with_options(element, extra) if extra else element
            attempt = DiscoveredService(self, address, ExponentialBackOff(options))
            self.attempts.append(attempt)
            self.lab.set_cause(attempt, self.lab.last.get(self.process, -1))
            attempt.connect()

    @property
    def runs(self) -> bool:
        """Whether it looks for others, or has found them."""
        return bool(self.attempts) or self.agent is not None

    def stop(self) -> None:
        """End all bridges."""
        attempts, self.attempts = self.attempts, []
        for attempt in attempts:
            attempt.stop()
        if self.agent is not None:
            self.lab.lan.listeners.remove(self.agent)
            self.agent = None

    # What a multicast agent tells

    def on_service(self, address: str) -> None:
        """A service was announced: one attempt at it, unless there is one."""
        if any(attempt.address == address and attempt.wanted for attempt in self.attempts):
            return
        attempt = DiscoveredService(self, address, None)
        self.attempts.append(attempt)
        attempt.connect()

    def on_service_gone(self, address: str) -> None:
        """A service said good-bye or fell silent: no attempt is tried again, none is cut."""
        for attempt in list(self.attempts):
            if attempt.address == address and not attempt.bridges:
                attempt.stop()
                self.attempts.remove(attempt)

    def failed(self, attempt: DiscoveredService) -> None:
        """An attempt at an announced service has failed: the agent holds it back for a while."""
        if attempt in self.attempts:
            self.attempts.remove(attempt)
        attempt.wanted = False
        if self.agent is not None:
            self.agent.failed(attempt.address)
