"""A lab for timed scenarios: processes, lines, endpoints, clients, and one script over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mqlab.errors import BadValue
from mqlab.formats import failover as files
from mqlab.runtime.activemq.clients import addresses as uris
from mqlab.runtime.activemq.clients.addresses import Refused
from mqlab.runtime.activemq.clients.client import Client
from mqlab.runtime.activemq.clients.discovery import INACTIVITY, Nested, inactivity, known_agent
from mqlab.runtime.activemq.clients.query import options
from mqlab.runtime.activemq.connection import Peer
from mqlab.runtime.activemq.connector_run import REMOTE_PATIENCE, Wire
from mqlab.runtime.activemq.connector_run import Link as BrokerLink
from mqlab.runtime.activemq.jdbc import Database, DatabaseLock, LeaseLock
from mqlab.runtime.activemq.lab import Lab
from mqlab.runtime.activemq.locks import Candidate, FileLock, LockFile
from mqlab.runtime.activemq.multicast import Lan
from mqlab.runtime.activemq.process import Process
from mqlab.runtime.activemq.pure import Mirror
from mqlab.runtime.activemq.script import Script
from mqlab.runtime.activemq.sharing import SharedMessages
from mqlab.runtime.activemq.store import Store
from mqlab.runtime.activemq.wire import Line, Near, Socket
from mqlab.spec import Broker as BrokerSpec
from mqlab.spec import Network
from mqlab.spec.fault import Step, TimedScenario
from mqlab.trace.kinds import Kind, Rule
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.runtime.activemq.clients.sessions import RemoteConsumer

FIRST_PORT, FIRST_DIRECT, FIRST_LINE = 61_001, 51_001, 41_001


@dataclass(frozen=True, slots=True)
class Target:
    """Where an address leads: what recordings show of it, the broker or endpoint, the line to it."""

    shown: str
    name: str
    line: Line | None


FILL = {"{group}": "GROUP", "{mport}": "6155", "{dir}": "DIR"}


class FailoverLab(Lab):
    """Plays one timed scenario; brokers, queues and bridges are those of the plain lab."""

    timed = True

    def __init__(
        self, scenario: TimedScenario, seed: int = 0, jitter: int | str = 0,
        limit: int | None = None,
    ) -> None:  # fmt: skip
        self.scenario = scenario
        self.details: dict[int, dict[str, Any]] = {}
        self.last: dict[Any, int] = {}  # the row of what happened last to somebody
        self.database = Database()
        self.lock_files: dict[str, LockFile] = {}
        self.disks: dict[str, float] = {}  # broker or shared store -> how many times as slow
        self.audits: dict[str, set[int]] = {}
        self.processes: dict[str, Process] = {}
        specs = [
            BrokerSpec(m.name, policies=m.policies, **{**m.options, "store": m.store})
            for m in scenario.members
        ]
        network = Network(*specs, edition=scenario.edition)
        super().__init__(network, seed, jitter, started=False, about=scenario.about, limit=limit)
        self.lan = Lan(self)
        names = [m.name for m in scenario.members] + [e.name for e in scenario.endpoints]
        self.ports = {FIRST_PORT + no: name for no, name in enumerate(names)}
        self.direct = {FIRST_DIRECT + no: name for no, name in enumerate(names)}
        self.proxies = {FIRST_LINE + no: name for no, name in enumerate(scenario.lines)}
        self.lines = {name: Line() for name in scenario.lines}
        self.line_nodes = {name: self.add_node(name, "line") for name in scenario.lines}
        self.modes = {endpoint.name: endpoint.mode for endpoint in scenario.endpoints}
        self.endpoint_nodes = {name: self.add_node(name, "endpoint") for name in self.modes}
        self.files = dict(scenario.files)
        for member in scenario.members:
            self.processes[member.name] = Process(self, member, self.brokers[member.name])
        self.wires = [Wire(self, self.processes[c.home], c) for c in scenario.connectors]
        self.clients_by_name: dict[str, Client] = {}
        self.consumers_by_name: dict[str, RemoteConsumer] = {}
        self.request_count = 0
        self.attempts: dict[str, int] = {}
        self.script = Script(self, scenario.steps)

    def act(self, step: Step) -> None:
        """Do a step now; time does not go on until `step`, `until` or `play`.

        >>> from mqlab.spec.fault import Member, Step, TimedScenario
        >>> lab = FailoverLab(TimedScenario(members=(Member(name="A"),)))
        >>> lab.act(Step("start_broker", {"broker": "A"})); lab.until("1s"); lab.roles
        {'A': 'running'}
        """
        step = replace(step, at=self.clock.now // 1000)
        self.scenario = replace(self.scenario, steps=(*self.scenario.steps, step))
        self.script.perform(step)

    @property
    def roles(self) -> dict[str, str]:
        """Who is what at this moment."""
        return {name: process.role for name, process in self.processes.items()}

    def play(self) -> None:
        """Play the script to its end."""
        self.script.begin()
        while not self.script.ended and self.clock.step():
            self.script.go_on()
            if self.limit is not None and self.recorder.count > self.limit:
                raise BadValue(f"more than {self.limit} events; let the script end earlier")

    @property
    def trace(self) -> Trace:
        """All that has happened so far."""
        return self.recorder.trace({
            "scenario": files.write(self.scenario), "seed": self.seed, "edition": self.edition,
            "jitter": self.jitter, "snapshots": self.snapshots, "problems": list(self.problems),
            "details": [[row, detail] for row, detail in self.details.items()],
            "began": [list(began) for began in self.script.began],
            "calls": self.script.report(),
        })  # fmt: skip

    def note(
        self, kind: int, detail: dict[str, Any] | None = None, chain: Any = None, **columns: int
    ) -> int:  # fmt: skip
        """Record that something happened, with what no column can hold.

        What happened last to *chain* (a client, a connector's link, a process) is its cause.
        """
        if chain is not None:
            columns.setdefault("cause", self.last.get(chain, -1))
        row = self.add(self.clock.now, kind, **columns)
        if chain is not None:
            self.last[chain] = row
        if detail is not None:
            self.details[row] = detail
        return row

    def blame(self, near: Any, row: int) -> None:
        """Let *row* be the cause of what happens next to whoever opened a socket."""
        self.last[getattr(near, "owner", near)] = row

    # What the core asks for

    def clients_of(self, broker: Any) -> list[Any]:
        """The core knows none of the clients of this lab."""
        return []

    def store_of(self, spec: BrokerSpec) -> Store:
        """Return the store of a broker: its own, or that of its set."""
        member = self.scenario.member(spec.name)
        if member.locker is None:
            return Store(lasting=member.store != "memory")
        return self.shared_stores.setdefault(member.locker.store, SharedMessages(self))

    # Masters and slaves

    def candidate_for(self, process: Process) -> Candidate | None:
        """Return a broker's part in the election of its set, if it is in one."""
        locker = process.member.locker
        if locker is None:
            return None
        if locker.kind == "file":
            file = self.lock_files.setdefault(locker.store, LockFile())
            return FileLock(process, locker, file)
        kind = DatabaseLock if locker.kind == "database" else LeaseLock
        return kind(process, locker, self.database)

    def mirror_for(self, process: Process) -> Mirror | None:
        """Return a broker's part in a pure pair: only 5.5 has them."""
        return Mirror(process) if self.edition == "5.5" else None

    def audit_of(self, process: Process) -> set[int]:
        """Return what the store of a broker remembers of sends."""
        member = process.member
        if member.locker is not None:
            return self.audits.setdefault(member.locker.store, set())
        if member.store == "kahadb":
            return self.audits.setdefault(f"own:{member.name}", set())
        return process.heard

    # Addresses

    def fill(self, text: str) -> str:
        """Return a text of the scenario with the addresses filled in."""
        for place, value in FILL.items():
            text = text.replace(place, value)
        for port, name in self.ports.items():
            text = text.replace("{" + name + "}", f"tcp://127.0.0.1:{port}")
        for port, name in self.proxies.items():
            text = text.replace("{" + name + "}", f"tcp://127.0.0.1:{port}")
        for port, name in self.direct.items():
            text = text.replace("{" + name + ".port}", str(port))
        return text

    def address_of(self, name: str) -> str:
        """Return the address of a broker or endpoint."""
        port = next(port for port, known in self.ports.items() if known == name)
        return f"tcp://127.0.0.1:{port}"

    def target_of(self, address: str | None) -> Target | None:
        """Return where an address leads to; None if nowhere."""
        place = (address or "").partition("#")[0].partition("?")[0]
        scheme, _, rest = place.partition("://")
        host, _, port = rest.partition("/")[0].partition(":")  # a path is not looked at
        if scheme not in ("tcp", "nio", "auto") or not port.isdecimal():
            return None
        if host not in ("127.0.0.1", "localhost"):
            return None
        number = int(port)
        if number in self.proxies:
            line = self.proxies[number]
            return Target(line, self.scenario.lines[line], self.lines[line])
        name = self.ports.get(number, self.direct.get(number))
        if name is None:
            return None
        process = self.processes.get(name)
        front = None if process is None or number in self.direct else process.line
        return Target(name, name, front)

    def shown_url(self, address: str) -> str:
        """Return an address as recordings show it in full: ``tcp://A``."""
        for port, name in {**self.ports, **self.direct, **self.proxies}.items():
            address = address.replace(f"127.0.0.1:{port}", name)
        return address

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
        """Return the node of a broker or endpoint."""
        for nodes in (self.endpoint_nodes, self.line_nodes):
            if name in nodes:
                return nodes[name]
        return self.processes[name].node

    # Sockets

    def dial(self, near: Any, address: str) -> Any:
        """Open a connection; raises `Refused`. Every socket tried is an event."""
        if uris.scheme_of(address) in uris.TRANSPORT_LISTS:
            return Nested(self, near, address)
        uris.check_scheme(address)
        query = options(address.partition("#")[0].partition("?")[2])
        version = query.get("wireFormat.version", "12")
        if version.isdecimal() and not 1 <= int(version) <= 12:
            raise Refused("ClassNotFoundException", f"openwire.v{version}.MarshallerFactory")
        problem = uris.tcp_problem(query)
        if problem:
            raise Refused("IllegalArgumentException", f"Invalid connect parameters: {{{problem}}}")
        target = self.target_of(address)
        if target is None:
            raise _nowhere(address)
        result = self._result(target)
        user = getattr(near, "owner", near)
        self.attempts[user.name] = self.attempts.get(user.name, 0) + 1
        rule = Rule.accepted if result == "connected" else Rule.nobody_listens
        self.note(
            Kind.Attempted, chain=user, frm=user.node, to=self.node_of(target.shown), rule=rule
        )
        if result == "refused":
            raise Refused("ConnectException", "Connection refused")
        problem = uris.socket_problem(query)
        if problem:
            raise Refused("IllegalArgumentException", f"Invalid socket parameters: {{{problem}}}")
        return self._connect(near, target, query)

    def _result(self, target: Target) -> str:
        name, line = target.name, target.line
        if name in self.modes:
            return "refused" if self.modes[name] == "refuse" else "connected"
        process = self.processes[name]
        if line is not None:
            if line.refuses:
                return "refused"
            if line.frozen:
                return "connected"
        drops = process.mirror is not None and process.mirror.opening
        return "connected" if process.open or drops else "refused"

    def _connect(self, near: Near, target: Target, query: dict[str, str]) -> Socket:
        name = target.name
        process = self.processes.get(name)
        socket = Socket(self, near, target.shown, process, target.line)
        if process is None:
            if self.modes[name] == "accept_close":
                self.clock.at(self.clock.now + 1000, socket.on_dropped, None)
        elif process.open or isinstance(near, Mirror):
            socket.far = Peer(process, socket)
        else:
            self.clock.at(self.clock.now + 1000, socket.reset, None)
        if isinstance(near, BrokerLink) and INACTIVITY not in query:
            socket.watch(REMOTE_PATIENCE, REMOTE_PATIENCE)
        else:
            socket.watch(*inactivity(query))
            socket.expect()
        return socket

    # What parts of a process tell

    def serve(self, process: Process) -> None:
        """A broker has opened its port: its connectors and its announcements begin."""
        for wire in self.wires:
            if wire.process is process:
                wire.start()
        if process.member.discovery is not None:
            self.lan.advertise(self.address_of(process.name), self.fill(process.member.discovery),
                               process)  # fmt: skip

    def check_connectors(self, name: str) -> None:
        """Raise `Refused` for a connector with which a broker does not start."""
        discovery = self.scenario.member(name).discovery
        if discovery is not None:
            known_agent(self, discovery)
        for wire in self.wires:
            if wire.process.name == name:
                wire.check()

    def stop_connectors(self, process: Process) -> None:
        """A broker ends: so do its connectors."""
        for wire in self.wires:
            if wire.process is process:
                wire.stop()

    def close_connectors(self, process: Process) -> None:
        """The broker goes on, but nobody can talk to it, and it talks to nobody."""
        process.open = False
        self.stop_connectors(process)
        self.lan.withdraw(self.address_of(process.name))
        for socket in list(process.sockets):
            socket.reset()

    def open_connectors(self, process: Process) -> None:
        """The broker can be talked to again."""
        process.open = True
        self.serve(process)

    # Calls

    def new_request(self) -> int:
        """Return the number of a command that wants an answer."""
        self.request_count += 1
        return self.request_count


def _nowhere(address: str) -> Refused:
    """Return the error for an address that leads to nobody here."""
    host, port = uris.place(address)
    if host != "127.0.0.1":
        return Refused("UnknownHostException", host)
    if not port.isdecimal():
        return Refused("IllegalArgumentException", "port out of range:-1")
    return Refused("ConnectException", "Connection refused")
