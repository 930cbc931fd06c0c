"""What a broker tells its clients of other brokers (Fuse 1, "Dynamic failover").

The list is its own address first, then its peers in the order of joining: those brokers to which a
connector **of its own** leads (a duplex one counts at both ends). A peer that leaves stays in the
list unless updateClusterClientsOnRemove is set, and is listed a second time when it comes back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mqlab.runtime.failover.lab import FailoverLab
    from mqlab.runtime.failover.process import Process
    from mqlab.runtime.failover.rounds import FailoverTransport
    from mqlab.runtime.failover.server import Peer


class BrokenFilter(Exception):
    """An updateClusterFilter that is no regular expression (the guide's own ``*A*`` is none)."""


class Cluster:
    """The list of one broker, and how far it has been turned for the next client."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.updates = process.member.updates
        self.peers: list[str] = []  # names of brokers
        self.turn: list[str] = []

    def clear(self) -> None:
        """Forget everything: the broker has ended."""
        self.peers, self.turn = [], []

    @property
    def own(self) -> str:
        """The broker's own address."""
        return self.process.lab.address_of(self.process.name)

    def joined(self, other: str) -> None:
        """A bridge to *other* is up; raises `BrokenFilter` if nobody can tell whether it counts."""
        if not self.updates.clients or not self.passes(other):
            if self.updates.clients:
                self.tell_all()
            return
        self.peers.append(other)
        self._list_own()
        self.turn.append(self.process.lab.address_of(other))
        self.tell_all()

    def left(self, other: str) -> None:
        """A bridge to *other* is down."""
        if self.updates.clients and self.updates.on_remove and other in self.peers:
            self.peers.remove(other)
            self.turn.remove(self.process.lab.address_of(other))
            self.tell_all()

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

    def greet(self, peer: Peer) -> None:
        """Tell a new client; one that has come because of a loss is not asked to move."""
        if self.updates.clients:
            rebalance = self.updates.rebalance and not peer.reconnected
            self._tell(peer, rebalance)

    def tell_all(self) -> None:
        """Tell all clients."""
        for peer in list(self.process.peers):
            self._tell(peer, self.updates.rebalance, only_failover=True)
        if self.updates.rebalance:
            self._turn()  # one turn more than there are clients

    def _list_own(self) -> None:
        if self.own not in self.turn:
            self.turn.insert(0, self.own)

    def _turn(self) -> None:
        self.turn = [*self.turn[1:], *self.turn[:1]]

    def _tell(self, peer: Peer, rebalance: bool, only_failover: bool = False) -> None:
        own = self.own
        if self.updates.rebalance:
            self._list_own()
            brokers = list(self.turn)
            self._turn()  # the next client has another first choice
        else:
            brokers = [own, *(self.process.lab.address_of(name) for name in self.peers)]
        if not only_failover or peer.fault_tolerant:
            peer.socket.reply(("cluster", None, self.process.node, brokers, rebalance, None))

    def send_away(self, address: str) -> None:
        """Tell all clients to connect to another broker."""
        for peer in list(self.process.peers):
            peer.socket.reply(("cluster", None, self.process.node, [], False, address))


def read_updates(lab: FailoverLab, transport: FailoverTransport) -> None:
    """Read a client's file of addresses (updateURIsURL), if it has one; lines are joined as they are."""
    url = transport.options.update_uris_url
    if not url:
        return
    text = lab.fill(lab.files.get(url.rpartition("/")[2], "")).replace("\n", "")
    found = [address.strip() for address in text.split(",") if address.strip()]
    if transport.options.update_uris_supported and found:
        transport.updated = list(dict.fromkeys(found))
