"""What a step of the script waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mqlab.engine.completion import Completion
from mqlab.products.artemis.broker.broker import Subsystem
from mqlab.products.artemis.broker.messages import Queue
from mqlab.spec import action as a
from mqlab.spec.action import Action
from mqlab.spec.artemis.actions import Settle, WaitForConsumers, WaitForDepth, WaitForFailover, WaitForRole
from mqlab.spec.artemis.words import EITHER
from mqlab.spec.plural import counted
from mqlab.spec.values import duration, told_time

MS = 1000
LOOKED = 200  # ms between two looks whether anything moves, in all recordings
PATIENCE = 30_000_000  # us that it is waited for quiet if nothing is said
Waiting = WaitForConsumers | WaitForDepth | WaitForFailover | WaitForRole


@dataclass(eq=False, slots=True)
class Wait:
    """What a step waits for, and in which step.

    `holds` returns what is there instead, and nothing if it is so; `told` is what an outcome says of the wait.
    """

    step: int
    name: str  # of a broker or client
    holds: Callable[[Wait], str]
    action: Any  # a `Waiting`
    asked: Action
    told: Mapping[str, object]

    @property
    def most(self) -> int:
        """For how long (us)."""
        return duration(self.action.timeout)

    @staticmethod
    def is_over(wait: Wait) -> bool:
        """Whether it is so."""
        return not wait.holds(wait)


class WaitActions(Subsystem):
    """What lets time pass until something is so."""

    def _in(self, us: int, argument: object, then: Callable[[Any], None]) -> Completion:
        return Completion(deadline=self.lab.clock.now + us, argument=argument, then=then)

    def do_wait(self, action: a.Wait) -> Completion:
        """Let time pass."""
        return self._in(duration(action.time), None, self.lab.come_to_rest)

    def do_settle(self, action: Settle) -> Completion:
        """Wait until nothing moves for a second, or as long as the action says."""
        quiet = duration(action.quiet)
        most = PATIENCE if action.at_most is None else duration(action.at_most)
        return self._in(quiet + LOOKED * MS, (quiet, self.lab.clock.now + most), self._settled)

    def _settled(self, wait: tuple[int, int]) -> None:
        """Go on if nothing has moved for so long, or at a time (us)."""
        (quiet, end), now = wait, self.lab.clock.now
        moved = self.lab.notes.moved > now - quiet and now < end
        self.lab.under_way = self._in(100 * MS, wait, self._settled) if moved else Completion()

    def do_wait_for(self, action: Waiting) -> Completion:
        """Wait for a role, a reconnection, a queue's messages, or its consumers, of which no outcome tells."""
        told: dict[str, object] = {}
        if isinstance(action, WaitForFailover):
            name, holds, told = action.client, self._has_reconnected, {"role": "failover_completed"}
        elif isinstance(action, WaitForRole):
            name, holds, told = action.broker, self._has_role, {"role": action.role}
        elif isinstance(action, WaitForDepth):
            name, holds, told = action.broker, self._has_depth, {"depth": action.depth}
        else:
            name, holds = action.broker, self._has_consumers
        wait = Wait(self.lab.step_no, name, holds, action, self.lab.acting, told)
        return Completion(wait.is_over, wait, self.lab.clock.now + wait.most, then=self._waited)

    def _has_role(self, wait: Wait) -> str:
        broker = self.lab.brokers[wait.name]
        slave = broker.served_journal.replica if broker.served_journal is not None else None
        copied = slave is not None and slave.role == "backup_in_sync"
        for role in str(wait.told["role"]).split(EITHER):
            if broker.role == role.removesuffix("_with_replica") and (copied or broker.role == role):
                return ""
        return f"it was {broker.role}"

    def _has_reconnected(self, wait: Wait) -> str:
        often = self.lab.clients.named(wait.name).failovers.count("failover_completed")
        return "" if often >= wait.action.times else "it had not reconnected so often"

    def _has_depth(self, wait: Wait) -> str:
        queue = self._queue(wait)
        depth = None if queue is None else queue.depth
        return "" if depth == wait.action.depth else f"it had {'no such queue' if depth is None else depth}"

    def _has_consumers(self, wait: Wait) -> str:
        queue = self._queue(wait)
        there = len(queue.consumers) if queue is not None else 0
        return "" if there >= wait.action.count else f"it had {counted(there, 'consumer')}"

    def _queue(self, wait: Wait) -> Queue | None:
        live = self.lab.brokers[wait.name].served_journal
        return None if live is None else live.queues.get(wait.action.queue)

    def _waited(self, wait: Wait) -> None:
        """Note how a wait ended."""
        found = wait.holds(wait)
        if found:
            self.lab.tell(f"not within {told_time(wait.most)}: {found}", wait.asked)
        if wait.told:
            told = {"step": wait.step, "broker": wait.name, **wait.told}
            self.lab.waits.append({**told, "reached": not found})
