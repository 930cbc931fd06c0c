"""What operators do to Artemis brokers and their lines (Recordings rule 7.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mqlab.engine.completion import Completion
from mqlab.engine.in_vain import STOPS_PAUSED
from mqlab.products.artemis import report
from mqlab.products.artemis.broker import network_check
from mqlab.products.artemis.broker.broker import GONE, Broker, Subsystem
from mqlab.products.artemis.files import lab_file, shapes
from mqlab.products.artemis.ha.replication import WAKES
from mqlab.spec.artemis.steps import Keys
from mqlab.spec.values import told_time
from mqlab.trace.kinds import Kind

MS = 1000
STARTING = 3000  # ms until a broker that was started is up: 1 to 10 s were seen
ENDING = 450  # ms that the end of a stopped broker's process takes: least of 104 stops, half of them 500
STOPPING = 20_000  # ms until a broker that was stopped is gone, at most
LOOKED = 200  # ms between two looks whether anything moves, in all recordings
NOTICED = 50 * MS  # a cut that resets connections is noticed at once, by and large
PATIENCE = 30_000  # ms that a step waits if it does not say
FOLDERS = ("bindings", "journal", "large-messages", "paging")


@dataclass(eq=False, slots=True)
class RollingStep:
    """The brokers that a step has still to come to, one after the other; `at` is where it is."""

    left: deque[Broker]
    keys: Keys
    restarts: bool = False
    at: Broker | None = None


@dataclass(eq=False, slots=True)
class Wait:
    """What a step waits for, and in which step: somebody has a role."""

    step: int
    name: str
    role: str
    holds: Callable[[Wait], bool]
    asked: Any
    ms: float
    times: int = 1


@dataclass(slots=True)
class QuietWait:
    """Nothing is to move for `ms`, before the time `end` (us)."""

    ms: float
    end: float


class BrokerActions(Subsystem):
    """What happens to brokers and lines, waits, and looks at the state."""

    def _named(self, keys: Keys) -> list[Broker]:
        given = keys.get("brokers", keys.get("broker", list(self.lab.brokers)))
        return [self.lab.brokers[n] for n in ([given] if isinstance(given, str) else given)]

    # Brokers

    def do_start(self, keys: Keys) -> Completion:
        """Start brokers, one after the other."""
        return self._start_next(RollingStep(deque(self._named(keys)), keys))

    do_start_broker = do_start

    def _start_next(self, round: RollingStep) -> Completion:
        """Start the brokers up to the first that is waited for."""
        while round.left:
            broker = round.left.popleft()
            if "with" in round.keys:
                item = {"name": broker.name, **broker.spec.keys, **round.keys["with"]}
                shapes.broker().check(item, f"StartAs {broker.name}, written")
                broker.spec = lab_file.broker(item)
            if broker.role not in GONE:
                self.lab.tell_in_vain(f"Start of {broker.name}", "the broker was running already")
            self.lab.start(broker)
            if round.keys.get("wait", True):
                return self._in(STARTING, round, self._started)
        return Completion()

    def _started(self, round: RollingStep) -> None:
        self.lab.under_way = self._start_next(round)

    def do_kill(self, keys: Keys) -> None:
        """SIGKILL."""
        for broker in self._named(keys):
            self.lab.end(broker, orderly=False)

    def do_stop(self, keys: Keys) -> Completion:
        """An orderly stop; `failover`: forced."""
        if keys.get("failover"):
            self._judge_failover(self._named(keys)[0])
        return self._stop_next(RollingStep(deque(self._named(keys)), keys))

    def _judge_failover(self, broker: Broker) -> None:
        """Tell of a forced failover of a broker that does not serve, or has nobody to take over."""
        pair = (b for b in self.lab.all_brokers() if b is not broker and b.node_id == broker.node_id)
        if broker.role in GONE:
            self.lab.tell("the broker was not running")
        elif broker.role != "live":
            self.lab.tell(f"the broker was not live, it was {broker.role}: there was nothing to take over")
        elif not broker.spec.scale_down and not any(b.role.startswith("backup") for b in pair):
            self.lab.tell("the broker had no slave that could take over")

    def do_restart(self, keys: Keys) -> Completion:
        """Stop and start."""
        return self._stop_next(RollingStep(deque(self._named(keys)), keys, restarts=True))

    def _stop_next(self, round: RollingStep) -> Completion:
        """Stop the brokers up to the first that takes its time."""
        while round.left:
            round.at = round.left.popleft()
            if round.at.role == "paused":
                self.lab.tell(STOPS_PAUSED)
            runs = round.at.runs
            if round.at.role == "down":  # it has ended before, and now that was asked for
                round.at.role = "stopped"
            self.lab.stop(round.at, bool(round.keys.get("failover", False)))
            if runs:
                return self._in(ENDING, round, self._ended)
        return self.do_start(round.keys) if round.restarts else Completion()

    def _ended(self, round: RollingStep) -> None:
        """Go on when the process has ended, or when that takes too long."""
        end = self.lab.clock.now + (STOPPING - ENDING) * MS
        self.lab.under_way = Completion(self._is_gone, round, end, then=self._stopped)

    def _stopped(self, round: RollingStep) -> None:
        self.lab.under_way = self._stop_next(round)

    @staticmethod
    def _is_gone(round: RollingStep) -> bool:
        return round.at is None or round.at.role in GONE

    def do_pause(self, keys: Keys) -> None:
        """SIGSTOP: its port still accepts, so that nobody notices before the connection's ttl."""
        for broker in (b for b in self._named(keys) if b.runs):
            broker.suspended = broker.role, self.lab.clock.now
            self.lab.role(broker, "paused")
            self.lab.event(Kind.Suspended, broker)
            if broker.master is not None and broker.master.served_journal is not None:
                broker.stored_journal = broker.master.served_journal.persisted()
                self.lab.soon(broker, broker.patience, self.lab.replication.given_up)

    def do_resume_broker(self, keys: Keys) -> None:
        """SIGCONT: what was noticed meanwhile is known to both."""
        if all(broker.role != "paused" for broker in self._named(keys)):
            self.lab.tell("the broker was not paused")
        for broker in (b for b in self._named(keys) if b.role == "paused"):
            role, since = broker.suspended
            self.lab.event(Kind.Resumed, broker)
            self.lab.role(broker, role)
            self.lab.deliver()
            if self.lab.clock.now > since + broker.patience:
                self.lab.replication.lost_master(broker)
                for slave in self.lab.all_brokers():
                    if slave.master is broker:
                        self.lab.replication.lost_master(slave, WAKES)

    # The network

    def do_cut(self, keys: Keys) -> None:
        """Cut lines; silently cut ones are noticed when the connection's ttl is over."""
        silent, cuts = bool(keys.get("silent", False)), self.lab.partitions.cuts
        lines = self._lines(keys)
        if lines and all(line in cuts and (silent or not cuts[line]) for line in lines):
            self.lab.tell("the link was cut already")
        for line in lines:
            ends = [self.lab.brokers[name] for name in sorted(line) if name in self.lab.brokers]
            if len(ends) == 2 and not silent:
                self.lab.lose_each_other(*ends)
            self.lab.partitions.cuts[line] = silent
            self.lab.balancing.outdated = True
            self._line(Kind.Partitioned, line)
            if len(ends) == 1:
                for client in self.lab.clients.at(ends[0]):
                    client.cut(silent)
            else:
                self.lab.later(
                    ends[0].patience if silent else self.lab.random_duration(NOTICED),
                    self.lab.on_line_lost,
                    line,
                )

    def _lines(self, keys: Keys) -> list[frozenset[str]]:
        """Return the lines that a step names."""
        lines = list(self.lab.partitions.change(keys, self.lab.brokers))
        if not lines:
            self.lab.tell("no link leads from these brokers to others")
        return lines

    def _line(self, kind: Kind, line: frozenset[str]) -> None:
        """Record what happened to a line."""
        names = sorted(line, key=lambda name: (name not in self.lab.brokers, name))
        self.lab.event(kind, self.lab.brokers[names[0]], told={"between": " and ".join(names)})
        self.lab.notes.lines()

    def do_heal(self, keys: Keys) -> None:
        """Lines are whole again."""
        lines, partitions = self._lines(keys), self.lab.partitions
        if lines and not any(line in partitions.cuts or line in partitions.slow for line in lines):
            self.lab.tell("the link was not cut")
        for line in lines:
            self.lab.partitions.slow.pop(line, None)
            self.lab.balancing.outdated = True
            if self.lab.partitions.cuts.pop(line, None) is not None:
                self._line(Kind.Healed, line)
        self.lab.set_rates()
        self.lab.topology.gossip()
        self.lab.replication.search_again()
        self.lab.deliver()

    def do_slow(self, keys: Keys) -> None:
        """A line carries so many bytes per second, until it is healed."""
        slow, rate = self.lab.partitions.slow, int(keys["bytes_per_second"])
        lines = self._lines(keys)
        if lines and all(slow.get(line) == rate for line in lines):
            self.lab.tell("the line was as slow already")
        slow.update(dict.fromkeys(lines, rate))
        self.lab.set_rates()

    def do_gateway(self, keys: Keys) -> None:
        """The address that network checks ask answers, or is silent."""
        answers, asking = self.lab.gateway, [b for b in self._named(keys) if b.spec.asks_gateway]
        if not asking:
            self.lab.tell("no broker asks a gateway; set network_check_url_list among the options of its core")
        elif all(answers.get(broker.name) == bool(keys["answers"]) for broker in asking):
            self.lab.tell(f"the gateway {'answered' if keys['answers'] else 'was silent'} already")
        for broker in self._named(keys):
            self.lab.gateway[broker.name] = bool(keys["answers"])
            self.lab.later(broker.spec.check_period * MS, network_check.check, broker)

    # Waiting

    def _in(self, ms: float, argument: object, then: Callable[[Any], None]) -> Completion:
        return Completion(deadline=self.lab.clock.now + int(ms * MS), argument=argument, then=then)

    def do_wait(self, keys: Keys) -> Completion:
        """Let time pass."""
        return self._in(keys["ms"], None, self.lab.come_to_rest)

    def do_settle(self, keys: Keys) -> Completion:
        """Wait until nothing moves for a second, or as long as the step says."""
        ms, end = keys.get("quiet_ms", 1000), keys.get("timeout_ms", PATIENCE)
        return self._in(ms + LOOKED, QuietWait(ms, self.lab.clock.now + end * MS), self._settled)

    def _settled(self, quiet: QuietWait) -> None:
        now = self.lab.clock.now
        moved = self.lab.notes.moved > now - quiet.ms * MS and now < quiet.end
        self.lab.under_way = self._in(100, quiet, self._settled) if moved else Completion()

    def do_wait_until(self, keys: Keys) -> Completion:
        """Wait until a broker has a role."""
        return self._wait(keys, keys["broker"], keys["role"], self._has_role)

    def do_wait_failover(self, keys: Keys) -> Completion:
        """Wait until a client has reconnected so often."""
        return self._wait(keys, keys["client"], "failover_completed", self._has_reconnected)

    def _wait(self, keys: Keys, name: str, role: str, holds: Callable[[Wait], bool]) -> Completion:
        ms = keys.get("timeout_ms", PATIENCE)
        wait = Wait(self.lab.step_no, name, role, holds, self.lab.acting, ms, keys.get("times", 1))
        end = self.lab.clock.now + int(ms * MS)
        return Completion(holds, wait, end, then=self._waited)

    def _has_role(self, wait: Wait) -> bool:
        broker = self.lab.brokers[wait.name]
        slave = broker.served_journal.replica if broker.served_journal is not None else None
        copied = slave is not None and slave.role == "backup_in_sync"
        right = broker.role == wait.role.removesuffix("_with_replica")
        return right and (copied or broker.role == wait.role)

    def _has_reconnected(self, wait: Wait) -> bool:
        return self.lab.clients.named(wait.name).failovers.count(wait.role) >= wait.times

    def _waited(self, wait: Wait) -> None:
        """Note how a wait ended."""
        if not wait.holds(wait):
            broker = self.lab.brokers.get(wait.name) if wait.role != "failover_completed" else None
            found = "it had not reconnected so often" if broker is None else f"it was {broker.role}"
            self.lab.tell(f"not within {told_time(int(wait.ms * MS))}: {found}", wait.asked)
        told = {"step": wait.step, "broker": wait.name, "role": wait.role}
        self.lab.waits.append({**told, "reached": wait.holds(wait)})

    # Looking

    def do_files(self, keys: Keys) -> None:
        """Note the names in brokers' data folders."""
        self.lab.folders[keys["label"]] = {
            broker.name: sorted(
                [
                    *FOLDERS,
                    *(
                        f"{folder}/oldreplica.{no}"
                        for folder, saved in broker.old_replicas.items()
                        for no in saved[1:]
                    ),
                ]
            )
            for broker in self._named(keys)
        }

    def do_snapshot(self, keys: Keys) -> None:
        """Note the state of everything under a label."""
        whole = bool(keys.get("topology", False))
        self.lab.snapshots[keys["label"]] = report.snapshot(self.lab, whole)
