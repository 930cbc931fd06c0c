"""Locks in a database: a row that is locked, or a row that says until when (Fuse 4, "JDBC").

The default locker holds an open transaction on the lock table, which the database ends when the
connection does. The lease locker writes who is the master, and until when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.products.activemq.client.addresses import Refused
from mqlab.products.activemq.ha.lockers import AbstractLocker
from mqlab.products.activemq.transport.sockets import NetworkPath
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.engine.clock import Call
    from mqlab.products.activemq.broker.broker_service import BrokerService
    from mqlab.spec.member import LockerSettings

RECONNECT = 1_200_000  # us until a connection to an absent database is given up
# How often H2 lets a statement wait for a row until it fails: the second one of a slave is over after 2.0 s
# with a limit of 500 ms, after 4.0 with 1000 (27 takeovers at 900 to 4200 ms, two plays each).
TRIES, SLOWER = 2, 1.5  # a slow machine takes longer for it
MAKING = 50_000  # us in which members that start together make the tables of an empty database
# Shares of the runs in which it was seen: all failed who made the same tables (three_start_empty_database); a
# suspended master had rows in hand that the next one needs to open its store (lease_paused_*), or the row of
# the lease itself (lease_same_holder_name_paused).
CLASHED, IN_HAND, OF_LEASE = 0.2, 0.4, 0.2
CLOSED = Refused("JdbcSQLNonTransientConnectionException", "Database is already closed")
CLASH = Refused("JdbcSQLSyntaxErrorException", 'Column "XID" not found')


class Database:
    """The one database of a scenario: its line, the lock's holder, and the lease."""

    def __init__(self) -> None:
        self.line = NetworkPath()
        self.holder: DefaultDatabaseLocker | None = None
        self.lease_holder: str | None = None
        self.lease_until: int | None = None  # us by the clock of who wrote it; None is free
        self.waiting: list[DefaultDatabaseLocker] = []
        self.users: list[AbstractLocker] = []
        self.makers: list[JdbcLocker] = []  # those who started while it had no tables
        self.has_tables = False
        self.in_hand: JdbcLocker | None = None  # who is suspended, and has rows that others need
        self.lease_in_hand = False  # the row of the lease is one of them
        self.held_up: list[tuple[Call, object]] = []  # what waits for it, each in one life of its process

    @property
    def away(self) -> bool:
        """Whether it cannot be reached."""
        return self.line.refuses

    def cut(self, how: str, cause: int | None = None) -> None:
        """Connections break, or freeze; a transaction ends with its connection."""
        frozen = self.line.frozen_calls
        self.line.cut(how, cause)
        if how in ("refuse", "reset_once"):
            self.free(None)
            self.let_go()
            for user in list(self.users):
                user.connection_lost()  # type: ignore[attr-defined]
            for query, argument in frozen:
                query(argument)

    def freezes(self, query: Call, argument: object) -> bool:
        """Whether nothing moves: *query* is then made once the line is healed, or broken."""
        if self.line.state in ("open", "refuse"):
            return False
        self.line.frozen_calls.append((query, argument))
        return True

    def make_tables(self, maker: JdbcLocker) -> None:
        """An empty database gets its tables from whoever starts first."""
        if self.has_tables:
            return
        self.makers.append(maker)
        if len(self.makers) == 1:
            clock = maker.lab.clock
            clock.schedule_background(clock.now + MAKING, self.on_tables, maker)

    def on_tables(self, maker: JdbcLocker) -> None:
        """The tables are there; of several who made them at the same time perhaps none starts."""
        self.has_tables = True
        makers, self.makers = self.makers, []
        serves = any(one.process.open for one in makers)  # whoever does has found all tables
        if len(makers) > 1 and not serves and maker.lab.chance(CLASHED):
            for one in (one for one in makers if one.process.alive):
                one.die()
                one.process.fail_to_start(CLASH)

    def let_go(self) -> None:
        """Who was suspended with rows in hand has gone on, or is no more."""
        held_up, self.held_up, self.in_hand = self.held_up, [], None
        self.lease_in_hand = False
        for call, argument in held_up:
            call(argument)

    def heal(self) -> None:
        """It can be reached again."""
        self.line.heal()

    def free(self, who: DefaultDatabaseLocker | None) -> None:
        """The lock is free, unless somebody else than *who* has it: the next in line gets it."""
        if who is not None and self.holder is not who:
            return
        self.holder = None
        while self.waiting and who is not None and self.holder is None:
            self.waiting.pop(0).granted()


class JdbcLocker(AbstractLocker):
    """What both database lockers have in common: a connection that can break."""

    def __init__(self, process: BrokerService, locker: LockerSettings, database: Database) -> None:
        super().__init__(process, locker)
        self.database = database
        self.broken = False
        database.users.append(self)

    def begin(self) -> None:
        """Connect first: without the database the start fails."""
        self.broken = False
        if self.database.away:
            self.process.later(RECONNECT, self.on_unreachable)
            return
        self.database.make_tables(self)
        self.look_for_tables()

    def look_for_tables(self) -> None:
        """Write the first row of the lock, which may be there; then ask for the lock."""
        super().begin()

    def poll(self, _: None) -> None:
        """Ask for the lock, as soon as the database listens."""
        if not self.database.freezes(*self.process.timer(self.poll)):
            self.ask()

    def ask(self) -> None:
        """Ask for the lock."""
        super().poll(None)

    def on_check(self, _: None) -> None:
        """Look whether the lock is still its own, as soon as the database listens."""
        if not self.database.freezes(*self.process.timer(self.on_check)):
            self.renew()

    def renew(self) -> None:
        """Look whether the lock is still its own."""
        super().on_check(None)

    def on_unreachable(self, _: None) -> None:
        """Nobody answers."""
        if self.database.away:
            self.process.fail_to_start(Refused("ConnectException", "Connection refused"))
        else:
            self.look_for_tables()

    def obtained(self) -> None:
        """Serve, unless somebody who is suspended has rows in hand that are needed for it."""
        if self.database.in_hand is None:
            super().obtained()
        else:
            self.database.held_up.append(self.process.timer(self.on_rows_free))

    def on_rows_free(self, _: None) -> None:
        """Nobody has them in hand any more."""
        super().obtained()

    def suspended(self) -> None:
        """A master that is suspended may have just changed something."""
        if self.process.role == "master" and self.lab.chance(IN_HAND):
            self.database.in_hand = self
            self.database.lease_in_hand = self.lab.chance(OF_LEASE)

    def resumed(self) -> None:
        """What it had in hand is written."""
        if self.database.in_hand is self:
            self.database.let_go()

    def connection_lost(self) -> None:
        """The database connection broke."""
        self.broken = True


class DefaultDatabaseLocker(JdbcLocker):
    """The default locker: a row lock, kept by an open transaction (ActiveMQ, pluggable storage lockers)."""

    asked = 0
    finds_tables = False  # its statement waits for the row of the lock

    def look_for_tables(self) -> None:
        """Wait for the row of whoever has the lock, as the query for the lock does after it.

        An INSERT (`Statements.getCreateLockSchemaStatements`) waits there for so long, fails, and that is
        ignored; a slave whose connection breaks meanwhile does not start (ActiveMQ rule 16.8).
        """
        if self.database.holder is None:
            super().look_for_tables()
            return
        self.finds_tables = True
        self._wait()

    def obtain(self) -> bool:
        """Ask for the row; a query that has to wait, waits in the database for a while first."""
        if self.database.away or self.database.holder is not None:
            return False
        self.database.holder = self
        self.broken = False
        return True

    def ask(self) -> None:
        """Ask, wait in the database as long as it lets a query wait, then sleep."""
        if self.database.holder is None or self.database.away:
            super().ask()
            return
        self._wait()

    def _wait(self) -> None:
        self.asked += 1
        self.database.waiting.append(self)
        clock, wait = self.lab.clock, TRIES * self.locker.query_timeout * 1000
        wait += self.lab.extra_delay(wait, SLOWER)
        clock.schedule_background(clock.now + wait, self.on_query_timeout, self.asked)

    def on_query_timeout(self, asked: int) -> None:
        """The database has let the query wait long enough, even if the candidate is suspended."""
        if self in self.database.waiting and asked == self.asked:
            self.database.waiting.remove(self)
            if self.finds_tables:
                self.finds_tables = False
                self.process.later(0, self.poll)
            else:
                self.sleep()

    def granted(self) -> None:
        """The row became free while the query waited."""
        self.asked += 1
        self.waited, self.finds_tables = True, False
        self.database.holder = self
        self.broken = False
        self.record(Kind.Locked, Reason.lock_free)
        self.process.after(0, self.on_granted)

    def on_granted(self, _: None) -> None:
        """The answer has come."""
        self.obtained()

    def still_mine(self) -> bool:
        """Whether its transaction still stands."""
        return self.database.holder is self and not self.database.away and not self.broken

    def connection_lost(self) -> None:
        """The transaction has ended; a query that waited has failed and is asked again, not the first one."""
        super().connection_lost()
        if self in self.database.waiting:
            self.database.waiting.remove(self)
            self.asked += 1
            if self.finds_tables:
                self.finds_tables = False
                self.process.fail_to_start(CLOSED)
            else:
                self.process.later(self.interval, self.poll)

    def release(self, orderly: bool) -> None:
        """The transaction is rolled back."""
        self._leave()

    def die(self) -> None:
        """The database sees the broken connection at once."""
        self.resumed()
        self._leave()

    def _leave(self) -> None:
        if self in self.database.waiting:
            self.database.waiting.remove(self)
        self.database.free(self)


class LeaseDatabaseLocker(JdbcLocker):
    """The lease locker: a row with a name and a time, which has to be renewed (5.7 and later)."""

    @property
    def name(self) -> str:
        """Under which name the lease is had."""
        return self.locker.holder or self.process.member.broker_name

    @property
    def now(self) -> int:
        """The time by this broker's clock, put right if it is too far from the database's (us)."""
        database = self.lab.clock.now
        clock = database + round(self.process.member.clock_offset * 1_000_000)
        limit = self.locker.max_diff * 1000
        return database if limit and abs(clock - database) > limit else clock

    def obtain(self) -> bool:
        """Take the lease if it has expired, whoever had it."""
        until = self.database.lease_until
        if self.database.away or self.database.lease_in_hand:
            return False
        if until is not None and until >= self.now:
            return False
        self._write()
        return True

    def _write(self) -> None:
        self.database.lease_holder = self.name
        self.database.lease_until = self.now + self.interval

    def still_mine(self) -> bool:
        """Renew it; without the database all goes on as if it were well, unless stopOnError."""
        if self.database.away:
            return not self.locker.stop_on_error
        if self.database.lease_holder != self.name:
            return False
        self._write()
        return True

    def renew(self) -> None:
        """Renew; a handler for I/O errors closes the connectors while the database is away."""
        resume = self.process.member.io_resume
        if self.database.away and resume is not None and self.process.open:
            self.process.close_connectors()
            self.process.later(resume * 1000, self.on_look)
        super().renew()

    def on_look(self, _: None) -> None:
        """The handler looks whether the database is back."""
        if self.database.away:
            resume = self.process.member.io_resume or 1  # a pause of 0 takes its time as well
            self.process.later(resume * 1000, self.on_look)
            return
        if not self.still_mine():
            self.lost()
        elif self.process.role == "master":
            self.process.open = True
            self.lab.serve(self.process)

    def release(self, orderly: bool) -> None:
        """An orderly end gives back what is under its name; one for a restart keeps it."""
        if orderly and not self.database.away and self.database.lease_holder == self.name:
            self.database.lease_holder = None
            self.database.lease_until = None

    def die(self) -> None:
        """The lease runs on."""
        self.resumed()
