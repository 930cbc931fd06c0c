"""What a broker tells its clients of other brokers (Fuse 1, "Dynamic failover").

The list is its own address first, then its peers in the order of joining: those brokers to which a
connector **of its own** leads (a duplex one counts at both ends). A peer that leaves stays in the
list unless updateClusterClientsOnRemove is set, and is listed a second time when it comes back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mqlab.products.activemq.transport.openwire import ConnectionControl
from mqlab.products.activemq.transport.transport_connection import TransportConnection

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService


class BrokenFilter(Exception):
    """An updateClusterFilter that is not a valid regular expression (the guide's own ``*A*`` is none)."""


class ClusterClientUpdates:
    """The list of one broker: addresses, its own and its peers', turned for each connection."""

    def __init__(self, process: BrokerService) -> None:
        self.process = process
        self.updates = process.member.updates
        self.list: list[str] = []

    def clear(self) -> None:
        """Forget everything: the broker has ended."""
        self.list = []

    def joined(self, other: str) -> None:
        """A bridge to *other* is up; raises `BrokenFilter` if nobody can tell whether it counts."""
        if self.passes(other):
            self.list = [*self._listed(), self.process.lab.directory.address_of(other)]
        self.tell_all()

    def left(self, other: str) -> None:
        """A bridge to *other* is down."""
        address = self.process.lab.directory.address_of(other)
        if self.updates.clients and self.updates.on_remove and address in self.list:
            self.list.remove(address)
            self.tell_all()

    def _listed(self) -> list[str]:
        return self.list or [self.process.lab.directory.address_of(self.process.name)]

    def passes(self, other: str) -> bool:
        """Whether the filter lets a broker into the list: any of its expressions fits the name."""
        wanted = (self.updates.filter or "").strip()
        if not wanted:
            return True
        name = self.process.lab.processes[other].member.broker_name
        try:
            return any(re.fullmatch(part, name) for part in wanted.split(",") if part)
        except re.error as error:
            raise BrokenFilter(wanted) from error

    def greet(self, connection: TransportConnection) -> None:
        """Tell a new client; one that has come because of a loss is not asked to move."""
        if self.updates.clients:
            self._tell(connection, self.next_list(), self.updates.rebalance and not connection.reconnected)

    def tell_all(self) -> None:
        """Tell all clients with failover; every other connection takes a turn of the list as well."""
        for socket in list(self.process.sockets):
            brokers = self.next_list()
            if isinstance(socket.broker_end, TransportConnection) and socket.broker_end.fault_tolerant:
                self._tell(socket.broker_end, brokers, self.updates.rebalance)
        self.next_list()  # one turn more than there are connections

    def next_list(self) -> list[str]:
        """Return the list for one connection; with rebalance the next has another first choice."""
        brokers = self._listed()
        self.list = [*brokers[1:], *brokers[:1]] if self.updates.rebalance else brokers
        return list(brokers)

    def _tell(self, connection: TransportConnection, brokers: list[str], rebalance: bool) -> None:
        connection.socket.reply(ConnectionControl(self.process.node, brokers, rebalance))

    def send_away(self, address: str) -> None:
        """Tell all clients to connect to another broker."""
        for socket in list(self.process.sockets):
            end = socket.broker_end
            if isinstance(end, TransportConnection) and end.client:
                end.socket.reply(ConnectionControl(self.process.node, [], go_to=address))
