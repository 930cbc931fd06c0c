"""The failover transport: a list of addresses, tried in rounds with waits between them.

A round tries each address once without a pause, the one lost last at the end; the first success ends it. After
a round without success it waits, longer each time (Fuse 1, "Failover"; ActiveMQ rules 7 to 10). While a round
runs, its first wait included, whatever a client wants to send waits for its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mqlab.engine.limits import LONGEST_REST
from mqlab.products.activemq.client.address_list import AddressList
from mqlab.products.activemq.client.addresses import FailoverOptions, Refused, same, with_options
from mqlab.products.activemq.client.backup_pool import BackupPool
from mqlab.products.activemq.transport.openwire import (
    Command,
    ForOneConnection,
    Response,
    Send,
    WireFormatInfo,
)
from mqlab.products.activemq.transport.sockets import Transport, TransportListener
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.engine.clock import Call
    from mqlab.products.activemq.client.calls import PendingCall
    from mqlab.products.activemq.lab import Lab

NO_LIMIT = -1
UNSET = 10  # ms: a wait of exactly the default is taken for "not set" (recording `initial_5`)


class FailoverTransport:
    """One client's way to whichever broker is there."""

    def __init__(
        self, lab: Lab, owner: TransportListener, options: FailoverOptions, addresses: Sequence[str]
    ) -> None:
        self.lab, self.owner, self.options = lab, owner, options
        self.addresses = AddressList(options, addresses)
        self.source: Transport | None = None  # the socket in use
        self.address: str | None = None
        self.delay: float = options.reconnect_delay
        self.failures = self.timer_no = 0
        self.first, self.rebalance, self.told_to_go = True, False, False
        self.reconnecting = self.stopped = self.scheduled = self.resting = False
        self.error: Refused | None = None
        self.failure: Refused | None = None
        self.order: list[str] = []
        self.trying: tuple[str, Transport] | None = None
        self.waiting: list[Command] = []  # to be sent when there is a connection
        self.requests: dict[int, Command] = {}  # sent, and not yet answered
        self.left_waiting = False  # whether anything still waited when it gave up
        self.after_round: list[tuple[PendingCall, dict[str, object]]] = []  # calls that end then
        self.after_reconnect: list[tuple[PendingCall, dict[str, object]]] = []
        self.backups = BackupPool(self)

    # Beginning and end

    def start(self) -> None:
        """Begin to look for a broker."""
        self.wake()

    def stop(self) -> None:
        """Close it for good; a round under way is seen to its end first."""
        self.stopped = True
        self.timer_no += 1
        self.backups.close()
        self.leave()

    @property
    def expects(self) -> bool:
        """Whether its next try would find a broker that answers, or a better one."""
        if self.stopped or self.error is not None or not (self.resting or self.reconnecting):
            return False
        known = [*self.addresses.updated, *self.addresses.configured]
        if self.source is not None:
            known = self.backups.preferred if self.backups.looks_for_priority else []
        return any(self.lab.directory.answers(self.owner.name, address) for address in known)

    # Sending

    def send(self, command: Command) -> None:
        """Send *command* now, or as soon as a connection is there."""
        if self.source is not None and not self.reconnecting:
            if command.request is not None:
                self.requests[command.request] = command
            self.source.send(command)
        elif not isinstance(command, ForOneConnection):
            self.waiting.append(command)

    def leave(self) -> None:
        """Give up the connection in use, for a better one; until then its address counts as that in use."""
        source, self.source = self.source, None
        if source is not None:
            source.close()

    def _flush(self) -> None:
        self._let_go()
        waiting, self.waiting = self.waiting, []
        for command in waiting:
            self.send(command)

    def _let_go(self, all_go: bool = True) -> None:
        held_up = self.after_round + self.after_reconnect * all_go
        self.after_round, self.after_reconnect = [], [] if all_go else self.after_reconnect
        for call, found in held_up:
            call.finish(**found)

    @property
    def away(self) -> bool:
        """Whether there is no connection to send over."""
        return self.source is None

    # The task: one round, or building backups

    def wake(self) -> None:
        """Look again what is to be done, as soon as the task is free."""
        if not self.scheduled and not self.stopped:
            self.scheduled = True
            self.lab.clock.schedule(self.lab.clock.now, self.iterate, None)

    def iterate(self, _: None) -> None:
        """Do one turn of the task, unless one is under way."""
        self.scheduled = False
        if self.stopped or self.error is not None or self.reconnecting or self.resting:
            return  # between two rounds only time ends the wait, whatever happens meanwhile
        if self.source is not None and not self.rebalance and not self.backups.ready:
            self.backups.build()
            if self.backups.looks_for_priority:
                self._nap(Reason.priority)
            return
        self.begin_round()

    def _nap(self, rule: int) -> None:
        """Wait as the back-off says, then go on with the task."""
        self.resting = True
        # Without a wait the next round still comes after this one: an attempt takes its time.
        wait = max(self.lab.timing.attempt, self._back_off(rule) + self.lab.timing.round)
        self._wait(wait, self.on_rested)

    def _wait(self, us: int, then: Call) -> None:
        """Wait; the end of a run waits too, for a client that will have given up before long."""
        if self.source is None and 0 <= self.gives_up_in <= LONGEST_REST:
            self.lab.pause(us, then, self.timer_no)
        else:
            self.lab.clock.schedule_background(self.lab.clock.now + us, then, self.timer_no)

    @property
    def gives_up_in(self) -> int:
        """How long (us) the waits of the rounds that are left take; -1 where nothing limits their number."""
        left = self.limit - self.failures
        return -1 if self.limit == NO_LIMIT else 1000 * self.options.waits(left, self.delay)

    def on_rested(self, nap: int) -> None:
        """The wait is over."""
        if nap == self.timer_no and not self.stopped:
            self.resting = False
            self.wake()

    def _back_off(self, rule: int) -> int:
        """Return the wait (us) that begins now, and set the next one."""
        self.timer_no += 1
        wait = int(max(0, self.delay)) * 1000
        if self.options.use_exponential_back_off:
            grown = self.delay * self.options.reconnect_delay_exponent
            self.delay = int(min(grown, self.options.max_reconnect_delay))  # perhaps below 0
        self.lab.record(Kind.Waited, chain=self.owner, frm=self.owner.node, age=wait, rule=rule)
        return wait

    # A round

    def begin_round(self) -> None:
        """Make the list; wait first if a connection was lost; then try one after the other."""
        self.addresses.read_file(self.lab)
        self.reconnecting = True
        self.order = self.addresses.order(self.lab.random)
        if not self.order:
            self.end_round(Refused("IOException", "No uris available to connect to."))
            return
        if self.rebalance and not self._leaves_for(self.order[0]):
            self.rebalance = self.reconnecting = False
            self._flush()
            self.wake()  # backups are built in the turn after
            return
        self.rebalance = False
        if not self.options.use_exponential_back_off or self.delay == UNSET:
            self.delay = self.options.initial_reconnect_delay
        # The first round after a loss begins at once in 5.5.1 (ActiveMQ rule 17.4).
        waits = self.options.initial_reconnect_delay > 0 and self.lab.edition != "5.5"
        if self.backups.backups:
            self._use_backup()
        elif waits and not (self.first or self.failures):
            self._wait(self._back_off(Reason.initial_delay), self.on_first_wait)
        else:
            self.try_next()

    def _leaves_for(self, first: str) -> bool:
        """A request to rebalance: whether it leads elsewhere; if so, leave the old broker.

        A command to go is obeyed even when it names the broker in use.
        """
        if self.backups.at_priority or (not self.told_to_go and same(first, self.address)):
            return False
        self.told_to_go = False
        self.leave()
        return True

    def on_first_wait(self, nap: int) -> None:
        """The wait before the first round after a loss is over; a close waits for its attempt."""
        if nap == self.timer_no or self.stopped:
            self.try_next()

    def _use_backup(self) -> None:
        address, source = self.backups.take()
        if not source.alive:  # its broker has gone: the round goes on without a wait
            self.try_next()
            return
        self.trying = (address, source)
        self._negotiate()

    def try_next(self) -> None:
        """Try the next address of the round; at the end of the list the round has failed."""
        while self.order:
            address = with_options(self.order.pop(0), self.options.nested)
            try:
                source = self.lab.directory.dial(self, address)
            except Refused as error:
                self.failure = error
                continue
            self.trying = (address, source)
            if self.first or self.lab.edition == "5.5":  # there it counts before the replay
                self.succeed()
            else:
                self._negotiate()
            return
        self.end_round(self.failure or Refused("IOException", "No uris available to connect to."))

    def _negotiate(self) -> None:
        """Wait for the broker's first word before anything is replayed."""
        assert self.trying is not None
        self.trying[1].send(WireFormatInfo())

    def succeed(self) -> None:
        """A connection is there: replay the state, then let go what waits."""
        assert self.trying is not None
        self.address, self.source = self.trying
        self.trying = None
        self.backups.at_priority = self.backups.prefers(self.address)
        first, self.first = self.first, False
        self.failures = 0
        self.delay = self.options.initial_reconnect_delay
        if self.stopped:
            self.source.close()
            self.reconnecting = False
            self._let_go()
            return
        if not first:
            self.owner.replay(self.source)
        for command in list(self.requests.values()):
            self.source.send(replace(command, resent=True) if isinstance(command, Send) else command)
        self.owner.on_attached(self.address)
        self.reconnecting = False
        self._flush()
        if self.source is not None:  # a backup's first try came 1 to 15 ms later
            clock, takes = self.lab.clock, self.lab.timing.round * self.backups.wanted
            clock.schedule(clock.now + takes, self.iterate, None)

    def end_round(self, failure: Refused) -> None:
        """A round has failed: give up at the limit, else wait and try again."""
        self.reconnecting = False
        self._let_go(self.stopped)
        if self.stopped:
            return
        self.failures += 1
        if NO_LIMIT != self.limit <= self.failures:
            self.fail(failure)
            return
        self._nap(Reason.back_off)

    @property
    def limit(self) -> int:
        """How many rounds may fail; any number below 1 but -1 means one."""
        at_start = self.options.startup_max_reconnect_attempts
        return at_start if self.first and at_start != NO_LIMIT else self.options.max_reconnect_attempts

    def fail(self, error: Refused) -> None:
        """End it for good: the exception listener hears of it, and whoever waits."""
        self.error = error
        self.left_waiting = bool(self.waiting)
        self.waiting, self.requests = [], {}
        self._let_go()
        self.owner.on_failed(error)

    # What sockets tell

    def on_command(self, source: Transport, command: Command) -> None:
        """A command came in: the first word of a new broker, or one of the broker in use."""
        if self.trying is not None and source is self.trying[1]:
            if isinstance(command, WireFormatInfo):
                self.succeed()
            return
        if source is not self.source:
            return
        if type(command) is Response:
            self.requests.pop(command.request or 0, None)
        self.owner.on_command(source, command)

    def on_closed(self, source: Transport) -> None:
        """A socket is gone: that of a try, a backup (which goes on to count), or the one in use."""
        if self.trying is not None and source is self.trying[1]:
            self.trying = None
            self.failure = source.failure
            self.try_next()
        elif self.backups.owns(source):
            self.wake()  # another may be wanted
        elif source is self.source and not self.stopped:
            self.source = None
            self.addresses.failed_uri, self.address = self.address, None
            self.backups.at_priority = False
            if self.limit == 0:
                self.fail(source.failure)
                return
            self.owner.on_interrupted()
            self.wake()

    # What a broker or an agent says about addresses

    def update(self, addresses: Sequence[str], rebalance: bool) -> None:
        """A broker names other brokers, and may ask to move to the first of them."""
        if self.addresses.tell(addresses):
            if self.source is not None:
                self.backups.build()
                self.rebalance = self.rebalance or rebalance
            self.wake()

    def go_to(self, address: str) -> None:
        """The broker tells the client to leave for another: it forgets the configured ones."""
        self.addresses.configured = [address]
        self.rebalance = self.told_to_go = self.source is not None
        self.wake()

    def add(self, address: str) -> None:
        """An address has come to be known."""
        if self.addresses.learn(address):
            self.wake()
