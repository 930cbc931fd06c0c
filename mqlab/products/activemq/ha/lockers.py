"""Who is the master: a lock on a file, or in a database (Fuse 4, "Shared file system", "JDBC").

A candidate tries to get the lock, sleeps lockAcquireSleepInterval, and tries again; the one that has
it looks every lockKeepAlivePeriod whether it still has. What holds a lock, and when it lets go, is
the difference between the kinds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from mqlab.products.activemq.client.addresses import Refused
from mqlab.spec.member import LockerSettings
from mqlab.trace.kinds import Kind, Reason

if TYPE_CHECKING:
    from mqlab.products.activemq.broker.broker_service import BrokerService

# us after the death of the holder until another can have the lock; None is never.
RELEASE = {"local": 0, "san": 0, "nfs4": 30_000_000, "nfs3": None}


class AbstractLocker(ABC):
    """One broker's part in the election; the kinds say how a lock is had, kept and lost."""

    def __init__(self, process: BrokerService, locker: LockerSettings) -> None:
        self.process, self.locker, self.lab = process, locker, process.lab
        self.waited = False

    @property
    def interval(self) -> int:
        """The polling period in us."""
        return self.locker.acquire_sleep * 1000

    def begin(self) -> None:
        """Begin to want the lock."""
        self.waited = False
        if not self.locker.use_lock:
            self.process.become_master()
            return
        self.poll(None)

    def poll(self, _: None) -> None:
        """Try to get the lock; sleep if somebody has it."""
        try:
            got = self.obtain()
        except Refused as error:
            self.process.fail_to_start(error)
            return
        if got:
            self.record(Kind.Locked, Reason.lock_free)
            self.obtained()
            return
        self.sleep()

    def sleep(self) -> None:
        """Somebody else has the lock: try again after the polling period."""
        self.waited = True
        self.record(Kind.Waited, Reason.lock_held, age=self.interval)
        self.process.later(self.interval, self.poll)

    def obtained(self) -> None:
        """The lock is its own: serve, and look after it."""
        self.process.become_master()
        self.keep_alive()

    def keep_alive(self) -> None:
        """Look again in one keep-alive period."""
        if self.locker.check_period:
            self.process.later(self.locker.check_period * 1000, self.on_check)

    def on_check(self, _: None) -> None:
        """Look whether the lock is still its own; if not, stop and ask for a restart."""
        if self.still_mine():
            self.keep_alive()
        else:
            self.lost()

    def lost(self) -> None:
        """Somebody else has the lock: stop, and ask for a restart."""
        self.record(Kind.LockLost, Reason.keep_alive)
        self.process.stop(asked_restart=True)

    def record(self, kind: int, rule: int, age: int = 0) -> None:
        """Record what became of the lock."""
        node = self.process.node
        self.lab.record(kind, chain=self.process, broker=node, rule=rule, age=age)

    @property
    def expects(self) -> bool:
        """Whether it waits for a lock that nobody who lives has: some day it will be the master."""
        mine, locker = self.process, self.locker
        if mine.role != "slave" or mine.starting or mine.paused or locker.file_system == "nfs3":
            return False
        for other in self.lab.processes.values():  # a loop, and the cheap question first: it is asked often
            serves = other.role == "master" or other.starting
            if serves and other.locker is not None and other.locker.locker.store == locker.store:
                return False
        return True

    # What the kinds say

    @abstractmethod
    def obtain(self) -> bool:
        """Try to get the lock."""

    @abstractmethod
    def still_mine(self) -> bool:
        """Whether it is still the holder."""

    def release(self, orderly: bool) -> None:
        """The broker stops."""

    def die(self) -> None:
        """The process is killed."""

    def suspended(self) -> None:
        """The process stands still."""

    def resumed(self) -> None:
        """The process goes on."""


class LockFile:
    """The file `lock` of a shared directory, on a file system of one kind.

    `inode` counts its lives: whoever deletes it makes the next try create another.
    """

    def __init__(self) -> None:
        self.inode = 0
        self.written_by: str | None = None
        self.holders: dict[int, str] = {}  # inode -> who holds it

    def lock(self, name: str, file_system: str) -> bool:
        """Try to lock the file as it is now."""
        holder = self.holders.get(self.inode)
        if holder not in (None, name) and file_system != "ocfs2":
            return False
        self.holders[self.inode] = name
        self.written_by = name
        return True

    def release(self, name: str) -> None:
        """Let go of whatever *name* has locked."""
        self.holders = {inode: who for inode, who in self.holders.items() if who != name}

    def delete(self) -> None:
        """Somebody deletes the file: the lock on the old one is worth nothing."""
        self.inode += 1
        self.written_by = None

    def touch(self) -> None:
        """Somebody writes into the file."""
        self.written_by = None


class SharedFileLocker(AbstractLocker):
    """The shared-file locker: an exclusive lock on a file (ActiveMQ, pluggable storage lockers)."""

    def __init__(self, process: BrokerService, locker: LockerSettings, file: LockFile) -> None:
        super().__init__(process, locker)
        self.file = file

    def obtain(self) -> bool:
        """Try the lock on the file; failIfLocked is an option of this locker alone."""
        held = any(self._in_one_program(name) for name in self.file.holders.values())
        got = not held and self.file.lock(self.process.name, self.locker.file_system)
        if not got and self.locker.fail_if_locked:
            raise Refused("IOException", "the store could not be locked")
        return got

    def _in_one_program(self, holder: str) -> bool:
        """Whether the holder's program is this broker's, which knows its locks by their paths (`LockFile`)."""
        both = (self.process, self.lab.processes[holder])
        apart = not self.lab.by_calls or any(one.broker.spec.get("process") for one in both)
        return not apart and holder != self.process.name

    def obtained(self) -> None:
        """Whoever had to wait looks once more after one keep-alive period, then serves."""
        if self.waited and self.locker.check_period:
            self.process.after(self.locker.check_period * 1000, self.on_verified)
        else:
            super().obtained()

    def on_verified(self, _: None) -> None:
        """The period is over: serve if the lock is still its own, else the start has failed."""
        if self.still_mine():
            super().obtained()
        else:
            self.process.fail_to_start(Refused("IOException", "attempt to obtain lock aborted"))

    def still_mine(self) -> bool:
        """Whether the file is there and as this broker wrote it."""
        return self.file.written_by == self.process.name

    def release(self, orderly: bool) -> None:
        """The lock is free when the store is closed, at the end of an orderly stop."""
        clock, wait = self.lab.clock, self.process.costs.stop if orderly else 0
        if wait:
            clock.schedule_background(clock.now + wait, self.file.release, self.process.name)
        else:
            self.file.release(self.process.name)

    def die(self) -> None:
        """The file system finds out in its own time."""
        wait = RELEASE.get(self.locker.file_system, 0)
        if wait == 0:
            self.file.release(self.process.name)
        elif wait is not None:
            clock = self.lab.clock
            clock.schedule_background(clock.now + wait, self.file.release, self.process.name)
