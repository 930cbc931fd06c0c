"""The lab of ActiveMQ: brokers, connectors, clients and faults of one network, at rest or in time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from mqlab.engine.completion import Completion
from mqlab.engine.lab import Lab as KernelLab
from mqlab.engine.timing import RECORDED, Timing
from mqlab.errors import UnknownName
from mqlab.products.activemq.broker.broker import Broker
from mqlab.products.activemq.broker.broker_service import BrokerService
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.products.activemq.client.calls import is_beside
from mqlab.products.activemq.client.direct_consumer import DirectConsumer
from mqlab.products.activemq.client.direct_producer import DirectProducer
from mqlab.products.activemq.files import treatment
from mqlab.products.activemq.ha.jdbc import Database, DefaultDatabaseLocker, LeaseDatabaseLocker
from mqlab.products.activemq.ha.lockers import AbstractLocker, LockFile, SharedFileLocker
from mqlab.products.activemq.ha.persistence_adapter import PersistenceAdapter
from mqlab.products.activemq.ha.pure_master_slave import PureMasterSlave
from mqlab.products.activemq.ha.shared_persistence import SharedPersistenceAdapter
from mqlab.products.activemq.network.bridge_configuration import NetworkBridgeConfiguration
from mqlab.products.activemq.network.discovered_service import DiscoveredService
from mqlab.products.activemq.network.network_connector import DiscoveryNetworkConnector
from mqlab.products.activemq.script import client_actions, waits
from mqlab.products.activemq.script.runner import ScriptRunner
from mqlab.products.activemq.script.steps import ScriptStep
from mqlab.products.activemq.transport.address_resolver import AddressResolver
from mqlab.products.activemq.transport.multicast import MulticastNetwork
from mqlab.spec import Network, Scenario, Snapshot, Start, Wait
from mqlab.spec.action import Action
from mqlab.spec.edition import ACTIVEMQ
from mqlab.spec.link import LikeLinks, Links
from mqlab.spec.member import BrokerSettings
from mqlab.spec.network_names import KnownNames, check, mentions
from mqlab.spec.values import told_time
from mqlab.trace.kinds import Kind, Reason
from mqlab.trace.trace import Trace

if TYPE_CHECKING:
    from mqlab.products.activemq.client.addresses import Refused
    from mqlab.products.activemq.client.connection import ClientConnection
    from mqlab.products.activemq.client.direct_client import DirectClient
    from mqlab.products.activemq.client.message_consumer import MessageConsumer

USUAL = Timing()
CIRCULATES = (
    "with several routes between brokers set suppressDuplicateQueueSubscriptions, or a lower networkTTL"
)


class Lab(KernelLab):
    """A running network. `do` something to it, then let time go on by `step`, `until` or `rest`.

    A lab that is given a network starts it; one that is given a scenario has it before it. *seed* feeds the
    only generator; *jitter* (such as ``"2ms"``) is added to the 1 ms of a link. Rules of the edition that are
    *inverted* are played the other way round. In the usual *timing* nothing but links takes time.

    >>> from mqlab.spec import Broker, Network, Producer, Queue
    >>> lab = Lab(Network(Broker("A")), seed=7)
    >>> lab.do(Producer("P", "A", 2, Queue("Q"))); lab.rest(); lab.trace.waiting()
    {'A': {'queue://Q': [1, 2]}}
    """

    def __init__(
        self,
        what: Network | Scenario,
        seed: int = 0,
        jitter: int | str = 0,
        limit: int | None = None,
        inverted: Collection[str] = (),
        timing: Timing | None = None,
        links: LikeLinks = None,
    ) -> None:
        scenario = what if isinstance(what, Scenario) else Scenario(what, (Start(),))
        by_calls = scenario.pace == "calls"
        timing = timing or (RECORDED if by_calls else USUAL)
        like = Links.of(links, scenario.network.names)
        super().__init__("mqlab", (), seed, jitter, limit, timing, like)
        self.scenario = scenario
        self.network: Network = scenario.network
        self.edition = self.network.edition
        self.by_calls = self.ends_with_script = by_calls
        rules = ACTIVEMQ[self.edition]
        self.rules = rules.inverted(inverted) if inverted else rules
        self.add, self.add_node = self.recorder.add, self.recorder.add_node
        self.name_link, self.name_destination = self.recorder.name_link, self.recorder.name_destination
        self.name_subscription = self.recorder.name_subscription
        self.ids = self.numbers = self.advisories = self.request_count = 0
        self.details: dict[int, dict[str, object]] = {}
        self.last: dict[object, int] = {}  # the row of what happened last to somebody
        self.snapshots: dict[str, object] = {}
        self.replies: dict[str, dict[str, int]] = {}
        self.problems: list[str] = []
        self.actions: list[Action] = []
        self.begun: list[tuple[int, int, int]] = []  # place in the script, us, row
        self.pausing = False  # between two calls
        self._furnish()
        self.acts = ScriptRunner(self)
        self.known: KnownNames | None = None  # in the script and what came after it, once something did
        for action in scenario.actions:
            self.schedule(self._numbered(action))
        if isinstance(what, Network):
            self.rest()

    def _furnish(self) -> None:
        """Put brokers, lines, locks and connectors in their places."""
        self.database = Database()
        self.lock_files: dict[str, LockFile] = {}
        self.disks: dict[str, float] = {}  # broker or shared store -> how many times as slow
        self.audits: defaultdict[str, MessageAudit] = defaultdict(MessageAudit)  # what stores remember of sends
        self.shared_stores: dict[str, SharedPersistenceAdapter] = {}
        self.files = dict(self.network.around.files)
        self.clients_by_name: dict[str, ClientConnection] = {}
        self.consumers: dict[str, MessageConsumer] = {}
        self.senders: list[DirectProducer] = []
        self.producers: dict[str, int] = {}
        self.lan = MulticastNetwork(self)
        self.trying: dict[DiscoveredService, None] = {}  # of connectors, who may be about to find a broker
        self.processes: dict[str, BrokerService] = {}
        members = [BrokerSettings.of(spec, self.edition) for spec in self.network.brokers]
        self.brokers = {
            spec.name: Broker(self, spec, self.store_of(member))
            for spec, member in zip(self.network.brokers, members, strict=True)
        }
        for member in members:
            self.processes[member.name] = BrokerService(self, member, self.brokers[member.name])
        self.settings_of: dict[tuple[tuple[str, object], ...], NetworkBridgeConfiguration] = {}
        self.directory: AddressResolver = AddressResolver(self, self.network)
        self.connectors = [
            DiscoveryNetworkConnector(self, self.processes[b.name], c) for b, c in self.network.connectors()
        ]

    # The script

    def _numbered(self, action: Action) -> ScriptStep:
        self.actions.append(action)
        return ScriptStep(len(self.actions) - 1, action, action.at)

    def _do(self, action: Action) -> None:
        before = self.known or check(self.network, self.scenario.actions, self.scenario.pace == "rest")
        known = before.with_next(action)
        if action.at is not None:
            self.due(action)  # before anything is remembered
            self.known = known
            self.schedule(self._numbered(action))
            return
        self._check_open(action)
        self.known = known
        until = self.begin(self._numbered(action))
        if self.under_way is None:
            self.under_way = until
        elif until.then is not None:
            self.go_on_beside(until)

    def _check_open(self, action: Action) -> None:
        """Raise `UnknownName` for a client or consumer that is to be opened later than now."""
        opened = [*self.clients_by_name, *self.consumers]
        for what, name in mentions(action):
            late = name is not None and name not in (*opened, *self.network.names)
            if late and ("client" in what or "consumer" in what):
                where = f"{type(action).__name__} at {told_time(self.clock.now)}"
                raise UnknownName.of(f"{what} that is open", name, opened, where)

    def begin(self, numbered: ScriptStep) -> Completion:
        """Begin an action, and say when it is over."""
        no, action = numbered.no, numbered.action
        self._check_open(action)
        self.begun.append((no, self.clock.now, self.recorder.count))
        return self.acts.do(no, action)

    def end_action(self) -> None:
        """An action is over: a client takes a moment before the next call, but for one in the background.

        A look or a wait takes none (`found/opened_as_it_gives_up`).
        """
        first = self.under_way is None
        super().end_action()
        between = self.timing.between  # does not jitter
        if not between or self.under_way is not None or not self.script or self.pausing or first:
            self.pausing = False
            return
        before, after = (isinstance(one, ScriptStep) and one.action for one in (self.latest, self.script[0]))
        self.pausing = not isinstance(before, Wait)
        if self.pausing:
            wait = 0 if is_beside(before) or isinstance(after, Snapshot) else between
            self.under_way = Completion(deadline=self.clock.now + wait)

    def action_of(self, scripted: ScriptStep | Action) -> Action:
        """Return the action of a step of the script."""
        return scripted.action if isinstance(scripted, ScriptStep) else scripted

    expecting, undone = property(waits.expecting), property(waits.undone)
    only_if = " and acknowledge=False"
    session_state = client_actions.session_state

    @property
    def trace(self) -> Trace:
        """All that has happened so far."""
        begun = tuple(self.actions[no] for no in sorted(no for no, _, _ in self.begun))
        header: dict[str, object] = {
            **self.settings,
            "edition": self.edition,
            "snapshots": dict(self.snapshots),
            "problems": list(self.problems),
            "undone": self.undone,
            "request_reply": dict(self.replies),
        }
        if self.details:
            header["details"] = [[row, detail] for row, detail in self.details.items()]
        if self.by_calls or self.acts.calls:
            header |= {"began": [list(began) for began in self.begun], "calls": self.acts.report()}
        if self.timing not in (USUAL, RECORDED):
            header["timing"] = asdict(self.timing)
        return self.recorder.trace(header, partial(treatment.header, self.scenario, begun), begun)

    @property
    def roles(self) -> dict[str, str]:
        """Who is what at this moment: down, slave, master or running."""
        return {name: process.role for name, process in self.processes.items()}

    @property
    def remedy(self) -> str:  # type: ignore[override]
        """What to do where a run becomes too long; only what multiplies over routes is for want of options."""
        trace = self.trace
        advisories = Kind.Subscribed, Kind.Advised, Kind.Refused, Kind.Merged  # they multiply over routes
        circulates = 2 * len(trace.rows(*advisories)) > len(trace) or max(trace.column("hop"), default=0) > len(
            self.network.brokers
        )
        return CIRCULATES if circulates else "set a higher limit or an earlier end, or send fewer messages"

    # Writing down

    def record(
        self, kind: int, detail: dict[str, object] | None = None, chain: object = None, **columns: int
    ) -> int:
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

    def record_failure(
        self, client: DirectClient | ClientConnection, error: Refused, rule: Reason = Reason.gave_up
    ) -> None:
        """Record what a client hears: that its connection has failed for good, or *rule*."""
        told: dict[str, object] = {"class": "JMSException", "message": str(error)}
        if cause := error.other_cause if error.kind == "JMSException" else error.cause:
            told["cause"] = f"{cause}: {error}"
        self.record(Kind.Failed, told, client, frm=client.node, rule=rule)

    def set_cause(self, near: object, row: int) -> None:
        """Let *row* be the cause of what happens next to whoever opened a socket."""
        self.last[getattr(near, "owner", near)] = row

    def problem(self, text: str) -> None:
        """Note what went wrong for a client."""
        self.problems.append(text)

    # What the parts ask for

    def broker(self, name: str) -> Broker:
        """Return the broker called *name*."""
        if name not in self.brokers:
            raise UnknownName.of("broker", name, self.brokers)
        return self.brokers[name]

    def clients(self) -> list[DirectConsumer | DirectProducer]:
        """Return all clients that are on a broker by themselves, consumers first."""
        direct = [c for c in self.consumers.values() if isinstance(c, DirectConsumer)]
        return [*direct, *self.senders]

    def clients_of(self, broker: Broker) -> list[DirectConsumer | DirectProducer]:
        """Return those that are on a broker by themselves."""
        return [c for c in self.clients() if c.broker is broker and not c.closed]

    def new_id(self) -> int:
        """Return an id that no other consumer of this lab has."""
        self.ids += 1
        return self.ids

    def new_request(self) -> int:
        """Return the number of a command that wants an answer."""
        self.request_count += 1
        return self.request_count

    def broker_name(self, id: str) -> str:
        """Return the name of the broker with that id, an earlier life's too."""
        return id if id in self.brokers else id.rpartition("#")[0]

    def producer_node(self, name: str, home: str) -> int:
        """Return the number of a producer; sending again is no new one."""
        key = f"{name}@{home}"
        if key not in self.producers:
            self.producers[key] = self.add_node(name, "producer", home)
        return self.producers[key]

    # Stores and locks

    def store_of(self, member: BrokerSettings) -> PersistenceAdapter:
        """Return the store of a broker: its own, or that of its set."""
        if member.locker is None or member.store == "memory":  # nobody shares what is in memory
            return PersistenceAdapter(persistent=member.store != "memory")
        return self.shared_stores.setdefault(member.locker.store, SharedPersistenceAdapter())

    def locker_for(self, process: BrokerService) -> AbstractLocker | None:
        """Return a broker's part in the election of its set, if it is in one."""
        locker = process.member.locker
        if locker is None:
            return None
        if locker.kind == "file":
            file = self.lock_files.setdefault(locker.store, LockFile())
            return SharedFileLocker(process, locker, file)
        kind = DefaultDatabaseLocker if locker.kind == "database" else LeaseDatabaseLocker
        return kind(process, locker, self.database)

    def pure_master_slave_for(self, process: BrokerService) -> PureMasterSlave | None:
        """Return a broker's part in a pure pair: only 5.5 has them."""
        if self.edition != "5.5":
            return None
        pure = process.member.pure
        paired = pure.slave_of is not None or pure.wait_for_slave or self.by_calls
        paired = paired or any(b.get("pure_slave_of") == process.name for b in self.network.brokers)
        return PureMasterSlave(process) if paired else None

    # What parts of a process tell

    def serve(self, process: BrokerService) -> None:
        """A broker has opened its port: clients find it, its connectors and announcements begin."""
        for client in self.clients():
            client.find_broker()
        if not self.acts.in_turn:
            for connector in process.connectors:
                if connector.spec.get("auto_start"):
                    connector.start()
        if process.member.discovery is not None:
            address = self.directory.address_of(process.name)
            self.lan.advertise(address, process.member.discovery, process)
