"""Sockets and the lines they run over: refused, reset, frozen, or deaf in one direction.

A frozen line (or a suspended process) loses nothing: what is under way is held until it goes on, or
until a reset takes it away. Whoever listens notices silence only by the inactivity check.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mqlab.engine.clock import Call
from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.transport.openwire import Command

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.products.activemq.client.direct_client import DirectClient
    from mqlab.products.activemq.lab import Lab
    from mqlab.products.activemq.transport.admission import UnregisteredConnection
    from mqlab.products.activemq.transport.transport_connection import TransportConnection

CHECK_AFTER, CHECK_EVERY = 10_000, 30_000  # ms: maxInactivityDurationInitalDelay and -Duration
# What a client is told of a connection that ends: the other end closed it, the line broke it, or
# nothing was heard.
CLOSED = Refused("EOFException", "the other end has closed the connection")
BROKEN = Refused("SocketException", "Connection reset")
SILENT = Refused("InactivityIOException", "Channel was inactive for too long")
NO_WORD = Refused("IOException", "Wire format negotiation timeout")
DROPPED = Refused("InactivityIOException", "Cannot send, channel has already failed")
# How long (us) until a client sees that its line is broken, and its spread: 1 to 20 ms were seen.
NOTICED = 1_000, 30
FIRST_WORD = 15_000  # ms that a client waits for the other end's first word, whatever it checks


class Transport(Protocol):
    """A connection as whoever opened it sees it: a socket, or a list of addresses in its place."""

    alive: bool
    failure: Refused
    last_delivered_sequence_id: int | None

    def send(self, command: Command) -> None:
        """Send *command* to the far end."""

    def close(self) -> None:
        """Close it in an orderly way."""


class SocketListener(Protocol):
    """Whoever opened a socket: a transport of a client or of a connector."""

    def on_closed(self, source: object) -> None:
        """The connection *source* is gone."""

    def on_command(self, source: Transport, command: Command) -> None:
        """A command came from the far end."""


class TransportListener(Protocol):
    """Whoever uses a transport: a client's connection or a bridge."""

    name: str
    node: int

    def on_attached(self, address: str) -> None:
        """A connection is there; what the state needs is to be replayed first."""

    def replay(self, source: Transport) -> None:
        """Send over *source* what a broker must know before anything else."""

    def on_interrupted(self) -> None:
        """The connection is lost; the transport looks for another."""

    def on_command(self, source: Transport, command: Command) -> None:
        """A command came from the broker."""

    def on_failed(self, error: Refused) -> None:
        """The transport has given up."""


@dataclass(eq=False)
class NetworkPath:
    """A line in front of a broker's port, or of the database.

    Where it is a `forwarder`, which listens itself, it accepts whether anybody listens behind it or not. One
    that a script's start has opened is closed by a stop of its broker, and not by a death.
    """

    state: str = "open"
    forwarder: bool = False
    sockets: list[TransportChannel] = field(default_factory=list)
    frozen_calls: list[tuple[Call, object]] = field(default_factory=list)

    @property
    def refuses(self) -> bool:
        """Whether new connections are refused."""
        return self.state == "refuse"

    @property
    def frozen(self) -> bool:
        """Whether nothing moves."""
        return self.state == "hang"

    def cut(self, how: str, cause: int | None = None) -> None:
        """Break the line; what `reset_once` breaks may be opened anew, on a line as it was before."""
        if how in ("refuse", "reset_once"):
            self.frozen_calls = []
            self.state = "refuse" if how == "refuse" else self.state
            broken = [socket for socket in self.sockets if socket.alive]
            for socket in broken:  # all at once: what the end of one makes a broker tell reaches no other
                socket.abandon()
            for socket in broken:
                socket.fall(cause, BROKEN, socket.lab.extra_delay(*NOTICED))
        else:
            self.state = how
            for socket in self.sockets:
                socket.fall_silent()
                socket.refresh()

    def heal(self) -> None:
        """Let everything move again, what was held first."""
        self.state = "open"
        for socket in self.sockets:
            socket.refresh()
        held, self.frozen_calls = self.frozen_calls, []
        for arrive, command in held:
            arrive(command)


class TransportChannel:
    """One connection to a broker, or to a listener that is none: what its lines and ends do to it."""

    broker_end: TransportConnection | UnregisteredConnection | None
    outlives_bridges = False  # its broker ends it by itself, when its bridges are down

    def __init__(
        self,
        lab: Lab,
        client_end: SocketListener | DirectClient,
        user: str,
        target: str,
        process: BrokerService | None,
        lines: tuple[NetworkPath, ...],
    ) -> None:
        self.lab, self.client_end, self.target = lab, client_end, target
        self.process, self.lines = process, lines
        self.broker_end = None
        self.alive = True
        self.leaving = False  # closed in an orderly way, and what was said before has not all come
        self.last_delivered_sequence_id: int | None = (
            None  # what is said with an orderly end: see TransportConnection.on_closed
        )
        self.failure = CLOSED  # how it ended
        self.silent_since: int | None = None if process is not None else -1
        self.looked, self.last_heard_us, self.flagged = -2, -1, False
        far = process.name if process is not None else target
        self.out, self.back = lab.new_link(user, far), lab.new_link(far, user)
        for place in (*lines, process):
            if place is not None:
                place.sockets.append(self)
        self.refresh()
        if self.impaired:
            self.silent_since = -1

    @property
    def mute(self) -> bool:
        """Whether nothing is heard on it now: nothing moves, or what comes back is dropped."""
        paused = self.process is not None and self.process.paused
        return paused or any(line.state in ("hang", "drop_replies") for line in self.lines)

    def refresh(self) -> None:
        """See whether anything is in the way: who passes asks only this, as long as nothing is."""
        mute = self.mute
        self.impaired = not self.alive or mute
        if not mute and self.silent_since is not None and self.silent_since >= 0:
            self.silent_since = None

    def join(self, line: NetworkPath) -> None:
        """Run over *line* too from now on."""
        self.lines = (*self.lines, line)
        line.sockets.append(self)
        self.refresh()

    def lets_pass(self, back: bool, call: Call, argument: object) -> bool:
        """Whether what has come may arrive now, at the near end if *back*; it may be held or lost."""
        if not self.alive:
            return False
        for line in self.lines:
            if line.state == "open":
                continue
            if line.frozen:
                line.frozen_calls.append((call, argument))
                return False
            if back and line.state == "drop_replies":
                return False
        if self.process is not None and self.process.paused:
            self.process.frozen_calls.append((call, argument))
            return False
        if back:
            if self.silent_since == -1:
                self.silent_since = None
            self.last_heard_us = self.lab.clock.now
        return True

    def swallows(self, back: bool) -> bool:
        """Whether what comes now to the near end, if *back*, is lost on a line that drops replies."""
        states = [line.state for line in self.lines]
        return back and self.alive and "drop_replies" in states and "hang" not in states

    def close(self) -> None:
        """The near end closes it in an orderly way."""
        if self.alive:
            self.abandon()
            self.leaving = True
            self.out.carry(self._far_gone, self.last_delivered_sequence_id)

    def reset(self, cause: int | None = None, failure: Refused = CLOSED, late: int = 0) -> None:
        """It breaks, because of row *cause*; the near end sees it *late* us after the far end."""
        if self.alive:
            self.abandon()
            self.fall(cause, failure, late)

    def fall(self, cause: int | None, failure: Refused, late: int) -> None:
        """Both ends find it broken."""
        self.failure = failure
        self._far_gone(None)
        if late:
            self.lab.clock.schedule(self.lab.clock.now + late, self.on_broken, cause)
        else:
            self.on_broken(cause)

    def on_broken(self, cause: int | None) -> None:
        """The near end sees that it has broken."""
        if cause is not None:
            self.lab.set_cause(self.client_end, cause)
        self.client_end.on_closed(self)

    def _far_gone(self, farewell: int | None) -> None:
        self.leaving = False
        if self.broker_end is not None:
            self.broker_end.on_closed(farewell)

    # The inactivity check of the near end

    def watch(self, after: int, every: int) -> None:
        """Look *after* ms for the first time, then *every* ms, whether anything was heard."""
        if every > 0:
            now = self.lab.clock.now
            self.lab.clock.schedule_background(now + after * 1000, self.on_check, every * 1000)

    def expect(self) -> None:
        """Break the connection if nothing is heard at all for the time of a first word."""
        self.lab.clock.schedule_background(self.lab.clock.now + FIRST_WORD * 1000, self.on_no_word, None)

    def on_dropped(self, _: None) -> None:
        """Whoever accepted it has closed it at once: what is to be said first finds it broken."""
        self.reset(failure=DROPPED)

    def on_no_word(self, _: None) -> None:
        """The time for the first word is over."""
        if self.silent_since == -1:
            self.reset(failure=NO_WORD)

    def abandon(self) -> None:
        """It ends without a word: all is said, or nobody is there."""
        self.alive = False
        self.impaired = True
        for place in (*self.lines, self.process):
            if place is not None and self in place.sockets:
                place.sockets.remove(self)

    def fall_silent(self) -> None:
        """From now on nothing is heard."""
        if self.silent_since is None:
            self.silent_since = self.lab.clock.now

    def on_check(self, every: int) -> None:
        """Break the connection when nothing was heard for too long.

        A look after which anything was heard passes; after a look that heard more than signs of
        life, the next passes too (recordings `silent_address`, `frozen_line_inactivity_2000_early`).
        """
        if not self.alive:
            return
        now, before = self.lab.clock.now, self.looked
        quiet = self.mute or self.silent_since == -1
        heard = self.silent_since if quiet and self.silent_since is not None else now
        self.looked = now
        if heard > before and heard >= 0:
            self.flagged = self.last_heard_us > before
        elif self.flagged:
            self.flagged = False
        else:
            self.reset(failure=NO_WORD if self.silent_since == -1 else SILENT)
            return
        self.lab.clock.schedule_background(now + every, self.on_check, every)


class Socket(TransportChannel):
    """A connection over which commands go."""

    client_end: Any  # a `SocketListener`; whoever has no handshake hears no commands

    def send(self, command: Command) -> None:
        """Send *command* to the far end."""
        line = self.out
        line.carry(self.arrive, command, 0, 0 if line.plain else command.size)  # else nobody asks for it

    def arrive(self, command: Command) -> None:
        """A command has come to the far end, if nothing holds it."""
        if self.impaired and not (self.leaving or self.lets_pass(False, self.arrive, command)):
            return
        if self.broker_end is not None:
            self.broker_end.on_command(command)

    def reply(self, command: Command) -> None:
        """Send *command* to the near end."""
        line = self.back
        line.carry(self.arrive_back, command, 0, 0 if line.plain else command.size)

    def arrive_back(self, command: Command) -> None:
        """A command has come to the near end, if nothing holds or swallows it."""
        if self.lets_pass(True, self.arrive_back, command):
            self.client_end.on_command(self, command)
