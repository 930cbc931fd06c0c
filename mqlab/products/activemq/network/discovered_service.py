"""One address that a network connector has from its agent: attempts to reach it, and the bridge over it.

One attempt at a time, and after a failure the agent's wait (Fuse 1, "Static discovery agent": 1, 2, 4 s ...; a
bridge that lived counts as the first failure). What goes over a bridge that is up is the core's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mqlab.products.activemq.broker import security
from mqlab.products.activemq.client import addresses as uris
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.client.discovery import failover_transport
from mqlab.products.activemq.ha.cluster_client_updates import BrokenFilter
from mqlab.products.activemq.network.back_off import ExponentialBackOff
from mqlab.products.activemq.network.network_bridge import NetworkBridge
from mqlab.products.activemq.transport.openwire import Command, WireFormatInfo
from mqlab.products.activemq.transport.sockets import Socket, Transport
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.client.failover_transport import FailoverTransport
    from mqlab.products.activemq.network.network_connector import DiscoveryNetworkConnector

REMOTE_PATIENCE = 30_000  # ms that a connector waits for the other broker's first word


class DiscoveredService:
    """One address of a connector: being tried, up, or waiting for the next try."""

    def __init__(
        self,
        connector: DiscoveryNetworkConnector,
        address: str,
        back_off: ExponentialBackOff | None,
    ) -> None:
        self.connector, self.address, self.back_off = connector, address, back_off
        self.lab, self.process = connector.lab, connector.process
        self.name, self.node = connector.process.name, connector.process.node
        self.transport: FailoverTransport | None = None
        self.source: Transport | None = None
        self.bridges: list[NetworkBridge] = []
        self.number = 0
        self.wanted = True
        self.remote: BrokerService | None = None
        self.socket: Socket | None = None
        self.seen_up: BrokerService | None = None
        self.turned_away = False
        self.denied: security.Denial | None = None  # what ended its bridge last
        self.waits = False  # for the next try
        self.one_way = False  # whether the other direction of a duplex connector is gone for good
        self.began = 0

    @property
    def expects(self) -> bool:
        """Whether the next try would find a broker that answers."""
        if self.transport is not None:
            return bool(self.transport.expects)
        if not (self.waits and self.wanted and self.process.open) or self.process.paused:
            return False
        if self.turned_away or (self.denied is not None and not self.denied[0].may_all(self.denied[1])):
            return False
        return self.lab.directory.answers(self.process.name, self.address)

    # One attempt

    def connect(self, _: None = None) -> None:
        """Try to reach the other broker."""
        self.waits = False
        if not self.wanted or not self.process.open:
            return
        self.number += 1
        self.began, self.one_way = self.lab.clock.now, False
        try:
            if uris.scheme_of(self.address) == "failover":
                self.transport = failover_transport(self.lab, self, self.address)
                self.lab.trying[self] = None
                self.transport.start()
            else:
                self.source = self.lab.directory.dial(self, self.address)
                self._greet(self.source)
        except Refused:
            self.failed()

    def _greet(self, source: Transport | FailoverTransport) -> None:
        socket = self._socket()
        if self.lab.timing.greeting or socket is None or socket.impaired:
            source.send(WireFormatInfo())
        else:
            clock = self.lab.clock
            clock.schedule(clock.now, self.on_greeted, (source, self.number))

    def on_greeted(self, greeted: tuple[Transport, int]) -> None:
        """The first words took no time."""
        source, number = greeted
        if number == self.number:
            self.on_command(source, WireFormatInfo())

    def _socket(self) -> Any:
        """Return the socket at the bottom of whatever transports there are."""
        socket: Any = self.transport.source if self.transport is not None else self.source
        while socket is not None and not hasattr(socket, "process"):
            socket = socket.transport.source
        return socket

    def on_attached(self, address: str) -> None:
        """A failover: inside has found a broker."""
        if self.transport is not None and not self.bridges:
            self._greet(self.transport)

    def replay(self, source: Transport) -> None:
        """The bridge has nothing to replay: its demand stands at home."""

    def on_command(self, source: Transport, command: Command) -> None:
        """The other broker has said its first word: the bridge comes up."""
        if isinstance(command, WireFormatInfo) and not self.bridges:
            socket = self._socket()
            if socket is not None and socket.process is not None:
                self.remote = self.lab.processes[socket.process.name]
                self.socket = socket
                wait = self.lab.random_duration(self.lab.timing.bridge_up)
                self.process.after(wait, self.come_up, self.number)

    def come_up(self, number: int) -> None:
        """Let the core's bridge start; a broken filter ends it at once."""
        remote = self.remote
        if number != self.number or remote is None or not remote.broker.running:
            return
        name, settings = self.connector.configured_name, self.connector.settings
        named = (other for other in self.process.connectors if other.configured_name == name)
        tried = (attempt for other in named for attempt in other.attempts)
        if remote is self.process or any(one.bridges and one.remote is remote for one in tried):
            self.lab.problem(f"bridge {self.connector.spec.name} did not come up")
            return
        home, away = self.process.broker, remote.broker
        secured = home.secured or away.secured
        if secured and (rule := security.of_bridge(home, away, self.connector.settings)):
            self.turned_away = True  # and will be again: no configuration changes in a run
            self._turned_away(rule)
            return
        self.bridges = [NetworkBridge(self.lab, home, away, name, settings, False, self.socket)]
        if settings.duplex and not self.one_way:
            back = NetworkBridge(self.lab, away, home, name, settings, True, self.socket)
            self.bridges.append(back)
        try:
            self._tell_up(remote)
        except BrokenFilter:
            self.bridges, self.seen_up = [], None
            self._turned_away(Reason.broken_filter)
            return
        for bridge in self.bridges:
            bridge.start()

    def _turned_away(self, rule: int) -> None:
        """The bridge does not come up: try again, as the agent says."""
        self.lab.record(Kind.Failed, chain=self, broker=self.node, rule=rule)
        self._close()
        self.failed()

    def _tell_up(self, remote: BrokerService) -> None:
        """Say that the bridge is up, unless its loss was hidden by a failover: inside."""
        if self.seen_up is None:
            self.seen_up = remote
            for home, other in self._ends(remote):
                self._note("up", home, other)
            for home, other in self._ends(remote):
                if home.cluster.updates.clients:
                    home.cluster.joined(other.name)

    def _tell_down(self) -> None:
        """Say that the bridge is down, at those of its ends that are there to see it."""
        remote, self.seen_up = self.seen_up, None
        for home, other in self._ends(remote) if remote is not None else ():
            self._tell_end_down(home, other)

    def _tell_end_down(self, home: BrokerService, other: BrokerService) -> None:
        if home.role != "down":
            self._note("down", home, other)
            home.cluster.left(other.name)

    def _ends(self, remote: BrokerService) -> list[tuple[BrokerService, BrokerService]]:
        """Return who sees the bridge, and to whom: both brokers if it is duplex."""
        ends = [(self.process, remote), (remote, self.process)]
        return ends if self.connector.settings.duplex and not self.one_way else ends[:1]

    def _note(self, state: str, home: BrokerService, remote: BrokerService) -> None:
        kind = Kind.BridgeUp if state == "up" else Kind.BridgeDown
        home.bridged[remote.name] = home.incarnation if state == "up" else -1
        self.lab.record(
            kind,
            chain=self,
            broker=home.node,
            frm=home.node,
            to=remote.node,
            rule=Reason.asked if state == "up" else Reason.connection_lost,
            detail={"to": remote.member.broker_name},
        )

    # Loss

    def on_interrupted(self) -> None:
        """A failover: inside looks for another broker: this broker sees no loss of the bridge.

        The other broker ends its direction of a duplex connector. It hears of that in the first `BrokerInfo`
        alone, which no failover repeats (`ConnectionStateTracker` of 5.17.2; ActiveMQ rule 7.15).
        """
        self._drop_bridges()
        if self.seen_up is not None and self.connector.settings.duplex and not self.one_way:
            self._tell_end_down(self.seen_up, self.process)
            self.one_way = True

    def on_failed(self, error: Refused) -> None:
        """A failover: inside has given up."""
        self.lose()

    def on_closed(self, source: Transport) -> None:
        """The socket is gone."""
        if source is self.source:
            self.lose()

    def lose(self) -> None:
        """The attempt, or the bridge, has failed."""
        self._drop_bridges()
        self._tell_down()
        self._close()
        self.failed()

    def _drop_bridges(self) -> None:
        bridges, self.bridges = self.bridges, []
        for bridge in bridges:
            self.denied = bridge.denied or self.denied
            bridge.stop()

    def _close(self) -> None:
        self.number += 1
        transport, self.transport = self.transport, None
        if transport is not None:
            transport.stop()
        source, self.source = self.source, None
        if source is not None:
            source.close()

    def failed(self) -> None:
        """Wait as the agent says, then try again."""
        if not self.wanted or not self.process.open:
            return
        if self.back_off is None:
            self.connector.failed(self)
            return
        wait = self.back_off.after(self.lab.clock.now - self.began)
        if wait is not None:
            self.lab.record(Kind.Waited, chain=self, frm=self.node, age=wait, rule=Reason.back_off)
            self.waits = True
            self.lab.trying[self] = None
            self.process.later(wait + self.lab.timing.round, self.connect)

    def stop(self) -> None:
        """The connector, or its broker, ends."""
        self.wanted = False
        self.lose()
