"""Where addresses lead: brokers are hosts by their names, and a few listeners are no brokers.

Recordings write addresses with places to be filled in (``{A}``) and numbered ports; here both come to
the same. Every socket that anybody tries to open is an event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqlab.products.activemq.client import addresses as uris
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.client.discovery import INACTIVITY, NestedTransport, inactivity
from mqlab.products.activemq.files.timed_recordings import FIRST_DIRECT
from mqlab.products.activemq.ha.pure_master_slave import PureMasterSlave
from mqlab.products.activemq.network.discovered_service import REMOTE_PATIENCE, DiscoveredService
from mqlab.products.activemq.transport.sockets import NetworkPath, Socket, SocketListener
from mqlab.products.activemq.transport.transport_connection import TransportConnection
from mqlab.spec.network import Network
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker import Broker
    from mqlab.products.activemq.lab import Lab
    from mqlab.spec import Consumer, Producer


PORT = 61616
LOOPBACK = ("127.0.0.1", "localhost")


@dataclass(frozen=True, slots=True)
class ResolvedAddress:
    """Where an address leads: what is shown of it, the broker or endpoint, the line in front of it."""

    shown: str
    name: str
    line: NetworkPath | None


class AddressResolver:
    """The addresses of one network, the lines to its brokers, and the sockets that are opened."""

    def __init__(self, lab: Lab, network: Network) -> None:
        self.lab = lab
        around = network.around
        names = [*network.names, *(endpoint.name for endpoint in around.endpoints)]
        self.direct = {FIRST_DIRECT + no: name for no, name in enumerate(names)}
        self.lines = {line: NetworkPath(forwarder=True) for line, _ in around.lines}
        self.leads_to = dict(around.lines)
        self.modes = {endpoint.name: endpoint.mode for endpoint in around.endpoints}
        self.nodes = {name: lab.add_node(name, "endpoint") for name in self.modes}
        self.nodes |= {name: lab.add_node(name, "line") for name in self.lines}
        self.between: dict[frozenset[str], NetworkPath] = {}  # the lines of two that talk
        self.attempts: dict[tuple[str, str], int] = {}  # by whom and to what -> how many sockets

    # Names and addresses

    def address_of(self, name: str) -> str:
        """Return the address of a broker or endpoint."""
        return f"tcp://{name}:{PORT}"

    def target_of(self, address: str | None) -> ResolvedAddress | None:
        """Return where an address leads to; None if nowhere."""
        written = uris.taken_apart(address or "")
        host, port = written.host, written.port
        if written.scheme not in uris.SCHEMES:
            return None
        if port and not port.isdecimal():
            return None
        if host in self.lines:
            return ResolvedAddress(host, self.leads_to[host], self.lines[host])
        if host in self.modes or host in self.lab.brokers:
            process = self.lab.processes.get(host)
            return ResolvedAddress(host, host, None if process is None else process.line)
        name = self.direct.get(int(port)) if host in LOOPBACK and port.isdecimal() else None
        return None if name is None else ResolvedAddress(name, name, None)

    def shown_url(self, address: str) -> str:
        """Return an address as recordings show it in full: ``tcp://A``."""
        for port, name in self.direct.items():
            address = address.replace(f"127.0.0.1:{port}", name)
        return address.replace(f":{PORT}", "")

    def shown_target(self, address: str | None) -> str | None:
        """Return an address as recordings show it: the name; a composite one is ``?``."""
        if address is None:
            return None
        if uris.scheme_of(address) in uris.TRANSPORT_LISTS:
            return "?"
        target = self.target_of(address)
        return target.shown if target is not None else self.shown_configured(address)

    def shown_configured(self, address: str) -> str:
        """Return an address with its options, names in place of ports."""
        return self.shown_url(address).replace("tcp://", "")

    def node_at(self, address: str) -> int:
        """Return the node of whom an address leads to, -1 if nobody."""
        target = self.target_of(address)
        return -1 if target is None else self.node_of(target.name)

    def node_of(self, name: str) -> int:
        """Return the node of a broker, an endpoint or a line."""
        return self.nodes[name] if name in self.nodes else self.lab.brokers[name].node

    # Lines

    def join(self, one: str, other: str) -> NetworkPath:
        """Return the line of two that talk, made when first cut, with the connections that they have."""
        line = self.between.setdefault(frozenset((one, other)), NetworkPath())
        for name, user in ((one, other), (other, one)):
            process = self.lab.processes.get(name)
            for socket in process.sockets if process is not None else ():
                owner: Any = getattr(socket.client_end, "owner", socket.client_end)
                if owner.name == user and line not in socket.lines:
                    socket.join(line)
        return line

    def lines_to(self, name: str) -> list[NetworkPath]:
        """Return the line of that name, or all lines that lead to the broker of that name."""
        if name in self.lines:
            return [self.lines[name]]
        process = self.lab.processes[name]
        if process.line is None:
            process.line = NetworkPath()
            for socket in process.sockets:
                socket.join(process.line)
        return [process.line]

    # Sockets

    def serving(self, names: Iterable[str], user: str) -> Broker | None:
        """Return the first broker of a list that serves and that *user* can reach, if there is one."""
        brokers = (self.lab.brokers[name] for name in names)
        return next((b for b in brokers if b.running and self.reaches(user, b.name)), None)

    def home(self, who: Consumer | Producer) -> Broker:
        """Return the broker that a client comes to: the first of its list that serves, or that it names."""
        return self.serving((who.on, *who.others), who.name) or self.lab.brokers[who.on]

    def reaches(self, user: str, broker: str) -> bool:
        """Whether a connection of *user* to *broker* would not be refused."""
        process = self.lab.processes[broker]
        lines = self.way(user, broker, process.line)
        return not process.waits_for_slave and self.result(broker, lines) == "connected"

    def dial(self, client_end: Any, address: str) -> Any:
        """Open a connection; raises `Refused`. Every socket tried is an event."""
        lab = self.lab
        written = uris.taken_apart(address)
        if written.scheme in uris.TRANSPORT_LISTS:
            return NestedTransport(lab, client_end, address)
        uris.check_scheme(written.scheme)
        query = written.options
        version = query.get("wireFormat.version", "12")
        if version.isdecimal() and not 1 <= int(version) <= 12:
            raise Refused("ClassNotFoundException", f"openwire.v{version}.MarshallerFactory")
        problem = uris.tcp_problem(query) if query else None
        if problem:
            raise Refused("IllegalArgumentException", f"Invalid connect parameters: {{{problem}}}")
        target, user = self.target_of(address), getattr(client_end, "owner", client_end)
        if target is None:
            error = _nowhere(address)
            if error.kind == "UnknownHostException":
                lab.record(
                    Kind.Attempted, {"result": error.kind}, user, frm=user.node, rule=Reason.nobody_listens
                )
            raise error
        lines = self.way(user.name, target.name, target.line)
        result = self.result(target.name, lines)
        by = user.name, target.shown
        self.attempts[by] = self.attempts.get(by, 0) + 1
        rule = Reason.accepted if result == "connected" else Reason.nobody_listens
        lab.record(Kind.Attempted, chain=user, frm=user.node, to=self.node_of(target.shown), rule=rule)
        if result == "refused":
            raise Refused("ConnectException", "Connection refused")
        problem = uris.socket_problem(query) if query else None
        if problem:
            raise Refused("IllegalArgumentException", f"Invalid socket parameters: {{{problem}}}")
        return self._connect(client_end, user.name, target, lines, query)

    def way(self, user: str, name: str, front: NetworkPath | None) -> tuple[NetworkPath, ...]:
        """Return the lines from *user* to *name*: that in *front* of its port, and that of the two."""
        between = self.between.get(frozenset((user, name)))
        return tuple(line for line in (front, between) if line is not None)

    def result(self, name: str, lines: tuple[NetworkPath, ...]) -> str:
        """Return what comes of a socket to whoever has that name, over *lines*."""
        if name in self.modes:
            return "refused" if self.modes[name] == "refuse" else "connected"
        if any(line.refuses for line in lines):
            return "refused"
        if any(line.frozen for line in lines):
            return "connected"
        process = self.lab.processes[name]
        listens = process.open or process.waits_for_slave or any(line.forwarder for line in lines)
        return "connected" if listens else "refused"

    def answers(self, user: str, address: str) -> bool:
        """Whether a try of *user* at *address* would find a broker that answers."""
        if uris.scheme_of(address) in uris.TRANSPORT_LISTS:
            return any(self.answers(user, one) for one in uris.split(address).elements)
        target = self.target_of(address)
        if target is None or target.name in self.modes:
            return False
        lines = self.way(user, target.name, target.line)
        process = self.lab.processes[target.name]
        return process.open and not process.paused and all(line.state == "open" for line in lines)

    def _connect(
        self,
        client_end: SocketListener,
        user: str,
        target: ResolvedAddress,
        lines: tuple[NetworkPath, ...],
        query: Mapping[str, str],
    ) -> Socket:
        lab, name = self.lab, target.name
        process = lab.processes.get(name)
        socket = Socket(lab, client_end, user, target.shown, process, lines)
        if process is None:
            if self.modes[name] == "accept_close":
                lab.clock.schedule(lab.clock.now + lab.timing.link, socket.on_dropped, None)
        elif process.open or isinstance(client_end, PureMasterSlave):
            socket.broker_end = TransportConnection(process, socket)
        else:
            # It is let in, and only then nobody is there for it.
            welcomes = process.costs.welcome if process.waits_for_slave else 0
            lab.clock.schedule(lab.clock.now + lab.timing.link + welcomes, socket.reset, None)
        if isinstance(client_end, DiscoveredService) and INACTIVITY not in query:
            socket.watch(REMOTE_PATIENCE, REMOTE_PATIENCE)
        else:
            socket.watch(*inactivity(query))
            socket.expect()
        return socket


def _nowhere(address: str) -> Refused:
    """Return the error for an address that leads to nobody here."""
    host, port = uris.place(address)
    if not port.isdecimal() and (port or host == "127.0.0.1"):
        return Refused("IllegalArgumentException", "port out of range:-1")
    if host != "127.0.0.1":
        return Refused("UnknownHostException", host)
    return Refused("ConnectException", "Connection refused")
