"""A broker as a process: it starts, waits for its lock, serves, stops, dies, is suspended.

What the broker does with messages is the core's; here is when it does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.engine.clock import Call
from mqlab.products.activemq.broker.broker import Broker
from mqlab.products.activemq.broker.message_audit import MessageAudit
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.client.discovery import known_agent
from mqlab.products.activemq.ha.cluster_client_updates import ClusterClientUpdates
from mqlab.products.activemq.ha.jdbc import RECONNECT
from mqlab.products.activemq.transport.sockets import NetworkPath, TransportChannel
from mqlab.spec.member import BrokerSettings
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.ha.lockers import AbstractLocker
    from mqlab.products.activemq.ha.pure_master_slave import PureMasterSlave
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.network.network_connector import DiscoveryNetworkConnector

RESTARTS = 300  # spread of a restart in the same program: 1 to 340 ms were seen
ROLES = ("down", "slave", "master", "running")


class BrokerService:
    """One broker over all its lives; `role` is one of down, slave, master, running."""

    def __init__(self, lab: Lab, member: BrokerSettings, broker: Broker) -> None:
        self.lab, self.member, self.broker = lab, member, broker
        self.name, self.node = member.name, broker.node
        timing = lab.timing
        costs = timing.process if member.process else timing.broker
        self.costs = costs.taken(lab.random_duration)
        self.role = self.observed_role = "down"  # who looks sees a broker until it has ended
        line = NetworkPath("refuse", forwarder=True) if lab.by_calls else NetworkPath()
        self.line = line if member.link else None
        self.bridged: dict[str, int] = {}  # to whom it has a bridge, as was told, with the life that has it
        self.sockets: list[TransportChannel] = []
        self.frozen_calls: list[tuple[Call, object]] = []
        self.paused = self.open = self.starting = False
        self.connectors: list[DiscoveryNetworkConnector] = []
        self.in_database = broker.spec.get("store", lab.edition) == "jdbc"
        self.incarnation = 0
        self.producer_audit = MessageAudit()  # of the messages that producers have sent
        lasts = member.locker is not None or member.store == "kahadb"
        store = f"own:{member.name}" if member.locker is None else member.locker.store
        self.lasting_audit = lab.audits[store] if lasts else None  # of its store, over lives and members
        self.cluster = ClusterClientUpdates(self)
        self.locker: AbstractLocker | None = lab.locker_for(self)
        self.pure_master_slave: PureMasterSlave | None = lab.pure_master_slave_for(self)
        self.restarting = self.new_id = False
        self.stale_ids: set[str] = set()  # client ids that nobody has any more, and nobody may have

    @property
    def alive(self) -> bool:
        """Whether the process is there at all."""
        return self.role != "down" or self.starting

    @property
    def waits_for_slave(self) -> bool:
        """Whether its port is there for its slave alone: it drops the connections of clients."""
        return self.pure_master_slave is not None and self.pure_master_slave.opening

    # Time as the process feels it

    def after(self, us: int, call: Call, argument: object = None) -> None:
        """Let *call* happen in *us*, unless this life ends before; a suspended one is late."""
        clock = self.lab.clock
        clock.schedule(clock.now + us, self._on_timer, (self.incarnation, call, argument))

    def later(self, us: int, call: Call, argument: object = None) -> None:
        """Let *call* happen in *us* as `after` does; a network at rest does not wait for it."""
        clock = self.lab.clock
        clock.schedule_background(clock.now + us, *self.timer(call, argument))

    def timer(self, call: Call, argument: object = None) -> tuple[Call, object]:
        """Return *call* with *argument* as what happens only in this life, if not suspended."""
        return self._on_timer, (self.incarnation, call, argument)

    def _on_timer(self, timer: tuple[int, Call, object]) -> None:
        life, call, argument = timer
        if life != self.incarnation:
            return
        if self.paused:
            self.frozen_calls.append((self._on_timer, timer))
        else:
            call(argument)

    # Starting

    def start(self, new_id: bool = False) -> None:
        """Begin to start, if it is not there already, perhaps under a new broker id."""
        if self.alive:
            return
        self.new_id = new_id
        self.incarnation += 1
        self.starting = True
        self.after(self.costs.start, self.on_begun)

    def on_begun(self, _: None) -> None:
        """The program runs: a member of a set waits for its lock, any other serves soon."""
        self.starting = False
        try:
            self.check_connectors()
        except Refused as error:
            self.fail_to_start(error)
            return
        if self.locker is not None:
            self.become("slave", Reason.waits_for_lock)
            self.locker.begin()
        elif self.pure_master_slave is not None and self.pure_master_slave.is_slave:
            self.become("slave", Reason.mirrors)
            self.pure_master_slave.begin()
        elif self.pure_master_slave is not None and not self.pure_master_slave.may_open():
            pass  # its port is there, for nobody but the slave
        else:
            self.starting = True
            cost = self.costs.again if self.incarnation > 1 else self.costs.serve
            self.after(self.on_disk(cost), self.on_opened, "running")

    def fail_to_start(self, error: Refused) -> None:
        """The start ends in an error: nothing is left of the process."""
        self.lab.record(
            Kind.Failed,
            chain=self,
            broker=self.node,
            rule=Reason.start_failed,
            detail={"class": error.kind, "message": str(error)},
        )
        self._end(Kind.Stopped, open_before=False)

    def _look_what_is_stored(self, audit: MessageAudit) -> None:
        """A database knows of sends what is still in it (`getLastProducerSequenceId` of its adapter)."""
        audit.clear()
        kept = [m.number for queue in self.broker.by_name.values() for m in getattr(queue, "messages", ())]
        kept += [m.number for sub in self.broker.durables.values() for m in sub.waiting]
        for number in range(1, max(kept, default=0) + 1):
            audit.add(number)

    def become_master(self) -> None:
        """The lock is its own: open the store, then the connectors."""
        self.starting = True
        waited = self.locker is not None and self.locker.waited
        cost = self.costs.lead if waited else self.costs.first_lead
        self.after(self.on_disk(cost), self.on_opened, "master")

    def on_disk(self, time: int) -> int:
        """Return what something takes that goes to the disk of its store, usually *time* us."""
        disks, locker = self.lab.disks, self.member.locker
        if not disks:  # none is slow
            return time
        shared = disks.get(locker.store, 1.0) if locker is not None else 1.0
        return int(time * disks.get(self.name, shared))

    def on_opened(self, role: str) -> None:
        """The store is read: open the port and the network connectors."""
        self.starting = False
        self.open = True
        self.become(role, Reason.lock_taken if role == "master" else Reason.no_lock)
        self.broker.start(self.new_id)
        if self.in_database and self.lasting_audit is not None:
            self._look_what_is_stored(self.lasting_audit)
        self.lab.serve(self)

    def become(self, role: str, rule: int) -> None:
        """Take another role."""
        self.role = self.observed_role = role
        self.lab.record(Kind.RoleChanged, chain=self, broker=self.node, rule=rule, detail={"role": role})

    # Connectors

    def check_connectors(self) -> None:
        """Raise `Refused` for a connector with which the broker does not start."""
        if self.member.discovery is not None:
            known_agent(self.lab, self.member.discovery)
        for connector in self.connectors:
            connector.check()

    def stop_connectors(self) -> None:
        """The broker ends: so do its connectors."""
        for connector in self.connectors:
            connector.stop()

    def close_connectors(self) -> None:
        """The broker goes on, but nobody can talk to it, and it talks to nobody."""
        self.open = False
        self.stop_connectors()
        self.lab.lan.withdraw(self.lab.directory.address_of(self.name))
        for socket in list(self.sockets):
            socket.reset()

    # Ending

    @property
    def takes_to_stop(self) -> int:
        """How long (us) an orderly stop takes; who needs a database which is away tries to connect to it."""
        tries = self.role != "down" and self.in_database and self.lab.database.away
        return self.costs.stop + RECONNECT * tries

    def stop(self, asked_restart: bool = False) -> None:
        """End in an orderly way; with *asked_restart* it starts again if that is allowed."""
        if not self.alive:
            return
        restart = asked_restart and self.member.restart_allowed
        if restart:
            self.lab.record(Kind.Restarted, chain=self, broker=self.node, rule=Reason.asks_restart)
        if self.locker is not None:
            self.locker.release(orderly=not restart)
        self.lab.lan.withdraw(self.lab.directory.address_of(self.name))
        self.restarting = restart
        self._end(Kind.Stopped)
        self.restarting = False
        if restart:
            self.incarnation += 1
            self.starting = True
            self.after(self.lab.random_duration(self.lab.timing.restart, RESTARTS), self.on_begun)

    def kill(self) -> None:
        """Die at once: the operating system closes its sockets and frees its file locks."""
        if not self.alive:
            return
        self.paused, self.frozen_calls = False, []  # who is suspended never goes on
        if self.locker is not None:
            self.locker.die()
        self._end(Kind.Crashed)

    def _end(self, kind: int, open_before: bool = True) -> None:
        row = self.lab.record(kind, chain=self, broker=self.node, rule=Reason.asked)
        self.incarnation += 1
        self.starting = self.open = False
        if kind == Kind.Stopped:  # it is there to see its bridges come down
            self._hang_up(row)
        if self.role != "down":
            at_once = kind == Kind.Crashed or self.restarting or not open_before  # there is nothing to close
            cost = 0 if at_once else self.takes_to_stop
            self.role = "down"
            self.lab.clock.schedule(self.lab.clock.now + cost, self._note_down, None)
        self._hang_up(row)
        if self.broker.running:
            self.broker.stop(row, crashed=kind == Kind.Crashed)
        self.producer_audit.clear()
        self.stale_ids.clear()
        self.cluster.clear()
        if self.pure_master_slave is not None:
            self.pure_master_slave.ended()

    def _hang_up(self, row: int) -> None:
        self.stop_connectors()
        for socket in list(self.sockets):
            if not socket.outlives_bridges:
                socket.reset(row)

    def _note_down(self, _: None) -> None:
        self.observed_role = self.role
        self.lab.record(
            Kind.RoleChanged,
            chain=self,
            broker=self.node,
            rule=Reason.none,
            detail={"role": "down"},
        )

    # Being suspended

    def pause(self) -> None:
        """Stand still: nothing is lost, nothing is answered, no timer runs."""
        if self.alive and not self.paused:
            self.paused = True
            if self.locker is not None:
                self.locker.suspended()
            for socket in self.sockets:
                socket.refresh()
            self.lab.record(Kind.Suspended, chain=self, broker=self.node, rule=Reason.asked)
            for socket in self.sockets:
                socket.fall_silent()

    def resume(self) -> None:
        """Go on: what has come in meanwhile is dealt with, overdue timers run."""
        if self.paused:
            self.paused = False
            for socket in self.sockets:
                socket.refresh()
            self.lab.record(Kind.Resumed, chain=self, broker=self.node, rule=Reason.asked)
            if self.locker is not None:
                self.locker.resumed()
            held, self.frozen_calls = self.frozen_calls, []
            for call, argument in held:
                call(argument)
