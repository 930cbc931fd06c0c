"""Pure master/slave of 5.5: the slave mirrors what the master does, and has a store of its own.

The slave knows only sessions that were opened after it came: what an older one sends is unknown
to it, and nothing that came before is ever made good (Fuse 4, "Pure master/slave";
ActiveMQ rules 7.24 and 17).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mqlab.products.activemq.broker.durable import InactiveDurableSubscription
from mqlab.products.activemq.broker.message import Message
from mqlab.products.activemq.broker.subscription import Subscription
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.transport.mirrored_work import Work
from mqlab.products.activemq.transport.openwire import Command, ConsumerCommand, MirroredWork, Send
from mqlab.products.activemq.transport.sockets import Socket, Transport
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.client.message_consumer import MessageConsumer

Answer = Callable[[int | None, Refused | None], None]  # to the request of that number

SHUTDOWN = 1_500_000  # us between a slave's loss and its master's end


class PureMasterSlave:
    """One broker's part in a pure pair: as a slave, or as the master of any number of slaves."""

    def __init__(self, process: BrokerService) -> None:
        self.process, self.lab = process, process.lab
        self.pure = process.member.pure
        self.name, self.node = process.name, process.node
        self.socket: Socket | None = None  # a slave's, to its master
        self.slaves: list[PureMasterSlave] = []
        self.waiting: list[tuple[int, Answer, int | None]] = []
        self.mirrored_subs: dict[str, Subscription] = {}  # a slave's, by their durable consumers
        self.count = self.done = self.owed = self.since = 0
        self.opening = False

    @property
    def is_slave(self) -> bool:
        """Whether it is configured as somebody's slave."""
        return self.pure.slave_of is not None

    @property
    def attached(self) -> bool:
        """Whether a slave is attached to it."""
        return bool(self.slaves)

    # The slave

    def begin(self) -> None:
        """Attach to the master; without one it is the master at once."""
        self.process.broker.start()
        try:
            self.socket = self.lab.directory.dial(self, self.lab.directory.address_of(self.pure.slave_of or ""))
        except Refused:
            self.take_over(Reason.no_master)
            return
        assert self.socket is not None
        assert self.socket.process is not None
        master = self.lab.processes[self.socket.process.name]
        assert master.pure_master_slave is not None
        self.lab.record(
            Kind.Replicated,
            chain=self.process,
            broker=self.node,
            frm=master.node,
            to=self.node,
            rule=Reason.mirrors,
        )
        master.pure_master_slave.attach(self)

    def replay(self, source: Transport) -> None:
        """A slave has nothing to replay."""

    def on_command(self, source: Transport, command: Command) -> None:
        """Do what the master has done and say so, unless the process is suspended."""
        if self.process.paused:
            self.process.frozen_calls.append((self.on_held, (source, command)))
        elif isinstance(command, MirroredWork):
            for one in command.work:
                self.apply(one)
            source.send(MirroredWork(self, command.count, []))

    def on_held(self, held: tuple[Transport, Command]) -> None:
        """What came in while the process was suspended."""
        source, command = held
        if source.alive:
            self.on_command(source, command)

    def on_closed(self, source: Transport) -> None:
        """The link to the master is gone: whether it died or not, nobody can tell."""
        if source is not self.socket:
            return
        self.socket = None
        self.leave()
        if self.process.role != "slave":
            return
        if self.pure.shutdown_on_master_failure:
            self.process.stop()
        else:
            self.take_over(Reason.connection_lost)

    def take_over(self, rule: int) -> None:
        """Open the connectors: it is the master now.

        What waits for a durable subscriber that is not away was out (`DurableTopicSubscription.deactivate`).
        """
        for name, sub in self.mirrored_subs.items():
            for message in sub.waiting if not self.lab.consumers[name].closed else ():
                message.was_out()
        self.mirrored_subs.clear()
        self.process.open = True
        self.process.become("master", rule)
        self.lab.serve(self.process)

    def apply(self, command: Work) -> None:
        """Do at the slave what a client did at the master (ActiveMQ rule 17.2)."""
        broker = self.process.broker
        if isinstance(command, Send):
            broker.take_over_each(command.message, broker.entry(command.node), command.row)
        elif isinstance(command, ConsumerCommand):
            self._mirror(command.consumer)
        elif (sub := self.mirrored_subs.get(command.consumer)) is not None:
            done = {message.number for message in command.messages}
            sub.waiting = deque(message for message in sub.waiting if message.number not in done)
        else:
            for message in command.messages:
                self._forget(message)

    def _forget(self, message: Message) -> None:
        destination = self.process.broker.destination(message.dest)
        for held in list(destination.messages):
            if held.number == message.number:
                del destination.messages[held]
                destination.pending_messages.remove(held)  # type: ignore[union-attr]
                destination.numbers.pop(held.number, None)  # type: ignore[union-attr]
                self.process.broker.record_message(Kind.Acknowledged, held, cause=held.row)

    # The master

    def may_open(self) -> bool:
        """A master may hold its start back until a slave is there."""
        if self.is_slave or not self.pure.wait_for_slave or self.attached:
            return True
        self.opening = True
        self.process.starting = True
        self.process.later(self.pure.wait_for_slave_timeout * 1000, self.on_no_slave)
        return False

    def on_no_slave(self, _: None) -> None:
        """No slave has come in time."""
        if self.opening:
            self.opening = False
            self.process.fail_to_start(Refused("IllegalStateException", "Gave up waiting for slave"))

    def attach(self, slave: PureMasterSlave) -> None:
        """A slave has come; a second one is not refused."""
        self.slaves.append(slave)
        slave.since = self.lab.new_request()
        slave.done = slave.owed = self.count
        if self.opening:
            self.opening = False
            self.process.on_opened("running")

    def _mirror(self, consumer: MessageConsumer) -> None:
        """Make what a consumer makes at the master: its queue, or its durable subscription."""
        broker, dest, key = self.process.broker, consumer.dest, consumer.durable
        if key is None:
            if not (dest.is_pattern or dest.is_temporary):
                broker.destination(dest)
            return
        if key not in broker.durables:
            made = InactiveDurableSubscription(broker, key, dest, None)
            made.selector = consumer.info().selector
            broker.durables[key] = made
            broker.join(made)
        self.mirrored_subs[consumer.name] = broker.durables[key]

    def replicate(self, since: int, work: Sequence[Work]) -> bool:
        """Let the slaves do the same that know of a session opened then; False if none does."""
        knowing = [slave for slave in self.slaves if slave.since < since]
        if not work or not knowing:
            return False
        self.count += 1
        for slave in knowing:
            slave.owed = self.count
            assert slave.socket is not None
            slave.socket.reply(MirroredWork(self, self.count, work))
        return True

    def mirrored(self, slave: PureMasterSlave, count: int) -> None:
        """A slave has the work of that number."""
        slave.done = count
        self._settle()

    def _settle(self) -> None:
        """Answer whatever all slaves have done."""
        ready = min((s.done for s in self.slaves if s.owed > s.done), default=self.count)
        waiting, self.waiting = self.waiting, []
        for count, answer, request in waiting:
            if count <= ready:
                answer(request, None)
            else:
                self.waiting.append((count, answer, request))

    def lost(self, slave: PureMasterSlave) -> None:
        """A slave has gone: go on alone, or stop."""
        if slave not in self.slaves:
            return
        self.slaves.remove(slave)
        self._settle()
        if self.pure.shutdown_on_slave_failure:
            self.process.after(SHUTDOWN, self.on_shutdown)

    def on_shutdown(self, _: None) -> None:
        """A master that must not be without a slave ends."""
        self.process.stop()

    def ended(self) -> None:
        """The process is gone."""
        self.socket = None
        self.mirrored_subs.clear()
        self.waiting, self.opening, self.done = [], False, 0
        self.slaves = []
        self.leave()

    def leave(self) -> None:
        """Its master, if it has one, sees that the link is gone."""
        if self.pure.slave_of is not None:
            master = self.lab.processes[self.pure.slave_of].pure_master_slave
            if master is not None:
                master.lost(self)
